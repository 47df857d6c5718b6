//! Analysis-of-variance tables alone, without checks and findings.

use crate::csv_table::Table;
use crate::error::AnalysisError;
use crate::fit::analysis::AnovaTable;
use crate::fit::analyze_table::{TableOptions, problem_of};
use crate::fit::assemble::check_alpha;
use crate::fit::fitted::tables_alone;
use crate::fit::long_table::{FEW_ROWS, anova_of_long_table};
use crate::model::complete_rows::CompleteRows;
use crate::model::formula::Formula;

/// Fits a formula to a table and gives the analysis-of-variance tables asked for, nothing else.
///
/// # Errors
/// As [`crate::analyze_table`].
///
/// ```
/// use trainwright_analysis::{Formula, Table, TableOptions, TermOrder, anova_of_table};
///
/// let csv = "cost,lr\n5.1,low\n4.9,low\n2.2,high\n1.8,high\n";
/// let table = Table::from_csv(csv.as_bytes(), &[])?;
/// let formula = Formula::parse("cost ~ lr", TermOrder::Formula)?;
/// let tables = anova_of_table(&table, &formula, &TableOptions::default())?;
/// assert!((tables[1].rows[0].sum_sq.expect("not aliased") - 9.0).abs() < 1e-12);
/// # Ok::<(), trainwright_analysis::AnalysisError>(())
/// ```
pub fn anova_of_table(
    table: &Table,
    formula: &Formula,
    options: &TableOptions,
) -> Result<Vec<AnovaTable>, AnalysisError> {
    check_alpha(options.alpha)?;
    if table.rows() > FEW_ROWS && formula.strata.is_empty() {
        return anova_of_long_table(table, formula, options);
    }
    tables_alone(&problem_of(table, CompleteRows::of(table, formula)?, formula, options)?)
}
