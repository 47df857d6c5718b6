//! Speed tests that were kept: files that `data speedtest --json` wrote.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use trainwright_analysis::examine_speeds;

use super::stores::or_here;
use crate::json::schema;
use crate::{Error, SpeedConditions, SpeedRow, Speedtest};

/// Files of a folder that are looked at.
const MOST_FILES: usize = 200;

/// Bytes of a file that is read.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// The noun of the verb's JSON, which names its schema.
pub const SPEEDTEST_NOUN: &str = "data-speedtest";

/// What is read back; the rest follows from it.
#[derive(Deserialize)]
struct KeptTest {
    schema: String,
    conditions: SpeedConditions,
    rows: Vec<SpeedRow>,
}

/// The speed tests among the JSON files of some folders, by path.
pub fn find_speedtests(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = folders
        .iter()
        .filter_map(|folder| fs::read_dir(or_here(folder)).ok())
        .flat_map(|entries| entries.flatten().take(MOST_FILES))
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|own| own == "json") && is_speedtest(path))
        .collect();
    found.sort();
    found.dedup();
    found
}

/// Whether a file begins as such a test does.
fn is_speedtest(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(100).read_to_end(&mut start));
    read.is_ok() && String::from_utf8_lossy(&start).contains(&schema(SPEEDTEST_NOUN))
}

/// Reads a speed test back and says again what it means.
///
/// # Errors
/// The file does not read, or is no speed test.
pub fn read_speedtest(path: &Path) -> Result<Speedtest, Error> {
    let failed = |source| Error::Input { path: path.to_owned(), source };
    let mut text = String::new();
    File::open(path).map_err(failed)?.take(MOST_BYTES).read_to_string(&mut text).map_err(failed)?;
    let wrong = |words: String| Error::Request(format!("{}: {words}", path.display()));
    let kept: KeptTest = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let expected = schema(SPEEDTEST_NOUN);
    if kept.schema != expected {
        return Err(wrong(format!("its schema is `{}`, not `{expected}`", kept.schema)));
    }
    Ok(examine_speeds(kept.conditions, kept.rows)?)
}
