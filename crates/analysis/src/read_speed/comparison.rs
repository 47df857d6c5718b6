//! Mean speeds, and how many times as fast records are as files.

use std::collections::BTreeMap;

use serde::Serialize;
use trainwright_stats::{StudentT, paired_t};

use super::{PictureSource, SpeedRow, undefined};
use crate::error::AnalysisError;

/// Mean speed of one combination.
#[derive(Debug, Clone, Serialize)]
pub struct SpeedMean {
    /// Files or records.
    pub source: PictureSource,
    /// Pictures a batch.
    pub batch_size: usize,
    /// Batches.
    pub batch_number: usize,
    /// Threads.
    pub threads: usize,
    /// Readings.
    pub n: usize,
    /// Geometric mean of the pictures a second.
    pub images_per_s: f64,
    /// Lower end of its 95 % interval; absent with one reading.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// Geometric mean of the million bytes a second.
    pub megabytes_per_s: f64,
}

/// Speed of records over speed of files, as a geometric mean over pairs of readings.
#[derive(Debug, Clone, Serialize)]
pub struct Ratio {
    /// Records over files.
    pub estimate: f64,
    /// Lower end of the 95 % interval; absent where it is undefined.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// Pairs: the same combination in the same repetition.
    pub pairs: usize,
}

/// Means by source and combination, in that order. A speed scatters by factors and is never below
/// 0, so means and intervals are those of logarithms.
pub(super) fn means(rows: &[SpeedRow]) -> Result<Vec<SpeedMean>, AnalysisError> {
    let mut cells: BTreeMap<_, Vec<&SpeedRow>> = BTreeMap::new();
    for row in rows {
        let key = (row.source, row.batch_size, row.batch_number, row.threads);
        cells.entry(key).or_default().push(row);
    }
    let mut means = Vec::with_capacity(cells.len());
    for ((source, batch_size, batch_number, threads), rows) in cells {
        let n = rows.len();
        let logs: Vec<f64> = rows.iter().map(|row| row.images_per_s.ln()).collect();
        let mean = logs.iter().sum::<f64>() / n as f64;
        let half = if n > 1 {
            let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
            let df = (n - 1) as f64;
            let t = StudentT::new(df).and_then(|t| t.quantile(0.975));
            Some(t.map_err(undefined)? * (squares / df / n as f64).sqrt())
        } else {
            None
        };
        let megabytes = rows.iter().map(|row| row.megabytes_per_s.ln()).sum::<f64>() / n as f64;
        means.push(SpeedMean {
            source,
            batch_size,
            batch_number,
            threads,
            n,
            images_per_s: mean.exp(),
            ci_low: half.map(|half| (mean - half).exp()),
            ci_high: half.map(|half| (mean + half).exp()),
            megabytes_per_s: megabytes.exp(),
        });
    }
    Ok(means)
}

/// Pairs readings of the same combination and repetition. Speeds differ by factors, so the mean is
/// taken of logarithms.
pub(super) fn ratio(rows: &[SpeedRow]) -> Option<Ratio> {
    let of = |source: PictureSource| -> BTreeMap<_, f64> {
        let own = rows.iter().filter(|row| row.source == source);
        own.map(|row| {
            let key = (row.batch_size, row.batch_number, row.threads, row.repetition);
            (key, row.images_per_s.ln())
        })
        .collect()
    };
    let (files, records) = (of(PictureSource::Files), of(PictureSource::Records));
    let pairs: Vec<(f64, f64)> =
        records.iter().filter_map(|(key, speed)| Some((*speed, *files.get(key)?))).collect();
    if pairs.is_empty() {
        return None;
    }
    let n = pairs.len() as f64;
    let mean = pairs.iter().map(|(records, files)| records - files).sum::<f64>() / n;
    let (records, files): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    // One pair, or pairs that all agree, have no interval.
    let interval = paired_t(&records, &files).ok().map(|test| test.interval);
    Some(Ratio {
        estimate: mean.exp(),
        ci_low: interval.map(|[low, _]| low.exp()),
        ci_high: interval.map(|[_, high]| high.exp()),
        pairs: pairs.len(),
    })
}
