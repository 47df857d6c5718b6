//! How far the numeric factors of a study bend in its equation.
//!
//! A straight line through three levels cannot see a peak in the middle, so a factor enters with
//! orthogonal polynomials of its levels, as one term. The richest equation is taken that leaves
//! the noise some degrees of freedom and mixes no more terms than straight lines would.

use trainwright_stats::{Intercept, Orthogonal};

use crate::findings::{Finding, info};
use crate::model::model_matrix::{Coding, Contrasts, Equation, ModelMatrix, Scheme};
use crate::model::variable::{InProducts, Variable};
use crate::wording::list;

/// Fewest degrees of freedom that bending may leave to the noise.
const FEWEST_LEFT: usize = 3;

/// Levels up to which a factor gets a column for every difference between them.
const FEW_LEVELS: usize = 5;

/// Degree of the polynomials of factors with more levels than that.
const DEGREE_OF_MANY: usize = 3;

/// Multiplications up to which independent columns are quick to find.
const MOST_WORK: u128 = 100_000_000;

/// Degree of the polynomials in designs that fill space, whose points hardly repeat a level.
const DEGREE_IN_SPACE: usize = 2;

/// How the points of a design lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Points {
    /// On the levels of the factors.
    OnLevels,
    /// Spread over the ranges of the factors.
    FillingSpace,
}

/// Variables and terms of an equation whose factors may bend.
#[derive(Debug, Clone)]
pub(crate) struct Bending {
    pub(crate) variables: Vec<Variable>,
    pub(crate) terms: Vec<Vec<usize>>,
    /// Largest degree, and what becomes of products; absent for straight lines alone.
    chosen: Option<(usize, Products)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Products {
    Kept(InProducts),
    LeftOut,
}

impl Bending {
    /// Bends the factors of an equation with straight lines as far as `rows` observations allow.
    pub(crate) fn of(variables: Vec<Variable>, terms: Vec<Vec<usize>>, points: Points) -> Self {
        let straight = Self::straight(variables, terms);
        let degrees: Vec<usize> =
            straight.variables.iter().map(|own| largest_degree(own, points)).collect();
        let most = degrees.iter().copied().max().unwrap_or(1);
        if most < 2 || straight.is_too_much_work() {
            return straight;
        }
        let Some((mixed, _)) = straight.mixed_and_left() else { return straight };
        let mut choices = vec![
            (most, Products::Kept(InProducts::Whole)),
            (most, Products::Kept(InProducts::Straight)),
            (2, Products::Kept(InProducts::Straight)),
        ];
        if points == Points::FillingSpace {
            choices.remove(0);
        }
        if mixed > 0 || points == Points::FillingSpace {
            choices.extend([(most, Products::LeftOut), (2, Products::LeftOut)]);
        }
        let fits = |own: &Self| {
            let before = if own.leaves_products_out() { 0 } else { mixed };
            own.mixed_and_left().is_some_and(|(now, left)| now <= before && left >= FEWEST_LEFT)
        };
        let bent = choices.into_iter().map(|choice| straight.bent(&degrees, choice)).find(fits);
        bent.unwrap_or(straight)
    }

    /// An equation of straight lines alone.
    pub(crate) fn straight(variables: Vec<Variable>, terms: Vec<Vec<usize>>) -> Self {
        Self { variables, terms, chosen: None }
    }

    fn leaves_products_out(&self) -> bool {
        matches!(self.chosen, Some((_, Products::LeftOut)))
    }

    fn bent(&self, degrees: &[usize], (most, products): (usize, Products)) -> Self {
        let in_products = match products {
            Products::Kept(own) => own,
            Products::LeftOut => InProducts::Straight,
        };
        let bend = |(own, &degree): (&Variable, &usize)| {
            let degree = degree.min(most);
            let bent = (degree > 1).then(|| own.bent(degree, in_products)).flatten();
            bent.unwrap_or_else(|| own.clone())
        };
        let variables = self.variables.iter().zip(degrees).map(bend).collect();
        let kept = |term: &&Vec<usize>| term.len() == 1 || products != Products::LeftOut;
        let terms = self.terms.iter().filter(kept).cloned().collect();
        Self { variables, terms, chosen: Some((most, products)) }
    }

    /// Whether finding the independent columns would take long; so many terms are known to be mixed.
    fn is_too_much_work(&self) -> bool {
        let rows = self.variables.first().map_or(0, |own| own.codes.len()) as u128;
        let columns = self.terms.len() as u128;
        columns * columns.min(rows) * rows > MOST_WORK
    }

