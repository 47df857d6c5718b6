//! Laws in sentences.

use super::fit_quality::turning_point;
use super::laws::{Law, LawFit, Parameter};
use crate::wording::{brief, percent};

/// What a fit means; with a reason to doubt it no limit is promised.
pub(super) fn in_words(fit: &LawFit, doubt: Option<&str>) -> String {
    let name = fit.law.name();
    if let Some(reason) = &fit.not_fitted {
        return format!("{name}: not fitted, since {reason}");
    }
    if let Some(doubt) = doubt {
        return format!("{name}: does not describe these times, since {doubt}");
    }
    let meaning = match fit.law {
        Law::Amdahl => amdahl(&fit.parameters[0]),
        Law::Gunther => gunther(fit),
        Law::Gustafson => gustafson(&fit.parameters[0]),
        Law::Ernest => ernest(&fit.parameters),
    };
    let explained = fit.r2.map(|r2| format!(" ({} of the variation)", share(r2)));
    format!("{name}: {meaning}{}", explained.unwrap_or_default())
}

fn amdahl(serial: &Parameter) -> String {
    let ceiling = if serial.estimate > 0.99 {
        "more workers do not make it faster".to_owned()
    } else if serial.estimate > 0.0 {
        let most = brief(1.0 / serial.estimate);
        format!("no number of workers makes it more than {most} times faster")
    } else {
        "no limit is in sight".to_owned()
    };
    format!("{} of the work is serial, so {ceiling}", with_range(serial, share))
}

fn gunther(fit: &LawFit) -> String {
    let turn = match turning_point(fit) {
        Some(workers) => format!("the time is shortest at about {} workers", brief(workers)),
        None => "more workers never make it slower".to_owned(),
    };
    format!(
        "{} of the work is serial and each further worker costs {} of the time of one, so {turn}",
        with_range(&fit.parameters[0], share),
        with_range(&fit.parameters[1], share)
    )
}

fn gustafson(serial: &Parameter) -> String {
    format!(
        "{} of the time is serial; each further worker adds {} of a worker's speed",
        with_range(serial, share),
        brief(1.0 - serial.estimate)
    )
}

fn ernest(parameters: &[Parameter]) -> String {
    let in_words = |own: &Parameter| {
        format!("{} {} ({})", own.name, with_range(own, brief), own.meaning)
    };
    let parts: Vec<String> = parameters.iter().filter(|p| !p.at_bound).map(in_words).collect();
    let zero: Vec<&str> = parameters.iter().filter(|p| p.at_bound).map(|p| p.name).collect();
    let none = match zero.as_slice() {
        [] => String::new(),
        names => format!("; nothing is left for {}", names.join(", ")),
    };
    format!("{}{none}", parts.join(", "))
}

/// A part of the whole in percent.
fn share(value: f64) -> String {
    percent(100.0 * value)
}

/// The estimate with its interval, where there is one.
fn with_range(own: &Parameter, form: fn(f64) -> String) -> String {
    match own.ci_low.zip(own.ci_high) {
        Some((low, high)) => format!("{} ({} to {})", form(own.estimate), form(low), form(high)),
        None => form(own.estimate),
    }
}
