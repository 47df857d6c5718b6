use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// The product of the columns that a word such as `-BCD` names, in one row.
fn product(row: &[i8], word: &str) -> i8 {
    word.chars()
        .map(|c| if c == '-' { -1 } else { row[LETTERS.iter().position(|&l| l == c).unwrap()] })
        .product()
}

fn is_constant_one(fraction: &TwoLevelFraction, left: &str, right: &str) -> bool {
    fraction.rows().iter().all(|row| product(row, left) * product(row, right) == 1)
}

/// Everything a fraction states, checked by multiplying columns.
#[track_caller]
fn check_by_multiplying(fraction: &TwoLevelFraction) {
    let rows = fraction.rows();
    let columns = fraction.factors().len();
    for first in 0..columns {
        assert_eq!(rows.iter().map(|row| i32::from(row[first])).sum::<i32>(), 0, "balance");
        for second in 0..first {
            let dot: i32 = rows.iter().map(|row| i32::from(row[first] * row[second])).sum();
            assert_eq!(dot, 0, "columns {second} and {first} are orthogonal");
        }
    }
    assert_eq!(rows.iter().collect::<BTreeSet<_>>().len(), rows.len(), "rows differ");
    for generator in fraction.generators() {
        let (left, right) = generator.split_once('=').unwrap();
        assert!(is_constant_one(fraction, left, right), "{generator}");
    }
    assert_eq!(
        fraction.defining_relation().len() + 1,
        (1 << columns) / rows.len(),
        "the defining relation is whole"
    );
    for word in fraction.defining_relation() {
        assert!(is_constant_one(fraction, word, ""), "{word}");
    }
    check_aliases(fraction);
}

#[track_caller]
fn check_aliases(fraction: &TwoLevelFraction) {
    let columns = fraction.factors().len();
    assert_eq!(fraction.aliases().len(), columns + columns * (columns - 1) / 2);
    let mut clear = 0;
    for (effect, aliases) in fraction.aliases() {
        for alias in aliases {
            assert!(is_constant_one(fraction, effect, alias), "{effect} = {alias}");
        }
        let short: BTreeSet<&str> = fraction
            .aliases()
            .iter()
            .map(|(other, _)| other.as_str())
            .filter(|other| *other != effect)
            .filter(|other| {
                let sum: i32 = fraction
                    .rows()
                    .iter()
                    .map(|row| i32::from(product(row, effect) * product(row, other)))
                    .sum();
                sum.unsigned_abs() as usize == fraction.rows().len()
            })
            .collect();
        let listed: BTreeSet<&str> = aliases
            .iter()
            .map(|alias| alias.trim_start_matches('-'))
            .filter(|alias| alias.len() <= 2)
            .collect();
        assert_eq!(listed, short, "aliases of {effect}");
        clear += usize::from(effect.len() == 2 && short.is_empty());
        if fraction.aliases_listed() == AliasesListed::All {
            assert_eq!(aliases.len(), fraction.defining_relation().len(), "{effect}");
        }
    }
    assert_eq!(fraction.clear_two_factor(), clear);
}

#[test]
fn every_fraction_up_to_ten_factors_is_what_it_says() {
    for factors in 1..=10usize {
        for base in least_runs(factors).ilog2()..=factors as u32 {
            let fraction = TwoLevelFraction::with_runs(factors, 1 << base).unwrap();
            check_by_multiplying(&fraction);
            assert_ne!(fraction.choice(), Choice::BestFound);
        }
    }
}

#[test]
fn all_combinations_have_no_words() {
    let fraction = TwoLevelFraction::with_runs(3, 8).unwrap();
    assert_eq!(fraction.resolution(), None);
    assert!(fraction.defining_relation().is_empty());
    assert_eq!(fraction.clear_two_factor(), 3);
}

#[test]
fn a_fraction_beyond_the_allowance_says_so() {
    let fraction = TwoLevelFraction::with_runs(18, 128).unwrap();
    assert_eq!(fraction.choice(), Choice::BestFound);
    assert!(fraction.resolution() >= Some(4));
}

#[track_caller]
fn check_error(result: Result<TwoLevelFraction, DesignError>, message: &str, help: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.to_string(), message);
    assert_eq!(error.help().as_deref().unwrap_or(""), help);
}

#[test]
fn impossible_sizes_say_what_is_possible() {
    check_error(
        TwoLevelFraction::with_runs(6, 24),
        "24 runs are not a power of two, as a regular two-level fraction needs",
        "use 16 or 32",
    );
    check_error(
        TwoLevelFraction::with_runs(8, 8),
        "8 runs are too few for 8 two-level factors",
        "use at least 16 runs",
    );
    check_error(
        TwoLevelFraction::with_runs(3, 16),
        "16 runs are more than the 8 combinations of 3 factors",
        "use at most 8 runs, and replications for more trials",
    );
    check_error(
        TwoLevelFraction::with_runs(24, 1 << 20),
        "1048576 runs are more than 1000000",
        "use at most 524288 runs",
    );
    check_error(
        TwoLevelFraction::with_runs(25, 32),
        "25 factors in 32 runs need 20 generators, more than 16",
        "use more runs",
    );
    check_error(
        TwoLevelFraction::with_runs(26, 64),
        "26 factors are more than the 25 that have a letter",
        "",
    );
    check_error(TwoLevelFraction::with_runs(0, 4), "the study has no factors", "");
}

proptest! {
    #[test]
    fn given_generators_make_what_they_say(
        base in 2usize..6,
        picks in prop::collection::vec((any::<u32>(), any::<bool>()), 1..6),
    ) {
        let mut masks = BTreeSet::new();
        let mut generators = Vec::new();
        for (pick, negative) in picks {
            let mask = pick % (1 << base);
            if mask.count_ones() >= 2 && masks.insert(mask) {
                let product = Word { mask, sign: if negative { -1 } else { 1 } };
                generators.push(format!("{}={product}", LETTERS[base + generators.len()]));
            }
        }
        let fraction =
            TwoLevelFraction::from_generators(base + generators.len(), &generators).unwrap();
        prop_assert_eq!(fraction.generators(), &generators);
        check_by_multiplying(&fraction);
    }
}
