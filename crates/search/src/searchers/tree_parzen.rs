//! Tries what is likely among good configurations and unlikely among the others.
//!
//! Bergstra, Bardenet, Bengio and Kegl, "Algorithms for hyper-parameter optimization", 2011,
//! section 4, with densities over all factors together (Falkner, Klein and Hutter, "BOHB", 2018).

use std::collections::BTreeSet;

use trainwright_random::Random;
use trainwright_stats::Normal;
use trainwright_study::{Configuration, Seed};

use super::points::Points;
use super::{first_configuration, random_for, random_suggestion};
use crate::gaussian_process::{Distance, normal};
use crate::{Candidate, History, Searcher, Space, Suggestion};

/// Candidates drawn from the good ones at each question.
const DRAWN: usize = 24;
/// Share of configurations that count as good, and the most of them.
const GOOD_SHARE: f64 = 0.15;
const MOST_GOOD: usize = 25;
/// Deviation of the bump of a lone point, as a share of the range.
const SPREAD: f64 = 0.2;
/// Chance of a category that was seen, beside those that were not.
const SAME_CATEGORY: f64 = 0.8;

/// How a tree-structured Parzen search goes on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParzenSettings {
    /// How the first configurations are chosen.
    pub start: Points,
    /// How many they are.
    pub start_count: usize,
    /// Source of its randomness.
    pub seed: Seed,
}

/// Suggests what is likely among good configurations.
#[derive(Debug, Clone)]
pub struct TreeParzen {
    space: Space,
    settings: ParzenSettings,
    planned: Vec<Configuration>,
    /// What did well elsewhere; it comes first, whatever a design has measured.
    known_good: Vec<Configuration>,
}

impl TreeParzen {
    /// A search of a space.
    pub fn new(space: Space, settings: ParzenSettings) -> Self {
        let ParzenSettings { start, start_count, seed } = settings;
        let planned = start.configurations(&space, start_count, seed);
        Self { space, settings, planned, known_good: Vec::new() }
    }

    /// The same search, beginning with configurations that did well elsewhere.
    pub fn starting_with(mut self, known_good: Vec<Configuration>) -> Self {
        let new = |own: &Configuration| !known_good.iter().any(|good| good.same_as(own));
        self.planned.retain(new);
        self.known_good = known_good;
        self
    }

    /// Cells from best to worst, by place in the unit cube; those that failed, were cut short or
    /// break a limit come last.
    fn ranked(&self, known: &History) -> Vec<Vec<f64>> {
        let mut cells: Vec<(bool, f64, Vec<f64>)> = known
            .cells()
            .into_iter()
            .filter_map(|own| {
                let point = self.space.point(&own.configuration)?;
                if own.measured() + own.failed + own.cut_short == 0 {
                    return None;
                }
                let bad = own.measured() == 0 || !known.keeps_limits(&own);
                Some((bad, own.loss(0).unwrap_or(f64::INFINITY), point))
            })
            .collect();
        cells.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        cells.into_iter().map(|(_, _, point)| point).collect()
    }

    fn drawn(&self, known: &History, random: &mut Random) -> Option<Configuration> {
        let ranked = self.ranked(known);
        if ranked.len() < 2 {
            return None;
        }
        let count = ((GOOD_SHARE * ranked.len() as f64).ceil() as usize).clamp(1, MOST_GOOD);
        let distances: Vec<Distance> = match self.space.dimensions() {
            [] => vec![Distance::Mismatch],
            all => all.iter().map(|own| own.distance()).collect(),
        };
        let good = Density::new(&ranked[..count], &distances, &self.space);
        let other = Density::new(&ranked[count..], &distances, &self.space);
        let tried: BTreeSet<String> = known.cells().into_iter().map(|own| own.identity).collect();
        let mut best: Option<(f64, Candidate)> = None;
        for _ in 0..DRAWN {
            let point = good.draw(random);
            let Some(own) = self.space.candidate(&point) else { continue };
            if tried.contains(&own.configuration.identity()) {
                continue;
            }
            let Some(at) = self.space.point(&own.configuration) else { continue };
            let score = good.log_density(&at) - other.log_density(&at);
            if best.as_ref().is_none_or(|(known, _)| score > *known) {
                best = Some((score, own));
            }
        }
        best.map(|(_, own)| own.configuration)
    }
}

impl Searcher for TreeParzen {
    fn name(&self) -> &'static str {
        "tpe"
    }

    fn suggest(&mut self, known: &History) -> Suggestion {
        if let Some(own) = first_configuration(&self.known_good, &self.planned, known) {
            return Suggestion::Try(own.clone());
        }
        let mut random = random_for(self.settings.seed, known);
        match self.drawn(known, &mut random) {
            Some(configuration) => Suggestion::Try(configuration),
            None => random_suggestion(&self.space, known, &mut random),
        }
    }
}

/// A mixture of one bump at each point and a flat part.
struct Density<'a> {
    points: &'a [Vec<f64>],
    /// How bumps look along each dimension.
    bumps: Vec<Bump>,
    /// One over the part of each point's bump that lies in the unit cube.
    inside: Vec<f64>,
}

/// How a bump looks along one dimension.
#[derive(Debug, Clone, Copy)]
enum Bump {
    /// Normal with this deviation, cut off at the ends.
    Normal(f64),
    /// The same one of so many categories, or any other.
    Category(f64),
}

