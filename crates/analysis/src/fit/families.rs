//! Terms of one variable that are judged together: a variable with its powers and functions.
//!
//! Where a response peaks in the middle, its straight part is nothing and its square all: told
//! apart, the one would be called noise and the other an effect of something else.

use trainwright_stats::{AnovaRow, bonferroni};

use crate::fit::fitted::{Fitted, row_of};
use crate::model::problem::Problem;

/// The terms of one variable.
#[derive(Debug, Clone)]
pub(crate) struct Family {
    /// The term that stands for all: the variable itself where it is one, else the first.
    pub(crate) head: usize,
    /// All of them, the head included.
    pub(crate) terms: Vec<usize>,
}

impl Family {
    /// The family that a term belongs to, if other terms are made of its variable alone.
    pub(crate) fn of(problem: &Problem, term: usize) -> Option<Self> {
        let source = |own: &[usize]| match own {
            [index] => Some(problem.variables[*index].source()),
            _ => None,
        };
        let own = source(&problem.terms[term])?;
        let is_own = |&other: &usize| source(&problem.terms[other]) == Some(own);
        let terms: Vec<usize> = (0..problem.terms.len()).filter(is_own).collect();
        let is_plain = |&&other: &&usize| {
            problem.terms[other].first().is_some_and(|&v| problem.variables[v].name == own)
        };
        let head = terms.iter().find(is_plain).copied().unwrap_or(terms[0]);
        (terms.len() > 1).then_some(Self { head, terms })
    }

    /// All terms together after those that hold nothing of the variable; where later terms are the
    /// same columns, after those that stand before.
    pub(crate) fn row(&self, problem: &Problem, fitted: &Fitted) -> Option<AnovaRow> {
        if !problem.groupings.is_empty() {
            return Some(self.row_in_strata(fitted));
        }
        let source = problem.variables[problem.terms[self.head][0]].source();
        let holds = |&other: &usize| {
            !problem.terms[other].iter().any(|&v| problem.variables[v].source() == source)
        };
        let others: Vec<usize> = (0..problem.terms.len()).filter(holds).collect();
        let whole: usize = self.terms.iter().map(|&t| row_of(&fitted.type_one, t).df).sum();
        let found = fitted.together(&self.terms, &others)?;
        if found.df >= whole {
            return Some(found);
        }
        let last = self.terms.last().copied().unwrap_or(self.head);
        let before: Vec<usize> = others.into_iter().filter(|&own| own < last).collect();
        fitted.together(&self.terms, &before)
    }

    /// Terms of several strata have no error in common: the smallest p-value, for all of them.
    fn row_in_strata(&self, fitted: &Fitted) -> AnovaRow {
        let rows: Vec<&AnovaRow> = self.terms.iter().map(|&own| fitted.judged(own)).collect();
        let smallest = rows.iter().filter_map(|own| own.p).min_by(f64::total_cmp);
        let sum = |part: fn(&AnovaRow) -> Option<f64>| {
            rows.iter().filter_map(|own| part(own)).reduce(|a, b| a + b)
        };
        AnovaRow {
            term: Some(self.head + 1),
            df: rows.iter().map(|own| own.df).sum(),
            sum_sq: sum(|own| own.sum_sq),
            mean_sq: None,
            f: None,
            p: smallest.map(|p| bonferroni(p, rows.len())),
            percent: sum(|own| own.percent),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{fitted, table, two_by_two};

    fn bowl() -> crate::Table {
        let rows: Vec<[f64; 3]> = (0..18)
            .map(|run| {
                let (x, z) = (f64::from(run % 3) - 1.0, f64::from(run / 3 % 3));
                [x, z, 10.0 - 2.0 * x * x + if run < 9 { 0.1 } else { -0.1 }]
            })
            .collect();
        let rows: Vec<&[f64]> = rows.iter().map(<[f64; 3]>::as_slice).collect();
        table("x,z,y", &rows)
    }

    #[test]
    fn a_variable_and_its_square_are_one_and_products_are_not_of_it() {
        let (problem, fit) = fitted(&bowl(), "y ~ I(x^2) + z + x + x:z");
        let family = Family::of(&problem, 0).unwrap();
        assert_eq!((family.head, family.terms.as_slice()), (2, &[0, 2][..]));
        let row = family.row(&problem, &fit).unwrap();
        // Of 10 - 2 x^2 the means over x differ by 2 at six and twelve runs: 4 * 6 * 12 / 18.
        assert_eq!(row.df, 2);
        assert!((row.sum_sq.unwrap() - 16.0).abs() < 1e-9, "{row:?}");
        assert!(Family::of(&problem, 1).is_none() && Family::of(&problem, 3).is_none());
        let (plain, _) = fitted(&two_by_two(), "y ~ a * b");
        assert!((0..3).all(|term| Family::of(&plain, term).is_none()));
    }

    #[test]
    fn squares_that_are_one_column_are_the_firsts() {
        // Corners and a centre: both squares tell the corners from the centre.
        let rows: Vec<[f64; 3]> = (0..12)
            .map(|run| match run {
                0..8 => {
                    let (a, b) =
                        (f64::from(run % 2) * 2.0 - 1.0, f64::from(run / 2 % 2) * 2.0 - 1.0);
                    [a, b, 5.0 + a + 0.1 * f64::from(run % 3)]
                }
                _ => [0.0, 0.0, 8.0 + 0.1 * f64::from(run % 3)],
            })
            .collect();
        let rows: Vec<&[f64]> = rows.iter().map(<[f64; 3]>::as_slice).collect();
        let (problem, fit) = fitted(&table("a,b,y", &rows), "y ~ a + b + I(a^2) + I(b^2)");
        let df = |term: usize| Family::of(&problem, term).unwrap().row(&problem, &fit).unwrap().df;
        assert_eq!((df(0), df(1)), (2, 1));
    }
}
