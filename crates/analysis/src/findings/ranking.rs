//! Which terms matter, by how much, and which cannot be told apart.

use trainwright_stats::holm;
use trainwright_study::{Direction, Level};

use super::{Evidence, Finding, info, warning};
use crate::fit::analysis::{Effect, TurnKind};
use crate::fit::best::aliases::mixed_with;
use crate::fit::families::Family;
use crate::fit::fitted::row_of;
use crate::fit::overlap::inflation;
use crate::model::problem::Cells;
use crate::model::variable::Variable;
use crate::wording::{brief, list, p_value, percent};

/// Terms named in full in the ranking; the rest is only listed.
const DESCRIBED: usize = 3;

/// A share of the variation below this is small, however sure its sign is.
const SMALL_PERCENT: f64 = 1.0;

/// Inflation of terms that do not overlap, up to rounding.
const ORTHOGONAL: f64 = 1.0 + 1e-6;

/// Generalised variance inflation from which readings count as moving together.
const OVERLAPPING: f64 = 2.0;

pub(super) fn findings(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(effect_ranking(evidence));
    found.extend(small_effect(evidence));
    found.extend(type_one_order(evidence));
    found.extend(aliased_terms(evidence));
    found.extend(optimum_at_edge(evidence));
    found
}

struct Ranked {
    term: usize,
    percent: f64,
    p: f64,
    /// The same, adjusted for the number of terms by Holm's method.
    adjusted: f64,
}

/// Tested terms by type II share, largest first; a variable with its powers and functions is one.
fn ranked(evidence: &Evidence<'_>) -> Vec<Ranked> {
    let (problem, fitted) = (evidence.problem, evidence.fitted);
    let mut terms: Vec<Ranked> = (0..problem.terms.len())
        .filter_map(|term| {
            let family = Family::of(problem, term);
            let row = match &family {
                Some(own) if own.head != term => return None,
                Some(own) => own.row(problem, fitted)?,
                None => *fitted.judged(term),
            };
            Some(Ranked { term, percent: row.percent?, p: row.p?, adjusted: row.p? })
        })
        .collect();
    let tested: Vec<Option<f64>> = terms.iter().map(|own| Some(own.p)).collect();
    for (own, adjusted) in terms.iter_mut().zip(holm(&tested)) {
        own.adjusted = adjusted.unwrap_or(own.p);
    }
    terms.sort_by(|a, b| b.percent.total_cmp(&a.percent));
    terms
}

fn effect_ranking(evidence: &Evidence<'_>) -> Option<Finding> {
    let (problem, alpha) = (evidence.problem, evidence.problem.alpha);
    let ranked = ranked(evidence);
    if ranked.is_empty() {
        return None;
    }
    let name = |r: &Ranked| evidence.effects[r.term].told_as();
    let (sure, unsure): (Vec<&Ranked>, Vec<&Ranked>) =
        ranked.iter().partition(|r| r.adjusted < alpha);
    let mut sentences = Vec::new();
    for (place, r) in sure.iter().take(DESCRIBED).enumerate() {
        let rank = ["matters most", "comes second", "comes third"][place];
        let figures = format!("{} of the variation, {}", percent(r.percent), p_value(r.p));
        sentences.push(format!("{} {rank}: {figures}{}", name(r), change(evidence, r.term)));
    }
    let rest: Vec<String> = sure.iter().skip(DESCRIBED).map(|r| name(r)).collect();
    if !rest.is_empty() {
        sentences.push(format!("there is also evidence for {}", list(&rest)));
    }
    let (within, unsure): (Vec<&Ranked>, Vec<&Ranked>) =
        unsure.into_iter().partition(|r| sure.iter().any(|s| contains(evidence, s.term, r.term)));
    if !within.is_empty() {
        let names: Vec<String> = within.iter().map(|r| name(r)).collect();
        let aliased = sure.iter().any(|s| !evidence.effects[s.term].candidates.is_empty());
        let verb = match names.len() {
            _ if aliased => "may act",
            1 => "acts",
            _ => "act",
        };
        sentences.push(format!(
            "{} {verb} through the products above, so an average over the other factors says little",
            list(&names)
        ));
    }
    let unsure: Vec<String> = unsure.iter().map(|r| name(r)).collect();
    if evidence.fails("lack-of-fit").is_some() && !unsure.is_empty() {
        sentences
            .push(format!("{} cannot be judged while the equation misses terms", list(&unsure)));
    } else if !unsure.is_empty() {
        let limit = brief(alpha);
        sentences.push(format!(
            "no evidence (p at or above {limit}, allowing for the number of terms) for {}",
            list(&unsure)
        ));
    }
    if sure.is_empty() && evidence.fails("lack-of-fit").is_some() {
        return None;
    }
    if sure.is_empty() {
        let text =
            format!("no term shows an effect on {}: {}", problem.response, sentences.join("; "));
        return Some(info("nothing-matters", text));
    }
    let r2 = percent(100.0 * evidence.fitted.fit.r2);
    sentences.push(format!("the whole equation explains {r2}"));
    Some(info("effect-ranking", sentences.join("; ")))
}

