//! A block of a file, read into rows.

use trainwright_study::Value;

use super::blocks::Block;
use super::plan::{Plan, Planned, Source};
use super::records::each_record;
use super::rows::{Gathered, Rows, Values};
use crate::csv_table::is_missing;
use crate::error::AnalysisError;

/// Reduces a block; rows of a rank below `keep` are kept as they are.
pub(super) fn gather(block: &Block, plan: &Plan, keep: u64) -> Result<Gathered, AnalysisError> {
    let mut rows = Rows::new(plan);
    let mut sample = Vec::new();
    each_record(block, plan.names.len(), |line, cells| {
        if take(&mut rows, plan, line, cells)? && rank(line) < keep {
            sample.push((rank(line), line, as_csv(cells)));
        }
        Ok(())
    })?;
    rows.gathered(plan, block.index, sample)
}

/// A number for a line that looks random but is always the same, so that the sample does not
/// follow a pattern in the rows.
fn rank(line: u64) -> u64 {
    trainwright_random::number_at(0, line)
}

fn as_csv(cells: &[&[u8]]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(cells).expect("writing to memory cannot fail");
    writer.into_inner().expect("writing to memory cannot fail")
}

/// Takes in a row; false if it lacks a cell and is left out.
fn take(rows: &mut Rows, plan: &Plan, line: u64, cells: &[&[u8]]) -> Result<bool, AnalysisError> {
    let name = &plan.names[plan.response];
    let Some(y) = number(cells[plan.response], line, name, text_response)? else {
        rows.left_out.without_response += 1;
        return Ok(false);
    };
    if !rows.left_out.admits(|place| is_missing(cells[plan.predictors[place]])) {
        return Ok(false);
    }
    rows.response.push(plan.entering.enter(y, || line)?);
    for (index, variable) in plan.variables.iter().enumerate() {
        if let Source::Text(column) = variable.source {
            let code = rows.code(index, cells[column]);
            let Values::Codes(codes) = &mut rows.values[index] else {
                unreachable!("texts have codes");
            };
            codes.push(code);
        } else {
            let value = value_of(&variable.source, variable, plan, line, cells)?;
            let Values::Numbers(values) = &mut rows.values[index] else {
                unreachable!("numbers have values");
            };
            values.push((value - variable.scale.0) / variable.scale.1);
        }
    }
    Ok(true)
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
        let found = number(cells[column], line, name, late_text)?;
        Ok::<_, AnalysisError>(found.expect("a row that is taken in has its cells"))
    };
    let (computed, columns) = match source {
        Source::Number(column) => return read(*column),
        Source::Computed { computed, columns } => (computed, columns),
        Source::Text(_) => unreachable!("texts have no value"),
    };
    let mut scope = Vec::with_capacity(columns.len());
    for (name, column) in columns {
        scope.push((name.as_str(), read(*column)?));
    }
    let find = |name: &str| {
        scope.iter().find(|(own, _)| *own == name).map(|(_, value)| Value::Number(*value))
    };
    computed.number(&find).map_err(|reason| {
        let expression = variable.name.clone();
        AnalysisError::NotComputable { expression, line, reason }
    })
}

/// A cell as a number; `None` where it is missing.
fn number(
    cell: &[u8],
    line: u64,
    name: &str,
    text: fn(u64, &str, String) -> AnalysisError,
) -> Result<Option<f64>, AnalysisError> {
    if is_missing(cell) {
        return Ok(None);
    }
    let parsed = fast_float2::parse::<f64, _>(cell).ok();
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_cell_is_the_number_that_a_short_table_reads(
            text in prop_oneof!["[-+]?[0-9]{0,20}[.]?[0-9]{0,20}(e[-+]?[0-9]{0,3})?", "[-+.e0-9naif]{1,8}"],
        ) {
            prop_assume!(!text.is_empty());
            let found = number(text.as_bytes(), 1, "x", late_text);
            match text.parse::<f64>() {
                Ok(value) if value.is_finite() => {
                    let bits = |v: f64| v.to_bits();
                    prop_assert_eq!(found.unwrap().map(bits), Some(bits(value)));
                }
                Ok(_) => prop_assert!(matches!(found, Err(AnalysisError::NotFinite { .. })), "{text}"),
                Err(_) => prop_assert!(matches!(found, Err(AnalysisError::LateText { .. })), "{text}"),
            }
        }
    }
}
