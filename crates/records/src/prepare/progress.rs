//! What an interrupted run leaves for the next: pinned options, and a line for each whole shard.
//!
//! `.prepare.json` pins options and source before the first shard. `.prepare.journal` gets a
//! flushed line before a shard takes its final name, so a shard that is visible is always known.
//! Both go when `dataset.json`, which holds the same for good, is in place.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::elsewhere::MadeShard;
use super::plan::Plan;
use super::result::{CorruptItem, Prepared, PreparedPart, PreparedShard};
use super::{PrepareOptions, Storage};
use crate::error::RecordsError;
use crate::files::durable::{flush_folder, write_durably};
use crate::pictures::{Framing, PixelLimit};
use crate::shards::index::index_path;
use crate::shards::writer::{ShardContent, ShardWriter};
use crate::sources::Source;

const PINS: &str = ".prepare.json";
const JOURNAL: &str = ".prepare.journal";
/// What the shards hold, for whoever reads them.
const DATASET: &str = "dataset.json";
const CLASSES: &str = "classes.txt";

/// What a folder turned out to hold.
pub(super) enum Opened {
    /// All is done, by an earlier run with the same options.
    Finished(Prepared),
    /// Nothing yet, or a part.
    Unfinished(Keeper),
}

/// Keeps the progress of a run.
pub(super) struct Keeper {
    out: PathBuf,
    pins: Map<String, Value>,
    journal: File,
    finished: BTreeMap<String, ShardEntry>,
    remade: Vec<String>,
}

/// A line of the journal.
#[derive(Debug, Serialize, Deserialize)]
struct ShardEntry {
    file: String,
    records: u64,
    bytes: u64,
    /// Journals of earlier versions have none.
    content: Option<ShardContent>,
    corrupt: Vec<CorruptItem>,
}

#[derive(Serialize, Deserialize)]
struct Dataset {
    schema: String,
    pins: Map<String, Value>,
    #[serde(flatten)]
    prepared: Prepared,
}

impl Keeper {
    /// Takes a folder that is new, empty, or was begun from the same source with the same options.
    pub(super) fn open(
        out: &Path,
        source: &Source,
        options: &PrepareOptions,
    ) -> Result<Opened, RecordsError> {
        let in_out = |error: std::io::Error| RecordsError::from(error).in_file(out);
        fs::create_dir_all(out).map_err(in_out)?;
        let pins = pins(source, options);
        if let Some(dataset) = read_json::<Dataset>(&out.join(DATASET))? {
            compare(out, &dataset.pins, &pins)?;
            check_sizes(out, &dataset.prepared)?;
            clean_up(out)?;
            return Ok(Opened::Finished(dataset.prepared));
        }
        match read_json::<Map<String, Value>>(&out.join(PINS))? {
            Some(earlier) => compare(out, &earlier, &pins)?,
            None => {
                refuse_strangers(out)?;
                let text = serde_json::to_vec_pretty(&pins).expect("a map of text is JSON");
                write_durably(&out.join(PINS), &text)?;
            }
        }
        let mut journal = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(out.join(JOURNAL))
            .map_err(in_out)?;
        if journal.try_lock().is_err() {
            return Err(RecordsError::FolderInUse { folder: out.to_owned() });
        }
        let noted = read_journal(&mut journal).map_err(in_out)?;
        let (finished, remade) = still_sound(noted, out)?;
        Ok(Opened::Unfinished(Self { out: out.to_owned(), pins, journal, finished, remade }))
    }

    /// Whether a shard is whole already.
    pub(super) fn has(&self, shard: &str) -> bool {
        self.finished.contains_key(shard)
    }

    /// Items that whole shards had to leave out.
    pub(super) fn corrupt(&self) -> usize {
        self.finished.values().map(|entry| entry.corrupt.len()).sum()
    }

    /// Notes a shard durably, then lets it appear.
    pub(super) fn keep(
        &mut self,
        shard: &str,
        corrupt: Vec<CorruptItem>,
        writer: ShardWriter,
    ) -> Result<(), RecordsError> {
        let sealed = writer.seal()?;
        let (size, content) = (sealed.size(), Some(sealed.content()));
        let (file, records, bytes) = (shard.to_owned(), size.records, size.bytes);
        let entry = ShardEntry { file, records, bytes, content, corrupt };
        self.note(&entry)?;
        sealed.publish()?;
        self.finished.insert(shard.to_owned(), entry);
        Ok(())
    }

