//! The verb `data speedtest`: what feeds training fastest, picture files or records, and what the
//! batch size, the number of batches and the threads have to do with it.
//!
//! `runs.rs` plans and makes the readings, `fits.rs` fits the regressions, `comparison.rs` compares
//! means, `words.rs` says what they mean, `page.rs` shows it as HTML.

mod comparison;
mod fits;
mod page;
mod runs;
mod words;

use std::num::NonZeroUsize;
use std::path::Path;

use serde::Serialize;
use trainwright_analysis::AnalysisError;
use trainwright_records::pictures::PixelLimit;
use trainwright_records::{Limits, ReadSource};
use trainwright_stats::StatsError;

use crate::Error;
pub use comparison::{Ratio, SpeedMean};
pub use fits::{SpeedCoefficient, SpeedFit, SpeedLackOfFit, SpeedModel};
pub use page::speedtest_page;
pub use runs::{SpeedRow, speedtest_csv};

/// What is read, and how often.
#[derive(Debug, Clone)]
pub struct SpeedtestRequest<'a> {
    /// Folder of pictures, at any depth.
    pub pictures: &'a Path,
    /// Folder of shards; without one the pictures are prepared in a temporary folder.
    pub records: Option<&'a Path>,
    /// What to read them from.
    pub sources: Vec<ReadSource>,
    /// Side in pixels to which pictures are brought.
    pub size: NonZeroUsize,
    /// Pictures a batch.
    pub batch_sizes: Vec<NonZeroUsize>,
    /// Batches.
    pub batch_numbers: Vec<NonZeroUsize>,
    /// Threads.
    pub threads: Vec<NonZeroUsize>,
    /// How often each combination is read.
    pub repetitions: NonZeroUsize,
    /// What the cache holds before each reading.
    pub cache: CacheState,
    /// Latency and bandwidth to put in front of the disk or bucket.
    pub limits: Limits,
    /// Decides the order of readings and pictures.
    pub seed: u64,
    /// Most pixels that a picture may have.
    pub max_pixels: PixelLimit,
}

/// What the system's cache holds when a reading starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheState {
    /// Everything was read once before.
    Warm,
    /// The files were dropped from the cache of this system.
    Cold,
}

/// What a speed test found; field names are the contract of `data speedtest --json`.
#[derive(Debug, Clone, Serialize)]
pub struct Speedtest {
    /// Cache, limits and pictures.
    pub conditions: SpeedConditions,
    /// Every reading, in the order in which they were made.
    pub rows: Vec<SpeedRow>,
    /// Mean speed of each combination.
    pub means: Vec<SpeedMean>,
    /// Regressions of the speed.
    pub fits: Vec<SpeedFit>,
    /// How many times as fast records are; absent where only one could be compared.
    pub ratio: Option<Ratio>,
    /// What it means, sentence by sentence.
    pub verdict: Vec<String>,
}

/// Under what conditions was read.
#[derive(Debug, Clone, Serialize)]
pub struct SpeedConditions {
    /// State of the cache.
    pub cache: CacheState,
    /// Wait before the first byte of every file or shard.
    pub latency_s: f64,
    /// Bytes a second over all requests; absent without a limit.
    pub bandwidth_bytes_per_s: Option<u64>,
    /// Side in pixels to which pictures were brought.
    pub size: usize,
    /// Picture files that there were to read.
    pub files: usize,
    /// Shards that there were to read.
    pub shards: usize,
    /// Seed of the order.
    pub seed: u64,
}

/// Where a speed test is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpeedtestProgress {
    /// Shards are being prepared of so many pictures.
    Preparing(usize),
    /// Everything is being read once.
    Warming,
    /// So many of all readings are done.
    Reading(usize, usize),
}

/// Reads pictures from files and from records, and says which is faster and what matters.
///
/// # Errors
/// Folders without pictures or shards, a picture or record that cannot be read, or no room for
/// temporary shards.
pub fn speedtest(
    request: &SpeedtestRequest<'_>,
    progress: &mut dyn FnMut(SpeedtestProgress),
) -> Result<Speedtest, Error> {
    let (conditions, rows) = runs::read_all(request, progress)?;
    examine(conditions, rows)
}

/// What readings mean.
fn examine(conditions: SpeedConditions, rows: Vec<SpeedRow>) -> Result<Speedtest, Error> {
    let means = comparison::means(&rows)?;
    let fits = fits::fit_all(&rows)?;
    let ratio = comparison::ratio(&rows)?;
    let mut test = Speedtest { conditions, rows, means, fits, ratio, verdict: Vec::new() };
    test.verdict = words::verdict(&test);
    Ok(test)
}

/// A statistic of the speed that cannot be computed.
fn undefined(source: StatsError) -> Error {
    AnalysisError::Stats { response: "images_per_s".to_owned(), source }.into()
}

#[cfg(test)]
mod tests;
