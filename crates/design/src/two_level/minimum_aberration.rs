//! Finds the regular two-level fraction of least aberration.
//!
//! Aberration orders designs by their word length pattern: fewer words of length three, then of
//! length four, and so on (Fries and Hunter, "Minimum aberration 2^(k-p) designs", Technometrics
//! 22, 1980); this includes the highest resolution. Ties go to the design with more clear
//! two-factor interactions, then to the one whose generators come first in Yates order.
//!
//! Up to twelve factors the answers are kept in `aberration_table.rs`. The search that found them
//! is a branch and bound over generator sets. It is exact as long as its allowance of work lasts;
//! beyond, the best design seen is returned and marked as such.

use crate::two_level::aberration_table::known;
use crate::two_level::word::LETTERS;

/// Words looked at before the search settles for the best design seen: under a second of work.
const ALLOWANCE: u64 = 300_000_000;

/// The columns chosen for the added factors, as masks over the base factors.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chosen {
    pub(crate) columns: Vec<u32>,
    pub(crate) proven: Proven,
}

/// Whether no better design exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proven {
    /// All others are worse or equal.
    Yes,
    /// The search was cut short.
    No,
}

/// The best fraction of `base + added` factors in 2^base runs.
pub(crate) fn least_aberration(base: usize, added: usize) -> Chosen {
    if added == 0 {
        return Chosen { columns: Vec::new(), proven: Proven::Yes };
    }
    match known(base, added) {
        Some(columns) => Chosen { columns: columns.to_vec(), proven: Proven::Yes },
        None => search(base, added),
    }
}

fn search(base: usize, added: usize) -> Chosen {
    let mut search = Search { base, added, best: quick_start(base, added), work: 0 };
    // Long generators first: the best designs have them, which gives the bound its grip. The
    // second pass finds the first of equals.
    for weight in (2..=base as u32).rev() {
        search.begin(weight);
    }
    search.best.clear = None;
    for weight in 2..=base as u32 {
        search.begin(weight);
    }
    let proven = if search.exhausted() { Proven::No } else { Proven::Yes };
    Chosen { columns: search.best.columns, proven }
}

/// Number of words of each length, from length zero.
type Pattern = [u32; LETTERS.len() + 1];

struct Candidate {
    pattern: Pattern,
    /// Absent for the quick start, so that the search proper replaces it by an equal.
    clear: Option<usize>,
    columns: Vec<u32>,
}

/// A partial choice of columns with all words it makes.
struct Node {
    base: usize,
    columns: Vec<u32>,
    /// The defining contrast subgroup, identity included.
    words: Vec<u32>,
    pattern: Pattern,
}

impl Node {
    fn root(base: usize) -> Self {
        Self { base, columns: Vec::new(), words: vec![0], pattern: [0; LETTERS.len() + 1] }
    }

    /// The word that adding this column as the next factor makes.
    fn generator(&self, column: u32) -> u32 {
        column | 1 << (self.base + self.columns.len())
    }

    fn pattern_with(&self, column: u32) -> Pattern {
        let generator = self.generator(column);
        let mut pattern = self.pattern;
        for word in &self.words {
            pattern[(word ^ generator).count_ones() as usize] += 1;
        }
        pattern
    }

    fn with(&self, column: u32, pattern: Pattern) -> Self {
        let generator = self.generator(column);
        let words = self.words.iter().flat_map(|&word| [word, word ^ generator]).collect();
        let columns = self.columns.iter().copied().chain([column]).collect();
        Self { base: self.base, columns, words, pattern }
    }

    fn clear_pairs(&self) -> usize {
        clear_pairs(self.base + self.columns.len(), self.words.iter().copied())
    }
}

/// A start that gives the bound its grip: the best of a few quick choices.
///
/// The best next column each time, once among all columns and once among products of odd length,
/// which alone keep the resolution at four or more; then, for as long as that raises the
/// resolution, the first columns in Yates order that keep it. The last are lexicographic codes
/// (Conway and Sloane, "Lexicographic codes", IEEE Transactions on Information Theory 32, 1986),
/// which include the perfect ones.
fn quick_start(base: usize, added: usize) -> Candidate {
    let all: Vec<u32> = (1..1 << base).filter(|c: &u32| c.count_ones() >= 2).collect();
    let odd: Vec<u32> = all.iter().copied().filter(|c| c.count_ones() % 2 == 1).collect();
    let mut best = greedy_among(all.clone(), base, added);
    if odd.len() >= added {
        let other = greedy_among(odd, base, added);
        best = if other.pattern < best.pattern { other } else { best };
    }
    while let Some(other) = first_fit(&all, base, added, resolution(&best.pattern) + 1) {
        best = other;
    }
    best
}

fn resolution(pattern: &Pattern) -> usize {
    pattern.iter().position(|&count| count > 0).expect("an added factor makes a word")
}

/// The first columns that make no word shorter than the resolution, if there are enough.
fn first_fit(columns: &[u32], base: usize, added: usize, resolution: usize) -> Option<Candidate> {
    let mut node = Node::root(base);
    for &column in columns {
        let pattern = node.pattern_with(column);
        if pattern[..resolution].iter().all(|&count| count == 0) {
            node = node.with(column, pattern);
        }
        if node.columns.len() == added {
            return Some(Candidate { pattern: node.pattern, clear: None, columns: node.columns });
        }
    }
    None
}

