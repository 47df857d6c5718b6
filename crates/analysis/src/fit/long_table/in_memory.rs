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
use crate::model::complete_rows::is_empty;
use crate::model::derived_columns;
use crate::model::formula::Formula;

/// Rows of a block: their columns stay in the processor's second nearest memory.
const BLOCK: usize = 4096;

/// Why a cell is there.
const PRESENT: &str = "a row that is taken in has its cells";

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
    let present = take_responses(table, plan, &mut rows, range.clone())?;
    for (variable, planned) in plan.variables.iter().enumerate() {
        let (centre, reach) = planned.scale;
        match &planned.source {
            Source::Text(column) => {
                let cells = table.column(&plan.names[*column])?;
                let code = |&row: &usize| code(&mut rows, variable, cells, row);
                let codes = present.iter().map(code).collect();
                rows.values[variable] = Values::Codes(codes);
            }
            Source::Number(column) => {
                let Column::Numeric(cells) = table.column(&plan.names[*column])? else {
                    unreachable!("the plan knows the kinds of the columns");
                };
                let value = |cell: &Option<f64>| cell.expect(PRESENT);
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

/// Takes in the responses of a range; the rows that have one and all predictors.
fn take_responses(
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
    let predictors = plan.predictors.iter().map(|&at| table.column(&plan.names[at]));
    let predictors = predictors.collect::<Result<Vec<_>, _>>()?;
    let mut present = Vec::with_capacity(range.len());
    rows.response.reserve(range.len());
    for row in range {
        match cells[row] {
            Some(value) if rows.left_out.admits(|place| is_empty(predictors[place], row)) => {
                rows.response.push(plan.entering.enter(value, || table.line(row))?);
                present.push(row);
            }
            Some(_) => {}
            None => rows.left_out.without_response += 1,
        }
    }
    Ok(present)
}

/// Code of the level in a row that is present.
fn code(rows: &mut Rows, variable: usize, cells: &Column, row: usize) -> usize {
    match cells {
        Column::Numeric(cells) => {
            rows.code(variable, cells[row].expect(PRESENT).to_string().as_bytes())
        }
        Column::Categorical(cells) => {
            rows.code(variable, cells[row].as_ref().expect(PRESENT).as_bytes())
        }
    }
}
