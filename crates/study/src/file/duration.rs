//! Durations as the study file writes them.

use std::time::Duration;

/// Reads a duration such as `200ms`, `1.5s`, `20m` or `2h`.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(split);
    let seconds = match unit {
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let number: f64 = number.trim().parse().ok()?;
    Duration::try_from_secs_f64(number * seconds).ok().filter(|d| !d.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, milliseconds: Option<u64>) {
        assert_eq!(parse_duration(text), milliseconds.map(Duration::from_millis), "{text}");
    }

    #[test]
    fn durations_need_a_number_and_a_unit() {
        check("200ms", Some(200));
        check("1.5s", Some(1_500));
        check("20m", Some(1_200_000));
        check("2 h", Some(7_200_000));
        check("5", None);
        check("5d", None);
        check("-1s", None);
        check("0s", None);
        check("1e300h", None);
        check("", None);
    }
}
