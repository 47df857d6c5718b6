//! What to do about a design that cannot be built.

use crate::error::{DesignError, GeneratorProblem};

impl DesignError {
    /// What to do about it, where that is known.
    pub fn help(&self) -> Option<String> {
        self.advice().map(str::to_owned).or_else(|| self.advice_with_figures())
    }

    /// Advice that is the same whatever the figures are.
    fn advice(&self) -> Option<&'static str> {
        Some(match self {
            Self::TooManyCombinations { .. } => "remove levels, or use a fractional design",
            Self::TooManyCells { .. } => "use fewer factors or fewer rows",
            Self::TooManyProducts { .. } => "write `main + 2fi`, or shorter products",
            Self::ModelTooLarge { .. } => "use fewer levels or fewer terms",
            Self::SearchTooLong { starts_allowed: 0, .. } => {
                "use fewer runs, fewer levels or fewer terms"
            }
            Self::NotTwoLevel { .. } => "give the factor two levels, or use type = \"full\"",
            Self::ConditionalFactor { .. } => {
                "use type = \"full\", which leaves a factor out where its condition fails"
            }
            Self::RowViolates { .. } => {
                "change the levels or the constraint; type = \"full\" drops forbidden rows by itself"
            }
            Self::TooManyGenerators { .. } => "use more runs",
            Self::TooManyRunsToSpread { .. } => "use fewer runs, or the plain Latin hypercube",
            Self::SizeMissing => "add `runs = 16`, or another power of two",
            Self::NotNumeric { .. } => {
                "give it numbers, or use type = \"full\", \"d-optimal\" or \"mixed\""
            }
            Self::LevelsCollapse { .. } => {
                "set its levels further apart, or write them with a decimal point"
            }
            Self::BelowZero { .. } => {
                "use face = \"face-centred\" or \"inscribed\", or scale = \"log\""
            }
            Self::UnknownTerm { .. } => {
                "such as model = \"main + 2fi\", \"quadratic\" or \"lr*batch + lr^2\""
            }
            Self::CandidatesTooPoor { .. } => {
                "a square needs three levels or a range; a constraint may forbid too much"
            }
            Self::TooManyCandidates { .. } => {
                "use fewer levels, or list rows in a file: candidates = \"rows.csv\""
            }
            Self::NoArray { .. } => "use type = \"d-optimal\", or fewer levels",
            Self::FoldoverRepeats => {
                "fold over one factor, such as foldover = \"A\", or leave it out"
            }
            Self::FoldoverFactor { .. } => "write true, or the name or letter of one factor",
            Self::BlocksNotPowerOfTwo { .. } => "use 2, 4 or 8 blocks",
            Self::NoRoomForBlocks { .. } => "use fewer blocks or more runs",
            Self::BlocksHideMain { .. } => "give up longer products, or let `blocks` choose them",
            _ => return None,
        })
    }

    /// Advice that names what would do.
    fn advice_with_figures(&self) -> Option<String> {
        Some(match self {
            Self::TooManyRows { most, .. } => format!("use at most {} runs", 1usize << most.ilog2()),
            Self::TooManyTrials { rows, most, .. } => {
                format!("use at most {} replications", most / rows)
            }
            Self::TooManyCentrePoints { rows, most, .. } => {
                format!("use at most {} centre points", most.saturating_sub(*rows))
            }
            Self::SearchTooLong { starts_allowed, .. } => {
                format!("use at most {starts_allowed} starts")
            }
            Self::RunsNotPowerOfTwo { runs } => match runs.checked_next_power_of_two() {
                Some(above) if above > 2 => format!("use {} or {above}", above / 2),
                _ => return None,
            },
            Self::TooFewRuns { least, .. } => format!("use at least {least} runs"),
            Self::TooManyRuns { combinations, .. } => {
                format!("use at most {combinations} runs, and replications for more trials")
            }
            Self::RunsDisagree { given, .. } => {
                format!("write `runs = {given}`, or leave either runs or generators out")
            }
            Self::ResolutionNotReached { reached, needed, .. } => match needed {
                Some(runs) => format!("use `runs = {runs}`, or accept `resolution = {reached}`"),
                None => format!("accept `resolution = {reached}`"),
            },
            Self::TooFewRunsForModel { coefficients, .. } => {
                format!("use at least {coefficients} runs, or fewer terms")
            }
            Self::NoArrayOfSize { enough, .. } => format!("use {enough} runs"),
            Self::TooManyBlocks { rows, .. } => format!("use at most {} blocks", rows / 2),
            Self::Generator { problem, .. } | Self::BlockGenerator { problem, .. } => {
                return problem.help();
            }
            _ => return None,
        })
    }
}

impl GeneratorProblem {
    fn help(&self) -> Option<String> {
        match self {
            Self::Malformed => Some("such as `D=ABC`, `D=-ABC` or `batch = nodes*lr`".to_owned()),
            Self::UnknownFactor { known, .. } => Some(format!("factors are {known}")),
            Self::AmbiguousLetter { .. } => {
                Some("write the factors' names with `*` between them".to_owned())
            }
            _ => None,
        }
    }
}
