//! What is known when a searcher is asked: trials that ended, those under way, and what they cost.

use std::collections::BTreeMap;

use trainwright_study::{
    Configuration, Direction, DivergedTrials, Observation, PlannedTrial, TrialState,
};

/// A metric that a search makes small or large.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goal {
    /// Its name.
    pub metric: String,
    /// Which way is better.
    pub direction: Direction,
}

impl Goal {
    /// A value turned so that small is good.
    pub fn loss(&self, value: f64) -> f64 {
        match self.direction {
            Direction::Minimize => value,
            Direction::Maximize => -value,
        }
    }

    /// The value of a loss; the same turn again.
    pub fn value(&self, loss: f64) -> f64 {
        self.loss(loss)
    }
}

/// A bound that a metric of a good configuration keeps.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// The metric.
    pub metric: String,
    /// On which side of the bound it stays.
    pub side: Side,
    /// The bound.
    pub bound: f64,
}

/// A side of a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// At most the bound.
    AtMost,
    /// At least the bound.
    AtLeast,
}

impl Limit {
    /// Whether a value keeps it.
    pub fn holds(&self, value: f64) -> bool {
        match self.side {
            Side::AtMost => value <= self.bound,
            Side::AtLeast => value >= self.bound,
        }
    }
}

/// What a search is for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Aims {
    /// Metrics to make small or large; with more than one, the search looks for a front.
    pub goals: Vec<Goal>,
    /// Bounds that good configurations keep.
    pub limits: Vec<Limit>,
    /// What becomes of diverged trials that have values.
    pub diverged: DivergedTrials,
}

/// How a trial stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Running,
    Measured,
    /// Ended early because it did badly; what it measured by then is no result.
    CutShort,
    Failed,
}

#[derive(Debug, Clone)]
struct KnownTrial {
    configuration: Configuration,
    standing: Standing,
    values: BTreeMap<String, f64>,
    seconds: Option<f64>,
}

/// All that a searcher knows, by trial number: in which order trials ended changes nothing.
#[derive(Debug, Clone, Default)]
pub struct History {
    aims: Aims,
    trials: BTreeMap<u32, KnownTrial>,
}

/// All trials of one configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// What ran.
    pub configuration: Configuration,
    /// Equal for configurations that are the same.
    pub identity: String,
    /// Number of its first trial.
    pub first: u32,
    /// Losses of each goal, one a measured trial; small is good.
    pub losses: Vec<Vec<f64>>,
    /// Values of each limited metric, one a measured trial.
    pub limited: Vec<Vec<f64>>,
    /// Trials under way.
    pub running: u32,
    /// Trials that failed.
    pub failed: u32,
    /// Trials that were cut short because they did badly.
    pub cut_short: u32,
    /// Seconds of all its ended trials.
    pub seconds: f64,
    /// Ended trials whose seconds are known.
    pub timed: u32,
    measured: u32,
}

impl Cell {
    /// Measured trials.
    pub fn measured(&self) -> u32 {
        self.measured
    }

    /// Trials of any kind.
    pub fn trials(&self) -> u32 {
        self.measured + self.running + self.failed + self.cut_short
    }

    /// The same configuration with other measurements.
    pub(crate) fn with_measurements(
        &self,
        losses: Vec<Vec<f64>>,
        limited: Vec<Vec<f64>>,
        measured: u32,
    ) -> Self {
        Self { losses, limited, measured, ..self.clone() }
    }

    /// The mean loss of a goal; nothing where no trial measured it.
    pub fn loss(&self, goal: usize) -> Option<f64> {
        let own = self.losses.get(goal).filter(|own| !own.is_empty())?;
        Some(own.iter().sum::<f64>() / own.len() as f64)
    }
}

impl History {
    /// Nothing is known yet.
    pub fn new(aims: Aims) -> Self {
        Self { aims, trials: BTreeMap::new() }
    }

    /// What the search is for.
    pub fn aims(&self) -> &Aims {
        &self.aims
    }

