//! Levels against a baseline: ratios of means with intervals, as people report them.
//!
//! The ratio is that of the means, its interval Fieller's with Welch's standard error, so that it
//! leaves out 100 % exactly where Welch's t test finds a difference. A ratio means something only
//! between positive means whose interval stays positive; everywhere else the difference is told.
//! Which way a level differs follows from the difference in either case. Where all values are
//! positive the ratio of geometric means, by Welch's test of the logarithms, stands beside it.
//! p-values are adjusted for the number of levels by Holm's method. `groups.rs` collects the
//! values from tables and studies, `words.rs` makes sentences.

mod groups;
mod processors;
mod words;

use serde::Serialize;
use trainwright_stats::{
    StatsError, StudentT, TTest, holm, paired_ratio, paired_t, ratio_of_means, sample, welch_t,
};
use trainwright_study::{Direction, Level};

use crate::error::AnalysisError;
use crate::findings::{Finding, sort, warning};
use crate::wording::{count, list};

pub(crate) use groups::comparisons_so_far;
pub use groups::{CompareOptions, compare_study, compare_table};
use processors::on_all_processors;

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
    /// Which end of the response is good, where that is known.
    pub(crate) objective: Option<Direction>,
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
    /// Which end of the response is good, where that is known.
    pub objective: Option<Direction>,
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
    /// Mean less mean of the baseline.
    pub difference: f64,
    /// Lower end of the difference's interval; absent without repeats.
    pub difference_low: Option<f64>,
    /// Upper end.
    pub difference_high: Option<f64>,
    /// Mean over mean of the baseline; absent where one of them, or the ratio by its interval, could
    /// be zero or negative.
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
    /// Whether that is good; absent without evidence, or where nobody said which end is good.
    pub judgement: Option<Judgement>,
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

/// What a difference means to those who know which end is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// The level lies on the good side of the baseline.
    Better,
    /// It lies on the other.
    Worse,
}

impl Verdict {
    /// Whether a difference is good, where there is evidence of one.
    fn judged(self, objective: Direction) -> Option<Judgement> {
        match (self, objective) {
            (Self::Higher, Direction::Maximize) | (Self::Lower, Direction::Minimize) => {
                Some(Judgement::Better)
            }
            (Self::Higher, Direction::Minimize) | (Self::Lower, Direction::Maximize) => {
                Some(Judgement::Worse)
            }
            (Self::NoEvidence | Self::NothingFollows, _) => None,
        }
    }
}

/// Compares every level with the baseline.
pub(crate) fn compare(groups: &Groups, alpha: f64) -> Result<Comparison, AnalysisError> {
    if !(alpha > 0.0 && alpha < 1.0) {
        return Err(AnalysisError::Alpha { alpha });
    }
    let others: Vec<usize> = (0..groups.levels.len()).filter(|&k| k != groups.baseline).collect();
    let mut levels = on_all_processors(&others, |&k| against_baseline(groups, k, alpha))
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    let adjusted = holm(&levels.iter().map(|own| own.p).collect::<Vec<_>>());
    let tests = adjusted.iter().flatten().count();
    for (own, adjusted) in levels.iter_mut().zip(adjusted) {
        own.p_adjusted = adjusted;
        let Some(p) = adjusted else { continue };
        own.verdict = match own.difference {
            difference if p < alpha && difference > 0.0 => Verdict::Higher,
            difference if p < alpha && difference < 0.0 => Verdict::Lower,
            _ => Verdict::NoEvidence,
        };
        own.judgement = groups.objective.and_then(|objective| own.verdict.judged(objective));
    }
    let baseline = summary(groups, groups.baseline)?;
    let texts =
        on_all_processors(&levels, |own| words::sentence(groups, &baseline, own, alpha, tests));
    levels.iter_mut().zip(texts).for_each(|(own, text)| own.text = text);
    let mut findings: Vec<Finding> = no_replication(groups).into_iter().collect();
    sort(&mut findings);
    Ok(Comparison {
        response: groups.response.clone(),
        by: groups.by.clone(),
        paired: groups.paired.clone(),
        objective: groups.objective,
        alpha,
        method: method(&levels, groups.paired.is_some()),
        adjustment: "holm",
        baseline,
        levels,
        findings,
    })
}

