//! The verb `compare` on several studies: what each found, side by side.

use serde::Serialize;
use trainwright_analysis::{Best, CompareOptions, Comparison, StudyOptions, Table, compare_table};
use trainwright_report::{StudiesPage, StudyRow, studies_html};
use trainwright_study::{Configuration, Direction, Study, TrialState};

use crate::studies::report::PROGRAM;
use crate::{Error, Results, analyze};

/// What several studies found.
#[derive(Debug, Clone, Serialize)]
pub struct StudiesReply {
    /// One entry a study, as they were given.
    pub studies: Vec<StudySummary>,
    /// The trials at each study's best configuration compared with those of the first; absent where
    /// the studies measure different things, or too little is finished.
    pub comparison: Option<Comparison>,
    /// What to keep in mind.
    pub notes: Vec<String>,
}

/// What one study found.
#[derive(Debug, Clone, Serialize)]
pub struct StudySummary {
    /// Its name, with a number where others have the same.
    pub study: String,
    /// Its file.
    pub file: String,
    /// The metric that it explains.
    pub response: String,
    /// Its unit.
    pub unit: Option<String>,
    /// Which end of it is good.
    pub objective: Direction,
    /// Trials in all.
    pub trials: usize,
    /// Those that finished.
    pub finished: usize,
    /// Those that failed.
    pub failed: usize,
    /// Hours that its trials ran.
    pub hours: f64,
    /// What they cost, where the study knows a price.
    pub price: Option<f64>,
    /// Its best configuration measured.
    pub best: Option<Configuration>,
    /// Mean of the response there.
    pub mean: Option<f64>,
    /// Lower end of its interval.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// Why nothing is known yet.
    pub refused: Option<String>,
    /// The response of the trials at the best configuration.
    #[serde(skip)]
    values: Vec<f64>,
}

/// Puts studies side by side.
///
/// # Errors
/// Fewer than two studies.
pub fn compare_studies(studies: &[(Study, Results)]) -> Result<StudiesReply, Error> {
    if studies.len() < 2 {
        return Err(Error::Request("name at least two studies to compare".to_owned()));
    }
    let mut summaries: Vec<StudySummary> =
        studies.iter().map(|(study, results)| summary(study, results)).collect();
    let names: Vec<String> = summaries.iter().map(|own| own.study.clone()).collect();
    for (at, own) in summaries.iter_mut().enumerate() {
        if names.iter().filter(|name| **name == own.study).count() > 1 {
            own.study = format!("{} ({})", own.study, at + 1);
        }
    }
    let mut notes = Vec::new();
    let first = (&summaries[0].response, &summaries[0].unit);
    let comparison = if summaries.iter().all(|own| (&own.response, &own.unit) == first) {
        let found = compared(&summaries, studies[0].0.analysis.alpha)?;
        if found.is_some() {
            notes.push(
                "each best configuration was chosen by the trials that are compared here, so that \
                 all of them look better than they are; new trials of each would tell"
                    .to_owned(),
            );
        }
        found
    } else {
        notes.push("the studies explain different metrics, so no test compares them".to_owned());
        None
    };
    Ok(StudiesReply { studies: summaries, comparison, notes })
}

/// The same as one page.
pub fn studies_page(reply: &StudiesReply, written_at: &str) -> String {
    let row = |own: &StudySummary| StudyRow {
        name: own.study.clone(),
        response: match &own.unit {
            Some(unit) => format!("{} ({unit})", own.response),
            None => own.response.clone(),
        },
        trials: own.trials,
        finished: own.finished,
        hours: own.hours,
        price: own.price,
        best: own.best.as_ref().map(ToString::to_string),
        mean: own.mean,
        ends: own.ci_low.zip(own.ci_high),
        refused: own.refused.clone(),
    };
    let sentences = reply.comparison.iter().flat_map(|own| &own.levels);
    studies_html(&StudiesPage {
        rows: reply.studies.iter().map(row).collect(),
        sentences: sentences.map(|own| own.text.clone()).collect(),
        notes: reply.notes.clone(),
        one_response: reply.comparison.is_some(),
        program: PROGRAM,
        written_at,
    })
}

fn summary(study: &Study, results: &Results) -> StudySummary {
    let analysis = analyze(study, results, &StudyOptions::default());
    let best: Option<&Best> = analysis.as_ref().ok().and_then(|own| own.best.as_ref());
    let used_s: f64 = results.trials.iter().map(|trial| trial.used_s).sum();
    let hours = used_s / 3600.0;
    let values = best.map_or_else(Vec::new, |best| {
        let there = results.observations().into_iter().filter(|own| {
            own.state == TrialState::Finished && own.configuration == best.configuration
        });
        there.filter_map(|own| own.values.get(&study.analysis.response).copied()).collect()
    });
    StudySummary {
        study: study.name.clone(),
        file: study.source.path.display().to_string(),
        response: study.analysis.response.clone(),
        unit: study.response().unit.clone(),
        objective: study.direction(),
        trials: results.trials.len(),
        finished: results.count(TrialState::Finished),
        failed: results.count(TrialState::Failed),
        hours,
        price: study.budget.price_per_hour.map(|price| price * hours),
        best: best.map(|own| own.configuration.clone()),
        mean: best.map(|own| own.mean),
        ci_low: best.and_then(|own| own.ci_low),
        ci_high: best.and_then(|own| own.ci_high),
        refused: analysis.as_ref().err().map(ToString::to_string),
        values,
    }
}

fn compared(studies: &[StudySummary], alpha: f64) -> Result<Option<Comparison>, Error> {
    let measured = studies.iter().filter(|own| !own.values.is_empty()).count();
    if measured < 2 || studies[0].values.is_empty() {
        return Ok(None);
    }
    let response = &studies[0].response;
    let by = if response == "study" { "name" } else { "study" }.to_owned();
    let mut rows = csv::Writer::from_writer(Vec::new());
    let mut write = || -> Result<(), csv::Error> {
        rows.write_record([response, &by])?;
        for own in studies {
            for value in &own.values {
                rows.write_record([&value.to_string(), &own.study])?;
            }
        }
        Ok(())
    };
    write().expect("writing to memory cannot fail");
    let rows = rows.into_inner().expect("writing to memory cannot fail");
    let table = Table::from_csv(rows.as_slice(), std::slice::from_ref(&by))?;
    let options = CompareOptions {
        column: response.clone(),
        by,
        baseline: Some(studies[0].study.clone()),
        paired: None,
        objective: Some(studies[0].objective),
        alpha,
    };
    Ok(Some(compare_table(&table, &options)?))
}
