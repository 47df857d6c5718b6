//! Factors, levels and scales.

use proptest::prelude::*;
use trainwright_study::{Change, Configuration, Domain, Factor, FactorKind, Level, Scale};

fn factor(levels: &[Level], domain: Domain) -> Factor {
    Factor {
        name: "x".to_owned(),
        levels: levels.to_vec(),
        domain,
        scale: Scale::Linear,
        kind: FactorKind::Hyper,
        change: Change::Easy,
        when: None,
        before: None,
    }
}

fn whole(numbers: &[i64]) -> Vec<Level> {
    numbers.iter().map(|&number| Level::Integer(number)).collect()
}

fn text(word: &str) -> Level {
    Level::Text(word.to_owned())
}

#[test]
fn a_cell_is_one_of_the_levels_in_its_own_spelling() {
    let own = factor(&whole(&[1, 2]), Domain::Levels);
    assert_eq!(own.value(&Level::Number(2.0)), Some(Level::Integer(2)));
    assert_eq!(own.value(&Level::Number(1.5)), None);
    assert_eq!(own.value(&text("2")), None);
    assert_eq!(own.level(&Level::Number(1.0)), Some(&Level::Integer(1)));
}

#[test]
fn a_range_takes_what_lies_inside_and_its_ends() {
    let own = factor(&[Level::Number(0.1), Level::Number(0.9)], Domain::Range);
    assert_eq!(own.value(&Level::Number(0.5)), Some(Level::Number(0.5)));
    assert_eq!(own.value(&Level::Number(0.9)), Some(Level::Number(0.9)));
    assert_eq!(own.value(&Level::Number(0.95)), None);
    assert_eq!(own.value(&text("0.5")), None);
}

#[test]
fn the_ends_are_by_size_whatever_the_order() {
    let own = factor(&whole(&[8, -3, 5]), Domain::Levels);
    assert_eq!(own.ends(), Some((&Level::Integer(-3), &Level::Integer(8))));
    assert!(own.is_numeric());
    let words = factor(&[Level::Integer(1), text("many")], Domain::Levels);
    assert_eq!(words.ends(), None);
    assert!(!words.is_numeric());
}

#[test]
fn low_and_high_are_by_size_for_numbers_and_by_order_for_words() {
    let numbers = factor(&whole(&[9, 4]), Domain::Levels);
    assert_eq!(numbers.low_and_high(), Some((&Level::Integer(4), &Level::Integer(9))));
    let words = factor(&[text("sgd"), text("adam")], Domain::Levels);
    assert_eq!(words.low_and_high(), Some((&text("sgd"), &text("adam"))));
    assert_eq!(factor(&whole(&[1, 2, 3]), Domain::Levels).low_and_high(), None);
}

#[test]
fn what_is_usual_is_left_out_of_json() {
    let json = serde_json::to_value(factor(&whole(&[1, 2]), Domain::Levels)).unwrap();
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["name", "levels", "scale", "kind"]);
    let range = factor(&whole(&[1, 2]), Domain::Range);
    let read: Factor = serde_json::from_value(serde_json::to_value(&range).unwrap()).unwrap();
    assert_eq!(read, range);
}

#[test]
fn a_level_of_a_configuration_is_found_by_place_or_by_name() {
    let pairs = [("a", 1), ("b", 2), ("c", 3)].map(|(n, v)| (n.to_owned(), Level::Integer(v)));
    let own = Configuration::new(pairs.to_vec());
    assert_eq!(own.get_at(1, "b"), Some(&Level::Integer(2)));
    let without = own.filtered(|name| name != "a");
    assert_eq!(without.get_at(1, "b"), Some(&Level::Integer(2)));
    assert_eq!(without.get_at(0, "a"), None);
    assert_eq!(without.iter().count(), 2);
}

proptest! {
    #[test]
    fn a_scale_undoes_itself(value in 1e-6_f64..1e6) {
        for scale in [Scale::Linear, Scale::Log, Scale::Log2] {
            let back = scale.value(scale.position(value));
            // Two roundings of about 14 digits before the point.
            prop_assert!((back / value - 1.0).abs() < 1e-12, "{scale:?}: {back}");
        }
    }

    #[test]
    fn a_printed_level_is_read_as_itself(number in any::<f64>(), word in "[a-z][a-z _-]{0,8}[a-z]") {
        prop_assume!(number.is_finite() && word != "nan" && word != "inf" && word != "infinity");
        for level in [Level::of(number), Level::parse(&word)] {
            prop_assert!(Level::parse(&level.to_string()).same_as(&level), "{level:?}");
        }
    }

    #[test]
    fn identities_do_not_depend_on_order(numbers in proptest::collection::vec(any::<i32>(), 1..6)) {
        let pairs: Vec<(String, Level)> = (0..)
            .zip(&numbers)
            .map(|(place, &own): (u32, _)| (format!("f{place}"), Level::Integer(own.into())))
            .collect();
        let reversed = Configuration::new(pairs.iter().rev().cloned().collect());
        let own = Configuration::new(pairs);
        prop_assert_eq!(own.identity(), reversed.identity());
        prop_assert!(own.same_as(&reversed));
    }
}
