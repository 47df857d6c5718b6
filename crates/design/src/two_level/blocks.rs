//! Blocks of runs, such as days or machines, and the effects that are given up for them.
//!
//! Rows in which a product of factors has the same sign form a block, so that product and the
//! difference between blocks cannot be told apart, nor can products of such products (Box, Hunter
//! and Hunter, "Statistics for Experimenters", 2nd edition, section 5.6). The products are chosen
//! so that no main effect is lost and as few short effects as possible: fewest pairs, then fewest
//! triples, and so on.

use std::collections::BTreeMap;

use serde::Serialize;
use trainwright_study::BlockSpec;

use crate::error::DesignError;
use crate::two_level::fraction::TwoLevelFraction;
use crate::two_level::generator::read_effect;
use crate::two_level::word::Word;

/// Factors up to which effects of every length are counted; beyond, up to four factors.
const MOST_FACTORS_COUNTED_WHOLE: usize = 12;

/// Effects of the blocks looked at before the search settles for the best choice seen.
const ALLOWANCE: u64 = 20_000_000;

/// Length up to which effects hidden by blocks are listed.
const LONGEST_LISTED: usize = 3;

/// Which rows run in which block, and what cannot be told apart from the blocks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Blocks {
    count: u32,
    /// Block of each row, from 1.
    rows: Vec<u32>,
    generators: Vec<String>,
    confounded: Vec<String>,
}

impl Blocks {
    /// Divides the rows of a fraction; `signs` are the rows as they run.
    ///
    /// # Errors
    /// Blocks that are no power of two or too many, or that would hide a main effect; generators
    /// that do not read.
    pub fn of_fraction(
        fraction: &TwoLevelFraction,
        signs: &[Vec<i8>],
        spec: &BlockSpec,
        names: &[String],
    ) -> Result<Self, DesignError> {
        let effects = ShortEffects::of(fraction);
        let chosen = match spec {
            BlockSpec::Count(blocks) => {
                let dimension = dimension(*blocks, fraction.rows().len())?;
                effects.least_hidden(dimension).ok_or(DesignError::NoRoomForBlocks {
                    blocks: *blocks,
                    rows: fraction.rows().len(),
                })?
            }
            BlockSpec::Generators(words) => given(fraction, &effects, names, words)?,
        };
        let bit = |row: &Vec<i8>, mask: u32| {
            let product: i8 =
                (0..row.len()).filter(|i| mask >> i & 1 == 1).map(|i| row[i]).product();
            u32::from(product > 0)
        };
        let rows = signs
            .iter()
            .map(|row| {
                1 + (0..).zip(&chosen).map(|(place, &mask)| bit(row, mask) << place).sum::<u32>()
            })
            .collect();
        Ok(Self {
            count: 1 << chosen.len(),
            rows,
            generators: chosen.iter().map(|&mask| Word { mask, sign: 1 }.to_string()).collect(),
            confounded: effects.hidden_by(&chosen),
        })
    }

    /// The same blocks with these many further rows, dealt to the blocks in turn.
    pub(crate) fn with_further_rows(mut self, further: u32) -> Self {
        self.rows.extend((0..further).map(|place| place % self.count + 1));
        self
    }

    /// Number of blocks in each replicate.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The block of a row counted from 1; blocks count from 1 too.
    pub fn of_row(&self, number: u32) -> Option<u32> {
        self.rows.get((number as usize).checked_sub(1)?).copied()
    }

    /// Products of factors whose sign tells the blocks apart, such as `ABC`.
    pub fn generators(&self) -> &[String] {
        &self.generators
    }

    /// Effects of up to three factors, and the generators, that cannot be told apart from blocks.
    pub fn confounded(&self) -> &[String] {
        &self.confounded
    }
}

fn dimension(blocks: u32, rows: usize) -> Result<usize, DesignError> {
    if blocks < 2 || !blocks.is_power_of_two() {
        return Err(DesignError::BlocksNotPowerOfTwo { blocks });
    }
    if blocks as usize > rows / 2 {
        return Err(DesignError::TooManyBlocks { blocks, rows });
    }
    Ok(blocks.ilog2() as usize)
}

/// Generators as the user gave them, as products of base factors.
fn given(
    fraction: &TwoLevelFraction,
    effects: &ShortEffects,
    names: &[String],
    words: &[String],
) -> Result<Vec<u32>, DesignError> {
    let mut group = vec![0];
    let mut chosen = Vec::new();
    for (index, text) in words.iter().enumerate() {
        let effect = read_effect(names, text).map_err(|problem| DesignError::BlockGenerator {
            index,
            generator: text.clone(),
            problem,
        })?;
        let element = element(fraction, effect);
        if group.contains(&element) {
            return Err(DesignError::BlockGeneratorRepeats { index, generator: text.clone() });
        }
        group.extend(group.clone().into_iter().map(|own: u32| own ^ element));
        chosen.push(element);
    }
    dimension(1 << chosen.len(), fraction.rows().len())?;
    let lost = group.iter().find_map(|own| {
        let main = |word: &&Word| word.length() == 1;
        effects.by_element.get(own)?.iter().find(main).copied()
    });
    match lost {
        Some(word) => {
            let factor = names[word.mask.trailing_zeros() as usize].clone();
            Err(DesignError::BlocksHideMain { factor })
        }
        None => Ok(chosen),
    }
}

