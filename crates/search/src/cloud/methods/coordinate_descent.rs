//! Coordinate descent: all values of one property, then of the next, until none improves.

use super::{first_untried, next, once_accepted, shuffled};
use crate::cloud::advisor::{Advice, Advisor, Stop};
use crate::cloud::candidate::Candidate;
use crate::cloud::problem::{Problem, Told};

/// Coordinate descent, ready for a problem.
pub(crate) struct CoordinateDescent {
    problem: Problem,
    /// Category, generation and size of each candidate, as the name of its type says.
    words: Vec<[String; 3]>,
}

/// The properties of a name: those three, and the number of nodes.
const COORDINATES: usize = 4;

impl CoordinateDescent {
    pub(crate) fn new(problem: &Problem) -> Self {
        let words = problem.candidates().iter().map(words).collect();
        Self { problem: problem.clone(), words }
    }

    /// Candidates that differ from one in a coordinate alone; where another size comes with other
    /// numbers of nodes, the nearest of them.
    fn neighbours(&self, from: usize, coordinate: usize) -> Vec<usize> {
        let candidates = self.problem.candidates();
        let nodes = |at: usize| f64::from(candidates[at].nodes).ln();
        let alike = |at: &usize| {
            (0..3).all(|own| own == coordinate || self.words[*at][own] == self.words[from][own])
        };
        let mut found: Vec<usize> = (0..candidates.len()).filter(alike).collect();
        if coordinate < 3 {
            let distance = |at: usize| (nodes(at) - nodes(from)).abs();
            let nearest = |at: &usize| {
                let same = found.iter().filter(|own| self.words[**own] == self.words[*at]);
                same.min_by(|a, b| distance(**a).total_cmp(&distance(**b))) == Some(at)
            };
            found = found.iter().copied().filter(|at| nearest(at)).collect();
        }
        found.retain(|at| *at != from);
        found
    }

    /// What the descent needs to know next; nothing once no coordinate improves.
    fn needs(&self, told: &[Told], seed: u64) -> Option<usize> {
        let value = |at: usize| {
            let run = told.iter().find(|own| own.candidate == at)?;
            Some(self.problem.accepted(run).unwrap_or(f64::INFINITY))
        };
        let order = shuffled(&self.problem, seed);
        // A start that failed is no place to go on from.
        let start = order.iter().copied().find(|&at| value(at).is_none_or(f64::is_finite))?;
        let Some(mut best) = value(start) else { return Some(start) };
        let (mut at, mut idle, mut coordinate) = (start, 0, 0);
        while idle < COORDINATES {
            idle += 1;
            for other in self.neighbours(at, coordinate) {
                let Some(own) = value(other) else { return Some(other) };
                if own < best {
                    (best, at, idle) = (own, other, 1);
                }
            }
            coordinate = (coordinate + 1) % COORDINATES;
        }
        None
    }
}

/// `c4.2xlarge` is c, 4 and 2xlarge; a name of another form is a category of its own.
fn words(own: &Candidate) -> [String; 3] {
    let name = &own.machine.vm_type;
    let (family, size) = name.split_once('.').unwrap_or((name, ""));
    let digits = family.find(|letter: char| letter.is_ascii_digit()).unwrap_or(family.len());
    [family[..digits].to_owned(), family[digits..].to_owned(), size.to_owned()]
}

impl Advisor for CoordinateDescent {
    fn advise(&self, told: &[Told], seed: u64) -> Advice {
        match self.needs(told, seed) {
            Some(candidate) => next(Some(candidate)),
            None => {
                let mut advice = next(first_untried(&shuffled(&self.problem, seed), told));
                let stop = once_accepted(&self.problem, told, Stop::NoNeighbourBetter);
                advice.stop = advice.stop.or(stop);
                advice
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::candidate::Machine;
    use super::super::super::problem::{Limits, Objective};
    use super::*;

    fn candidate(name: &str, nodes: u32) -> Candidate {
        Candidate { machine: Machine::plain(name, 2.0, 4.0, 0.1), nodes }
    }

    #[test]
    fn names_are_split_into_category_generation_and_size() {
        assert_eq!(words(&candidate("c4.2xlarge", 1)), ["c", "4", "2xlarge"]);
        assert_eq!(words(&candidate("big", 1)), ["big", "", ""]);
    }

    #[test]
    fn another_size_comes_with_the_nearest_number_of_nodes() {
        let all = [("c4.large", 4), ("c4.large", 48), ("c4.xlarge", 6), ("c4.xlarge", 24)];
        let all = all.map(|(name, nodes)| candidate(name, nodes)).to_vec();
        let problem = Problem::new(all, Objective::Time, Limits::default()).unwrap();
        let own = CoordinateDescent::new(&problem);
        assert_eq!(own.neighbours(1, 2), [3]);
        assert_eq!(own.neighbours(1, 3), [0]);
    }
}
