//! What a design's reader should know about how its rows came to be.

use std::fmt;

use serde::Serialize;
use trainwright_study::{Configuration, Level};

use crate::kinds::d_optimal::Optimality;
use crate::two_level::misprint::Misprint;

/// Something about a design that its rows alone do not tell.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "note", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DesignNote {
    /// Rows left out because a constraint forbids them.
    Dropped {
        /// The constraint.
        constraint: String,
        /// What it forbids.
        configurations: Vec<Configuration>,
    },
    /// Combinations that differ only in factors absent from them run once.
    Merged {
        /// Combinations that repeated an earlier row.
        combinations: usize,
    },
    /// A level that no row runs.
    LevelNeverRun {
        /// The factor.
        factor: String,
        /// The level.
        level: Level,
    },
    /// A row of the table repeats an earlier one.
    Repeated {
        /// The later row, from 1.
        row: usize,
        /// The earlier row, from 1.
        of: usize,
    },
    /// The runs asked for are all combinations, so nothing is aliased.
    WholeFactorial,
    /// The search for the best fraction was cut short; there may be better generators.
    NotProvenBest,
    /// Runs of the same setting of hard-to-change factors stay together.
    SplitPlot {
        /// The hard-to-change factors.
        factors: Vec<String>,
        /// Their different settings.
        settings: usize,
        /// How often each setting is made anew.
        replications: u32,
    },
    /// A factor of whole numbers does not run exactly where the design has it.
    Rounded {
        /// The factor.
        factor: String,
        /// Where the design has it.
        wanted: f64,
        /// What runs instead.
        level: Level,
        /// Further values that are rounded.
        others: usize,
    },
    /// A factor runs beyond the levels that the study lists.
    Beyond {
        /// The factor.
        factor: String,
        /// Lowest value that runs.
        low: Level,
        /// Highest value that runs.
        high: Level,
        /// Whether the study gives a range rather than levels.
        is_range: bool,
    },
    /// Where the axial points of a central composite design lie.
    Axial {
        /// Distance from the centre in half edges of the cube.
        alpha: f64,
    },
    /// What a foldover has done to the resolution.
    Folded {
        /// Resolution of the fraction.
        before: Option<u32>,
        /// Resolution of both halves together; absent where nothing is aliased.
        after: Option<u32>,
    },
    /// How well a D-optimal design serves its equation.
    Optimal {
        /// Terms of the equation.
        model: String,
        /// How good the rows are.
        #[serde(flatten)]
        optimality: Optimality,
    },
    /// The orthogonal array that the rows come from.
    Array {
        /// Its name, such as `L18`.
        array: String,
    },
    /// Points that fill a space take only the levels of this factor.
    LevelsOnly {
        /// The factor.
        factor: String,
    },
    /// Sobol points whose number is no power of two.
    SobolUnbalanced {
        /// Their number.
        runs: u32,
    },
    /// The table looks like a regular fraction with a wrong sign.
    Misprint(Misprint),
}

impl fmt::Display for DesignNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dropped { constraint, configurations } => {
                let count = configurations.len();
                let rows = if count == 1 { "row" } else { "rows" };
                write!(f, "{count} {rows} dropped by constraint `{constraint}`")
            }
            Self::Merged { combinations: 1 } => {
                f.write_str("1 combination merged with another that differs in absent factors only")
            }
            Self::Merged { combinations } => write!(
                f,
                "{combinations} combinations merged with others that differ in absent factors only"
            ),
            Self::LevelNeverRun { factor, level } => write!(f, "no row runs `{factor}` at {level}"),
            Self::Repeated { row, of } => write!(f, "row {row} repeats row {of}"),
            Self::WholeFactorial => {
                f.write_str("the runs are all combinations, so nothing is aliased")
            }
            Self::NotProvenBest => f.write_str(
                "the generators are the best of those tried; better ones may exist for this size",
            ),
            Self::SplitPlot { factors, settings, replications } => {
                whole_plots(f, factors, *settings, *replications)
            }
            Self::Rounded { factor, wanted, level, others } => {
                write!(f, "`{factor}` takes whole numbers: {wanted} runs as {level}")?;
                others_rounded(f, *others)
            }
            Self::Beyond { factor, low, high, is_range } => {
                let what = if *is_range { "range" } else { "levels" };
                write!(f, "`{factor}` also runs beyond its {what}, from {low} to {high}")
            }
            Self::Axial { alpha } => {
                write!(f, "axial points lie {alpha:.4} half edges of the cube from the centre")
            }
            Self::Folded { before, after } => {
                let (before, after) = (aliasing(*before), aliasing(*after));
                write!(f, "the foldover takes the fraction from {before} to {after}")
            }
            Self::Optimal { model, optimality } => efficiency(f, model, optimality),
            Self::Array { array } => write!(
                f,
                "rows of the orthogonal array {array}: main effects are independent of each other, \
                 but interactions are mixed with them"
            ),
            Self::LevelsOnly { factor } => write!(
                f,
                "`{factor}` runs at its levels only; write a range for the values between"
            ),
            Self::SobolUnbalanced { runs } => {
                write!(f, "{runs} is not a power of two, so the points are not quite balanced")
            }
            Self::Misprint(misprint) => misprint.fmt(f),
        }
    }
}

