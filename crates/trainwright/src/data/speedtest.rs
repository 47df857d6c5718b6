//! The verb `data speedtest`: what feeds training fastest, picture files or records, and what the
//! batch size, the number of batches and the threads have to do with it.
//!
//! `runs.rs` plans and makes the readings, `page.rs` shows what they mean as HTML.

mod page;
pub(crate) mod runs;

use std::num::NonZeroUsize;
use std::path::Path;

use trainwright_analysis::examine_speeds;
pub use trainwright_analysis::{
    CacheState, PictureSource, Ratio, SpeedCoefficient, SpeedConditions, SpeedFit, SpeedLackOfFit,
    SpeedMean, SpeedModel, SpeedRow, Speedtest,
};
use trainwright_records::pictures::PixelLimit;
use trainwright_records::{Limits, ReadSource};

use crate::Error;
pub use page::{speedtest_page, speedtest_sections};
pub use runs::speedtest_csv;

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
    Ok(examine_speeds(conditions, rows)?)
}

#[cfg(test)]
mod tests;
