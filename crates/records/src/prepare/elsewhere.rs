//! Shards that are made by other processes, perhaps on other machines, and taken in by one.
//!
//! A maker writes a shard under a private name that no other attempt has, and tells what it holds.
//! The one that takes shards in notes the first of each durably and only then gives it its final
//! name: a second attempt at the same shard leaves nothing behind, and no half of one is ever seen.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::memory::MemoryLimit;
use super::plan::Plan;
use super::progress::{Keeper, Opened, differences, pins};
use super::result::{CorruptItem, Prepared};
use super::work::Worker;
use super::{OnCorrupt, PrepareOptions, PrepareProgress};
use crate::error::RecordsError;
use crate::files::bucket::{Bucket, LocalBucket};
use crate::shards::compression::Compression;
use crate::shards::index::index_path;
use crate::shards::writer::{IndexFile, ShardContent, ShardWriter};
use crate::sources::Source;

/// How private names begin; folders that hold them count as ours.
const PRIVATE: &str = ".prepare-made-";

/// A shard that another process has made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MadeShard {
    /// Its name below the folder.
    pub shard: String,
    /// The name it has now, below the same folder; none where it is in an object store already.
    pub(super) private: Option<String>,
    pub(super) records: u64,
    pub(super) bytes: u64,
    pub(super) content: ShardContent,
    pub(super) corrupt: Vec<CorruptItem>,
    items: usize,
}

/// A set whose shards come from elsewhere.
pub struct SharedPreparation {
    source: Source,
    plan: Plan,
    keeper: Keeper,
    out: PathBuf,
    on_corrupt: OnCorrupt,
    refused: Vec<String>,
    at: PrepareProgress,
}

/// What a folder turned out to hold.
pub enum OpenedShared {
    /// All is done, by an earlier run with the same options.
    Finished(Prepared),
    /// Nothing yet, or a part.
    Unfinished(Box<SharedPreparation>),
}

impl SharedPreparation {
    /// Takes a folder that is new, empty, or was begun from the same source with the same options.
    ///
    /// # Errors
    /// As for [`super::prepare`].
    pub fn open(
        source: Source,
        out: &Path,
        options: &PrepareOptions,
    ) -> Result<OpenedShared, RecordsError> {
        let plan = Plan::new(&source, options)?;
        let keeper = match Keeper::open(out, &source, options)? {
            Opened::Finished(prepared) => {
                return Ok(OpenedShared::Finished(Prepared { made_before: true, ..prepared }));
            }
            Opened::Unfinished(keeper) => keeper,
        };
        plan.create_folders(out)?;
        remove_private(&plan, out)?;
        let left: usize = plan
            .runs(&source, options, |shard| keeper.has(shard))
            .iter()
            .map(|run| run.items.len())
            .sum();
        let total = plan.items();
        let at = PrepareProgress { done: total - left, total, corrupt: keeper.corrupt() };
        let (out, on_corrupt, refused) = (out.to_owned(), options.corrupt, Vec::new());
        let own = Self { source, plan, keeper, out, on_corrupt, refused, at };
        Ok(OpenedShared::Unfinished(Box::new(own)))
    }

    /// Names of the shards that are still to be made.
    pub fn left(&self) -> Vec<String> {
        let shards = self.plan.shard_names();
        shards.into_iter().filter(|shard| !self.keeper.has(shard)).collect()
    }

    /// How far it is.
    pub fn progress(&self) -> PrepareProgress {
        self.at
    }

    /// Takes in a shard; one that is there already is thrown away.
    ///
    /// # Errors
    /// When it cannot be noted or named.
    pub fn take(&mut self, made: MadeShard) -> Result<(), RecordsError> {
        if self.keeper.has(&made.shard) {
            return discard(&self.out, &made);
        }
        self.at.done += made.items;
        self.at.corrupt += made.corrupt.len();
        if self.on_corrupt == OnCorrupt::Refuse && !made.corrupt.is_empty() {
            self.refused.extend(made.corrupt.iter().map(ToString::to_string));
            return discard(&self.out, &made);
        }
        self.keeper.keep_made(made)
    }

    /// Describes the whole set, or lists the pictures that were refused.
    ///
    /// # Errors
    /// When pictures were refused, or something cannot be written.
    pub fn finish(self) -> Result<Prepared, RecordsError> {
        remove_private(&self.plan, &self.out)?;
        if !self.refused.is_empty() {
            let mut pictures = self.refused;
            pictures.sort();
            return Err(RecordsError::CorruptPictures { pictures });
        }
        self.keeper.finish(&self.source, &self.plan)
    }

    /// What decides the bytes of the shards, for makers to compare.
    pub fn pins(&self) -> Map<String, Value> {
        self.keeper.pins().clone()
    }
}