    /// Notes a shard that another process made under a private name, then lets it appear.
    pub(super) fn keep_made(&mut self, made: MadeShard) -> Result<(), RecordsError> {
        let MadeShard { shard, private, records, bytes, content, corrupt, .. } = made;
        let entry =
            ShardEntry { file: shard.clone(), records, bytes, content: Some(content), corrupt };
        self.note(&entry)?;
        if let Some(private) = private {
            let [from, to] = [private, shard.clone()].map(|name| self.out.join(name));
            for (from, to) in [(index_path(&from), index_path(&to)), (from, to)] {
                fs::rename(&from, to).map_err(|e| RecordsError::from(e).in_file(from))?;
            }
        }
        self.finished.insert(shard, entry);
        Ok(())
    }

    /// Writes a line of the journal durably.
    fn note(&mut self, entry: &ShardEntry) -> Result<(), RecordsError> {
        let mut line = serde_json::to_vec(entry).expect("an entry is JSON");
        line.push(b'\n');
        let in_journal = |e: std::io::Error| RecordsError::from(e).in_file(self.out.join(JOURNAL));
        self.journal.write_all(&line).map_err(in_journal)?;
        self.journal.sync_data().map_err(in_journal)
    }

    /// What decides the bytes of the shards.
    pub(super) fn pins(&self) -> &Map<String, Value> {
        &self.pins
    }

    /// Writes what describes the whole set and removes what only served the work.
    pub(super) fn finish(self, source: &Source, plan: &Plan) -> Result<Prepared, RecordsError> {
        let mut prepared = Prepared {
            records: 0,
            bytes: 0,
            classes: source.classes(),
            parts: Vec::new(),
            corrupt: Vec::new(),
            passed_over: source.passed_over().to_vec(),
            remade: self.remade,
            made_before: false,
        };
        for (name, _) in &plan.parts {
            let folder = self.out.join(name);
            flush_folder(&folder).map_err(|error| RecordsError::from(error).in_file(folder))?;
            let mut shards = Vec::new();
            for number in 0..plan.shards {
                let entry = &self.finished[&plan.shard(name, number)];
                let (file, records, bytes) = (entry.file.clone(), entry.records, entry.bytes);
                prepared.records += records;
                prepared.bytes += bytes;
                prepared.corrupt.extend(entry.corrupt.iter().cloned());
                shards.push(PreparedShard { file, records, bytes });
            }
            prepared.parts.push(PreparedPart { name: (*name).to_owned(), shards });
        }
        prepared.corrupt.sort_by(|a, b| a.name.cmp(&b.name));
        if !prepared.classes.is_empty() {
            let lines: String = prepared.classes.iter().map(|class| format!("{class}\n")).collect();
            write_durably(&self.out.join(CLASSES), lines.as_bytes())?;
        }
        let schema = "trainwright/dataset/1".to_owned();
        let dataset = Dataset { schema, pins: self.pins, prepared };
        let text = serde_json::to_vec_pretty(&dataset).expect("a description is JSON");
        write_durably(&self.out.join(DATASET), &text)?;
        clean_up(&self.out)?;
        Ok(dataset.prepared)
    }
}

/// Everything that decides the bytes of the shards.
pub(super) fn pins(source: &Source, options: &PrepareOptions) -> Map<String, Value> {
    let pictures = matches!(source, Source::Pictures(_));
    let storage = match options.storage {
        Storage::Jpeg(quality) if pictures => json!(quality),
        _ => Value::Null,
    };
    let framing = match options.framing {
        Framing::Crop => "crop",
        Framing::Fit => "fit",
    };
    // Sets that were begun before there was this option have none.
    let limit = options.max_pixels;
    let codec = if cfg!(feature = "turbojpeg") { "libjpeg-turbo" } else { "pure" };
    let value = json!({
        "source": source.kind(),
        "items": source.items(),
        "fingerprint of the files": source.fingerprint(),
        "--size": options.size,
        "framing": framing,
        "--quality": storage,
        "--shards": options.shards,
        "--seed": options.seed,
        "--split": options.split.map(|shares| shares.shares()),
        "--max-pixels": (pictures && limit != PixelLimit::default()).then(|| limit.pixels()),
        "codec": if pictures { json!(codec) } else { Value::Null },
    });
    match value {
        Value::Object(pins) => pins,
        _ => unreachable!("the literal above is an object"),
    }
}

