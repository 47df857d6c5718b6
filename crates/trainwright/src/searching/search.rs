//! The verb `search`: the loop of `run` with a searcher for a proposer.

use trainwright_search::{History, Proposer, SearchProposer, StopReason};
use trainwright_store::{Store, StoredTrial};
use trainwright_study::{DivergedTrials, Observation, Study, TrialState};

use super::from_study::StudySearch;
use super::warm_start::known_good;
use crate::running::run::{Queue, run_proposed};
use crate::studies::derived::derived_trial;
use crate::{Error, RunEnd, RunEvent, RunRequest, Wish};

/// How a search ended.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchEnd {
    /// How the run ended.
    pub end: RunEnd,
    /// Why the searcher stopped; absent where something else ended it.
    pub stopped: Option<StopReason>,
}

/// Searches a study, or goes on where it stopped; trials of its design that are left come first.
///
/// # Errors
/// The study has no search, or what [`crate::run`] refuses.
pub fn search(
    study: &Study,
    request: &RunRequest<'_>,
    wish: &dyn Fn() -> Wish,
    on_event: &mut dyn FnMut(RunEvent<'_>),
) -> Result<SearchEnd, Error> {
    let own = StudySearch::of(study)?;
    let propose = |queue: &mut Queue, store: &Store| -> Result<SearchProposer, Error> {
        let trials = own.spec.budget.trials.map(|trials| trials as usize);
        queue.total = trials.map(|trials| trials.max(queue.trials.len()));
        let good = known_good(store, study, &own.space, &own.aims())?;
        let mut known = History::new(own.aims());
        let ended = queue.trials.iter().filter(|trial| has_ended(trial.state));
        for trial in ended.clone() {
            known.tell(&observation(study, trial));
        }
        // What is still running before a run begins was asked for from outside.
        let outside = queue.trials.iter().filter(|trial| trial.state == TrialState::Running);
        let outside: Vec<_> = outside.map(StoredTrial::planned).collect();
        outside.iter().for_each(|trial| known.begin(trial));
        let waiting = queue.left.clone();
        let mut proposer = SearchProposer::new(own.searcher(good), known, waiting, own.rules())
            .with_trials_outside(outside.len());
        if let Some(rule) = own.early_stop() {
            proposer = proposer.with_early_stop(rule);
            for trial in ended {
                proposer.learn(trial.number, &store.series(queue.study_id, trial.number)?);
            }
            if study.trials_go_on() {
                let cut = queue.trials.iter().filter(|own| own.state == TrialState::CutShort);
                proposer = proposer.with_going_on(cut.map(StoredTrial::planned).collect());
            }
        }
        Ok(proposer)
    };
    let (end, proposer) = run_proposed(study, request, wish, on_event, propose)?;
    Ok(SearchEnd { end, stopped: proposer.stopped().cloned() })
}

/// What is known of a study's trials; those under way count as such.
pub(super) fn known(study: &Study, search: &StudySearch<'_>, trials: &[StoredTrial]) -> History {
    let mut known = History::new(search.aims());
    for trial in trials {
        if has_ended(trial.state) {
            known.tell(&observation(study, trial));
        } else if trial.state == TrialState::Running {
            known.begin(&trial.planned());
        }
    }
    known
}

fn has_ended(state: TrialState) -> bool {
    !matches!(state, TrialState::Planned | TrialState::Running | TrialState::Stopped)
}

fn observation(study: &Study, trial: &StoredTrial) -> Observation {
    let mut own = derived_trial(study, trial.clone()).observation();
    let counts = study.analysis.diverged == DivergedTrials::Count;
    if counts
        && own.state == TrialState::Diverged
        && own.values.contains_key(&study.analysis.response)
    {
        own.state = TrialState::Finished;
    }
    // Nothing is learnt from a trial that somebody left out; it was spent all the same.
    if trial.excluded.is_some() {
        own.state = TrialState::Failed;
        own.values.clear();
    }
    own
}
