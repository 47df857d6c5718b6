//! Coverage: how often an interval that the program prints holds the truth.
//!
//! Every interval is listed once, with a simulated study of its kind: `equations.rs` for fitted
//! equations, `questions.rs` for the other verbs, `samples.rs` for tests of samples and speeds,
//! `queues.rs` for times and simulations. An interval of several figures that hold together
//! counts once a study.

mod equations;
mod questions;
mod queues;
mod samples;

use super::noise::Noise;
use super::{FAST, FULL, within};

/// An interval that the program prints.
#[derive(Clone, Copy)]
pub(crate) struct Printed {
    /// Which one, and of what.
    pub(crate) name: &'static str,
    /// Whether one study's interval holds the truth; nothing where the study has none.
    pub(crate) holds: fn(&mut Noise) -> Option<bool>,
    /// What simulations it needs: those of long event simulations are fewer.
    pub(crate) studies: u64,
    /// The share of studies in which it may hold.
    pub(crate) promised: [f64; 2],
}

/// An interval of 95 %, simulated in `studies` studies where all are.
const fn printed(
    name: &'static str,
    studies: u64,
    holds: fn(&mut Noise) -> Option<bool>,
) -> Printed {
    Printed { name, holds, studies, promised: [0.93, 0.97] }
}

/// An interval that keeps more than its word, for a reason that stands beside it.
const fn conservative(
    name: &'static str,
    studies: u64,
    holds: fn(&mut Noise) -> Option<bool>,
) -> Printed {
    Printed { name, holds, studies, promised: [0.93, 1.0] }
}

/// All of them.
fn all() -> Vec<Printed> {
    [equations::INTERVALS, questions::INTERVALS, samples::INTERVALS, queues::INTERVALS].concat()
}

/// Whether a value lies between two ends that are both there.
pub(crate) fn between(low: Option<f64>, value: f64, high: Option<f64>) -> Option<bool> {
    Some((low?..=high?).contains(&value))
}

/// Studies with an interval, and those of them in which it holds the truth.
fn counted(own: &Printed, studies: u64) -> (u64, u64) {
    let seen = (0..studies).filter_map(|study| (own.holds)(&mut Noise::of(own.name, study)));
    seen.fold((0, 0), |(all, held), holds| (all + 1, held + u64::from(holds)))
}

fn check(most: impl Fn(&Printed) -> u64, errors: f64) {
    let mut wrong = Vec::new();
    for own in all() {
        let (all, held) = counted(&own, most(&own));
        let share = held as f64 / all.max(1) as f64;
        println!("{:<50} {:5.1} % of {all}", own.name, 100.0 * share);
        if all == 0 || !within(held, all, own.promised, errors) {
            wrong.push(format!("{}: {held} of {all}", own.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    check(|own| own.studies / 80, FAST);
}

#[test]
#[ignore = "2,000 studies an interval take minutes; `just full` runs it"]
fn intervals_hold_the_truth_in_93_to_97_of_100_studies() {
    check(|own| own.studies, FULL);
}
