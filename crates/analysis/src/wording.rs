//! Numbers and lists in sentences: no more digits than a reader can use.

/// A figure with three significant digits.
pub(crate) fn figure(value: f64) -> String {
    digits(value, 3)
}

/// A share in percent.
pub fn percent(value: f64) -> String {
    if value != 0.0 && value.abs() < 0.1 {
        return "< 0.1 %".to_owned();
    }
    format!("{value:.1} %")
}

/// A p-value: two digits near the usual limits, one and an exponent far below.
pub fn p_value(p: f64) -> String {
    if p < 1e-300 {
        "p < 1e-300".to_owned()
    } else if p < 0.001 {
        format!("p = {}", trim(format!("{p:.0e}")))
    } else {
        format!("p = {}", digits(p, 2))
    }
}

/// Names joined as in a sentence: `a`, `a and b`, `a, b and c`.
pub fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A count with its noun, in the singular for one.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

fn digits(value: f64, significant: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let rounded = format!("{value:.*e}", significant - 1);
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-4..6).contains(&exponent) {
        return format!("{}e{exponent}", trim(mantissa.to_owned()));
    }
    let places = (significant as i32 - 1 - exponent).max(0) as usize;
    let scaled: f64 = rounded.parse().unwrap_or(value);
    trim(format!("{scaled:.places$}"))
}

/// Drops zeros at the end of a decimal fraction.
fn trim(text: String) -> String {
    if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(figure(value), expected);
        }
    }

    #[test]
    fn p_values_read_as_people_write_them() {
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
    fn lists_end_with_and() {
        let names = |n: usize| ["a", "b", "c"][..n].iter().map(|s| (*s).to_owned()).collect();
        let of = |n| list(&Vec::<String>::from_iter::<Vec<String>>(names(n)));
        assert_eq!([of(1), of(2), of(3)], ["a", "a and b", "a, b and c"]);
        assert_eq!((count(1, "row"), count(2, "row")), ("1 row".into(), "2 rows".into()));
    }
}
