//! Reads the terms that a D-optimal design serves, such as `main + 2fi` or `lr*batch + lr^2`.

use std::collections::HashSet;

use trainwright_study::{Domain, Factor, Study};

use crate::error::DesignError;
use crate::two_level::effect_columns::{Effect, short_effects};

/// Products that a crossing such as `a*b*c` may stand for.
const MOST_PRODUCTS: usize = 1 << 16;

/// The effects that a sum of terms names, each once, in order.
pub(crate) fn read_terms(study: &Study, terms: &str) -> Result<Vec<Effect>, DesignError> {
    let mut effects: Vec<Effect> = Vec::new();
    let mut known: HashSet<Effect> = HashSet::new();
    for term in terms.split('+').map(str::trim) {
        let read = read_term(study, terms, term)?;
        effects.extend(read.into_iter().filter(|effect| known.insert(effect.clone())));
    }
    Ok(effects)
}

fn read_term(study: &Study, terms: &str, term: &str) -> Result<Vec<Effect>, DesignError> {
    let factors = study.factors.len();
    let up_to = |length: usize| {
        short_effects(factors).into_iter().filter(move |effect| effect.len() <= length)
    };
    let squares = || {
        (0..factors).filter(|&index| can_bend(&study.factors[index])).map(|index| vec![(index, 2)])
    };
    if matches!(term, "2fi" | "quadratic") {
        check_products(term, factors as u128 * (factors as u128 + 1) / 2)?;
    }
    Ok(match term {
        "1" => Vec::new(),
        "main" => up_to(1).collect(),
        "2fi" => up_to(2).filter(|effect| effect.len() == 2).collect(),
        "squares" => squares().collect(),
        "quadratic" => up_to(2).chain(squares()).collect(),
        _ => {
            let crossed = term.contains('*');
            let parts: Vec<(usize, u32)> = term
                .split(['*', ':'])
                .map(|part| power(study, terms, part))
                .collect::<Result<_, _>>()?;
            if crossed { crossing(term, &parts)? } else { vec![sorted(parts)] }
        }
    })
}

/// Whether a factor has values between its ends, without which a square is a constant.
fn can_bend(factor: &Factor) -> bool {
    factor.is_numeric() && (factor.domain == Domain::Range || factor.levels.len() > 2)
}

/// A factor with a power: `lr`, `lr^2` or `I(lr^2)`.
fn power(study: &Study, terms: &str, part: &str) -> Result<(usize, u32), DesignError> {
    let fault =
        || DesignError::UnknownTerm { terms: terms.to_owned(), term: part.trim().to_owned() };
    let inner = part.trim();
    let inner = inner.strip_prefix("I(").and_then(|own| own.strip_suffix(')')).unwrap_or(inner);
    let (name, power) = match inner.split_once('^') {
        Some((name, power)) => (name, power.trim().parse().map_err(|_| fault())?),
        None => (inner, 1),
    };
    let index = study.factors.iter().position(|own| own.name == name.trim()).ok_or_else(fault)?;
    let numeric = study.factors[index].is_numeric();
    if power == 0 || power > 4 || (power > 1 && !numeric) {
        Err(fault())
    } else {
        Ok((index, power))
    }
}

/// All products of some of the parts: `a*b` is a, b and a:b.
fn crossing(term: &str, parts: &[(usize, u32)]) -> Result<Vec<Effect>, DesignError> {
    let products = 2u128.saturating_pow(u32::try_from(parts.len()).unwrap_or(u32::MAX)) - 1;
    check_products(term, products)?;
    let subset = |chosen: u32| {
        let own = parts.iter().enumerate().filter(|(place, _)| chosen >> place & 1 == 1);
        sorted(own.map(|(_, part)| *part).collect())
    };
    let mut subsets: Vec<u32> = (1..1u32 << parts.len()).collect();
    subsets.sort_by_key(|chosen| chosen.count_ones());
    Ok(subsets.into_iter().map(subset).collect())
}

/// Fails on more products than a term may stand for, before any is made.
fn check_products(term: &str, products: u128) -> Result<(), DesignError> {
    if products > MOST_PRODUCTS as u128 {
        let (term, most) = (term.to_owned(), MOST_PRODUCTS);
        return Err(DesignError::TooManyProducts { term, products, most });
    }
    Ok(())
}

fn sorted(mut effect: Effect) -> Effect {
    effect.sort_unstable();
    effect
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::two_level::effect_columns::name;

    fn study() -> Study {
        Study::from_text(
            "schema = 1\n[study]\nname = \"t\"\n[factors.lr]\nlevels = [0.1, 0.2]\n\
             [factors.batch]\nlevels = [1, 2, 3]\n[factors.opt]\nlevels = [\"a\", \"b\"]\n\
             [design]\ntype = \"full\"\n[metrics.time]\nfrom = \"wall\"\nunit = \"s\"\n",
        )
        .unwrap()
    }

    #[track_caller]
    fn check(terms: &str, expected: &str) {
        let study = study();
        let read = read_terms(&study, terms).unwrap();
        let names: Vec<String> = read.iter().map(|effect| name(&study, effect)).collect();
        assert_eq!(names.join(" "), expected, "{terms}");
    }

    #[test]
    fn words_and_products_name_effects() {
        check("main", "lr batch opt");
        check("main + 2fi", "lr batch opt lr:batch lr:opt batch:opt");
        check("lr*batch + opt", "lr batch lr:batch opt");
        check("batch:lr + I(batch^2)", "lr:batch batch^2");
        check("quadratic", "lr batch opt lr:batch lr:opt batch:opt batch^2");
        check("main + squares", "lr batch opt batch^2");
        check("lr*batch*opt", "lr batch opt lr:batch lr:opt batch:opt lr:batch:opt");
    }

    #[test]
    fn what_does_not_read_is_named() {
        for terms in ["main + lrr", "opt^2", "lr^x", "lr + ", "(lr + batch)^2"] {
            let fault = read_terms(&study(), terms).unwrap_err();
            assert!(matches!(fault, DesignError::UnknownTerm { .. }), "{terms}: {fault}");
        }
    }
}
