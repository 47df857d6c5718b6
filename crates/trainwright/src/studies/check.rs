//! The verb `check`: everything that can be said about a study before a minute is spent.

use std::path::Path;

use serde::Serialize;
use trainwright_analysis::{PlannedPower, planned_power};
use trainwright_design::{Confounding, Design, plan};
use trainwright_engine::render;
use trainwright_study::{PlannedTrial, Study, TrialState};

use crate::searching::from_study::StudySearch;
use crate::studies::plan_change::{ChangeNote, PlanChange};
use crate::studies::planned::design_of;
use crate::{Error, Place, Results};

/// What a study will do.
#[derive(Debug, Serialize)]
pub struct Preview {
    /// The study's name.
    pub study: String,
    /// The design, with its aliases.
    pub design: Design,
    /// What the rows cannot tell apart; nothing where there are too many effects to compare.
    pub confounding: Option<Confounding>,
    /// Trials of each row.
    pub replications: u32,
    /// Trials in run order.
    pub trials: Vec<PlannedTrial>,
    /// Trials thrown away at the start.
    pub warmup: u32,
    /// What has changed since trials were planned.
    pub changes: Vec<ChangeNote>,
    /// The command line of the first trial; nothing for results measured elsewhere.
    pub first_command: Option<Vec<String>>,
    /// What it will be able to find; nothing where there are too many terms to work it out.
    pub power: Option<PlannedPower>,
    /// How long all trials take together, and why that is thought.
    pub hours: Option<Hours>,
    /// Price of those hours, where the study names one.
    pub price: Option<f64>,
    /// What is worth knowing about the design.
    pub notes: Vec<String>,
    /// Whether there is something to run; results may come from elsewhere.
    #[serde(skip)]
    pub runs: bool,
}

/// An estimate of the time that a study takes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Hours {
    /// Hours on all slots together.
    pub hours: f64,
    /// What the estimate rests on.
    pub from: HoursFrom,
}

/// What an estimate of time rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HoursFrom {
    /// The mean of the trials that have run.
    FinishedTrials,
    /// The timeout, so that it is the most it can take.
    Timeout,
}

/// Checks a study to the end and tells what it will do.
///
/// # Errors
/// Every fault of the study, its design and its formula, at its place in the file.
pub fn check(study: &Study, store: Option<&Path>, program: &Path) -> Result<Preview, Error> {
    let design = design_of(study)?;
    let power = planned_power(study, &design).map_err(|error| {
        let names: Vec<&str> = study.factors.iter().map(|factor| factor.name.as_str()).collect();
        let help = format!("write `main + 2fi`, or a formula of {}", names.join(", "));
        Error::from(study.fault_at(&["analysis", "terms"], error.to_string(), Some(help)))
    })?;
    let trials = plan(study, &design);
    let first_command = match (&study.task, trials.first()) {
        (Some(_), Some(first)) => {
            let folder = Place::of(study, store).trial(first.number);
            Some(render(study, first, &folder, program)?.command)
        }
        _ => None,
    };
    let hours = if trials.is_empty() { None } else { hours(study, store, trials.len()) };
    let price = hours.and_then(|estimate| Some(estimate.hours * study.budget.price_per_hour?));
    let confounding = Confounding::of(study, &design);
    let warmup = study.run.warmup;
    let mut notes: Vec<String> = design.notes().iter().map(ToString::to_string).collect();
    if study.search.is_some() {
        notes.push(StudySearch::of(study)?.words());
    }
    Ok(Preview {
        study: study.name.clone(),
        changes: changes(study, &design, store)?,
        design,
        confounding,
        replications: study.design.replications,
        trials,
        warmup,
        first_command,
        power,
        hours,
        price,
        notes,
        runs: study.task.is_some(),
    })
}

/// What has changed since trials were planned; nothing where none are.
fn changes(study: &Study, design: &Design, store: Option<&Path>) -> Result<Vec<ChangeNote>, Error> {
    let Some(snapshot) = Place::of(study, store).look()? else { return Ok(Vec::new()) };
    let Some(known) = snapshot.study(&study.name)? else { return Ok(Vec::new()) };
    let trials = snapshot.trials(known.id)?;
    Ok(PlanChange::of(&known, trials, study, design)?.notes())
}

fn hours(study: &Study, store: Option<&Path>, trials: usize) -> Option<Hours> {
    let measured: Vec<f64> = match Results::read(study, store) {
        Ok(results) => results
            .trials
            .iter()
            .filter(|trial| trial.state == TrialState::Finished)
            .filter_map(|trial| trial.usage.as_ref().map(|usage| usage.wall_s))
            .collect(),
        Err(_) => Vec::new(),
    };
    let (seconds, from) = if measured.is_empty() {
        (study.run.timeout?.as_secs_f64(), HoursFrom::Timeout)
    } else {
        (measured.iter().sum::<f64>() / measured.len() as f64, HoursFrom::FinishedTrials)
    };
    let all = trials + study.run.warmup as usize;
    Some(Hours { hours: seconds * all as f64 / 3600.0 / f64::from(study.run.slots), from })
}
