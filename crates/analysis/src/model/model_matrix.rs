//! From variables and terms to the columns of a model matrix.

use std::collections::BTreeSet;

use serde::Serialize;
use trainwright_stats::{Columns, Intercept, StatsError, TermStructure};

use crate::model::variable::{InProducts, Variable};

/// How numbers enter the equation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Coding {
    /// In their own units.
    #[default]
    Raw,
    /// From -1 at the lowest level to +1 at the highest, so that effects can be compared.
    Coded,
}

/// How categories become columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Contrasts {
    /// One column a level but the first, which is the reference.
    #[default]
    Treatment,
    /// Columns that sum to zero over the levels, as type III needs.
    Sum,
    /// One column a level.
    Indicators,
}

/// How numbers and categories become columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scheme {
    pub(crate) coding: Coding,
    pub(crate) contrasts: Contrasts,
}

/// The right side of an equation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Equation<'a> {
    /// Terms as indices into the variables.
    pub(crate) terms: &'a [Vec<usize>],
    pub(crate) intercept: Intercept,
}

impl Equation<'_> {
    /// Contrasts of a variable in a term: those of the scheme where the term without it is in the
    /// equation, and an indicator for every level elsewhere, the rule by which R keeps a model's
    /// span. Without an intercept, only the first category has the whole span to itself.
    pub(crate) fn contrasts(
        &self,
        is_category: impl Fn(usize) -> bool,
        term: &[usize],
        index: usize,
        usual: Contrasts,
    ) -> Contrasts {
        let margin: Vec<usize> = term.iter().copied().filter(|&v| v != index).collect();
        let spanned = if margin.is_empty() {
            let category = |t: &&Vec<usize>| t.len() == 1 && is_category(t[0]);
            let first = self.terms.iter().find(category).map(|t| t[0]);
            self.intercept == Intercept::First || first != Some(index)
        } else {
            self.terms.contains(&margin)
        };
        if spanned { usual } else { Contrasts::Indicators }
    }
}

/// Columns of an equation, with their names and terms.
#[derive(Debug, Clone)]
pub(crate) struct ModelMatrix {
    pub(crate) columns: Columns,
    pub(crate) names: Vec<String>,
    pub(crate) structure: TermStructure,
}

impl ModelMatrix {
    /// Columns of the intercept and of every term, in order, for this many observations.
    pub(crate) fn new(
        variables: &[Variable],
        equation: Equation<'_>,
        scheme: Scheme,
        rows: usize,
    ) -> Result<Self, StatsError> {
        let Equation { terms, intercept } = equation;
        let (mut columns, mut names, mut term_of_column) = (vec![], vec![], vec![]);
        if intercept == Intercept::First {
            columns.push(vec![1.0; rows]);
            names.push("(Intercept)".to_owned());
            term_of_column.push(0);
        }
        for (index, term) in terms.iter().enumerate() {
            for (name, column) in term_columns(variables, equation, term, scheme) {
                names.push(name);
                columns.push(column);
                term_of_column.push(index + 1);
            }
        }
        let factors: Vec<BTreeSet<usize>> =
            terms.iter().map(|t| t.iter().copied().collect()).collect();
        let is_power = |term: usize| match terms.get(term.wrapping_sub(1)).map(Vec::as_slice) {
            Some([only]) => variables[*only].is_power_of_column(),
            _ => false,
        };
        let powers: Vec<usize> =
            (0..columns.len()).filter(|&column| is_power(term_of_column[column])).collect();
        let structure = TermStructure { term_of_column, factors };
        let columns = Columns::new(columns)?.with_powers(powers);
        Ok(Self { columns, names, structure })
    }
}

type Named = (String, Vec<f64>);

/// Products of the columns of a term's variables; the first variable varies fastest.
fn term_columns(
    variables: &[Variable],
    equation: Equation<'_>,
    term: &[usize],
    scheme: Scheme,
) -> Vec<Named> {
    let mut found: Vec<Named> = Vec::new();
    for (place, &index) in term.iter().enumerate() {
        let is_category = |variable: usize| variables[variable].raw.is_none();
        let contrasts = equation.contrasts(is_category, term, index, scheme.contrasts);
        let standing = if term.len() == 1 { Place::Alone } else { Place::InProduct };
        let own = variable_columns(&variables[index], Scheme { contrasts, ..scheme }, standing);
        if place == 0 {
            found = own;
        } else {
            found = own
                .iter()
                .flat_map(|right| found.iter().map(move |left| product(left, right)))
                .collect();
        }
    }
    found
}

