//! The verb `stats`: one statistical test on columns of a file.

use std::path::Path;

pub use trainwright_analysis::{AdjustmentMethod, StatsTest, TestQuestion, TestResult};
use trainwright_analysis::{AnalysisError, Table};
pub use trainwright_stats::Location;

use crate::Error;
use crate::whole_file::WholeFile;

/// Makes a test on a CSV file with a header.
///
/// Rows without a value are left out, and the result names their lines.
///
/// # Errors
/// A file that cannot be read, a column that is missing or not numeric, options that the test
/// does not use or lacks, or values on which it is not defined.
pub fn test_statistics(data: &Path, question: &TestQuestion<'_>) -> Result<TestResult, Error> {
    let fault = |error: AnalysisError| match error {
        AnalysisError::TestOptions { message } => Error::Request(message),
        error => Error::Statistics { file: data.to_owned(), message: error.to_string() },
    };
    question.check().map_err(fault)?;
    let file = WholeFile::open(data)?;
    // A grouping column is read as text, so that groups keep the names they have in the file.
    let texts: Vec<String> = question.by.into_iter().map(str::to_owned).collect();
    let named: Vec<&str> =
        [question.column, question.by, question.with].into_iter().flatten().collect();
    let table = match question.formula {
        Some(_) => Table::from_csv(file, &texts),
        None => Table::from_csv_columns(file, &texts, &named),
    };
    question.answer(&table.map_err(fault)?).map_err(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WELCH: TestQuestion<'static> = TestQuestion {
        test: StatsTest::Welch,
        column: Some("y"),
        by: Some("g"),
        with: None,
        formula: None,
        method: None,
        statistic: None,
        ratio: false,
        seed: None,
    };

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        file
    }

    #[test]
    fn options_are_judged_before_the_file_is_opened() {
        let nowhere = Path::new("nowhere.csv");
        let error = test_statistics(nowhere, &TestQuestion { column: None, ..WELCH }).unwrap_err();
        assert!(matches!(error, Error::Request(_)), "{error}");
        let error = test_statistics(nowhere, &WELCH).unwrap_err();
        assert!(error.to_string().starts_with("cannot read nowhere.csv: "), "{error}");
    }

    #[test]
    fn groups_keep_the_names_they_have_in_the_file() {
        let table = file("g,y\n01,1\n01,2\n01,3\n1,7\n1,8\n1,9.5\n");
        let result = test_statistics(table.path(), &WELCH).unwrap();
        let json = serde_json::to_string(&result.fields).unwrap();
        assert!(json.contains("01"), "{json}");
    }

    #[test]
    fn a_column_of_texts_is_refused_with_the_file() {
        let table = file("g,y\na,1\na,x\nb,3\nb,4\n");
        let error = test_statistics(table.path(), &WELCH).unwrap_err();
        let words = error.to_string();
        assert!(words.starts_with("cannot test ") && words.contains("`y`"), "{words}");
        assert_eq!(error.exit_code(), 2);
    }
}
