//! False alarms: what is said of clean studies.

use std::collections::{BTreeMap, BTreeSet};

use trainwright_analysis::{FalseAlarms, Finding, FindingRate, Severity, finding_rate};

use super::kinds::{Kind, Truth, kinds};
use super::noise::Noise;
use super::{FAST, FULL, within};

/// The largest share of clean studies of any kind that get a warning which is not a fact.
const ANY_WARNING: f64 = 0.1;

/// What was said of clean studies of a kind.
struct Said {
    studies: u64,
    /// How often each finding was made.
    counts: BTreeMap<&'static str, u64>,
    /// Studies with a warning that states no fact.
    warned: u64,
}

impl Said {
    fn of(kind: &Kind, truth: Truth, studies: u64) -> Self {
        let mut said = Self { studies, counts: BTreeMap::new(), warned: 0 };
        for study in 0..studies {
            let found = (kind.findings)(kind, truth, &mut Noise::of(kind.name, study));
            said.warned += u64::from(found.iter().any(is_alarm));
            let ids: BTreeSet<&'static str> = found.iter().map(|finding| finding.id).collect();
            for id in ids {
                *said.counts.entry(id).or_default() += 1;
            }
        }
        said
    }

    /// What is said too often, or not often enough.
    fn faults(&self, kind: &Kind, truth: Truth, errors: f64) -> Vec<String> {
        let ids =
            self.counts.keys().chain(kind.facts.iter().filter(|id| !self.counts.contains_key(*id)));
        let wrong = |id: &&&'static str| {
            !within(self.count(id), self.studies, allowed(kind, truth, id), errors)
        };
        let mut faults: Vec<String> =
            ids.filter(wrong).map(|id| format!("{id} {} times", self.count(id))).collect();
        if !within(self.warned, self.studies, [0.0, ANY_WARNING], errors) {
            faults.push(format!("any warning {} times", self.warned));
        }
        faults
    }

    fn count(&self, id: &str) -> u64 {
        self.counts.get(id).copied().unwrap_or_default()
    }
}

fn rate(id: &str) -> &'static FindingRate {
    finding_rate(id).unwrap_or_else(|| panic!("`{id}` has no rate"))
}

/// Whether a finding is a warning that a test decides.
fn is_alarm(finding: &Finding) -> bool {
    let rate = rate(finding.id);
    finding.severity > Severity::Info && rate.false_alarms != FalseAlarms::Never
}

/// The share of clean studies in which a finding may be made.
fn allowed(kind: &Kind, truth: Truth, id: &str) -> [f64; 2] {
    let fact = if kind.facts.contains(&id) { [1.0, 1.0] } else { [0.0, 0.0] };
    if kind.at_times.contains(&id) {
        return [0.0, 1.0];
    }
    match (rate(id).false_alarms, truth) {
        (FalseAlarms::Never, _) => fact,
        (FalseAlarms::AtMost(share), _) => [0.0, share],
        (FalseAlarms::WithoutEffect(share), Truth::NoEffect) => [0.0, share],
        (FalseAlarms::WithoutEffect(_), Truth::Linear) | (FalseAlarms::NoEvidence, _) => [0.0, 1.0],
    }
}

fn check(studies: u64, errors: f64) {
    let mut wrong = Vec::new();
    for kind in kinds() {
        for truth in [Truth::NoEffect, Truth::Linear] {
            let start = std::time::Instant::now();
            let said = Said::of(&kind, truth, studies);
            let ms = start.elapsed().as_secs_f64() * 1e3 / studies as f64;
            let share = |count: u64| 100.0 * count as f64 / studies as f64;
            let list: Vec<String> =
                said.counts.iter().map(|(id, n)| format!("{id} {:.1}", share(*n))).collect();
            println!(
                "{:<30} {truth:?} any warning {:.1} % ({ms:.1} ms): {}",
                kind.name,
                share(said.warned),
                list.join(", ")
            );
            for fault in said.faults(&kind, truth, errors) {
                wrong.push(format!("{} ({truth:?}): {fault}", kind.name));
            }
        }
    }
    assert!(wrong.is_empty(), "of {studies} clean studies: {wrong:#?}");
}

#[test]
fn clean_studies_are_not_warned_about() {
    check(15, FAST);
}

#[test]
#[ignore = "2,000 studies of every kind take minutes; `just full` runs it"]
fn every_finding_keeps_to_its_level_in_2000_clean_studies() {
    check(2_000, FULL);
}
