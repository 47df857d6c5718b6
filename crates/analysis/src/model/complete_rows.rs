//! The rows of a table that have a cell in every column that a formula needs.

use crate::csv_table::{Column, Table, is_missing};
use crate::error::AnalysisError;
use crate::findings::{Finding, warning};
use crate::fit::analyze_table::text_response;
use crate::model::derived_columns::Derived;
use crate::model::formula::Formula;
use crate::model::response::Response;
use crate::wording::count;

/// Rows that can be fitted, the response as it enters the fit, and the rows that cannot.
pub(crate) struct CompleteRows {
    pub(crate) rows: Vec<usize>,
    pub(crate) y: Vec<f64>,
    pub(crate) left_out: RowsLeftOut,
}

impl CompleteRows {
    /// Finds them.
    pub(crate) fn of(table: &Table, formula: &Formula) -> Result<Self, AnalysisError> {
        let name = formula.response.clone();
        let cells = match table.column(&name)? {
            Column::Numeric(cells) => cells,
            Column::Categorical(cells) => return Err(text_response(table, name, cells)),
        };
        let entering = Response::of(formula);
        let names = predictors(table, formula);
        let columns = names.iter().map(|name| table.column(name)).collect::<Result<Vec<_>, _>>()?;
        let mut left_out = RowsLeftOut::nothing(names);
        let (mut rows, mut y) = (Vec::new(), Vec::new());
        for (row, cell) in cells.iter().enumerate() {
            let Some(value) = *cell else {
                left_out.without_response += 1;
                continue;
            };
            if left_out.admits(|place| is_empty(columns[place], row)) {
                rows.push(row);
                y.push(entering.enter(value, || table.line(row))?);
            }
        }
        left_out.check(y.len(), &name)?;
        Ok(Self { rows, y, left_out })
    }
}

/// Rows left out of a fit.
#[derive(Debug, Clone)]
pub(crate) struct RowsLeftOut {
    pub(crate) without_response: usize,
    /// Rows with a response that lack a predictor.
    without_predictor: usize,
    /// Columns of the predictors, each with the number of those rows that are empty in it.
    columns: Vec<(String, usize)>,
}

impl RowsLeftOut {
    /// The count before the first row, for these columns.
    pub(crate) fn nothing(columns: Vec<String>) -> Self {
        let columns = columns.into_iter().map(|name| (name, 0)).collect();
        Self { without_response: 0, without_predictor: 0, columns }
    }

    /// Whether a row with a response can be fitted; counted if it cannot.
    pub(crate) fn admits(&mut self, is_empty: impl Fn(usize) -> bool) -> bool {
        let mut complete = true;
        for (place, (_, rows)) in self.columns.iter_mut().enumerate() {
            if is_empty(place) {
                *rows += 1;
                complete = false;
            }
        }
        self.without_predictor += usize::from(!complete);
        complete
    }

    /// Adds the counts of other rows of the same columns.
    pub(crate) fn add(&mut self, other: &Self) {
        self.without_response += other.without_response;
        self.without_predictor += other.without_predictor;
        self.columns.iter_mut().zip(&other.columns).for_each(|(own, new)| own.1 += new.1);
    }

    /// Refuses a column without any value, and fewer rows than a fit needs.
    pub(crate) fn check(&self, fitted: usize, response: &str) -> Result<(), AnalysisError> {
        let with_response = fitted + self.without_predictor;
        let response = response.to_owned();
        if with_response < 2 {
            return Err(AnalysisError::TooFewRows { response, found: with_response });
        }
        if let Some((column, _)) = self.columns.iter().find(|(_, rows)| *rows == with_response) {
            return Err(AnalysisError::EmptyColumn { column: column.clone(), response });
        }
        if fitted < 2 {
            return Err(AnalysisError::TooFewComplete { response, found: fitted });
        }
        Ok(())
    }