fn product(left: &Named, right: &Named) -> Named {
    let values = left.1.iter().zip(&right.1).map(|(a, b)| a * b).collect();
    (format!("{}:{}", left.0, right.0), values)
}

/// Where a variable stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It is a term by itself.
    Alone,
    /// It is part of a product.
    InProduct,
}

fn variable_columns(variable: &Variable, scheme: Scheme, place: Place) -> Vec<Named> {
    if let Some(own) = variable
        .polynomials
        .as_ref()
        .filter(|own| place == Place::Alone || own.in_products == InProducts::Whole)
    {
        return own.names.iter().cloned().zip(own.columns.iter().cloned()).collect();
    }
    // A category of two levels has one coded column, but an indicator a level where it needs to
    // span more than its contrast.
    let indicators = variable.raw.is_none() && scheme.contrasts == Contrasts::Indicators;
    let single = match scheme.coding {
        Coding::Raw => &variable.raw,
        Coding::Coded if indicators => &None,
        Coding::Coded => &variable.coded,
    };
    if let Some(values) = single {
        return vec![(variable.name.clone(), values.clone())];
    }
    let name = &variable.name;
    let indicator = |level: usize| {
        variable.codes.iter().map(|&c| if c == level { 1.0 } else { 0.0 }).collect::<Vec<f64>>()
    };
    let last = variable.levels.len().saturating_sub(1);
    let plain = |level: usize| (format!("{name}{}", variable.levels[level]), indicator(level));
    match scheme.contrasts {
        Contrasts::Indicators => (0..=last).map(plain).collect(),
        Contrasts::Treatment => (1..=last).map(plain).collect(),
        Contrasts::Sum => (0..last)
            .map(|level| {
                let values = variable
                    .codes
                    .iter()
                    .map(|&c| match c {
                        c if c == level => 1.0,
                        c if c == last => -1.0,
                        _ => 0.0,
                    })
                    .collect();
                (format!("{name}[{}]", variable.levels[level]), values)
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv_table::Table;
    use crate::model::formula::{Formula, TermOrder};

    fn names(formula: &str, coding: Coding, contrasts: Contrasts) -> String {
        let text = "y,wool,tension,x\n1,A,L,1\n2,A,M,2\n3,B,H,3\n4,B,L,4\n";
        let table = Table::from_csv(text.as_bytes(), &[]).unwrap();
        let formula = Formula::parse(formula, TermOrder::Formula).unwrap();
        let variables: Vec<Variable> = formula
            .variables
            .iter()
            .map(|v| Variable::from_table(&table, v, &[0, 1, 2, 3]).unwrap())
            .collect();
        let equation = Equation { terms: &formula.terms, intercept: formula.intercept };
        ModelMatrix::new(&variables, equation, Scheme { coding, contrasts }, 4)
            .unwrap()
            .names
            .join(" ")
    }

    #[test]
    fn columns_are_named_as_r_names_them() {
        assert_eq!(
            names("y ~ wool*tension", Coding::Raw, Contrasts::Treatment),
            "(Intercept) woolB tensionL tensionM woolB:tensionL woolB:tensionM"
        );
        assert_eq!(
            names("y ~ x*wool", Coding::Raw, Contrasts::Treatment),
            "(Intercept) x woolB x:woolB"
        );
    }

    #[test]
    fn coded_columns_average_over_levels() {
        assert_eq!(
            names("y ~ wool + tension", Coding::Coded, Contrasts::Sum),
            "(Intercept) wool tension[H] tension[L]"
        );
    }

    #[test]
    fn without_an_intercept_the_first_category_has_a_column_a_level() {
        assert_eq!(
            names("y ~ 0 + wool + tension + x", Coding::Raw, Contrasts::Treatment),
            "woolA woolB tensionL tensionM x"
        );
        assert_eq!(names("y ~ x + wool - 1", Coding::Coded, Contrasts::Sum), "x woolA woolB");
    }

    #[test]
    fn polynomials_have_a_column_a_degree() {
        assert_eq!(
            names("y ~ poly(x,2)*wool", Coding::Raw, Contrasts::Sum),
            "(Intercept) poly(x, 2)1 poly(x, 2)2 wool[A] poly(x, 2)1:wool[A] poly(x, 2)2:wool[A]"
        );
    }

    #[test]
    fn a_category_without_its_margin_gets_an_indicator_a_level() {
        assert_eq!(
            names("y ~ x:wool", Coding::Raw, Contrasts::Treatment),
            "(Intercept) x:woolA x:woolB"
        );
    }
}
