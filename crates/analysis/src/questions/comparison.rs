//! Levels against a baseline: ratios of means with intervals, as people report them.
//!
//! The ratio is that of the means, its interval Fieller's with Welch's standard error, so that it
//! leaves out 100 % exactly where Welch's t test finds a difference. Where all values are
//! positive the ratio of geometric means, by Welch's test of the logarithms, stands beside it.
//! p-values are adjusted for the number of levels by Holm's method. `groups.rs` collects the
//! values from tables and studies, `words.rs` makes sentences.

mod groups;
mod words;

use serde::Serialize;
use trainwright_stats::{
    StatsError, holm, paired_ratio, paired_t, ratio_of_means, sample, welch_t,
};
use trainwright_study::Level;

use crate::error::AnalysisError;
use crate::findings::{Finding, sort, warning};
use crate::wording::{count, list};

pub(crate) use groups::comparisons_so_far;
pub use groups::{CompareOptions, compare_study, compare_table};

/// Values of a response by the levels of a factor, to be compared with one of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Groups {
    pub(crate) response: String,
    pub(crate) by: String,
    pub(crate) levels: Vec<Level>,
    /// Values of each level.
    pub(crate) values: Vec<Vec<f64>>,
    /// Which level is the baseline.
    pub(crate) baseline: usize,
    /// The column that pairs values, which then stand in the same order at every level.
    pub(crate) paired: Option<String>,
}

/// Levels of a factor compared with a baseline.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// What is compared.
    pub response: String,
    /// The factor whose levels are compared.
    pub by: String,
    /// The column that pairs values, if any does.
    pub paired: Option<String>,
    /// Largest p-value called evidence.
    pub alpha: f64,
    /// How the interval was found.
    pub method: &'static str,
    /// How p-values are adjusted for the number of levels.
    pub adjustment: &'static str,
    /// The level that the others are compared with.
    pub baseline: LevelSummary,
    /// The other levels.
    pub levels: Vec<LevelComparison>,
    /// What to keep in mind.
    pub findings: Vec<Finding>,
}

/// Values at one level.
#[derive(Debug, Clone, Serialize)]
pub struct LevelSummary {
    /// The level.
    pub level: Level,
    /// Number of values.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation; absent for a single value.
    pub sd: Option<f64>,
}

/// One level against the baseline.
#[derive(Debug, Clone, Serialize)]
pub struct LevelComparison {
    /// The level's own values.
    #[serde(flatten)]
    pub own: LevelSummary,
    /// Mean over mean of the baseline; absent where that is zero.
    pub ratio: Option<f64>,
    /// Lower end of the ratio's interval; absent without repeats.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// p-value of a difference by Welch's t test, for pairs by Student's.
    pub p: Option<f64>,
    /// The same, adjusted for the number of levels by Holm's method.
    pub p_adjusted: Option<f64>,
    /// Ratio of geometric means; absent without repeats, or where a value is not positive.
    pub geometric: Option<GeometricRatio>,
    /// What the data say about a difference.
    pub verdict: Verdict,
    /// The same in words.
    pub text: String,
}

/// Ratio of geometric means by Welch's test of the logarithms, for pairs by Student's.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct GeometricRatio {
    /// Geometric mean over geometric mean of the baseline.
    pub ratio: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// p-value of a difference of the logarithms.
    pub p: f64,
}

/// What the data say about a difference from the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// There is evidence that the level lies above the baseline.
    Higher,
    /// There is evidence that it lies below.
    Lower,
    /// Repeats differ too much to tell.
    NoEvidence,
    /// Without repeats, or with repeats that never differ, nothing can be said.
    NothingFollows,
}

