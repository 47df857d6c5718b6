//! The verb `stats` for a program: one statistical test on columns that it holds.

use trainwright_analysis::{AnalysisError, Column, Table, TestQuestion, TestResult};

use crate::Error;

/// A column of a test.
#[derive(Debug, Clone, PartialEq)]
pub enum NamedColumn {
    /// Numbers; one that is missing is absent.
    Numbers(String, Vec<Option<f64>>),
    /// Names of groups.
    Texts(String, Vec<String>),
}

/// Makes a test on columns.
///
/// # Errors
/// Columns of unequal length, one that is missing or not numeric, options that the test does not
/// use or lacks, or values on which it is not defined.
pub fn test_columns(
    question: &TestQuestion<'_>,
    columns: Vec<NamedColumn>,
) -> Result<TestResult, Error> {
    let name = question.test.name();
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
    use crate::StatsTest;

    fn question(test: StatsTest) -> TestQuestion<'static> {
        TestQuestion {
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
        let found = test_columns(&question(StatsTest::ShapiroWilk), vec![numbers("y", &values)]);
        let file = tempfile::NamedTempFile::new().unwrap();
        let lines: Vec<String> = values.iter().map(ToString::to_string).collect();
        std::fs::write(file.path(), format!("y\n{}\n", lines.join("\n"))).unwrap();
        let from_file = crate::test_statistics(file.path(), &question(StatsTest::ShapiroWilk));
        assert_eq!(found.unwrap(), from_file.unwrap());
    }

    #[test]
    fn a_test_that_lacks_its_groups_says_so() {
        let columns = vec![numbers("y", &[1.0, 2.0])];
        let error = test_columns(&question(StatsTest::Welch), columns).unwrap_err();
        assert!(error.to_string().starts_with("cannot make the test welch: "), "{error}");
        assert_eq!(error.exit_code(), 2);
    }
}
