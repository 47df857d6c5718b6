//! What the trials known so far say of those not tried: the objective, limits, failures and time.

use trainwright_random::Random;

use crate::gaussian_process::{
    Distance, Draws, Ensemble, GaussianProcess, Measured, Posterior, Priors, ValueScale,
    improvement_chance,
};
use crate::{Cell, History, Limit, Side, Space};

/// A best loss below this part of the spread of all losses is about 0.
const ABOUT_ZERO: f64 = 1e-4;
/// What stands for the best loss in a gain where the best is smaller: this part of the distance
/// from the least loss to the middle one.
const LEAST_BEST: f64 = 0.01;
/// A configuration whose share of failures is expected above this counts as one that fails.
const HALF: f64 = 0.5;
/// The part that all goals have in a compromise beside the worst one (Knowles, "ParEGO", 2006).
const ALL_GOALS: f64 = 0.05;

/// How losses are scaled before they are modelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scaling {
    /// By the power that makes them most like normal ones.
    MostNormal,
    /// By logarithms, where all are above 0.
    Log,
    /// Not at all.
    Plain,
}

/// What a trial is weighed against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialCost {
    /// Every trial costs the same.
    Equal,
    /// A trial costs the seconds that it takes, so that short ones come first.
    Seconds,
}

/// How a surrogate is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurrogateSettings {
    /// How losses are scaled.
    pub scaling: Scaling,
    /// What is believed of hyper-parameters; the standard ones where absent.
    pub priors: Option<Priors>,
    /// How hyper-parameters are drawn.
    pub draws: Draws,
    /// What a trial is weighed against.
    pub cost: TrialCost,
}

impl Default for SurrogateSettings {
    fn default() -> Self {
        let (scaling, draws) = (Scaling::MostNormal, Draws::few());
        Self { scaling, priors: None, draws, cost: TrialCost::Equal }
    }
}

/// What is expected of configurations that were not tried.
#[derive(Debug, Clone)]
pub struct Surrogate {
    scale: ValueScale,
    /// From the least to the largest loss measured.
    spread: f64,
    /// From the least to the middle loss measured.
    half_spread: f64,
    objective: Ensemble,
    /// Features of what was measured and keeps all limits, and of what is under way.
    good: Vec<Vec<f64>>,
    /// What each model of the objective expects of the best of them.
    bars: Vec<f64>,
    /// Models of the limited metrics with their limits.
    limits: Vec<(GaussianProcess, Limit)>,
    failures: Option<GaussianProcess>,
    log_seconds: Option<GaussianProcess>,
}

impl Surrogate {
    /// Learns from what is known. With several goals `weights` say how much each matters now.
    /// Nothing where fewer than two configurations were measured.
    pub fn of(
        space: &Space,
        known: &History,
        settings: &SurrogateSettings,
        weights: &[f64],
        random: &mut Random,
    ) -> Option<Self> {
        let cells = known.cells();
        let losses = with_useless(&cells, compromise(&cells, weights));
        let seen = |cell: &Cell| space.features(&cell.configuration);
        let mut measured =
            Measured { distances: space.distances().to_vec(), ..Measured::default() };
        let (mut good, mut under_way) = (Vec::new(), Vec::new());
        for (cell, loss) in cells.iter().zip(&losses) {
            let Some(features) = seen(cell) else { continue };
            if let Some(loss) = loss {
                measured.points.push(features.clone());
                measured.values.push(*loss);
                measured.counts.push(cell.measured().max(1));
                if cell.measured() > 0 && known.keeps_limits(cell) {
                    good.push(features);
                }
            } else if cell.running > 0 {
                under_way.push(features);
            }
        }
        if measured.points.len() < 2 {
            return None;
        }
        let scale = match settings.scaling {
            Scaling::MostNormal => ValueScale::most_normal(&measured.values),
            Scaling::Log => ValueScale::log_where_positive(&measured.values),
            Scaling::Plain => ValueScale::Plain,
        };
        let least = measured.values.iter().copied().fold(f64::INFINITY, f64::min);
        let spread = measured.values.iter().copied().fold(f64::NEG_INFINITY, f64::max) - least;
        let half_spread = middle(&measured.values) - least;
        measured.values.iter_mut().for_each(|own| *own = scale.scaled(*own));
        let priors = settings.priors.unwrap_or(Priors::standard(measured.distances.len()));
        let mut objective = Ensemble::draw(&measured, priors, settings.draws, random)?;
        let mut limits = limits(space, known, &cells);
        for point in under_way {
            objective.believe(&point);
            limits.iter_mut().for_each(|(own, _)| own.believe(&point));
            if !good.is_empty() {
                good.push(point);
            }
        }
        let failures = failures(space, &cells);
        let log_seconds = match settings.cost {
            TrialCost::Equal => None,
            TrialCost::Seconds => log_seconds(space, &cells),
        };
        let bars = objective.lowest(&good);
        Some(Self {
            scale,
            spread,
            half_spread,
            objective,
            good,
            bars,
            limits,
            failures,
            log_seconds,
        })
    }

