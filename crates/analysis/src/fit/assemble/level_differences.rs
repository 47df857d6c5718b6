//! Which levels of a factor differ: comparisons of all pairs, by Tukey's method with the noise of the
//! fit, or by that of Games and Howell where levels vary unequally.

use trainwright_stats::{StatsError, StratumError, StudentisedRange, sample};

use crate::fit::analysis::{Check, LevelDifference, LevelDifferences, LevelMean, MainEffect};
use crate::fit::fitted::Fitted;
use crate::model::problem::Problem;

/// All pairs of levels of each factor with at least three.
///
/// Only where plain means may be compared: data balanced over all factors, or a single factor.
/// Elsewhere a difference of means would hold part of another factor's effect. The spread at a level
/// is its own only where there is no other factor.
pub(crate) fn level_differences(
    problem: &Problem,
    fitted: &Fitted,
    checks: &[Check],
    main_effects: &[MainEffect],
) -> Vec<LevelDifferences> {
    let alone = problem.variables.len() == 1;
    if problem.balanced != Some(true) && !alone {
        return Vec::new();
    }
    let unequal = |c: &Check| c.name == "equal-variance" && c.holds == Some(false);
    let by_welch = alone && fitted.strata.is_none() && checks.iter().any(unequal);
    let of = |effect: &MainEffect| {
        let variable = problem.variables.iter().find(|own| own.name == effect.factor)?;
        let levels = Levels { means: &effect.levels, codes: &variable.codes };
        let error = |a: usize, b: usize| match by_welch {
            true => levels.error_by_welch(&problem.y, a, b),
            false => fitted.error_of(&levels.weights(a, b)),
        };
        let pairs = pairs(&effect.levels, error, problem.alpha).ok()?;
        let method = if by_welch { "games-howell" } else { "tukey" };
        let factor = effect.factor.clone();
        (!pairs.is_empty()).then_some(LevelDifferences { factor, method, pairs })
    };
    // The studentised range takes a while, and two levels do not need it.
    main_effects.iter().filter(|effect| effect.levels.len() > 2).filter_map(of).collect()
}

/// Levels of a factor, and which of them each observation has.
struct Levels<'a> {
    means: &'a [LevelMean],
    codes: &'a [usize],
}

impl Levels<'_> {
    /// Weights of the observations in the mean at `b` less that at `a`.
    fn weights(&self, a: usize, b: usize) -> Vec<f64> {
        let weight = |&code: &usize| match code {
            code if code == b => 1.0 / self.means[b].n as f64,
            code if code == a => -1.0 / self.means[a].n as f64,
            _ => 0.0,
        };
        self.codes.iter().map(weight).collect()
    }

    /// The error of that difference by the spread at the two levels alone; `None` where either has
    /// a single value, or neither any spread.
    fn error_by_welch(&self, y: &[f64], a: usize, b: usize) -> Option<StratumError> {
        let part = |level: usize| {
            let of_level = self.codes.iter().zip(y).filter(|(code, _)| **code == level);
            let values: Vec<f64> = of_level.map(|(_, &value)| value).collect();
            let n = values.len() as f64;
            Some((sample::variance(&values).ok()? / n, n - 1.0))
        };
        let ((first, first_df), (second, second_df)) = (part(a)?, part(b)?);
        let over_df = first * first / first_df + second * second / second_df;
        let variance = first + second;
        (over_df > 0.0)
            .then(|| StratumError { std_error: variance.sqrt(), df: variance * variance / over_df })
    }
}

/// Differences of means by the studentised range, each with an error of its own: with one error for
/// all this is the method of Tukey and Kramer (Biometrics 12, 1956), with Welch's that of Games and
/// Howell (Journal of Educational Statistics 1, 1976).
fn pairs(
    levels: &[LevelMean],
    error: impl Fn(usize, usize) -> Option<StratumError>,
    alpha: f64,
) -> Result<Vec<LevelDifference>, StatsError> {
    let mut pairs = Vec::new();
    // Pairs of one factor have the same degrees of freedom in balanced data.
    let mut alike: Vec<Alike> = Vec::new();
    for (place, first) in levels.iter().enumerate() {
        for (other, second) in levels.iter().enumerate().skip(place + 1) {
            let (Some(low), Some(high)) = (first.mean, second.mean) else { continue };
            let Some(error) = error(place, other) else { continue };
            if alike.last().is_none_or(|own| (own.df - error.df).abs() > 1e-6 * own.df) {
                let range = StudentisedRange::new(levels.len(), error.df)?;
                let critical = range.quantile(1.0 - alpha)?;
                alike.push(Alike { df: error.df, range, critical, distances: Vec::new() });
            }
            let Some(own) = alike.last_mut() else { continue };
            let (difference, unit) = (high - low, error.std_error / 2f64.sqrt());
            own.distances.push(difference.abs() / unit);
            pairs.push((first, second, difference, own.critical * unit));
        }
    }
    let tails = alike.iter().flat_map(|own| own.range.upper_tails(&own.distances));
    let told =
        |((first, second, difference, reach), p): ((&LevelMean, &LevelMean, f64, f64), f64)| {
            LevelDifference {
                a: second.level.clone(),
                b: first.level.clone(),
                difference,
                low: difference - reach,
                high: difference + reach,
                p,
            }
        };
    Ok(pairs.into_iter().zip(tails).map(told).collect())
}

