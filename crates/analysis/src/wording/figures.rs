//! Numbers as a reader wants them: no more digits than can be used.
//!
//! A number that is not finite is shown as the word `undefined`.

/// Decimal exponents that are written out; others get an exponent.
const PLAIN_EXPONENTS: std::ops::Range<i32> = -4..6;

/// The same where an interval limits the digits, so that the ends of one look alike.
const SPREAD_EXPONENTS: std::ops::Range<i32> = -6..6;

/// What stands for a number that is not finite.
const UNDEFINED: &str = "undefined";

/// Four significant digits, for tables; below a million no whole digit is rounded away.
pub fn figure(value: f64) -> String {
    if value != 0.0 && value.fract() == 0.0 && value.abs() < 1e6 {
        return format!("{value:.0}");
    }
    let whole_digits = if value.abs() < 1e6 { value.abs().log10().floor() as i32 + 1 } else { 0 };
    significant(value, usize::try_from(whole_digits).unwrap_or(0).max(4))
}

/// Three significant digits without zeros at the end, for sentences.
pub fn brief(value: f64) -> String {
    Rounded::new(value, 3).map_or_else(|shown| shown, |rounded| rounded.shortest())
}

/// Some significant digits, zeros at the end among them.
pub fn significant(value: f64, digits: usize) -> String {
    Rounded::new(value, digits).map_or_else(|shown| shown, |rounded| rounded.full())
}

/// Five significant digits without zeros at the end, for figures that are looked up one by one.
pub fn five_digits(value: f64) -> String {
    if !value.is_finite() {
        return UNDEFINED.to_owned();
    }
    let rounded = format!("{value:.4e}");
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e6).contains(&size) {
        return rounded;
    }
    rounded.parse::<f64>().map_or(rounded, |value| value.to_string())
}

/// A value with no more decimals than its interval supports: two digits of the half width.
pub fn to_spread(value: f64, low: f64, high: f64) -> String {
    let half = (high - low) / 2.0;
    // An interval as narrow as rounding supports more digits than anyone measured.
    if !(value.is_finite() && half.is_finite() && half > 1e-10 * value.abs()) {
        return figure(value);
    }
    let size = value.abs().max(half);
    if !SPREAD_EXPONENTS.contains(&(size.log10().floor() as i32)) {
        let digits = (size.log10().floor() - half.log10().floor()) as usize + 2;
        return significant(value, digits.min(17));
    }
    let places = (1.0 - half.log10().floor()).max(0.0) as usize;
    let shown = format!("{value:.places$}");
    // What rounds to nothing has no sign.
    match shown.strip_prefix('-') {
        Some(size) if size.bytes().all(|own| matches!(own, b'0' | b'.')) => size.to_owned(),
        _ => shown,
    }
}

/// A p-value without its letter, for tables.
pub fn p_figure(p: f64) -> String {
    match p {
        p if p < 1e-300 => "< 1e-300".to_owned(),
        p if p < 0.001 => format!("{p:.0e}"),
        p => significant(p, 2),
    }
}

/// A p-value for sentences: two digits near the usual limits, one and an exponent far below.
pub fn p_value(p: f64) -> String {
    match p {
        p if p < 1e-300 => "p < 1e-300".to_owned(),
        p if p < 0.001 => format!("p = {p:.0e}"),
        p => format!("p = {}", Rounded::new(p, 2).map_or_else(|shown| shown, |own| own.shortest())),
    }
}

/// A share in percent.
pub fn percent(value: f64) -> String {
    if value != 0.0 && value.abs() < 0.1 {
        return "< 0.1 %".to_owned();
    }
    if !value.is_finite() {
        return UNDEFINED.to_owned();
    }
    format!("{value:.1} %")
}

/// A number of bytes in binary units.
pub fn bytes(count: u64) -> String {
    let mut value = count as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        // Shown with one decimal, 1023.96 would be 1024.0.
        if value < 1023.95 {
            return if unit == "B" { format!("{count} B") } else { format!("{value:.1} {unit}") };
        }
        value /= 1024.0;
    }
    format!("{value:.1} TiB")
}

/// A number rounded to some significant digits.
struct Rounded {
    mantissa: String,
    exponent: i32,
    digits: usize,
}

impl Rounded {
    /// Rounds a number; those that have no digits come back as they are shown.
    fn new(value: f64, digits: usize) -> Result<Self, String> {
        if value == 0.0 {
            return Err("0".to_owned());
        }
        let scientific = format!("{value:.*e}", digits.saturating_sub(1));
        let (mantissa, exponent) =
            scientific.split_once('e').ok_or_else(|| UNDEFINED.to_owned())?;
        let exponent = exponent.parse().map_err(|_| UNDEFINED.to_owned())?;
        Ok(Self { mantissa: mantissa.to_owned(), exponent, digits })
    }

    /// All digits.
    fn full(&self) -> String {
        self.plain().unwrap_or_else(|| self.scientific())
    }

