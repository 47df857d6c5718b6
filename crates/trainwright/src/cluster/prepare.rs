//! `data prepare` on a cluster: a task a shard, taken in here as they are made.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use trainwright_engine::spark::{ExecutorLink, StreamedOrder, run_streamed, serve_streamed};
use trainwright_records::bucket::{Bucket, LocalBucket};
use trainwright_records::prepare::{
    MadeShard, OpenedShared, PrepareOptions, PrepareProgress, Prepared, ShardMaker,
    SharedPreparation,
};
use trainwright_records::sources::Source;
use trainwright_records::{bucket_of, is_remote};

use super::executor::unread;
use super::start::{ClusterReply, ClusterUse, OnCluster, SparkRequest, seen_from_anywhere, spread};
use crate::data::prepare::work_folder;
use crate::{Error, PrepareReply, Wish};

pub(super) const KIND: &str = "prepare";

/// A shard that takes long may be made twice; the first one counts.
const SUITED: [(&str, &str); 3] = [
    ("spark.speculation", "true"),
    ("spark.speculation.multiplier", "3"),
    ("spark.speculation.minTaskRuntime", "10s"),
];

/// What makers of shards have in common.
#[derive(Debug, Serialize, Deserialize)]
struct Common {
    source: PathBuf,
    out: PathBuf,
    options: PrepareOptions,
    pins: Map<String, Value>,
}

/// Turns pictures or a table into shards on a Spark cluster; they are byte for byte those that one
/// machine makes. Source and folder are seen by all executors under the same path; the folder may
/// be in an object store.
///
/// # Errors
/// As for [`crate::prepare_data`]; and when Spark is not there, or a task fails too often.
pub fn prepare_on_spark(
    source: &Path,
    out: &Path,
    options: &PrepareOptions,
    request: &SparkRequest<'_>,
    wish: &dyn Fn() -> Wish,
    progress: &mut dyn FnMut(PrepareProgress),
    tell: &mut dyn FnMut(String),
) -> Result<Option<OnCluster<PrepareReply>>, Error> {
    let begun = Instant::now();
    let (source, out) = (seen_from_anywhere(source), seen_from_anywhere(out));
    // One process for each partition has one core.
    let options = PrepareOptions { threads: 1, ..options.clone() };
    let remote = is_remote(&out);
    let folder = if remote { fresh_work_folder(&out)? } else { out.clone() };
    let reply = |prepared: Prepared| PrepareReply {
        remade: prepared.remade.clone(),
        prepared,
        out: out.clone(),
        seconds: begun.elapsed().as_secs_f64(),
    };
    let shared = match SharedPreparation::open(Source::open(&source)?, &folder, &options)? {
        OpenedShared::Unfinished(own) => own,
        OpenedShared::Finished(prepared) => {
            let cluster = ClusterReply::default();
            return Ok(Some(OnCluster { reply: reply(prepared), cluster }));
        }
    };
    let goes_on = || wish() == Wish::GoOn;
    let cluster = ClusterUse { spark: &request.spark, program: request.program, suited: &SUITED };
    let driver = cluster.start(&goes_on, tell)?;
    let mut shared = *shared;
    let left = shared.left();
    let (slots, partitions) = spread(&driver, request.partitions, left.len())?;
    tell(format!("{} shards in {partitions} partitions on {slots} slots", left.len()));
    let common = Common { source, out: out.clone(), options, pins: shared.pins() };
    let common = serde_json::to_value(common).expect("names and numbers become JSON");
    let tasks = left.iter().map(|shard| json!(shard)).collect();
    let words = format!("prepare {}", out.display());
    let order = StreamedOrder { driver: &driver, kind: KIND, common, tasks, partitions, words };
    progress(shared.progress());
    let end = run_streamed(order, &goes_on, &mut |done| -> Result<(), Error> {
        let made: MadeShard =
            serde_json::from_value(done.result).map_err(|error| unread(&error.to_string()))?;
        shared.take(made)?;
        progress(shared.progress());
        Ok(())
    })?;
    if end.stopped {
        return Ok(None);
    }
    let prepared = shared.finish()?;
    if remote {
        copy_description(&folder, &out)?;
    }
    let application = driver.application().clone();
    let cluster = ClusterReply { application, slots, partitions, tasks: end.cluster };
    Ok(Some(OnCluster { reply: reply(prepared), cluster }))
}

/// A folder of this machine for what describes a set in an object store, which must be empty.
fn fresh_work_folder(out: &Path) -> Result<PathBuf, Error> {
    if bucket_of(out)?.list(out)?.iter().any(|object| object.address.ends_with("dataset.json")) {
        return Err(Error::Exists { path: out.to_owned() });
    }
    let work = work_folder(out)?;
    match fs::remove_dir_all(&work) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::Folder { path: work, source })
        }
        _ => Ok(work),
    }
}

/// Copies what tells of a set, which makes it one.
fn copy_description(folder: &Path, out: &Path) -> Result<(), Error> {
    let bucket = bucket_of(out)?;
    let mut bytes = Vec::new();
    for file in LocalBucket.list(folder)? {
        let name = file.address.strip_prefix(folder).expect("it was listed below the folder");
        LocalBucket.read(&file.address, &mut bytes)?;
        bucket.write(&out.join(name), &bytes)?;
    }
    fs::remove_dir_all(folder).map_err(|source| Error::Folder { path: folder.to_owned(), source })
}

/// Makes shards on an executor.
pub(super) fn serve(link: &ExecutorLink, body: Value) -> Result<(), Error> {
    let Common { source, out, options, pins } =
        serde_json::from_value(body).map_err(|error| unread(&error.to_string()))?;
    let mut maker = ShardMaker::new(Source::open(&source)?, &out, &options, &pins)?;
    let task = link.task();
    let attempt = format!("{}-{}", task.task_id, std::process::id());
    let scratch = tempfile::tempdir()
        .map_err(|source| Error::Folder { path: std::env::temp_dir(), source })?;
    let bucket = is_remote(&out).then(|| bucket_of(&out)).transpose()?;
    serve_streamed(link, &mut |task| -> Result<Value, Error> {
        let shard: String =
            serde_json::from_value(task).map_err(|error| unread(&error.to_string()))?;
        let made = match &bucket {
            Some(bucket) => maker.make_into(&**bucket, &shard, scratch.path())?,
            None => maker.make(&shard, &attempt)?,
        };
        Ok(serde_json::to_value(made).expect("names and numbers become JSON"))
    })
}