/// Whether the factors of one term are all in another, larger one, or in what that may be.
fn contains(evidence: &Evidence<'_>, outer: usize, inner: usize) -> bool {
    let names = &evidence.problem.term_names;
    let parts: Vec<&str> = names[inner].split(':').collect();
    let within = |term: &String| {
        let others: Vec<&str> = term.split(':').collect();
        others.len() > parts.len() && parts.iter().all(|own| others.contains(own))
    };
    within(&names[outer]) || evidence.effects[outer].candidates.iter().any(within)
}

/// What moving a main effect's factor from low to high does.
fn change(evidence: &Evidence<'_>, term: usize) -> String {
    let effect = &evidence.effects[term];
    if !effect.candidates.is_empty() {
        return ", and these data cannot tell which of them it is".to_owned();
    }
    format!("{}{}", moved(evidence, term), effect.taken_for_nothing())
}

/// What going from low to high does, where one figure tells it.
fn moved(evidence: &Evidence<'_>, term: usize) -> String {
    let problem = evidence.problem;
    let effect = &evidence.effects[term];
    let ([index], Some(size), Some(low), Some(high)) =
        (problem.terms[term].as_slice(), effect.effect, effect.ci_low, effect.ci_high)
    else {
        return String::new();
    };
    let variable = &problem.variables[*index];
    let (Some(first), Some(last)) = (variable.levels.first(), variable.levels.last()) else {
        return String::new();
    };
    let verb = if size < 0.0 { "lowers" } else { "raises" };
    let (a, b) = if size < 0.0 { (-high, -low) } else { (low, high) };
    if let Some(turn) = &effect.turn {
        return format!(
            ", and {} is {} at {} {} ({}), on average at least {} {} than at either end",
            problem.response,
            turn.kind.word(),
            variable.source(),
            turn.level,
            brief(turn.mean),
            brief(turn.beyond_both_ends),
            turn.kind.compared()
        );
    }
    format!(
        ", and going from {first} to {last} {verb} {} by {} ({} to {}) on average",
        problem.response,
        brief(size.abs()),
        brief(a),
        brief(b)
    )
}

fn small_effect(evidence: &Evidence<'_>) -> Option<Finding> {
    let alpha = evidence.problem.alpha;
    let small: Vec<String> = ranked(evidence)
        .iter()
        .filter(|r| r.adjusted < alpha && r.percent < SMALL_PERCENT)
        .map(|r| {
            let name = &evidence.problem.term_names[r.term];
            format!("{name} ({} of the variation, {})", percent(r.percent), p_value(r.p))
        })
        .collect();
    if small.is_empty() {
        return None;
    }
    let text = format!(
        "{}: the effect is real by its p-value but small; with enough data any difference shows",
        list(&small)
    );
    Some(info("small-effect", text))
}

