use proptest::prelude::*;
use trainwright_records::ReadSource;
use trainwright_records::pictures::PixelLimit;

use super::*;

/// Readings of every combination, with a speed of the caller's making.
fn rows(speed: impl Fn(ReadSource, f64, f64, usize) -> f64) -> Vec<SpeedRow> {
    let mut rows = Vec::new();
    for source in ReadSource::ALL {
        for batch_size in [2, 4, 6, 8] {
            for batch_number in [3, 6, 9, 12] {
                for repetition in 1..=3 {
                    let images = (batch_size * batch_number) as u64;
                    let images_per_s =
                        speed(source, batch_size as f64, batch_number as f64, repetition);
                    rows.push(SpeedRow {
                        run: rows.len() + 1,
                        source,
                        batch_size,
                        batch_number,
                        threads: 1,
                        repetition,
                        images,
                        bytes: 1000 * images,
                        seconds: images as f64 / images_per_s,
                        images_per_s,
                        megabytes_per_s: images_per_s / 1000.0,
                    });
                }
            }
        }
    }
    rows
}

/// Noise of mean 0 over the three repetitions of a cell, and without a slope over them.
fn noise(repetition: usize) -> f64 {
    [-1.0, 2.0, -1.0][repetition - 1]
}

fn examined(rows: Vec<SpeedRow>) -> Speedtest {
    let conditions = SpeedConditions {
        cache: CacheState::Warm,
        latency_s: 0.02,
        bandwidth_bytes_per_s: Some(100_000_000),
        size: 192,
        files: 200,
        shards: 16,
        seed: 1,
    };
    examine(conditions, rows).unwrap()
}

fn find<'a>(
    test: &'a Speedtest,
    source: ReadSource,
    model: SpeedModel,
    parameter: Option<&str>,
) -> &'a SpeedFit {
    let mut fits = test.fits.iter();
    fits.find(|fit| (fit.source, fit.model, fit.parameter) == (source, model, parameter)).unwrap()
}

#[test]
fn slopes_that_were_put_in_come_out() {
    let test = examined(rows(|source, batch_size, _, repetition| match source {
        ReadSource::Files => 900.0 + noise(repetition),
        ReadSource::Records => 4000.0 + 50.0 * batch_size + noise(repetition),
    }));
    let line = find(&test, ReadSource::Records, SpeedModel::Linear, Some("batch_size"));
    assert!((line.coefficients[1].estimate.unwrap() - 50.0).abs() < 1e-9);
    assert!(line.coefficients[1].ci_low.unwrap() > 49.0 && line.r.unwrap() > 0.99);
    assert!(line.p_adjusted.unwrap() < 1e-9 && line.p_adjusted >= line.p);
    assert!(line.lack_of_fit.as_ref().unwrap().p.unwrap() > 0.9, "a line it is");
    let other = find(&test, ReadSource::Files, SpeedModel::Linear, Some("batch_number"));
    assert!(other.r.unwrap().abs() < 1e-9 && other.p_adjusted.unwrap() > 0.9);
    // Eight simple regressions, four parameters of which three have more than two levels twice.
    let count = |model| test.fits.iter().filter(|fit| fit.model == model).count();
    assert_eq!((count(SpeedModel::Linear), count(SpeedModel::Quadratic)), (8, 8));
    assert_eq!((count(SpeedModel::JointLinear), count(SpeedModel::JointQuadratic)), (2, 2));
}

#[test]
fn a_bend_is_told_from_a_line() {
    let test = examined(rows(|_, batch_size, _, repetition| {
        4000.0 - 30.0 * (batch_size - 5.0).powi(2) + noise(repetition)
    }));
    let line = find(&test, ReadSource::Files, SpeedModel::Linear, Some("batch_size"));
    assert!(line.r2 < 1e-9 && line.lack_of_fit.as_ref().unwrap().p.unwrap() < 1e-9);
    let bent = find(&test, ReadSource::Files, SpeedModel::Quadratic, Some("batch_size"));
    assert!((bent.coefficients[2].estimate.unwrap() + 30.0).abs() < 1e-6);
    assert!(bent.r2 > 0.99 && bent.lack_of_fit.as_ref().unwrap().p.unwrap() > 0.9);
    let told = test.verdict.iter().any(|it| it.starts_with("A straight line does not describe"));
    assert!(told, "{:#?}", test.verdict);
}