    /// The digits without zeros at the end of a fraction.
    fn shortest(&self) -> String {
        self.plain().map_or_else(|| self.scientific(), |plain| trimmed(&plain).to_owned())
    }

    /// Without an exponent; nothing where it would be long.
    fn plain(&self) -> Option<String> {
        let value: f64 = format!("{}e{}", self.mantissa, self.exponent).parse().ok()?;
        let places = usize::try_from(self.digits as i32 - 1 - self.exponent).unwrap_or(0);
        PLAIN_EXPONENTS.contains(&self.exponent).then(|| format!("{value:.places$}"))
    }

    fn scientific(&self) -> String {
        format!("{}e{}", trimmed(&self.mantissa), self.exponent)
    }
}

fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn figures_keep_four_digits() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "0"),
            (48.0, "48"),
            (-30.0, "-30"),
            (0.123_456, "0.1235"),
            (-1234.56, "-1235"),
            (99_999.7, "100000"),
            (-145_213.4, "-145213"),
            (0.000_012_34, "1.234e-5"),
            (2.5e9, "2.5e9"),
        ] {
            assert_eq!(figure(value), expected);
        }
    }

    #[test]
    fn digits_follow_the_interval() {
        for (value, half, expected) in [
            (0.013_245_9, 0.001_12, "0.0132"),
            (1234.5678, 31.0, "1235"),
            (1234.5678, 0.5, "1234.57"),
            (0.5, 0.0, "0.5000"),
            (3.0e-8, 2.0e-9, "3e-8"),
            (-0.004, 1.0, "0.0"),
            (-0.06, 1.0, "-0.1"),
            (-4.0, 300.0, "-4"),
            (-0.4, 300.0, "0"),
        ] {
            assert_eq!(to_spread(value, value - half, value + half), expected);
        }
    }

    #[test]
    fn p_values_and_sizes_read_as_people_write_them() {
        assert_eq!((p_figure(0.0), p_figure(3.2e-14)), ("< 1e-300".into(), "3e-14".into()));
        assert_eq!((p_figure(0.0468), p_figure(0.5)), ("0.047".into(), "0.50".into()));
        assert_eq!((bytes(900), bytes(1 << 20)), ("900 B".into(), "1.0 MiB".into()));
        assert_eq!(bytes(5 << 40), "5.0 TiB");
        assert_eq!((bytes(1023), bytes(1024)), ("1023 B".into(), "1.0 KiB".into()));
        assert_eq!(
            (bytes((1 << 20) - 1), bytes(1_048_524)),
            ("1.0 MiB".into(), "1023.9 KiB".into())
        );
    }

    #[test]
    fn figures_keep_three_digits() {
        for (value, expected) in [
            (0.0, "0"),
            (13.268_774, "13.3"),
            (0.472_343, "0.472"),
            (-1234.5, "-1230"),
            (100.0, "100"),
            (0.000_012_34, "1.23e-5"),
            (2.5e7, "2.5e7"),
            (999.96, "1000"),
            (0.1, "0.1"),
        ] {
            assert_eq!(brief(value), expected);
        }
    }

    #[test]
    fn p_values_and_shares_in_sentences_are_short() {
        for (value, expected) in [
            (7.447e-29, "p = 7e-29"),
            (0.014_68, "p = 0.015"),
            (0.463_3, "p = 0.46"),
            (0.0, "p < 1e-300"),
            (1.0, "p = 1"),
            (0.000_96, "p = 1e-3"),
        ] {
            assert_eq!(p_value(value), expected);
        }
        assert_eq!(percent(0.03), "< 0.1 %");
        assert_eq!(percent(59.887), "59.9 %");
    }

    #[test]
    fn looked_up_figures_keep_five_digits() {
        for (value, expected) in
            [(0.018_423_755, "0.018424"), (7.447_251e-29, "7.4473e-29"), (2.0, "2"), (0.0, "0")]
        {
            assert_eq!(five_digits(value), expected);
        }
    }

    #[test]
    fn numbers_that_are_not_finite_are_undefined() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let shown = [figure, brief, five_digits, p_value, percent].map(|show| show(value));
            assert!(shown.iter().all(|text| text.contains(UNDEFINED) || text.starts_with("p <")));
            assert_eq!(to_spread(value, 0.0, 1.0), UNDEFINED);
            assert_eq!(to_spread(1.0, value, value), "1");
            assert_eq!(significant(value, 4), UNDEFINED);
        }
    }

    proptest! {
        #[test]
        fn a_figure_is_right_to_its_digits(value in -1e12f64..1e12, scale in -20i32..8) {
            let value = value * 10f64.powi(scale);
            for (shown, error) in [(figure(value), 5.1e-4), (brief(value), 5.1e-3), (five_digits(value), 5.1e-5)] {
                let back: f64 = shown.parse().unwrap();
                prop_assert!((back - value).abs() <= error * value.abs(), "{value} as {shown}");
            }
        }
    }
}
