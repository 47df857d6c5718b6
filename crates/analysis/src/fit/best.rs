//! The best configuration measured, and those that cannot be told from it.

pub(crate) mod aliases;
pub(crate) mod configurations;
pub(crate) mod predicted;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use trainwright_stats::{LargestT, StatsError, StratumError, StudentT, sample};
use trainwright_study::Direction;

use crate::fit::analysis::{Alike, Best, Check, PredictedBest};
use crate::fit::assemble::means::configuration_of;
use crate::fit::best::configurations::{Measured, Spread, configurations, spread};
use crate::fit::best::predicted::predicted;
use crate::fit::fitted::Fitted;
use crate::model::problem::Problem;

/// Share of the errors allowed for that go to having been chosen; the rest pays for judging by the
/// same data among how many the best was chosen.
const SHARE_OF_CHOICE: f64 = 0.8;

/// The configuration with the best mean, if a direction is asked for.
pub(crate) fn best(problem: &Problem, fitted: &Fitted, checks: &[Check]) -> Option<Best> {
    let direction = problem.direction?;
    let measured = configurations(problem, fitted);
    let field = Field { direction, alpha: problem.alpha, measured: &measured, fitted };
    let place = (0..measured.len()).max_by(|&a, &b| field.gain(a).total_cmp(&field.gain(b)))?;
    let spread = spread(problem, fitted, checks, &measured);
    let alike: Vec<usize> = match spread {
        Some(spread) => field.alike(place, spread).ok()?,
        None => Vec::new(),
    };
    let ends = spread.and_then(|own| field.interval(place, alike.len() + 1, own).ok()?);
    // Without an error of the mean nothing was compared.
    let spread = spread.filter(|_| ends.is_some());
    let within = ends.map(|ends| problem.in_range(ends));
    let own = &measured[place];
    let configuration = configuration_of(problem, own.rows[0]);
    let predicted = predicted(problem, fitted, &configuration).map(|own| match spread {
        Some(Spread::Own) => field.with_own_spread(problem, own),
        _ => own,
    });
    Some(Best {
        predicted,
        configuration,
        mean: own.mean,
        ci_low: within.map(|ends| ends[0]),
        ci_high: within.map(|ends| ends[1]),
        n: own.values.len(),
        direction,
        spread: spread.map(|own| match own {
            Spread::Common { .. } => "common",
            Spread::Own => "own",
            Spread::Strata => "strata",
        }),
        alike: alike
            .into_iter()
            .map(|at| Alike {
                configuration: configuration_of(problem, measured[at].rows[0]),
                mean: measured[at].mean,
                n: measured[at].values.len(),
            })
            .collect(),
    })
}

/// The configurations among which the best is chosen.
struct Field<'a> {
    direction: Direction,
    alpha: f64,
    measured: &'a [Measured],
    fitted: &'a Fitted,
}

