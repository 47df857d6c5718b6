//! Chooses rows that fix the coefficients of an equation best: D-optimal designs.
//!
//! Of all choices of n candidate rows X, a D-optimal one has the largest determinant of X'X, which
//! makes the confidence region of the coefficients smallest. The search is Fedorov's exchange as
//! modified by Cook and Nachtsheim ("A comparison of algorithms for constructing exact D-optimal
//! designs", Technometrics 22, 1980): row after row is exchanged for the best candidate, until no
//! exchange helps. That is a local optimum, so a few rows are then moved at random and the exchanges
//! begin again, and the whole starts from several random choices.

use serde::Serialize;
use trainwright_study::Seed;

use crate::error::DesignError;
use crate::size::check_runs;

/// Gain of an exchange below which the search stops.
const LEAST_GAIN: f64 = 1e-9;

/// Added to the diagonal while a random start may still be singular.
const RIDGE: f64 = 1e-4;

/// Part of a start's randomness that moves rows out of a local optimum.
const KICKS: u64 = u64::MAX;

/// Kicks of one start, and multiplications of a pass that a start's kicks share.
const MOST_KICKS: u64 = 40;
const MOST_WORK: u64 = 4_000_000;

/// Passes over the rows after which a start is given up; few take more than ten.
const MOST_PASSES: usize = 200;

/// Multiplications of one pass of every start and kick together; a pass is repeated some twenty
/// times, so that the search ends within minutes.
const MOST_SEARCH: u128 = 10_000_000_000;

/// What a pass counts at least.
const LEAST_PASS: u128 = 1_000;

/// What to choose from, and how.
#[derive(Debug, Clone, Copy)]
pub struct Exchange<'a> {
    /// Model rows that may be chosen, any number of times.
    pub candidates: &'a [Vec<f64>],
    /// Model rows that are there already and stay.
    pub fixed: &'a [Vec<f64>],
    /// Rows to choose.
    pub runs: usize,
    /// Random choices that the search starts from.
    pub starts: u32,
    /// Decides the random choices.
    pub seed: Seed,
}

/// Chosen rows and how good they are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chosen {
    /// Positions among the candidates, ascending; a row may be there more than once.
    pub rows: Vec<usize>,
    /// How good the rows are.
    pub optimality: Optimality,
}

/// How well rows fix the coefficients of an equation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Optimality {
    /// Coefficients of the equation.
    pub coefficients: usize,
    /// The p-th root of the determinant of X'X over the rows, in percent: 100 for orthogonal
    /// columns of -1 and +1, which may be out of reach.
    pub d_efficiency: f64,
    /// Random starts that were tried.
    pub starts: u32,
    /// Starts that ended as well as the best, to within a millionth.
    pub starts_at_best: u32,
}

/// The best choice of rows that the exchanges find.
///
/// # Errors
/// Fewer rows than coefficients, or candidates that cannot fix all of them.
///
/// ```
/// use trainwright_design::{Exchange, d_optimal};
/// use trainwright_study::Seed;
///
/// // A straight line over -1, 0 and 1: half of the runs belong to each end.
/// let candidates = [vec![1.0, -1.0], vec![1.0, 0.0], vec![1.0, 1.0]];
/// let seed = Seed::new(7);
/// let exchange = Exchange { candidates: &candidates, fixed: &[], runs: 4, starts: 3, seed };
/// assert_eq!(d_optimal(&exchange)?.rows, [0, 0, 2, 2]);
/// # Ok::<(), trainwright_design::DesignError>(())
/// ```
pub fn d_optimal(exchange: &Exchange<'_>) -> Result<Chosen, DesignError> {
    let coefficients = exchange.candidates.first().map_or(0, Vec::len);
    let total = exchange.runs + exchange.fixed.len();
    if exchange.runs == 0 {
        return Err(DesignError::NoRuns { design: "D-optimal" });
    }
    check_runs(exchange.runs as u64)?;
    if total < coefficients {
        return Err(DesignError::TooFewRunsForModel { runs: total, coefficients });
    }
    check_work(exchange, coefficients)?;
    let mut ends: Vec<(f64, Vec<usize>)> = Vec::new();
    for start in 0..exchange.starts {
        let rows = improved(exchange, exchange.seed.derive(u64::from(start)));
        ends.extend(log_determinant(exchange, &rows).map(|own| (own, rows)));
    }
    let best = ends.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let Some((best, rows)) = best else {
        return Err(DesignError::CandidatesTooPoor { coefficients });
    };
    let close = |other: f64| (best - other) < 1e-6;
    Ok(Chosen {
        rows: rows.clone(),
        optimality: Optimality {
            coefficients,
            d_efficiency: efficiency(*best, coefficients, total),
            starts: exchange.starts,
            starts_at_best: ends.iter().map(|own| u32::from(close(own.0))).sum(),
        },
    })
}

