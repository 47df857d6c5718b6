//! The verb `stats`: one statistical test on columns of a file.

use std::path::Path;

pub use trainwright_analysis::{AdjustmentMethod, StatsTest, TestResult};
use trainwright_analysis::{AnalysisError, Table, TestQuestion};
pub use trainwright_stats::Location;

use crate::Error;
use crate::whole_file::WholeFile;

/// A test and the columns to make it on.
#[derive(Debug, Clone, Copy)]
pub struct TestRequest<'a> {
    /// The test.
    pub test: StatsTest,
    /// CSV file with a header.
    pub data: &'a Path,
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

/// Makes a test on a file.
///
/// Rows without a value are left out, and the result names their lines.
///
/// # Errors
/// A file that cannot be read, a column that is missing or not numeric, options that the test
/// does not use or lacks, or values on which it is not defined.
pub fn test_statistics(request: &TestRequest<'_>) -> Result<TestResult, Error> {
    let question = request.question();
    let path = request.data;
    let fault = |error: AnalysisError| match error {
        AnalysisError::TestOptions { message } => Error::Request(message),
        error => Error::Statistics { file: path.to_owned(), message: error.to_string() },
    };
    question.check().map_err(fault)?;
    let file = WholeFile::open(path)?;
    // A grouping column is read as text, so that groups keep the names they have in the file.
    let texts: Vec<String> = request.by.into_iter().map(str::to_owned).collect();
    let named: Vec<&str> =
        [request.column, request.by, request.with].into_iter().flatten().collect();
    let table = match request.formula {
        Some(_) => Table::from_csv(file, &texts),
        None => Table::from_csv_columns(file, &texts, &named),
    };
    question.answer(&table.map_err(fault)?).map_err(fault)
}

impl<'a> TestRequest<'a> {
    fn question(&self) -> TestQuestion<'a> {
        TestQuestion {
            test: self.test,
            column: self.column,
            by: self.by,
            with: self.with,
            formula: self.formula,
            method: self.method,
            statistic: self.statistic,
            ratio: self.ratio,
            seed: self.seed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(data: &Path) -> TestRequest<'_> {
        TestRequest {
            test: StatsTest::Welch,
            data,
            column: Some("y"),
            by: Some("g"),
            with: None,
            formula: None,
            method: None,
            statistic: None,
            ratio: false,
            seed: None,
        }
    }

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        file
    }

    #[test]
    fn options_are_judged_before_the_file_is_opened() {
        let nowhere = Path::new("nowhere.csv");
        let error = test_statistics(&TestRequest { column: None, ..request(nowhere) }).unwrap_err();
        assert!(matches!(error, Error::Request(_)), "{error}");
        let error = test_statistics(&request(nowhere)).unwrap_err();
        assert!(error.to_string().starts_with("cannot read nowhere.csv: "), "{error}");
    }

    #[test]
    fn groups_keep_the_names_they_have_in_the_file() {
        let table = file("g,y\n01,1\n01,2\n01,3\n1,7\n1,8\n1,9.5\n");
        let result = test_statistics(&request(table.path())).unwrap();
        let json = serde_json::to_string(&result.fields).unwrap();
        assert!(json.contains("01"), "{json}");
    }

    #[test]
    fn a_column_of_texts_is_refused_with_the_file() {
        let table = file("g,y\na,1\na,x\nb,3\nb,4\n");
        let error = test_statistics(&request(table.path())).unwrap_err();
        let words = error.to_string();
        assert!(words.starts_with("cannot test ") && words.contains("`y`"), "{words}");
        assert_eq!(error.exit_code(), 2);
    }
}