fn compare(
    out: &Path,
    before: &Map<String, Value>,
    now: &Map<String, Value>,
) -> Result<(), RecordsError> {
    let differences = differences(before, now);
    if differences.is_empty() {
        return Ok(());
    }
    Err(RecordsError::PreparedOtherwise { folder: out.to_owned(), differences })
}

/// What differs, in words.
pub(super) fn differences(before: &Map<String, Value>, now: &Map<String, Value>) -> Vec<String> {
    let missing = Value::Null;
    now.iter()
        .map(|(key, value)| (key, before.get(key).unwrap_or(&missing), value))
        .filter(|(_, before, now)| before != now)
        .map(|(key, before, now)| format!("{key}: was {before}, is {now}"))
        .collect()
}

/// Whether the shards of a finished set are as long as they were; `data verify` reads them.
fn check_sizes(out: &Path, prepared: &Prepared) -> Result<(), RecordsError> {
    for shard in prepared.parts.iter().flat_map(|part| &part.shards) {
        let found = fs::metadata(out.join(&shard.file)).ok().map(|file| file.len());
        if found != Some(shard.bytes) {
            let (folder, file) = (out.to_owned(), shard.file.clone());
            let expected = shard.bytes;
            return Err(RecordsError::FinishedChanged { folder, file, expected, found });
        }
    }
    Ok(())
}

fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Option<T>, RecordsError> {
    let text = match fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(|error| RecordsError::from(error).in_file(path))?,
    };
    let bad = |error: serde_json::Error| RecordsError::from(std::io::Error::from(error));
    serde_json::from_slice(&text).map(Some).map_err(|error| bad(error).in_file(path))
}

/// Shards of somebody else would be taken for ours.
fn refuse_strangers(out: &Path) -> Result<(), RecordsError> {
    let in_out = |error: std::io::Error| RecordsError::from(error).in_file(out);
    for entry in fs::read_dir(out).map_err(in_out)? {
        let file = entry.map_err(in_out)?.file_name().to_string_lossy().into_owned();
        let ours = file.starts_with(".prepare") || file.starts_with("..prepare");
        if !ours {
            return Err(RecordsError::FolderNotEmpty { folder: out.to_owned(), file });
        }
    }
    Ok(())
}

/// Whole lines, the last of each shard; a last line without end was never finished.
fn read_journal(journal: &mut File) -> std::io::Result<BTreeMap<String, ShardEntry>> {
    let mut text = Vec::new();
    journal.read_to_end(&mut text)?;
    let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    journal.set_len(whole as u64)?;
    journal.seek(SeekFrom::End(0))?;
    let mut finished = BTreeMap::new();
    for line in text[..whole].split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let entry: ShardEntry = serde_json::from_slice(line)?;
        finished.insert(entry.file.clone(), entry);
    }
    Ok(finished)
}

/// The shards that are still what the journal says, and the names of those that are there and are
/// not: they are made again.
fn still_sound(
    noted: BTreeMap<String, ShardEntry>,
    out: &Path,
) -> Result<(BTreeMap<String, ShardEntry>, Vec<String>), RecordsError> {
    let (mut sound, mut damaged) = (BTreeMap::new(), Vec::new());
    for (name, entry) in noted {
        let path = out.join(&name);
        // A shard that was noted and did not take its name before the end is simply not there.
        if !path.is_file() {
            continue;
        }
        let content = ShardContent::on_disk(&path);
        let content = content.map_err(|error| RecordsError::from(error).in_file(path))?;
        if entry.content == Some(content) {
            sound.insert(name, entry);
        } else {
            tracing::warn!(shard = name, "changed since it was written; it is made again");
            damaged.push(name);
        }
    }
    Ok((sound, damaged))
}

fn clean_up(out: &Path) -> Result<(), RecordsError> {
    for name in [JOURNAL, PINS] {
        let path = out.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            other => other.map_err(|error| RecordsError::from(error).in_file(path))?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
