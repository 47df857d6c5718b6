//! One block of rows reduced to a small triangular matrix and a few tallies.

use std::collections::HashMap;

use trainwright_stats::Tall;
use trainwright_study::Value;

use super::blocks::Block;
use super::plan::{Plan, Planned, Source};
use super::records::each_record;
use crate::error::AnalysisError;
use crate::formula::Transform;

/// Rows reduced at once: their columns stay in the processor's nearest memory.
const CHUNK: usize = 256;

/// Columns of the equation, with an indicator a level, that a long table may have.
pub(super) const MOST_COLUMNS: usize = 600;

/// A column to accumulate: for each variable in it the power of a number or the code of a level.
pub(super) type Key = Vec<(usize, usize)>;

/// What a block holds.
pub(super) struct Gathered {
    pub(super) index: usize,
    pub(super) observations: usize,
    pub(super) without_response: usize,
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

/// Values of a variable in a block.
enum Values {
    Numbers(Vec<f64>),
    Codes(Vec<usize>),
}

/// Reduces a block; rows of a rank below `keep` are kept as they are.
pub(super) fn gather(block: &Block, plan: &Plan, keep: u64) -> Result<Gathered, AnalysisError> {
    let mut rows = Rows::new(plan);
    let mut sample = Vec::new();
    each_record(block, plan.names.len(), |line, cells| {
        if rows.take(plan, line, cells)? && rank(line) < keep {
            sample.push((rank(line), line, as_csv(cells)));
        }
        Ok(())
    })?;
    let keys = rows.keys(plan)?;
    let tall = rows.reduce(plan, &keys);
    Ok(Gathered {
        index: block.index,
        observations: rows.response.len(),
        without_response: rows.without_response,
        ends: rows.ends(),
        response_ends: ends_of(&rows.response),
        levels: rows.levels,
        keys,
        tall,
        sample,
    })
}

/// A number for a line that looks random but is always the same (SplitMix64: Steele, Lea and
/// Flood, OOPSLA 2014), so that the sample does not follow a pattern in the rows.
fn rank(line: u64) -> u64 {
    let mut z = line.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn as_csv(cells: &[&[u8]]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(cells).expect("writing to memory cannot fail");
    writer.into_inner().expect("writing to memory cannot fail")
}

/// The rows of a block, column by column.
struct Rows {
    response: Vec<f64>,
    values: Vec<Values>,
    levels: Vec<Vec<String>>,
    codes: Vec<HashMap<Vec<u8>, usize>>,
    without_response: usize,
}

impl Rows {
    fn new(plan: &Plan) -> Self {
        let empty = |variable: &Planned| match variable.source {
            Source::Text(_) => Values::Codes(Vec::new()),
            _ => Values::Numbers(Vec::new()),
        };
        Self {
            response: Vec::new(),
            values: plan.variables.iter().map(empty).collect(),
            levels: vec![Vec::new(); plan.variables.len()],
            codes: vec![HashMap::new(); plan.variables.len()],
            without_response: 0,
        }
    }

    /// Takes in a row; false if it has no response and is left out.
    fn take(&mut self, plan: &Plan, line: u64, cells: &[&[u8]]) -> Result<bool, AnalysisError> {
        let name = &plan.names[plan.response];
        let Some(y) = number(cells[plan.response], line, name, text_response)? else {
            self.without_response += 1;
            return Ok(false);
        };
        self.response.push(match plan.transform {
            Transform::Identity => y,
            Transform::Log if y > 0.0 => y.ln(),
            Transform::Log => {
                let name = name.clone();
                return Err(AnalysisError::LogOfNonPositive { name, line, value: y });
            }
        });
        for (index, variable) in plan.variables.iter().enumerate() {
            match (&variable.source, &mut self.values[index]) {
                (Source::Text(column), Values::Codes(codes)) => {
                    let cell = cells[*column];
                    if cell.is_empty() {
                        return Err(empty(line, &plan.names[*column]));
                    }
                    let next = self.levels[index].len();
                    let code = self.codes[index].get(cell).copied().unwrap_or_else(|| {
                        self.codes[index].insert(cell.to_vec(), next);
                        self.levels[index].push(String::from_utf8_lossy(cell).into_owned());
                        next
                    });
                    codes.push(code);
                }
                (source, Values::Numbers(values)) => {
                    let value = value_of(source, variable, plan, line, cells)?;
                    values.push((value - variable.scale.0) / variable.scale.1);
                }
                _ => unreachable!("texts have codes and numbers have values"),
            }
        }
        Ok(true)
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

fn ends_of(values: &[f64]) -> (f64, f64) {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    values.iter().fold(start, |(low, high), v| (low.min(*v), high.max(*v)))
}

fn value_of(
    source: &Source,
    variable: &Planned,
    plan: &Plan,
    line: u64,
    cells: &[&[u8]],
) -> Result<f64, AnalysisError> {
    let read = |column: usize| {
        let name = &plan.names[column];
        number(cells[column], line, name, late_text)?.ok_or_else(|| empty(line, name))
    };
    let (expression, columns) = match source {
        Source::Number(column) => return read(*column),
        Source::Computed { expression, columns } => (expression, columns),
        Source::Text(_) => unreachable!("texts have no value"),
    };
    let mut scope = Vec::with_capacity(columns.len());
    for (name, column) in columns {
        scope.push((name.as_str(), read(*column)?));
    }
    let find = |name: &str| {
        scope.iter().find(|(own, _)| *own == name).map(|(_, value)| Value::Number(*value))
    };
    let refused = |reason: String| {
        let expression = variable.name.clone();
        AnalysisError::NotComputable { expression, line, reason }
    };
    match expression.number(&find) {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(value) => Err(refused(format!("it is {value}"))),
        Err(error) => Err(refused(error.to_string())),
    }
}

/// A cell as a number; `None` where it is empty or `NA`.
fn number(
    cell: &[u8],
    line: u64,
    name: &str,
    text: fn(u64, &str, String) -> AnalysisError,
) -> Result<Option<f64>, AnalysisError> {
    if cell.is_empty() || cell == b"NA" {
        return Ok(None);
    }
    let parsed = std::str::from_utf8(cell).ok().and_then(|text| text.parse::<f64>().ok());
    let shown = || String::from_utf8_lossy(cell).into_owned();
    match parsed {
        Some(value) if value.is_finite() => Ok(Some(value)),
        Some(_) => {
            let column = name.to_owned();
            Err(AnalysisError::NotFinite { line, column, value: shown() })
        }
        None => Err(text(line, name, shown())),
    }
}

fn text_response(line: u64, name: &str, value: String) -> AnalysisError {
    AnalysisError::TextResponse { name: name.to_owned(), line, value }
}

fn late_text(line: u64, name: &str, value: String) -> AnalysisError {
    AnalysisError::LateText { column: name.to_owned(), line, value }
}

fn empty(line: u64, column: &str) -> AnalysisError {
    AnalysisError::EmptyFactor { line, column: column.to_owned() }
}