fn whole_plots(
    f: &mut fmt::Formatter<'_>,
    factors: &[String],
    settings: usize,
    replications: u32,
) -> fmt::Result {
    let names: Vec<String> = factors.iter().map(|name| format!("`{name}`")).collect();
    let names = names.join(" and ");
    let plots = settings as u64 * u64::from(replications);
    let times = if replications == 1 { "time" } else { "times" };
    write!(
        f,
        "runs of the same {names} stay together, in {plots} whole plots ({settings} settings, each \
         made {replications} {times}); effects of {names} are judged by how whole plots of the \
         same setting differ",
    )?;
    match replications {
        1 => f.write_str(", which takes replications = 2 or more"),
        _ => Ok(()),
    }
}

fn others_rounded(f: &mut fmt::Formatter<'_>, others: usize) -> fmt::Result {
    match others {
        0 => Ok(()),
        1 => f.write_str(", and 1 other value is rounded"),
        _ => write!(f, ", and {others} other values are rounded"),
    }
}

/// What a resolution says, none being no aliases.
fn aliasing(resolution: Option<u32>) -> String {
    match resolution {
        Some(resolution) => format!("resolution {resolution}"),
        None => "no aliases at all".to_owned(),
    }
}

fn efficiency(f: &mut fmt::Formatter<'_>, model: &str, own: &Optimality) -> fmt::Result {
    write!(
        f,
        "D-efficiency {:.1} % for {} coefficients of `{model}`; {} of {} starts found it",
        own.d_efficiency, own.coefficients, own.starts_at_best, own.starts
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_told_in_the_singular() {
        let dropped = |count: usize| DesignNote::Dropped {
            constraint: "a < 2".to_owned(),
            configurations: vec![Configuration::new(vec![]); count],
        };
        assert_eq!(dropped(1).to_string(), "1 row dropped by constraint `a < 2`");
        assert_eq!(dropped(2).to_string(), "2 rows dropped by constraint `a < 2`");
        let merged = |combinations| DesignNote::Merged { combinations }.to_string();
        assert!(merged(1).starts_with("1 combination merged with another that differs"));
        assert!(merged(3).starts_with("3 combinations merged with others that differ"));
        let rounded = |others| {
            let (factor, wanted, level) = ("n".to_owned(), 2.5, Level::Integer(3));
            DesignNote::Rounded { factor, wanted, level, others }.to_string()
        };
        assert_eq!(rounded(0), "`n` takes whole numbers: 2.5 runs as 3");
        assert!(rounded(1).ends_with("3, and 1 other value is rounded"));
        assert!(rounded(4).ends_with("3, and 4 other values are rounded"));
    }

    #[test]
    fn whole_plots_made_once_say_what_they_lack() {
        let told = |replications| {
            let factors = vec!["disk".to_owned(), "net".to_owned()];
            DesignNote::SplitPlot { factors, settings: 4, replications }.to_string()
        };
        assert_eq!(
            told(3),
            "runs of the same `disk` and `net` stay together, in 12 whole plots (4 settings, each \
             made 3 times); effects of `disk` and `net` are judged by how whole plots of the same \
             setting differ"
        );
        assert!(told(1).contains("each made 1 time)"));
        assert!(told(1).ends_with("setting differ, which takes replications = 2 or more"));
    }

    #[test]
    fn a_foldover_may_free_everything() {
        assert_eq!(
            DesignNote::Folded { before: Some(3), after: None }.to_string(),
            "the foldover takes the fraction from resolution 3 to no aliases at all"
        );
        let beyond = |is_range| {
            let (low, high) = (Level::Integer(0), Level::Number(1.5));
            DesignNote::Beyond { factor: "lr".to_owned(), low, high, is_range }.to_string()
        };
        assert_eq!(beyond(true), "`lr` also runs beyond its range, from 0 to 1.5");
        assert_eq!(beyond(false), "`lr` also runs beyond its levels, from 0 to 1.5");
    }
}
