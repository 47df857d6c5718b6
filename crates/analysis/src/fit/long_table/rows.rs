//! Rows of the equation's columns, reduced to a small triangular matrix and a few tallies.

use std::collections::HashMap;

use trainwright_stats::Tall;

use super::plan::{Plan, Planned, Source};
use crate::error::AnalysisError;
use crate::model::complete_rows::RowsLeftOut;

/// Rows reduced at once: their columns stay in the processor's nearest memory.
const CHUNK: usize = 256;

/// Columns of the equation, with an indicator a level, that a long table may have.
pub(super) const MOST_COLUMNS: usize = 600;

/// A column to accumulate: for each variable in it the power of a number or the code of a level.
pub(super) type Key = Vec<(usize, usize)>;

/// What some rows hold.
pub(super) struct Gathered {
    /// Place among all blocks of rows, from 0.
    pub(super) index: usize,
    pub(super) observations: usize,
    pub(super) left_out: RowsLeftOut,
    /// Levels of each variable as numbered in `keys`.
    pub(super) levels: Vec<Vec<String>>,
    /// Columns of `tall` after the intercept and the response.
    pub(super) keys: Vec<Key>,
    pub(super) tall: Tall,
    /// Smallest and largest value of each numeric variable.
    pub(super) ends: Vec<(f64, f64)>,
    /// Smallest and largest response.
    pub(super) response_ends: (f64, f64),
    /// Rows that may be part of the sample: rank, line and cells as CSV.
    pub(super) sample: Vec<(u64, u64, Vec<u8>)>,
}

/// Values of a variable.
pub(super) enum Values {
    Numbers(Vec<f64>),
    Codes(Vec<usize>),
}

/// Rows, column by column.
pub(super) struct Rows {
    pub(super) response: Vec<f64>,
    pub(super) values: Vec<Values>,
    levels: Vec<Vec<String>>,
    codes: Vec<HashMap<Vec<u8>, usize>>,
    pub(super) left_out: RowsLeftOut,
}

impl Rows {
    pub(super) fn new(plan: &Plan) -> Self {
        let empty = |variable: &Planned| match variable.source {
            Source::Text(_) => Values::Codes(Vec::new()),
            _ => Values::Numbers(Vec::new()),
        };
        Self {
            response: Vec::new(),
            values: plan.variables.iter().map(empty).collect(),
            levels: vec![Vec::new(); plan.variables.len()],
            codes: vec![HashMap::new(); plan.variables.len()],
            left_out: plan.nothing_left_out(),
        }
    }

    /// Code of a level, new or seen before.
    pub(super) fn code(&mut self, variable: usize, level: &[u8]) -> usize {
        if let Some(code) = self.codes[variable].get(level) {
            return *code;
        }
        let next = self.levels[variable].len();
        self.codes[variable].insert(level.to_vec(), next);
        self.levels[variable].push(String::from_utf8_lossy(level).into_owned());
        next
    }

    /// The rows reduced.
    pub(super) fn gathered(
        self,
        plan: &Plan,
        index: usize,
        sample: Vec<(u64, u64, Vec<u8>)>,
    ) -> Result<Gathered, AnalysisError> {
        let keys = self.keys(plan)?;
        let tall = self.reduce(plan, &keys);
        Ok(Gathered {
            index,
            observations: self.response.len(),
            ends: self.ends(),
            response_ends: ends_of(&self.response),
            left_out: self.left_out,
            levels: self.levels,
            keys,
            tall,
            sample,
        })
    }

    fn ends(&self) -> Vec<(f64, f64)> {
        let of = |values: &Values| match values {
            Values::Numbers(values) => ends_of(values),
            Values::Codes(_) => ends_of(&[]),
        };
        self.values.iter().map(of).collect()
    }

    /// Columns of all parts of the equation: powers of numbers times indicators of levels.
    fn keys(&self, plan: &Plan) -> Result<Vec<Key>, AnalysisError> {
        let mut found: Vec<Key> = Vec::new();
        for part in plan.parts.iter().filter(|part| !part.is_empty()) {
            let mut own: Vec<Key> = vec![vec![]];
            for &variable in part {
                let choices = match &self.values[variable] {
                    Values::Numbers(_) => 1..plan.variables[variable].degree + 1,
                    Values::Codes(_) => 0..self.levels[variable].len(),
                };
                if own.len() * choices.len() + found.len() > MOST_COLUMNS {
                    return Err(AnalysisError::ManyColumns { most: MOST_COLUMNS });
                }
                own = choices
                    .flat_map(|c| {
                        own.iter().map(move |k| [k.as_slice(), &[(variable, c)]].concat())
                    })
                    .collect();
            }
            found.extend(own);
        }
        Ok(found)
    }

    fn reduce(&self, plan: &Plan, keys: &[Key]) -> Tall {
        let width = keys.len() + 2;
        let mut tall = Tall::new(width);
        let mut buffer = vec![0.0; width * CHUNK];
        let mut start = 0;
        while start < self.response.len() {
            let rows = CHUNK.min(self.response.len() - start);
            let block = &mut buffer[..width * rows];
            block[..rows].fill(1.0);
            block[rows..2 * rows].copy_from_slice(&self.response[start..start + rows]);
            for (key, column) in keys.iter().zip(block[2 * rows..].chunks_exact_mut(rows)) {
                self.fill(plan, key, start, column);
            }
            tall.add(block, rows);
            start += rows;
        }
        tall
    }

    fn fill(&self, plan: &Plan, key: &Key, start: usize, column: &mut [f64]) {
        let range = start..start + column.len();
        for (place, &(variable, choice)) in key.iter().enumerate() {
            match &self.values[variable] {
                Values::Numbers(values) if place == 0 && choice == 1 => {
                    column.copy_from_slice(&values[range.clone()]);
                    continue;
                }
                _ if place == 0 => column.fill(1.0),
                _ => {}
            }
            match &self.values[variable] {
                Values::Numbers(values) if plan.variables[variable].degree == 1 => {
                    column.iter_mut().zip(&values[range.clone()]).for_each(|(c, v)| *c *= v);
                }
                Values::Numbers(values) => {
                    let own = column.iter_mut().zip(&values[range.clone()]);
                    own.for_each(|(c, v)| *c *= v.powi(choice as i32));
                }
                Values::Codes(codes) => {
                    let own = column.iter_mut().zip(&codes[range.clone()]);
                    own.for_each(|(c, code)| *c = if *code == choice { *c } else { 0.0 });
                }
            }
        }
    }
}

/// Smallest and largest value, in strands that a processor compares side by side.
fn ends_of(values: &[f64]) -> (f64, f64) {
    const STRANDS: usize = 8;
    let (mut low, mut high) = ([f64::INFINITY; STRANDS], [f64::NEG_INFINITY; STRANDS]);
    for chunk in values.chunks(STRANDS) {
        for ((v, low), high) in chunk.iter().zip(&mut low).zip(&mut high) {
            *low = if v < low { *v } else { *low };
            *high = if v > high { *v } else { *high };
        }
    }
    (low.into_iter().fold(low[0], f64::min), high.into_iter().fold(high[0], f64::max))
}
