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
    let in_words =
        |own: &Parameter| format!("{} {} ({})", own.name, with_range(own, brief), own.meaning);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(name: &'static str, estimate: f64, ends: Option<(f64, f64)>) -> Parameter {
        Parameter {
            name,
            meaning: "part",
            estimate,
            ci_low: ends.map(|own| own.0),
            ci_high: ends.map(|own| own.1),
            at_bound: estimate == 0.0,
        }
    }

    fn fit(law: Law, parameters: Vec<Parameter>) -> LawFit {
        LawFit {
            law,
            equation: "",
            separable: true,
            not_fitted: None,
            doubt: None,
            parameters,
            r2: None,
            sigma: None,
            df_residual: 0,
            aicc: None,
            lack_of_fit_p: None,
            worst_miss: None,
            predictions: vec![],
            text: String::new(),
        }
    }

    #[test]
    fn amdahls_serial_part_is_told_with_the_ceiling_that_follows() {
        let told =
            |serial: f64| in_words(&fit(Law::Amdahl, vec![parameter("f", serial, None)]), None);
        assert_eq!(
            told(0.125),
            "Amdahl: 12.5 % of the work is serial, so no number of workers makes it more than 8 times \
             faster"
        );
        assert_eq!(told(0.0), "Amdahl: 0.0 % of the work is serial, so no limit is in sight");
        assert!(told(0.995).ends_with("so more workers do not make it faster"));
        let sure = LawFit {
            r2: Some(0.987),
            ..fit(Law::Amdahl, vec![parameter("f", 0.1, Some((0.05, 0.15)))])
        };
        assert_eq!(
            in_words(&sure, None),
            "Amdahl: 10.0 % (5.0 % to 15.0 %) of the work is serial, so no number of workers makes it \
             more than 10 times faster (98.7 % of the variation)"
        );
    }

    #[test]
    fn gunthers_cost_says_where_the_time_is_shortest() {
        let told = |serial: f64, cost: f64| {
            in_words(
                &fit(Law::Gunther, vec![parameter("s", serial, None), parameter("k", cost, None)]),
                None,
            )
        };
        // The minimum of (1 - s) / n + s + k (n - 1) lies at sqrt((1 - s) / k) = sqrt(0.9 / 0.001).
        assert_eq!(
            told(0.1, 0.001),
            "Gunther: 10.0 % of the work is serial and each further worker costs 0.1 % of the time of \
             one, so the time is shortest at about 30 workers"
        );
        assert!(told(0.1, 0.0).ends_with("so more workers never make it slower"));
    }

    #[test]
    fn gustafsons_gain_is_what_is_not_serial() {
        assert_eq!(
            in_words(&fit(Law::Gustafson, vec![parameter("a", 0.25, None)]), None),
            "Gustafson: 25.0 % of the time is serial; each further worker adds 0.75 of a worker's speed"
        );
    }

    #[test]
    fn ernests_terms_at_zero_are_named_apart() {
        let parameters = vec![
            parameter("t0", 1.5, Some((1.0, 2.0))),
            parameter("t1", 8.0, None),
            parameter("t2", 0.0, None),
            parameter("t3", 0.0, None),
        ];
        assert_eq!(
            in_words(&fit(Law::Ernest, parameters), None),
            "Ernest: t0 1.5 (1 to 2) (part), t1 8 (part); nothing is left for t2, t3"
        );
    }

    #[test]
    fn a_law_that_was_not_fitted_or_is_doubted_promises_nothing() {
        let own = fit(Law::Amdahl, vec![parameter("f", 0.1, None)]);
        assert_eq!(
            in_words(&own, Some("times rise")),
            "Amdahl: does not describe these times, since times rise"
        );
        let none =
            LawFit { not_fitted: Some("sizes differ".to_owned()), ..fit(Law::Amdahl, vec![]) };
        assert_eq!(in_words(&none, Some("times rise")), "Amdahl: not fitted, since sizes differ");
    }
}
