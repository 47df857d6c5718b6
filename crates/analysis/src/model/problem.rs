//! What is to be analysed, whether it came from a table or from a study.

use std::collections::{BTreeMap, BTreeSet};

use trainwright_stats::Intercept;
use trainwright_study::Direction;

use crate::fit::analysis::AnovaType;
use crate::model::bend::Points;
use crate::model::model_matrix::{Coding, Contrasts, Equation};
use crate::model::variable::Variable;
use crate::wording::{brief, p_value};

/// A response, its variables and the terms to fit.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    /// The response as it enters the fit.
    pub(crate) response: String,
    /// Whether the response already is a logarithm.
    pub(crate) logarithmic: bool,
    pub(crate) formula: String,
    pub(crate) y: Vec<f64>,
    pub(crate) variables: Vec<Variable>,
    /// Terms as indices into `variables`.
    pub(crate) terms: Vec<Vec<usize>>,
    pub(crate) term_names: Vec<String>,
    pub(crate) intercept: Intercept,
    /// How categories enter the equation in raw units.
    pub(crate) contrasts: Contrasts,
    /// Groupings of the observations with an error of their own, the outermost first.
    pub(crate) groupings: Vec<Grouping>,
    pub(crate) coding: Coding,
    pub(crate) types: Vec<AnovaType>,
    pub(crate) alpha: f64,
    pub(crate) direction: Option<Direction>,
    /// Values that the response cannot leave, such as 0 and 1.
    pub(crate) range: Option<(f64, f64)>,
    /// For each term the short effects that the design mixes with it, as sorted factors; empty
    /// for tables.
    pub(crate) aliases: Vec<Vec<Vec<usize>>>,
    /// Name of each observation.
    pub(crate) labels: Vec<String>,
    /// Whether the observations stand in the order in which they were run.
    pub(crate) order: Order,
    /// Whether all combinations were observed equally often; `None` for readings.
    pub(crate) balanced: Option<bool>,
    /// Which combinations these are.
    pub(crate) cells: Cells,
    /// How the points of the design lie.
    pub(crate) points: Points,
}

/// Parts of names under which tables list blocks and repeats.
const REPEATS: [&str; 7] = ["block", "replicate", "repeat", "batch_no", "day", "session", "seed"];

/// Observations that share a source of error.
#[derive(Debug, Clone)]
pub(crate) struct Grouping {
    pub(crate) name: String,
    /// Group of each observation.
    pub(crate) groups: Vec<usize>,
}

impl Grouping {
    /// Observations grouped by the levels of some variables.
    pub(crate) fn by(name: String, variables: &[&Variable], rows: usize) -> Self {
        let mut seen = BTreeMap::new();
        let groups = (0..rows)
            .map(|row| {
                let key: Vec<usize> = variables.iter().map(|v| v.codes[row]).collect();
                let next = seen.len();
                *seen.entry(key).or_insert(next)
            })
            .collect();
        Self { name, groups }
    }
}

/// Which combinations of levels an analysis expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cells {
    /// The rows of the study's design.
    OfDesign,
    /// Those that somebody ran.
    AsFound,
}

/// What the order of the observations means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The order in which trials ran.
    Run,
    /// The order of rows in a table, which may or may not be that of the runs.
    Row,
}

/// Assumptions that share the alpha of an analysis: normality, spread, independence, missing terms
/// and single observations.
const ASSUMPTIONS: f64 = 5.0;

/// The share of an analysis' alpha that one assumption gets: all of them together call clean data
/// faulty about as often as one test of a term calls noise an effect.
pub(crate) fn check_level(alpha: f64) -> f64 {
    alpha / ASSUMPTIONS
}

impl Problem {
    /// Largest p-value called evidence against one assumption.
    pub(crate) fn check_level(&self) -> f64 {
        check_level(self.alpha)
    }

