//! Why observations cannot be analysed.

use trainwright_stats::{StatsError, shown};

/// Why observations cannot be analysed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message documents its variant")]
pub enum AnalysisError {
    #[error("the table cannot be read: {0}")]
    Csv(#[from] csv::Error),
    #[error("the table cannot be read: {0}")]
    Unreadable(std::io::Error),
    #[error("line {line} has {} where the header has {width}", cells(*found))]
    Ragged { line: u64, found: usize, width: usize },
    #[error("the record on line {line} does not end; a quotation mark may be missing")]
    LongRecord { line: u64 },
    #[error(
        "line {line}, column `{column}`: `{value}` is not a number, but the column holds numbers \
         before; correct the cell, or name the column with --categorical"
    )]
    LateText { line: u64, column: String, value: String },
    #[error(
        "the equation has more than {most} columns in a table of more than 20,000 rows; leave out \
         a term or a column of many categories"
    )]
    ManyColumns { most: usize },
    #[error(
        "the equation has {columns} columns for {rows} rows, {levels} of them for the levels of \
         `{column}`, and fitting it would take about {minutes}; leave the column out if it only names \
         rows, or compare its levels by `trainwright compare --by` or `trainwright stats anova --by`, \
         which are fast"
    )]
    SlowEquation { columns: usize, rows: usize, column: String, levels: usize, minutes: String },
    #[error("`Error(...)` is computed for tables of up to {most} rows, and this one has more")]
    LongStrata { most: usize },
    #[error("the table has a header but no rows")]
    NoRows,
    #[error("the table is empty: it has neither a header nor rows")]
    NoHeader,
    #[error("the header names column `{name}` twice")]
    DuplicateColumn { name: String },
    #[error("`{name}` has {length} values where `{first}` has {rows}")]
    UnequalColumns { name: String, length: usize, first: String, rows: usize },
    #[error("line {line}, column `{column}`: `{value}` is not a finite number")]
    NotFinite { line: u64, column: String, value: String },
    #[error("line {line}, column `{column}`: the cell is empty, but every row needs its factors")]
    EmptyFactor { line: u64, column: String },
    #[error(
        "column `{column}` is empty in every row that has a value of `{response}`; \
         fill it in or leave it out of the formula"
    )]
    EmptyColumn { column: String, response: String },
    #[error("there is no column `{name}`; the table has {known}")]
    UnknownColumn { name: String, known: String },
    #[error(
        "the response `{name}` is not numeric: line {line} holds `{value}`; \
         correct the cell or choose another response"
    )]
    TextResponse { name: String, line: u64, value: String },
    #[error("the response `{name}` was listed as categorical; a response must be numeric")]
    CategoricalResponse { name: String },
    #[error("log({name}) needs positive values, but line {line} holds {}", shown(*value))]
    LogOfNonPositive { name: String, line: u64, value: f64 },
    #[error(
        "a Box-Cox power of `{name}` needs positive values, but line {line} holds {}",
        shown(*value)
    )]
    PowerOfNonPositive { name: String, line: u64, value: f64 },
    #[error("`{response}` has values in {found} of the rows, but a fit needs at least 2")]
    TooFewRows { response: String, found: usize },
    #[error(
        "{found} of the rows {} `{response}` and every column of the formula, \
         but a fit needs at least 2",
        if *found == 1 { "has" } else { "have" }
    )]
    TooFewComplete { response: String, found: usize },
    #[error("formula `{formula}`: {problem} at character {position}")]
    Formula { formula: String, position: usize, problem: String },
    #[error("the terms `{terms}` name `{name}`, which is not a factor; factors are {known}")]
    UnknownFactor { terms: String, name: String, known: String },
    #[error("none of the {observed} observations is a finished trial, so there is nothing to fit")]
    NothingFinished { observed: usize },
    #[error("trial {trial} has no level of factor `{factor}`")]
    MissingLevel { trial: u32, factor: String },
    #[error("trial {trial}: `{level}` is not a level of factor `{factor}`")]
    UnknownLevel { trial: u32, factor: String, level: String },
    #[error("finished trial {trial} has no value of metric `{metric}`")]
    MissingMetric { trial: u32, metric: String },
    #[error("`{expression}` has no value in line {line}: {reason}")]
    NotComputable { expression: String, line: u64, reason: String },
    #[error("`{variable}` cannot be computed: {source}")]
    Variable { variable: String, source: StatsError },
    #[error("column `{name}` must hold numbers, but line {line} holds `{value}`")]
    TextColumn { name: String, line: u64, value: String },
    #[error("column `{name}` holds no numbers")]
    NoNumbers { name: String },
    #[error("`{baseline}` is no level of `{by}`; its levels are {known}")]
    UnknownBaseline { by: String, baseline: String, known: String },
    #[error("the baseline {by} = {baseline} has no value of `{response}` to compare with")]
    EmptyBaseline { by: String, baseline: String, response: String },
    #[error("`{by}` has values at one level only ({level}), so there is nothing to compare")]
    OneLevel { by: String, level: String },
    #[error("line {line}: the pair {pair} has a second value at {level}; a pair has one a level")]
    PairTwice { line: u64, pair: String, level: String },
    #[error("line {line}, column `{column}`: {} is not positive", shown(*value))]
    NotPositive { line: u64, column: String, value: f64 },
    #[error("{group} has {found} number of `{steps}`, but a line needs at least 2")]
    NoLine { group: String, steps: String, found: usize },
    #[error("{message}")]
    TestOptions { message: String },
    #[error("{message}")]
    NoTest { message: String },
    #[error("no column can be correlated with `{response}`: none holds numbers that vary")]
    NoCorrelations { response: String },
    #[error(
        "`{factor}` has {found} different values, but a quadratic surface needs at least 3 of each \
         factor"
    )]
    TooFewLevels { factor: String, found: usize },
    #[error(
        "{different} different points of {factors} do not tell the {terms} terms of a quadratic apart; \
         use a central composite, Box-Behnken or three-level design"
    )]
    NoSurface { factors: String, terms: usize, different: usize },
    #[error("the significance level is {}, but must lie between 0 and 1", shown(*alpha))]
    Alpha { alpha: f64 },
    #[error("`{response}` cannot be analysed: {source}")]
    Stats { response: String, source: StatsError },
}

fn cells(number: usize) -> String {
    crate::wording::count(number, "cell")
}

impl AnalysisError {
    /// Line of the table that is at fault; the last possible one where none is.
    pub(crate) fn line(&self) -> u64 {
        match self {
            Self::Ragged { line, .. }
            | Self::LongRecord { line }
            | Self::LateText { line, .. }
            | Self::NotFinite { line, .. }
            | Self::EmptyFactor { line, .. }
            | Self::TextResponse { line, .. }
            | Self::LogOfNonPositive { line, .. }
            | Self::NotComputable { line, .. } => *line,
            _ => u64::MAX,
        }
    }
}