#[test]
fn the_data_size_is_the_interaction_of_the_joint_fit() {
    let test = examined(rows(|_, batch_size, batch_number, repetition| {
        1000.0 + 3.0 * batch_size * batch_number + noise(repetition)
    }));
    let joint = find(&test, ReadSource::Files, SpeedModel::JointLinear, None);
    let own = joint.coefficients.iter().find(|own| own.name == "data_size").unwrap();
    assert!((own.estimate.unwrap() - 3.0).abs() < 1e-9);
    assert!(joint.coefficients[1].estimate.unwrap().abs() < 1e-6);
}

#[test]
fn the_verdict_reads_as_sentences() {
    let test = examined(rows(|source, batch_size, _, repetition| match source {
        ReadSource::Files => 900.0 + 7.0 * noise(repetition),
        ReadSource::Records => 4000.0 + 50.0 * batch_size + 9.0 * noise(repetition),
    }));
    let expected = [
        "Records are read 4.7 times as fast as files (95 % interval 4.7 to 4.8 over 48 pairs of \
         readings).",
        "Fastest on average: records, batch size 8, 3 batches, 1 thread: 4400 (4361 to 4439) \
         images/s, 4.400 MB/s; the intervals of 3 other combinations reach as far.",
        "Files: no clear straight-line effect of batch size, batch number, repetition and data \
         size; take the batch size that training wants.",
        "Records: reading gains 50 images/s for each one more in batch size (r = 0.99, adjusted p",
        "A straight line is adequate for files (no lack of fit, p = 1), though",
        "A straight line is adequate for records (no lack of fit, p = 1), though",
        "The data size is the batch size times the batch number, so it is no parameter of its own",
        "Read with a warm cache, 20 ms before each file or shard, 100 MB/s for all requests \
         together; files",
    ];
    assert_eq!(test.verdict.len(), expected.len(), "{:#?}", test.verdict);
    for (sentence, expected) in test.verdict.iter().zip(expected) {
        assert!(sentence.starts_with(expected), "{sentence}\n{expected}");
    }
    let page = speedtest_page(&test, "flowers <1>", "today");
    assert!(page.contains("flowers &lt;1&gt;") && page.contains("speed-data_size-records"));
}

#[test]
fn one_repetition_of_one_combination_claims_nothing() {
    let all = rows(|source, _, _, _| if source == ReadSource::Files { 100.0 } else { 400.0 });
    let few = |row: &SpeedRow| (row.batch_size, row.batch_number, row.repetition) == (2, 3, 1);
    let test = examined(all.into_iter().filter(few).collect());
    assert_eq!(test.fits.len(), 0);
    let ratio = test.ratio.as_ref().unwrap();
    assert!((ratio.estimate - 4.0).abs() < 1e-12 && ratio.ci_low.is_none());
    let first = "Records are read 4.0 times as fast as files (one pair of readings, so without an \
                 interval).";
    assert_eq!(test.verdict[0], first);
}

proptest! {
    #[test]
    fn every_repetition_holds_every_combination_once(seed: u64) {
        let number = |numbers: &[usize]| -> Vec<NonZeroUsize> {
            numbers.iter().map(|&number| NonZeroUsize::new(number).unwrap()).collect()
        };
        let request = SpeedtestRequest {
            sources: ReadSource::ALL.to_vec(),
            pictures: Path::new("x"),
            records: None,
            size: NonZeroUsize::MIN,
            batch_sizes: number(&[2, 4]),
            batch_numbers: number(&[3, 6, 9]),
            threads: number(&[1]),
            repetitions: NonZeroUsize::new(2).unwrap(),
            cache: CacheState::Warm,
            limits: Limits::default(),
            seed,
            max_pixels: PixelLimit::default(),
        };
        let plan = runs::plan(&request);
        prop_assert_eq!(plan.len(), 24);
        for (at, block) in plan.chunks(12).enumerate() {
            prop_assert!(block.iter().all(|(repetition, _)| *repetition == at + 1));
            let mut keys: Vec<_> =
                block.iter().map(|(_, run)| (run.source, run.batch_size, run.batch_number)).collect();
            keys.sort();
            keys.dedup();
            prop_assert_eq!(keys.len(), 12);
        }
    }
}
