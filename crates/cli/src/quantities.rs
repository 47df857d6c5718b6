//! Rates and times as people write them: `40/h`, `12m`, or plain numbers without a unit.

use std::str::FromStr;

use trainwright::terminal::Unit;
use trainwright_study::seconds_per;

/// A rate such as `3.2` or `40/h`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rate {
    /// In events a second where there is a unit.
    value: f64,
    unit: Unit,
    text: String,
}

/// A time such as `0.5` or `12m`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Span {
    /// In seconds where there is a unit.
    value: f64,
    unit: Unit,
    text: String,
}

impl Rate {
    /// Events a second; a plain number is one.
    pub(crate) fn per_second(&self) -> f64 {
        self.value
    }
}

impl Span {
    /// Seconds; a plain number is one.
    pub(crate) fn seconds(&self) -> f64 {
        self.value
    }
}

fn number(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is not a number"))
}

fn seconds_of(unit: &str) -> Result<f64, String> {
    match unit {
        "m" => Ok(60.0),
        "d" | "days" => Ok(86_400.0),
        other => seconds_per(other)
            .ok_or_else(|| format!("`{other}` is no unit of time; use ms, s, m, h or d")),
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (value, unit) = match text.split_once('/') {
            None => (number(text)?, Unit::None),
            Some((count, per)) => (number(count)? / seconds_of(per.trim())?, Unit::Seconds),
        };
        Ok(Self { value, unit, text: text.to_owned() })
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // `nan` and `1e3` are numbers: a unit is what follows the last digit.
        let end = text.rfind(|c: char| c.is_ascii_digit() || c == '.').map_or(0, |last| last + 1);
        let (value, unit) = match (text.parse::<f64>(), text.split_at(end)) {
            (Ok(value), _) => (value, Unit::None),
            (Err(_), (count, unit)) => (number(count)? * seconds_of(unit.trim())?, Unit::Seconds),
        };
        Ok(Self { value, unit, text: text.to_owned() })
    }
}

/// The unit that all of some quantities share.
#[derive(Debug, Default)]
pub(crate) struct Units {
    seen: Vec<(String, Unit)>,
}

impl Units {
    pub(crate) fn rate(&mut self, option: &str, rate: &Rate) -> f64 {
        self.seen.push((format!("{option} {}", rate.text), rate.unit));
        rate.value
    }

    pub(crate) fn span(&mut self, option: &str, span: &Span) -> f64 {
        self.seen.push((format!("{option} {}", span.text), span.unit));
        span.value
    }

    /// The shared unit, or which quantity lacks one.
    pub(crate) fn shared(&self) -> Result<Unit, String> {
        let of = |unit| self.seen.iter().find(|(_, own)| *own == unit).map(|(text, _)| text);
        match (of(Unit::None), of(Unit::Seconds)) {
            (Some(plain), Some(with_unit)) => Err(format!(
                "`{plain}` has no unit of time, but `{with_unit}` has one; give units to all \
                 quantities (40/h, 12m) or to none"
            )),
            (_, Some(_)) => Ok(Unit::Seconds),
            _ => Ok(Unit::None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_read_as_people_write_them() {
        let rate = |text: &str| text.parse::<Rate>().map(|rate| (rate.value, rate.unit));
        assert_eq!(rate("3.2"), Ok((3.2, Unit::None)));
        assert_eq!(rate("36/h"), Ok((0.01, Unit::Seconds)));
        assert_eq!(rate("2 / min"), Ok((2.0 / 60.0, Unit::Seconds)));
        assert!(rate("2/week").unwrap_err().contains("`week` is no unit"));
        assert!(rate("two").unwrap_err().contains("`two` is not a number"));
        let span = |text: &str| text.parse::<Span>().map(|span| (span.value, span.unit));
        assert_eq!(span("12m"), Ok((720.0, Unit::Seconds)));
        assert_eq!(span("1.5e2 ms"), Ok((0.15, Unit::Seconds)));
        assert_eq!(span("1e3"), Ok((1000.0, Unit::None)));
        assert!(span("5 parsecs").is_err() && span("").is_err() && span("s").is_err());
    }

    #[test]
    fn units_are_given_to_all_or_to_none() {
        let mut units = Units::default();
        units.rate("--arrival", &"40/h".parse().unwrap());
        assert_eq!(units.shared(), Ok(Unit::Seconds));
        units.span("--service-time", &"3".parse().unwrap());
        let error = units.shared().unwrap_err();
        assert!(error.starts_with("`--service-time 3` has no unit"), "{error}");
    }
}
