//! Why a design cannot be built, and where in the study file the reason lies; `error/help.rs` says
//! what to do about it.

mod help;

use trainwright_study::{Configuration, EvaluateError, Level};

/// Why a design cannot be built.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message documents its variant")]
pub enum DesignError {
    #[error("the study has no factors")]
    NoFactors,
    #[error("the factors have {} combinations, more than {most}", estimated(*combinations))]
    TooManyCombinations { combinations: u128, most: usize },
    #[error("{runs} runs are more than {most}")]
    TooManyRows { runs: u64, most: usize },
    #[error("{centre} centre points beside {rows} rows are more than the {most} rows of a design")]
    TooManyCentrePoints { centre: u64, rows: usize, most: usize },
    #[error("{rows} rows of {factors} factors have {cells} cells, more than {most}")]
    TooManyCells { rows: usize, factors: usize, cells: u128, most: usize },
    #[error("the term `{term}` stands for {products} products, more than {most}")]
    TooManyProducts { term: String, products: u128, most: usize },
    #[error(
        "{candidates} candidates for {coefficients} coefficients are {cells} numbers, more than \
         {most}"
    )]
    ModelTooLarge { candidates: usize, coefficients: usize, cells: u128, most: usize },
    #[error(
        "choosing {runs} of {candidates} candidates for {coefficients} coefficients from {starts} \
         starts takes {} multiplications for each pass, more than {}", rough(*work), rough(*most)
    )]
    SearchTooLong {
        runs: usize,
        candidates: usize,
        coefficients: usize,
        starts: u32,
        work: u128,
        most: u128,
        /// The most starts that fit; none where a single one is too long.
        starts_allowed: u128,
    },
    #[error("the table has {rows} rows, more than {most}")]
    TableTooLong { rows: usize, most: usize },
    #[error("{rows} rows with {replications} replications make {trials} trials, more than {most}")]
    TooManyTrials { rows: usize, replications: u32, trials: u64, most: usize },
    #[error("no combination of levels satisfies the constraints; `{constraint}` drops the last")]
    NothingLeft { constraint: String, index: usize },
    #[error("the table has no rows")]
    EmptyTable,
    #[error("factor `{factor}` has no level {level} for the baseline")]
    UnknownBaselineLevel { factor: String, level: Level },
    #[error("the baseline {configuration} violates constraint `{constraint}`")]
    BaselineViolates { configuration: Configuration, constraint: String },
    #[error("row {row} ({configuration}) violates constraint `{constraint}`")]
    RowViolates { row: usize, configuration: Configuration, constraint: String, index: usize },
    #[error("factor `{factor}` has {levels} levels where a two-level design needs 2")]
    NotTwoLevel { factor: String, levels: usize },
    #[error("factor `{factor}` is conditional, but {design} sets every factor in every row")]
    ConditionalFactor { factor: String, design: &'static str },
    #[error("factor `{factor}` has levels without numbers, and {design} needs points between")]
    NotNumeric { factor: String, design: &'static str },
    #[error(
        "factor `{factor}` takes whole numbers, and both {first} and {second} would run as {level}"
    )]
    LevelsCollapse { factor: String, first: f64, second: f64, level: Level },
    #[error("{design} would run `{factor}` at {value}, though its levels are above 0")]
    BelowZero { factor: String, value: f64, design: &'static str },
    #[error("`{term}` in the terms `{terms}` is no factor, power or product of factors")]
    UnknownTerm { terms: String, term: String },
    #[error("{runs} runs are too few for the {coefficients} coefficients of the model")]
    TooFewRunsForModel { runs: usize, coefficients: usize },
    #[error("the candidates cannot fix all {coefficients} coefficients of the model")]
    CandidatesTooPoor { coefficients: usize },
    #[error(
        "the levels have {combinations} combinations or more, and {most} are the most to choose from"
    )]
    TooManyCandidates { combinations: u128, most: usize },
    #[error("no orthogonal array of at most {most} runs has columns for {wanted}")]
    NoArray { wanted: String, most: usize },
    #[error("{runs} runs have no orthogonal array with columns for {wanted}")]
    NoArrayOfSize { wanted: String, runs: u32, enough: usize },
    #[error("only a D-optimal design says which rows may be added, and for which terms")]
    NotDOptimal,
    #[error("there is no factor `{factor}` to fold over")]
    FoldoverFactor { factor: String },
    #[error("reversing these signs gives the same rows again")]
    FoldoverRepeats,
    #[error("{blocks} blocks are not a power of two, from 2 on")]
    BlocksNotPowerOfTwo { blocks: u32 },
    #[error("{blocks} blocks leave a block of the {rows} rows with fewer than 2")]
    TooManyBlocks { blocks: u32, rows: usize },
    #[error("no {blocks} blocks of the {rows} rows leave every main effect apart from them")]
    NoRoomForBlocks { blocks: u32, rows: usize },
    #[error("block generator `{generator}` {problem}")]
    BlockGenerator { index: usize, generator: String, problem: GeneratorProblem },
    #[error("block generator `{generator}` gives the same blocks as those before it")]
    BlockGeneratorRepeats { index: usize, generator: String },
    #[error("the blocks cannot be told apart from the main effect of `{factor}`")]
    BlocksHideMain { factor: String },
    #[error("the condition of factor `{factor}` has no value for {configuration}: {source}")]
    BadCondition { factor: String, configuration: Configuration, source: EvaluateError },
    #[error("constraint has no value for {configuration}: {source}")]
    BadConstraint { index: usize, configuration: Configuration, source: EvaluateError },
    #[error("{runs} runs are not a power of two, as a regular two-level fraction needs")]
    RunsNotPowerOfTwo { runs: u32 },
    #[error("{runs} runs are too few for {factors} two-level factors")]
    TooFewRuns { runs: u32, factors: usize, least: u32 },
    #[error("{runs} runs are more than the {combinations} combinations of {factors} factors")]
    TooManyRuns { runs: u32, factors: usize, combinations: u64 },
    #[error("{factors} factors are more than the {most} that have a letter")]
    TooManyFactors { factors: usize, most: usize },
    #[error("{factors} factors in {runs} runs need {generators} generators, more than {most}")]
    TooManyGenerators { factors: usize, runs: u64, generators: usize, most: usize },
    #[error("a fractional design needs a number of runs, or generators")]
    SizeMissing,
    #[error("the generators give {given} runs where {runs} are asked for")]
    RunsDisagree { runs: u32, given: u64 },
    #[error("generator `{generator}` {problem}")]
    Generator { index: usize, generator: String, problem: GeneratorProblem },
    #[error("resolution {asked} is asked for, but {runs} runs reach only {reached}")]
    ResolutionNotReached {
        asked: u32,
        reached: u32,
        runs: u64,
        /// The smallest number of runs that reaches it, unless that is beyond the limit of rows.
        needed: Option<u64>,
    },
    #[error("row {row} of the sign table has {columns} columns where the first has {expected}")]
    Ragged { row: usize, columns: usize, expected: usize },
    #[error("row {row}, column {column} of the sign table is {value}, neither -1 nor +1")]
    NotASign { row: usize, column: usize, value: i8 },
    #[error("a sign table of {columns} columns is wider than the {most} that can be checked")]
    TooManyColumns { columns: usize, most: usize },
    #[error("a {design} design has {least} to {most} factors, not {factors}")]
    FactorsOutOfRange { design: &'static str, factors: usize, least: usize, most: usize },
    #[error("a {design} design has {} runs, not {runs}", listed(offered))]
    RunsNotOffered { design: &'static str, runs: u32, offered: &'static [u32] },
    #[error("a {design} design needs at least 1 run")]
    NoRuns { design: &'static str },
    #[error("{runs} runs are too many to be spread out by swaps, which takes at most {most}")]
    TooManyRunsToSpread { runs: usize, most: usize },
    #[error("there are no points to measure")]
    NoPoints,
    #[error("point {row} has {columns} coordinates where the first has {expected}")]
    RaggedPoints { row: usize, columns: usize, expected: usize },
    #[error("coordinate {column} of point {row} is {value}, outside 0 to 1")]
    OutsideUnitCube { row: usize, column: usize, value: f64 },
    #[error("column {column} of the sign table is not balanced: it adds up to {sum}")]
    Unbalanced { column: usize, sum: i64 },
    #[error("columns {first} and {second} of the sign table are not orthogonal")]
    NotOrthogonal { first: usize, second: usize },
}

/// What is wrong with a generator.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message documents its variant")]
pub enum GeneratorProblem {
    #[error("does not read as `F=ABC` or `factor = factor*factor`")]
    Malformed,
    #[error("names `{name}`, which is neither a factor nor the letter of one")]
    UnknownFactor { name: String, known: String },
    #[error("is ambiguous: `{letter}` is a factor, and also the letter of `{other}`")]
    AmbiguousLetter { letter: char, other: String },
    #[error("names `{factor}` twice")]
    Repeats { factor: String },
    #[error("defines `{factor}`, which `{other}` defines already")]
    DefinedTwice { factor: String, other: String },
    #[error("defines `{factor}` in a circle")]
    Circular { factor: String },
    #[error("holds `{factor}` at one level in all rows, once the other generators are put in")]
    Constant { factor: String },
    #[error("moves `{factor}` together with `{other}` in all rows, so neither can be estimated")]
    Copies { factor: String, other: String },
}

impl DesignError {
    /// The place in the study file: keys from the outside in, list positions counted from 0. A
    /// table of all errors, so that a new one is not forgotten.
    pub fn key(&self) -> Vec<String> {
        let path = |keys: &[&str]| keys.iter().map(|&key| key.to_owned()).collect();
        match self {
            Self::NoFactors
            | Self::TooManyCombinations { .. }
            | Self::TooManyFactors { .. }
            | Self::FactorsOutOfRange { .. }
            | Self::TooManyCells { .. }
            | Self::TooManyCandidates { .. }
            | Self::NoArray { .. } => path(&["factors"]),
            Self::TooManyTrials { .. } => path(&["design", "replications"]),
            Self::TooManyCentrePoints { .. } => path(&["design", "center_points"]),
            Self::TooManyProducts { .. }
            | Self::ModelTooLarge { .. }
            | Self::UnknownTerm { .. }
            | Self::CandidatesTooPoor { .. } => path(&["design", "model"]),
            Self::SearchTooLong { starts_allowed: 1.., .. } => path(&["design", "starts"]),
            Self::SearchTooLong { .. }
            | Self::TooManyRows { .. }
            | Self::RunsNotPowerOfTwo { .. }
            | Self::TooFewRuns { .. }
            | Self::TooManyRuns { .. }
            | Self::TooManyGenerators { .. }
            | Self::RunsDisagree { .. }
            | Self::RunsNotOffered { .. }
            | Self::NoRuns { .. }
            | Self::TooManyRunsToSpread { .. }
            | Self::TooFewRunsForModel { .. }
            | Self::NoArrayOfSize { .. } => path(&["design", "runs"]),
            Self::SizeMissing | Self::NotDOptimal => path(&["design", "type"]),
            Self::ResolutionNotReached { .. } => path(&["design", "resolution"]),
            Self::TableTooLong { .. }
            | Self::EmptyTable
            | Self::Ragged { .. }
            | Self::NotASign { .. }
            | Self::TooManyColumns { .. }
            | Self::NoPoints
            | Self::RaggedPoints { .. }
            | Self::OutsideUnitCube { .. }
            | Self::Unbalanced { .. }
            | Self::NotOrthogonal { .. } => path(&["design", "rows"]),
            Self::UnknownBaselineLevel { factor, .. } => path(&["design", "baseline", factor]),
            Self::BaselineViolates { .. } => path(&["design", "baseline"]),
            Self::NotTwoLevel { factor, .. }
            | Self::NotNumeric { factor, .. }
            | Self::LevelsCollapse { factor, .. }
            | Self::BelowZero { factor, .. } => path(&["factors", factor, "levels"]),
            Self::FoldoverFactor { .. } | Self::FoldoverRepeats => path(&["design", "foldover"]),
            Self::BlocksNotPowerOfTwo { .. }
            | Self::TooManyBlocks { .. }
            | Self::NoRoomForBlocks { .. } => path(&["design", "blocks"]),
            Self::BlockGenerator { index, .. } | Self::BlockGeneratorRepeats { index, .. } => {
                path(&["design", "block_generators", &index.to_string()])
            }
            Self::BlocksHideMain { .. } => path(&["design", "block_generators"]),
            Self::ConditionalFactor { factor, .. } | Self::BadCondition { factor, .. } => {
                path(&["factors", factor, "when"])
            }
            Self::NothingLeft { index, .. }
            | Self::RowViolates { index, .. }
            | Self::BadConstraint { index, .. } => {
                path(&["constraint", &index.to_string(), "expr"])
            }
            Self::Generator { index, .. } => path(&["design", "generators", &index.to_string()]),
        }
    }
}

/// A large number by its first digits: `4.3e12`.
fn rough(number: u128) -> String {
    format!("{:.1e}", number as f64)
}

/// Numbers as a sentence lists them: `8, 12 or 16`.
fn listed(numbers: &[u32]) -> String {
    let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
    match words.as_slice() {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => words.concat(),
    }
}

/// A product as messages show it: beyond a million of millions by its size alone.
fn estimated(count: u128) -> String {
    match count {
        // Where counting ended.
        u128::MAX => "more than 1e38".to_owned(),
        0..=999_999_999_999 => count.to_string(),
        _ => format!("about {:.0e}", count as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_nobody_reads_are_told_by_their_size() {
        for (count, expected) in [
            (1_048_576, "1048576"),
            (1 << 60, "about 1e18"),
            (2u128.saturating_pow(4_000_000), "more than 1e38"),
        ] {
            let error = DesignError::TooManyCombinations { combinations: count, most: 1 };
            let told = format!("the factors have {expected} combinations, more than 1");
            assert_eq!(error.to_string(), told);
        }
    }

    #[test]
    fn offers_are_listed_as_in_a_sentence() {
        assert_eq!(listed(&[8, 12, 16]), "8, 12 or 16");
        assert_eq!(listed(&[8, 12]), "8 or 12");
        assert_eq!((listed(&[8]), listed(&[])), ("8".to_owned(), String::new()));
        let own =
            DesignError::RunsNotOffered { design: "Box-Behnken", runs: 9, offered: &[13, 25] };
        assert_eq!(own.to_string(), "a Box-Behnken design has 13 or 25 runs, not 9");
    }

    #[test]
    fn the_place_of_a_fault_is_the_key_that_can_mend_it() {
        let factor = || "lr".to_owned();
        let check =
            |error: DesignError, expected: &[&str]| assert_eq!(error.key(), expected, "{error}");
        check(
            DesignError::NotTwoLevel { factor: factor(), levels: 3 },
            &["factors", "lr", "levels"],
        );
        check(
            DesignError::ConditionalFactor { factor: factor(), design: "it" },
            &["factors", "lr", "when"],
        );
        check(
            DesignError::UnknownBaselineLevel { factor: factor(), level: Level::Integer(3) },
            &["design", "baseline", "lr"],
        );
        check(
            DesignError::NothingLeft { constraint: "a > 1".to_owned(), index: 4 },
            &["constraint", "4", "expr"],
        );
        check(DesignError::TooManyCandidates { combinations: 9, most: 1 }, &["factors"]);
        check(DesignError::TooFewRunsForModel { runs: 3, coefficients: 4 }, &["design", "runs"]);
        check(DesignError::CandidatesTooPoor { coefficients: 4 }, &["design", "model"]);
        check(DesignError::FoldoverRepeats, &["design", "foldover"]);
        check(DesignError::EmptyTable, &["design", "rows"]);
    }
}