/// Makes shards for another process.
pub struct ShardMaker {
    source: Arc<Source>,
    plan: Plan,
    worker: Worker,
    options: PrepareOptions,
    out: PathBuf,
}

impl ShardMaker {
    /// A maker that sees the same source as the one that takes shards in.
    ///
    /// # Errors
    /// When the source cannot be used, or is another one than `pinned` says.
    pub fn new(
        source: Source,
        out: &Path,
        options: &PrepareOptions,
        pinned: &Map<String, Value>,
    ) -> Result<Self, RecordsError> {
        let found = differences(pinned, &pins(&source, options));
        if !found.is_empty() {
            return Err(RecordsError::SeenOtherwise { differences: found });
        }
        let plan = Plan::new(&source, options)?;
        let source = Arc::new(source);
        let worker = Worker::new(Arc::clone(&source), Arc::new(MemoryLimit::new()), options)?;
        Ok(Self { source, plan, worker, options: options.clone(), out: out.to_owned() })
    }

    /// Makes a shard under a private name, which `attempt` makes unlike any other.
    ///
    /// # Errors
    /// When an item cannot be read, or the shard not be written.
    pub fn make(&mut self, shard: &str, attempt: &str) -> Result<MadeShard, RecordsError> {
        let private = private_name(shard, attempt);
        let mut made = self.write(shard, &self.out.join(&private))?;
        made.private = Some(private);
        Ok(made)
    }

    /// Makes a shard in a folder of this machine and puts it, whole, into an object store. The
    /// bytes are the same whoever makes it, so that it does not matter who comes last.
    ///
    /// # Errors
    /// As for [`ShardMaker::make`]; and when the store cannot be written.
    pub fn make_into(
        &mut self,
        bucket: &dyn Bucket,
        shard: &str,
        scratch: &Path,
    ) -> Result<MadeShard, RecordsError> {
        let path = scratch.join("shard.tfrecord");
        let made = self.write(shard, &path)?;
        let keep = made.corrupt.is_empty() || self.options.corrupt == OnCorrupt::Skip;
        let mut bytes = Vec::new();
        // The index first: a shard that is seen has its index.
        let address = self.out.join(shard);
        for (from, to) in [(index_path(&path), index_path(&address)), (path, address)] {
            if keep {
                LocalBucket.read(&from, &mut bytes)?;
                bucket.write(&to, &bytes)?;
            }
            remove(&from)?;
        }
        Ok(made)
    }

    fn write(&mut self, shard: &str, path: &Path) -> Result<MadeShard, RecordsError> {
        let mut writer = ShardWriter::create(path, Compression::None, IndexFile::Beside)?;
        let runs = self.plan.runs(&self.source, &self.options, |name| name != shard);
        let (mut corrupt, mut items) = (Vec::new(), 0);
        for run in runs {
            let made = self.worker.make(run)?;
            for record in made.records() {
                writer.write(record)?;
            }
            items += made.items;
            corrupt.extend(made.corrupt);
        }
        let sealed = writer.seal()?;
        let (size, content) = (sealed.size(), sealed.content());
        sealed.publish()?;
        let (shard, records, bytes) = (shard.to_owned(), size.records, size.bytes);
        Ok(MadeShard { shard, private: None, records, bytes, content, corrupt, items })
    }
}

/// A name beside the shard that no other attempt has.
fn private_name(shard: &str, attempt: &str) -> String {
    let (folder, file) =
        shard.rsplit_once('/').map_or(("", shard), |(folder, file)| (folder, file));
    let slash = if folder.is_empty() { "" } else { "/" };
    format!("{folder}{slash}{PRIVATE}{attempt}-{file}")
}

fn discard(out: &Path, made: &MadeShard) -> Result<(), RecordsError> {
    let Some(private) = &made.private else { return Ok(()) };
    let path = out.join(private);
    remove(&index_path(&path))?;
    remove(&path)
}

fn remove(path: &Path) -> Result<(), RecordsError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(RecordsError::from(error).in_file(path))
        }
        _ => Ok(()),
    }
}

/// Removes what attempts left that came to no end.
fn remove_private(plan: &Plan, out: &Path) -> Result<(), RecordsError> {
    let folders: BTreeSet<PathBuf> = plan.parts.iter().map(|(part, _)| out.join(part)).collect();
    for folder in folders {
        let in_folder = |error: std::io::Error| RecordsError::from(error).in_file(&folder);
        for entry in fs::read_dir(&folder).map_err(in_folder)? {
            let entry = entry.map_err(in_folder)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            // Files that are still being written have another dot before their name.
            if name.trim_start_matches('.').starts_with(PRIVATE.trim_start_matches('.')) {
                remove(&entry.path())?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
