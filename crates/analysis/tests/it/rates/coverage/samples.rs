//! Intervals of tests of samples, of resampling and of reading speeds.

use serde_json::Value;
use trainwright_analysis::{
    CacheState, PictureSource, SpeedConditions, SpeedRow, Speedtest, StatsTest, TestQuestion,
    TestResult, examine_speeds,
};

use super::{Printed, between, printed};
use crate::rates::kinds::tables::table;
use crate::rates::noise::Noise;

pub(crate) const INTERVALS: &[Printed] = &[
    printed("difference of means of Welch", 2_000, welch),
    printed("difference of means of pairs", 2_000, pairs),
    printed("differences of Tukey, together", 2_000, tukey),
    printed("bootstrap of two groups, n = 10", 2_000, |noise| bootstrap(10, noise)),
    printed("bootstrap of two groups, n = 30", 2_000, |noise| bootstrap(30, noise)),
    printed("bootstrap of pairs, n = 10", 2_000, bootstrap_of_pairs),
    printed("mean speed of reading", 2_000, mean_speed),
    printed("records over files", 2_000, speed_ratio),
];

/// The answer of a test about two columns or groups.
fn answer(test: StatsTest, csv: &str, by: Option<&str>, with: Option<&str>) -> Option<TestResult> {
    let question = TestQuestion {
        test,
        column: Some("y"),
        by,
        with,
        formula: None,
        method: None,
        statistic: None,
        ratio: false,
        seed: (test == StatsTest::Bootstrap).then_some(1),
    };
    question.answer(&table(csv)).ok()
}

/// Whether an answer's interval holds a value.
fn holds(found: Option<TestResult>, truth: f64) -> Option<bool> {
    let found = found?;
    let end = |name: &str| found.fields.get(name).and_then(Value::as_f64);
    between(end("ci_low"), truth, end("ci_high"))
}

/// Groups of means 10, 11 and so on, the later ones wider.
fn groups(count: usize, size: usize, wider: f64, noise: &mut Noise) -> String {
    let mut csv = "y,g\n".to_owned();
    for row in 0..count * size {
        let (g, name) = ((row % count) as f64, ["p", "q", "r"][row % count]);
        csv += &format!("{},{name}\n", 10.0 + g + (1.0 + wider * g) * noise.normal());
    }
    csv
}

fn welch(noise: &mut Noise) -> Option<bool> {
    holds(answer(StatsTest::WelchT, &groups(2, 6, 1.0, noise), Some("g"), None), -1.0)
}

fn two_columns(noise: &mut Noise) -> String {
    let mut csv = "y,z\n".to_owned();
    for _ in 0..10 {
        let shared = noise.normal();
        csv += &format!("{},{}\n", 1.0 + shared + 0.5 * noise.normal(), shared);
    }
    csv
}

fn pairs(noise: &mut Noise) -> Option<bool> {
    holds(answer(StatsTest::PairedT, &two_columns(noise), None, Some("z")), 1.0)
}

fn tukey(noise: &mut Noise) -> Option<bool> {
    let found = answer(StatsTest::Tukey, &groups(3, 5, 0.0, noise), Some("g"), None)?;
    let place = |name: &str| ["p", "q", "r"].iter().position(|own| *own == name);
    let pairs = found.fields.get("pairs")?.as_array()?;
    let all = pairs.iter().map(|own| {
        let number = |name: &str| own.get(name).and_then(Value::as_f64);
        let at = |name: &str| place(own.get(name)?.as_str()?);
        let truth = at("a")? as f64 - at("b")? as f64;
        between(number("low"), truth, number("high"))
    });
    Some(all.collect::<Option<Vec<bool>>>()?.into_iter().all(|holds| holds))
}

fn bootstrap(size: usize, noise: &mut Noise) -> Option<bool> {
    holds(answer(StatsTest::Bootstrap, &groups(2, size, 0.0, noise), Some("g"), None), -1.0)
}

fn bootstrap_of_pairs(noise: &mut Noise) -> Option<bool> {
    holds(answer(StatsTest::Bootstrap, &two_columns(noise), None, Some("z")), 1.0)
}

/// Readings of files and records, whose speeds scatter by factors.
fn speeds(noise: &mut Noise) -> Speedtest {
    let mut rows = Vec::new();
    for repetition in 1..=5 {
        for (source, speed) in [(PictureSource::Files, 100.0), (PictureSource::Records, 400.0)] {
            for threads in [1, 2] {
                let images_per_s = speed * threads as f64 * (0.2 * noise.normal()).exp();
                rows.push(SpeedRow {
                    run: rows.len() + 1,
                    source,
                    batch_size: 32,
                    batch_number: 10,
                    threads,
                    repetition,
                    images: 320,
                    bytes: 320_000,
                    seconds: 320.0 / images_per_s,
                    images_per_s,
                    megabytes_per_s: images_per_s / 1e3,
                });
            }
        }
    }
    let conditions = SpeedConditions {
        cache: CacheState::Warm,
        latency_s: 0.0,
        bandwidth_bytes_per_s: None,
        size: 32,
        files: 320,
        shards: 1,
        seed: 1,
    };
    examine_speeds(conditions, rows).unwrap()
}

fn mean_speed(noise: &mut Noise) -> Option<bool> {
    let own = &speeds(noise).means[0];
    between(own.ci_low, 100.0, own.ci_high)
}

fn speed_ratio(noise: &mut Noise) -> Option<bool> {
    let own = speeds(noise).ratio?;
    between(own.ci_low, 4.0, own.ci_high)
}
