//! The statistical tests on columns of numbers.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use trainwright::{
    AdjustmentMethod, Location, NamedColumn, StatsTest, TestQuestion, terminal, test_columns,
};

use crate::fault::{bad_input, json, raised};

/// A test and how its columns are called, as `Question` of the package says it.
#[derive(FromPyObject)]
pub(crate) struct Question {
    test: String,
    column: Option<String>,
    by: Option<String>,
    with_column: Option<String>,
    formula: Option<String>,
    method: Option<String>,
    statistic: Option<String>,
    ratio: bool,
    seed: Option<u64>,
}

/// Cells of a column: numbers as the bytes of doubles of this machine, or texts.
#[derive(FromPyObject)]
pub(crate) enum ColumnCells {
    Numbers(PyBackedBytes),
    Texts(Vec<String>),
}

/// Makes a test on columns; its figures as JSON, and what they mean in words.
#[pyfunction]
pub(crate) fn statistical_test(
    py: Python<'_>,
    question: Question,
    columns: Vec<(String, ColumnCells)>,
) -> PyResult<(String, Vec<String>, String)> {
    py.detach(|| {
        let question = question.asked()?;
        let columns = columns.into_iter().map(named).collect();
        let found = test_columns(&question, columns).map_err(raised)?;
        let words = terminal::test_result(&found);
        Ok((json(&found.fields)?, found.meaning, words))
    })
}

/// Names of all tests.
#[pyfunction]
pub(crate) fn statistical_tests() -> Vec<&'static str> {
    StatsTest::names().collect()
}

impl Question {
    fn asked(&self) -> PyResult<TestQuestion<'_>> {
        let unknown = |what: &str, known: Vec<&str>| {
            bad_input(format!("there is no {what}; known are {}", known.join(", ")))
        };
        let test = self
            .test
            .parse::<StatsTest>()
            .map_err(|_| unknown(&format!("test `{}`", self.test), StatsTest::names().collect()))?;
        let method = |name: &String| {
            name.parse::<AdjustmentMethod>().map_err(|_| {
                let names = AdjustmentMethod::names().collect();
                unknown(&format!("method `{name}` of adjusting p-values"), names)
            })
        };
        let statistic = |name: &String| match name.as_str() {
            "mean" => Ok(Location::Mean),
            "median" => Ok(Location::Median),
            other => Err(unknown(&format!("statistic `{other}`"), vec!["mean", "median"])),
        };
        Ok(TestQuestion {
            test,
            column: self.column.as_deref(),
            by: self.by.as_deref(),
            with: self.with_column.as_deref(),
            formula: self.formula.as_deref(),
            method: self.method.as_ref().map(method).transpose()?,
            statistic: self.statistic.as_ref().map(statistic).transpose()?,
            ratio: self.ratio,
            seed: self.seed,
        })
    }
}

/// A number that is none is a missing value, as in a data frame.
fn named((name, cells): (String, ColumnCells)) -> NamedColumn {
    match cells {
        ColumnCells::Texts(texts) => NamedColumn::Texts(name, texts),
        ColumnCells::Numbers(bytes) => {
            let number = |eight: &[u8]| {
                let value = f64::from_ne_bytes(eight.try_into().unwrap_or_default());
                (!value.is_nan()).then_some(value)
            };
            NamedColumn::Numbers(name, bytes.chunks_exact(8).map(number).collect())
        }
    }
}
