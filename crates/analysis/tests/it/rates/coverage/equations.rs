//! Intervals of fitted equations: coefficients, effects, means, differences, the best.

use trainwright_analysis::{Analysis, Formula, TermOrder, box_cox_of_table};
use trainwright_study::{Configuration, Level};

use super::{Printed, between, conservative, printed};
use crate::rates::kinds::designed::{MEAN, Planned};
use crate::rates::kinds::tables::{analysis, table};
use crate::rates::noise::Noise;

pub(crate) const INTERVALS: &[Printed] = &[
    printed("coefficient of a regression", 2_000, coefficient),
    printed("effect of a two-level factor", 2_000, effect_of_two_levels),
    printed("effect of a whole-plot factor", 2_000, effect_of_whole_plots),
    printed("effect of a sub-plot factor", 2_000, effect_within_plots),
    printed("effect in blocks", 2_000, effect_in_blocks),
    printed("mean at a level", 2_000, level_mean),
    printed("differences of levels, together", 2_000, differences),
    printed("differences of whole-plot levels, together", 2_000, whole_plot_differences),
    // The interval allows for having chosen among all: it is wide where one is surely the best.
    conservative("best configuration, nothing matters", 2_000, best_of_noise),
    conservative("best configuration, one is best", 2_000, best_of_effects),
    // One more trial of a configuration that varies 200 times less than another; where the spreads
    // are not seen to differ, the interval is that of all together, and far too wide.
    conservative("best predicted, unequal spreads", 2_000, predicted_of_unequal),
    conservative("best predicted, one is best", 2_000, predicted_of_effects),
    printed("power of Box and Cox", 2_000, power),
    printed("best point of a surface, its height", 2_000, height),
    printed("curvature of a surface", 2_000, curvature),
];

const TWO_LEVEL: &str = "[factors.a]\nlevels = [0, 1]\n[factors.b]\nlevels = [0, 1]\n\
    [design]\ntype = \"full\"\nreplications = 3";
const BLOCKED: &str = "[factors.a]\nlevels = [0, 1]\n[factors.b]\nlevels = [0, 1]\n\
    [design]\ntype = \"full\"\nreplications = 3\norder = \"blocked\"";
const SPLIT: &str = "[factors.a]\nlevels = [\"p\", \"q\", \"r\"]\nhard_to_change = true\n\
    [factors.b]\nlevels = [0, 1]\n[design]\ntype = \"full\"\nreplications = 3";
const SPLIT_TWO: &str = "[factors.a]\nlevels = [0, 1]\nhard_to_change = true\n\
    [factors.b]\nlevels = [0, 1]\n[design]\ntype = \"full\"\nreplications = 3";
const TEXTS: &str = "[factors.a]\nlevels = [\"p\", \"q\", \"r\"]\n[factors.b]\nlevels = [0, 1]\n\
    [design]\ntype = \"full\"\nreplications = 3";
const SURFACE: &str = "[factors.a]\nrange = { from = 1.0, to = 3.0 }\n[factors.b]\n\
    range = { from = 10.0, to = 20.0 }\n[design]\ntype = \"central-composite\"\nreplications = 2\n\
    [analysis]\nresponse = \"y\"\nterms = \"quadratic\"";

/// A study with noise, and with the errors of its whole plots and blocks.
fn run(text: &str, noise: &mut Noise, truth: impl Fn(&[f64]) -> f64) -> Analysis {
    let planned = Planned::of(text, noise.seed());
    let shared = planned.shared(noise);
    let seen = planned.run(|trial| {
        let at = planned.coded(&trial.configuration);
        MEAN + truth(&at) + 1.5 * shared(trial) + noise.normal()
    });
    planned.analyze(&seen)
}

fn coefficient(noise: &mut Noise) -> Option<bool> {
    let mut csv = "y,x1,x2\n".to_owned();
    for _ in 0..12 {
        let (a, b) = (noise.normal(), noise.normal());
        csv += &format!("{},{a},{b}\n", 5.0 + 0.7 * a + noise.normal());
    }
    let found = analysis(&csv, "y ~ x1 + x2");
    let own = found.fit.coefficients.iter().find(|own| own.name == "x1")?;
    between(own.ci_low, 0.7, own.ci_high)
}

/// Whether the interval of a term's effect holds an effect of 3.
fn effect(found: &Analysis, term: &str) -> Option<bool> {
    let own = found.effects.iter().find(|own| own.term == term)?;
    between(own.ci_low, 3.0, own.ci_high)
}

fn effect_of_two_levels(noise: &mut Noise) -> Option<bool> {
    effect(&run(TWO_LEVEL, noise, |at| 1.5 * at[0]), "a")
}

fn effect_of_whole_plots(noise: &mut Noise) -> Option<bool> {
    effect(&run(SPLIT_TWO, noise, |at| 1.5 * at[0]), "a")
}

fn effect_within_plots(noise: &mut Noise) -> Option<bool> {
    effect(&run(SPLIT_TWO, noise, |at| 1.5 * at[1]), "b")
}

fn effect_in_blocks(noise: &mut Noise) -> Option<bool> {
    effect(&run(BLOCKED, noise, |at| 1.5 * at[0]), "a")
}