    /// A trial is under way.
    pub fn begin(&mut self, trial: &PlannedTrial) {
        let own = KnownTrial {
            configuration: trial.configuration.clone(),
            standing: Standing::Running,
            values: BTreeMap::new(),
            seconds: None,
        };
        self.trials.insert(trial.number, own);
    }

    /// A trial has ended.
    pub fn tell(&mut self, told: &Observation) {
        let whole = self.aims.goals.iter().all(|goal| told.values.contains_key(&goal.metric));
        let counted = self.aims.diverged == DivergedTrials::Count;
        let standing = match told.state {
            TrialState::Finished if whole => Standing::Measured,
            TrialState::Diverged if whole && counted => Standing::Measured,
            TrialState::CutShort => Standing::CutShort,
            TrialState::Planned | TrialState::Running => Standing::Running,
            _ => Standing::Failed,
        };
        let own = KnownTrial {
            configuration: told.configuration.clone(),
            standing,
            values: told.values.clone(),
            seconds: told.seconds,
        };
        self.trials.insert(told.trial, own);
    }

    /// Trials of any kind.
    pub fn trials(&self) -> usize {
        self.trials.len()
    }

    /// Trials under way.
    pub fn running(&self) -> usize {
        self.trials.values().filter(|own| own.standing == Standing::Running).count()
    }

    /// The number after the last one.
    pub fn next_number(&self) -> u32 {
        self.trials.keys().next_back().map_or(1, |last| last + 1)
    }

    /// Numbers of the trials that have ended.
    pub fn numbers(&self) -> Vec<u32> {
        let ended = self.trials.iter().filter(|(_, own)| own.standing != Standing::Running);
        ended.map(|(number, _)| *number).collect()
    }

    /// What was known after a trial, had all before it ended by then.
    pub fn up_to(&self, trial: u32) -> Self {
        let trials =
            self.trials.range(..=trial).filter(|(_, own)| own.standing != Standing::Running);
        let trials = trials.map(|(number, own)| (*number, own.clone())).collect();
        Self { aims: self.aims.clone(), trials }
    }

    /// Seconds that ended trials took, where somebody measured them.
    pub fn seconds(&self) -> f64 {
        self.trials.values().filter_map(|own| own.seconds).sum()
    }

    /// Whether a configuration was tried or is being tried.
    pub fn knows(&self, identity: &str) -> bool {
        self.trials.values().any(|own| own.configuration.identity() == identity)
    }

    /// Trials by configuration, in the order of their first numbers.
    pub fn cells(&self) -> Vec<Cell> {
        let mut cells: Vec<Cell> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for (number, trial) in &self.trials {
            let identity = trial.configuration.identity();
            let place = *places.entry(identity.clone()).or_insert_with(|| {
                cells.push(self.empty_cell(&trial.configuration, identity, *number));
                cells.len() - 1
            });
            self.add(&mut cells[place], trial);
        }
        cells
    }