/// Fails where the search would take longer than anyone waits.
fn check_work(exchange: &Exchange<'_>, coefficients: usize) -> Result<(), DesignError> {
    let (candidates, size) = (exchange.candidates.len() as u128, coefficients as u128);
    let rows = (exchange.runs + exchange.fixed.len()) as u128;
    let pass = candidates * exchange.runs as u128 * size
        + (candidates + rows) * size * size
        + size * size * size;
    // A small pass costs more than its multiplications.
    let start = pass.max(LEAST_PASS) * u128::from(1 + kicks(exchange));
    let work = start * u128::from(exchange.starts);
    if work <= MOST_SEARCH {
        return Ok(());
    }
    Err(DesignError::SearchTooLong {
        runs: exchange.runs,
        candidates: exchange.candidates.len(),
        coefficients,
        starts: exchange.starts,
        work,
        most: MOST_SEARCH,
        starts_allowed: MOST_SEARCH / start.max(1),
    })
}

/// The p-th root of a determinant over the number of rows, in percent.
fn efficiency(log_determinant: f64, coefficients: usize, rows: usize) -> f64 {
    100.0 * (log_determinant / coefficients as f64).exp() / rows as f64
}

/// A random choice after all exchanges that help, kicked out of the local optima that it meets.
fn improved(exchange: &Exchange<'_>, seed: Seed) -> Vec<usize> {
    let draw =
        |seed: Seed, limit: usize| ((u128::from(seed.value()) * limit as u128) >> 64) as usize;
    let candidates = exchange.candidates.len();
    let mut rows: Vec<usize> =
        (0..exchange.runs as u64).map(|place| draw(seed.derive(place), candidates)).collect();
    settle(exchange, &mut rows);
    let mut best = log_determinant(exchange, &rows);
    for kick in 0..kicks(exchange) {
        let seed = seed.derive(KICKS).derive(kick);
        let mut other = rows.clone();
        for moved in 0..1 + rows.len() as u64 / 6 {
            let place = draw(seed.derive(2 * moved), rows.len());
            other[place] = draw(seed.derive(2 * moved + 1), candidates);
        }
        settle(exchange, &mut other);
        let found = log_determinant(exchange, &other);
        if found > best.map(|best| best + LEAST_GAIN) {
            (rows, best) = (other, found);
        }
    }
    rows.sort_unstable();
    rows
}

/// Kicks that a start gets: many for small searches, few for large ones.
fn kicks(exchange: &Exchange<'_>) -> u64 {
    let width = exchange.candidates.first().map_or(0, Vec::len);
    let pass = exchange.candidates.len().saturating_mul(exchange.runs).saturating_mul(width);
    (MOST_WORK / pass.max(1) as u64).min(MOST_KICKS)
}

/// Exchanges rows until no exchange helps.
fn settle(exchange: &Exchange<'_>, rows: &mut [usize]) {
    for ridge in [RIDGE, 0.0] {
        for _ in 0..MOST_PASSES {
            let Some(mut state) = State::new(exchange, rows, ridge) else { break };
            if !state.pass(exchange, rows) {
                break;
            }
        }
    }
}

/// The inverse of X'X, and the variance of a prediction at every candidate.
struct State {
    inverse: Vec<Vec<f64>>,
    variances: Vec<f64>,
}

impl State {
    fn new(exchange: &Exchange<'_>, rows: &[usize], ridge: f64) -> Option<Self> {
        let mut information = information(exchange, rows);
        for (place, row) in information.iter_mut().enumerate() {
            row[place] += ridge;
        }
        let inverse = inverse(information)?;
        let variances =
            exchange.candidates.iter().map(|row| dot(row, &times(&inverse, row))).collect();
        Some(Self { inverse, variances })
    }