fn level_mean(noise: &mut Noise) -> Option<bool> {
    let found = run(TEXTS, noise, |at| 1.5 * at[0]);
    let own = &found.main_effects[0].levels[0];
    between(own.ci_low, MEAN - 1.5, own.ci_high)
}

/// Whether all differences of a factor's levels hold the truth at once.
fn all_differences(found: &Analysis) -> Option<bool> {
    let of = |level: &Level| ["p", "q", "r"].iter().position(|own| level.to_string() == *own);
    let pairs = &found.level_differences.iter().find(|own| own.factor == "a")?.pairs;
    let holds = pairs.iter().map(|own| {
        let truth = 1.5 * (of(&own.a)? as f64 - of(&own.b)? as f64);
        Some(own.low <= truth && truth <= own.high)
    });
    Some(holds.collect::<Option<Vec<bool>>>()?.into_iter().all(|holds| holds))
}

fn differences(noise: &mut Noise) -> Option<bool> {
    all_differences(&run(TEXTS, noise, |at| 1.5 * at[0]))
}

fn whole_plot_differences(noise: &mut Noise) -> Option<bool> {
    all_differences(&run(SPLIT, noise, |at| 1.5 * at[0]))
}

/// Whether the interval of the best holds the true mean of what was called best.
fn best(found: &Analysis, truth: impl Fn(&Configuration) -> f64) -> Option<bool> {
    let own = found.best.as_ref()?;
    between(own.ci_low, truth(&own.configuration), own.ci_high)
}

fn best_of_noise(noise: &mut Noise) -> Option<bool> {
    best(&run(TEXTS, noise, |_| 0.0), |_| MEAN)
}

fn best_of_effects(noise: &mut Noise) -> Option<bool> {
    let found = run(TWO_LEVEL, noise, |at| 3.0 * (at[0] + at[1]));
    let sign =
        |own: &Configuration, name: &str| 2.0 * own.get(name).unwrap().number().unwrap() - 1.0;
    best(&found, |own| MEAN + 3.0 * (sign(own, "a") + sign(own, "b")))
}

/// Whether the prediction interval holds one more trial of the best predicted.
fn predicted(found: &Analysis, trial: impl FnOnce(&Configuration) -> f64) -> Option<bool> {
    let own = found.best.as_ref()?.predicted.as_ref()?;
    between(own.low, trial(&own.configuration), own.high)
}

/// Mean and deviation of three compressors of very different spread.
fn compressor(own: &Configuration) -> (f64, f64) {
    match own.get("a").unwrap().to_string().as_str() {
        "p" => (10.0, 0.1),
        "q" => (20.0, 1.0),
        _ => (60.0, 20.0),
    }
}

fn predicted_of_unequal(noise: &mut Noise) -> Option<bool> {
    let text = "[factors.a]\nlevels = [\"p\", \"q\", \"r\"]\n[design]\ntype = \"full\"\n\
        replications = 5";
    let planned = Planned::of(text, noise.seed());
    let mut draw = |own: &Configuration| {
        let (mean, deviation) = compressor(own);
        mean + deviation * noise.normal()
    };
    let found = planned.analyze(&planned.run(|trial| draw(&trial.configuration)));
    predicted(&found, draw)
}

fn predicted_of_effects(noise: &mut Noise) -> Option<bool> {
    let found = run(TWO_LEVEL, noise, |at| 3.0 * (at[0] + at[1]));
    let sign =
        |own: &Configuration, name: &str| 2.0 * own.get(name).unwrap().number().unwrap() - 1.0;
    predicted(&found, |own| MEAN + 3.0 * (sign(own, "a") + sign(own, "b")) + noise.normal())
}

/// The logarithm is the right scale, so the power is 0.
fn power(noise: &mut Noise) -> Option<bool> {
    let mut csv = "y,g\n".to_owned();
    for row in 0..30 {
        let y = (2.0 + (row % 3) as f64 + 0.5 * noise.normal()).exp();
        csv += &format!("{y},{}\n", ["p", "q", "r"][row % 3]);
    }
    let formula = Formula::parse("y ~ g", TermOrder::Formula).ok()?;
    let (own, _) = box_cox_of_table(&table(&csv), &formula).ok()?;
    // An end beyond the powers searched holds all that lies that way.
    Some(own.low.is_none_or(|low| low <= 0.0) && own.high.is_none_or(|high| high >= 0.0))
}

const BOWL: [f64; 2] = [4.0, 2.0];

fn bowl(at: &[f64]) -> f64 {
    BOWL.iter().zip(at).map(|(bend, x)| bend * x * x).sum()
}

/// The true height of the surface at the point that the fit calls best.
fn height(noise: &mut Noise) -> Option<bool> {
    let found = run(SURFACE, noise, bowl);
    let own = found.surface.as_ref()?.optimum.as_ref()?;
    let coded = [own.at[0] - 2.0, (own.at[1] - 15.0) / 5.0];
    between(own.ci_low, MEAN + bowl(&coded), own.ci_high)
}

/// The surface codes the axial points, at the root of 2, as 1.
fn curvature(noise: &mut Noise) -> Option<bool> {
    let found = run(SURFACE, noise, bowl);
    let own = &found.surface.as_ref()?.curvatures[0];
    between(own.ci_low, 2.0 * BOWL[0], own.ci_high)
}