/// Compares every level with the baseline.
pub(crate) fn compare(groups: &Groups, alpha: f64) -> Result<Comparison, AnalysisError> {
    if !(alpha > 0.0 && alpha < 1.0) {
        return Err(AnalysisError::Alpha { alpha });
    }
    let others: Vec<usize> = (0..groups.levels.len()).filter(|&k| k != groups.baseline).collect();
    let mut levels = others
        .iter()
        .map(|&k| against_baseline(groups, k, alpha))
        .collect::<Result<Vec<_>, _>>()?;
    let adjusted = holm(&levels.iter().map(|own| own.p).collect::<Vec<_>>());
    let tests = adjusted.iter().flatten().count();
    for (own, adjusted) in levels.iter_mut().zip(adjusted) {
        own.p_adjusted = adjusted;
        let Some(p) = adjusted else { continue };
        own.verdict = match own.ratio {
            Some(ratio) if p < alpha && ratio > 1.0 => Verdict::Higher,
            Some(_) if p < alpha => Verdict::Lower,
            _ => Verdict::NoEvidence,
        };
    }
    let baseline = summary(groups, groups.baseline)?;
    for own in &mut levels {
        own.text = words::sentence(groups, &baseline, own, alpha, tests);
    }
    let mut findings: Vec<Finding> = no_replication(groups).into_iter().collect();
    sort(&mut findings);
    Ok(Comparison {
        response: groups.response.clone(),
        by: groups.by.clone(),
        paired: groups.paired.clone(),
        alpha,
        method: match groups.paired {
            None => "ratio of means, Fieller's interval with Welch's standard error",
            Some(_) => "ratio of means of pairs, Fieller's interval",
        },
        adjustment: "holm",
        baseline,
        levels,
        findings,
    })
}

fn against_baseline(
    groups: &Groups,
    level: usize,
    alpha: f64,
) -> Result<LevelComparison, AnalysisError> {
    let (own, base) = (&groups.values[level], &groups.values[groups.baseline]);
    let summary = summary(groups, level)?;
    let base_mean = mean(groups, base)?;
    let ratio = Some(summary.mean / base_mean).filter(|ratio| ratio.is_finite());
    let test = match groups.paired {
        None => ratio_of_means(own, base, 1.0 - alpha),
        Some(_) => paired_ratio(own, base, 1.0 - alpha),
    };
    let test = match test {
        Ok(test) => Some(test),
        // A single value, repeats that never differ, a mean of zero: nothing to test by.
        Err(
            StatsError::TooFew { .. }
            | StatsError::Undefined { .. }
            | StatsError::Constant { .. }
            | StatsError::ZeroVariance { .. },
        ) => None,
        Err(source) => return Err(stats(groups, source)),
    };
    let interval = test.and_then(|test| test.interval);
    Ok(LevelComparison {
        own: summary,
        ratio,
        ci_low: interval.map(|ends| ends[0]),
        ci_high: interval.map(|ends| ends[1]),
        p: test.map(|test| test.p),
        p_adjusted: None,
        geometric: geometric(groups, own, base),
        verdict: Verdict::NothingFollows,
        text: String::new(),
    })
}

fn geometric(groups: &Groups, own: &[f64], base: &[f64]) -> Option<GeometricRatio> {
    if own.iter().chain(base).any(|v| *v <= 0.0) {
        return None;
    }
    let [own, base] = [own, base].map(|values| values.iter().map(|v| v.ln()).collect::<Vec<_>>());
    let test = match groups.paired {
        None => welch_t(&own, &base),
        Some(_) => paired_t(&own, &base),
    };
    let test = test.ok()?;
    let [low, high] = test.interval.map(f64::exp);
    Some(GeometricRatio { ratio: test.difference.exp(), low, high, p: test.p })
}

fn summary(groups: &Groups, level: usize) -> Result<LevelSummary, AnalysisError> {
    let values = &groups.values[level];
    Ok(LevelSummary {
        level: groups.levels[level].clone(),
        n: values.len(),
        mean: mean(groups, values)?,
        sd: sample::variance(values).ok().map(f64::sqrt),
    })
}

fn mean(groups: &Groups, values: &[f64]) -> Result<f64, AnalysisError> {
    sample::mean(values).map_err(|source| stats(groups, source))
}

fn stats(groups: &Groups, source: StatsError) -> AnalysisError {
    AnalysisError::Stats { response: groups.response.clone(), source }
}

fn no_replication(groups: &Groups) -> Option<Finding> {
    let single: Vec<String> = groups
        .levels
        .iter()
        .zip(&groups.values)
        .filter(|(_, values)| values.len() == 1)
        .map(|(level, _)| level.to_string())
        .collect();
    if single.is_empty() {
        return None;
    }
    let text = if single.len() == groups.levels.len() {
        format!(
            "there is one value of {} a level of {}, so its spread is unknown: no interval exists \
             and no difference between levels follows; repeat every level at least 3 times",
            groups.response, groups.by
        )
    } else {
        format!(
            "{} of {} ({}) with a single value of {}: nothing follows for {}",
            count(single.len(), "level") + if single.len() == 1 { " stands" } else { " stand" },
            groups.by,
            list(&single),
            groups.response,
            if single.len() == 1 { "it" } else { "them" }
        )
    };
    Some(warning("no-replication", text))
}
