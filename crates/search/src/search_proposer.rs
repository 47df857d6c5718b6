//! A searcher as a proposer: numbers and seeds, replicates, budgets, trials that were begun before.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use trainwright_design::trial_seed;
use trainwright_study::{Configuration, Observation, PlannedTrial, Seed, Series};

use crate::{
    Confirm, Course, EarlyStopRule, History, Proposal, Proposer, Searcher, StopReason, Suggestion,
};

/// How long to wait for a trial under way before asking again; its end comes first.
const PATIENCE: Duration = Duration::from_secs(3600);

/// How much a search may spend.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SearchBudget {
    /// Trials in all, those of earlier runs and replicates included.
    pub trials: Option<u32>,
    /// Hours that trials may take, one after the other.
    pub hours: Option<f64>,
    /// Money that trials may cost.
    pub money: Option<f64>,
    /// Price of an hour of a trial.
    pub price_per_hour: Option<f64>,
}

impl SearchBudget {
    /// Why no more may be spent, where that is so.
    fn spent(&self, known: &History) -> Option<StopReason> {
        let hours = known.seconds() / 3600.0;
        let money = self.price_per_hour.map(|price| price * hours);
        if let Some(trials) = self.trials.filter(|most| known.trials() >= *most as usize) {
            Some(StopReason::TrialsSpent { trials })
        } else if self.hours.is_some_and(|most| hours >= most) {
            Some(StopReason::HoursSpent { hours })
        } else {
            let money = money.filter(|own| self.money.is_some_and(|most| *own >= most))?;
            Some(StopReason::MoneySpent { money })
        }
    }
}

/// How a searcher's suggestions become trials.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchRules {
    /// What seeds of trials derive from.
    pub seed: Seed,
    /// Trials of each configuration.
    pub replicates: u32,
    /// How much may be spent.
    pub budget: SearchBudget,
    /// How the best are confirmed when the search has ended; not at all where absent.
    pub confirm: Option<Confirm>,
}

/// Proposes what a searcher suggests.
pub struct SearchProposer {
    searcher: Box<dyn Searcher>,
    known: History,
    rules: SearchRules,
    /// Trials that were begun before and have not ended.
    waiting: VecDeque<PlannedTrial>,
    early_stop: Option<EarlyStopRule>,
    /// Trials that may go on once they were cut short, by number; nothing where none may.
    may_go_on: Option<BTreeMap<u32, PlannedTrial>>,
    stopped: Option<StopReason>,
    /// Trials under way that somebody else runs, so that nobody here hears of their end.
    outside: usize,
}

impl SearchProposer {
    /// A search that goes on from what is known; `waiting` trials come first, as they are.
    pub fn new(
        searcher: Box<dyn Searcher>,
        known: History,
        waiting: Vec<PlannedTrial>,
        rules: SearchRules,
    ) -> Self {
        let mut own = Self {
            searcher,
            known,
            rules,
            waiting: VecDeque::new(),
            early_stop: None,
            may_go_on: None,
            stopped: None,
            outside: 0,
        };
        waiting.iter().for_each(|trial| own.known.begin(trial));
        own.waiting = waiting.into();
        own
    }

    /// The same search where so many of the trials under way are somebody else's.
    pub fn with_trials_outside(mut self, count: usize) -> Self {
        self.outside = count;
        self
    }

    /// What to do while nothing can be proposed: wait for a trial, if the end of one will be heard.
    fn wait(&mut self, now: Duration) -> Proposal {
        if self.outside > 0 && self.known.running() <= self.outside {
            self.stopped = Some(StopReason::TrialsOutside { trials: self.outside });
            return Proposal::Done;
        }
        Proposal::Later(now.saturating_add(PATIENCE))
    }

    /// The same search with a rule that cuts trials short.
    pub fn with_early_stop(mut self, rule: EarlyStopRule) -> Self {
        self.early_stop = Some(rule);
        self
    }

    /// The same search in which trials that were cut short may go on, such as these, which an
    /// earlier run cut short; comes after the rule has learnt their curves.
    pub fn with_going_on(mut self, cut_short: Vec<PlannedTrial>) -> Self {
        if let Some(rule) = &mut self.early_stop {
            cut_short.iter().for_each(|trial| rule.was_cut_short(trial.number));
        }
        let before = self.waiting.iter().chain(&cut_short);
        self.may_go_on = Some(before.map(|trial| (trial.number, trial.clone())).collect());
        self
    }

    /// All that is known.
    pub fn known(&self) -> &History {
        &self.known
    }

    /// Why it has stopped, where it has.
    pub fn stopped(&self) -> Option<&StopReason> {
        self.stopped.as_ref()
    }

