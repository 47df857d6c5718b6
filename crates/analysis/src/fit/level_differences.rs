//! Which levels of a factor differ: Tukey's comparison of all pairs, with the noise of the fit.

use trainwright_stats::{StatsError, StudentisedRange};

use crate::fit::analysis::{LevelDifference, LevelDifferences, LevelMean, MainEffect};
use crate::fit::fitted::Fitted;
use crate::model::problem::Problem;

/// All pairs of levels of each factor with at least three.
///
/// Only where plain means may be compared: data balanced over all factors, or a single factor.
/// Elsewhere a difference of means would hold part of another factor's effect.
pub(crate) fn level_differences(
    problem: &Problem,
    fitted: &Fitted,
    main_effects: &[MainEffect],
) -> Vec<LevelDifferences> {
    let comparable = problem.balanced == Some(true) || problem.variables.len() == 1;
    if !comparable {
        return Vec::new();
    }
    let of = |effect: &MainEffect| {
        let variable = problem.variables.iter().find(|own| own.name == effect.factor)?;
        let pairs = pairs(&effect.levels, &variable.codes, fitted, problem.alpha).ok()?;
        (!pairs.is_empty()).then(|| LevelDifferences { factor: effect.factor.clone(), pairs })
    };
    // The studentised range takes a while, and two levels do not need it.
    main_effects.iter().filter(|effect| effect.levels.len() > 2).filter_map(of).collect()
}

/// Differences of means, each with the error of its strata: with one error for all the standard
/// error of Kramer (Biometrics 12, 1956).
fn pairs(
    levels: &[LevelMean],
    codes: &[usize],
    fitted: &Fitted,
    alpha: f64,
) -> Result<Vec<LevelDifference>, StatsError> {
    let mut pairs = Vec::new();
    // Pairs of one factor have the same degrees of freedom in balanced data.
    let mut range: Option<(f64, StudentisedRange, f64)> = None;
    for (place, first) in levels.iter().enumerate() {
        for (other, second) in levels.iter().enumerate().skip(place + 1) {
            let (Some(low), Some(high)) = (first.mean, second.mean) else { continue };
            let weights: Vec<f64> = codes
                .iter()
                .map(|&code| match code {
                    code if code == other => 1.0 / second.n as f64,
                    code if code == place => -1.0 / first.n as f64,
                    _ => 0.0,
                })
                .collect();
            let Some(error) = fitted.error_of(&weights) else { continue };
            if range.as_ref().is_none_or(|(df, _, _)| (df - error.df).abs() > 1e-6 * df) {
                let own = StudentisedRange::new(levels.len(), error.df)?;
                let critical = own.quantile(1.0 - alpha)?;
                range = Some((error.df, own, critical));
            }
            let Some((_, range, critical)) = &range else { continue };
            let (difference, unit) = (high - low, error.std_error / 2f64.sqrt());
            pairs.push(LevelDifference {
                a: second.level.clone(),
                b: first.level.clone(),
                difference,
                low: difference - critical * unit,
                high: difference + critical * unit,
                p: range.upper_tail(difference.abs() / unit),
            });
        }
    }
    Ok(pairs)
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

    #[test]
    fn unbalanced_factors_are_not_compared_by_their_plain_means() {
        let balanced = "y,g,h\n1,a,u\n2,b,u\n4,c,u\n2,a,v\n3,b,v\n6,c,v\n";
        assert_eq!(differences(balanced, "y ~ g + h").len(), 1, "two levels of h need no test");
        let lacking = "y,g,h\n1,a,u\n2,b,u\n4,c,u\n2,a,v\n3,b,v\n6,a,v\n";
        assert!(differences(lacking, "y ~ g + h").is_empty());
    }
}
