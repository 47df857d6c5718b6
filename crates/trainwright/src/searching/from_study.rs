//! From the `[search]` of a study to a searcher with its aims and rules.

use trainwright_search::{
    Aims, Bayesian, BayesianSettings, Confirm, CoordinateDescent, CutBy, EarlyStopRule, Goal, Grid,
    History, Limit, LineSearch, LittleToGain, NextTrial, ParzenSettings, PointSearch, Points,
    SearchBudget, SearchRules, Searcher, Side, Space, TreeParzen, TrialCost, Tuneful,
    TunefulSettings,
};
use trainwright_study as study;
use trainwright_study::{Configuration, SearchMethod, SearchSpec, Seed, StartPoints, Study};

use crate::Error;

/// Part of the study's randomness; the number never changes, so that a search goes on as it began.
const SEARCH: u64 = 31;
/// Points along a range of a grid whose budget does not say how many there may be.
const GRID_POINTS: u32 = 5;
/// Points of a spread-out search whose budget does not say how many there may be.
const SPREAD_POINTS: u32 = 64;
/// First configurations of a Parzen search.
const PARZEN_START: usize = 10;

/// The search of a study, with the space it searches.
pub(crate) struct StudySearch<'a> {
    study: &'a Study,
    pub(crate) spec: &'a SearchSpec,
    pub(crate) space: Space,
}

impl<'a> StudySearch<'a> {
    /// The search of a study.
    ///
    /// # Errors
    /// The study has none, or its constraints allow nothing.
    pub(crate) fn of(study: &'a Study) -> Result<Self, Error> {
        let spec =
            study.search.as_ref().ok_or_else(|| Error::NoSearch { study: study.name.clone() })?;
        let space = Space::of(study)
            .map_err(|error| study.fault_at(&["constraint"], error.to_string(), None))?;
        Ok(Self { study, spec, space })
    }

    /// What the search will do, in words.
    pub(crate) fn words(&self) -> String {
        let factors = self.space.dimensions().len();
        let size = match self.space.listed() {
            Some(listed) => format!("all {} configurations", listed.len()),
            None => "more configurations than can be listed".to_owned(),
        };
        let study::SearchLimits { trials, hours, money } = self.spec.budget;
        let parts = [
            trials.map(|own| format!("{own} trials")),
            hours.map(|own| format!("{own} hours")),
            money.map(|own| format!("{own} in the currency of price_per_hour")),
        ];
        let budget: Vec<String> = parts.into_iter().flatten().collect();
        format!(
            "`trainwright search` goes by {} over {factors} factors ({size}) and spends at most {}",
            self.spec.method.word(),
            budget.join(" or ")
        )
    }

    fn seed(&self) -> Seed {
        self.spec.seed.map_or(self.study.seed, Seed::new).derive(SEARCH)
    }

    /// What the search is for.
    pub(crate) fn aims(&self) -> Aims {
        let goal = |own: &study::SearchObjective| Goal {
            metric: own.metric.clone(),
            direction: own.direction,
        };
        let limit = |own: &study::SearchBound| Limit {
            metric: own.metric.clone(),
            side: match own.side {
                study::BoundSide::AtMost => Side::AtMost,
                study::BoundSide::AtLeast => Side::AtLeast,
            },
            bound: own.bound,
        };
        Aims {
            goals: self.spec.objectives.iter().map(goal).collect(),
            limits: self.spec.bounds.iter().map(limit).collect(),
            diverged: self.study.analysis.diverged,
        }
    }

    /// How suggestions become trials.
    pub(crate) fn rules(&self) -> SearchRules {
        let study::SearchLimits { trials, hours, money } = self.spec.budget;
        let price_per_hour = self.study.budget.price_per_hour;
        SearchRules {
            seed: self.study.seed,
            replicates: self.spec.replicates,
            budget: SearchBudget { trials, hours, money, price_per_hour },
            confirm: self
                .spec
                .confirm
                .map(|own| Confirm { best: own.best as usize, replications: own.replications }),
        }
    }

    /// The rule that cuts trials short.
    pub(crate) fn early_stop(&self) -> Option<EarlyStopRule> {
        let own = self.spec.early_stop.as_ref()?;
        let factor = own.factor;
        let rule = match own.rule {
            study::EarlyStopRule::Median => CutBy::Median,
            study::EarlyStopRule::Halving => CutBy::Halving { factor },
            study::EarlyStopRule::Hyperband => CutBy::Hyperband { factor },
        };
        let goal = Goal { metric: own.metric.clone(), direction: own.direction };
        Some(EarlyStopRule::new(rule, goal, own.from))
    }

