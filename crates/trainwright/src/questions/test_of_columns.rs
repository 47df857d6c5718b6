//! The verb `stats` for a program: one statistical test on columns that it holds.

use trainwright_analysis::{AnalysisError, Column, Table, TestQuestion, TestResult};

use crate::{AdjustmentMethod, Error, Location, StatsTest};

/// A column of a test.
#[derive(Debug, Clone, PartialEq)]
pub enum NamedColumn {
    /// Numbers; one that is missing is absent.
    Numbers(String, Vec<Option<f64>>),
    /// Names of groups.
    Texts(String, Vec<String>),
}

/// A test and the columns to make it on, by their names.
#[derive(Debug, Clone, Copy)]
pub struct ColumnTest<'a> {
    /// The test.
    pub test: StatsTest,
    /// Column of the values.
    pub column: Option<&'a str>,
    /// Column that names the groups.
    pub by: Option<&'a str>,
    /// Column of the values to compare with, row by row.
    pub with: Option<&'a str>,
    /// Equation of a Box-Cox power.
    pub formula: Option<&'a str>,
    /// How p-values are adjusted.
    pub method: Option<AdjustmentMethod>,
    /// What a bootstrap compares: means, if not said.
    pub statistic: Option<Location>,
    /// Whether a bootstrap compares by a ratio instead of a difference.
    pub ratio: bool,
    /// Seed of a bootstrap.
    pub seed: Option<u64>,
}

/// Makes a test on columns.
///
/// # Errors
/// Columns of unequal length, one that is missing or not numeric, options that the test does not
/// use or lacks, or values on which it is not defined.
pub fn test_columns(
    request: &ColumnTest<'_>,
    columns: Vec<NamedColumn>,
) -> Result<TestResult, Error> {
    let question = TestQuestion {
        test: request.test,
        column: request.column,
        by: request.by,
        with: request.with,
        formula: request.formula,
        method: request.method,
        statistic: request.statistic,
        ratio: request.ratio,
        seed: request.seed,
    };
    let name = request.test.name();
    let fault =
        |error: AnalysisError| Error::Request(format!("cannot make the test {name}: {error}"));
    question.check().map_err(fault)?;
    let columns = columns.into_iter().map(|column| match column {
        NamedColumn::Numbers(name, cells) => (name, Column::Numeric(cells)),
        NamedColumn::Texts(name, cells) => {
            (name, Column::Categorical(cells.into_iter().map(Some).collect()))
        }
    });
    let table = Table::from_columns(columns.collect()).map_err(fault)?;
    question.answer(&table).map_err(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(test: StatsTest) -> ColumnTest<'static> {
        ColumnTest {
            test,
            column: Some("y"),
            by: None,
            with: None,
            formula: None,
            method: None,
            statistic: None,
            ratio: false,
            seed: None,
        }
    }

    fn numbers(name: &str, values: &[f64]) -> NamedColumn {
        NamedColumn::Numbers(name.to_owned(), values.iter().map(|own| Some(*own)).collect())
    }

    #[test]
    fn columns_give_what_the_same_file_gives() {
        let values = [2.1, 3.4, 1.9, 5.0, 4.2, 3.3];
        let found = test_columns(&request(StatsTest::ShapiroWilk), vec![numbers("y", &values)]);
        let file = tempfile::NamedTempFile::new().unwrap();
        let lines: Vec<String> = values.iter().map(ToString::to_string).collect();
        std::fs::write(file.path(), format!("y\n{}\n", lines.join("\n"))).unwrap();
        let from_file = crate::test_statistics(&crate::TestRequest {
            test: StatsTest::ShapiroWilk,
            data: file.path(),
            column: Some("y"),
            by: None,
            with: None,
            formula: None,
            method: None,
            statistic: None,
            ratio: false,
            seed: None,
        });
        assert_eq!(found.unwrap(), from_file.unwrap());
    }

    #[test]
    fn a_test_that_lacks_its_groups_says_so() {
        let columns = vec![numbers("y", &[1.0, 2.0])];
        let error = test_columns(&request(StatsTest::Welch), columns).unwrap_err();
        assert!(error.to_string().starts_with("cannot make the test welch: "), "{error}");
        assert_eq!(error.exit_code(), 2);
    }
}
