//! Pictures and tables into shards of TFRecords, in parallel and byte for byte repeatable.
//!
//! Order and content of every shard follow from source, options and seed alone: [`plan`] decides
//! which item goes where, workers make records of short runs of items, and one thread writes them
//! in order. A shard appears under its final name when it is whole and flushed; [`progress`] keeps
//! what an interrupted run needs to go on. Memory is bounded by a window of runs and a limit on
//! decoded pixels.

mod elsewhere;
mod memory;
mod name_hash;
mod plan;
mod progress;
mod result;
mod work;

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, SyncSender};
use std::thread;

use serde::{Deserialize, Serialize};

pub use elsewhere::{MadeShard, OpenedShared, ShardMaker, SharedPreparation};
pub use plan::PartShares;
pub use result::{CorruptItem, Prepared, PreparedPart, PreparedShard};

use crate::error::RecordsError;
use crate::pictures::{Framing, PixelLimit};
use crate::pipeline::ordered_work::Ordered;
use crate::shards::compression::Compression;
use crate::shards::writer::{IndexFile, ShardWriter};
use crate::sources::Source;
use memory::MemoryLimit;
use plan::{Plan, Run};
use progress::{Keeper, Opened};
use work::{Made, Worker};

/// How records are made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrepareOptions {
    /// Side of the square pictures; `None` is 192 for pictures and the size they have for IDX.
    pub size: Option<usize>,
    /// How pictures become squares.
    pub framing: Framing,
    /// What is stored of a picture.
    pub storage: Storage,
    /// Shards in each part.
    pub shards: usize,
    /// Seed of order and split.
    pub seed: u64,
    /// Shares of train, validation and test; `None` makes no parts.
    pub split: Option<PartShares>,
    /// Threads that make records.
    pub threads: usize,
    /// What to do about pictures that cannot be decoded.
    pub corrupt: OnCorrupt,
    /// Most pixels that a picture may have; one with more counts as corrupt.
    pub max_pixels: PixelLimit,
}

/// What is stored of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Storage {
    /// A JPEG file of this quality, 1 to 100.
    Jpeg(u8),
    /// The pixels as they are.
    Pixels,
}

/// What to do about pictures that cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnCorrupt {
    /// Look at all the others, then fail with a list.
    Refuse,
    /// Leave them out and list them in the result.
    Skip,
}

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PrepareProgress {
    /// Items done, those of earlier runs included.
    pub done: usize,
    /// All items.
    pub total: usize,
    /// Items that cannot be used.
    pub corrupt: usize,
}

/// Turns a source into shards in the folder `out`, or goes on where an earlier run ended.
///
/// # Errors
/// When the source cannot be read, the folder holds something else, an option is out of its
/// range, a file cannot be written, or (unless they are skipped) pictures are corrupt.
pub fn prepare(
    source: Source,
    out: &Path,
    options: &PrepareOptions,
    progress: &mut dyn FnMut(PrepareProgress),
) -> Result<Prepared, RecordsError> {
    let plan = Plan::new(&source, options)?;
    let mut keeper = match Keeper::open(out, &source, options)? {
        Opened::Finished(prepared) => return Ok(Prepared { made_before: true, ..prepared }),
        Opened::Unfinished(keeper) => keeper,
    };
    plan.create_folders(out)?;
    let runs: Vec<Run> = plan.runs(&source, options, |shard| keeper.has(shard));
    let done = plan.items() - runs.iter().map(|run| run.items.len()).sum::<usize>();
    let mut tally = Tally { progress, done, total: plan.items(), corrupt: keeper.corrupt() };
    tally.tell();
    let window = plan::window(&source, options);
    let source = Arc::new(source);
    let memory = Arc::new(MemoryLimit::new());
    let workers = (0..options.threads)
        .map(|_| Worker::new(Arc::clone(&source), Arc::clone(&memory), options))
        .collect::<Result<Vec<_>, _>>()?;
    let workers = workers.into_iter().map(|mut worker| move |run: Run| worker.make(run)).collect();
    let made = Ordered::start(workers, window, runs.into_iter());
    let refused = write_shards(made, out, options.corrupt, &mut keeper, &mut tally)?;
    if !refused.is_empty() {
        return Err(RecordsError::CorruptPictures { pictures: refused });
    }
    keeper.finish(&source, &plan)
}

/// Tells how far the work is.
struct Tally<'a> {
    progress: &'a mut dyn FnMut(PrepareProgress),
    done: usize,
    total: usize,
    corrupt: usize,
}

impl Tally<'_> {
    fn tell(&mut self) {
        let Self { done, total, corrupt, .. } = *self;
        (self.progress)(PrepareProgress { done, total, corrupt });
    }
}

/// A shard that has all its records.
struct WholeShard {
    name: String,
    writer: ShardWriter,
    corrupt: Vec<CorruptItem>,
}

/// Writes what the workers make, shard after shard; gives the pictures that were refused.
///
/// Whole shards are flushed and named on a thread of their own, because disks take their time.
fn write_shards(
    made: Ordered<Run, Result<Made, RecordsError>>,
    out: &Path,
    on_corrupt: OnCorrupt,
    keeper: &mut Keeper,
    tally: &mut Tally<'_>,
) -> Result<Vec<String>, RecordsError> {
    let (whole, to_keep) = mpsc::sync_channel::<WholeShard>(2);
    thread::scope(|scope| {
        let kept = scope.spawn(move || {
            to_keep
                .iter()
                .try_for_each(|shard| keeper.keep(&shard.name, shard.corrupt, shard.writer))
        });
        let refused = write_runs(made, out, on_corrupt, &whole, tally);
        drop(whole);
        kept.join().expect("keeping a shard does not panic")?;
        refused
    })
}

/// Ends early when nobody keeps shards any more; the keeper's error tells why.
fn write_runs(
    made: Ordered<Run, Result<Made, RecordsError>>,
    out: &Path,
    on_corrupt: OnCorrupt,
    whole: &SyncSender<WholeShard>,
    tally: &mut Tally<'_>,
) -> Result<Vec<String>, RecordsError> {
    let mut refused = Vec::new();
    let mut open: Option<WholeShard> = None;
    for made in made {
        let made = made?;
        let shard = match &mut open {
            Some(open) => open,
            None => {
                let path = out.join(&made.shard);
                let writer = ShardWriter::create(&path, Compression::None, IndexFile::Beside)?;
                open.insert(WholeShard { name: made.shard.clone(), writer, corrupt: Vec::new() })
            }
        };
        for record in made.records() {
            shard.writer.write(record)?;
        }
        tally.done += made.items;
        tally.corrupt += made.corrupt.len();
        shard.corrupt.extend(made.corrupt);
        if made.last {
            let shard = open.take().expect("it was opened above");
            if on_corrupt == OnCorrupt::Refuse && !shard.corrupt.is_empty() {
                refused.extend(shard.corrupt.iter().map(ToString::to_string));
            } else if whole.send(shard).is_err() {
                break;
            }
        }
        tally.tell();
    }
    Ok(refused)
}

#[cfg(test)]
mod tests;