    /// What suggests; configurations that did well in earlier studies come first.
    pub(crate) fn searcher(&self, known_good: Vec<Configuration>) -> Box<dyn Searcher> {
        let space = self.space.clone();
        let alpha = self.study.analysis.alpha;
        let count = self.spec.budget.trials.unwrap_or(SPREAD_POINTS) / self.spec.replicates;
        let spread =
            |points: Points| PointSearch::new(space.clone(), points, count as usize, self.seed());
        match self.spec.method {
            SearchMethod::Bayesian => Box::new(self.bayesian().starting_with(known_good)),
            SearchMethod::Tpe | SearchMethod::Hyperband => {
                let start_count = self.spec.start.count.map_or(PARZEN_START, |own| own as usize);
                let settings =
                    ParzenSettings { start: self.start(), start_count, seed: self.seed() };
                Box::new(TreeParzen::new(space, settings).starting_with(known_good))
            }
            SearchMethod::Random => Box::new(spread(Points::Random)),
            SearchMethod::LatinHypercube => Box::new(spread(Points::LatinHypercube)),
            SearchMethod::Sobol => Box::new(spread(Points::Sobol)),
            SearchMethod::Grid => Box::new(Grid::new(&self.space, self.grid_points())),
            SearchMethod::CoordinateDescent => {
                let start = self.first(vec![0.5; self.space.width()]);
                Box::new(CoordinateDescent::new(space, start, alpha))
            }
            SearchMethod::Line => {
                let start = self.first(vec![0.0; self.space.width()]);
                Box::new(LineSearch::new(space, &self.study.factors, start, alpha))
            }
            SearchMethod::Tuneful => Box::new(Tuneful::new(space, self.tuneful())),
        }
    }

    /// A Bayesian search with the study's settings, which also judges what others have found.
    pub(crate) fn bayesian(&self) -> Bayesian {
        let mut settings = BayesianSettings::for_space(&self.space, self.seed());
        settings.start = self.start();
        if let Some(count) = self.spec.start.count {
            settings.start_count = count as usize;
        }
        settings.surrogate.cost = self.cost();
        settings.stop = self.stop();
        Bayesian::new(self.space.clone(), settings)
    }

    /// What the search would try next: by its own model where it has one, else by the Bayesian one.
    pub(crate) fn next_trial(&self, known: &History) -> Option<NextTrial> {
        match self.spec.method {
            SearchMethod::Tuneful => {
                Tuneful::new(self.space.clone(), self.tuneful()).next_trial(known)
            }
            _ => self.bayesian().next_trial(known),
        }
    }

    /// The published settings, but for what the study says.
    fn tuneful(&self) -> TunefulSettings {
        let published = TunefulSettings::published(self.seed());
        let round = self.spec.start.count.map_or(published.round, |own| own as usize);
        let mut own = TunefulSettings { points: self.start(), round, ..published };
        own.surrogate.cost = self.cost();
        own.stop = self.stop().or(published.stop);
        own
    }

    fn cost(&self) -> TrialCost {
        match self.spec.weigh {
            study::SearchWeight::Trials => TrialCost::Equal,
            study::SearchWeight::Seconds => TrialCost::Seconds,
        }
    }

    fn stop(&self) -> Option<LittleToGain> {
        let own = self.spec.stop?;
        Some(LittleToGain { threshold: own.gain, least: own.least as usize })
    }

    fn start(&self) -> Points {
        match self.spec.start.points {
            StartPoints::Sobol => Points::Sobol,
            StartPoints::LatinHypercube => Points::LatinHypercube,
            StartPoints::Random => Points::Random,
        }
    }

    /// Points along a range, so that the whole grid fits the budget.
    fn grid_points(&self) -> u32 {
        let Some(trials) = self.spec.budget.trials else { return GRID_POINTS };
        let configurations = f64::from(trials / self.spec.replicates);
        let is_wide = |own: &&trainwright_search::Dimension| {
            own.is_range() && own.count().is_none_or(|count| count > u64::from(GRID_POINTS))
        };
        let (wide, narrow): (Vec<_>, Vec<_>) = self.space.dimensions().iter().partition(is_wide);
        let counts = narrow.iter().filter_map(|own| own.count());
        let taken: f64 = counts.map(|count| count as f64).product();
        let each = (configurations / taken).powf(1.0 / wide.len().max(1) as f64);
        (each.floor() as u32).max(2)
    }

    /// The configuration at a point, or the first of a spread where constraints forbid it.
    fn first(&self, point: Vec<f64>) -> Configuration {
        let there = self.space.candidate(&point).map(|own| own.configuration);
        there.unwrap_or_else(|| {
            let mut all = Points::Sobol.configurations(&self.space, 1, self.seed());
            all.pop().unwrap_or_default()
        })
    }
}
