//! One look at a study: trials and how far they have come.

use std::path::Path;

use trainwright_design::Design;
use trainwright_report::{ReportInput, ReportTrial, Section, sections_html};
use trainwright_store::{Progress, StoredTrial};
use trainwright_study::{ClusterTask, Machine, Series, Study, TrialState};

use crate::studies::report::{PROGRAM, shown};
use crate::studies::status::TrialCounts;
use crate::watching::thought::Thought;
use crate::{Error, Place, Results, budget_spent};

/// Trials whose series a page of curves or resources may show.
const MOST_SERIES: usize = 200;

/// A study as it was at one moment; nothing in it keeps the store open.
pub struct StudyView {
    /// The study.
    pub study: Study,
    /// Its planned rows.
    pub design: Design,
    /// Trials in run order, as pages show them, without their series.
    pub trials: Vec<ReportTrial>,
    /// The machines that trials ran on.
    pub machines: Vec<Machine>,
    /// What the running trials last told.
    pub progress: Vec<Progress>,
    /// The process that ran it then.
    pub runner: Option<u32>,
    /// The change number of the store then.
    pub change: i64,
    /// Where it is kept.
    pub place: Place,
    /// How many trials are in each state.
    pub counts: TrialCounts,
    /// What to do about trials that the budget kept from running.
    pub budget_spent: Option<String>,
    /// Seconds that all attempts took together.
    pub used_s: f64,
    /// What is left to do, where it can be estimated.
    pub time_left: Option<TimeLeft>,
    /// What reading outputs again by changed rules brought, a sentence each.
    pub changes: Vec<String>,
    cluster: Vec<ClusterTask>,
}

/// How long the trials that are left will take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeLeft {
    /// Trials that have not ended.
    pub trials: usize,
    /// Seconds, from the mean of the finished ones and the slots that they had.
    pub seconds: f64,
}

impl StudyView {
    /// Looks at a study.
    ///
    /// # Errors
    /// There are no results, or the store cannot be read.
    pub fn read(study: &Study, store: &Path) -> Result<Self, Error> {
        let results = Results::read(study, Some(store))?;
        Ok(Self {
            trials: results.trials.iter().map(|trial| shown(trial, Vec::new())).collect(),
            machines: results.machines()?,
            progress: results.progress()?,
            runner: results.runner(),
            change: results.change(),
            counts: TrialCounts::of(&results),
            budget_spent: budget_spent(study, &results),
            used_s: results.trials.iter().map(|trial| trial.used_s).sum(),
            time_left: time_left(&results.trials),
            cluster: results.cluster_tasks()?,
            place: results.place,
            design: results.design,
            changes: results.changes,
            study: study.clone(),
        })
    }

    /// Money spent so far, where the study names a price.
    pub fn spent(&self) -> Option<f64> {
        Some(self.used_s / 3600.0 * self.study.budget.price_per_hour?)
    }

    /// The trial of that number.
    pub fn trial(&self, number: u32) -> Option<&ReportTrial> {
        self.trials.iter().find(|trial| trial.number == number)
    }

    /// Sections of the report as markup, with the data of their charts.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn sections(&self, sections: &[Section], thought: &Thought) -> Result<String, Error> {
        let wants_series =
            sections.iter().any(|own| matches!(own, Section::Curves | Section::Resources));
        if !wants_series {
            return Ok(sections_html(&self.input(&self.trials, thought), sections));
        }
        let ran = self.trials.iter().filter(|trial| trial.usage.is_some());
        let numbers: Vec<u32> = ran.take(MOST_SERIES).map(|trial| trial.number).collect();
        let mut trials = self.trials.clone();
        for (number, series) in self.series(&numbers)? {
            if let Some(trial) = trials.iter_mut().find(|trial| trial.number == number) {
                trial.series = series;
            }
        }
        Ok(sections_html(&self.input(&trials, thought), sections))
    }

    /// Curves and resources of one trial as markup; `live` are curves that the store lacks yet.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn trial_sections(
        &self,
        trial: &ReportTrial,
        live: Vec<Series>,
        thought: &Thought,
    ) -> Result<String, Error> {
        let mut own = trial.clone();
        own.series = self.series(&[trial.number])?.into_iter().flat_map(|(_, own)| own).collect();
        if own.series.is_empty() {
            own.series = live;
        }
        // What binds configurations is told on the page of all trials.
        let bare = Thought::none(&self.study);
        let thought = if self.trials.len() == 1 { thought } else { &bare };
        let trials = [own];
        let input = ReportInput { cluster: &[], ..self.input(&trials, thought) };
        Ok(sections_html(&input, &[Section::Curves, Section::Resources]))
    }

    /// The series of some trials.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn series(&self, numbers: &[u32]) -> Result<Vec<(u32, Vec<Series>)>, Error> {
        let none =
            || Error::NoResults { study: self.study.name.clone(), store: self.place.store.clone() };
        let snapshot = self.place.look()?.ok_or_else(none)?;
        let study = snapshot.study(&self.study.name)?.ok_or_else(none)?.id;
        let of = |number: &u32| Ok((*number, snapshot.series(study, *number)?));
        numbers.iter().map(of).collect()
    }

    /// What the sections of the report are made of.
    pub(crate) fn input<'a>(
        &'a self,
        trials: &'a [ReportTrial],
        thought: &'a Thought,
    ) -> ReportInput<'a> {
        ReportInput {
            study: &self.study,
            design: &self.design,
            analysis: thought.analysis.as_ref().ok(),
            analysis_refused: thought.analysis.as_ref().err().cloned(),
            search: thought.search.clone(),
            trials,
            machines: &self.machines,
            cluster: &self.cluster,
            program: PROGRAM,
            written_at: "",
        }
    }
}

fn time_left(trials: &[StoredTrial]) -> Option<TimeLeft> {
    let open = |trial: &&StoredTrial| {
        matches!(trial.state, TrialState::Planned | TrialState::Running | TrialState::Stopped)
    };
    let left = trials.iter().filter(open).count();
    let walls: Vec<f64> = trials
        .iter()
        .filter(|trial| trial.state == TrialState::Finished)
        .filter_map(|trial| trial.usage.as_ref().map(|usage| usage.wall_s))
        .collect();
    if left == 0 || walls.is_empty() {
        return None;
    }
    let mut slots =
        trials.iter().filter_map(|trial| trial.circumstances.as_ref().map(|own| own.slots));
    let mean = walls.iter().sum::<f64>() / walls.len() as f64;
    let seconds = mean * left as f64 / f64::from(slots.next_back().unwrap_or(1).max(1));
    Some(TimeLeft { trials: left, seconds })
}
