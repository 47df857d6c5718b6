use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::two_level::word::LETTERS;

fn names(factors: usize) -> Vec<String> {
    LETTERS[..factors].iter().map(char::to_string).collect()
}

fn blocks(factors: usize, runs: u32, count: u32) -> Result<Blocks, DesignError> {
    let fraction = TwoLevelFraction::with_runs(factors, runs).unwrap();
    let spec = BlockSpec::Count(count);
    Blocks::of_fraction(&fraction, fraction.rows(), &spec, &names(factors))
}

/// Box, Hunter and Hunter, 2nd edition, table 5A.1: blocks of 2^k factorials.
#[test]
fn blocks_of_whole_factorials_are_the_published_ones() {
    assert_eq!(blocks(3, 8, 2).unwrap().confounded(), ["ABC"]);
    assert_eq!(blocks(3, 8, 4).unwrap().confounded(), ["AB", "AC", "BC"]);
    assert_eq!(blocks(4, 16, 2).unwrap().confounded(), ["ABCD"]);
    let four = blocks(4, 16, 4).unwrap();
    let lengths: Vec<usize> = four.confounded().iter().map(String::len).collect();
    assert_eq!(lengths, [2, 3, 3], "one pair and two triples");
    assert_eq!(blocks(5, 32, 2).unwrap().generators(), ["ABCDE"]);
    let eight = blocks(5, 32, 8).unwrap();
    let pairs = eight.confounded().iter().filter(|word| word.len() == 2).count();
    assert_eq!(pairs, 2);
    assert_eq!(blocks(6, 64, 8).unwrap().confounded().iter().map(String::len).min(), Some(3));
}

#[test]
fn given_products_make_the_blocks() {
    let fraction = TwoLevelFraction::from_generators(6, &["E=ABC", "F=BCD"]).unwrap();
    let spec = BlockSpec::Generators(vec!["ACD".to_owned()]);
    let blocks = Blocks::of_fraction(&fraction, fraction.rows(), &spec, &names(6)).unwrap();
    assert_eq!(blocks.count(), 2);
    assert!(blocks.confounded().contains(&"ACD".to_owned()));
    // ABE = C and BEF, ADF, ... share the coset of ACD: all have three factors.
    assert!(blocks.confounded().iter().all(|word| word.len() == 3), "{blocks:?}");
}

#[track_caller]
fn check_fault(generators: &[&str], expected: &str) {
    let fraction = TwoLevelFraction::from_generators(4, &["D=ABC"]).unwrap();
    let spec = BlockSpec::Generators(generators.iter().map(|&word| word.to_owned()).collect());
    let fault = Blocks::of_fraction(&fraction, fraction.rows(), &spec, &names(4)).unwrap_err();
    assert_eq!(fault.to_string(), expected);
}

#[test]
fn blocks_that_cannot_be_are_explained() {
    check_fault(&["ABC"], "the blocks cannot be told apart from the main effect of `D`");
    check_fault(&["AB", "CD"], "block generator `CD` gives the same blocks as those before it");
    check_fault(
        &["AB", "AX"],
        "block generator `AX` names `X`, which is neither a factor nor the letter of one",
    );
    assert_eq!(
        blocks(4, 16, 3).unwrap_err().to_string(),
        "3 blocks are not a power of two, from 2 on"
    );
    assert_eq!(
        blocks(4, 8, 8).unwrap_err().to_string(),
        "8 blocks leave a block of the 8 rows with fewer than 2"
    );
    assert_eq!(
        blocks(7, 8, 2).unwrap_err().to_string(),
        "no 2 blocks of the 8 rows leave every main effect apart from them"
    );
}

/// The slow obvious search: every set of generators, every effect by multiplying columns.
fn fewest_hidden(fraction: &TwoLevelFraction, dimension: usize) -> Option<Vec<u32>> {
    let factors = fraction.factors().len();
    let rows = fraction.rows();
    let signs = |mask: u32| -> Vec<i8> {
        let product =
            |row: &Vec<i8>| (0..factors).filter(|i| mask >> i & 1 == 1).map(|i| row[i]).product();
        rows.iter().map(product).collect()
    };
    let all: Vec<(u32, Vec<i8>)> = (1..1u32 << factors).map(|mask| (mask, signs(mask))).collect();
    let mut best: Option<Vec<u32>> = None;
    let mut sets: Vec<Vec<u32>> = all.iter().map(|(mask, _)| vec![*mask]).collect();
    for _ in 1..dimension {
        sets = sets
            .iter()
            .flat_map(|set| {
                (set[set.len() - 1] + 1..1 << factors).map(|m| [set.as_slice(), &[m]].concat())
            })
            .collect();
    }
    for set in sets {
        let block = |row: usize| -> Vec<i8> { set.iter().map(|&m| signs(m)[row]).collect() };
        let of: Vec<Vec<i8>> = (0..rows.len()).map(block).collect();
        if of.iter().collect::<BTreeSet<_>>().len() != 1 << dimension {
            continue;
        }
        let mut counts = vec![0u32; factors + 1];
        for (mask, own) in &all {
            // An effect is hidden where it is constant within every block but not over all.
            let mut seen: BTreeMap<&Vec<i8>, i8> = BTreeMap::new();
            let hidden = (0..rows.len()).all(|r| *seen.entry(&of[r]).or_insert(own[r]) == own[r]);
            let constant = own.iter().all(|s| *s == own[0]);
            counts[mask.count_ones() as usize] += u32::from(hidden && !constant);
        }
        if counts[1] == 0 && best.as_ref().is_none_or(|best| counts < *best) {
            best = Some(counts);
        }
    }
    best
}

#[test]
fn the_choice_agrees_with_trying_everything() {
    for (factors, runs, dimension) in
        [(3, 8, 1), (3, 8, 2), (4, 16, 2), (4, 8, 1), (5, 16, 1), (5, 16, 2), (5, 8, 1), (4, 8, 2)]
    {
        let fraction = TwoLevelFraction::with_runs(factors, runs).unwrap();
        let effects = ShortEffects::of(&fraction);
        let chosen = effects.least_hidden(dimension);
        let counts = chosen.map(|chosen| {
            let mut group = vec![0u32];
            for element in chosen {
                group.extend(group.clone().into_iter().map(|own| own ^ element));
            }
            let mut sum = vec![0u32; factors + 1];
            for own in &group[1..] {
                sum.iter_mut().zip(effects.counts(*own)).for_each(|(sum, own)| *sum += own);
            }
            sum
        });
        assert_eq!(counts, fewest_hidden(&fraction, dimension), "{factors} {runs} {dimension}");
    }
}

proptest! {
    #[test]
    fn blocks_are_of_equal_size_and_orthogonal_to_main_effects(
        factors in 3usize..9, added in 0usize..4, dimension in 1u32..4,
    ) {
        let base = factors - added.min(factors - 3);
        prop_assume!(factors < 1 << base);
        let Ok(blocks) = blocks(factors, 1 << base, 1 << dimension) else { return Ok(()) };
        let fraction = TwoLevelFraction::with_runs(factors, 1 << base).unwrap();
        for block in 1..=blocks.count() {
            let own: Vec<&Vec<i8>> = (1..)
                .zip(fraction.rows())
                .filter(|(row, _)| blocks.of_row(*row) == Some(block))
                .map(|(_, signs)| signs)
                .collect();
            prop_assert_eq!(own.len(), fraction.rows().len() >> dimension);
            for factor in 0..factors {
                prop_assert_eq!(own.iter().map(|row| i32::from(row[factor])).sum::<i32>(), 0);
            }
        }
    }
}
