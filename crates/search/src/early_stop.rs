//! Whether a running trial is worth going on with, judged by its learning curve beside those of
//! the others.

use std::collections::BTreeMap;

use crate::Goal;

/// Curves of ended trials before a median says anything.
const LEAST_CURVES: usize = 3;
/// Sets of rungs of Hyperband.
const BRACKETS: u32 = 3;

/// By which rule a trial is cut short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutBy {
    /// Its best value so far is worse than the median of what the others had on average by the
    /// same step (Golovin and others, "Google Vizier: a service for black-box optimization", 2017,
    /// section 3.2).
    Median,
    /// It is not in the best part of those that reached the same rung (Li and others, "A system
    /// for massively parallel hyperparameter tuning", 2020, in the form that stops trials instead
    /// of promoting them).
    Halving {
        /// One in so many goes on.
        factor: u32,
    },
    /// The same with several sets of rungs that begin later and later (Li and others, "Hyperband",
    /// 2018): a trial that is slow to begin has a chance in the later ones.
    Hyperband {
        /// One in so many goes on.
        factor: u32,
    },
}

/// What becomes of a running trial.
#[derive(Debug, Clone, PartialEq)]
pub enum Course {
    /// It goes on.
    GoOn,
    /// It ends here, for this reason.
    CutShort(String),
}

/// Learning curves of a study's trials, and the rule that judges them.
#[derive(Debug, Clone)]
pub struct EarlyStopRule {
    rule: CutBy,
    goal: Goal,
    /// No trial is judged before this step.
    from: f64,
    curves: BTreeMap<u32, Curve>,
}

#[derive(Debug, Clone, Default)]
struct Curve {
    /// Steps, ascending, with losses.
    points: Vec<(f64, f64)>,
    ended: bool,
    /// Rungs that it was judged at.
    judged: usize,
}

impl Curve {
    /// The least loss up to a step.
    fn best(&self, step: f64) -> Option<f64> {
        let losses = self.points.iter().take_while(|(at, _)| *at <= step).map(|(_, loss)| *loss);
        losses.min_by(f64::total_cmp)
    }

    /// The mean loss up to a step.
    fn mean(&self, step: f64) -> Option<f64> {
        let losses: Vec<f64> =
            self.points.iter().take_while(|(at, _)| *at <= step).map(|(_, loss)| *loss).collect();
        (!losses.is_empty()).then(|| losses.iter().sum::<f64>() / losses.len() as f64)
    }

    /// The loss when it reached a step.
    fn at(&self, step: f64) -> Option<f64> {
        self.points.iter().find(|(at, _)| *at >= step).map(|(_, loss)| *loss)
    }
}

impl EarlyStopRule {
    /// A rule over a metric that trials report with their steps; none is cut short before `from`.
    pub fn new(rule: CutBy, goal: Goal, from: f64) -> Self {
        Self { rule, goal, from, curves: BTreeMap::new() }
    }

    /// The metric that it looks at.
    pub fn metric(&self) -> &str {
        &self.goal.metric
    }

    /// Takes in the whole curve of a trial that has ended.
    pub fn learn(&mut self, trial: u32, steps: &[f64], values: &[f64]) {
        let mut points: Vec<(f64, f64)> =
            steps.iter().zip(values).map(|(step, value)| (*step, self.goal.loss(*value))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let judged = self.curves.get(&trial).map_or(0, |own| own.judged);
        self.curves.insert(trial, Curve { points, ended: true, judged });
    }

    /// Takes in a value that a running trial reports, and judges the trial.
    pub fn hear(&mut self, trial: u32, step: f64, value: f64) -> Course {
        let loss = self.goal.loss(value);
        let curve = self.curves.entry(trial).or_default();
        if curve.points.last().is_none_or(|(last, _)| *last < step) {
            curve.points.push((step, loss));
        }
        match self.rule {
            CutBy::Median => self.by_median(trial, step),
            CutBy::Halving { factor } => self.by_rungs(trial, step, self.from, factor, |_| true),
            CutBy::Hyperband { factor } => {
                let bracket = bracket(trial, factor);
                let first = self.from * f64::from(factor).powi(bracket as i32);
                self.by_rungs(trial, step, first, factor, move |other| {
                    self::bracket(other, factor) == bracket
                })
            }
        }
    }

    fn by_median(&self, trial: u32, step: f64) -> Course {
        if step < self.from {
            return Course::GoOn;
        }
        let Some(own) = self.curves.get(&trial).and_then(|own| own.best(step)) else {
            return Course::GoOn;
        };
        let others = self.curves.iter().filter(|(other, curve)| **other != trial && curve.ended);
        let mut means: Vec<f64> = others.filter_map(|(_, curve)| curve.mean(step)).collect();
        if means.len() < LEAST_CURVES {
            return Course::GoOn;
        }
        means.sort_by(f64::total_cmp);
        let median = means[means.len() / 2];
        if own <= median {
            return Course::GoOn;
        }
        let (own, median) = (self.goal.value(own), self.goal.value(median));
        Course::CutShort(format!(
            "at step {step} its best {} was {own}, worse than {median}, the median of the others",
            self.goal.metric
        ))
    }

    fn by_rungs(
        &mut self,
        trial: u32,
        step: f64,
        first: f64,
        factor: u32,
        beside: impl Fn(u32) -> bool,
    ) -> Course {
        let rung = |number: usize| first * f64::from(factor).powi(number as i32);
        loop {
            let Some(curve) = self.curves.get(&trial) else { return Course::GoOn };
            let number = curve.judged;
            let at = rung(number);
            if step < at {
                return Course::GoOn;
            }
            if let Some(curve) = self.curves.get_mut(&trial) {
                curve.judged += 1;
            }
            let Some(own) = self.curves.get(&trial).and_then(|curve| curve.at(at)) else {
                continue;
            };
            let reached = self.curves.iter().filter(|(other, _)| beside(**other));
            let mut losses: Vec<f64> = reached.filter_map(|(_, curve)| curve.at(at)).collect();
            // With fewer there is no best part to speak of.
            if losses.len() < factor as usize {
                continue;
            }
            losses.sort_by(f64::total_cmp);
            let kept = losses.len() / factor as usize;
            let bar = losses[kept - 1];
            if own > bar {
                let (own, bar) = (self.goal.value(own), self.goal.value(bar));
                return Course::CutShort(format!(
                    "at step {at} its {} was {own}; the best {kept} of {} had {bar} or better",
                    self.goal.metric,
                    losses.len()
                ));
            }
        }
    }
}

/// The set of rungs of a trial: early ones for many trials, later ones for fewer.
fn bracket(trial: u32, factor: u32) -> u32 {
    let shares: Vec<u32> = (0..BRACKETS).rev().map(|power| factor.pow(power)).collect();
    let mut place = trial % shares.iter().sum::<u32>();
    for (number, share) in (0..).zip(shares) {
        if place < share {
            return number;
        }
        place -= share;
    }
    0
}

#[cfg(test)]
mod tests {
    use trainwright_study::Direction;