    /// Gives a trial back that was proposed but did not begin; it will be the next one.
    pub fn put_back(&mut self, trial: PlannedTrial) {
        self.waiting.push_front(trial);
    }

    fn next(&mut self) -> Result<Option<Proposal>, StopReason> {
        if let Some(trial) = self.waiting.pop_front() {
            return Ok(Some(Proposal::Try(trial)));
        }
        // It is a trial already, so that a budget of trials that is spent does not keep it from
        // going on.
        let spent = self.rules.budget.spent(&self.known);
        if matches!(spent, None | Some(StopReason::TrialsSpent { .. }))
            && let Some(trial) = self.promoted()
        {
            return Ok(Some(Proposal::GoOn(trial)));
        }
        if let Some(reason) = spent {
            // One that is under way may let another go on.
            let last = self.may_go_on.is_none() || self.known.running() == 0;
            return if last { Err(reason) } else { Ok(None) };
        }
        let configuration = match self.unrepeated() {
            Some(configuration) => configuration,
            None => match self.searcher.suggest(&self.known) {
                Suggestion::Try(configuration) => configuration,
                Suggestion::Wait => return Ok(None),
                Suggestion::Stop(reason) => return Err(reason),
            },
        };
        let trial = self.begun(configuration);
        if let Some(all) = &mut self.may_go_on {
            all.insert(trial.number, trial.clone());
        }
        Ok(Some(Proposal::Try(trial)))
    }

    /// A trial that was cut short, has ended, and is among the best of its rung after all.
    fn promoted(&mut self) -> Option<PlannedTrial> {
        let rule = self.early_stop.as_mut()?;
        let trial = self.may_go_on.as_ref()?.get(&rule.promoted()?)?.clone();
        if !self.known.numbers().contains(&trial.number) {
            return None;
        }
        rule.goes_on(trial.number);
        self.known.begin(&trial);
        Some(trial)
    }

    fn begun(&mut self, configuration: Configuration) -> PlannedTrial {
        let trial = self.trial(configuration);
        self.known.begin(&trial);
        trial
    }

    /// One more trial of the best configurations when the search itself has ended.
    fn confirmation(&mut self) -> Option<PlannedTrial> {
        let next = self.rules.confirm?.next(&self.known, self.rules.replicates)?;
        Some(self.begun(next))
    }

    /// A configuration that has fewer replicates than it should; one that failed gets no more.
    fn unrepeated(&self) -> Option<Configuration> {
        if self.rules.replicates < 2 {
            return None;
        }
        let cells = self.known.cells().into_iter();
        let mut few = cells
            .filter(|own| own.failed + own.cut_short == 0 && own.trials() < self.rules.replicates);
        few.next().map(|own| own.configuration)
    }

    fn trial(&self, configuration: Configuration) -> PlannedTrial {
        let identity = configuration.identity();
        let cells = self.known.cells();
        let before =
            cells.iter().find(|own| own.identity == identity).map_or(0, |own| own.trials());
        let replicate = before + 1;
        PlannedTrial {
            number: self.known.next_number(),
            row: None,
            replicate,
            seed: trial_seed(self.rules.seed, &configuration, replicate),
            configuration,
            block: None,
            whole_plot: None,
        }
    }
}

impl Proposer for SearchProposer {
    fn ask(&mut self, now: Duration) -> Proposal {
        if self.stopped.is_none() {
            match self.next() {
                Ok(Some(proposal)) => return proposal,
                Ok(None) => return self.wait(now),
                Err(reason) => self.stopped = Some(reason),
            }
        }
        // Which are best is known when all of the search itself have ended.
        let replicates = self.rules.replicates;
        if self.rules.confirm.is_some_and(|own| own.waits(&self.known, replicates)) {
            return self.wait(now);
        }
        self.confirmation().map_or(Proposal::Done, Proposal::Try)
    }

    fn tell(&mut self, told: &Observation) {
        self.known.tell(told);
    }

    fn hear(&mut self, trial: u32, step: f64, values: &[(String, f64)]) -> Course {
        let Some(rule) = &mut self.early_stop else { return Course::GoOn };
        match values.iter().find(|(name, _)| name == rule.metric()) {
            Some((_, value)) => rule.hear(trial, step, *value),
            None => Course::GoOn,
        }
    }

    fn learn(&mut self, trial: u32, curves: &[Series]) {
        let Some(rule) = &mut self.early_stop else { return };
        let name = format!("metric.{}", rule.metric());
        if let Some(own) = curves.iter().find(|own| own.name == name && own.axis == "step") {
            rule.learn(trial, &own.at, &own.values);
        }
    }
}