    /// Exchanges every row for the best candidate where that helps; false where none does.
    fn pass(&mut self, exchange: &Exchange<'_>, rows: &mut [usize]) -> bool {
        let mut changed = false;
        for row in rows.iter_mut() {
            let leaving = &exchange.candidates[*row];
            let direction = times(&self.inverse, leaving);
            let own = self.variances[*row];
            let gain = |(place, candidate): (usize, &Vec<f64>)| {
                let other = self.variances[place];
                let shared = dot(candidate, &direction);
                (other - own - (other * own - shared * shared), place)
            };
            let best = exchange.candidates.iter().enumerate().map(gain);
            let best = best.max_by(|a, b| a.0.total_cmp(&b.0));
            let (gain, place) = best.expect("there are candidates");
            if gain > LEAST_GAIN {
                self.add(exchange.candidates, &exchange.candidates[place], 1.0);
                self.add(exchange.candidates, leaving, -1.0);
                *row = place;
                changed = true;
            }
        }
        changed
    }

    /// Adds a row, or takes it away, by the formula of Sherman and Morrison.
    fn add(&mut self, candidates: &[Vec<f64>], row: &[f64], sign: f64) {
        let direction = times(&self.inverse, row);
        let scale = sign / (1.0 + sign * dot(row, &direction));
        for (inverse, own) in self.inverse.iter_mut().zip(&direction) {
            for (value, other) in inverse.iter_mut().zip(&direction) {
                *value -= scale * own * other;
            }
        }
        for (variance, candidate) in self.variances.iter_mut().zip(candidates) {
            let shared = dot(candidate, &direction);
            *variance -= scale * shared * shared;
        }
    }
}

fn information(exchange: &Exchange<'_>, rows: &[usize]) -> Vec<Vec<f64>> {
    let size = exchange.candidates[0].len();
    let mut information = vec![vec![0.0; size]; size];
    let chosen = rows.iter().map(|&row| &exchange.candidates[row]);
    for row in chosen.chain(exchange.fixed) {
        for (own, left) in information.iter_mut().zip(row) {
            for (value, right) in own.iter_mut().zip(row) {
                *value += left * right;
            }
        }
    }
    information
}

/// The logarithm of the determinant of X'X; nothing where it is singular.
fn log_determinant(exchange: &Exchange<'_>, rows: &[usize]) -> Option<f64> {
    let factor = cholesky(information(exchange, rows))?;
    Some((0..factor.len()).map(|place| 2.0 * factor[place][place].ln()).sum())
}

/// The lower triangle L with LL' = A; nothing where A is singular to working precision.
fn cholesky(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let scale = (0..matrix.len()).map(|place| matrix[place][place]).fold(0.0, f64::max);
    for column in 0..matrix.len() {
        let (above, below) = matrix.split_at_mut(column);
        let pivot_row = &mut below[0];
        for (other, above) in above.iter().enumerate() {
            let inner = dot(&above[..other], &pivot_row[..other]);
            pivot_row[other] = (pivot_row[other] - inner) / above[other];
        }
        let pivot = pivot_row[column] - dot(&pivot_row[..column], &pivot_row[..column]);
        if pivot <= 1e-10 * scale {
            return None;
        }
        pivot_row[column] = pivot.sqrt();
    }
    Some(matrix)
}

fn inverse(matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let size = matrix.len();
    let factor = cholesky(matrix)?;
    let mut columns = Vec::with_capacity(size);
    for column in 0..size {
        let mut solution = vec![0.0; size];
        for row in 0..size {
            let unit = if row == column { 1.0 } else { 0.0 };
            solution[row] = (unit - dot(&factor[row][..row], &solution[..row])) / factor[row][row];
        }
        for row in (0..size).rev() {
            let below: f64 = (row + 1..size).map(|own| factor[own][row] * solution[own]).sum();
            solution[row] = (solution[row] - below) / factor[row][row];
        }
        columns.push(solution);
    }
    Some(columns)
}

fn times(matrix: &[Vec<f64>], vector: &[f64]) -> Vec<f64> {
    matrix.iter().map(|row| dot(row, vector)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests;
