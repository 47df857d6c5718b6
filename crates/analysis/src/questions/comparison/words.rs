//! Comparisons in sentences.

use trainwright_study::Level;

use super::{Groups, Judgement, LevelComparison, LevelSummary, Verdict};
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
    let plain = ends.map_or(ratio, |(_, high)| high.max(ratio));
    let shown = |value: f64, places: usize| match PLAIN.contains(&plain) {
        true => format!("{value:.places$}"),
        false => brief(value),
    };
    let share = format!("{level}: {} % of {base}", shown(ratio, places.max(1)));
    let confidence = brief(100.0 * (1.0 - alpha));
    let interval = match ends {
        Some((low, high)) => {
            let [low, high] = [low, high].map(|end| shown(end, places));
            format!(", {confidence} % interval {low} to {high} %")
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
    let judged = match own.judgement {
        None => "",
        Some(Judgement::Better) => ", which is better",
        Some(Judgement::Worse) => ", which is worse",
    };
    match own.verdict {
        Verdict::Higher => format!(": higher{judged} ({adjusted})"),
        Verdict::Lower => format!(": lower{judged} ({adjusted})"),
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

/// Percentages that are written out; others get an exponent.
const PLAIN: std::ops::Range<f64> = 1e-3..1e6;

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

    fn summary(level: i64, n: usize) -> LevelSummary {
        LevelSummary { level: Level::Integer(level), n, mean: 1.0, sd: None }
    }

    #[test]
    fn a_ratio_of_a_hundred_digits_gets_an_exponent() {
        let groups = Groups {
            response: "y".to_owned(),
            by: "g".to_owned(),
            levels: vec![],
            values: vec![],
            baseline: 0,
            paired: None,
            objective: None,
        };
        let told = |ratio: f64| {
            let own = LevelComparison {
                ratio: Some(ratio),
                ci_low: Some(0.5 * ratio),
                ci_high: Some(2.0 * ratio),
                ..compared(Verdict::NoEvidence, 0.5, 0.5, 3)
            };
            sentence(&groups, &summary(1, 3), &own, 0.05, 1)
        };
        assert_eq!(
            told(1e100),
            "g 2: 1e102 % of g 1, 95 % interval 5e101 to 2e102 %: no evidence of a difference"
        );
        assert!(told(1e-100).starts_with("g 2: 1e-98 % of g 1, 95 % interval 5e-99 to 2e-98 %"));
        assert!(told(1.0).starts_with("g 2: 100.0 % of g 1, 95 % interval 50 to 200 %"));
    }

    fn compared(verdict: Verdict, p: f64, adjusted: f64, n: usize) -> LevelComparison {
        LevelComparison {
            own: summary(2, n),
            difference: -0.5,
            difference_low: None,
            difference_high: None,
            ratio: None,
            ci_low: None,
            ci_high: None,
            p: Some(p),
            p_adjusted: Some(adjusted),
            geometric: None,
            verdict,
            judgement: None,
            text: String::new(),
        }
    }

    #[test]
    fn a_verdict_says_how_many_comparisons_it_allows_for() {
        let told = |verdict, p, adjusted, tested| {
            conclusion(&compared(verdict, p, adjusted, 3), &summary(1, 3), 0.05, tested)
        };
        assert_eq!(told(Verdict::Higher, 0.01, 0.01, 1), ": higher (p = 0.01)");
        assert_eq!(
            told(Verdict::Lower, 0.01, 0.03, 3),
            ": lower (p = 0.03, adjusted for 3 comparisons)"
        );
        assert_eq!(told(Verdict::NoEvidence, 0.5, 0.5, 1), ": no evidence of a difference");
        assert_eq!(
            told(Verdict::NoEvidence, 0.04, 0.12, 3),
            ": no evidence of a difference, given how many levels are compared (p = 0.12, adjusted \
             for 3 comparisons)"
        );
    }

    #[test]
    fn nothing_follows_from_single_values_or_from_repeats_without_spread() {
        let told = |own: usize, base: usize| {
            let own = compared(Verdict::NothingFollows, 0.0, 0.0, own);
            conclusion(&own, &summary(1, base), 0.05, 1)
        };
        assert!(told(1, 1).starts_with(", from one value each:"));
        assert!(told(1, 3).starts_with(", from a single value on one side:"));
        assert!(told(3, 1).starts_with(", from a single value on one side:"));
        assert!(told(3, 3).starts_with(", but repeats never differ:"));
    }

    #[test]
    fn a_difference_has_its_sign_and_its_interval_where_there_is_one() {
        let mut own = compared(Verdict::Lower, 0.01, 0.01, 3);
        assert_eq!(difference(&own, "1 core", 0.05), "-0.5 against 1 core");
        own.difference = 2.5;
        (own.difference_low, own.difference_high) = (Some(-1.0), Some(6.0));
        assert_eq!(difference(&own, "1 core", 0.1), "+2.5 against 1 core, 90 % interval -1 to +6");
    }

    #[test]
    fn decimals_follow_the_interval() {
        assert_eq!((places(97.0, 124.0), places(99.1, 103.9), places(99.9, 100.1)), (0, 1, 3));
        assert_eq!(places(100.0, 100.0), 1);
    }
}
