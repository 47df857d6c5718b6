//! Effects from low to high, with their shares, margins and half-normal quantiles.

use std::collections::BTreeSet;

use trainwright_stats::{Normal, holm, lenth};

use crate::fit::analysis::{Effect, HalfNormal, LenthSummary};
use crate::fit::assemble::predicted_change::{PredictedChange, predicted_change};
use crate::fit::fitted::{Fitted, row_of};
use crate::model::model_matrix::Coding;
use crate::model::problem::Problem;

/// One effect a term, in the order of the terms.
pub(crate) fn effects(problem: &Problem, fitted: &Fitted) -> Vec<Effect> {
    // Where a margin is missing, recoding changes the equation, so a raw fit has no coded effects.
    let comparable = problem.coding == Coding::Coded || problem.is_hierarchical();
    let mut found: Vec<Effect> = (0..problem.terms.len())
        .map(|term| {
            let column = fitted.single_coded_column(term).filter(|_| comparable);
            let coefficient = column.and_then(|c| fitted.coded_fit.coefficients[c]);
            // One column of several that tell of a variable says nothing by itself.
            let straight = stands_alone(problem, term);
            let bent = change_of_bent(problem, fitted, term).filter(|_| comparable);
            let range = column
                .filter(|_| straight)
                .and_then(|c| fitted.coded_interval(c, problem.alpha))
                .map(|[low, high]| [2.0 * low, 2.0 * high])
                .or(bent.as_ref().and_then(|own| own.interval));
            let twice = coefficient.filter(|_| straight).map(|c| 2.0 * c.estimate);
            Effect {
                term: problem.term_names[term].clone(),
                effect: twice.or(bent.as_ref().map(|own| own.size)),
                ci_low: range.map(|r| r[0]),
                ci_high: range.map(|r| r[1]),
                p: row_of(&fitted.averaged, term)
                    .p
                    .or(coefficient.and_then(|c| c.p).filter(|_| problem.groupings.is_empty()))
                    .filter(|_| comparable),
                p_adjusted: None,
                percent: fitted.judged(term).percent,
                candidates: vec![],
                turn: bent.and_then(|own| own.turn),
            }
        })
        .collect();
    let tested: Vec<Option<f64>> = found.iter().map(|effect| effect.p).collect();
    found.iter_mut().zip(holm(&tested)).for_each(|(effect, p)| effect.p_adjusted = p);
    found
}

/// Whether no other term is made of the same variables or their powers.
fn stands_alone(problem: &Problem, term: usize) -> bool {
    let sources = |own: &[usize]| -> BTreeSet<String> {
        own.iter().map(|&v| problem.variables[v].source().to_owned()).collect()
    };
    let own = sources(&problem.terms[term]);
    let like = problem.terms.iter().filter(|other| sources(other) == own).count();
    like == 1 && !problem.has_power(&problem.terms[term])
}

/// The change that a bent variable makes; not for a fit without single residuals, whose problem is
/// only a sample of the rows.
fn change_of_bent(problem: &Problem, fitted: &Fitted, term: usize) -> Option<PredictedChange> {
    (!fitted.fit.residuals.is_empty()).then(|| predicted_change(problem, fitted, term)).flatten()
}

/// Lenth's margins, where no configuration was repeated and there are effects to compare.
pub(crate) fn lenth_margins(problem: &Problem, effects: &[Effect]) -> Option<LenthSummary> {
    // The effects of one list must share one error.
    if problem.configurations() < problem.y.len() || !problem.groupings.is_empty() {
        return None;
    }
    let of_factors: Vec<&Effect> = effects
        .iter()
        .zip(&problem.terms)
        .filter(|(_, term)| !problem.has_block(term))
        .map(|(e, _)| e)
        .collect();
    let sizes: Vec<f64> = of_factors.iter().filter_map(|e| e.effect).collect();
    let margins = lenth(&sizes).ok()?;
    let active = of_factors.iter().filter(|e| e.effect.is_some_and(|v| v.abs() > margins.sme));
    Some(LenthSummary {
        pse: margins.pse,
        me: margins.me,
        sme: margins.sme,
        active: active.map(|e| e.term.clone()).collect(),
    })
}

/// Effects by size against the quantiles expected of pure noise.
pub(crate) fn half_normal(effects: &[Effect]) -> Vec<HalfNormal> {
    let mut sized: Vec<(&str, f64)> =
        effects.iter().filter_map(|e| Some((e.term.as_str(), e.effect?.abs()))).collect();
    sized.sort_by(|a, b| a.1.total_cmp(&b.1));
    let count = sized.len() as f64;
    sized
        .into_iter()
        .enumerate()
        .map(|(rank, (term, effect))| {
            let share = 0.5 + 0.5 * (rank as f64 + 0.5) / count;
            let quantile = Normal.quantile(share).expect("the share lies between 0 and 1");
            HalfNormal { term: term.to_owned(), effect, quantile }
        })
        .collect()
}