fn type_one_order(evidence: &Evidence<'_>) -> Option<Finding> {
    let (problem, alpha) = (evidence.problem, evidence.problem.alpha);
    let least = match (problem.balanced, problem.cells) {
        // The design itself lets terms overlap, as rows that fill a space do; nothing is amiss.
        (Some(true), Cells::OfDesign) => return None,
        (Some(false), _) => ORTHOGONAL,
        // Readings always overlap somewhat, by chance.
        (Some(true) | None, _) => OVERLAPPING,
    };
    // A variable and its powers always overlap with each other; that is no fault of the rows.
    let overlaps: Vec<bool> = inflation(problem, evidence.fitted)
        .iter()
        .map(|own| own.is_none_or(|own| own > least))
        .collect();
    let differing: Vec<String> = (0..problem.terms.len())
        .filter(|&term| overlaps[term])
        .filter_map(|term| {
            let one = row_of(&evidence.fitted.type_one, term).p?;
            let two = row_of(&evidence.fitted.type_two, term).p?;
            ((one < alpha) != (two < alpha)).then(|| {
                let name = &problem.term_names[term];
                format!("{name} ({} in type I, {} in type II)", p_value(one), p_value(two))
            })
        })
        .collect();
    if differing.is_empty() {
        return None;
    }
    let text = format!(
        "the terms overlap in these data, so a type I table depends on their order, and {} would \
         be judged differently; read type II, which tests each term after all others that do not \
         contain it",
        list(&differing)
    );
    Some(info("type-one-order", text))
}

fn aliased_terms(evidence: &Evidence<'_>) -> Option<Finding> {
    let problem = evidence.problem;
    let names = &problem.term_names;
    let empty = (0..names.len()).filter(|&term| row_of(&evidence.fitted.type_one, term).df == 0);
    let never_moves = |term: &usize| {
        problem.terms[*term].iter().all(|&v| problem.variables[v].observed_levels() == 1)
    };
    let (constant, aliased): (Vec<usize>, Vec<usize>) = empty.partition(never_moves);
    let of_constant = told_of_constant(constant.into_iter().map(|t| names[t].clone()).collect());
    let of_mixed = told_of_mixed(evidence, &aliased);
    let parts: Vec<String> = [of_mixed, of_constant].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| warning("aliased-terms", parts.join("; ")))
}

/// Columns that hold one value everywhere.
fn told_of_constant(names: Vec<String>) -> Option<String> {
    let (has, it) = if names.len() == 1 { ("has", "it") } else { ("have", "them") };
    let of = list(&names);
    (!names.is_empty())
        .then(|| format!("{of} {has} one value only in these data, so nothing follows about {it}"))
}

/// Terms that earlier ones determine, with those.
fn told_of_mixed(evidence: &Evidence<'_>, terms: &[usize]) -> Option<String> {
    let names = &evidence.problem.term_names;
    let told = |&term: &usize| match mixed_with(evidence.fitted, term).as_slice() {
        [] => names[term].clone(),
        others => {
            let others: Vec<String> = others.iter().map(|&t| names[t].clone()).collect();
            format!("{} (mixed with {})", names[term], list(&others))
        }
    };
    let aliased: Vec<String> = terms.iter().map(told).collect();
    let (has, it_does, it_is) = match aliased.len() {
        0 => return None,
        1 => ("has", "it does", "it is"),
        _ => ("have", "they do", "they are"),
    };
    Some(format!(
        "{} cannot be told apart from earlier terms in these data and {has} no estimate; what \
         {it_does} is counted under the terms {it_is} mixed with",
        list(&aliased)
    ))
}

