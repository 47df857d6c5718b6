//! Expressions against the slow obvious version, and what they refuse.

use proptest::prelude::*;
use trainwright_study::{Expression, Template, Value, is_identifier};

fn number(text: &str, names: &[(&str, f64)]) -> Result<f64, String> {
    let parsed = Expression::parse(text).map_err(|error| error.message)?;
    let scope = |name: &str| {
        let found = names.iter().find(|(own, _)| *own == name)?;
        Some(Value::Number(found.1))
    };
    parsed.number(&scope).map_err(|error| error.to_string())
}

fn truth(text: &str) -> Result<bool, String> {
    let parsed = Expression::parse(text).map_err(|error| error.message)?;
    parsed.truth(&|_: &str| None).map_err(|error| error.to_string())
}

#[test]
fn powers_bind_before_signs_and_products_before_sums() {
    assert_eq!(number("2 + 3 * 4", &[]), Ok(14.0));
    assert_eq!(number("(2 + 3) * 4", &[]), Ok(20.0));
    assert_eq!(number("-2^2", &[]), Ok(-4.0));
    assert_eq!(number("10 - 4 - 3", &[]), Ok(3.0));
    assert_eq!(number("min(3, x, 2)", &[("x", 1.0)]), Ok(1.0));
}

#[test]
fn conditions_stop_where_they_are_decided() {
    assert_eq!(truth("1 < 2 or missing > 1"), Ok(true));
    assert_eq!(truth("2 < 1 and missing > 1"), Ok(false));
    assert_eq!(truth("not (1 == 1)"), Ok(false));
    assert_eq!(truth("'sgd' != 'adam'"), Ok(true));
}

#[test]
fn what_has_no_value_names_itself() {
    assert!(number("x + 1", &[]).unwrap_err().contains("`x` has no value in `x + 1`"));
    assert!(number("1 / 0", &[]).unwrap_err().contains("division by zero in `1 / 0`"));
    assert!(number("1 < 2", &[]).unwrap_err().contains("a number"));
    assert!(truth("1 + 2").unwrap_err().contains("a condition"));
    assert!(truth("'a' == 1").unwrap_err().contains("two values of one kind"));
    assert!(number("log('a')", &[]).unwrap_err().contains("`log`"));
}

#[test]
fn what_does_not_read_is_no_expression() {
    for text in ["", "1 +", "(1", "1 2", "log()", "min(1)", "'open", "1..2", "a b", "1 = 1", "@"] {
        assert!(Expression::parse(text).is_err(), "`{text}` was read");
    }
}

#[test]
fn names_are_told_once() {
    let parsed = Expression::parse("a * b + log(a) > c").unwrap();
    assert_eq!(parsed.names().into_iter().collect::<Vec<_>>(), ["a", "b", "c"]);
}

proptest! {
    #[test]
    fn sums_and_products_are_those_of_rust(a in -1e3_f64..1e3, b in -1e3_f64..1e3, c in 1.0_f64..9.0) {
        let names = [("a", a), ("b", b), ("c", c)];
        prop_assert_eq!(number("a + b * c - a / c", &names), Ok(a + b * c - a / c));
        prop_assert_eq!(number("max(abs(a), sqrt(c)) ^ 2", &names), Ok(a.abs().max(c.sqrt()).powf(std::hint::black_box(2.0))));
    }

    #[test]
    fn any_text_is_read_or_refused_in_its_place(text in "\\PC{0,40}") {
        if let Err(error) = Expression::parse(&text) {
            prop_assert!(!error.message.is_empty());
        }
    }

    #[test]
    fn a_template_without_names_is_its_own_text(text in "[^{}]{0,40}") {
        let template = Template::parse(&text);
        prop_assert_eq!(template.names().count(), 0);
        prop_assert_eq!(template.render(|_| None), Ok(text));
    }

    #[test]
    fn a_placeholder_is_filled_wherever_it_stands(before in "[^{}]{0,9}", name in "[a-z]{1,5}", after in "[^{}]{0,9}") {
        prop_assert!(is_identifier(&name));
        let template = Template::parse(&format!("{before}{{{name}}}{after}"));
        prop_assert_eq!(template.names().collect::<Vec<_>>(), vec![name.as_str()]);
        let filled = template.render(|own| (own == name).then(|| "{x}".into()));
        prop_assert_eq!(filled, Ok(format!("{before}{{x}}{after}")));
        prop_assert_eq!(template.render(|_| None), Err(name));
    }
}
