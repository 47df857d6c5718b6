//! `trainwright data speedtest`.

use std::collections::BTreeSet;
use std::env;
use std::io::IsTerminal;
use std::num::NonZero;
use std::time::{Duration, Instant};

use anyhow::Context;
use trainwright::records::{Limits, PixelLimit, ReadSource};
use trainwright::{
    CacheState, Error, OnCluster, SPEEDTEST_NOUN, SparkRequest, SpeedtestProgress,
    SpeedtestRequest, terminal,
};

use crate::arguments::SpeedtestArguments;
use crate::interrupt::Interrupt;
use crate::output::{show, tell};
use crate::pages::{check_folder_of, now, write_file};

fn request_of(arguments: &SpeedtestArguments) -> Result<SpeedtestRequest<'_>, Error> {
    Ok(SpeedtestRequest {
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
        max_pixels: arguments.max_pixels.map_or_else(PixelLimit::from_environment, Ok)?,
    })
}

pub(crate) fn speedtest(arguments: &SpeedtestArguments) -> anyhow::Result<u8> {
    let request = request_of(arguments)?;
    if let Some(path) = &arguments.report {
        check_folder_of(path)?;
    }
    let mut said = Instant::now();
    let (test, cluster) = match arguments.cluster.spark()? {
        None => (trainwright::speedtest(&request, &mut |at| hear(at, &mut said))?, None),
        Some(spark) => {
            let program = env::current_exe().context("cannot find this program's own file")?;
            let partitions = arguments.partitions.map(NonZero::get);
            let on = SparkRequest { spark, partitions, program: &program };
            let interrupt = Interrupt::listen()?;
            let wish = || interrupt.wish();
            let mut heard = |at: SpeedtestProgress| hear(at, &mut said);
            let told = &mut |words: String| tell(&words);
            match trainwright::speedtest_on_spark(&request, &on, &wish, &mut heard, told)? {
                Some(OnCluster { reply, cluster }) => (reply, Some(cluster)),
                None => return Ok(130),
            }
        }
    };
    if let Some(path) = &arguments.output {
        let mut table = Vec::new();
        trainwright::speedtest_csv(&test.rows, &mut table)?;
        write_file(path, table)?;
    }
    if let Some(path) = &arguments.report {
        let title = arguments.source.display().to_string();
        write_file(path, trainwright::speedtest_page(&test, &title, cluster.as_ref(), &now()))?;
    }
    match cluster {
        None => show(SPEEDTEST_NOUN, arguments.json, &test, terminal::speedtest)?,
        Some(cluster) => {
            let reply = OnCluster { reply: test, cluster };
            show(SPEEDTEST_NOUN, arguments.json, &reply, |own| {
                terminal::speedtest(&own.reply) + &terminal::on_cluster(&own.cluster)
            })?;
        }
    }
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
