//! Times and rates in words.

use crate::figure::figure;

/// Whether quantities say what they are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Plain numbers: times are in whatever unit the rates are per.
    None,
    /// Times in seconds, rates in events a second.
    Seconds,
}

impl Unit {
    /// The unit's name in JSON.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Seconds => Some("s"),
        }
    }

    /// A time in words.
    pub fn time(self, value: f64) -> String {
        if self == Self::None {
            return figure(value);
        }
        let (unit, size) = match value {
            0.0 => ("s", 1.0),
            v if v < 1e-3 => ("us", 1e-6),
            v if v < 1.0 => ("ms", 1e-3),
            v if v < 120.0 => ("s", 1.0),
            v if v < 7200.0 => ("min", 60.0),
            v if v < 172_800.0 => ("h", 3600.0),
            _ => ("days", 86_400.0),
        };
        format!("{} {unit}", figure(value / size))
    }

    /// A rate in words.
    pub fn rate(self, value: f64) -> String {
        if self == Self::None {
            return format!("rate {}", figure(value));
        }
        let (unit, size) = match value {
            v if v >= 1.0 => ("a second", 1.0),
            v if v * 60.0 >= 10.0 => ("a minute", 60.0),
            v if v * 3600.0 >= 1.0 => ("an hour", 3600.0),
            _ => ("a day", 86_400.0),
        };
        format!("{} {unit}", figure(value * size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_choose_a_readable_unit() {
        let words = |value| Unit::Seconds.time(value);
        assert_eq!((words(0.0).as_str(), words(0.0125).as_str()), ("0 s", "12.50 ms"));
        assert_eq!((words(754.2).as_str(), words(90.0).as_str()), ("12.57 min", "90 s"));
        let rate = |value| Unit::Seconds.rate(value);
        assert_eq!(
            (rate(40.0 / 3600.0).as_str(), rate(2.5).as_str()),
            ("40 an hour", "2.500 a second")
        );
        assert_eq!(Unit::None.rate(3.0), "rate 3");
    }
}
