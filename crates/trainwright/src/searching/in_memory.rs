//! A search that somebody else runs and that keeps nothing on disk.

use std::collections::BTreeMap;

use trainwright_search::{History, Proposer, SearchProposer};
use trainwright_study::{PlannedTrial, Study, TrialState};

use super::ask_tell::{proposed, record};
use super::from_study::StudySearch;
use crate::studies::derived::derived_observation;
use crate::{AskReply, Error, TellReply, Told};

/// The search of a study, asked and told without a store.
///
/// It suggests what [`crate::ask`] would; what is known is lost with it. A rule that cuts trials
/// short is not applied, and no earlier study is looked at.
pub struct MemorySearch {
    study: Study,
    proposer: SearchProposer,
    under_way: BTreeMap<u32, PlannedTrial>,
}

impl MemorySearch {
    /// A search that knows nothing yet.
    ///
    /// # Errors
    /// The study has no search, or its constraints allow nothing.
    pub fn new(study: Study) -> Result<Self, Error> {
        let own = StudySearch::of(&study)?;
        let known = History::new(own.aims());
        let proposer =
            SearchProposer::new(own.searcher(Vec::new()), known, Vec::new(), own.rules());
        Ok(Self { proposer, under_way: BTreeMap::new(), study })
    }

    /// Which trials to run next; they count as under way until they are told.
    pub fn ask(&mut self, count: u32) -> AskReply {
        let (trials, wait) = proposed(&mut self.proposer, count);
        self.under_way.extend(trials.iter().map(|trial| (trial.number, trial.clone())));
        AskReply::of(&self.study, trials, wait, &self.proposer)
    }

    /// Learns what came of a trial that was asked for.
    ///
    /// # Errors
    /// There is no such trial under way, or a metric is unknown or missing.
    pub fn tell(&mut self, told: &Told) -> Result<TellReply, Error> {
        let Some(trial) = self.under_way.get(&told.trial) else {
            let state = TrialState::Planned;
            return Err(Error::NotAsked { trial: told.trial, state });
        };
        let record = record(&self.study, told, 0)?;
        let observation = derived_observation(&self.study, trial, &record);
        self.proposer.tell(&observation);
        self.under_way.remove(&told.trial);
        let known = self.proposer.known();
        Ok(TellReply::of(&self.study, told.trial, observation.state, known))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trainwright_study::Level;

    fn search(method: &str, trials: u32) -> MemorySearch {
        let text = format!(
            "schema = 1\n[study]\nname = \"s\"\nseed = 3\n\
             [factors.x]\nrange = {{ from = -2.0, to = 2.0 }}\n\
             [search]\nmethod = \"{method}\"\nbudget = {{ trials = {trials} }}\n\
             [metrics.loss]\nobjective = \"minimize\"\n"
        );
        MemorySearch::new(Study::from_text(&text).unwrap()).unwrap()
    }

    fn told(trial: u32, loss: f64) -> Told {
        let values = BTreeMap::from([("loss".to_owned(), loss)]);
        Told { trial, values, failed: None, seconds: None }
    }

    #[test]
    fn a_bayesian_search_in_memory_finds_the_bottom_of_a_valley() {
        let mut search = search("bayesian", 20);
        let mut best = f64::INFINITY;
        while let Some(asked) = search.ask(1).trials.pop() {
            let x = asked.configuration.get("x").and_then(Level::number).unwrap();
            let reply = search.tell(&told(asked.trial, (x - 0.7).powi(2))).unwrap();
            best = reply.best_value.unwrap();
        }
        assert!(best < 1e-3, "{best}");
        assert!(search.ask(1).stopped.is_some());
    }

    #[test]
    fn only_a_trial_that_was_asked_for_is_told_and_only_once() {
        let mut search = search("random", 4);
        assert!(matches!(search.tell(&told(1, 1.0)), Err(Error::NotAsked { trial: 1, .. })));
        let trial = search.ask(1).trials[0].trial;
        assert!(search.tell(&told(trial, f64::NAN)).is_ok_and(|own| own.best.is_none()));
        assert!(search.tell(&told(trial, 1.0)).is_err());
    }

    #[test]
    fn a_result_without_its_metric_leaves_the_trial_under_way() {
        let mut search = search("random", 4);
        let trial = search.ask(1).trials[0].trial;
        let nothing = Told { values: BTreeMap::new(), ..told(trial, 0.0) };
        assert!(matches!(search.tell(&nothing), Err(Error::MissingMetric { .. })));
        assert!(search.tell(&told(trial, 1.0)).is_ok());
    }
}