    /// The models of the scaled objective.
    pub fn objective(&self) -> &Ensemble {
        &self.objective
    }

    /// The scale on which the objective is modelled.
    pub fn scale(&self) -> ValueScale {
        self.scale
    }

    /// What is expected of the scaled objective at points.
    pub fn posteriors<P: AsRef<[f64]>>(&self, points: &[P]) -> Vec<Posterior> {
        self.objective.posteriors(points)
    }

    /// How much each point is worth trying: the expected improvement of the scaled objective, by
    /// the chance that it keeps all limits and does not fail (the latter twice), by what the trial
    /// costs. Before
    /// anything keeps the limits, the chance to keep them alone.
    pub fn worths<P: AsRef<[f64]>>(&self, points: &[P]) -> Vec<f64> {
        let mut worths =
            if self.good.is_empty() { vec![1.0; points.len()] } else { self.improvements(points) };
        // A trial that fails is paid for as well: the chance of that counts once more.
        let successes = self.successes(points);
        for ((worth, chance), success) in worths.iter_mut().zip(self.chances(points)).zip(successes)
        {
            *worth *= chance * success;
        }
        if let Some(model) = &self.log_seconds {
            for (worth, own) in worths.iter_mut().zip(model.posteriors(points)) {
                *worth /= own.mean.exp();
            }
        }
        worths
    }

    /// The expected improvement of the scaled objective over the best known one.
    pub fn improvements<P: AsRef<[f64]>>(&self, points: &[P]) -> Vec<f64> {
        self.objective.improvements_below(points, &self.bars)
    }

    /// The chance of each point to keep all limits and not to fail.
    pub fn chances<P: AsRef<[f64]>>(&self, points: &[P]) -> Vec<f64> {
        let mut chances = self.successes(points);
        for (model, limit) in &self.limits {
            for (chance, own) in chances.iter_mut().zip(model.posteriors(points)) {
                let below = improvement_chance(own, limit.bound);
                *chance *= match limit.side {
                    Side::AtMost => below,
                    Side::AtLeast => 1.0 - below,
                };
            }
        }
        chances
    }

    /// The chance of each point not to fail.
    fn successes<P: AsRef<[f64]>>(&self, points: &[P]) -> Vec<f64> {
        match &self.failures {
            Some(model) => {
                let posteriors = model.posteriors(points);
                posteriors.into_iter().map(|own| improvement_chance(own, HALF)).collect()
            }
            None => vec![1.0; points.len()],
        }
    }

    /// The lowest loss that is expected among what keeps the limits.
    pub fn best_loss(&self) -> Option<f64> {
        let posteriors = self.objective.posteriors(&self.good);
        let lowest = posteriors.iter().map(|own| own.mean).min_by(f64::total_cmp)?;
        Some(self.scale.value(lowest))
    }

    /// What an improvement of the scaled objective means for the best loss, as a share of it;
    /// nothing where the best is about 0, of which nothing is a sensible share.
    pub fn share(&self, improvement: f64) -> Option<f64> {
        let (best, gained) = self.gained(improvement)?;
        (best.abs() > ABOUT_ZERO * self.spread).then(|| gained / best.abs())
    }

    /// The same for a rule that ends a search: where the best is about 0, a hundredth of the
    /// distance to the middle of what was measured stands for it.
    pub fn gain(&self, improvement: f64) -> Option<f64> {
        let (best, gained) = self.gained(improvement)?;
        let whole = best.abs().max(LEAST_BEST * self.half_spread);
        (whole > 0.0).then(|| gained / whole)
    }

    /// The best loss, and how much lower an improvement of the scaled objective brings it.
    fn gained(&self, improvement: f64) -> Option<(f64, f64)> {
        let best = self.best_loss()?;
        let better = self.scale.value(self.scale.scaled(best) - improvement);
        Some((best, best - better))
    }
}

