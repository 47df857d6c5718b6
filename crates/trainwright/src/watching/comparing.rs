//! Chosen configurations side by side.

use std::collections::BTreeMap;

use trainwright_analysis::{CompareOptions, Table, compare_table};
use trainwright_report::{ComparedConfiguration, comparison_html};
use trainwright_study::{Configuration, TrialState};

use crate::{Error, StudyView};

/// A configuration that can be compared.
#[derive(Debug, Clone)]
pub struct CompareChoice {
    /// The number of its first trial, by which it is chosen.
    pub trial: u32,
    /// What ran.
    pub configuration: Configuration,
    /// The response of its finished trials that count.
    pub values: Vec<f64>,
}

/// The configurations with finished trials, by their first trial.
pub fn configurations_of(view: &StudyView) -> Vec<CompareChoice> {
    let response = &view.study.analysis.response;
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut out: Vec<CompareChoice> = Vec::new();
    let counted = |own: &&trainwright_report::ReportTrial| {
        own.state == TrialState::Finished && own.excluded.is_none()
    };
    for trial in view.trials.iter().filter(counted) {
        let Some(value) = trial.measurements.iter().find(|own| own.metric == *response) else {
            continue;
        };
        let place = *places.entry(trial.configuration.identity()).or_insert_with(|| {
            let (trial, configuration) = (trial.number, trial.configuration.clone());
            out.push(CompareChoice { trial, configuration, values: Vec::new() });
            out.len() - 1
        });
        out[place].values.push(value.value);
    }
    out
}

/// Compares configurations, chosen by their first trials, with the first one; as markup.
///
/// # Errors
/// Fewer than two of them have finished trials, or they cannot be compared.
pub fn compare_configurations(view: &StudyView, chosen: &[u32]) -> Result<String, Error> {
    let all = configurations_of(view);
    let chosen: Vec<&CompareChoice> =
        chosen.iter().filter_map(|number| all.iter().find(|own| own.trial == *number)).collect();
    if chosen.len() < 2 {
        return Err(Error::Request("choose at least two configurations to compare".to_owned()));
    }
    let names: Vec<String> = differing(&chosen).iter().map(ToString::to_string).collect();
    let mut writer = csv::Writer::from_writer(Vec::new());
    let failed = |error: csv::Error| Error::Request(format!("cannot compare: {error}"));
    writer.write_record(["configuration", "value"]).map_err(failed)?;
    for (name, own) in names.iter().zip(&chosen) {
        for value in &own.values {
            writer.write_record([name, &value.to_string()]).map_err(failed)?;
        }
    }
    let text = writer.into_inner().map_err(|error| failed(error.into_error().into()))?;
    let by = "configuration".to_owned();
    let table = Table::from_csv(text.as_slice(), std::slice::from_ref(&by))?;
    let response = view.study.response();
    let mut comparison = compare_table(
        &table,
        &CompareOptions {
            column: "value".to_owned(),
            by,
            baseline: names.first().cloned(),
            paired: None,
            objective: response.objective,
            alpha: view.study.analysis.alpha,
        },
    )?;
    comparison.response.clone_from(&response.name);
    let shown: Vec<ComparedConfiguration> = names
        .into_iter()
        .zip(&chosen)
        .zip(differing(&chosen))
        .map(|((name, own), settings)| ComparedConfiguration {
            name,
            settings: settings
                .iter()
                .map(|(name, own)| (name.to_owned(), own.to_string()))
                .collect(),
            values: own.values.clone(),
        })
        .collect();
    Ok(comparison_html(&comparison, response.unit.as_deref(), &shown))
}

/// The settings that tell the chosen ones apart.
fn differing(chosen: &[&CompareChoice]) -> Vec<Configuration> {
    let differs = |factor: &str| {
        let level = |own: &CompareChoice| own.configuration.get(factor).map(ToString::to_string);
        chosen.iter().any(|own| level(own) != level(chosen[0]))
    };
    chosen.iter().map(|own| own.configuration.filtered(|name| differs(name))).collect()
}