/// How the intervals that are told were found.
fn method(levels: &[LevelComparison], paired: bool) -> &'static str {
    let ratios = levels.iter().filter(|own| own.ratio.is_some()).count();
    match (ratios, paired) {
        (0, false) => "difference of means, Welch's interval",
        (0, true) => "mean difference of pairs, Student's interval",
        (some, false) if some < levels.len() => {
            "ratio of means, Fieller's interval with Welch's standard error, and Welch's interval of \
             the difference where a ratio means nothing"
        }
        (some, true) if some < levels.len() => {
            "ratio of means of pairs, Fieller's interval, and Student's interval of the difference \
             where a ratio means nothing"
        }
        (_, false) => "ratio of means, Fieller's interval with Welch's standard error",
        (_, true) => "ratio of means of pairs, Fieller's interval",
    }
}

fn against_baseline(
    groups: &Groups,
    level: usize,
    alpha: f64,
) -> Result<LevelComparison, AnalysisError> {
    let (own, base) = (&groups.values[level], &groups.values[groups.baseline]);
    let summary = summary(groups, level)?;
    let base_mean = mean(groups, base)?;
    let test = match groups.paired {
        None => welch_t(own, base),
        Some(_) => paired_t(own, base),
    };
    let test = match test {
        Ok(test) => Some(test),
        // A single value, or repeats that never differ: nothing to test by.
        Err(
            StatsError::TooFew { .. }
            | StatsError::Undefined { .. }
            | StatsError::Constant { .. }
            | StatsError::ZeroVariance { .. },
        ) => None,
        Err(source) => return Err(stats(groups, source)),
    };
    let ratio = ratio(groups, [own, base], [summary.mean, base_mean], alpha);
    let ends = ratio.and_then(|own| own.ends);
    let interval = test.and_then(|test| difference_interval(&test, alpha));
    Ok(LevelComparison {
        difference: summary.mean - base_mean,
        difference_low: interval.map(|ends| ends[0]),
        difference_high: interval.map(|ends| ends[1]),
        own: summary,
        ratio: ratio.map(|own| own.value),
        ci_low: ends.map(|ends| ends[0]),
        ci_high: ends.map(|ends| ends[1]),
        p: test.map(|test| test.p),
        p_adjusted: None,
        geometric: geometric(groups, own, base),
        verdict: Verdict::NothingFollows,
        judgement: None,
        text: String::new(),
    })
}

/// A ratio of positive means; its ends are absent without repeats.
#[derive(Debug, Clone, Copy)]
struct PositiveRatio {
    value: f64,
    ends: Option<[f64; 2]>,
}

/// The ratio of the means, where it means something.
fn ratio(
    groups: &Groups,
    [own, base]: [&[f64]; 2],
    [mean, base_mean]: [f64; 2],
    alpha: f64,
) -> Option<PositiveRatio> {
    let value = mean / base_mean;
    if !(mean > 0.0 && base_mean > 0.0 && value.is_finite()) {
        return None;
    }
    let test = match groups.paired {
        None => ratio_of_means(own, base, 1.0 - alpha),
        Some(_) => paired_ratio(own, base, 1.0 - alpha),
    };
    match test.map(|test| test.interval) {
        // By its interval the ratio could be zero, negative or without bounds.
        Ok(None) => None,
        Ok(Some([low, _])) if low <= 0.0 => None,
        Ok(ends) => Some(PositiveRatio { value, ends }),
        Err(_) => Some(PositiveRatio { value, ends: None }),
    }
}

