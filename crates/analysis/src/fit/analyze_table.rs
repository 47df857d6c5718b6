//! Analysis of a table of results, wherever they were measured.

use std::borrow::Cow;

use trainwright_study::Direction;

use crate::csv_table::{Column, Table, is_missing};
use crate::error::AnalysisError;
use crate::findings::{sort, training};
use crate::fit::analysis::{Analysis, AnovaType};
use crate::fit::assemble::analyze;
use crate::model::balance::is_balanced;
use crate::model::bend::Points;
use crate::model::complete_rows::CompleteRows;
use crate::model::formula::Formula;
use crate::model::model_matrix::{Coding, Contrasts};
use crate::model::problem::{Cells, Grouping, Order, Problem};
use crate::model::variable::Variable;

/// How to analyse a table.
#[derive(Debug, Clone)]
pub struct TableOptions {
    /// How numbers enter the equation.
    pub coding: Coding,
    /// How categories enter it, in raw units.
    pub contrasts: Contrasts,
    /// Analysis-of-variance tables to compute.
    pub types: Vec<AnovaType>,
    /// Largest p-value called evidence.
    pub alpha: f64,
    /// Whether a small or a large response is good, if either is.
    pub direction: Option<Direction>,
    /// Columns whose values name an observation; its row number does without them.
    pub label_columns: Vec<String>,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self {
            coding: Coding::Raw,
            contrasts: Contrasts::Treatment,
            types: vec![AnovaType::One, AnovaType::Two, AnovaType::Three],
            alpha: 0.05,
            direction: None,
            label_columns: vec![],
        }
    }
}

/// Fits a formula to a table. Rows without a response or with an empty cell in a column of the
/// formula are left out, and a finding says so.
///
/// # Errors
/// A column that is missing, empty or of the wrong kind, or a response that cannot be fitted.
///
/// ```
/// use trainwright_analysis::{Formula, Table, TableOptions, TermOrder, analyze_table};
///
/// let csv = "cost,lr\n5.1,low\n4.9,low\n2.2,high\n1.8,high\n";
/// let table = Table::from_csv(csv.as_bytes(), &[])?;
/// let formula = Formula::parse("cost ~ lr", TermOrder::Formula)?;
/// let analysis = analyze_table(&table, &formula, &TableOptions::default())?;
/// assert!((analysis.fit.r2 - 0.989).abs() < 0.001);
/// # Ok::<(), trainwright_analysis::AnalysisError>(())
/// ```
pub fn analyze_table(
    table: &Table,
    formula: &Formula,
    options: &TableOptions,
) -> Result<Analysis, AnalysisError> {
    let complete = CompleteRows::of(table, formula)?;
    let found = complete.left_out.findings(complete.rows.len(), &formula.response);
    let mut analysis = analyze(&problem_of(table, complete, formula, options)?)?;
    analysis.findings.extend(found);
    analysis.findings.extend(training::of_table(table));
    sort(&mut analysis.findings);
    Ok(analysis)
}

/// The problem that a formula and the complete rows of a table pose.
pub(crate) fn problem_of(
    table: &Table,
    complete: CompleteRows,
    formula: &Formula,
    options: &TableOptions,
) -> Result<Problem, AnalysisError> {
    let CompleteRows { rows, y, .. } = complete;
    let variables = formula
        .variables
        .iter()
        .map(|name| Variable::from_table(table, name, &rows))
        .collect::<Result<Vec<_>, _>>()?;
    // Groups that only have an error of their own are nested in some terms, as plots are.
    let in_terms = |(place, _): &(usize, &Variable)| {
        formula.strata.is_empty() || formula.terms.iter().any(|term| term.contains(place))
    };
    let of_terms: Vec<&Variable> =
        variables.iter().enumerate().filter(in_terms).map(|(_, own)| own).collect();
    let balanced = is_balanced(&columns_behind(table, &of_terms, &rows)?);
    let grouping = |term: &Vec<usize>| {
        let own: Vec<&Variable> = term.iter().map(|&v| &variables[v]).collect();
        Grouping::by(formula.name_of(term), &own, y.len())
    };
    let groupings = formula.strata.iter().map(grouping).collect();
    Ok(Problem {
        response: formula.response_name(),
        logarithmic: formula.is_logarithmic(),
        formula: formula.text.clone(),
        y,
        variables,
        terms: formula.terms.clone(),
        term_names: formula.term_names(),
        intercept: formula.intercept,
        contrasts: options.contrasts,
        groupings,
        coding: options.coding,
        types: options.types.clone(),
        alpha: options.alpha,
        direction: options.direction,
        range: None,
        aliases: vec![],
        labels: labels(table, &rows, &options.label_columns)?,
        order: Order::Row,
        balanced,
        cells: Cells::AsFound,
        points: Points::OnLevels,
    })
}

/// The columns that the variables are made of, each once: balance is a matter of the rows, whatever
/// the equation computes from them.
fn columns_behind<'v>(
    table: &Table,
    variables: &[&'v Variable],
    rows: &[usize],
) -> Result<Vec<Cow<'v, Variable>>, AnalysisError> {
    let mut found: Vec<Cow<'v, Variable>> = Vec::new();
    for &own in variables {
        let source = own.source();
        if found.iter().any(|other| other.name == source) {
            continue;
        }
        let is_column = own.name != source && table.names().any(|name| name == source);
        let plain = is_column.then(|| Variable::from_table(table, source, rows)).transpose()?;
        found.push(plain.map_or(Cow::Borrowed(own), Cow::Owned));
    }
    Ok(found)
}

pub(crate) fn text_response(
    table: &Table,
    name: String,
    cells: &[Option<String>],
) -> AnalysisError {
    let mut texts = cells.iter().enumerate().filter_map(|(row, c)| Some((row, c.as_ref()?)));
    let bad = texts.find(|(_, c)| !is_missing(c) && c.parse::<f64>().is_err());
    match bad {
        Some((row, value)) => {
            AnalysisError::TextResponse { name, line: table.line(row), value: value.clone() }
        }
        None if cells.iter().flatten().all(is_missing) => {
            AnalysisError::TooFewRows { response: name, found: 0 }
        }
        None => AnalysisError::CategoricalResponse { name },
    }
}

fn labels(table: &Table, rows: &[usize], columns: &[String]) -> Result<Vec<String>, AnalysisError> {
    let named = columns
        .iter()
        .map(|name| Ok((name, table.column(name)?)))
        .collect::<Result<Vec<_>, AnalysisError>>()?;
    let cell = |column: &Column, row: usize| match column {
        Column::Numeric(cells) => cells[row].map_or_else(|| "?".to_owned(), |v| v.to_string()),
        Column::Categorical(cells) => cells[row].clone().unwrap_or_else(|| "?".to_owned()),
    };
    let label = |&row: &usize| {
        if named.is_empty() {
            return format!("row {}", row + 1);
        }
        let parts: Vec<String> =
            named.iter().map(|(name, column)| format!("{name} {}", cell(column, row))).collect();
        parts.join(" ")
    };
    Ok(rows.iter().map(label).collect())
}
