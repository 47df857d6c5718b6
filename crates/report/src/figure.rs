//! Numbers as a reader wants them: few digits, full precision on demand.

/// Decimal exponents that are written out; others get an exponent.
const PLAIN_EXPONENTS: std::ops::Range<i32> = -4..6;

/// The same where an interval limits the digits, so that the ends of one look alike.
const SPREAD_EXPONENTS: std::ops::Range<i32> = -6..6;

/// A number with four significant digits; below a million no whole digit is rounded away.
pub fn figure(value: f64) -> String {
    if value != 0.0 && value.fract() == 0.0 && value.abs() < 1e6 {
        return format!("{value:.0}");
    }
    let whole_digits = if value.abs() < 1e6 { value.abs().log10().floor() as i32 + 1 } else { 0 };
    significant(value, usize::try_from(whole_digits).unwrap_or(0).max(4))
}

/// A number with some significant digits.
pub(crate) fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let rounded = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = rounded.split_once('e').expect("`e` formats have an exponent");
    let exponent: i32 = exponent.parse().expect("exponents are whole numbers");
    if !PLAIN_EXPONENTS.contains(&exponent) {
        return format!("{}e{exponent}", trimmed(mantissa));
    }
    let places = usize::try_from(digits as i32 - 1 - exponent).unwrap_or(0);
    let value: f64 = rounded.parse().expect("a formatted number reads back");
    format!("{value:.places$}")
}

/// A value with no more decimals than its interval supports: two digits of the half width.
pub(crate) fn to_spread(value: f64, low: f64, high: f64) -> String {
    let half = (high - low) / 2.0;
    // An interval as narrow as rounding supports more digits than anyone measured.
    if !(half.is_finite() && half > 1e-10 * value.abs()) {
        return figure(value);
    }
    let size = value.abs().max(half);
    if !SPREAD_EXPONENTS.contains(&(size.log10().floor() as i32)) {
        let digits = (size.log10().floor() - half.log10().floor()) as usize + 2;
        return significant(value, digits.min(17));
    }
    let places = (1.0 - half.log10().floor()).max(0.0) as usize;
    format!("{value:.places$}")
}

/// A p-value without its letter.
pub(crate) fn p_value(p: f64) -> String {
    match p {
        p if p < 1e-300 => "< 1e-300".to_owned(),
        p if p < 0.001 => format!("{p:.0e}"),
        p => significant(p, 2),
    }
}

/// A number of bytes in binary units.
pub(crate) fn bytes(count: u64) -> String {
    let mut value = count as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if value < 1024.0 {
            return if unit == "B" { format!("{count} B") } else { format!("{value:.1} {unit}") };
        }
        value /= 1024.0;
    }
    format!("{value:.1} TiB")
}

/// A value for a chart: six significant digits take half the room and look the same.
pub(crate) fn for_chart(value: f64) -> f64 {
    format!("{value:.5e}").parse().expect("a formatted number reads back")
}

fn trimmed(mantissa: &str) -> &str {
    if mantissa.contains('.') {
        mantissa.trim_end_matches('0').trim_end_matches('.')
    } else {
        mantissa
    }
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
        ] {
            assert_eq!(to_spread(value, value - half, value + half), expected);
        }
    }

    #[test]
    fn p_values_and_sizes_read_as_people_write_them() {
        assert_eq!((p_value(0.0), p_value(3.2e-14)), ("< 1e-300".into(), "3e-14".into()));
        assert_eq!((p_value(0.0468), p_value(0.5)), ("0.047".into(), "0.50".into()));
        assert_eq!((bytes(900), bytes(1 << 20)), ("900 B".into(), "1.0 MiB".into()));
        assert_eq!(bytes(5 << 40), "5.0 TiB");
    }

    proptest! {
        #[test]
        fn a_figure_is_right_to_its_digits(value in -1e12f64..1e12, scale in -20i32..8) {
            let value = value * 10f64.powi(scale);
            for (shown, error) in [(figure(value), 5.1e-4), (for_chart(value).to_string(), 5.1e-6)] {
                let back: f64 = shown.parse().unwrap();
                prop_assert!((back - value).abs() <= error * value.abs(), "{value} as {shown}");
            }
        }
    }
}
