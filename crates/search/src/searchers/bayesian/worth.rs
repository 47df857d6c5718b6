//! The candidate that is worth most: of a list by looking at all, of a wide space by looking at
//! points all over it and then ever closer round the best ones.

use std::collections::BTreeSet;

use trainwright_random::Random;

use crate::gaussian_process::normal;
use crate::surrogate::Surrogate;
use crate::{Candidate, History, Space};

/// Points all over the space.
const EVERYWHERE: usize = 300;
/// Good configurations that are looked at from near by, and points round each.
const GOOD: usize = 6;
const NEAR: usize = 30;
/// Ever closer looks, as shares of the space, round the best candidates, and points round each.
const CLOSER: [f64; 5] = [0.1, 0.04, 0.015, 0.005, 0.002];
const BEST: usize = 4;
const ROUND: usize = 24;

/// The candidate that is worth most and was not tried; nothing where all were.
pub(super) fn most_worth(
    space: &Space,
    known: &History,
    surrogate: &Surrogate,
    random: &mut Random,
) -> Option<Candidate> {
    let tried: BTreeSet<String> = known.cells().into_iter().map(|own| own.identity).collect();
    let fresh = |own: &Candidate| !tried.contains(&own.configuration.identity());
    if let Some(listed) = space.listed() {
        let left: Vec<&Candidate> = listed.iter().filter(|own| fresh(own)).collect();
        let features: Vec<&[f64]> = left.iter().map(|own| own.features.as_slice()).collect();
        let worths = surrogate.worths(&features);
        // Where nothing is worth anything, what is least known is tried.
        let unknown = surrogate.posteriors(&features);
        let order = |a: &usize, b: &usize| {
            let by_worth = worths[*a].total_cmp(&worths[*b]);
            by_worth.then(unknown[*a].deviation.total_cmp(&unknown[*b].deviation)).then(b.cmp(a))
        };
        let best = (0..left.len()).max_by(order)?;
        return Some(left[best].clone());
    }
    let seen: Vec<Vec<f64>> =
        known.cells().iter().filter_map(|own| space.features(&own.configuration)).collect();
    let mut looked = Looked { space, surrogate, seen, found: Vec::new() };
    looked.at(first_points(space, known, random));
    for share in CLOSER {
        let centres: Vec<Vec<f64>> =
            looked.found.iter().take(BEST).map(|(_, point)| point.clone()).collect();
        let points = centres.iter().flat_map(|centre| near(centre, share, ROUND, random));
        let points = points.collect();
        looked.at(points);
    }
    let candidates = looked.found.iter().filter_map(|(_, point)| space.candidate(point));
    let mut candidates = candidates.filter(|own| fresh(own));
    candidates.next().or_else(|| {
        // All that is worth most was tried: anything new will do.
        (0..EVERYWHERE).filter_map(|_| space.random(random)).find(|own| fresh(own))
    })
}

/// Points looked at, those that are worth most first.
struct Looked<'a> {
    space: &'a Space,
    surrogate: &'a Surrogate,
    /// Features of what was tried.
    seen: Vec<Vec<f64>>,
    found: Vec<(f64, Vec<f64>)>,
}

impl Looked<'_> {
    fn at(&mut self, points: Vec<Vec<f64>>) {
        let own = points.into_iter().filter_map(|point| {
            let features = self.space.features_at(&point)?;
            (!self.seen.contains(&features)).then_some((features, point))
        });
        let (features, points): (Vec<Vec<f64>>, Vec<Vec<f64>>) = own.unzip();
        let worths = self.surrogate.worths(&features);
        self.found.extend(worths.into_iter().zip(points));
        // A stable order: of equals the one that was looked at first.
        self.found.sort_by(|a, b| b.0.total_cmp(&a.0));
        self.found.truncate(4 * BEST);
    }
}

/// Points all over the space and near the best configurations.
fn first_points(space: &Space, known: &History, random: &mut Random) -> Vec<Vec<f64>> {
    let width = space.width();
    let mut points: Vec<Vec<f64>> =
        (0..EVERYWHERE).map(|_| (0..width).map(|_| random.unit()).collect()).collect();
    let mut cells: Vec<(f64, Vec<f64>)> = known
        .cells()
        .into_iter()
        .filter_map(|own| Some((own.loss(0)?, space.point(&own.configuration)?)))
        .collect();
    cells.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (_, centre) in cells.iter().take(GOOD) {
        for share in [0.15, 0.03] {
            points.extend(near(centre, share, NEAR / 2, random));
        }
    }
    points
}

/// Points round another: some of its numbers are moved, or thrown anew now and then.
fn near(centre: &[f64], share: f64, count: usize, random: &mut Random) -> Vec<Vec<f64>> {
    let width = centre.len() as f64;
    // About two numbers move, in a narrow space more often than not.
    let moves = (2.0 / width).clamp(0.3, 1.0);
    (0..count)
        .map(|_| {
            let chosen = random.index(centre.len());
            let moved = |(place, own): (usize, &f64)| {
                if place != chosen && random.unit() > moves {
                    *own
                } else if random.unit() < 0.1 {
                    random.unit()
                } else {
                    (own + share * normal(random)).clamp(0.0, 1.0)
                }
            };
            centre.iter().enumerate().map(moved).collect()
        })
        .collect()
}