fn greedy_among(mut columns: Vec<u32>, base: usize, added: usize) -> Candidate {
    let mut node = Node::root(base);
    for _ in 0..added {
        let (pattern, place) = columns
            .iter()
            .enumerate()
            .map(|(place, &column)| (node.pattern_with(column), place))
            .min()
            .expect("there are columns enough for the factors");
        node = node.with(columns.remove(place), pattern);
    }
    node.columns.sort_unstable();
    Candidate { pattern: node.pattern, clear: None, columns: node.columns }
}

struct Search {
    base: usize,
    added: usize,
    best: Candidate,
    work: u64,
}

impl Search {
    fn exhausted(&self) -> bool {
        self.work > ALLOWANCE
    }

    /// Tries all sets whose lightest generator has this many letters.
    ///
    /// Renaming base factors turns the lightest generator of a set into the first letters, so only
    /// such a start, with heavier or equal companions, needs a look.
    fn begin(&mut self, weight: u32) {
        let base = self.base;
        let first = (1 << weight) - 1;
        let rest = (first + 1..1 << base).filter(|column: &u32| column.count_ones() >= weight);
        self.descend(&Node::root(base), &[first], &rest.collect::<Vec<_>>());
    }

    /// Tries each of `next` as the next column, with later ones of `next` and `rest` to follow.
    fn descend(&mut self, node: &Node, next: &[u32], rest: &[u32]) {
        let missing = self.added - node.columns.len();
        // Words never go away, so a column that breaks the bound here breaks it below as well:
        // only the others go down.
        let mut open: Vec<(u32, Pattern)> = Vec::new();
        for &column in next {
            if self.exhausted() {
                return;
            }
            self.work += node.words.len() as u64;
            let pattern = node.pattern_with(column);
            if pattern > self.best.pattern {
                continue;
            }
            match missing {
                1 => self.compare(node, column, pattern),
                _ => open.push((column, pattern)),
            }
        }
        let follow: Vec<u32> = open.iter().map(|open| open.0).chain(rest.iter().copied()).collect();
        for (place, (column, pattern)) in open.into_iter().enumerate() {
            if follow.len() - place < missing {
                return;
            }
            if pattern <= self.best.pattern {
                self.descend(&node.with(column, pattern), &follow[place + 1..], &[]);
            }
        }
    }

    /// Takes a complete design if it is better than the best.
    fn compare(&mut self, node: &Node, column: u32, pattern: Pattern) {
        let most = pairs(self.base + self.added);
        if pattern == self.best.pattern && self.best.clear == Some(most) {
            return;
        }
        let complete = node.with(column, pattern);
        let clear = complete.clear_pairs();
        if pattern < self.best.pattern || self.best.clear.is_none_or(|best| clear > best) {
            self.best = Candidate { pattern, clear: Some(clear), columns: complete.columns };
        }
    }
}

fn pairs(factors: usize) -> usize {
    factors * (factors - 1) / 2
}

/// Two-factor interactions aliased with no main effect and no other two-factor interaction.
pub(crate) fn clear_pairs(factors: usize, words: impl Iterator<Item = u32>) -> usize {
    let mut partners = vec![0u32; factors];
    for word in words.filter(|word| (3..=4).contains(&word.count_ones())) {
        for (factor, own) in partners.iter_mut().enumerate() {
            if word >> factor & 1 == 1 {
                *own |= word & !(1 << factor);
            }
        }
    }
    let unclear: u32 = partners.iter().map(|own| own.count_ones()).sum();
    pairs(factors) - unclear as usize / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slow obvious search: all sets of columns, no bound, no symmetry.
    fn slowest(base: usize, added: usize) -> (Pattern, usize, Vec<u32>) {
        let columns: Vec<u32> = (1..1 << base).filter(|c: &u32| c.count_ones() >= 2).collect();
        let mut best: Option<(Pattern, usize, Vec<u32>)> = None;
        for subset in 0u32..1 << columns.len() {
            if subset.count_ones() as usize != added {
                continue;
            }
            let mut node = Node::root(base);
            for (place, &column) in columns.iter().enumerate() {
                if subset >> place & 1 == 1 {
                    node = node.with(column, node.pattern_with(column));
                }
            }
            let clear = node.clear_pairs();
            let better = best.as_ref().is_none_or(|(pattern, most, columns)| {
                (&node.pattern, usize::MAX - clear, &node.columns)
                    < (pattern, usize::MAX - most, columns)
            });
            if better {
                best = Some((node.pattern, clear, node.columns));
            }
        }
        best.unwrap()
    }

    #[test]
    fn the_search_agrees_with_trying_everything() {
        for base in 2..=4 {
            for added in 1..(1 << base) - base {
                let chosen = search(base, added);
                assert_eq!(chosen.columns, slowest(base, added).2, "{base} base, {added} added");
                assert_eq!(chosen.proven, Proven::Yes);
            }
        }
    }

    #[test]
    fn the_table_holds_what_the_search_finds() {
        for factors in 3..=12usize {
            for base in (2..factors).filter(|base| factors < 1 << base) {
                let chosen = search(base, factors - base);
                assert_eq!(chosen.proven, Proven::Yes, "{factors} factors, {base} base");
                let columns = known(base, factors - base).unwrap();
                assert_eq!(columns, chosen.columns, "{factors} factors, {base} base");
            }
        }
    }
}
