//! Studies that were planned: factors, a design, and every trial of the plan run.

use std::collections::BTreeMap;

use trainwright_analysis::{Analysis, Finding, StudyOptions, analyze_study};
use trainwright_design::{Design, plan};
use trainwright_study::{
    Configuration, Factor, Level, Observation, PlannedTrial, Study, TrialState,
};

use super::{Kind, Truth};
use crate::rates::noise::Noise;

/// Mean of the response, in deviations of its noise.
pub(crate) const MEAN: f64 = 50.0;

const fn kind(name: &'static str, text: &'static str, facts: &'static [&'static str]) -> Kind {
    Kind { name, findings, text, facts, at_times: &[] }
}

macro_rules! two_level {
    ($design:literal) => {
        concat!(
            "[factors.a]\nlevels = [0.0, 1.0]\n[factors.b]\nlevels = [0.0, 1.0]\n[factors.c]\n",
            "levels = [0.0, 1.0]\n[design]\n",
            $design
        )
    };
}

macro_rules! five {
    ($design:literal) => {
        concat!(
            "[factors.a]\nlevels = [0, 1]\n[factors.b]\nlevels = [0, 1]\n[factors.c]\n",
            "levels = [0, 1]\n[factors.d]\nlevels = [0, 1]\n[factors.e]\nlevels = [0, 1]\n[design]\n",
            $design
        )
    };
}

macro_rules! ranges {
    ($design:literal) => {
        concat!(
            "[factors.a]\nrange = { from = 1.0, to = 3.0 }\n[factors.b]\n",
            "range = { from = 10.0, to = 20.0 }\n[factors.c]\nrange = { from = 5.0, to = 9.0 }\n",
            "[design]\n",
            $design
        )
    };
}

macro_rules! texts {
    ($design:literal) => {
        concat!(
            "[factors.a]\nlevels = [\"adam\", \"sgd\", \"lamb\"]\n[factors.b]\n",
            "levels = [\"ring\", \"tree\"]\n[design]\n",
            $design
        )
    };
}

macro_rules! split {
    ($design:literal) => {
        concat!(
            "[factors.a]\nlevels = [0, 1]\nhard_to_change = true\n[factors.b]\nlevels = [0, 1]\n",
            "[factors.c]\nlevels = [0, 1]\n[design]\n",
            $design
        )
    };
}

/// What rows drawn at random are like.
const DRAWN: &[&str] = &["collinearity-is-coding"];

/// Blocks of these studies do differ, and the ranking says so.
const BLOCKS_DIFFER: &[&str] = &["effect-ranking"];

pub(crate) const KINDS: &[Kind] = &[
    kind("two-level, once", two_level!("type = \"full\"\nreplications = 1"), &["no-replication"]),
    kind("two-level, twice", two_level!("type = \"full\"\nreplications = 2"), &[]),
    kind("two-level, three times", two_level!("type = \"full\"\nreplications = 3"), &[]),
    kind("two-level, four times", two_level!("type = \"full\"\nreplications = 4"), &[]),
    kind(
        "half fraction, once",
        five!("type = \"fractional\"\nruns = 16\nreplications = 1"),
        &["no-replication"],
    ),
    kind("half fraction, twice", five!("type = \"fractional\"\nruns = 16\nreplications = 2"), &[]),
    kind(
        "half fraction, three times",
        five!("type = \"fractional\"\nruns = 16\nreplications = 3"),
        &[],
    ),
    kind(
        "half fraction, four times",
        five!("type = \"fractional\"\nruns = 16\nreplications = 4"),
        &[],
    ),
    kind(
        "quarter fraction, twice",
        five!("type = \"fractional\"\nruns = 8\nreplications = 2"),
        &["aliased-terms"],
    ),
    kind("centre points", two_level!("type = \"full\"\nreplications = 2\ncenter_points = 3"), &[]),
    kind("three-level text, twice", texts!("type = \"full\"\nreplications = 2"), &[]),
    kind("three-level text, four times", texts!("type = \"full\"\nreplications = 4"), &[]),
    kind(
        "three-level numbers",
        "[factors.a]\nlevels = [0.0001, 0.001, 0.01]\nscale = \"log\"\n[factors.b]\n\
         levels = [16, 32, 64]\n[design]\ntype = \"full\"\nreplications = 3",
        &["curves-allowed"],
    ),
    kind(
        "central composite",
        ranges!("type = \"central-composite\"\nreplications = 2"),
        &["collinearity-is-coding"],
    ),
    kind(
        "Box-Behnken",
        ranges!("type = \"box-behnken\"\nreplications = 2"),
        &["collinearity-is-coding"],
    ),
    kind("one factor at a time", texts!("type = \"one-factor\"\nreplications = 4"), &[]),
    kind(
        "a single factor",
        "[factors.a]\nlevels = [1, 2, 3, 4]\n[design]\ntype = \"full\"\nreplications = 5",
        &["curves-allowed"],
    ),
    Kind {
        at_times: BLOCKS_DIFFER,
        ..kind(
            "blocks of rows",
            two_level!("type = \"full\"\nreplications = 2\nblocks = 2"),
            &["blocks"],
        )
    },
    Kind {
        at_times: BLOCKS_DIFFER,
        ..kind(
            "randomised blocks",
            two_level!("type = \"full\"\nreplications = 3\norder = \"blocked\""),
            &["blocks"],
        )
    },
    kind("split plot", split!("type = \"full\"\nreplications = 3"), &["error-strata"]),
    Kind {
        at_times: DRAWN,
        ..kind(
            "Latin hypercube",
            ranges!("type = \"latin-hypercube\"\nruns = 24"),
            &["curves-allowed"],
        )
    },
    Kind {
        at_times: DRAWN,
        ..kind(
            "Latin hypercube, twice",
            ranges!("type = \"latin-hypercube\"\nruns = 16\nreplications = 2"),
            &["curves-allowed"],
        )
    },
    kind("Plackett-Burman", five!("type = \"plackett-burman\"\nruns = 12\nreplications = 2"), &[]),
];

