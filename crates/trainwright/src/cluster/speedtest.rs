//! `data speedtest` on a cluster: a task a reading, side by side on all executors.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use trainwright_analysis::examine_speeds;
use trainwright_engine::spark::{ExecutorLink, StreamedOrder, run_streamed, serve_streamed};
use trainwright_records::pictures::PixelLimit;
use trainwright_records::{Limits, ReadRun, ReadTime};

use super::executor::unread;
use super::start::{ClusterReply, ClusterUse, OnCluster, SparkRequest, seen_from_anywhere, spread};
use crate::data::speedtest::runs;
use crate::{CacheState, Error, Speedtest, SpeedtestProgress, SpeedtestRequest, Wish};

pub(super) const KIND: &str = "speedtest";

/// What all readings have in common.
#[derive(Debug, Serialize, Deserialize)]
struct Common {
    pictures: PathBuf,
    records: PathBuf,
    size: NonZeroUsize,
    cold: bool,
    limits: Limits,
    seed: u64,
    max_pixels: PixelLimit,
}

/// Reads pictures from files and from records on all executors of a cluster at once.
///
/// Readings disturb each other where they share a machine or a disk, as training jobs would.
///
/// # Errors
/// As for [`crate::speedtest`]; no folder of records was named; or Spark is not there.
pub fn speedtest_on_spark(
    speed: &SpeedtestRequest<'_>,
    request: &SparkRequest<'_>,
    wish: &dyn Fn() -> Wish,
    progress: &mut dyn FnMut(SpeedtestProgress),
    tell: &mut dyn FnMut(String),
) -> Result<Option<OnCluster<Speedtest>>, Error> {
    let Some(records) = speed.records else {
        return Err(Error::Request(
            "on a cluster, name a folder of prepared shards with --records, which all executors see"
                .to_owned(),
        ));
    };
    let plan = runs::plan(speed);
    let opened = runs::open(speed, records)?;
    let goes_on = || wish() == Wish::GoOn;
    let cluster = ClusterUse { spark: &request.spark, program: request.program, suited: &[] };
    let driver = cluster.start(&goes_on, tell)?;
    let (slots, partitions) = spread(&driver, request.partitions, plan.len())?;
    let common = Common {
        pictures: seen_from_anywhere(speed.pictures),
        records: seen_from_anywhere(records),
        size: speed.size,
        cold: speed.cache == CacheState::Cold,
        limits: speed.limits,
        seed: speed.seed,
        max_pixels: speed.max_pixels,
    };
    let json = |value: &ReadRun| serde_json::to_value(value).expect("numbers become JSON");
    let order = StreamedOrder {
        driver: &driver,
        kind: KIND,
        common: serde_json::to_value(common).expect("names and numbers become JSON"),
        tasks: plan.iter().map(|(_, run)| json(run)).collect(),
        partitions,
        words: format!("speed test of {}", speed.pictures.display()),
    };
    let mut rows = Vec::new();
    let end = run_streamed(order, &goes_on, &mut |done| -> Result<(), Error> {
        let time: ReadTime =
            serde_json::from_value(done.result).map_err(|error| unread(&error.to_string()))?;
        rows.push(runs::row(done.task, &plan[done.task], &time));
        progress(SpeedtestProgress::Reading(rows.len(), plan.len()));
        Ok(())
    })?;
    if end.stopped {
        return Ok(None);
    }
    rows.sort_by_key(|row| row.run);
    let reply = examine_speeds(runs::conditions(speed, &opened), rows)?;
    let application = driver.application().clone();
    let cluster = ClusterReply { application, slots, partitions, tasks: end.cluster };
    Ok(Some(OnCluster { reply, cluster }))
}

/// Makes readings on an executor.
pub(super) fn serve(link: &ExecutorLink, body: Value) -> Result<(), Error> {
    let common: Common =
        serde_json::from_value(body).map_err(|error| unread(&error.to_string()))?;
    let request = SpeedtestRequest {
        pictures: &common.pictures,
        records: Some(&common.records),
        sources: Vec::new(),
        size: common.size,
        batch_sizes: Vec::new(),
        batch_numbers: Vec::new(),
        threads: Vec::new(),
        repetitions: NonZeroUsize::MIN,
        cache: if common.cold { CacheState::Cold } else { CacheState::Warm },
        limits: common.limits,
        seed: common.seed,
        max_pixels: common.max_pixels,
    };
    let speed = runs::open(&request, &common.records)?;
    runs::warm_up_where_asked(&request, &speed)?;
    serve_streamed(link, &mut |task| -> Result<Value, Error> {
        let run: ReadRun =
            serde_json::from_value(task).map_err(|error| unread(&error.to_string()))?;
        let time = runs::read(&request, &speed, &run)?;
        Ok(serde_json::to_value(time).expect("numbers become JSON"))
    })
}
