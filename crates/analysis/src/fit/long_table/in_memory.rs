//! Analysis-of-variance tables of a long table that is already in memory, by the same reduction.

use std::ops::Range;

use trainwright_stats::SumOfSquares;

use super::equate::equate;
use super::plan::{Plan, Source};
use super::read_all;
use super::rows::{Gathered, Rows, Values};
use crate::csv_table::{Column, Table};
use crate::error::AnalysisError;
use crate::fit::analysis::{AnovaTable, AnovaType};
use crate::fit::analyze_table::{TableOptions, text_response};
use crate::fit::anova_lines::lines;
use crate::fit::fitted::schemes;
use crate::model::derived_columns;
use crate::model::formula::Formula;

/// Rows of a block: their columns stay in the processor's second nearest memory.
const BLOCK: usize = 4096;

/// The tables asked for, all from one pass over the rows.
pub(crate) fn anova_of_long_table(
    table: &Table,
    formula: &Formula,
    options: &TableOptions,
) -> Result<Vec<AnovaTable>, AnalysisError> {
    let plan = Plan::of_table(table, formula)?;
    let blocks = (0..table.rows().div_ceil(BLOCK))
        .map(|index| Ok((index, index * BLOCK..table.rows().min((index + 1) * BLOCK))));
    let whole =
        read_all(blocks, &plan, |(index, range), _| gather(table, &plan, *index, range.clone()))?;
    let stats = |source| AnalysisError::Stats { response: formula.response_name(), source };
    let [asked, _, summed] = schemes(options.coding, options.contrasts);
    let own = equate(&whole, &plan, formula.equation(), asked).map_err(stats)?;
    let in_sums = match summed == asked || !options.types.contains(&AnovaType::Three) {
        true => None,
        false => Some(equate(&whole, &plan, formula.equation(), summed).map_err(stats)?),
    };
    let names = formula.term_names();
    let made = |&kind: &AnovaType| {
        let (fitted, squares) = match kind {
            AnovaType::One => (&own, SumOfSquares::Sequential),
            AnovaType::Two => (&own, SumOfSquares::Marginal),
            AnovaType::Three => (in_sums.as_ref().unwrap_or(&own), SumOfSquares::Partial),
        };
        Ok(AnovaTable { kind, rows: lines(&fitted.table(squares)?, fitted.fit.ss_total, &names) })
    };
    options.types.iter().map(made).collect::<Result<_, _>>().map_err(stats)
}

/// Reduces a range of rows.
fn gather(
    table: &Table,
    plan: &Plan,
    index: usize,
    range: Range<usize>,
) -> Result<Gathered, AnalysisError> {
    let mut rows = Rows::new(plan);
    let present = take_response(table, plan, &mut rows, range.clone())?;
    let empty = |row: usize, column: usize| AnalysisError::EmptyFactor {
        line: table.line(row),
        column: plan.names[column].clone(),
    };
    for (variable, planned) in plan.variables.iter().enumerate() {
        let (centre, reach) = planned.scale;
        match &planned.source {
            Source::Text(column) => {
                let cells = table.column(&plan.names[*column])?;
                let mut codes = Vec::with_capacity(present.len());
                for &row in &present {
                    let code = code(&mut rows, variable, cells, row);
                    codes.push(code.ok_or_else(|| empty(row, *column))?);
                }
                rows.values[variable] = Values::Codes(codes);
            }
            Source::Number(column) => {
                let Column::Numeric(cells) = table.column(&plan.names[*column])? else {
                    unreachable!("the plan knows the kinds of the columns");
                };
                if let Some(&row) = present.iter().find(|row| cells[**row].is_none()) {
                    return Err(empty(row, *column));
                }
                let value = |cell: &Option<f64>| cell.expect("looked at just now");
                let mut values: Vec<f64> = if present.len() == range.len() {
                    cells[range.clone()].iter().map(value).collect()
                } else {
                    present.iter().map(|&row| value(&cells[row])).collect()
                };
                if planned.scale != (0.0, 1.0) {
                    values.iter_mut().for_each(|v| *v = (*v - centre) / reach);
                }
                rows.values[variable] = Values::Numbers(values);
            }
            Source::Computed { computed, .. } => {
                let values = derived_columns::values(table, computed, present.iter().copied())?;
                rows.values[variable] = Values::Numbers(values);
            }
        }
    }
    rows.gathered(plan, index, Vec::new())
}

/// Takes in the responses of a range; the rows that have one.
fn take_response(
    table: &Table,
    plan: &Plan,
    rows: &mut Rows,
    range: Range<usize>,
) -> Result<Vec<usize>, AnalysisError> {
    let name = &plan.names[plan.response];
    let cells = match table.column(name)? {
        Column::Numeric(cells) => cells,
        Column::Categorical(cells) => return Err(text_response(table, name.clone(), cells)),
    };
    let mut present = Vec::with_capacity(range.len());
    rows.response.reserve(range.len());
    for row in range {
        match cells[row] {
            Some(value) => {
                rows.response.push(plan.entering.enter(value, || table.line(row))?);
                present.push(row);
            }
            None => rows.without_response += 1,
        }
    }
    Ok(present)
}

/// Code of the level in a row; `None` for an empty cell.
fn code(rows: &mut Rows, variable: usize, cells: &Column, row: usize) -> Option<usize> {
    match cells {
        Column::Numeric(cells) => Some(rows.code(variable, cells[row]?.to_string().as_bytes())),
        Column::Categorical(cells) => Some(rows.code(variable, cells[row].as_ref()?.as_bytes())),
    }
}
