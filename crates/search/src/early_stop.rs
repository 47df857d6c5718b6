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
    /// The rung at which it was cut short, by its number.
    cut_at: Option<usize>,
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
        let cut_at = self.curves.get(&trial).and_then(|own| own.cut_at);
        self.curves.insert(trial, Curve { points, ended: true, judged, cut_at });
    }

    /// Takes in that a trial was cut short some time before: at the last rung that it reached.
    pub fn was_cut_short(&mut self, trial: u32) {
        let Some((first, factor)) = self.rungs(trial) else { return };
        let Some(curve) = self.curves.get_mut(&trial) else { return };
        let Some(&(last, _)) = curve.points.last() else { return };
        let reached = (0..).take_while(|number| rung(first, factor, *number) <= last).count();
        curve.judged = reached;
        curve.cut_at = reached.checked_sub(1);
    }

    /// The trial that was cut short and turns out to be among the best of its rung after all, since
    /// others came that were worse: on the highest rung, the best.
    ///
    /// This is what promotes trials in Li and others, 2020, algorithm 2, but that all trials run to
    /// their first rung at once.
    pub fn promoted(&self) -> Option<u32> {
        let mut best: Option<(usize, f64, u32)> = None;
        for (&trial, curve) in &self.curves {
            let (Some(number), Some((first, factor))) = (curve.cut_at, self.rungs(trial)) else {
                continue;
            };
            let at = rung(first, factor, number);
            let (Some(own), Some(standing)) = (curve.at(at), self.standing(trial, at, factor))
            else {
                continue;
            };
            let better =
                best.is_none_or(|(rung, loss, _)| number > rung || (number == rung && own < loss));
            if own <= standing.bar && better {
                best = Some((number, own, trial));
            }
        }
        best.map(|(_, _, trial)| trial)
    }

    /// Takes in that a trial which was cut short goes on.
    pub fn goes_on(&mut self, trial: u32) {
        if let Some(curve) = self.curves.get_mut(&trial) {
            curve.cut_at = None;
            curve.ended = false;
        }
    }

    /// The first rung of a trial and how far rungs are apart; nothing for a rule without rungs.
    fn rungs(&self, trial: u32) -> Option<(f64, u32)> {
        match self.rule {
            CutBy::Median => None,
            CutBy::Halving { factor } => Some((self.from, factor)),
            CutBy::Hyperband { factor } => {
                let later = f64::from(factor).powi(bracket(trial, factor) as i32);
                Some((self.from * later, factor))
            }
        }
    }

    /// How those of a trial's set that reached a rung stand there; nothing where they are too few
    /// to have a best part.
    fn standing(&self, trial: u32, at: f64, factor: u32) -> Option<Standing> {
        let beside = |other: u32| match self.rule {
            CutBy::Hyperband { factor } => bracket(other, factor) == bracket(trial, factor),
            _ => true,
        };
        let reached = self.curves.iter().filter(|(other, _)| beside(**other));
        let mut losses: Vec<f64> = reached.filter_map(|(_, curve)| curve.at(at)).collect();
        losses.sort_by(f64::total_cmp);
        let kept = losses.len() / factor as usize;
        let bar = *losses.get(kept.checked_sub(1)?)?;
        Some(Standing { kept, of: losses.len(), bar })
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
            CutBy::Halving { .. } | CutBy::Hyperband { .. } => self.by_rungs(trial, step),
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

    fn by_rungs(&mut self, trial: u32, step: f64) -> Course {
        let Some((first, factor)) = self.rungs(trial) else { return Course::GoOn };
        loop {
            let Some(curve) = self.curves.get_mut(&trial) else { return Course::GoOn };
            let number = curve.judged;
            let at = rung(first, factor, number);
            if step < at {
                return Course::GoOn;
            }
            curve.judged += 1;
            let Some(own) = curve.at(at) else { continue };
            // With fewer than the factor there is no best part to speak of.
            let Some(Standing { kept, of, bar }) = self.standing(trial, at, factor) else {
                continue;
            };
            if own > bar {
                if let Some(curve) = self.curves.get_mut(&trial) {
                    curve.cut_at = Some(number);
                }
                let (own, bar) = (self.goal.value(own), self.goal.value(bar));
                return Course::CutShort(format!(
                    "at step {at} its {} was {own}; the best {kept} of {of} had {bar} or better",
                    self.goal.metric,
                ));
            }
        }
    }
}

/// The best part of the trials that reached a rung.
struct Standing {
    /// How many it has.
    kept: usize,
    /// How many reached the rung.
    of: usize,
    /// The worst loss in it.
    bar: f64,
}

/// The step of a rung, by its number from 0.
fn rung(first: f64, factor: u32, number: usize) -> f64 {
    first * f64::from(factor).powi(number as i32)
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
    fn a_trial_that_was_cut_short_goes_on_when_worse_ones_have_come() {
        let mut own = rule(CutBy::Halving { factor: 3 });
        let levels = [3.0, 2.0, 5.0, 4.0];
        assert_eq!(lengths(&mut own, &levels, 27), [27, 27, 1, 1]);
        assert_eq!(own.promoted(), None, "the best one of four is the second");
        // With eight at the first rung two go on: the second and the first, both through already.
        for (trial, level) in [(5, 6.0), (6, 7.0), (7, 8.0), (8, 9.0)] {
            assert_ne!(own.hear(trial, 1.0, level), Course::GoOn);
            own.learn(trial, &[1.0], &[level]);
        }
        assert_eq!(own.promoted(), None);
        // With nine it is three: of those cut short the fourth is the best.
        assert_ne!(own.hear(9, 1.0, 10.0), Course::GoOn);
        assert_eq!(own.promoted(), Some(4));
        own.goes_on(4);
        assert_eq!(own.promoted(), None);
        assert_eq!(own.hear(4, 2.0, 4.9), Course::GoOn, "it was judged at the first rung");
        let Course::CutShort(reason) = own.hear(4, 3.0, 4.8) else { panic!("others had less") };
        assert!(reason.starts_with("at step 3 its loss was 4.8"), "{reason}");
    }

    #[test]
    fn what_was_cut_short_by_an_earlier_run_is_known_by_its_curve() {
        let (mut whole, mut again) =
            (rule(CutBy::Hyperband { factor: 2 }), rule(CutBy::Hyperband { factor: 2 }));
        let level = |trial: u32| f64::from(trial * 7 % 11);
        let mut promoted = Vec::new();
        for trial in 1..=40 {
            let steps: Vec<f64> = (1..=16).map(f64::from).collect();
            let cut =
                steps.iter().position(|at| whole.hear(trial, *at, level(trial)) != Course::GoOn);
            let steps = &steps[..cut.map_or(16, |place| place + 1)];
            let losses = vec![level(trial); steps.len()];
            whole.learn(trial, steps, &losses);
            again.learn(trial, steps, &losses);
            if cut.is_some() {
                again.was_cut_short(trial);
            }
            assert_eq!(whole.promoted(), again.promoted(), "after {trial} trials");
            promoted.extend(whole.promoted());
        }
        assert!(!promoted.is_empty(), "some had their second chance");
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
