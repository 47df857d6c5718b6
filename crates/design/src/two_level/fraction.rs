//! Regular fractions of two-level designs and what they confuse with what.
//!
//! A regular 2^(k-p) fraction sets p of k factors to products of the others. Every product of
//! factors that is constant over the rows is a word of the defining relation; two effects whose
//! product is a word cannot be told apart (Box, Hunter and Hunter, "Statistics for
//! Experimenters", 2nd edition, chapter 6).

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::error::DesignError;
use crate::size::MOST_ROWS;
use crate::two_level::generator::{Definition, read_generators};
use crate::two_level::minimum_aberration::{Proven, clear_pairs, least_aberration};
use crate::two_level::word::{LETTERS, Word};

/// Generators a fraction may have: 2^16 words are still quick to list.
const MOST_GENERATORS: usize = 16;

/// Generators up to which aliases of every length are listed.
const MOST_GENERATORS_WITH_ALL_ALIASES: usize = 4;

/// A regular two-level fraction with its alias structure.
///
/// ```
/// use trainwright_design::TwoLevelFraction;
///
/// let fraction = TwoLevelFraction::with_runs(6, 32).unwrap();
/// assert_eq!(fraction.generators(), ["F=ABCDE"]);
/// assert_eq!(fraction.resolution(), Some(6));
/// assert_eq!(fraction.aliases_of("EF").unwrap(), ["ABCD"]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TwoLevelFraction {
    factors: Vec<char>,
    rows: Vec<Vec<i8>>,
    generators: Vec<String>,
    defining_relation: Vec<String>,
    resolution: Option<u32>,
    word_length_pattern: BTreeMap<u32, u32>,
    clear_two_factor: usize,
    #[serde(serialize_with = "as_object")]
    aliases: Vec<(String, Vec<String>)>,
    aliases_listed: AliasesListed,
    choice: Choice,
    #[serde(skip)]
    columns: Vec<Word>,
    #[serde(skip)]
    words: Vec<Word>,
}

/// Which aliases a fraction lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AliasesListed {
    /// Effects of every length.
    All,
    /// Main effects and two-factor interactions; with many generators the others are too many.
    UpToTwoFactors,
}

/// Where the generators of a fraction come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// The user gave them.
    Given,
    /// No fraction of this size has less aberration.
    MinimumAberration,
    /// The best seen before the search was cut short; there may be better ones.
    BestFound,
}

impl TwoLevelFraction {
    /// The fraction of least aberration for this many factors and runs.
    ///
    /// # Errors
    /// Runs that are no power of two, too few to tell the main effects apart, or more than the
    /// combinations; too many factors or runs.
    pub fn with_runs(factors: usize, runs: u32) -> Result<Self, DesignError> {
        let base = base_factors(factors, runs)?;
        let chosen = least_aberration(base, factors - base);
        let definitions: Vec<_> = chosen
            .columns
            .iter()
            .enumerate()
            .map(|(place, &mask)| Definition {
                factor: base + place,
                product: Word { mask, sign: 1 },
            })
            .collect();
        let choice = match chosen.proven {
            Proven::Yes => Choice::MinimumAberration,
            Proven::No => Choice::BestFound,
        };
        Ok(Self::build(factors, &definitions, choice))
    }

    /// The fraction that generators such as `F=ABCDE` or `E=-AC` define.
    ///
    /// # Errors
    /// A generator that does not read or contradicts another; too many factors or runs.
    pub fn from_generators<S: AsRef<str>>(
        factors: usize,
        generators: &[S],
    ) -> Result<Self, DesignError> {
        check_factors(factors)?;
        let names: Vec<_> = LETTERS[..factors].iter().map(char::to_string).collect();
        Self::from_named_generators(&names, generators)
    }

