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
    let end = conclusion(own, baseline, alpha, tested);
    let Some(ratio) = own.ratio.map(|ratio| 100.0 * ratio) else {
        return format!("{level}: {}{end}", difference(own, &base, alpha));
    };
    let ends = own.ci_low.zip(own.ci_high).map(|(low, high)| (100.0 * low, 100.0 * high));
    let places = ends.map_or(1, |(low, high)| places(low, high));
    let share = format!("{level}: {ratio:.*} % of {base}", places.max(1));
    let confidence = brief(100.0 * (1.0 - alpha));
    let interval = match ends {
        Some((low, high)) => {
            format!(", {confidence} % interval {low:.places$} to {high:.places$} %")
        }
        None => String::new(),
    };
    format!("{share}{interval}{end}")
}

/// How far a level lies from its baseline, where a ratio would mean nothing.
fn difference(own: &LevelComparison, base: &str, alpha: f64) -> String {
    let signed = |value: f64| format!("{}{}", if value > 0.0 { "+" } else { "" }, brief(value));
    let by = format!("{} against {base}", signed(own.difference));
    match own.difference_low.zip(own.difference_high) {
        Some((low, high)) => {
            let confidence = brief(100.0 * (1.0 - alpha));
            format!("{by}, {confidence} % interval {} to {}", signed(low), signed(high))
        }
        None => by,
    }
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
///
/// Only factors that are known to count something stand behind their number: `bias` is no plural.
fn named(by: &str, level: &Level) -> String {
    let counted = COUNTED.iter().find(|(_, many)| *many == by);
    match (level.number(), counted) {
        (Some(1.0), Some((one, _))) => format!("{level} {one}"),
        (Some(_), Some(_)) => format!("{level} {by}"),
        _ => format!("{by} {level}"),
    }
}

/// Factors that count things, with the word for one of them.
const COUNTED: [(&str, &str); 24] = [
    ("core", "cores"),
    ("cpu", "cpus"),
    ("gpu", "gpus"),
    ("thread", "threads"),
    ("process", "processes"),
    ("worker", "workers"),
    ("executor", "executors"),
    ("node", "nodes"),
    ("host", "hosts"),
    ("machine", "machines"),
    ("device", "devices"),
    ("replica", "replicas"),
    ("server", "servers"),
    ("slot", "slots"),
    ("shard", "shards"),
    ("epoch", "epochs"),
    ("step", "steps"),
    ("layer", "layers"),
    ("unit", "units"),
    ("neuron", "neurons"),
    ("filter", "filters"),
    ("channel", "channels"),
    ("head", "heads"),
    ("tree", "trees"),
];

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
            ("bias", "1", "bias 1"),
            ("status", "3", "status 3"),
            ("processes", "1", "1 process"),
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
