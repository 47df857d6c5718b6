//! Terms that stand for several effects, which the data cannot tell apart.

use trainwright_design::Design;

use crate::fit::analysis::{Effect, LenthSummary};
use crate::fit::fitted::{Fitted, row_of};
use crate::model::problem::Problem;

/// For each term the main effects and two-factor interactions that a regular fraction mixes with
/// it, as positions among the factors.
pub(crate) fn of_design(design: &Design, terms: &[Vec<usize>]) -> Vec<Vec<Vec<usize>>> {
    let letters: Vec<char> = design.letters().collect();
    let places = |effect: &String| -> Option<Vec<usize>> {
        let word = effect.trim_start_matches('-');
        word.chars().map(|letter| letters.iter().position(|own| *own == letter)).collect()
    };
    let of = |term: &Vec<usize>| {
        let mut sorted = term.clone();
        sorted.sort_unstable();
        let word: Option<String> = sorted.iter().map(|&at| letters.get(at)).collect();
        let aliases = word.and_then(|word| design.fraction()?.aliases_of(&word));
        let short = aliases.unwrap_or_default().iter().filter_map(places);
        short.filter(|own| own.len() <= 2).collect()
    };
    terms.iter().map(of).collect()
}

/// Terms whose columns make up an aliased term's first column, in coded units.
pub(crate) fn mixed_with(fitted: &Fitted, term: usize) -> Vec<usize> {
    let of_column = fitted.coded_terms();
    let Some(column) = of_column.iter().position(|&t| t == term + 1) else {
        return vec![];
    };
    let decomposition = fitted.coded_fit.decomposition();
    let weights = decomposition.solve(&decomposition.compressed()[column]);
    let mut terms: Vec<usize> = decomposition
        .kept()
        .iter()
        .zip(weights)
        .filter(|(_, weight)| weight.abs() > 1e-6)
        .map(|(&kept, _)| of_column[kept])
        .filter(|&t| t > 0 && t != term + 1)
        .map(|t| t - 1)
        .collect();
    terms.dedup();
    terms
}

/// Names for each effect all that it may be, the likeliest first.
///
/// Main effects come before interactions, and interactions of factors that matter by themselves
/// before others (Hamada and Wu, Journal of Quality Technology 24, 1992, on effect heredity).
pub(crate) fn name_candidates(
    problem: &Problem,
    fitted: &Fitted,
    lenth: Option<&LenthSummary>,
    effects: &mut [Effect],
) {
    let stands_out = |effect: &Effect| match effect.p_adjusted {
        Some(p) => p <= problem.alpha,
        None => lenth.is_some_and(|own| own.active.contains(&effect.term)),
    };
    let active: Vec<usize> = effects
        .iter()
        .zip(&problem.terms)
        .filter(|(effect, term)| term.len() == 1 && stands_out(effect))
        .map(|(_, term)| term[0])
        .collect();
    for (term, mut others) in aliases(problem, fitted).into_iter().enumerate() {
        let own = &problem.terms[term];
        let parents = |set: &Vec<usize>| set.iter().filter(|at| active.contains(at)).count();
        // An interaction without any factor that matters is less likely than one with.
        let mut unlikely = Vec::new();
        if own.len() == 1 || others.iter().chain([own]).any(|set| parents(set) > 0) {
            (others, unlikely) =
                others.into_iter().partition(|set| set.len() == 1 || parents(set) > 0);
        }
        let name = |set: &Vec<usize>| {
            let names: Vec<&str> =
                set.iter().map(|&at| problem.variables[at].name.as_str()).collect();
            names.join(":")
        };
        effects[term].taken_for_none = unlikely.iter().map(name).collect();
        if others.is_empty() {
            continue;
        }
        others.insert(0, own.clone());
        others.sort_by_key(|set| (set.len(), std::cmp::Reverse(parents(set))));
        effects[term].candidates = others.iter().map(name).collect();
    }
}

/// Other effects that each term of the equation may be.
fn aliases(problem: &Problem, fitted: &Fitted) -> Vec<Vec<Vec<usize>>> {
    let mut found = problem.aliases.clone();
    found.resize(problem.terms.len(), vec![]);
    for term in 0..problem.terms.len() {
        if row_of(&fitted.type_one, term).df > 0 || problem.has_block(&problem.terms[term]) {
            continue;
        }
        if let [other] = mixed_with(fitted, term)[..] {
            let mut set = problem.terms[term].clone();
            set.sort_unstable();
            if !found[other].contains(&set) && !problem.has_block(&problem.terms[other]) {
                found[other].push(set);
            }
        }
    }
    found
}