    /// Begins a sentence on a p-value that is no evidence against one assumption.
    pub(crate) fn no_evidence(&self, p: f64) -> String {
        let (words, level) = (p_value(p), brief(self.check_level()));
        if p < self.alpha {
            format!(
                "{words}, above the {level} to which each of several checks is held, gives no evidence"
            )
        } else {
            format!("{words} gives no evidence")
        }
    }

    /// The same problem for the logarithm of the response.
    pub(crate) fn on_log_scale(&self) -> Self {
        let y = self.y.iter().map(|v| v.ln()).collect();
        Self { y, logarithmic: true, range: None, ..self.clone() }
    }

    /// An interval cut at the ends of what the response can be: a mean cannot lie beyond, so that
    /// nothing that the interval should hold is lost. A range that values have left is no such end.
    pub(crate) fn in_range(&self, ends: [f64; 2]) -> [f64; 2] {
        match self.range {
            Some((low, high)) if self.y.iter().all(|y| (low..=high).contains(y)) => {
                ends.map(|end| end.max(low).min(high))
            }
            _ => ends,
        }
    }

    /// The right side.
    pub(crate) fn equation(&self) -> Equation<'_> {
        Equation { terms: &self.terms, intercept: self.intercept }
    }

    /// Whether every margin of every term is a term too, so that coding does not change the fit.
    pub(crate) fn is_hierarchical(&self) -> bool {
        let constant = self.intercept == Intercept::First;
        constant
            && self.terms.iter().all(|term| {
                term.len() == 1
                    || term.iter().all(|out| {
                        let margin: Vec<usize> =
                            term.iter().copied().filter(|v| v != out).collect();
                        self.terms.contains(&margin)
                    })
            })
    }

    /// Number of each observation's cell, and the number of cells.
    pub(crate) fn cells(&self) -> (Vec<usize>, usize) {
        let in_cells = |(place, _): &(usize, &Variable)| !self.is_group_alone(*place);
        let own: Vec<&Variable> =
            self.variables.iter().enumerate().filter(in_cells).map(|(_, v)| v).collect();
        let key = |row: usize| own.iter().map(|v| v.codes[row]).collect::<Vec<_>>();
        let mut seen = BTreeMap::new();
        let cells = (0..self.y.len())
            .map(|row| {
                let next = seen.len();
                *seen.entry(key(row)).or_insert(next)
            })
            .collect();
        (cells, seen.len())
    }

    /// Whether a term speaks of the blocks that observations were made in.
    pub(crate) fn has_block(&self, term: &[usize]) -> bool {
        term.iter().any(|&index| self.variables[index].is_block())
    }

    /// Whether a term has a power of a factor in it.
    pub(crate) fn has_power(&self, term: &[usize]) -> bool {
        term.iter().any(|&index| self.variables[index].is_power())
    }

    /// Whether a variable only groups observations that share an error.
    pub(crate) fn is_group_alone(&self, place: usize) -> bool {
        !self.groupings.is_empty() && !self.terms.iter().any(|term| term.contains(&place))
    }

    /// Whether a variable counts repeats rather than being set: it groups errors, or its name says
    /// so and it enters the equation by itself, as the blocks of a randomised block design do.
    fn is_repeat(&self, place: usize) -> bool {
        let name = self.variables[place].name.to_lowercase();
        let alone = self.terms.iter().all(|term| term.len() == 1 || !term.contains(&place));
        self.is_group_alone(place) || (alone && REPEATS.iter().any(|own| name.contains(own)))
    }

    /// Number of different configurations, whatever block they ran in.
    pub(crate) fn configurations(&self) -> usize {
        let is_setting = |(place, v): &(usize, &Variable)| !v.is_block() && !self.is_repeat(*place);
        let factors: Vec<&Variable> =
            self.variables.iter().enumerate().filter(is_setting).map(|(_, v)| v).collect();
        let key = |row: usize| factors.iter().map(|v| v.codes[row]).collect::<Vec<_>>();
        (0..self.y.len()).map(key).collect::<BTreeSet<_>>().len()
    }

    /// Response values of each cell, in order of first appearance.
    pub(crate) fn cell_values(&self) -> Vec<Vec<f64>> {
        let (cells, count) = self.cells();
        let mut values = vec![Vec::new(); count];
        for (cell, y) in cells.into_iter().zip(&self.y) {
            values[cell].push(*y);
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{problem, table, two_by_two};

    #[test]
    fn an_equation_is_hierarchical_with_every_margin_in_any_order() {
        let rows: [&[f64]; 2] = [&[1.0, 1.0, 1.0, 1.0], &[2.0, 2.0, 2.0, 2.0]];
        let own = table("a,b,c,y", &rows);
        let is = |formula: &str| problem(&own, formula).is_hierarchical();
        assert!(is("y ~ a + b") && is("y ~ a * b * c") && is("y ~ b:a + b + a"));
        assert!(!is("y ~ a + a:b"), "b is missing");
        assert!(!is("y ~ a + b + c + a:b:c"), "products of two are missing");
        assert!(!is("y ~ 0 + a"), "without a constant coding changes the fit");
    }

    #[test]
    fn repeats_are_cells_but_no_configurations() {
        let rows: [&[f64]; 6] = [
            &[1.0, 1.0, 5.0],
            &[1.0, 2.0, 6.0],
            &[1.0, 3.0, 7.0],
            &[2.0, 1.0, 8.0],
            &[2.0, 2.0, 9.0],
            &[2.0, 3.0, 9.5],
        ];
        let own = problem(&table("a,replicate,y", &rows), "y ~ a + replicate");
        assert_eq!(own.cells().1, 6);
        assert_eq!(own.configurations(), 2, "the column counts repeats");
        let other = problem(&table("a,b,y", &rows), "y ~ a + b");
        assert_eq!(other.configurations(), 6);
        let product = problem(&table("a,seed,y", &rows), "y ~ a * seed");
        assert_eq!(product.configurations(), 6, "what enters a product was set");
    }

    #[test]
    fn groups_of_an_error_are_numbered_as_they_come_and_are_no_cells() {
        let own = problem(&two_by_two(), "y ~ a + Error(b)");
        assert_eq!(own.groupings[0].groups, [0, 0, 0, 0, 1, 1, 1, 1]);
        assert_eq!(own.cells().1, 2, "the levels of a alone");
        let values = own.cell_values();
        assert_eq!(values[0], [9.5, 10.5, 11.5, 12.5]);
        assert!(own.is_group_alone(1) && !own.is_group_alone(0));
    }

    #[test]
    fn an_interval_is_cut_where_the_response_ends() {
        let mut own = problem(&two_by_two(), "y ~ a");
        assert_eq!(own.in_range([-1.0, 2.0]), [-1.0, 2.0]);
        own.range = Some((0.0, 1.0));
        assert_eq!(own.in_range([-1.0, 2.0]), [-1.0, 2.0], "values of 9 to 22 have left it");
        own.y.iter_mut().for_each(|y| *y /= 30.0);
        assert_eq!(own.in_range([-1.0, 2.0]), [0.0, 1.0]);
        assert_eq!(own.in_range([0.25, 0.5]), [0.25, 0.5]);
        let logs = own.on_log_scale();
        assert!((logs.y[0] - (9.5f64 / 30.0).ln()).abs() < 1e-15);
        assert_eq!(logs.in_range([-1.0, 2.0]), [-1.0, 2.0], "a logarithm has other ends");
    }

    #[test]
    fn a_p_value_between_the_two_limits_says_why_it_is_no_evidence() {
        let own = problem(&two_by_two(), "y ~ a");
        assert_eq!(own.no_evidence(0.3), "p = 0.3 gives no evidence");
        assert_eq!(
            own.no_evidence(0.02),
            "p = 0.02, above the 0.01 to which each of several checks is held, gives no evidence"
        );
    }
}
