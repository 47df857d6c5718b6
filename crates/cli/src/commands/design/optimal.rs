//! Orthogonal arrays, and rows chosen for the coefficients of a model.

use serde_json::json;
use trainwright::{OptimalRequest, OptimalRows, augmented_rows, optimal_rows};
use trainwright_design::{DesignError, MOST_CANDIDATES, OrthogonalArray};
use trainwright_study::Level;

use super::{allow_only, letters, missing, refused, runs, table};
use crate::arguments::DesignArguments;
use crate::output::{print, print_json};

pub(super) fn mixed(arguments: &DesignArguments) -> anyhow::Result<()> {
    allow_only(arguments, "mixed", &["--levels", "--runs"])?;
    if arguments.levels.is_empty() {
        return Err(missing("--levels, such as --levels 2,3,3,3").into());
    }
    let array = match arguments.runs {
        Some(runs) => OrthogonalArray::with_runs(&arguments.levels, runs),
        None => OrthogonalArray::smallest(&arguments.levels),
    };
    let array = array.map_err(|error| refused(&error))?;
    let letters = letters(arguments.levels.len());
    if arguments.json {
        let (name, levels, rows) = (array.name(), array.levels(), array.rows());
        let design = json!({ "factors": letters, "array": name, "levels": levels, "rows": rows });
        return print_json("design", &design);
    }
    print(&format!("{}\northogonal array {}\n", table(&letters, array.rows()), array.name()))
}

pub(super) fn d_optimal(arguments: &DesignArguments) -> anyhow::Result<()> {
    let allowed = ["--factors", "--levels", "--runs", "--model", "--starts", "--seed"];
    allow_only(arguments, "D-optimal", &allowed)?;
    let counts = match (arguments.factors, arguments.levels.as_slice()) {
        (Some(factors), []) => {
            check_candidates(std::iter::repeat_n(2, factors))?;
            vec![2; factors]
        }
        (None, levels @ [_, ..]) => {
            check_candidates(levels.iter().copied())?;
            levels.to_vec()
        }
        _ => return Err(missing("either --factors 3 or --levels 2,3,3").into()),
    };
    let factors: Vec<(String, Vec<Level>)> =
        letters(counts.len()).into_iter().zip(counts.iter().map(|&count| evenly(count))).collect();
    show(arguments, &optimal_rows(&factors, &request(arguments, runs(arguments)?))?)
}

pub(super) fn augment(arguments: &DesignArguments) -> anyhow::Result<()> {
    let allowed = ["--data", "--columns", "--add", "--model", "--starts", "--seed"];
    allow_only(arguments, "augmented", &allowed)?;
    let file = arguments.data.as_ref().ok_or_else(|| missing("--data, such as --data rows.csv"))?;
    let add = arguments.add.ok_or_else(|| missing("--add, such as --add 4"))?;
    show(arguments, &augmented_rows(file, &arguments.columns, &request(arguments, add))?)
}

fn request(arguments: &DesignArguments, runs: u32) -> OptimalRequest {
    OptimalRequest {
        model: arguments.model.clone().unwrap_or_else(|| "main + 2fi".to_owned()),
        runs,
        starts: arguments.starts.unwrap_or(10),
        seed: arguments.seed.unwrap_or(0),
    }
}

/// Refuses more combinations than rows are chosen from, before any level is made.
fn check_candidates(counts: impl Iterator<Item = usize>) -> Result<(), trainwright::Error> {
    let most = MOST_CANDIDATES;
    let mut combinations = 1u128;
    for count in counts {
        combinations = combinations.saturating_mul(count as u128);
        if combinations > most as u128 {
            let at_least = DesignError::TooManyCandidates { combinations, most };
            return Err(refused(&at_least));
        }
    }
    Ok(())
}

/// Numbers from -1 to 1.
fn evenly(count: usize) -> Vec<Level> {
    let place = |own: usize| 2.0 * own as f64 / (count.max(2) - 1) as f64 - 1.0;
    (0..count).map(|own| Level::parse(&place(own).to_string())).collect()
}

fn show(arguments: &DesignArguments, rows: &OptimalRows) -> anyhow::Result<()> {
    if arguments.json {
        return print_json("design", rows);
    }
    let optimality = &rows.optimality;
    let with = match rows.existing {
        0 => String::new(),
        existing => format!("; with the {existing} rows that were there"),
    };
    print(&format!(
        "{}\nD-efficiency {:.2} % for {} coefficients{with}; {} of {} starts found it\n",
        table(&rows.factors, &rows.rows),
        optimality.d_efficiency,
        optimality.coefficients,
        optimality.starts_at_best,
        optimality.starts
    ))
}
