//! Measured times by number of workers and size.

use trainwright_stats::{ratio_of_means, sample};

use super::{ScalingOptions, ScalingRow};
use crate::csv_table::Table;
use crate::csv_table::columns::numbers;
use crate::error::AnalysisError;

/// One measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) workers: f64,
    /// 1 where no size was measured.
    pub(super) size: f64,
    pub(super) time: f64,
}

/// Reads all rows; each needs its cells, positive.
pub(super) fn read(table: &Table, options: &ScalingOptions) -> Result<Vec<Point>, AnalysisError> {
    let size = match &options.size {
        Some(name) => Some(column(table, name)?),
        None => None,
    };
    let (workers, times) = (column(table, &options.workers)?, column(table, &options.column)?);
    let points: Vec<Point> = workers
        .into_iter()
        .zip(times)
        .enumerate()
        .map(|(row, (workers, time))| Point {
            workers,
            size: size.as_ref().map_or(1.0, |s| s[row]),
            time,
        })
        .collect();
    if points.iter().all(|p| p.workers == points[0].workers) {
        let (by, level) = (options.workers.clone(), points[0].workers.to_string());
        return Err(AnalysisError::OneLevel { by, level });
    }
    Ok(points)
}

fn column(table: &Table, name: &str) -> Result<Vec<f64>, AnalysisError> {
    let cell = |(row, cell): (usize, &Option<f64>)| {
        let (line, column) = (table.line(row), name.to_owned());
        match *cell {
            Some(value) if value > 0.0 => Ok(value),
            Some(value) => Err(AnalysisError::NotPositive { line, column, value }),
            None => Err(AnalysisError::EmptyFactor { line, column }),
        }
    };
    numbers(table, name)?.iter().enumerate().map(cell).collect()
}

/// Measurements of equal workers and size, by workers and then size.
pub(super) fn cells(points: &[Point]) -> Vec<(Point, Vec<f64>)> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.workers.total_cmp(&b.workers).then_with(|| a.size.total_cmp(&b.size)));
    let mut cells: Vec<(Point, Vec<f64>)> = Vec::new();
    for point in sorted {
        match cells.last_mut() {
            Some((own, times)) if own.workers == point.workers && own.size == point.size => {
                times.push(point.time);
            }
            _ => cells.push((point, vec![point.time])),
        }
    }
    cells
}

/// Speed-up and efficiency of every cell against the first.
pub(super) fn rows(
    points: &[Point],
    options: &ScalingOptions,
) -> Result<Vec<ScalingRow>, AnalysisError> {
    let stats = |source| AnalysisError::Stats { response: options.column.clone(), source };
    let cells = cells(points);
    let (first, base) = &cells[0];
    let base_mean = sample::mean(base).map_err(stats)?;
    let row = |(place, (own, times)): (usize, &(Point, Vec<f64>))| {
        let mean = sample::mean(times).map_err(stats)?;
        let (work, more) = (own.size / first.size, own.workers / first.workers);
        let speed_up = work * base_mean / mean;
        // The first row is 1 by definition, not by measurement.
        let ends = if place == 0 {
            None
        } else {
            ratio_of_means(base, times, 1.0 - options.alpha).ok().and_then(|found| found.interval)
        };
        let end = |at: usize| ends.map(|ends| work * ends[at]);
        Ok(ScalingRow {
            workers: own.workers,
            size: options.size.is_some().then_some(own.size),
            n: times.len(),
            mean,
            speed_up,
            speed_up_low: end(0),
            speed_up_high: end(1),
            efficiency: speed_up / more,
            efficiency_low: end(0).map(|s| s / more),
            efficiency_high: end(1).map(|s| s / more),
        })
    };
    cells.iter().enumerate().map(row).collect()
}
