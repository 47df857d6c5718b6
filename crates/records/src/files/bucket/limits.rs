//! How slow a place is made: latency and bandwidth, and how people write them.

use std::str::FromStr;
use std::time::Duration;

/// What stands between the reader and a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Limits {
    /// Wait before the first byte of every request.
    pub latency: Duration,
    /// What all requests together get; `None` for as fast as the place is.
    pub bandwidth: Option<Bandwidth>,
}

impl Limits {
    /// Whether anything is limited.
    pub fn any(&self) -> bool {
        !self.latency.is_zero() || self.bandwidth.is_some()
    }
}

/// A number of bytes a second, more than none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Bandwidth(u64);

impl Bandwidth {
    /// A bandwidth; `None` for 0, at which nothing would ever arrive.
    pub fn new(bytes_per_s: u64) -> Option<Self> {
        (bytes_per_s > 0).then_some(Self(bytes_per_s))
    }

    /// Bytes a second.
    pub fn bytes_per_s(self) -> u64 {
        self.0
    }

    /// How long some bytes take.
    pub(super) fn time_of(self, bytes: u64) -> Duration {
        let nanoseconds = u128::from(bytes) * 1_000_000_000 / u128::from(self.0);
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }
}

/// Reads `100MB/s`, `1.5GB/s`, `800kB/s` or `12Mbit/s`; units are powers of 1000, with an `i`
/// (`MiB/s`) of 1024.
impl FromStr for Bandwidth {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("`{text}` is not a bandwidth such as 100MB/s or 200Mbit/s");
        let (number, unit) = split(text).ok_or_else(expected)?;
        let unit = unit.strip_suffix("/s").ok_or_else(expected)?;
        let (prefix, divisor) = match unit.strip_suffix('B') {
            Some(prefix) => (prefix, 1.0),
            None => (unit.strip_suffix("bit").ok_or_else(expected)?, 8.0),
        };
        let (prefix, base) = match prefix.strip_suffix('i') {
            Some(prefix) => (prefix, 1024.0_f64),
            None => (prefix, 1000.0),
        };
        let power = match prefix {
            "" => 0,
            "k" | "K" => 1,
            "M" => 2,
            "G" => 3,
            _ => return Err(expected()),
        };
        let bytes_per_s = (number * base.powi(power) / divisor).round();
        if bytes_per_s >= u64::MAX as f64 {
            return Err(expected());
        }
        Self::new(bytes_per_s as u64).ok_or_else(|| format!("`{text}` would never deliver a byte"))
    }
}

/// Reads a latency such as `20ms`, `500us` or `1.5s`.
///
/// # Errors
/// What is wrong with the text.
pub fn parse_latency(text: &str) -> Result<Duration, String> {
    let expected = || format!("`{text}` is not a latency such as 20ms or 0.5s");
    let (number, unit) = split(text).ok_or_else(expected)?;
    let seconds = match unit {
        "us" => number / 1e6,
        "ms" => number / 1e3,
        "s" => number,
        _ => return Err(expected()),
    };
    Duration::try_from_secs_f64(seconds).map_err(|_| expected())
}

/// A number that is not negative, and the unit after it.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok()?, unit.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<u64>) {
        assert_eq!(text.parse::<Bandwidth>().ok().map(Bandwidth::bytes_per_s), expected, "{text}");
    }

    #[test]
    fn bandwidths_need_a_number_and_a_unit() {
        check("100MB/s", Some(100_000_000));
        check("1.5 GB/s", Some(1_500_000_000));
        check("1MiB/s", Some(1 << 20));
        check("80Mbit/s", Some(10_000_000));
        check("7B/s", Some(7));
        for bad in ["100", "100MB", "MB/s", "-1MB/s", "1TB/s", "1e3MB/s", "0MB/s", "", "1.2.3MB/s"]
        {
            check(bad, None);
        }
    }

    #[test]
    fn latencies_need_a_number_and_a_unit() {
        assert_eq!(parse_latency("20ms"), Ok(Duration::from_millis(20)));
        assert_eq!(parse_latency("0.5s"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_latency("250us"), Ok(Duration::from_micros(250)));
        assert_eq!(parse_latency("0ms"), Ok(Duration::ZERO));
        assert_eq!(parse_latency("20"), Err("`20` is not a latency such as 20ms or 0.5s".into()));
        assert!(parse_latency("20min").is_err());
    }

    #[test]
    fn what_is_no_bandwidth_or_latency_is_shown_with_an_example() {
        let fails = |text: &str| text.parse::<Bandwidth>().unwrap_err();
        assert_eq!(fails("fast"), "`fast` is not a bandwidth such as 100MB/s or 200Mbit/s");
        assert_eq!(fails("0.4B/s"), "`0.4B/s` would never deliver a byte");
        assert!(fails("99999999999999999999GB/s").contains("is not a bandwidth"));
        let expected = "`99999999999999999999s` is not a latency such as 20ms or 0.5s";
        assert_eq!(parse_latency("99999999999999999999s"), Err(expected.to_owned()));
    }

    #[test]
    fn the_time_of_bytes_is_whole_nanoseconds_and_never_wraps() {
        let one = Bandwidth::new(1).unwrap();
        assert_eq!(one.time_of(3), Duration::from_secs(3));
        assert_eq!(one.time_of(u64::MAX), Duration::from_nanos(u64::MAX));
        assert_eq!(Bandwidth::new(3_000_000_000).unwrap().time_of(10), Duration::from_nanos(3));
        assert!(Bandwidth::new(0).is_none());
    }
}
