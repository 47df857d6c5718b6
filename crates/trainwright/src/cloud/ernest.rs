//! The verbs `cloud experiments` and `cloud foretell`: which small runs to make, and what a law that
//! is fitted to them says of large ones.

use std::path::Path;

use serde::Serialize;
use trainwright_search::cloud::ernest::{
    ExperimentRequest, Experiments, Law, Prediction, ScaledRun, experiments,
};

use super::recorded::Cells;
use crate::Error;

/// The experiments on parts of the input that fit the law best for a budget.
///
/// # Errors
/// No experiment is possible, or the budget is too small.
pub fn cloud_experiments(request: &ExperimentRequest) -> Result<Experiments, Error> {
    experiments(request).map_err(|source| Error::Request(source.to_string()))
}

/// What a law foretells.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Foretold {
    /// The law, fitted to all runs.
    pub law: Law,
    /// Runs that it was fitted to.
    pub runs: usize,
    /// Its times, one a number of nodes.
    pub predictions: Vec<ForetoldTime>,
}

/// The time of a job on so many nodes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ForetoldTime {
    /// Machines.
    pub nodes: u32,
    /// Share of the input.
    pub share: f64,
    /// What the law says.
    #[serde(flatten)]
    pub prediction: Prediction,
}

/// Fits Ernest's law to a table of runs and foretells the time of a share of the input on each number
/// of nodes.
///
/// # Errors
/// A table that cannot be read, a value that is not above 0, or too few runs.
pub fn cloud_foretell(runs: &Path, nodes: &[u32], share: f64) -> Result<Foretold, Error> {
    let fault = |message: String| Error::CloudFile { file: runs.to_owned(), message };
    let text = std::fs::read_to_string(runs)
        .map_err(|source| Error::Input { path: runs.to_owned(), source })?;
    let found = parse(&text).map_err(fault)?;
    let law = Law::fit(&found).map_err(|source| fault(source.to_string()))?;
    if !(share.is_finite() && share > 0.0) || nodes.contains(&0) {
        return Err(Error::Request("nodes and share must be above 0".to_owned()));
    }
    let time = |&nodes: &u32| {
        let prediction = law.predict(share, f64::from(nodes));
        ForetoldTime { nodes, share, prediction }
    };
    let predictions = nodes.iter().map(time).collect();
    Ok(Foretold { law, runs: found.len(), predictions })
}

/// Runs from a table with the columns nodes, elapsed_s and, where not all used the whole input, share.
fn parse(text: &str) -> Result<Vec<ScaledRun>, String> {
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let head = reader.headers().map_err(|source| source.to_string())?.clone();
    for needed in ["nodes", "elapsed_s"] {
        if !head.iter().any(|name| name == needed) {
            return Err(format!("there is no column `{needed}`"));
        }
    }
    let columns = head.iter().enumerate().map(|(at, name)| (name, at)).collect();
    let mut found = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|source| source.to_string())?;
        let line = record.position().map_or(0, |own| own.line() as usize);
        let cells = Cells { columns: &columns, record: &record, line };
        let number = |name: &str| -> Result<f64, String> {
            let text = cells.text(name).unwrap_or_default();
            text.parse().map_err(|_| format!("line {line}: {name} is `{text}`, which is no number"))
        };
        let share = if head.iter().any(|name| name == "share") { number("share")? } else { 1.0 };
        let (machines, elapsed_s) = (number("nodes")?, number("elapsed_s")?);
        found.push(ScaledRun { machines, share, elapsed_s });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_law_fitted_to_parts_foretells_the_whole_and_says_that_it_lies_beyond() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("parts.csv");
        // 10 + 100 share / nodes.
        std::fs::write(&path, "nodes,share,elapsed_s\n1,0.1,20\n2,0.1,15\n4,0.2,15\n8,0.4,15\n")
            .unwrap();
        let own = cloud_foretell(&path, &[2, 16], 1.0).unwrap();
        assert_eq!(own.runs, 4);
        assert!((own.predictions[0].prediction.elapsed_s - 60.0).abs() < 1e-6, "{own:?}");
        assert!((own.predictions[1].prediction.elapsed_s - 16.25).abs() < 1e-6, "{own:?}");
        assert!(own.predictions[1].prediction.extrapolates);
        assert!(cloud_foretell(&path, &[0], 1.0).is_err());
    }

    #[test]
    fn a_cell_that_is_no_number_is_named_with_its_line() {
        let refused = |text: &str| parse(text).unwrap_err();
        assert!(refused("nodes,elapsed_s\n1,5\n2,long\n").contains("line 3: elapsed_s is `long`"));
        assert!(refused("nodes,share\n1,1\n").contains("no column `elapsed_s`"));
    }
}
