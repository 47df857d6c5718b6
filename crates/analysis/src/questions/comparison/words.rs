//! Comparisons in sentences.

use trainwright_study::Level;

use super::{Groups, LevelComparison, LevelSummary, Verdict};
use crate::wording::{brief, p_value};

/// A level against its baseline, such as `2 cores: 110.3 % of 1 core, 95 % interval 97 to 124 %:
/// no evidence of a difference`.
pub(super) fn sentence(
    groups: &Groups,
    baseline: &LevelSummary,
    own: &LevelComparison,
    alpha: f64,
    tested: usize,
) -> String {
    let (level, base) = (named(&groups.by, &own.own.level), named(&groups.by, &baseline.level));
    let Some(ratio) = own.ratio.map(|ratio| 100.0 * ratio) else {
        return format!("{level}: the mean of {base} is 0, so there is no ratio to it");
    };
    let ends = own.ci_low.zip(own.ci_high).map(|(low, high)| (100.0 * low, 100.0 * high));
    let places = ends.map_or(1, |(low, high)| places(low, high));
    let share = format!("{level}: {ratio:.*} % of {base}", places.max(1));
    let confidence = brief(100.0 * (1.0 - alpha));
    let interval = match ends {
        Some((low, high)) => {
            format!(", {confidence} % interval {low:.places$} to {high:.places$} %")
        }
        None if own.p.is_some() => {
            format!(", no bounded interval, since {base} could be 0 by its own spread")
        }
        None => String::new(),
    };
    format!("{share}{interval}{}", conclusion(own, baseline, alpha, tested))
}

fn conclusion(own: &LevelComparison, baseline: &LevelSummary, alpha: f64, tested: usize) -> String {
    let p = own.p_adjusted.map(p_value).unwrap_or_default();
    let adjusted = if tested > 1 { format!("{p}, adjusted for {tested} comparisons") } else { p };
    match own.verdict {
        Verdict::Higher => format!(": higher ({adjusted})"),
        Verdict::Lower => format!(": lower ({adjusted})"),
        Verdict::NoEvidence if own.p.is_some_and(|p| p < alpha) => {
            format!(
                ": no evidence of a difference, given how many levels are compared ({adjusted})"
            )
        }
        Verdict::NoEvidence => ": no evidence of a difference".to_owned(),
        Verdict::NothingFollows if own.own.n == 1 && baseline.n == 1 => {
            ", from one value each: no interval exists, and nothing follows".to_owned()
        }
        Verdict::NothingFollows if own.own.n == 1 || baseline.n == 1 => {
            ", from a single value on one side: no interval exists, and nothing follows".to_owned()
        }
        Verdict::NothingFollows => {
            ", but repeats never differ: there is no spread to judge by, and nothing follows"
                .to_owned()
        }
    }
}

/// A level with its factor: `1 core`, `2 cores`, `batch 64`, `strategy mirrored`.
fn named(by: &str, level: &Level) -> String {
    match (level.number(), by.strip_suffix('s')) {
        (Some(1.0), Some(one)) if !one.ends_with('s') && !one.is_empty() => {
            format!("{level} {one}")
        }
        (Some(_), Some(one)) if !one.ends_with('s') && !one.is_empty() => format!("{level} {by}"),
        _ => format!("{by} {level}"),
    }
}

/// Decimals that an interval supports: two digits of its half width.
fn places(low: f64, high: f64) -> usize {
    let half = 0.5 * (high - low);
    if half > 0.0 { (1.0 - half.log10().floor()).clamp(0.0, 6.0) as usize } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_named_as_people_say_them() {
        for (by, level, expected) in [
            ("cores", "1", "1 core"),
            ("cores", "2", "2 cores"),
            ("batch", "64", "batch 64"),
            ("strategy", "mirrored", "strategy mirrored"),
            ("loss", "2", "loss 2"),
            ("s", "2", "s 2"),
        ] {
            assert_eq!(named(by, &Level::parse(level)), expected);
        }
    }

    #[test]
    fn decimals_follow_the_interval() {
        assert_eq!((places(97.0, 124.0), places(99.1, 103.9), places(99.9, 100.1)), (0, 1, 3));
        assert_eq!(places(100.0, 100.0), 1);
    }
}
