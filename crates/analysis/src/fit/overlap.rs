//! How much terms overlap in the data: generalised variance inflation (Fox and Monette, Journal of
//! the American Statistical Association 87, 1992), term by term.
//!
//! Terms of one variable and its powers are taken together, and a term is compared with those that
//! do not contain it, after its own margins. So neither the units nor the contrasts matter, and what
//! is left is overlap that other rows would have avoided.

use std::collections::BTreeSet;

use trainwright_stats::{Columns, Intercept, Orthogonal};

use crate::fit::fitted::Fitted;
use crate::model::problem::Problem;

/// Inflation of the variance of each term, for one degree of freedom; 1 where it overlaps with
/// nothing, absent where it cannot be told from other terms at all or there is no intercept.
pub(crate) fn inflation(problem: &Problem, fitted: &Fitted) -> Vec<Option<f64>> {
    if fitted.coded_fit.intercept() == Intercept::Absent {
        return vec![None; problem.terms.len()];
    }
    let sources = |term: &Vec<usize>| -> BTreeSet<&str> {
        term.iter().map(|&v| problem.variables[v].source()).collect()
    };
    let groups: Vec<BTreeSet<&str>> = problem.terms.iter().map(sources).collect();
    let overlap = Overlap { fitted, groups: &groups };
    groups.iter().map(|own| overlap.of(own)).collect()
}

struct Overlap<'a> {
    fitted: &'a Fitted,
    /// What each term is made of.
    groups: &'a [BTreeSet<&'a str>],
}

impl Overlap<'_> {
    fn of(&self, own: &BTreeSet<&str>) -> Option<f64> {
        let within = |other: &BTreeSet<&str>| other != own && other.is_subset(own);
        let apart = |other: &BTreeSet<&str>| other != own && !other.is_superset(own);
        let (margins, others) = (self.volume(own, within)?, self.volume(own, apart)?);
        (margins.1 == others.1).then(|| ((margins.0 - others.0) / margins.1 as f64).exp())
    }

    /// Logarithm of the squared volume of a group's columns after the intercept and the groups that
    /// `before` accepts, and the number of independent columns.
    fn volume(
        &self,
        own: &BTreeSet<&str>,
        before: impl Fn(&BTreeSet<&str>) -> bool,
    ) -> Option<(f64, usize)> {
        let terms = self.fitted.coded_terms();
        let small = self.fitted.coded_fit.decomposition().compressed();
        let of = |wanted: &dyn Fn(&BTreeSet<&str>) -> bool| -> Vec<Vec<f64>> {
            let columns = (0..terms.len()).filter(|&c| terms[c] > 0);
            let chosen = columns.filter(|&c| wanted(&self.groups[terms[c] - 1]));
            chosen.map(|c| small[c].clone()).collect()
        };
        let mut columns = vec![small.first()?.clone()];
        columns.extend(of(&before));
        let entered = columns.len();
        columns.extend(of(&|other| other == own));
        let decomposition = Orthogonal::new(&Columns::new(columns).ok()?);
        let kept = decomposition.kept().iter().enumerate();
        let lengths = kept
            .filter(|(_, column)| **column >= entered)
            .map(|(place, &column)| decomposition.compressed()[column][place].powi(2).ln());
        let (sum, count) = lengths.fold((0.0, 0), |(sum, n), own| (sum + own, n + 1));
        (count > 0).then_some((sum, count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{fitted, table, two_by_two};

    #[track_caller]
    fn check(found: &[Option<f64>], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (own, expected) in found.iter().zip(expected) {
            assert!((own.unwrap() - expected).abs() < 1e-9, "{found:?}");
        }
    }

    #[test]
    fn a_balanced_factorial_inflates_nothing() {
        let (problem, fit) = fitted(&two_by_two(), "y ~ a * b");
        check(&inflation(&problem, &fit), &[1.0, 1.0, 1.0]);
    }

    #[test]
    fn two_columns_inflate_each_other_by_their_correlation() {
        // x = 0 1 2 3 and z = 0 2 1 3: r = 4 / 5, so 1 / (1 - r^2) = 25 / 9.
        let rows: [&[f64]; 4] =
            [&[0.0, 0.0, 1.0], &[1.0, 2.0, 2.0], &[2.0, 1.0, 4.0], &[3.0, 3.0, 3.0]];
        let (problem, fit) = fitted(&table("x,z,y", &rows), "y ~ x + z");
        check(&inflation(&problem, &fit), &[25.0 / 9.0, 25.0 / 9.0]);
        let (problem, fit) = fitted(&table("x,z,y", &rows), "y ~ 0 + x + z");
        assert_eq!(inflation(&problem, &fit), [None, None], "without a mean nothing is inflated");
    }

    #[test]
    fn a_variable_and_its_square_are_one_thing() {
        let rows: Vec<[f64; 2]> =
            (0..6).map(|at| [f64::from(at), f64::from(at * at % 5)]).collect();
        let rows: Vec<&[f64]> = rows.iter().map(<[f64; 2]>::as_slice).collect();
        let (problem, fit) = fitted(&table("x,y", &rows), "y ~ x + I(x^2)");
        // In raw units the two are correlated by 0.96.
        check(&inflation(&problem, &fit), &[1.0, 1.0]);
    }

    #[test]
    fn a_term_that_another_determines_has_no_inflation() {
        let rows: [&[f64]; 4] =
            [&[0.0, 0.0, 1.0], &[1.0, 2.0, 2.0], &[2.0, 4.0, 4.0], &[3.0, 6.0, 3.0]];
        let (problem, fit) = fitted(&table("x,z,y", &rows), "y ~ x + z");
        let found = inflation(&problem, &fit);
        assert!(found.iter().all(Option::is_none), "{found:?}");
    }
}