    /// The fraction that generators such as `batch = nodes*executors` define; letters work too.
    ///
    /// # Errors
    /// As for [`Self::from_generators`].
    pub fn from_named_generators<S: AsRef<str>>(
        names: &[String],
        generators: &[S],
    ) -> Result<Self, DesignError> {
        check_factors(names.len())?;
        let definitions = read_generators(names, generators)?;
        let runs = 1 << (names.len() - definitions.len());
        check_size(names.len(), runs, definitions.len())?;
        Ok(Self::build(names.len(), &definitions, Choice::Given))
    }

    fn build(factors: usize, definitions: &[Definition], choice: Choice) -> Self {
        Self::with_rows(factors, definitions, sign_rows(factors, definitions), choice)
    }

    /// A fraction whose rows stand in an order of their own.
    pub(crate) fn with_rows(
        factors: usize,
        definitions: &[Definition],
        rows: Vec<Vec<i8>>,
        choice: Choice,
    ) -> Self {
        let words = defining_words(definitions);
        let aliases_listed = match definitions.len() {
            0..=MOST_GENERATORS_WITH_ALL_ALIASES => AliasesListed::All,
            _ => AliasesListed::UpToTwoFactors,
        };
        let mut word_length_pattern: BTreeMap<u32, u32> =
            (3..=factors as u32).map(|length| (length, 0)).collect();
        for word in &words {
            *word_length_pattern.entry(word.mask.count_ones()).or_default() += 1;
        }
        Self {
            factors: LETTERS[..factors].to_vec(),
            rows,
            generators: definitions
                .iter()
                .map(|own| format!("{}={}", LETTERS[own.factor], own.product))
                .collect(),
            defining_relation: words.iter().map(Word::to_string).collect(),
            resolution: words.first().map(|word| word.mask.count_ones()),
            word_length_pattern,
            clear_two_factor: clear_pairs(factors, words.iter().map(|word| word.mask)),
            aliases: alias_lists(factors, &words, aliases_listed),
            aliases_listed,
            choice,
            columns: columns(factors, definitions),
            words,
        }
    }

    /// Every factor as a product of base factors.
    pub(crate) fn columns(&self) -> &[Word] {
        &self.columns
    }

    /// The defining relation.
    pub(crate) fn words(&self) -> &[Word] {
        &self.words
    }

    /// Factor letters in order.
    pub fn factors(&self) -> &[char] {
        &self.factors
    }

    /// Rows of -1 and +1 in standard order: the first base factor alternates fastest.
    pub fn rows(&self) -> &[Vec<i8>] {
        &self.rows
    }

    /// Each added factor as a product of base factors, such as `F=ABCDE`.
    pub fn generators(&self) -> &[String] {
        &self.generators
    }

    /// Products of factors that are constant over the rows, shortest first; `-` for constant -1.
    pub fn defining_relation(&self) -> &[String] {
        &self.defining_relation
    }

    /// Length of the shortest word; absent where all combinations run, so that nothing is aliased.
    pub fn resolution(&self) -> Option<u32> {
        self.resolution
    }

    /// Number of words of each length from three on.
    pub fn word_length_pattern(&self) -> &BTreeMap<u32, u32> {
        &self.word_length_pattern
    }

    /// Two-factor interactions aliased with no main effect and no other two-factor interaction.
    pub fn clear_two_factor(&self) -> usize {
        self.clear_two_factor
    }

    /// Each main effect and two-factor interaction with what it cannot be told apart from.
    pub fn aliases(&self) -> &[(String, Vec<String>)] {
        &self.aliases
    }

    /// What a main effect or two-factor interaction cannot be told apart from.
    pub fn aliases_of(&self, effect: &str) -> Option<&[String]> {
        self.aliases.iter().find(|(own, _)| own == effect).map(|(_, aliases)| aliases.as_slice())
    }

    /// Whether the aliases are listed in full.
    pub fn aliases_listed(&self) -> AliasesListed {
        self.aliases_listed
    }

    /// Where the generators come from.
    pub fn choice(&self) -> Choice {
        self.choice
    }
}

/// The smallest number of runs in which this many main effects can be told apart.
pub(crate) fn least_runs(factors: usize) -> u32 {
    (factors as u32 + 1).next_power_of_two()
}