/// An effect as a product of base factors, whatever its sign.
fn element(fraction: &TwoLevelFraction, effect: Word) -> u32 {
    let columns = fraction.columns().iter().enumerate();
    columns.filter(|(index, _)| effect.holds(*index)).fold(0, |mask, (_, own)| mask ^ own.mask)
}

/// Number of effects of each length, from length zero.
type Counts = Vec<u32>;

/// The short effects of a fraction by the product of base factors that they equal.
struct ShortEffects {
    longest: usize,
    base: Vec<usize>,
    by_element: BTreeMap<u32, Vec<Word>>,
}

impl ShortEffects {
    fn of(fraction: &TwoLevelFraction) -> Self {
        let factors = fraction.factors().len();
        let longest = if factors <= MOST_FACTORS_COUNTED_WHOLE { factors } else { 4 };
        let columns = fraction.columns();
        let base = (0..factors).filter(|&i| columns[i] == Word::of_factor(i)).collect();
        let mut by_element: BTreeMap<u32, Vec<Word>> = BTreeMap::new();
        let mut open = vec![(Word::IDENTITY, 0, 0)];
        while let Some((word, element, next)) = open.pop() {
            for (index, column) in columns.iter().enumerate().skip(next) {
                let longer = word.times(Word::of_factor(index));
                let element = element ^ column.mask;
                by_element.entry(element).or_default().push(longer);
                if longer.length() < longest {
                    open.push((longer, element, index + 1));
                }
            }
        }
        Self { longest, base, by_element }
    }

    fn counts(&self, element: u32) -> Counts {
        let mut counts = vec![0; self.longest + 1];
        for word in self.by_element.get(&element).into_iter().flatten() {
            counts[word.length()] += 1;
        }
        counts
    }

    /// The products that hide no main effect and the fewest short effects.
    fn least_hidden(&self, dimension: usize) -> Option<Vec<u32>> {
        let product = |run: u32| {
            (0..).zip(&self.base).fold(0, |mask, (bit, &factor)| mask | (run >> bit & 1) << factor)
        };
        let mut elements: Vec<(Counts, u32)> = (1..1u32 << self.base.len())
            .map(product)
            .map(|element| (self.counts(element), element))
            .filter(|(counts, _)| counts[1] == 0)
            .collect();
        elements.sort();
        let counts = elements.iter().map(|(counts, element)| (*element, counts.clone())).collect();
        let elements = elements.into_iter().map(|(_, element)| element).collect();
        let mut search = Search { elements, counts, dimension, best: None, work: 0 };
        search.descend(0, &[], &[0], &vec![0; self.longest + 1]);
        search.best.map(|(_, chosen)| chosen)
    }

    fn hidden_by(&self, chosen: &[u32]) -> Vec<String> {
        let mut group = vec![0u32];
        for &element in chosen {
            group.extend(group.clone().into_iter().map(|own| own ^ element));
        }
        let mut words: Vec<Word> = group[1..]
            .iter()
            .flat_map(|own| self.by_element.get(own).into_iter().flatten())
            .filter(|word| word.length() <= LONGEST_LISTED)
            .copied()
            .chain(chosen.iter().map(|&mask| Word { mask, sign: 1 }))
            .collect();
        words.sort_by_key(|word| word.rank());
        words.dedup();
        words.iter().map(Word::to_string).collect()
    }
}

struct Search {
    /// Products of base factors without main effects, those that hide least first.
    elements: Vec<u32>,
    counts: BTreeMap<u32, Counts>,
    dimension: usize,
    best: Option<(Counts, Vec<u32>)>,
    work: u64,
}

impl Search {
    /// Adds one more product to the chosen ones, whose products with each other are `group`.
    fn descend(&mut self, from: usize, chosen: &[u32], group: &[u32], hidden: &Counts) {
        if chosen.len() == self.dimension {
            self.best = Some((hidden.clone(), chosen.to_vec()));
            return;
        }
        for place in from..self.elements.len() {
            let element = self.elements[place];
            if group.contains(&element) {
                continue;
            }
            self.work += group.len() as u64;
            if self.work > ALLOWANCE && self.best.is_some() {
                return;
            }
            let Some(counts) = self.counts_with(group, element, hidden) else { continue };
            // Counts only grow, so a choice that is no better here is no better below.
            if self.best.as_ref().is_some_and(|(best, _)| counts >= *best) {
                continue;
            }
            let added = group.iter().map(|own| own ^ element);
            let wider: Vec<u32> = group.iter().copied().chain(added).collect();
            let longer = [chosen, &[element]].concat();
            self.descend(place + 1, &longer, &wider, &counts);
        }
    }

    /// The effects hidden once `element` is chosen too; nothing where a main effect is.
    fn counts_with(&self, group: &[u32], element: u32, hidden: &Counts) -> Option<Counts> {
        let mut counts = hidden.clone();
        for own in group {
            let more = self.counts.get(&(own ^ element))?;
            for (count, more) in counts.iter_mut().zip(more) {
                *count += more;
            }
        }
        Some(counts)
    }
}

#[cfg(test)]
mod tests;
