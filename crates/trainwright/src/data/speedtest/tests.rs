use proptest::prelude::*;
use trainwright_analysis::{PictureSource, examine_speeds};
use trainwright_records::ReadSource;
use trainwright_records::pictures::PixelLimit;

use super::*;

#[test]
fn the_page_shows_every_parameter_of_every_source() {
    let mut rows = Vec::new();
    for source in PictureSource::ALL {
        for (batch_size, batch_number) in [(2, 3), (2, 6), (4, 3), (4, 6), (6, 3), (6, 6)] {
            let images = (batch_size * batch_number) as u64;
            let images_per_s = 100.0 + (7 * batch_size % 5) as f64 + batch_number as f64;
            rows.push(SpeedRow {
                run: rows.len() + 1,
                source,
                batch_size,
                batch_number,
                threads: 1,
                repetition: 1,
                images,
                bytes: 1000 * images,
                seconds: images as f64 / images_per_s,
                images_per_s,
                megabytes_per_s: images_per_s / 1000.0,
            });
        }
    }
    let conditions = SpeedConditions {
        cache: CacheState::Warm,
        latency_s: 0.0,
        bandwidth_bytes_per_s: None,
        size: 192,
        files: 200,
        shards: 16,
        seed: 1,
    };
    let test = examine_speeds(conditions, rows).unwrap();
    let page = speedtest_page(&test, "flowers <1>", None, "today");
    assert!(page.contains("flowers &lt;1&gt;") && page.contains("speed-data_size-records"));
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
