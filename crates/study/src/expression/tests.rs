use std::ops::Range;

use proptest::prelude::*;

use super::*;

fn scope(name: &str) -> Option<Value> {
    match name {
        "two" => Some(Value::Number(2.0)),
        "zero" => Some(Value::Number(0.0)),
        "optimizer" => Some(Value::Text("sgd".into())),
        "fast" => Some(Value::Truth(true)),
        _ => None,
    }
}

#[track_caller]
fn check(source: &str, expected: f64) {
    let value = Expression::parse(source).unwrap().number(&scope).unwrap();
    assert!((value - expected).abs() < 1e-12, "{source} is {value}, not {expected}");
}

#[track_caller]
fn check_truth(source: &str, expected: bool) {
    assert_eq!(Expression::parse(source).unwrap().truth(&scope).unwrap(), expected, "{source}");
}

#[track_caller]
fn check_refused(source: &str, message: &str, span: Range<usize>) {
    let error = Expression::parse(source).unwrap_err();
    assert_eq!((error.message.as_str(), error.span), (message, span), "{source}");
}

#[test]
fn arithmetic_binds_as_in_mathematics() {
    check("1 + 2 * 3", 7.0);
    check("(1 + 2) * 3", 9.0);
    check("10 - 4 - 3", 3.0);
    check("16 / 4 / 2", 2.0);
    check("2 ^ 3 ^ 2", 512.0);
    check("-2 ^ 2", -4.0);
    check("2 ^ -1", 0.5);
    check("-two * -two", 4.0);
    check("1.5e-3 * 2E3", 3.0);
    check("min(3, two, 8) + max(1, 2) + abs(-1)", 5.0);
    check("sqrt(16) + log(exp(3))", 7.0);
}

#[test]
fn conditions_compare_numbers_and_texts() {
    check_truth("two * 128 <= 512 and not (two > 3)", true);
    check_truth("optimizer == 'sgd' or fast == false", true);
    check_truth("optimizer != \"sgd\"", false);
    check_truth("not fast", false);
    // `and` stops at the first false, so a guard protects what follows.
    check_truth("zero != 0 and two / zero > 1", false);
}

#[test]
fn faults_are_shown_at_their_place() {
    check_refused("1 +", "a value is missing at the end", 3..3);
    check_refused("(1 + 2", "`)` is missing at the end", 6..6);
    check_refused("a = b", "compare with `==`", 2..3);
    check_refused("1 $ 2", "`$` has no meaning here", 2..3);
    check_refused("sin(1)", "no function `sin`; there are log, exp, sqrt, abs, min, max", 0..3);
    check_refused("min(1)", "`min` does not take 1 arguments", 0..3);
    check_refused("1 2", "`2` is not expected here", 2..3);
    check_refused("'abc", "this text has no closing quote", 0..4);
    check_refused("1.2.3", "`1.2.3` is not a number", 0..5);
}

#[test]
fn values_that_do_not_exist_are_errors() {
    let fails = |source: &str| Expression::parse(source).unwrap().number(&scope).unwrap_err();
    assert!(matches!(fails("two / zero"), EvaluateError::DivisionByZero { .. }));
    assert!(matches!(fails("nothing + 1"), EvaluateError::MissingName { .. }));
    assert!(matches!(fails("optimizer + 1"), EvaluateError::WrongKind { .. }));
    assert!(matches!(fails("fast"), EvaluateError::WrongKind { .. }));
    assert!(matches!(fails("optimizer == 1"), EvaluateError::WrongKind { .. }));
}

#[test]
fn names_are_listed_once_and_functions_are_not_names() {
    let expression = Expression::parse("log(time) / (time + lr)").unwrap();
    assert_eq!(expression.names().into_iter().collect::<Vec<_>>(), ["lr", "time"]);
}

#[test]
fn hostile_nesting_is_refused() {
    let deep = "(".repeat(1_000);
    assert_eq!(Expression::parse(&deep).unwrap_err().message, "too deeply nested");
    let wide = vec!["1"; 2_000].join("+");
    assert_eq!(Expression::parse(&wide).unwrap().number(&scope), Ok(2_000.0));
    let long = vec!["1"; 3_000].join("+");
    assert_eq!(Expression::parse(&long).unwrap_err().message, "longer than 4096 bytes");
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(source in "\\PC{0,60}") {
        let _ = Expression::parse(&source);
    }

    #[test]
    fn sums_and_products_agree_with_rust(a in -1e3..1e3f64, b in -1e3..1e3f64, c in 1e-3..1e3f64) {
        let source = format!("({a}) + ({b}) * {c} - ({a}) / {c}");
        let value = Expression::parse(&source).unwrap().number(&scope).unwrap();
        prop_assert_eq!(value, a + b * c - a / c);
    }
}
