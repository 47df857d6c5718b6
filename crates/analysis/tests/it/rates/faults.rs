//! Power: how often a planted fault is found.
//!
//! Every finding of the catalogue has a fault here, of the size that the catalogue states:
//! `equations.rs` for fitted equations, `trials.rs` for plans and trials, `questions.rs` for the
//! other verbs, `training.rs` for tables of training runs, `queues.rs` for queues.

mod equations;
mod questions;
mod queues;
mod training;
mod trials;

use trainwright_analysis::{Finding, Found, catalogue, finding_rate};

use super::noise::Noise;
use super::{FAST, FULL, within};

/// A finding, and studies with what it is for.
pub(crate) struct Fault {
    pub(crate) id: &'static str,
    /// Findings of one study with the fault.
    pub(crate) findings: fn(&mut Noise) -> Vec<Finding>,
}

const fn fault(id: &'static str, findings: fn(&mut Noise) -> Vec<Finding>) -> Fault {
    Fault { id, findings }
}

/// All of them.
fn all() -> impl Iterator<Item = &'static Fault> {
    let rooms =
        [equations::FAULTS, trials::FAULTS, questions::FAULTS, training::FAULTS, queues::FAULTS];
    rooms.into_iter().flatten()
}

/// Studies in which the fault is found.
fn found(own: &Fault, studies: u64) -> u64 {
    let sees = |study: &u64| {
        let found = (own.findings)(&mut Noise::of(own.id, *study));
        found.iter().any(|finding| finding.id == own.id)
    };
    (0..studies).filter(sees).count() as u64
}

fn check(facts: u64, chances: u64, errors: f64) {
    let mut wrong = Vec::new();
    for own in all() {
        let power = finding_rate(own.id).unwrap().power;
        let (least, of) = match power {
            Found::Always => (1.0, facts),
            Found::AtLeast(share) => (share, chances),
        };
        let found = found(own, of);
        println!(
            "{:<30} {:5.1} % of {of}, stated {power:?}",
            own.id,
            100.0 * found as f64 / of as f64
        );
        if !within(found, of, [least, 1.0], errors) {
            wrong.push(format!("{}: {found} of {of}, stated {power:?}", own.id));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_finding_has_a_fault() {
    for entry in catalogue().iter().flat_map(|group| group.entries) {
        assert_eq!(all().filter(|own| own.id == entry.id).count(), 1, "{}", entry.id);
    }
}

#[test]
fn planted_faults_are_found() {
    check(2, 20, FAST);
}

#[test]
#[ignore = "2,000 studies of every fault take minutes; `just full` runs it"]
fn planted_faults_are_found_as_often_as_stated() {
    check(20, 2_000, FULL);
}
