//! Puts the parts of an analysis together.

use crate::analysis::{Analysis, BoxCoxSummary, LackOfFitSummary, LogScale};
use crate::effects::{effects, half_normal, lenth_margins};
use crate::error::AnalysisError;
use crate::findings::{self, Evidence};
use crate::fitted::Fitted;
use crate::level_differences::level_differences;
use crate::means::{best, interactions, main_effects};
use crate::problem::Problem;
use crate::residuals::residuals;
use crate::verdict::checks;

/// Fits a problem and draws the findings that need no study.
pub(crate) fn analyze(problem: &Problem) -> Result<Analysis, AnalysisError> {
    if !(problem.alpha > 0.0 && problem.alpha < 1.0) {
        return Err(AnalysisError::Alpha { alpha: problem.alpha });
    }
    let fitted = Fitted::new(problem)?;
    let influence = fitted.fit.influence();
    let effects = effects(problem, &fitted);
    let checks = checks(problem, &fitted);
    let lenth = lenth_margins(problem, &effects);
    let log_scale = log_scale(problem, &fitted)?;
    let best = best(problem, &fitted);
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
    Ok(Analysis {
        response: problem.response.clone(),
        formula: problem.formula.clone(),
        coding: problem.coding,
        alpha: problem.alpha,
        n: problem.y.len(),
        fit: fitted.summary(problem.alpha),
        anova: fitted.tables(problem),
        checks,
        box_cox: fitted.of_residuals.box_cox.map(|b| BoxCoxSummary {
            lambda: b.lambda,
            low: b.low,
            high: b.high,
            profile: fitted.of_residuals.power_profile.clone(),
        }),
        findings,
        half_normal: half_normal(&effects),
        effects,
        lack_of_fit: fitted.of_residuals.lack_of_fit.map(|l| LackOfFitSummary {
            sum_sq: l.ss,
            df: l.df,
            pure_error_sum_sq: l.pure_error_ss,
            pure_error_df: l.pure_error_df,
            f: l.f,
            p: l.p,
        }),
        lenth,
        residuals: residuals(problem, &fitted, &influence),
        level_differences: level_differences(problem, &fitted, &main_effects),
        main_effects,
        interactions: interactions(problem),
        best,
        log_scale,
        comparisons: vec![],
        surface: None,
    })
}

/// The fit for the logarithm, where the Box-Cox interval leaves out 1 and comes nearer to 0.
fn log_scale(problem: &Problem, fitted: &Fitted) -> Result<Option<LogScale>, AnalysisError> {
    let Some(power) = fitted.of_residuals.box_cox.filter(|_| !problem.logarithmic) else {
        return Ok(None);
    };
    let below_one = power.high.is_some_and(|high| high < 1.0);
    let near_zero = power.low.is_none_or(|low| low < 0.5) && power.high.is_none_or(|h| h > -0.5);
    if !below_one || !near_zero {
        return Ok(None);
    }
    let logs = problem.on_log_scale();
    let refitted = Fitted::new(&logs)?;
    Ok(Some(LogScale {
        r2: refitted.fit.r2,
        adj_r2: refitted.fit.adj_r2,
        effects: effects(&logs, &refitted),
        shapiro_w: refitted.of_residuals.shapiro.map(|s| s.w),
        shapiro_p: refitted.of_residuals.shapiro.map(|s| s.p),
    }))
}
