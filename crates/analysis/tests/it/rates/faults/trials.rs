//! Faults of plans and trials.

use trainwright_analysis::{Finding, StudyOptions, analyze_study};
use trainwright_study::{Observation, TrialState};

use super::{Fault, fault};
use crate::rates::kinds::Truth;
use crate::rates::kinds::designed::{MEAN, Planned, clean};
use crate::rates::noise::Noise;

pub(super) const FAULTS: &[Fault] = &[
    fault("error-strata", |noise| {
        let text = "[factors.a]\nlevels = [0, 1]\nhard_to_change = true\n[factors.b]\n\
            levels = [0, 1]\n[design]\ntype = \"full\"\nreplications = 3";
        clean(text, Truth::NoEffect, noise).findings
    }),
    fault("missing-cells", |noise| with(noise, |seen| seen.retain(|own| own.row != Some(1)))),
    fault("unbalanced", |noise| with(noise, |seen| drop(seen.pop()))),
    fault("no-replication", |noise| with(noise, |seen| seen.retain(|own| own.replicate == 1))),
    fault("values-outside-range", |noise| {
        let mut planned = Planned::of(PLAIN, noise.seed());
        planned.study.metrics[0].range = Some((0.0, 1.0));
        let seen = planned.run(|_| MEAN + noise.normal());
        planned.analyze(&seen).findings
    }),
    fault("command-changed", |noise| {
        let options = StudyOptions {
            commands: vec![vec![1, 2, 3], vec![4, 5, 6]],
            ..StudyOptions::default()
        };
        of_options(noise, &options, PLAIN)
    }),
    fault("excluded-trials", |noise| {
        let excluded = vec![(1, "the disk was full".to_owned())];
        of_options(noise, &StudyOptions { excluded, ..StudyOptions::default() }, PLAIN)
    }),
    fault("curvature", curvature),
    fault("blocks", |noise| {
        let text = format!("{PLAIN}\norder = \"blocked\"");
        clean(&text, Truth::NoEffect, noise).findings
    }),
    fault("not-in-design", |noise| {
        with(noise, |seen| {
            let mut stray = seen[0].clone();
            stray.row = Some(99);
            stray.trial = 99;
            seen.push(stray);
        })
    }),
    fault("diverged-trials", |noise| with(noise, |seen| seen[0].state = TrialState::Diverged)),
    fault("failed-trials", |noise| with(noise, |seen| seen[0].state = TrialState::Failed)),
    fault("overlapping-timing", overlapping),
    fault("oversubscribed", |noise| {
        let options = StudyOptions { machine_cores: Some(2), ..StudyOptions::default() };
        of_options(
            noise,
            &options,
            "[factors.threads]\nlevels = [1, 4]\n[design]\ntype = \"full\"\nreplications = 4",
        )
    }),
    fault("sign-table-misprint", misprint),
];

const PLAIN: &str = "[factors.a]\nlevels = [0, 1]\n[factors.b]\nlevels = [0, 1]\n[design]\n\
    type = \"full\"\nreplications = 3";

/// A 2^2 design run three times, with something done to what was observed.
fn with(noise: &mut Noise, spoil: impl Fn(&mut Vec<Observation>)) -> Vec<Finding> {
    let planned = Planned::of(PLAIN, noise.seed());
    let mut seen = planned.run(|_| MEAN + noise.normal());
    spoil(&mut seen);
    planned.analyze(&seen).findings
}

fn of_options(noise: &mut Noise, options: &StudyOptions, text: &str) -> Vec<Finding> {
    let planned = Planned::of(text, noise.seed());
    let seen = planned.run(|_| MEAN + noise.normal());
    analyze_study(&planned.study, &planned.design, &seen, options).unwrap().findings
}

/// Three centre points three deviations off the plane of the corners.
fn curvature(noise: &mut Noise) -> Vec<Finding> {
    let text = "[factors.a]\nlevels = [0.0, 1.0]\n[factors.b]\nlevels = [0.0, 1.0]\n[factors.c]\n\
        levels = [0.0, 1.0]\n[design]\ntype = \"full\"\nreplications = 2\ncenter_points = 3";
    let planned = Planned::of(text, noise.seed());
    let seen = planned.run(|trial| {
        let middle = planned.coded(&trial.configuration).iter().all(|at| at.abs() < 0.5);
        MEAN + noise.normal() + if middle { 3.0 } else { 0.0 }
    });
    planned.analyze(&seen).findings
}

fn overlapping(noise: &mut Noise) -> Vec<Finding> {
    let text = format!("{PLAIN}\n[metrics.train_time]\nunit = \"s\"\nfrom = \"jsonl\"");
    let planned = Planned::of(&text, noise.seed());
    let mut seen = planned.run(|_| MEAN + noise.normal());
    seen.iter_mut().for_each(|own| own.slots = Some(2));
    planned.analyze(&seen).findings
}

/// The half fraction of four factors with a wrong sign in its first row.
fn misprint(noise: &mut Noise) -> Vec<Finding> {
    let mut rows = Vec::new();
    for run in 0..8_u32 {
        let sign = |bit: u32| if run >> bit & 1 == 1 { 1 } else { -1 };
        let mut last = sign(0) * sign(1) * sign(2);
        if run == 0 {
            last = -last;
        }
        rows.push(format!("[{}, {}, {}, {last}]", sign(0), sign(1), sign(2)));
    }
    let factors: String =
        ["a", "b", "c", "d"].map(|name| format!("[factors.{name}]\nlevels = [0, 1]\n")).concat();
    let text = format!(
        "{factors}[design]\ntype = \"table\"\ncoded = true\nreplications = 2\nrows = [{}]",
        rows.join(", ")
    );
    let planned = Planned::of(&text, noise.seed());
    planned.analyze(&planned.run(|_| MEAN + noise.normal())).findings
}