/// Numeric factors that matter and whose best level, by the equation, is the last one tried.
fn optimum_at_edge(evidence: &Evidence<'_>) -> Option<Finding> {
    let (problem, best) = (evidence.problem, evidence.best?);
    let mut terms: Vec<usize> = ranked(evidence)
        .into_iter()
        .filter(|own| own.adjusted < problem.alpha && problem.terms[own.term].len() == 1)
        .map(|own| own.term)
        .collect();
    terms.sort_unstable();
    let edges: Vec<String> = terms
        .into_iter()
        .filter(|&term| !turns_inside(&evidence.effects[term], best.direction))
        .filter_map(|term| edge_of(&problem.variables[problem.terms[term][0]], evidence))
        .collect();
    if edges.is_empty() {
        return None;
    }
    let goal = match best.direction {
        Direction::Minimize => "lowest",
        Direction::Maximize => "highest",
    };
    let text = format!(
        "the {goal} mean, by the effects, lies at the edge of the levels tried for {}: a better value may lie \
         beyond, which these data cannot tell",
        list(&edges)
    );
    Some(info("optimum-at-edge", text))
}

/// Whether the response is best between the ends of a variable, so that nothing lies beyond them.
fn turns_inside(effect: &Effect, direction: Direction) -> bool {
    let best = match direction {
        Direction::Minimize => TurnKind::Lowest,
        Direction::Maximize => TurnKind::Highest,
    };
    effect.turn.as_ref().is_some_and(|turn| turn.kind == best)
}

fn edge_of(variable: &Variable, evidence: &Evidence<'_>) -> Option<String> {
    if !variable.is_numeric() {
        return None;
    }
    // One lucky configuration does not say where to look; the effects do.
    let best = evidence.best?;
    let by_effects = best.predicted.as_ref().map(|own| &own.configuration);
    let level = by_effects.unwrap_or(&best.configuration).get(&variable.name)?;
    let place = variable.levels.iter().position(|l| l.same_as(level))?;
    let at_edge = place == 0 || place + 1 == variable.levels.len();
    (at_edge && !is_natural_edge(variable, place)).then(|| format!("{} ({level})", variable.name))
}

/// Whether nothing lies beyond a level at the edge: off and on, written 0 and 1, have no third
/// level, and what starts at nothing cannot be less.
fn is_natural_edge(variable: &Variable, place: usize) -> bool {
    let numbers: Vec<f64> = variable.levels.iter().filter_map(Level::number).collect();
    numbers == [0.0, 1.0] || (place == 0 && numbers.first() == Some(&0.0))
}

#[cfg(test)]
mod tests {
    use trainwright_study::Direction;

    use crate::tests::{analysis, table};

    #[test]
    fn a_column_of_one_value_is_not_called_mixed() {
        let rows: [&[f64]; 4] =
            [&[1.0, 5.0, 2.0], &[2.0, 5.0, 3.0], &[1.0, 5.0, 2.5], &[2.0, 5.0, 4.0]];
        let found = analysis(&table("a,x,y", &rows), "y ~ a + x", None);
        let text = &found.findings.iter().find(|own| own.id == "aliased-terms").unwrap().text;
        assert_eq!(text, "x has one value only in these data, so nothing follows about it");
    }

    #[test]
    fn a_variable_with_a_turn_has_no_optimum_at_its_edge() {
        // The product pulls the best prediction to the edge of x, whose mean peaks inside.
        let rows: Vec<[f64; 3]> = (0..30)
            .map(|run| {
                let (x, z) = (f64::from(run % 5) - 2.0, f64::from(run / 5 % 3) - 1.0);
                [x, z, 10.0 - x * x + 5.0 * x * z + 0.1 * f64::from(run * 7 % 5)]
            })
            .collect();
        let rows: Vec<&[f64]> = rows.iter().map(<[f64; 3]>::as_slice).collect();
        let found =
            analysis(&table("x,z,y", &rows), "y ~ x + I(x^2) + z + x:z", Some(Direction::Maximize));
        assert!(found.effects[0].turn.is_some(), "{:?}", found.effects[0]);
        let edge = found.findings.iter().find(|own| own.id == "optimum-at-edge");
        assert!(edge.is_none_or(|own| !own.text.contains("for x (")), "{edge:?}");
    }
}