/// Student's interval of a difference; a test carries the one of 95 %.
fn difference_interval(test: &TTest, alpha: f64) -> Option<[f64; 2]> {
    if alpha == 0.05 {
        return Some(test.interval);
    }
    let t = StudentT::new(test.df).ok()?;
    let error = 0.5 * (test.interval[1] - test.interval[0]) / t.quantile(0.975).ok()?;
    let half = error * t.quantile(1.0 - 0.5 * alpha).ok()?;
    Some([test.difference - half, test.difference + half])
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
            "{} of {} ({}) {} with a single value of {}: nothing follows for {}",
            count(single.len(), "level"),
            groups.by,
            list(&single),
            if single.len() == 1 { "stands" } else { "stand" },
            groups.response,
            if single.len() == 1 { "it" } else { "them" }
        )
    };
    Some(warning("no-replication", text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(base: &[f64], own: &[f64]) -> LevelComparison {
        let groups = Groups {
            response: "score".to_owned(),
            by: "method".to_owned(),
            levels: vec![Level::parse("a"), Level::parse("b")],
            values: vec![base.to_vec(), own.to_vec()],
            baseline: 0,
            paired: None,
            objective: None,
        };
        compare(&groups, 0.05).unwrap().levels.remove(0)
    }

    #[test]
    fn a_less_negative_mean_is_higher() {
        let found = compared(&[-2.0, -2.1, -1.9], &[-1.0, -1.1, -0.9]);
        assert_eq!((found.verdict, found.ratio), (Verdict::Higher, None));
        // R: t.test(c(-1,-1.1,-.9), c(-2,-2.1,-1.9)): 0.7733 to 1.2267.
        assert!((found.difference_low.unwrap() - 0.773_304_206).abs() < 1e-6, "{found:?}");
        assert!(
            found.text.starts_with("method b: +1 against method a, 95 % interval +0.77"),
            "{}",
            found.text
        );
        assert!(found.text.contains(": higher (p"), "{}", found.text);
    }

    #[test]
    fn a_baseline_of_zero_is_compared_by_the_difference() {
        let found = compared(&[0.0, 0.1, -0.1], &[1.0, 1.1, 0.9]);
        assert_eq!((found.verdict, found.ratio), (Verdict::Higher, None));
        let crossing = compared(&[0.5, 3.0, -2.0], &[1.0, 1.1, 0.9]);
        assert_eq!((crossing.verdict, crossing.ratio), (Verdict::NoEvidence, None));
        assert!(!crossing.text.contains("% of"), "{}", crossing.text);
    }

    #[test]
    fn positive_means_keep_their_ratio() {
        let found = compared(&[10.0, 11.0, 12.0], &[5.0, 6.0, 5.5]);
        assert_eq!((found.verdict, found.ratio), (Verdict::Lower, Some(0.5)));
        assert_eq!(found.difference, -5.5);
    }

    #[test]
    fn a_single_value_of_one_level_is_told_in_order() {
        let groups = Groups {
            response: "y".to_owned(),
            by: "g".to_owned(),
            levels: vec![Level::parse("a"), Level::parse("b")],
            values: vec![vec![1.0, 2.0], vec![3.0]],
            baseline: 0,
            paired: None,
            objective: None,
        };
        let text = &compare(&groups, 0.05).unwrap().findings[0].text;
        assert!(text.starts_with("1 level of g (b) stands with a single value of y"), "{text}");
    }

    #[test]
    fn a_difference_is_judged_only_where_the_good_end_is_known() {
        let groups = |objective, values: [[f64; 3]; 2]| Groups {
            response: "time".to_owned(),
            by: "method".to_owned(),
            levels: vec![Level::parse("a"), Level::parse("b")],
            values: values.map(Vec::from).to_vec(),
            baseline: 0,
            paired: None,
            objective,
        };
        let (low, high) = ([5.0, 6.0, 5.5], [10.0, 11.0, 12.0]);
        for (objective, values, expected, words) in [
            (
                Some(Direction::Minimize),
                [high, low],
                Some(Judgement::Better),
                ": lower, which is better (p",
            ),
            (
                Some(Direction::Maximize),
                [high, low],
                Some(Judgement::Worse),
                ": lower, which is worse (p",
            ),
            (
                Some(Direction::Maximize),
                [low, high],
                Some(Judgement::Better),
                ": higher, which is better (p",
            ),
            (
                Some(Direction::Minimize),
                [low, high],
                Some(Judgement::Worse),
                ": higher, which is worse (p",
            ),
            (Some(Direction::Minimize), [low, low], None, ": no evidence"),
            (None, [low, high], None, ": higher (p"),
        ] {
            let found = compare(&groups(objective, values), 0.05).unwrap().levels.remove(0);
            assert_eq!(found.judgement, expected);
            assert!(found.text.contains(words), "{}", found.text);
        }
    }
}
