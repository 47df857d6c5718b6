//! Which assumptions of the fit the data contradict.

use trainwright_stats::StudentT;

use super::{Evidence, Finding, warning};
use crate::wording::{brief, count, list, percent};

/// Observations named as outliers; more are counted.
const NAMED: usize = 5;

pub(super) fn findings(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (check, id) in [
        ("normality", "residuals-not-normal"),
        ("equal-variance", "unequal-variances"),
        ("independence", "dependent-residuals"),
        ("lack-of-fit", "lack-of-fit"),
    ] {
        found.extend(evidence.fails(check).map(|c| warning(id, c.verdict.clone())));
    }
    found.extend(log_scale(evidence));
    found.extend(outlier(evidence));
    found
}

fn log_scale(evidence: &Evidence<'_>) -> Option<Finding> {
    let (log, power) = (evidence.log_scale?, evidence.fitted.of_residuals.box_cox?);
    let end = |v: Option<f64>| v.map_or("beyond the range searched".to_owned(), brief);
    let text = format!(
        "the logarithm of {} is the better scale: the Box-Cox power is {} (95 % interval {} to \
         {}, where 1 means no change and 0 the logarithm); the same equation explains {} of the \
         variation of the logarithm, and {} as measured{}",
        evidence.problem.response,
        brief(power.lambda),
        end(power.low),
        end(power.high),
        percent(100.0 * log.r2),
        percent(100.0 * evidence.fitted.fit.r2),
        closer_to_normal(evidence)
    );
    Some(warning("log-scale", text))
}

/// What the logarithm does to the residuals, if it brings them closer to normal.
fn closer_to_normal(evidence: &Evidence<'_>) -> String {
    let after = evidence.log_scale.and_then(|l| l.shapiro_w);
    let before = evidence.fitted.of_residuals.shapiro.map(|s| s.w);
    match after.zip(before).filter(|(after, before)| after > before) {
        Some((after, before)) => format!(
            "; its residuals are closer to normal (Shapiro-Wilk W {} instead of {})",
            brief(after),
            brief(before)
        ),
        None => String::new(),
    }
}

/// Observations whose externally studentised residual exceeds the Bonferroni bound.
fn outlier(evidence: &Evidence<'_>) -> Option<Finding> {
    let (problem, fit) = (evidence.problem, &evidence.fitted.fit);
    let n = problem.y.len() as f64;
    let df = fit.df_residual.checked_sub(1).filter(|df| *df > 0)? as f64;
    fit.log_likelihood?;
    let bound = StudentT::new(df)
        .and_then(|t| t.quantile(1.0 - 0.5 * problem.check_level() / n))
        .expect("degrees of freedom are positive and alpha lies between 0 and 1");
    let mut beyond: Vec<(usize, f64)> = evidence
        .influence
        .external
        .iter()
        .enumerate()
        .filter_map(|(row, t)| t.filter(|t| t.abs() > bound).map(|t| (row, t)))
        .collect();
    if beyond.is_empty() {
        return None;
    }
    beyond.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let named: Vec<String> = beyond
        .iter()
        .take(NAMED)
        .map(|&(row, t)| {
            let y = brief(problem.y[row]);
            format!(
                "{} ({} {y}, {} deviations off)",
                problem.labels[row],
                problem.response,
                brief(t)
            )
        })
        .collect();
    let more = match beyond.len() - named.len() {
        0 => String::new(),
        left => format!(", and {left} more"),
    };
    let text = format!(
        "{} from the equation by more than the {} deviations that chance allows among {} \
         observations: {}{more}; look at what happened there before leaving anything out",
        if beyond.len() == 1 {
            "1 observation differs".to_owned()
        } else {
            format!("{} differ", count(beyond.len(), "observation"))
        },
        brief(bound),
        problem.y.len(),
        list(&named)
    );
    Some(warning("outlier", text))
}

#[cfg(test)]
mod tests {
    use crate::tests::{analysis, table};

    fn outlier(rows: &[[f64; 2]]) -> Option<String> {
        let rows: Vec<&[f64]> = rows.iter().map(<[f64; 2]>::as_slice).collect();
        let found = analysis(&table("x,y", &rows), "y ~ x", None);
        found.findings.into_iter().find(|own| own.id == "outlier").map(|own| own.text)
    }

    /// A line with a little noise.
    fn line() -> Vec<[f64; 2]> {
        (0..24).map(|at| [f64::from(at), f64::from(at) + f64::from(at * 7 % 5) / 10.0]).collect()
    }

    #[test]
    fn one_value_far_off_is_named_by_its_row() {
        assert_eq!(outlier(&line()), None);
        let mut rows = line();
        rows[10][1] = 40.0;
        let words = outlier(&rows).unwrap();
        assert!(
            words.starts_with("1 observation differs from the equation by more than"),
            "{words}"
        );
        assert!(words.contains(": row 11 (y 40, "), "{words}");
        assert!(!words.contains(" more; look"), "{words}");
    }
}