    /// Says how many rows of all were left out, and why.
    pub(crate) fn findings(&self, fitted: usize, response: &str) -> Vec<Finding> {
        let all = fitted + self.without_response + self.without_predictor;
        let mut found = Vec::new();
        let rows = self.without_response;
        if rows > 0 {
            let text = format!(
                "{} of {all} {} no value of {response} and {} left out of the fit; if they were \
                 planned, the design is no longer complete",
                count(rows, "row"),
                if rows == 1 { "has" } else { "have" },
                if rows == 1 { "is" } else { "are" }
            );
            found.push(warning("missing-response", text));
        }
        let rows = self.without_predictor;
        if rows > 0 {
            let named = self.columns.iter().filter(|(_, rows)| *rows > 0);
            let named: Vec<String> =
                named.map(|(name, rows)| format!("`{name}` ({rows})")).collect();
            let text = format!(
                "{} of {all} {} an empty cell in {} and {} left out of the fit, though {response} \
                 was measured there",
                count(rows, "row"),
                if rows == 1 { "has" } else { "have" },
                named.join(" or "),
                if rows == 1 { "is" } else { "are" }
            );
            found.push(warning("missing-predictor", text));
        }
        found
    }
}

/// The columns that the variables of a formula are made of, each once.
pub(crate) fn predictors(table: &Table, formula: &Formula) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for name in &formula.variables {
        // A column may bear the name of a computed one itself.
        let columns = match Derived::of(name).filter(|_| table.names().all(|own| own != name)) {
            Some(Derived::Polynomial { column, .. } | Derived::Category { column }) => vec![column],
            Some(Derived::Computed(own)) => own.names().into_iter().map(str::to_owned).collect(),
            None => vec![name.clone()],
        };
        for column in columns {
            if !found.contains(&column) {
                found.push(column);
            }
        }
    }
    found
}

/// Whether a cell of a predictor holds nothing: a word for a missing value is no level.
pub(crate) fn is_empty(column: &Column, row: usize) -> bool {
    match column {
        Column::Numeric(cells) => cells[row].is_none(),
        Column::Categorical(cells) => cells[row].as_deref().is_none_or(is_missing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::formula::TermOrder;

    fn complete(csv: &str, formula: &str) -> Result<CompleteRows, AnalysisError> {
        let table = Table::from_csv(csv.as_bytes(), &[]).unwrap();
        CompleteRows::of(&table, &Formula::parse(formula, TermOrder::Formula).unwrap())
    }

    fn texts(csv: &str, formula: &str) -> Vec<String> {
        let found = complete(csv, formula).unwrap();
        found.left_out.findings(found.rows.len(), "y").into_iter().map(|f| f.text).collect()
    }

    #[test]
    fn rows_with_an_empty_cell_are_left_out_and_counted_by_column() {
        let csv = "y,x,g\n1,1,a\n2,,b\n3,3,NA\n4,NA,\n,5,a\n6,6,b\n";
        let found = complete(csv, "y ~ log(x) + g").unwrap();
        assert_eq!((found.rows, found.y), (vec![0, 5], vec![1.0, 6.0]));
        assert_eq!(
            texts(csv, "y ~ I(x^2)*g"),
            [
                "1 row of 6 has no value of y and is left out of the fit; if they were planned, \
                 the design is no longer complete",
                "3 rows of 6 have an empty cell in `x` (2) or `g` (2) and are left out of the \
                 fit, though y was measured there",
            ]
        );
    }

    #[test]
    fn cells_of_columns_outside_the_formula_may_be_empty() {
        assert!(texts("y,x,note\n1,1,\n2,2,\n3,4,\n", "y ~ poly(x, 1)").is_empty());
    }

    #[test]
    fn a_logarithm_is_taken_only_of_rows_that_are_fitted() {
        assert_eq!(complete("y,x\n1,1\n-2,\n3,3\n", "log(y) ~ x").unwrap().rows, [0, 2]);
    }

    #[track_caller]
    fn refused(csv: &str, formula: &str, message: &str) {
        let error = complete(csv, formula).err().unwrap().to_string();
        assert_eq!(error, message);
    }

    #[test]
    fn a_column_without_a_value_is_refused_by_name() {
        let message = "column `x` is empty in every row that has a value of `y`; fill it in or \
                       leave it out of the formula";
        refused("y,x\n1,\n2,NA\n3,\n", "y ~ x", message);
        refused("y,x,z\n1,,1\n2,,2\n,5,3\n", "y ~ z + factor(x)", message);
    }

    #[test]
    fn too_few_complete_rows_are_refused() {
        refused(
            "y,x,z\n1,,1\n2,1,\n3,2,2\n",
            "y ~ x + z",
            "1 of the rows has `y` and every column of the formula, but a fit needs at least 2",
        );
        refused(
            "y,x\n1,1\n,2\n",
            "y ~ x",
            "`y` has values in 1 of the rows, but a fit needs at least 2",
        );
    }
}
