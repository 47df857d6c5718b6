//! An equation in any coding, fitted from the merged columns.
//!
//! Every column of a model matrix is a sum of products of powers and indicators, which are the
//! merged columns, so its small stand-in is the same sum of theirs.

use std::collections::{BTreeMap, BTreeSet};

use trainwright_stats::{Intercept, Reduced, StatsError, TermStructure};

use super::plan::{Plan, Source};
use super::rows::Key;
use super::whole::Whole;
use crate::fit::fitted::Equated;
use crate::model::model_matrix::{Coding, Contrasts, Equation, Scheme};
use crate::model::variable::sort_levels;

/// A column as a sum: choice of each variable to its weight.
type Sum = BTreeMap<Key, f64>;

/// Columns of one variable: name, and weights of its powers (0 for none) or levels.
type Own = Vec<(String, Vec<(usize, f64)>)>;

/// Fits an equation to the whole table.
pub(super) fn equate(
    whole: &Whole,
    plan: &Plan,
    equation: Equation<'_>,
    scheme: Scheme,
) -> Result<Equated, StatsError> {
    let merged = whole.tall.columns();
    let (mut names, mut term_of_column, mut columns) = (vec![], vec![], vec![]);
    if equation.intercept == Intercept::First {
        names.push("(Intercept)".to_owned());
        term_of_column.push(0);
        columns.push(merged[0].clone());
    }
    for (index, term) in equation.terms.iter().enumerate() {
        for (name, sum) in products(whole, plan, equation, term, scheme) {
            let mut column = vec![0.0; merged[0].len()];
            for (key, weight) in sum {
                let place = if key.is_empty() { Some(0) } else { whole.places.get(&key).copied() };
                // A combination of levels that never occurs has a column of zeros.
                for (c, m) in column.iter_mut().zip(place.map(|p| &merged[p]).into_iter().flatten())
                {
                    *c += weight * m;
                }
            }
            names.push(name);
            term_of_column.push(index + 1);
            columns.push(column);
        }
    }
    let factors: Vec<BTreeSet<usize>> =
        equation.terms.iter().map(|t| t.iter().copied().collect()).collect();
    let fit = Reduced::new(&columns, &merged[1], whole.observations, equation.intercept)?
        .least_squares()?;
    Ok(Equated { names, structure: TermStructure { term_of_column, factors }, fit })
}

/// The columns of a term; the first variable varies fastest.
fn products(
    whole: &Whole,
    plan: &Plan,
    equation: Equation<'_>,
    term: &[usize],
    scheme: Scheme,
) -> Vec<(String, Sum)> {
    let mut found: Vec<(String, Sum)> = vec![];
    for (place, &variable) in term.iter().enumerate() {
        let is_category = |own: usize| matches!(plan.variables[own].source, Source::Text(_));
        let contrasts = equation.contrasts(is_category, term, variable, scheme.contrasts);
        let own = own_columns(whole, plan, variable, Scheme { contrasts, ..scheme });
        if place == 0 {
            found = own
                .iter()
                .map(|(name, parts)| {
                    (name.clone(), with(&Sum::from([(vec![], 1.0)]), variable, parts))
                })
                .collect();
            continue;
        }
        found = own
            .iter()
            .flat_map(|(name, parts)| {
                found
                    .iter()
                    .map(move |(left, sum)| (format!("{left}:{name}"), with(sum, variable, parts)))
            })
            .collect();
    }
    found
}

/// A sum times a variable's weighted choices.
fn with(sum: &Sum, variable: usize, parts: &[(usize, f64)]) -> Sum {
    let mut found = Sum::new();
    for (key, weight) in sum {
        for &(choice, own) in parts {
            // `usize::MAX` stands for the variable to the power of zero.
            let key = if choice == usize::MAX {
                key.clone()
            } else {
                [key.as_slice(), &[(variable, choice)]].concat()
            };
            *found.entry(key).or_insert(0.0) += weight * own;
        }
    }
    found
}

const NONE: usize = usize::MAX;

fn own_columns(whole: &Whole, plan: &Plan, variable: usize, scheme: Scheme) -> Own {
    let planned = &plan.variables[variable];
    let name = &planned.name;
    match planned.source {
        Source::Text(_) => category(name, &whole.levels[variable], scheme),
        _ if planned.degree > 1 || name.starts_with("poly(") => polynomials(whole, plan, variable),
        _ => {
            let (low, high) = whole.ends[variable];
            let parts = match scheme.coding {
                Coding::Raw => vec![(1, 1.0)],
                Coding::Coded if high > low => {
                    vec![(1, 2.0 / (high - low)), (NONE, -(low + high) / (high - low))]
                }
                Coding::Coded => vec![(NONE, -1.0)],
            };
            vec![(name.clone(), parts)]
        }
    }
}

fn category(name: &str, levels: &[String], scheme: Scheme) -> Own {
    let mut order: Vec<usize> = (0..levels.len()).collect();
    let mut sorted: Vec<&str> = levels.iter().map(String::as_str).collect();
    sort_levels(&mut sorted);
    order.sort_by_key(|&code| sorted.iter().position(|level| *level == levels[code]));
    let last = levels.len() - 1;
    let plain =
        |place: usize| (format!("{name}{}", levels[order[place]]), vec![(order[place], 1.0)]);
    match scheme {
        Scheme { contrasts: Contrasts::Indicators, .. } => (0..=last).map(plain).collect(),
        Scheme { coding: Coding::Coded, .. } if last <= 1 => {
            let weight = |place: usize| if place == 0 { -1.0 } else { 1.0 };
            vec![(name.to_owned(), (0..=last).map(|p| (order[p], weight(p))).collect())]
        }
        Scheme { contrasts: Contrasts::Treatment, .. } => (1..=last).map(plain).collect(),
        Scheme { contrasts: Contrasts::Sum, .. } => (0..last)
            .map(|place| {
                let weights = vec![(order[place], 1.0), (order[last], -1.0)];
                (format!("{name}[{}]", levels[order[place]]), weights)
            })
            .collect(),
    }
}

/// Orthonormal polynomials as weights of the powers, made orthogonal on the merged columns.
fn polynomials(whole: &Whole, plan: &Plan, variable: usize) -> Own {
    let planned = &plan.variables[variable];
    let merged = whole.tall.columns();
    let power = |m: usize| match m {
        0 => &merged[0],
        m => &merged[whole.places[&vec![(variable, m)]]],
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let mut found: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    for degree in 0..=planned.degree {
        let mut column = power(degree).clone();
        let mut weights = vec![0.0; planned.degree + 1];
        weights[degree] = 1.0;
        // Twice is enough for orthogonality to rounding.
        for _ in 0..2 {
            for (other, others) in &found {
                let share = dot(&column, other);
                column.iter_mut().zip(other).for_each(|(a, b)| *a -= share * b);
                weights.iter_mut().zip(others).for_each(|(a, b)| *a -= share * b);
            }
        }
        let length = dot(&column, &column).sqrt();
        column.iter_mut().for_each(|v| *v /= length);
        weights.iter_mut().for_each(|v| *v /= length);
        found.push((column, weights));
    }
    let named = |(degree, (_, weights)): (usize, (Vec<f64>, Vec<f64>))| {
        let choice = |m: usize| if m == 0 { NONE } else { m };
        let parts = weights.into_iter().enumerate().map(|(m, w)| (choice(m), w)).collect();
        (format!("{}{degree}", planned.name), parts)
    };
    found.into_iter().enumerate().skip(1).map(named).collect()
}