/// A planned study with its trials still to run.
pub(crate) struct Planned {
    pub(crate) study: Study,
    pub(crate) design: Design,
    pub(crate) trials: Vec<PlannedTrial>,
}

impl Planned {
    /// The study of these factors and this design.
    pub(crate) fn of(text: &str, seed: u64) -> Self {
        let text = format!(
            "schema = 1\n[study]\nname = \"x\"\nseed = {}\n{text}\n[metrics.y]\nobjective = \"minimize\"\n",
            seed >> 12
        );
        let study = Study::from_text(&text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
        let design = Design::of(&study).unwrap();
        let trials = plan(&study, &design);
        Self { study, design, trials }
    }

    /// Every trial run, with what `response` makes of its place and configuration.
    pub(crate) fn run(&self, mut response: impl FnMut(&PlannedTrial) -> f64) -> Vec<Observation> {
        let observe = |trial: &PlannedTrial| {
            let values = BTreeMap::from([("y".to_owned(), response(trial))]);
            Observation::of(trial.clone(), TrialState::Finished, values)
        };
        self.trials.iter().map(observe).collect()
    }

    /// The analysis of what was observed.
    pub(crate) fn analyze(&self, seen: &[Observation]) -> Analysis {
        analyze_study(&self.study, &self.design, seen, &StudyOptions::default()).unwrap()
    }

    /// Where a configuration stands: each factor from -1 at its low to 1 at its high end.
    pub(crate) fn coded(&self, configuration: &Configuration) -> Vec<f64> {
        let of = |factor: &Factor| coded(factor, configuration.get(&factor.name).unwrap());
        self.study.factors.iter().map(of).collect()
    }

    /// A straight line in every factor.
    pub(crate) fn line(&self, configuration: &Configuration, slope: f64) -> f64 {
        let signs = self.coded(configuration);
        MEAN + slope
            * signs.iter().zip([1.0, -0.6, 0.3, 0.8, -0.4]).map(|(x, s)| s * x).sum::<f64>()
    }

    /// Errors that whole plots and blocks add, the same for all their runs.
    pub(crate) fn shared(&self, noise: &mut Noise) -> impl Fn(&PlannedTrial) -> f64 + use<> {
        let most = self.trials.len() + 1;
        let plots: Vec<f64> = (0..most).map(|_| noise.normal()).collect();
        let blocks: Vec<f64> = (0..most).map(|_| 2.0 * noise.normal()).collect();
        move |trial| {
            let of = |own: Option<u32>, errors: &[f64]| own.map_or(0.0, |at| errors[at as usize]);
            of(trial.whole_plot, &plots) + of(trial.block, &blocks)
        }
    }
}

/// A level as a number from -1 to 1.
fn coded(factor: &Factor, level: &Level) -> f64 {
    if let Some(at) = factor.levels.iter().position(|own| own.same_as(level)) {
        return 2.0 * at as f64 / (factor.levels.len() - 1) as f64 - 1.0;
    }
    let ends: Vec<f64> = factor.levels.iter().filter_map(Level::number).collect();
    let (low, high) = (ends[0], ends[ends.len() - 1]);
    (2.0 * level.number().unwrap() - low - high) / (high - low)
}

/// One clean study of a kind, analysed.
pub(crate) fn clean(text: &str, truth: Truth, noise: &mut Noise) -> Analysis {
    let planned = Planned::of(text, noise.seed());
    let shared = planned.shared(noise);
    let seen = planned.run(|trial| {
        planned.line(&trial.configuration, truth.slope()) + shared(trial) + noise.normal()
    });
    planned.analyze(&seen)
}

fn findings(kind: &Kind, truth: Truth, noise: &mut Noise) -> Vec<Finding> {
    clean(kind.text, truth, noise).findings
}
