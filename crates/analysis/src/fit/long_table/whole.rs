//! All blocks of a long table put together, in the order of the file.

use std::collections::{BTreeMap, BinaryHeap, HashMap};

use trainwright_stats::{Columns, StatsError, Tall};
use trainwright_study::Level;

use super::plan::Plan;
use super::rows::{Gathered, Key, MOST_COLUMNS};
use crate::csv_table::Table;
use crate::error::AnalysisError;
use crate::model::complete_rows::RowsLeftOut;
use crate::model::variable::Variable;

/// Rows of the sample: as many as the Shapiro-Wilk test covers.
const SAMPLE: usize = 5000;

/// Everything known about a long table.
pub(super) struct Whole {
    pub(super) observations: usize,
    pub(super) left_out: RowsLeftOut,
    /// Levels of each categorical variable, in order of appearance.
    pub(super) levels: Vec<Vec<String>>,
    /// Smallest and largest value of each numeric variable.
    pub(super) ends: Vec<(f64, f64)>,
    /// Smallest and largest response.
    response_ends: (f64, f64),
    /// Place of each column in `tall`; the intercept is at 0 and the response at 1.
    pub(super) places: HashMap<Key, usize>,
    pub(super) tall: Tall,
    codes: Vec<HashMap<String, usize>>,
    /// The rows of lowest rank: a random sample without repeats.
    sample: BinaryHeap<(u64, u64, Vec<u8>)>,
    /// Blocks that came before their turn.
    waiting: BTreeMap<usize, Gathered>,
    next: usize,
    failed: Option<AnalysisError>,
}

impl Whole {
    pub(super) fn new(plan: &Plan) -> Self {
        let variables = plan.variables.len();
        Self {
            observations: 0,
            left_out: plan.nothing_left_out(),
            levels: vec![Vec::new(); variables],
            ends: vec![(f64::INFINITY, f64::NEG_INFINITY); variables],
            response_ends: (f64::INFINITY, f64::NEG_INFINITY),
            places: HashMap::new(),
            tall: Tall::new(2),
            codes: vec![HashMap::new(); variables],
            sample: BinaryHeap::new(),
            waiting: BTreeMap::new(),
            next: 0,
            failed: None,
        }
    }

    /// Rank below which a row may still enter the sample.
    pub(super) fn sample_limit(&self) -> u64 {
        match self.sample.peek() {
            Some((rank, _, _)) if self.sample.len() == SAMPLE => *rank,
            _ => u64::MAX,
        }
    }

    /// Takes in a block, in turn; false if reading should end.
    pub(super) fn take(&mut self, gathered: Result<Gathered, AnalysisError>) -> bool {
        match gathered {
            Ok(block) => {
                self.waiting.insert(block.index, block);
                while let Some(block) = self.waiting.remove(&self.next) {
                    self.next += 1;
                    if let Err(error) = self.merge(block) {
                        self.fail(error);
                    }
                }
            }
            Err(error) => self.fail(error),
        }
        self.failed.is_none()
    }

    /// The whole, if nothing failed and the response varies.
    pub(super) fn finish(self, plan: &Plan) -> Result<Self, AnalysisError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let (response, found) = (plan.names[plan.response].clone(), self.observations);
        self.left_out.check(found, &response)?;
        let (value, high) = self.response_ends;
        if value == high {
            let source = StatsError::Constant { what: "the response", count: found, value };
            return Err(AnalysisError::Stats { response, source });
        }
        let varying = self.ends.iter().filter(|(low, high)| low <= high);
        for &(low, high) in varying.chain([&self.response_ends]) {
            // Refuses what cannot be squared, as a short table does.
            Columns::new(vec![vec![low, high]])
                .map_err(|source| AnalysisError::Stats { response: response.clone(), source })?;
        }
        Ok(self)
    }

    /// Keeps the failure of the earliest line, so that it does not depend on the workers.
    fn fail(&mut self, error: AnalysisError) {
        let earlier = self.failed.as_ref().is_none_or(|old| error.line() < old.line());
        if earlier {
            self.failed = Some(error);
        }
    }

    fn merge(&mut self, block: Gathered) -> Result<(), AnalysisError> {
        self.observations += block.observations;
        self.left_out.add(&block.left_out);
        for (own, new) in self.ends.iter_mut().zip(&block.ends) {
            *own = (own.0.min(new.0), own.1.max(new.1));
        }
        let (low, high) = block.response_ends;
        self.response_ends = (self.response_ends.0.min(low), self.response_ends.1.max(high));
        for row in block.sample {
            self.sample.push(row);
            if self.sample.len() > SAMPLE {
                self.sample.pop();
            }
        }
        let codes = self.number_levels(&block.levels);
        let mut columns = vec![0, 1];
        for key in block.keys {
            let named: Key = key
                .into_iter()
                .map(|(variable, choice)| {
                    let code = codes[variable].get(choice).copied();
                    (variable, code.unwrap_or(choice))
                })
                .collect();
            let next = self.places.len() + 2;
            columns.push(*self.places.entry(named).or_insert(next));
        }
        let width = self.places.len() + 2;
        if width > MOST_COLUMNS {
            return Err(AnalysisError::ManyColumns { most: MOST_COLUMNS });
        }
        if width > self.tall.width() {
            self.tall.widen(width);
        }
        let rows = block.tall.width();
        let mut expanded = vec![0.0; width * rows];
        for (column, values) in columns.into_iter().zip(block.tall.columns()) {
            expanded[column * rows..(column + 1) * rows].copy_from_slice(&values);
        }
        self.tall.add(&mut expanded, rows);
        Ok(())
    }

    /// Numbers in the whole table of a block's levels.
    fn number_levels(&mut self, levels: &[Vec<String>]) -> Vec<Vec<usize>> {
        let mut found = Vec::with_capacity(levels.len());
        for (variable, own) in levels.iter().enumerate() {
            let (codes, names) = (&mut self.codes[variable], &mut self.levels[variable]);
            let number = |name: &String| {
                *codes.entry(name.clone()).or_insert_with(|| {
                    names.push(name.clone());
                    names.len() - 1
                })
            };
            found.push(own.iter().map(number).collect());
        }
        found
    }

    /// The sample as a table, in the order of the file.
    pub(super) fn sample_table(&self, plan: &Plan) -> Result<Table, AnalysisError> {
        let mut rows: Vec<&(u64, u64, Vec<u8>)> = self.sample.iter().collect();
        rows.sort_by_key(|(_, line, _)| *line);
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&plan.names)?;
        let mut text = writer.into_inner().expect("writing to memory cannot fail");
        rows.iter().for_each(|(_, _, row)| text.extend_from_slice(row));
        Table::from_csv(text.as_slice(), &plan.categorical)
    }

    /// Gives the variables of the sample the smallest and largest value of the whole table.
    pub(super) fn set_ends(&self, variables: &mut [Variable]) {
        for (variable, &(low, high)) in variables.iter_mut().zip(&self.ends) {
            if variable.raw.is_none() || variable.polynomials.is_some() {
                continue;
            }
            if let Some(first) = variable.levels.first_mut() {
                *first = Level::of(low);
            }
            if variable.levels.len() > 1
                && let Some(last) = variable.levels.last_mut()
            {
                *last = Level::of(high);
            }
        }
    }
}