fn middle(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// The loss of each cell: of the one goal, or a compromise of several (Knowles, "ParEGO: a hybrid
/// algorithm with on-line landscape approximation for expensive multiobjective optimization
/// problems", 2006).
fn compromise(cells: &[Cell], weights: &[f64]) -> Vec<Option<f64>> {
    if weights.len() < 2 {
        return cells.iter().map(|cell| cell.loss(0)).collect();
    }
    let column = |goal: usize| cells.iter().filter_map(move |cell| cell.loss(goal));
    let ends: Vec<(f64, f64)> = (0..weights.len())
        .map(|goal| {
            let low = column(goal).fold(f64::INFINITY, f64::min);
            (low, column(goal).fold(f64::NEG_INFINITY, f64::max) - low)
        })
        .collect();
    let of_cell = |cell: &Cell| {
        let parts: Vec<f64> = (0..weights.len())
            .map(|goal| {
                let (low, width) = ends[goal];
                let share = (cell.loss(goal)? - low) / if width > 0.0 { width } else { 1.0 };
                Some(weights[goal] * share)
            })
            .collect::<Option<_>>()?;
        let worst = parts.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Some(worst + ALL_GOALS * parts.iter().sum::<f64>())
    };
    cells.iter().map(of_cell).collect()
}

/// Losses for trials without a result, so that the search goes elsewhere without believing a number
/// that nobody measured would be good: one that was cut short did worse than most, which is the
/// upper quartile of those measured; one that failed is as bad as the worst. Without that, where the
/// objective falls towards trials that fail, ever more is promised beyond them than the chance to
/// succeed takes away.
fn with_useless(cells: &[Cell], mut losses: Vec<Option<f64>>) -> Vec<Option<f64>> {
    let mut measured: Vec<f64> = losses.iter().flatten().copied().collect();
    measured.sort_by(f64::total_cmp);
    let quartile = measured.get(3 * measured.len() / 4).copied();
    let worst = measured.last().copied();
    for (cell, loss) in cells.iter().zip(&mut losses) {
        if cell.cut_short > 0 {
            *loss = loss.or(quartile);
        } else if cell.failed > 0 {
            *loss = loss.or(worst);
        }
    }
    losses
}

/// A model of each limited metric that enough cells have, on a log scale where that is possible.
fn limits(space: &Space, known: &History, cells: &[Cell]) -> Vec<(GaussianProcess, Limit)> {
    let all = known.aims().limits.iter().enumerate();
    all.filter_map(|(place, limit)| {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let values = cells.iter().map(|cell| {
            let values = cell.limited.get(place)?;
            (!values.is_empty()).then(|| (mean(values), values.len() as u32))
        });
        let mut own = gathered(space, cells, values);
        let mut limit = limit.clone();
        let scale = ValueScale::log_where_positive(&own.values);
        if scale == ValueScale::Log && limit.bound > 0.0 {
            own.values.iter_mut().for_each(|value| *value = scale.scaled(*value));
            limit.bound = scale.scaled(limit.bound);
        }
        Some((fitted(&own)?, limit))
    })
    .collect()
}

/// A model of failure, 1, and success, 0; nothing while nothing failed.
fn failures(space: &Space, cells: &[Cell]) -> Option<GaussianProcess> {
    let share = |cell: &Cell| {
        let all = cell.measured() + cell.failed;
        (all > 0).then(|| (f64::from(cell.failed) / f64::from(all), all))
    };
    let values = cells.iter().map(share);
    let own = gathered(space, cells, values);
    own.values.iter().any(|value| *value > 0.0).then(|| fitted(&own))?
}

/// A model of the logarithm of a trial's seconds.
fn log_seconds(space: &Space, cells: &[Cell]) -> Option<GaussianProcess> {
    let seconds = |cell: &Cell| {
        let own = cell.seconds / f64::from(cell.timed);
        (cell.timed > 0 && own > 0.0).then(|| (own.ln(), cell.timed))
    };
    fitted(&gathered(space, cells, cells.iter().map(seconds)))
}

fn gathered(
    space: &Space,
    cells: &[Cell],
    values: impl Iterator<Item = Option<(f64, u32)>>,
) -> Measured {
    let distances: Vec<Distance> = space.distances().to_vec();
    let mut own = Measured { distances, ..Measured::default() };
    for (cell, value) in cells.iter().zip(values) {
        let (Some(features), Some((value, count))) = (space.features(&cell.configuration), value)
        else {
            continue;
        };
        own.points.push(features);
        own.values.push(value);
        own.counts.push(count);
    }
    own
}

fn fitted(own: &Measured) -> Option<GaussianProcess> {
    if own.points.len() < 2 {
        return None;
    }
    GaussianProcess::fit(own, Priors::standard(own.distances.len()))
}
