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
            Self::TooManyRows { most, .. } => {
                format!("use at most {} runs", 1usize << most.ilog2())
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(error: &DesignError, expected: Option<&str>) {
        assert_eq!(error.help().as_deref(), expected, "{error}");
    }

    #[test]
    fn a_limit_is_told_as_a_number_that_will_do() {
        check(
            &DesignError::TooManyRows { runs: 1 << 20, most: 1_000_000 },
            Some("use at most 524288 runs"),
        );
        check(
            &DesignError::TooManyTrials { rows: 300, replications: 9, trials: 2700, most: 1000 },
            Some("use at most 3 replications"),
        );
        check(
            &DesignError::TooManyCentrePoints { centre: 9, rows: 8, most: 10 },
            Some("use at most 2 centre points"),
        );
        check(
            &DesignError::TooManyCentrePoints { centre: 9, rows: 11, most: 10 },
            Some("use at most 0 centre points"),
        );
        check(&DesignError::TooManyBlocks { blocks: 8, rows: 8 }, Some("use at most 4 blocks"));
    }

    #[test]
    fn runs_between_two_powers_name_both_neighbours() {
        for (runs, expected) in [
            (3, Some("use 2 or 4")),
            (12, Some("use 8 or 16")),
            ((1 << 31) - 1, Some("use 1073741824 or 2147483648")),
            (0, None),
            // The next power does not fit, so there is nothing to offer.
            ((1 << 31) + 1, None),
        ] {
            check(&DesignError::RunsNotPowerOfTwo { runs }, expected);
        }
    }

    #[test]
    fn a_search_too_long_is_shortened_by_starts_only_where_one_start_fits() {
        let own = |starts_allowed| DesignError::SearchTooLong {
            runs: 8,
            candidates: 100,
            coefficients: 4,
            starts: 10,
            work: 4_300_000_000_000,
            most: 1_000_000_000_000,
            starts_allowed,
        };
        check(&own(3), Some("use at most 3 starts"));
        assert_eq!(own(3).key(), ["design", "starts"]);
        check(&own(0), Some("use fewer runs, fewer levels or fewer terms"));
        assert_eq!(own(0).key(), ["design", "runs"]);
        assert_eq!(
            own(3).to_string(),
            "choosing 8 of 100 candidates for 4 coefficients from 10 starts takes 4.3e12 \
             multiplications for each pass, more than 1.0e12"
        );
    }

    #[test]
    fn a_resolution_beyond_all_runs_offers_the_one_that_is_reached() {
        let own =
            |needed| DesignError::ResolutionNotReached { asked: 5, reached: 3, runs: 8, needed };
        check(&own(Some(32)), Some("use `runs = 32`, or accept `resolution = 3`"));
        check(&own(None), Some("accept `resolution = 3`"));
    }

    #[test]
    fn a_generator_is_helped_by_what_is_wrong_with_it() {
        let own =
            |problem| DesignError::Generator { index: 2, generator: "D=AX".to_owned(), problem };
        let unknown = GeneratorProblem::UnknownFactor { name: "X".into(), known: "a, b".into() };
        assert_eq!(
            own(unknown.clone()).to_string(),
            "generator `D=AX` names `X`, which is neither a factor nor the letter of one"
        );
        check(&own(unknown.clone()), Some("factors are a, b"));
        check(&own(GeneratorProblem::Repeats { factor: "a".to_owned() }), None);
        assert_eq!(own(unknown.clone()).key(), ["design", "generators", "2"]);
        let block =
            DesignError::BlockGenerator { index: 0, generator: "AX".to_owned(), problem: unknown };
        check(&block, Some("factors are a, b"));
        assert_eq!(block.key(), ["design", "block_generators", "0"]);
    }
}
