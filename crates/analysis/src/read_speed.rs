//! Readings of pictures from files and from records: which is faster, and what batch size, number
//! of batches and threads have to do with it.
//!
//! `fits.rs` fits the regressions, `comparison.rs` compares means, `words.rs` says what they mean.

mod comparison;
mod fits;
mod words;

use serde::{Deserialize, Serialize};
use trainwright_stats::StatsError;

use crate::error::AnalysisError;
pub use comparison::{Ratio, SpeedMean};
pub use fits::{SpeedCoefficient, SpeedFit, SpeedLackOfFit, SpeedModel};

/// What pictures were read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PictureSource {
    /// One file a picture.
    Files,
    /// Shards of pictures that were prepared.
    Records,
}

impl PictureSource {
    /// Both, in the order of tables.
    pub const ALL: [Self; 2] = [Self::Files, Self::Records];

    /// Its name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Records => "records",
        }
    }
}

/// One reading.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpeedRow {
    /// Its number in the order of time, from 1.
    pub run: usize,
    /// Files or records.
    pub source: PictureSource,
    /// Pictures a batch.
    pub batch_size: usize,
    /// Batches.
    pub batch_number: usize,
    /// Threads.
    pub threads: usize,
    /// Number of the repetition, from 1.
    pub repetition: usize,
    /// Pictures read: the data size.
    pub images: u64,
    /// Bytes of their files or records.
    pub bytes: u64,
    /// Wall time.
    pub seconds: f64,
    /// Pictures a second.
    pub images_per_s: f64,
    /// Million bytes a second.
    pub megabytes_per_s: f64,
}

/// What the system's cache holds when a reading starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Serialize, Deserialize)]
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

/// Says what readings mean.
///
/// # Errors
/// Speeds that cannot be compared or fitted.
pub fn examine_speeds(
    conditions: SpeedConditions,
    rows: Vec<SpeedRow>,
) -> Result<Speedtest, AnalysisError> {
    let means = comparison::means(&rows)?;
    let fits = fits::fit_all(&rows)?;
    let ratio = comparison::ratio(&rows);
    let mut test = Speedtest { conditions, rows, means, fits, ratio, verdict: Vec::new() };
    test.verdict = words::verdict(&test);
    Ok(test)
}

/// A statistic of the speed that cannot be computed.
fn undefined(source: StatsError) -> AnalysisError {
    AnalysisError::Stats { response: "images_per_s".to_owned(), source }
}

#[cfg(test)]
mod tests;