/// Pairs one after the other whose errors have the same degrees of freedom.
struct Alike {
    df: f64,
    range: StudentisedRange,
    critical: f64,
    /// Differences in units of their errors.
    distances: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use trainwright_stats::tukey;

    use crate::{Formula, LevelDifferences, Table, TableOptions, TermOrder, analyze_table};

    fn differences(csv: &str, formula: &str) -> Vec<LevelDifferences> {
        let table = Table::from_csv(csv.as_bytes(), &[]).unwrap();
        let formula = Formula::parse(formula, TermOrder::Formula).unwrap();
        analyze_table(&table, &formula, &TableOptions::default()).unwrap().level_differences
    }

    #[test]
    fn one_factor_gives_tukeys_test() {
        let groups = [vec![4.2, 4.9, 5.1], vec![6.0, 6.4, 7.1, 6.2], vec![5.0, 5.9]];
        let mut csv = "y,g\n".to_owned();
        for (name, values) in ["a", "b", "c"].iter().zip(&groups) {
            for value in values {
                csv += &format!("{value},{name}\n");
            }
        }
        let found = differences(&csv, "y ~ g");
        let expected = tukey(&groups).unwrap();
        assert_eq!(found.len(), 1);
        for (own, reference) in found[0].pairs.iter().zip(&expected.pairs) {
            assert!((own.difference - reference.difference).abs() < 1e-12);
            assert!((own.low - reference.low).abs() < 1e-9);
            assert!((own.p - reference.p).abs() < 1e-9);
        }
        assert_eq!(found[0].pairs.len(), expected.pairs.len());
    }

    /// R: d <- mean(b) - mean(a); v <- var(x) / length(x); u <- sqrt((v1 + v2) / 2);
    /// df <- (v1 + v2)^2 / (v1^2 / 5 + v2^2 / 5); d +- qtukey(.95, 3, df) * u;
    /// ptukey(abs(d) / u, 3, df, lower = FALSE); far in the tail, for c and a, scipy's
    /// studentized_range, since ptukey is off there by a third.
    #[test]
    fn levels_that_vary_unequally_are_compared_by_games_and_howell() {
        let groups = [
            [10.1, 9.9, 10.05, 9.95, 10.0, 10.02],
            [12.0, 8.0, 15.0, 6.0, 14.0, 9.5],
            [13.1, 12.6, 12.9, 13.4, 12.7, 13.0],
        ];
        let mut csv = "y,g\n".to_owned();
        for (name, values) in ["a", "b", "c"].iter().zip(&groups) {
            for value in values {
                csv += &format!("{value},{name}\n");
            }
        }
        let found = differences(&csv, "y ~ g");
        assert_eq!(found[0].method, "games-howell");
        let expected = [
            [0.746666666667, -3.92599857942, 5.41933191275, 0.865371612566],
            [2.94666666667, 2.56730051414, 3.32603281920, 1.6342117121e-6],
            [2.2, -2.46662910211, 6.86662910211, 0.354966021192],
        ];
        for (own, reference) in found[0].pairs.iter().zip(expected) {
            let figures = [own.difference, own.low, own.high, own.p];
            for (figure, reference) in figures.iter().zip(reference) {
                assert!((figure - reference).abs() <= 1e-6 * reference.abs(), "{own:?}");
            }
        }
    }

    #[test]
    fn unbalanced_factors_are_not_compared_by_their_plain_means() {
        let balanced = "y,g,h\n1,a,u\n2,b,u\n4,c,u\n2,a,v\n3,b,v\n6,c,v\n";
        assert_eq!(differences(balanced, "y ~ g + h").len(), 1, "two levels of h need no test");
        let lacking = "y,g,h\n1,a,u\n2,b,u\n4,c,u\n2,a,v\n3,b,v\n6,a,v\n";
        assert!(differences(lacking, "y ~ g + h").is_empty());
    }
}