    use super::*;

    fn rule(rule: CutBy) -> EarlyStopRule {
        let goal = Goal { metric: "loss".to_owned(), direction: Direction::Minimize };
        EarlyStopRule::new(rule, goal, 1.0)
    }

    /// Runs trials one after the other whose loss falls to `level`; gives the step each ended at.
    fn lengths(own: &mut EarlyStopRule, levels: &[f64], steps: u32) -> Vec<u32> {
        let run = |(number, level): (usize, &f64)| {
            let trial = number as u32 + 1;
            for step in 1..=steps {
                let loss = level + 1.0 / f64::from(step);
                if own.hear(trial, f64::from(step), loss) != Course::GoOn {
                    return step;
                }
            }
            let at: Vec<f64> = (1..=steps).map(f64::from).collect();
            let losses: Vec<f64> = at.iter().map(|step| level + 1.0 / step).collect();
            own.learn(trial, &at, &losses);
            steps
        };
        levels.iter().enumerate().map(run).collect()
    }

    #[test]
    fn a_trial_worse_than_the_median_ends_and_a_better_one_does_not() {
        let mut own = rule(CutBy::Median);
        let found = lengths(&mut own, &[1.0, 2.0, 3.0, 9.0, 0.5, 1.9], 10);
        assert_eq!(found, [10, 10, 10, 1, 10, 10]);
    }

    #[test]
    fn the_best_third_goes_on_at_each_rung() {
        let mut own = rule(CutBy::Halving { factor: 3 });
        let levels = [3.0, 2.0, 5.0, 4.0, 1.0, 6.0, 7.0, 8.0, 0.5];
        let found = lengths(&mut own, &levels, 27);
        // The first two have nothing to be compared with; then only a new best third goes on.
        assert_eq!(found, [27, 27, 1, 1, 27, 1, 1, 1, 27]);
    }

    #[test]
    fn a_slow_beginner_has_a_chance_in_a_later_set_of_rungs() {
        assert_eq!((0..13).map(|trial| bracket(trial, 3)).filter(|own| *own == 0).count(), 9);
        assert_eq!((0..13).map(|trial| bracket(trial, 3)).filter(|own| *own == 2).count(), 1);
        let mut own = rule(CutBy::Hyperband { factor: 3 });
        let levels: Vec<f64> = (0..40).map(|number| f64::from(number % 7)).collect();
        let found = lengths(&mut own, &levels, 27);
        let first_end = |set: u32| {
            let ends = (1..).zip(&found).filter(|(trial, _)| bracket(*trial, 3) == set);
            ends.map(|(_, length)| *length).min().unwrap()
        };
        assert_eq!((first_end(0), first_end(1)), (1, 3));
    }

    #[test]
    fn values_to_be_large_are_judged_the_other_way_round() {
        let goal = Goal { metric: "accuracy".to_owned(), direction: Direction::Maximize };
        let mut own = EarlyStopRule::new(CutBy::Median, goal, 2.0);
        for trial in 1..=3 {
            own.learn(trial, &[1.0, 2.0], &[0.5, 0.6]);
        }
        assert_eq!(own.hear(4, 1.0, 0.1), Course::GoOn, "it is too early to say");
        let Course::CutShort(reason) = own.hear(4, 2.0, 0.2) else { panic!("0.2 is bad") };
        assert!(reason.contains("accuracy was 0.2, worse than 0.55"), "{reason}");
        assert_eq!(own.hear(5, 2.0, 0.9), Course::GoOn);
    }
}
