//! Effects from low to high, with their shares, margins and half-normal quantiles.

use std::collections::BTreeSet;

use trainwright_stats::{Normal, holm, lenth};

use crate::fit::analysis::{Effect, HalfNormal, LenthSummary};
use crate::fit::assemble::predicted_change::{PredictedChange, predicted_change};
use crate::fit::families::Family;
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
                taken_for_none: vec![],
                turn: bent.and_then(|own| own.turn),
                part_of: None,
            }
        })
        .collect();
    for (term, effect) in found.iter_mut().enumerate() {
        let Some(family) = Family::of(problem, term).filter(|_| comparable) else { continue };
        let Some(row) = family.row(problem, fitted) else { continue };
        if family.head == term {
            (effect.p, effect.percent) = (row.p, row.percent);
        } else {
            effect.part_of = Some(problem.term_names[family.head].clone());
        }
    }
    let alone = |effect: &Effect| effect.p.filter(|_| effect.part_of.is_none());
    let tested: Vec<Option<f64>> = found.iter().map(alone).collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{fitted, problem, table, two_by_two};

    fn of(formula: &str) -> Vec<Effect> {
        let (problem, fitted) = fitted(&two_by_two(), formula);
        effects(&problem, &fitted)
    }

    #[test]
    fn effects_are_differences_of_means_with_the_interval_of_students_t() {
        let found = of("y ~ a * b");
        // Means of the cells: 10, 16, 12 and 22; an interaction is half the difference of effects.
        let sizes: Vec<f64> = found.iter().map(|own| own.effect.unwrap()).collect();
        for (own, expected) in sizes.iter().zip([8.0, 4.0, 2.0]) {
            assert!((own - expected).abs() < 1e-9, "{sizes:?}");
        }
        // Repeats 1 apart: variance 0.5 over 4 degrees of freedom, so an effect of 8 runs has the
        // standard error 2 sqrt(0.5 / 8) = 0.5, and t(0.975; 4) = 2.776445105.
        for (own, effect) in found.iter().zip(&sizes) {
            assert!((own.ci_high.unwrap() - effect - 0.5 * 2.776_445_105).abs() < 1e-8);
            assert!((effect - own.ci_low.unwrap() - 0.5 * 2.776_445_105).abs() < 1e-8);
        }
        // Shares: 8 (effect / 2)^2 of 8 (16 + 4 + 1) + 4 * 0.5.
        let share = found[0].percent.unwrap();
        assert!((share - 100.0 * 128.0 / 170.0).abs() < 1e-9, "{share}");
    }

    #[test]
    fn p_values_are_adjusted_by_holms_method() {
        let found = of("y ~ a * b");
        let p: Vec<f64> = found.iter().map(|own| own.p.unwrap()).collect();
        let adjusted: Vec<f64> = found.iter().map(|own| own.p_adjusted.unwrap()).collect();
        assert!(p[0] < p[1] && p[1] < p[2]);
        for (own, expected) in adjusted.iter().zip([3.0 * p[0], 2.0 * p[1], p[2]]) {
            assert!((own - expected).abs() < 1e-15, "{adjusted:?} of {p:?}");
        }
    }

    #[test]
    fn an_equation_in_raw_units_without_a_margin_has_no_coded_effects() {
        let mut own = problem(&two_by_two(), "y ~ a + a:b");
        own.coding = Coding::Raw;
        let fitted = Fitted::new(&own).unwrap();
        let found = effects(&own, &fitted);
        assert!(found.iter().all(|own| own.effect.is_none() && own.p.is_none()), "{found:?}");
        assert!(of("y ~ a + a:b").iter().all(|own| own.effect.is_some()), "coded units are clear");
    }

    #[test]
    fn a_variable_beside_its_square_has_no_effect_of_a_single_column() {
        let own = problem(
            &table("x,y", &[&[0.0, 1.0], &[1.0, 3.0], &[2.0, 2.0], &[3.0, 9.0], &[4.0, 8.0]]),
            "y ~ x + I(x^2)",
        );
        assert!(!stands_alone(&own, 0) && !stands_alone(&own, 1));
        let pair = problem(&two_by_two(), "y ~ a * b");
        assert!((0..3).all(|term| stands_alone(&pair, term)));
    }

    #[test]
    fn a_square_is_judged_with_its_variable() {
        let rows: Vec<[f64; 2]> = (0..12)
            .map(|at| {
                let x = f64::from(at % 3) - 1.0;
                [x, 10.0 - 2.0 * x * x + 0.1 * f64::from(at / 3 % 2)]
            })
            .collect();
        let rows: Vec<&[f64]> = rows.iter().map(<[f64; 2]>::as_slice).collect();
        let (own, fit) = fitted(&table("x,y", &rows), "y ~ x + I(x^2)");
        let found = effects(&own, &fit);
        assert!(found[0].p.unwrap() < 1e-6 && found[0].percent.unwrap() > 99.0, "{:?}", found[0]);
        assert_eq!(found[0].p_adjusted, found[0].p, "there is one effect, not two");
        assert_eq!(found[0].turn.as_ref().unwrap().level.number(), Some(0.0));
        assert_eq!(found[1].part_of.as_deref(), Some("x"));
        assert!(found[1].p_adjusted.is_none());
    }

    #[test]
    fn margins_of_lenth_need_runs_without_repeats() {
        let found = of("y ~ a * b");
        assert!(lenth_margins(&problem(&two_by_two(), "y ~ a * b"), &found).is_none());
        // Eight runs of 2^3 with one large effect of 20 and six of size 1: the pseudo standard
        // error is 1.5 times their median, 1.5 (Lenth, Technometrics 31, 1989).
        let mut rows = Vec::new();
        for run in 0..8 {
            let sign = |bit: usize| if run >> bit & 1 == 1 { 1.0 } else { -1.0 };
            let (a, b, c) = (sign(0), sign(1), sign(2));
            let small = 0.5 * (b + c + a * b + a * c + b * c + a * b * c);
            rows.push([a, b, c, 10.0 * a + small]);
        }
        let rows: Vec<&[f64]> = rows.iter().map(<[f64; 4]>::as_slice).collect();
        let (own, fit) = fitted(&table("a,b,c,y", &rows), "y ~ a * b * c");
        let margins = lenth_margins(&own, &effects(&own, &fit)).unwrap();
        assert!((margins.pse - 1.5).abs() < 1e-9, "{margins:?}");
        assert_eq!(margins.active, ["a"]);
    }

    #[test]
    fn half_normal_quantiles_rise_with_the_size_whatever_the_sign() {
        let sized = |term: &str, effect: Option<f64>| Effect {
            term: term.to_owned(),
            effect,
            ci_low: None,
            ci_high: None,
            p: None,
            p_adjusted: None,
            percent: None,
            candidates: vec![],
            taken_for_none: vec![],
            turn: None,
            part_of: None,
        };
        let found = half_normal(&[sized("a", Some(-3.0)), sized("b", None), sized("c", Some(1.0))]);
        let terms: Vec<&str> = found.iter().map(|own| own.term.as_str()).collect();
        assert_eq!(terms, ["c", "a"]);
        assert_eq!(found[1].effect, 3.0);
        // Normal quantiles of 0.625 and 0.875.
        assert!((found[0].quantile - 0.318_639_363_964).abs() < 1e-9);
        assert!((found[1].quantile - 1.150_349_380_376).abs() < 1e-9);
        assert!(half_normal(&[]).is_empty());
    }
}