    /// The best cell of a goal among those that keep all limits; of equal ones the first.
    pub fn best(&self, goal: usize) -> Option<Cell> {
        let cells = self.cells().into_iter().filter(|own| self.keeps_limits(own));
        let scored = cells.filter_map(|own| Some((own.loss(goal)?, own)));
        scored.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, own)| own)
    }

    /// Whether the means of all limited metrics keep their bounds.
    pub fn keeps_limits(&self, cell: &Cell) -> bool {
        self.aims.limits.iter().zip(&cell.limited).all(|(limit, values)| {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            !values.is_empty() && limit.holds(mean)
        })
    }

    fn empty_cell(&self, configuration: &Configuration, identity: String, first: u32) -> Cell {
        Cell {
            configuration: configuration.clone(),
            identity,
            first,
            losses: vec![Vec::new(); self.aims.goals.len()],
            limited: vec![Vec::new(); self.aims.limits.len()],
            running: 0,
            failed: 0,
            cut_short: 0,
            seconds: 0.0,
            timed: 0,
            measured: 0,
        }
    }

    fn add(&self, cell: &mut Cell, trial: &KnownTrial) {
        cell.seconds += trial.seconds.unwrap_or(0.0);
        cell.timed += u32::from(trial.seconds.is_some());
        match trial.standing {
            Standing::Running => cell.running += 1,
            Standing::Failed => cell.failed += 1,
            Standing::CutShort => cell.cut_short += 1,
            Standing::Measured => {
                cell.measured += 1;
                for (goal, own) in self.aims.goals.iter().zip(&mut cell.losses) {
                    own.extend(trial.values.get(&goal.metric).map(|value| goal.loss(*value)));
                }
                for (limit, own) in self.aims.limits.iter().zip(&mut cell.limited) {
                    own.extend(trial.values.get(&limit.metric));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use trainwright_study::Level;

    use super::*;

    fn aims() -> Aims {
        let goals = vec![Goal { metric: "accuracy".into(), direction: Direction::Maximize }];
        let limits = vec![Limit { metric: "time".into(), side: Side::AtMost, bound: 10.0 }];
        Aims { goals, limits, ..Aims::default() }
    }

    fn trial(number: u32, x: i64) -> PlannedTrial {
        PlannedTrial {
            number,
            row: None,
            replicate: 1,
            configuration: Configuration::new(vec![("x".into(), Level::Integer(x))]),
            seed: 0,
            block: None,
            whole_plot: None,
        }
    }

    fn told(number: u32, x: i64, state: TrialState, values: &[(&str, f64)]) -> Observation {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let own = Observation::of(trial(number, x), state, values);
        Observation { seconds: Some(2.0), ..own }
    }

    #[test]
    fn the_best_cell_keeps_limits_and_is_measured_to_the_end() {
        let mut history = History::new(aims());
        let full = |accuracy: f64, time: f64| [("accuracy", accuracy), ("time", time)];
        history.tell(&told(1, 1, TrialState::Finished, &full(0.7, 5.0)));
        history.tell(&told(2, 2, TrialState::Finished, &full(0.9, 20.0)));
        history.tell(&told(3, 3, TrialState::CutShort, &full(0.95, 1.0)));
        history.tell(&told(4, 4, TrialState::Failed, &full(0.99, 1.0)));
        history.tell(&told(5, 1, TrialState::Finished, &full(0.8, 6.0)));
        history.begin(&trial(6, 5));
        let best = history.best(0).unwrap();
        assert_eq!(best.configuration.to_string(), "x=1");
        assert_eq!((best.measured(), best.trials()), (2, 2));
        assert!((best.loss(0).unwrap() + 0.75).abs() < 1e-12);
        assert_eq!((history.trials(), history.running(), history.next_number()), (6, 1, 7));
        assert_eq!(history.seconds(), 10.0);
    }

    #[test]
    fn the_order_of_ends_changes_nothing() {
        let ends = [
            told(1, 1, TrialState::Finished, &[("accuracy", 0.5), ("time", 1.0)]),
            told(2, 2, TrialState::Failed, &[]),
            told(3, 1, TrialState::Finished, &[("accuracy", 0.6), ("time", 1.0)]),
        ];
        let cells = |order: [usize; 3]| {
            let mut history = History::new(aims());
            order.iter().for_each(|place| history.tell(&ends[*place]));
            history.cells()
        };
        assert_eq!(cells([0, 1, 2]), cells([2, 0, 1]));
        assert_eq!(cells([0, 1, 2])[1].failed, 1);
    }

    #[test]
    fn a_trial_without_the_goal_has_failed() {
        let mut history = History::new(aims());
        history.tell(&told(1, 1, TrialState::Finished, &[("time", 1.0)]));
        assert_eq!((history.cells()[0].failed, history.best(0)), (1, None));
    }

    #[test]
    fn diverged_trials_count_where_the_study_says_so() {
        let end = told(1, 1, TrialState::Diverged, &[("accuracy", 0.1), ("time", 1.0)]);
        for (diverged, measured) in [(DivergedTrials::LeaveOut, 0), (DivergedTrials::Count, 1)] {
            let mut history = History::new(Aims { diverged, ..aims() });
            history.tell(&end);
            assert_eq!(history.cells()[0].measured(), measured);
        }
    }
}
