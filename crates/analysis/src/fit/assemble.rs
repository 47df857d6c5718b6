//! Puts the parts of an analysis together.

mod effects;
mod level_differences;
pub(crate) mod means;
mod predicted_change;
mod residuals;

use trainwright_stats::Influence;

use crate::error::AnalysisError;
use crate::findings::{self, Evidence};
use crate::fit::analysis::{Analysis, Check, LackOfFitSummary, LogScale};
use crate::fit::assemble::effects::{effects, half_normal, lenth_margins};
use crate::fit::assemble::level_differences::level_differences;
use crate::fit::assemble::means::{interactions, main_effects};
use crate::fit::assemble::residuals::residuals;
use crate::fit::best::aliases::name_candidates;
use crate::fit::best::best;
use crate::fit::checks::checks;
use crate::fit::fitted::Fitted;
use crate::fit::quick_enough::quick_enough;
use crate::fit::split_plot::{strata_of, told};
use crate::model::problem::Problem;

/// Fits a problem and draws the findings that need no study.
pub(crate) fn analyze(problem: &Problem) -> Result<Analysis, AnalysisError> {
    check_alpha(problem.alpha)?;
    quick_enough(problem)?;
    let strata = strata_of(problem)?;
    let fitted = Fitted::new(problem)?.tested_in(strata);
    let influence = fitted.fit.influence();
    let mut effects = effects(problem, &fitted);
    let checks = checks(problem, &fitted);
    let lenth = lenth_margins(problem, &effects);
    name_candidates(problem, &fitted, lenth.as_ref(), &mut effects);
    let log_scale = log_scale(problem, &fitted)?;
    let best = best(problem, &fitted, &checks);
    let main_effects = main_effects(problem, &fitted);
    let findings = findings::of_fit(&Evidence {
        problem,
        fitted: &fitted,
        effects: &effects,
        checks: &checks,
        influence: &influence,
        lenth: lenth.as_ref(),
        log_scale: log_scale.as_ref(),
        best: best.as_ref(),
    });
    let (strata, of_strata) = told(problem, fitted.strata.as_ref());
    let findings = findings.into_iter().chain(of_strata).collect();
    Ok(Analysis {
        response: problem.response.clone(),
        formula: problem.formula.clone(),
        coding: problem.coding,
        alpha: problem.alpha,
        n: problem.y.len(),
        fit: fitted.summary(problem.alpha),
        anova: fitted.tables(problem),
        strata,
        level_differences: level_differences(problem, &fitted, &checks, &main_effects),
        checks,
        box_cox: fitted.of_residuals.power(),
        findings,
        half_normal: half_normal(&effects),
        effects,
        missing_terms: fitted.of_residuals.missing_terms.clone(),
        lack_of_fit: fitted.of_residuals.lack_of_fit.map(|l| LackOfFitSummary {
            sum_sq: l.ss,
            df: l.df,
            pure_error_sum_sq: l.pure_error_ss,
            pure_error_df: l.pure_error_df,
            f: l.f,
            p: l.p,
            missing_terms: fitted.of_residuals.missing_terms.clone(),
        }),
        lenth,
        residuals: residuals(problem, &fitted, &influence),
        main_effects,
        interactions: interactions(problem),
        best,
        log_scale,
        comparisons: vec![],
        surface: None,
        bottlenecks: vec![],
    })
}

/// Refuses a significance level that is none.
pub(crate) fn check_alpha(alpha: f64) -> Result<(), AnalysisError> {
    if alpha > 0.0 && alpha < 1.0 { Ok(()) } else { Err(AnalysisError::Alpha { alpha }) }
}

/// The analysis of a table too long for figures of single rows: `problem` is a sample of it,
/// `fitted` the fit of all `n` rows.
pub(crate) fn assemble_large(
    problem: &Problem,
    fitted: &Fitted,
    checks: Vec<Check>,
    n: usize,
) -> Analysis {
    let effects = effects(problem, fitted);
    let findings = findings::of_large_fit(
        &Evidence {
            problem,
            fitted,
            effects: &effects,
            checks: &checks,
            influence: &Influence::default(),
            lenth: None,
            log_scale: None,
            best: None,
        },
        n,
    );
    Analysis {
        response: problem.response.clone(),
        formula: problem.formula.clone(),
        coding: problem.coding,
        alpha: problem.alpha,
        n,
        fit: fitted.summary(problem.alpha),
        anova: fitted.tables(problem),
        strata: vec![],
        checks,
        box_cox: fitted.of_residuals.power(),
        findings,
        half_normal: half_normal(&effects),
        effects,
        missing_terms: vec![],
        lack_of_fit: None,
        lenth: None,
        residuals: vec![],
        main_effects: vec![],
        interactions: vec![],
        level_differences: vec![],
        best: None,
        log_scale: None,
        comparisons: vec![],
        surface: None,
        bottlenecks: vec![],
    }
}

/// The fit for the logarithm, where the power 1 is refuted and the Box-Cox interval comes near 0.
fn log_scale(problem: &Problem, fitted: &Fitted) -> Result<Option<LogScale>, AnalysisError> {
    let Some(power) = fitted.of_residuals.box_cox.filter(|_| !problem.logarithmic) else {
        return Ok(None);
    };
    let below_one = power.lambda < 1.0 && power.p_unchanged < problem.check_level();
    let near_zero = power.low.is_none_or(|low| low < 0.5) && power.high.is_none_or(|h| h > -0.5);
    if !below_one || !near_zero {
        return Ok(None);
    }
    let logs = problem.on_log_scale();
    let refitted = Fitted::new(&logs)?.tested_in(strata_of(&logs)?);
    Ok(Some(LogScale {
        r2: refitted.fit.r2,
        adj_r2: refitted.fit.adj_r2,
        effects: effects(&logs, &refitted),
        shapiro_w: refitted.of_residuals.shapiro.map(|s| s.w),
        shapiro_p: refitted.of_residuals.shapiro.map(|s| s.p),
    }))
}
