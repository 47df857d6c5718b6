//! `trainwright data speedtest`.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use trainwright::records::{Limits, PixelLimit, ReadSource};
use trainwright::{CacheState, Error, SpeedtestProgress, SpeedtestRequest, terminal};

use crate::arguments::SpeedtestArguments;
use crate::output::{show, tell};
use crate::pages::{now, write_file};

pub(crate) fn speedtest(arguments: &SpeedtestArguments) -> anyhow::Result<u8> {
    let request = SpeedtestRequest {
        pictures: &arguments.source,
        records: arguments.records.as_deref(),
        sources: each_once(&arguments.format).into_iter().map(ReadSource::from).collect(),
        size: arguments.size,
        batch_sizes: each_once(&arguments.batch_size),
        batch_numbers: each_once(&arguments.batch_number),
        threads: each_once(&arguments.threads),
        repetitions: arguments.repetitions,
        cache: if arguments.cold { CacheState::Cold } else { CacheState::Warm },
        limits: Limits {
            latency: arguments.latency.unwrap_or_default(),
            bandwidth: arguments.bandwidth,
        },
        seed: arguments.seed,
        max_pixels: arguments
            .max_pixels
            .map_or_else(PixelLimit::from_environment, Ok)
            .map_err(Error::from)?,
    };
    let mut said = Instant::now();
    let test = trainwright::speedtest(&request, &mut |at| hear(at, &mut said))?;
    if let Some(path) = &arguments.output {
        let mut table = Vec::new();
        trainwright::speedtest_csv(&test.rows, &mut table)?;
        write_file(path, table)?;
    }
    if let Some(path) = &arguments.report {
        let title = arguments.source.display().to_string();
        write_file(path, trainwright::speedtest_page(&test, &title, &now()))?;
    }
    show("data-speedtest", arguments.json, &test, terminal::speedtest)?;
    Ok(0)
}

/// A level named twice is one level.
fn each_once<T: Ord + Copy>(levels: &[T]) -> Vec<T> {
    levels.iter().copied().collect::<BTreeSet<_>>().into_iter().collect()
}

/// Says how far it is: twice a second on a terminal, every ten seconds elsewhere.
fn hear(at: SpeedtestProgress, said: &mut Instant) {
    match at {
        SpeedtestProgress::Preparing(pictures) => tell(&format!("preparing {pictures} pictures")),
        SpeedtestProgress::Warming => tell("reading everything once"),
        SpeedtestProgress::Reading(done, all) => {
            let pause = if std::io::stderr().is_terminal() { 500 } else { 10_000 };
            if said.elapsed() >= Duration::from_millis(pause) || done == all {
                *said = Instant::now();
                tell(&format!("{done} of {all} readings"));
            }
        }
    }
}