    /// Columns that others determine, and degrees of freedom left to the noise.
    fn mixed_and_left(&self) -> Option<(usize, usize)> {
        let rows = self.variables.first()?.codes.len();
        let equation = Equation { terms: &self.terms, intercept: Intercept::First };
        let scheme = Scheme { coding: Coding::Coded, contrasts: Contrasts::Sum };
        let matrix = ModelMatrix::new(&self.variables, equation, scheme, rows).ok()?;
        let rank = Orthogonal::new(&matrix.columns).rank();
        Some((matrix.columns.width() - rank, rows - rank))
    }

    /// Says how the factors entered, where they bend.
    pub(crate) fn told(&self) -> Option<Finding> {
        let (_, products) = self.chosen?;
        let bent = self.variables.iter().filter_map(|own| {
            let degree = own.polynomials.as_ref()?.columns.len();
            let levels = own.observed_levels();
            Some(format!("{} (degree {degree} over its {levels} levels)", own.name))
        });
        let about = match products {
            Products::LeftOut => {
                "; products of factors are left out, for which the rows leave no room"
            }
            Products::Kept(_) if self.terms.iter().all(|term| term.len() == 1) => "",
            Products::Kept(InProducts::Whole) => "; products with other factors bend as they do",
            Products::Kept(InProducts::Straight) => {
                "; in products with other factors they are straight lines"
            }
        };
        let text = format!(
            "the equation can follow a curve of {}: the line of such a factor in the tables holds \
             its slope and its bends together{about}",
            list(&bent.collect::<Vec<_>>())
        );
        Some(info("curves-allowed", text))
    }
}

/// The highest degree that the levels of a variable support; 1 for what does not bend.
fn largest_degree(variable: &Variable, points: Points) -> usize {
    let levels = variable.observed_levels();
    if !variable.is_numeric() || variable.is_power() || levels < 3 {
        return 1;
    }
    match points {
        Points::FillingSpace => DEGREE_IN_SPACE,
        Points::OnLevels if !variable.is_declared() => 1,
        Points::OnLevels if levels <= FEW_LEVELS => levels - 1,
        Points::OnLevels => DEGREE_OF_MANY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trainwright_study::{Change, Domain, Factor, FactorKind, Level, Scale};

    fn factor(name: &str, levels: usize) -> Factor {
        Factor {
            name: name.to_owned(),
            levels: (0..levels).map(|at| Level::Number(at as f64)).collect(),
            scale: Scale::Linear,
            domain: Domain::Levels,
            kind: FactorKind::Hyper,
            change: Change::Easy,
            before: None,
            when: None,
        }
    }

    /// Two factors crossed, `repeats` times each combination.
    fn crossed(a: usize, b: usize, repeats: usize) -> Bending {
        let cells = (0..a * b * repeats).map(|row| (row % a, row / a % b));
        let (first, second): (Vec<usize>, Vec<usize>) = cells.unzip();
        let variable = |name: &str, count: usize, codes: &[usize]| {
            let factor = factor(name, count);
            let observed: Vec<(u32, Option<&Level>)> =
                codes.iter().zip(1..).map(|(&code, n)| (n, Some(&factor.levels[code]))).collect();
            Variable::from_factor(&factor, &[], &observed).unwrap()
        };
        let variables = vec![variable("a", a, &first), variable("b", b, &second)];
        Bending::of(variables, vec![vec![0], vec![1], vec![0, 1]], Points::OnLevels)
    }

    fn degrees(bending: &Bending) -> Vec<usize> {
        let degree = |own: &Variable| own.polynomials.as_ref().map_or(1, |p| p.columns.len());
        bending.variables.iter().map(degree).collect()
    }

    #[test]
    fn three_levels_bend_and_two_do_not() {
        let found = crossed(3, 2, 4);
        assert_eq!(degrees(&found), [2, 1]);
        assert_eq!(found.chosen, Some((2, Products::Kept(InProducts::Whole))));
        assert!(crossed(2, 2, 4).chosen.is_none());
        assert!(crossed(2, 2, 4).told().is_none());
    }

    #[test]
    fn without_repeats_products_are_straight() {
        let found = crossed(3, 3, 1);
        assert_eq!(found.chosen, Some((2, Products::Kept(InProducts::Straight))));
        assert_eq!(found.mixed_and_left(), Some((0, 3)));
        assert!(found.told().unwrap().text.contains("they are straight lines"));
    }

    #[test]
    fn many_levels_get_a_cubic() {
        assert_eq!(degrees(&crossed(5, 2, 3)), [4, 1]);
        assert_eq!(degrees(&crossed(9, 2, 3)), [3, 1]);
    }
}