impl Field<'_> {
    /// The mean, with the sign at which more is better.
    fn gain(&self, place: usize) -> f64 {
        match self.direction {
            Direction::Minimize => -self.measured[place].mean,
            Direction::Maximize => self.measured[place].mean,
        }
    }

    fn n(&self, place: usize) -> usize {
        self.measured[place].values.len()
    }

    /// Those besides the best that may be as good, the best of them first, by Hsu's multiple
    /// comparisons with the best ("Multiple Comparisons", 1996, chapter 4).
    ///
    /// The comparisons have one side, at half of alpha each: else two levels would be told apart
    /// here where the test of their effect, which has two, finds no evidence.
    fn alike(&self, best: usize, spread: Spread) -> Result<Vec<usize>, StatsError> {
        let mut found: Vec<usize> = match spread {
            Spread::Common { sigma, df } => self.alike_by_hsu(sigma, df)?,
            Spread::Own | Spread::Strata => self.alike_by_pairs(best, spread)?,
        };
        found.retain(|&place| place != best);
        found.sort_by(|&a, &b| self.gain(b).total_cmp(&self.gain(a)));
        Ok(found)
    }

    fn alike_by_hsu(&self, sigma: f64, df: f64) -> Result<Vec<usize>, StatsError> {
        let count = self.measured.len();
        if count < 2 {
            return Ok(vec![]);
        }
        let sizes: Vec<usize> = (0..count).map(|place| self.n(place)).collect();
        // Of configurations with as many repeats only the best can tell another from the best.
        let mut leaders: BTreeMap<usize, f64> = BTreeMap::new();
        for (place, &size) in sizes.iter().enumerate() {
            let gain = leaders.entry(size).or_insert(f64::NEG_INFINITY);
            *gain = gain.max(self.gain(place));
        }
        let mut constants: BTreeMap<usize, f64> = BTreeMap::new();
        let mut found = Vec::new();
        for place in 0..count {
            let n = sizes[place];
            let constant = match constants.entry(n) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(room) => {
                    let others = [&sizes[..place], &sizes[place + 1..]].concat();
                    let largest = LargestT::against_control(n, &others, df)?;
                    *room.insert(largest.quantile(1.0 - 0.5 * self.alpha)?)
                }
            };
            let margin =
                |other: usize| constant * sigma * (1.0 / n as f64 + 1.0 / other as f64).sqrt();
            if leaders.iter().all(|(&other, gain)| gain - self.gain(place) < margin(other)) {
                found.push(place);
            }
        }
        Ok(found)
    }

    /// The same with the error of each difference, against the best measured, each comparison at
    /// its share of the errors by Sidak's rule.
    fn alike_by_pairs(&self, best: usize, spread: Spread) -> Result<Vec<usize>, StatsError> {
        let others = self.measured.len().saturating_sub(1).max(1);
        let level = (1.0 - 0.5 * self.alpha).powf(1.0 / others as f64);
        let mut found = Vec::new();
        for place in 0..self.measured.len() {
            let lead = self.gain(best) - self.gain(place);
            let told = match self.error_of_lead(best, place, spread)? {
                Some(own) => lead >= StudentT::new(own.df)?.quantile(level)? * own.std_error,
                // Repeats that are all alike leave no doubt; strata without an error leave all.
                None => spread == Spread::Own && lead > 0.0,
            };
            if !told {
                found.push(place);
            }
        }
        Ok(found)
    }

    /// Error of the difference of two means: Welch's, or that of the strata that it lies in.
    fn error_of_lead(
        &self,
        best: usize,
        place: usize,
        spread: Spread,
    ) -> Result<Option<StratumError>, StatsError> {
        if spread == Spread::Strata {
            let weights: Vec<f64> =
                self.weights(best).iter().zip(self.weights(place)).map(|(a, b)| a - b).collect();
            return Ok(self.fitted.error_of(&weights));
        }
        let (a, b) = (self.own_variance(best)?, self.own_variance(place)?);
        let parts = a * a / (self.n(best) - 1) as f64 + b * b / (self.n(place) - 1) as f64;
        let df = (a + b).powi(2) / parts;
        Ok((parts > 0.0).then(|| StratumError { std_error: (a + b).sqrt(), df }))
    }

    /// Error of a configuration's mean; nothing where its strata have none.
    fn error_of_mean(
        &self,
        place: usize,
        spread: Spread,
    ) -> Result<Option<StratumError>, StatsError> {
        let n = self.n(place) as f64;
        Ok(match spread {
            Spread::Common { sigma, df } => Some(StratumError { std_error: sigma / n.sqrt(), df }),
            Spread::Own => {
                let std_error = self.own_variance(place)?.sqrt();
                Some(StratumError { std_error, df: n - 1.0 })
            }
            Spread::Strata => self.fitted.error_of(&self.weights(place)),
        })
    }

    /// Weight of every observation in a configuration's mean.
    fn weights(&self, place: usize) -> Vec<f64> {
        let mut weights = vec![0.0; self.fitted.fit.residuals.len()];
        for &row in &self.measured[place].rows {
            weights[row] = 1.0 / self.n(place) as f64;
        }
        weights
    }

    /// Variance of a configuration's mean by its own repeats.
    fn own_variance(&self, place: usize) -> Result<f64, StatsError> {
        let values = &self.measured[place].values;
        Ok(sample::variance(values)? / values.len() as f64)
    }

    /// A prediction where configurations vary unequally: one more trial lies about the mean of the
    /// repeats of its own configuration and varies as they did; without repeats nobody knows how.
    ///
    /// The equation shrinks by the noise of all together, which says nothing of a configuration that
    /// varies much less or more.
    fn with_own_spread(&self, problem: &Problem, own: PredictedBest) -> PredictedBest {
        let is_it =
            |at: &&Measured| configuration_of(problem, at.rows[0]).same_as(&own.configuration);
        let repeated = self.measured.iter().find(is_it).and_then(|at| {
            let n = at.values.len() as f64;
            let deviation = sample::variance(&at.values).ok()?.sqrt();
            let t = StudentT::new(n - 1.0).ok()?.quantile(1.0 - 0.5 * self.alpha).ok()?;
            Some((at.mean, t * deviation * (1.0 + 1.0 / n).sqrt()))
        });
        let Some((mean, half)) = repeated else {
            return PredictedBest { low: None, high: None, ..own };
        };
        let [low, high] = problem.in_range([mean - half, mean + half]);
        PredictedBest { mean, low: Some(low), high: Some(high), shrunken: false, ..own }
    }

    /// Interval of the best's mean that allows for its having been chosen among `chosen_of`.
    ///
    /// Being chosen flatters: the side towards worse means uses the largest of as many t values,
    /// the other side what errors are left. The interval is exact for one configuration that stands
    /// apart, and close to it for any number of equals.
    fn interval(
        &self,
        place: usize,
        chosen_of: usize,
        spread: Spread,
    ) -> Result<Option<[f64; 2]>, StatsError> {
        let Some(StratumError { std_error: error, df }) = self.error_of_mean(place, spread)? else {
            return Ok(None);
        };
        let t = StudentT::new(df)?;
        let kept = 1.0 - SHARE_OF_CHOICE * self.alpha;
        let worse = match spread {
            _ if chosen_of < 2 => t.quantile(1.0 - 0.5 * self.alpha)?,
            Spread::Common { .. } => LargestT::independent(chosen_of, df)?.quantile(kept)?,
            Spread::Own | Spread::Strata => t.quantile(kept.powf(1.0 / chosen_of as f64))?,
        };
        let better = t.quantile(1.0 - (self.alpha - t.upper_tail(worse)))?;
        let mean = self.measured[place].mean;
        Ok(Some(match self.direction {
            Direction::Minimize => [mean - better * error, mean + worse * error],
            Direction::Maximize => [mean - worse * error, mean + better * error],
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv_table::Table;
    use crate::tests::{analysis, fitted, table, two_by_two};

    #[test]
    fn the_best_of_clearly_different_means_has_students_interval() {
        let found = analysis(&two_by_two(), "y ~ a * b", Some(Direction::Minimize));
        let best = found.best.unwrap();
        assert_eq!(best.configuration.to_string(), "a=1 b=10");
        assert_eq!((best.mean, best.n, best.spread), (10.0, 2, Some("common")));
        // 12 lies 2 away, with an error of sqrt(0.5) and a margin of several: it may be as good.
        let rivals: Vec<f64> = best.alike.iter().map(|own| own.mean).collect();
        assert_eq!(rivals, [12.0]);
        let most = analysis(&two_by_two(), "y ~ a * b", Some(Direction::Maximize)).best.unwrap();
        assert_eq!(most.configuration.to_string(), "a=2 b=20");
        assert!(most.alike.is_empty(), "{:?}", most.alike);
        // Alone at the top: 22 -+ t(0.975; 4) sqrt(0.5 / 2).
        let half = 2.776_445_105 * 0.5;
        assert!((most.ci_low.unwrap() - 22.0 + half).abs() < 1e-8, "{most:?}");
        assert!((most.ci_high.unwrap() - 22.0 - half).abs() < 1e-8, "{most:?}");
    }

    #[test]
    fn having_been_chosen_widens_the_interval_towards_worse_means() {
        let best = analysis(&two_by_two(), "y ~ a * b", Some(Direction::Minimize)).best.unwrap();
        let (towards_better, towards_worse) =
            (best.mean - best.ci_low.unwrap(), best.ci_high.unwrap() - best.mean);
        assert!(towards_worse > towards_better, "{best:?}");
        assert!(towards_worse > 2.776 * 0.5);
    }

    #[test]
    fn without_repeats_or_spare_freedom_there_is_no_interval_and_no_rival() {
        let once = table(
            "a,b,y",
            &[&[1.0, 1.0, 5.0], &[2.0, 1.0, 3.0], &[1.0, 2.0, 6.0], &[2.0, 2.0, 8.0]],
        );
        let best = analysis(&once, "y ~ a * b", Some(Direction::Minimize)).best.unwrap();
        assert_eq!((best.mean, best.ci_low, best.spread), (3.0, None, None));
        assert!(best.alike.is_empty());
        assert!(analysis(&once, "y ~ a * b", None).best.is_none(), "no direction is asked for");
    }

    #[test]
    fn where_spreads_differ_one_more_trial_is_predicted_by_the_repeats_of_its_configuration() {
        let mut csv = "g,y\n".to_owned();
        for (g, values) in [
            ("a", [9.0, 12.0, 15.0, 10.5, 13.5, 12.0]),
            ("b", [5.0, 5.01, 4.99, 5.02, 4.98, 5.0]),
            ("c", [7.0, 7.02, 6.98, 7.01, 6.99, 7.0]),
        ] {
            values.iter().for_each(|y| csv += &format!("{g},{y}\n"));
        }
        let data = Table::from_csv(csv.as_bytes(), &[]).unwrap();
        let best = analysis(&data, "y ~ g", Some(Direction::Maximize)).best.unwrap();
        assert_eq!(best.spread, Some("own"), "{best:?}");
        let own = best.predicted.unwrap();
        // t(0.975; 5) times the deviation of 9 ... 12, which is 2.121320, times sqrt(7 / 6).
        let half = 2.570_581_836 * 2.121_320_344 * (7.0f64 / 6.0).sqrt();
        assert!((own.high.unwrap() - own.low.unwrap() - 2.0 * half).abs() < 1e-6, "{own:?}");
        assert!(
            (own.mean - 12.0).abs() < 1e-9 && !own.shrunken,
            "the mean of its repeats: {own:?}"
        );
    }

    #[test]
    fn two_levels_that_no_test_tells_apart_may_both_be_best() {
        let rows: [&[f64]; 6] =
            [&[1.0, 10.0], &[1.0, 11.0], &[1.0, 12.0], &[2.0, 12.0], &[2.0, 13.0], &[2.0, 14.0]];
        // The means differ by 2 with an error of sqrt(2 / 3): t = 2.449, p = 0.0705 on two sides.
        let own = analysis(&table("a,y", &rows), "y ~ a", Some(Direction::Minimize));
        assert!((own.effects[0].p.unwrap() - 0.070_484).abs() < 1e-5, "{:?}", own.effects[0].p);
        assert_eq!(own.best.unwrap().alike.len(), 1, "2.449 lies below t(0.975; 4) = 2.776");
    }

    #[test]
    fn welchs_comparisons_use_the_spread_of_each_configuration() {
        let (problem, fit) = fitted(&two_by_two(), "y ~ a * b");
        let of = |values: [&[f64]; 2]| {
            let measured: Vec<Measured> = values
                .iter()
                .map(|own| Measured {
                    rows: vec![0],
                    mean: sample::mean(own).unwrap(),
                    values: own.to_vec(),
                })
                .collect();
            let field = Field {
                direction: Direction::Minimize,
                alpha: problem.alpha,
                measured: &measured,
                fitted: &fit,
            };
            let error = field.error_of_lead(0, 1, Spread::Own).unwrap();
            (error, field.alike(0, Spread::Own).unwrap())
        };
        // Variances 2 over 2 and 8 over 2: error sqrt(1 + 4), df 5^2 / (1 / 1 + 16 / 1).
        let (error, alike) = of([&[1.0, 3.0], &[4.0, 8.0]]);
        let error = error.unwrap();
        assert!((error.std_error - 5f64.sqrt()).abs() < 1e-12);
        assert!((error.df - 25.0 / 17.0).abs() < 1e-12);
        assert_eq!(alike, [1]);
        let (error, alike) = of([&[1.0, 1.0], &[1.5, 1.5]]);
        assert!(error.is_none() && alike.is_empty(), "repeats without spread leave no doubt");
    }
}
