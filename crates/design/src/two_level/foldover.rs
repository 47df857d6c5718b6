//! A fraction run again with signs reversed, which pulls effects apart that were one.
//!
//! A word whose sign the reversal changes is +1 in one half and -1 in the other, so it is no word
//! of both halves together: the effects that it tied are free (Montgomery, "Design and Analysis
//! of Experiments", 8th edition, section 8.6).

use crate::error::DesignError;
use crate::two_level::fraction::{Choice, TwoLevelFraction};
use crate::two_level::generator::Definition;
use crate::two_level::word::{LETTERS, Word};

/// Which signs a foldover reverses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reversal {
    /// Those of every factor.
    EveryFactor,
    /// Those of the factor at this position, from 0.
    Factor(usize),
}

impl Reversal {
    fn changes(self, word: Word) -> bool {
        match self {
            Self::EveryFactor => word.length() % 2 == 1,
            Self::Factor(index) => word.holds(index),
        }
    }

    /// The row with the signs reversed.
    pub(crate) fn of_row(self, row: &[i8]) -> Vec<i8> {
        let reversed = |index| match self {
            Self::EveryFactor => true,
            Self::Factor(own) => own == index,
        };
        (0..).zip(row).map(|(index, &sign)| if reversed(index) { -sign } else { sign }).collect()
    }
}

impl TwoLevelFraction {
    /// The fraction followed by itself with signs reversed, as one design.
    ///
    /// # Errors
    /// A factor that is not there, or a reversal that gives the same rows again.
    ///
    /// ```
    /// use trainwright_design::{Reversal, TwoLevelFraction};
    ///
    /// let fraction = TwoLevelFraction::from_generators(7, &["D=AB", "E=AC", "F=BC", "G=ABC"])?;
    /// assert_eq!(fraction.resolution(), Some(3));
    /// assert_eq!(fraction.folded(Reversal::EveryFactor)?.resolution(), Some(4));
    /// # Ok::<(), trainwright_design::DesignError>(())
    /// ```
    pub fn folded(&self, reversal: Reversal) -> Result<Self, DesignError> {
        let factors = self.factors().len();
        if let Reversal::Factor(index) = reversal
            && index >= factors
        {
            let factor = LETTERS.get(index).map_or_else(|| "?".to_owned(), char::to_string);
            return Err(DesignError::FoldoverFactor { factor });
        }
        let kept: Vec<Word> =
            self.words().iter().copied().filter(|&word| !reversal.changes(word)).collect();
        if kept.len() == self.words().len() {
            return Err(DesignError::FoldoverRepeats);
        }
        let mirrored: Vec<Vec<i8>> = self.rows().iter().map(|row| reversal.of_row(row)).collect();
        let rows = [self.rows(), &mirrored].concat();
        Ok(Self::with_rows(factors, &definitions(&kept), rows, Choice::Given))
    }
}

/// Words as definitions of their last letters by the other letters.
fn definitions(words: &[Word]) -> Vec<Definition> {
    let last = |word: Word| word.mask.ilog2() as usize;
    let mut basis: Vec<Word> = Vec::new();
    for &word in words {
        let left = basis
            .iter()
            .fold(word, |word, &own| if word.holds(last(own)) { word.times(own) } else { word });
        if left.mask == 0 {
            continue;
        }
        for own in &mut basis {
            if own.holds(last(left)) {
                *own = own.times(left);
            }
        }
        basis.push(left);
    }
    basis.sort_by_key(|&word| last(word));
    basis
        .into_iter()
        .map(|word| Definition {
            factor: last(word),
            product: word.times(Word::of_factor(last(word))),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Montgomery, section 8.6.1: the foldover of 2^(7-4) of resolution III has resolution IV,
    /// and its words are those of even length.
    #[test]
    fn a_full_foldover_keeps_the_even_words() {
        let fraction = TwoLevelFraction::from_generators(7, &["D=AB", "E=AC", "F=BC", "G=ABC"])
            .unwrap()
            .folded(Reversal::EveryFactor)
            .unwrap();
        assert_eq!(fraction.rows().len(), 16);
        assert_eq!(
            fraction.defining_relation(),
            ["ABCG", "ABEF", "ACDF", "ADEG", "BCDE", "BDFG", "CEFG"]
        );
    }

    #[test]
    fn folding_on_one_factor_frees_it_and_its_interactions() {
        let fraction = TwoLevelFraction::from_generators(7, &["D=AB", "E=AC", "F=BC", "G=ABC"])
            .unwrap()
            .folded(Reversal::Factor(3))
            .unwrap();
        assert!(fraction.defining_relation().iter().all(|word| !word.contains('D')));
        let aliases = fraction.aliases_of("D").unwrap();
        assert!(aliases.iter().all(|alias| alias.len() > 2), "{aliases:?}");
    }

    #[test]
    fn a_reversal_that_changes_nothing_is_refused() {
        let even = TwoLevelFraction::from_generators(4, &["D=ABC"]).unwrap();
        assert_eq!(even.folded(Reversal::EveryFactor), Err(DesignError::FoldoverRepeats));
        assert!(even.folded(Reversal::Factor(0)).unwrap().resolution().is_none());
        let missing = DesignError::FoldoverFactor { factor: "E".to_owned() };
        assert_eq!(even.folded(Reversal::Factor(4)), Err(missing));
    }

    proptest! {
        /// The words of the combined rows, found by multiplying columns.
        #[test]
        fn the_combined_words_are_those_of_the_rows(
            factors in 4usize..8, added in 1usize..4, choice in 0usize..9,
        ) {
            let runs = 1u32 << (factors - added.min(factors - 3));
            prop_assume!(runs as usize > factors);
            let fraction = TwoLevelFraction::with_runs(factors, runs).unwrap();
            let reversal =
                if choice < factors { Reversal::Factor(choice) } else { Reversal::EveryFactor };
            let Ok(folded) = fraction.folded(reversal) else { return Ok(()) };
            prop_assert_eq!(&folded.rows()[..fraction.rows().len()], fraction.rows());
            let distinct: BTreeSet<_> = folded.rows().iter().collect();
            prop_assert_eq!(distinct.len(), 2 * fraction.rows().len());
            let constant = |mask: u32| {
                let sign = |row: &Vec<i8>| -> i8 {
                    (0..factors).filter(|i| mask >> i & 1 == 1).map(|i| row[i]).product()
                };
                let first = sign(&folded.rows()[0]);
                folded.rows().iter().all(|row| sign(row) == first).then_some((mask, first))
            };
            let expected: BTreeSet<(u32, i8)> = (1..1 << factors).filter_map(constant).collect();
            let found: BTreeSet<(u32, i8)> =
                folded.words().iter().map(|word| (word.mask, word.sign)).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
