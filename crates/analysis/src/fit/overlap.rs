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
