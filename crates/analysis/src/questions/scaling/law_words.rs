//! Laws in sentences.

use super::fit_quality::turning_point;
use super::laws::{Law, LawFit, Parameter};
use crate::wording::{brief, percent};

/// What a fit means; with a reason to doubt it no limit is promised.
pub(super) fn in_words(fit: &LawFit, doubt: Option<&str>) -> String {
    let (law, parameters) = (fit.law, &fit.parameters);
    if let Some(reason) = &fit.not_fitted {
        return format!("{}: not fitted, since {reason}", law.name());
    }
    if let Some(doubt) = doubt {
        return format!("{}: does not describe these times, since {doubt}", law.name());
    }
    let explained = fit.r2.map(|r2| format!(" ({} of the variation)", percent(100.0 * r2)));
    let explained = explained.unwrap_or_default();
    let range = |p: &Parameter, form: fn(f64) -> String| match p.ci_low.zip(p.ci_high) {
        Some((low, high)) => format!(" ({} to {})", form(low), form(high)),
        None => String::new(),
    };
    let share = |value: f64| percent(100.0 * value);
    let first = &parameters[0];
    match law {
        Law::Amdahl => {
            let ceiling = if first.estimate > 0.99 {
                "more workers do not make it faster".to_owned()
            } else if first.estimate > 0.0 {
                format!(
                    "no number of workers makes it more than {} times faster",
                    brief(1.0 / first.estimate)
                )
            } else {
                "no limit is in sight".to_owned()
            };
            let serial = format!("{}{}", share(first.estimate), range(first, share));
            format!("Amdahl: {serial} of the work is serial, so {ceiling}{explained}")
        }
        Law::Gunther => {
            let serial = format!("{}{}", share(first.estimate), range(first, share));
            let cost = &parameters[1];
            let turn = match turning_point(fit) {
                Some(workers) => {
                    format!("the time is shortest at about {} workers", brief(workers))
                }
                None => "more workers never make it slower".to_owned(),
            };
            let step = format!("{}{}", share(cost.estimate), range(cost, share));
            format!(
                "Gunther: {serial} of the work is serial and each further worker costs {step} of the \
                 time of one, so {turn}{explained}"
            )
        }
        Law::Gustafson => {
            let serial = format!("{}{}", share(first.estimate), range(first, share));
            let gain = brief(1.0 - first.estimate);
            format!(
                "Gustafson: {serial} of the time is serial; each further worker adds {gain} of a \
                 worker's speed{explained}"
            )
        }
        Law::Ernest => {
            let parts: Vec<String> = parameters
                .iter()
                .filter(|p| !p.at_bound)
                .map(|p| {
                    format!("{} {}{} ({})", p.name, brief(p.estimate), range(p, brief), p.meaning)
                })
                .collect();
            let zero: Vec<&str> =
                parameters.iter().filter(|p| p.at_bound).map(|p| p.name).collect();
            let none = if zero.is_empty() {
                String::new()
            } else {
                format!("; nothing is left for {}", zero.join(", "))
            };
            format!("Ernest: {}{none}{explained}", parts.join(", "))
        }
    }
}