impl<'a> Density<'a> {
    fn new(points: &'a [Vec<f64>], distances: &[Distance], space: &Space) -> Self {
        // Scott's rule ("Multivariate Density Estimation", 1992) for points of a known spread. That
        // of the points themselves says too little: the good ones are two or three.
        let shrink = (points.len().max(1) as f64).powf(-1.0 / (distances.len() as f64 + 4.0));
        let bump = |(place, distance): (usize, &Distance)| {
            let values = match space.dimensions().get(place) {
                Some(own) => own.count(),
                None => space.listed().map(|rows| rows.len() as u64),
            };
            match distance {
                // Half the part of the interval that one of several values has is the least.
                Distance::Difference => {
                    let least = values.map_or(0.0, |values| 0.5 / values as f64);
                    Bump::Normal((SPREAD * shrink).max(least))
                }
                Distance::Mismatch => Bump::Category(values.unwrap_or(1) as f64),
            }
        };
        let bumps: Vec<Bump> = distances.iter().enumerate().map(bump).collect();
        let inside = |point: &Vec<f64>| -> f64 {
            1.0 / point.iter().zip(&bumps).map(|(at, bump)| bump.inside(*at)).product::<f64>()
        };
        let inside = points.iter().map(inside).collect();
        Self { points, bumps, inside }
    }

    fn draw(&self, random: &mut Random) -> Vec<f64> {
        let chosen = random.index(self.points.len() + 1);
        let Some(centre) = self.points.get(chosen) else {
            return self.bumps.iter().map(|_| random.unit()).collect();
        };
        let part = |(own, bump): (&f64, &Bump)| match *bump {
            Bump::Category(_) if random.unit() < SAME_CATEGORY => *own,
            Bump::Category(_) => random.unit(),
            Bump::Normal(deviation) => loop {
                let place = own + deviation * normal(random);
                if (0.0..=1.0).contains(&place) {
                    break place;
                }
            },
        };
        centre.iter().zip(&self.bumps).map(part).collect()
    }

    /// The logarithm of the density, as a share of the flat one.
    fn log_density(&self, at: &[f64]) -> f64 {
        let bump = |(centre, inside): (&Vec<f64>, &f64)| -> f64 {
            let parts = centre.iter().zip(at).zip(&self.bumps);
            inside * parts.map(|((a, b), bump)| bump.density(*a, *b)).product::<f64>()
        };
        let sum: f64 = self.points.iter().zip(&self.inside).map(bump).sum();
        ((1.0 + sum) / (self.points.len() + 1) as f64).ln()
    }
}

impl Bump {
    /// The part of the bump at `at` that lies between the ends.
    fn inside(self, at: f64) -> f64 {
        match self {
            Self::Normal(deviation) => {
                1.0 - Normal.upper_tail(at / deviation) - Normal.upper_tail((1.0 - at) / deviation)
            }
            Self::Category(_) => 1.0,
        }
    }

    /// Density at `b` of the bump at `a`, beside the flat one; what lies beyond the ends counts.
    fn density(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Normal(deviation) => {
                let z = (a - b) / deviation;
                (-0.5 * z * z).exp() / (deviation * std::f64::consts::TAU.sqrt())
            }
            Self::Category(count) => {
                let same = (a * count) as u64 == (b * count) as u64;
                let rest = (1.0 - SAME_CATEGORY) / count;
                count * if same { SAME_CATEGORY + rest } else { rest }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use trainwright_study::Study;

    use super::*;

    fn space() -> Space {
        let text = "schema = 1\n[study]\nname = \"s\"\n\
            [factors.a]\nrange = { from = 0.0, to = 1.0 }\n\
            [factors.b]\nlevels = [\"x\", \"y\", \"z\"]\n[metrics.y]\n";
        Space::of(&Study::from_text(text).unwrap()).unwrap()
    }

    #[test]
    fn densities_are_those_of_their_draws() {
        let space = space();
        let points = [vec![0.02, 0.1], vec![0.6, 0.9]];
        let own = Density::new(&points, space.distances(), &space);
        let mut random = Random::new(4);
        let (columns, draws) = (20, 200_000);
        let mut counts = vec![0.0; 3 * columns];
        for _ in 0..draws {
            let at = own.draw(&mut random);
            let cell = (at[0] * columns as f64) as usize * 3 + (at[1] * 3.0) as usize;
            counts[cell] += 1.0 / f64::from(draws);
        }
        for (cell, count) in counts.iter().enumerate() {
            // The mean over a cell by its middle and the thirds beside it.
            let at = |part: f64| {
                let place = ((cell / 3) as f64 + part) / columns as f64;
                own.log_density(&[place, ((cell % 3) as f64 + 0.5) / 3.0]).exp()
            };
            let mean = (at(1.0 / 6.0) + at(0.5) + at(5.0 / 6.0)) / 3.0;
            let expected = mean / (3 * columns) as f64;
            // Six standard errors of a share.
            let error = 6.0 * (expected / f64::from(draws)).sqrt();
            assert!(
                (count - expected).abs() < error + 1e-3 * expected,
                "{cell}: {count} {expected}"
            );
        }
    }
}