fn base_factors(factors: usize, runs: u32) -> Result<usize, DesignError> {
    check_factors(factors)?;
    if !runs.is_power_of_two() {
        return Err(DesignError::RunsNotPowerOfTwo { runs });
    }
    let least = least_runs(factors);
    if runs < least {
        return Err(DesignError::TooFewRuns { runs, factors, least });
    }
    let base = runs.ilog2() as usize;
    if base > factors {
        let combinations = 1 << factors;
        return Err(DesignError::TooManyRuns { runs, factors, combinations });
    }
    check_size(factors, u64::from(runs), factors - base)?;
    Ok(base)
}

fn check_factors(factors: usize) -> Result<(), DesignError> {
    match factors {
        0 => Err(DesignError::NoFactors),
        _ if factors > LETTERS.len() => {
            Err(DesignError::TooManyFactors { factors, most: LETTERS.len() })
        }
        _ => Ok(()),
    }
}

fn check_size(factors: usize, runs: u64, generators: usize) -> Result<(), DesignError> {
    if runs > MOST_ROWS as u64 {
        return Err(DesignError::TooManyRows { runs, most: MOST_ROWS });
    }
    if generators > MOST_GENERATORS {
        let most = MOST_GENERATORS;
        return Err(DesignError::TooManyGenerators { factors, runs, generators, most });
    }
    Ok(())
}

/// All words of the defining relation, shortest first, without the identity.
fn defining_words(definitions: &[Definition]) -> Vec<Word> {
    let mut words = vec![Word::IDENTITY];
    for own in definitions {
        let generator = own.product.times(Word::of_factor(own.factor));
        words.extend(words.clone().into_iter().map(|word| word.times(generator)));
    }
    words.remove(0);
    words.sort_by_key(|word| word.rank());
    words
}

/// Every factor as a product of base factors.
fn columns(factors: usize, definitions: &[Definition]) -> Vec<Word> {
    let defined = |factor| definitions.iter().find(|own| own.factor == factor);
    (0..factors)
        .map(|factor| defined(factor).map_or(Word::of_factor(factor), |own| own.product))
        .collect()
}

fn sign_rows(factors: usize, definitions: &[Definition]) -> Vec<Vec<i8>> {
    let defined = |factor| definitions.iter().any(|own| own.factor == factor);
    let base: Vec<usize> = (0..factors).filter(|&factor| !defined(factor)).collect();
    let columns = columns(factors, definitions);
    (0..1u32 << base.len())
        .map(|run| {
            let high = base
                .iter()
                .enumerate()
                .fold(0, |mask, (bit, &factor)| mask | (run >> bit & 1) << factor);
            columns.iter().map(|column| sign_at(*column, high)).collect()
        })
        .collect()
}

/// The value of a product where the factors of `high` are +1 and all others -1.
fn sign_at(product: Word, high: u32) -> i8 {
    if (product.mask & !high).count_ones().is_multiple_of(2) { product.sign } else { -product.sign }
}

fn alias_lists(
    factors: usize,
    words: &[Word],
    listed: AliasesListed,
) -> Vec<(String, Vec<String>)> {
    let mains = (0..factors).map(Word::of_factor);
    let pairs = (0..factors).flat_map(|first| {
        (first + 1..factors)
            .map(move |second| Word::of_factor(first).times(Word::of_factor(second)))
    });
    mains
        .chain(pairs)
        .map(|effect| {
            let mut aliases: Vec<Word> = words.iter().map(|word| word.times(effect)).collect();
            if listed == AliasesListed::UpToTwoFactors {
                aliases.retain(|alias| alias.length() <= 2);
            }
            aliases.sort_by_key(|alias| alias.rank());
            (effect.to_string(), aliases.iter().map(Word::to_string).collect())
        })
        .collect()
}

fn as_object<S: Serializer>(
    aliases: &[(String, Vec<String>)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(aliases.iter().map(|(effect, list)| (effect, list)))
}

#[cfg(test)]
mod tests;
