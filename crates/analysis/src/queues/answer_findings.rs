//! What answers about queues mean, in words.

use trainwright_queueing::{
    ExponentialCheck, PriorityAnswer, QueueAnswer, QueueKind, ServiceFit, SteadyState,
};

use crate::findings::{Finding, Severity};
use crate::wording::figure;

/// Utilisation from which small changes have large effects.
const BUSY: f64 = 0.9;

/// Largest p-value called evidence against exponential times.
pub(crate) const ALPHA: f64 = 0.05;

/// Findings about the answer of a queue.
pub fn findings_of_queue(answer: &QueueAnswer) -> Vec<Finding> {
    let mut findings = Vec::new();
    // A queue that turns jobs away keeps its waits short, however busy it is.
    let turns_away = matches!(answer.kind, QueueKind::Mmck { .. });
    if !turns_away && answer.steady_state.utilisation >= BUSY {
        findings.push(nearly_full(&answer.steady_state, &effect_of_change(answer)));
    }
    if let QueueKind::Ggc { scv_arrival, .. } = answer.kind
        && (scv_arrival != 1.0 || answer.servers > 1)
    {
        findings.push(Finding::new(
            "queue-approximation",
            Severity::Info,
            "means of G/G/c are an approximation (Allen and Cunneen), poorest at low load \
                   and with very uneven arrivals; `queue simulate ggc` shows how near it is here"
                .to_owned(),
        ));
    }
    findings
}

/// Findings about the answer of a queue with classes.
pub fn findings_of_classes(answer: &PriorityAnswer) -> Vec<Finding> {
    let state = &answer.steady_state;
    if state.utilisation < BUSY { Vec::new() } else { vec![nearly_full(state, &no_room(state))] }
}

/// What a small change does to a busy queue.
fn effect_of_change(answer: &QueueAnswer) -> String {
    let state = &answer.steady_state;
    let response = |rate: f64, servers: u32| {
        let queue = answer.kind.queue(rate, answer.service_rate, servers).ok()?;
        Some(queue.steady_state().mean_response / state.mean_response)
    };
    if matches!(answer.kind, QueueKind::Finite { .. }) {
        // Customers that wait do not come again, so that the queue cannot grow for ever.
        return match response(answer.arrival_rate, answer.servers + 1) {
            Some(ratio) => format!(
                "customers mostly wait, and one more server makes the mean response {} times as long",
                figure(ratio)
            ),
            None => "customers mostly wait".to_owned(),
        };
    }
    match response(1.05 * answer.arrival_rate, answer.servers) {
        Some(ratio) => {
            format!("5 % more arrivals make the mean response {} times as long", figure(ratio))
        }
        None => no_room(state),
    }
}

fn no_room(state: &SteadyState) -> String {
    let spare = 1.0 / state.utilisation - 1.0;
    format!("{} % more arrivals make the queue grow for ever", figure(100.0 * spare))
}

fn nearly_full(state: &SteadyState, effect: &str) -> Finding {
    let busy = percent(state.utilisation);
    // Rounding must not make servers busy that have some time left.
    let busy = if busy == "100" { "over 99.99".to_owned() } else { busy };
    Finding::new(
        "queue-nearly-full",
        Severity::Warning,
        format!("the servers are busy {busy} % of the time: {effect}"),
    )
}

/// Work that arrives faster than it can be done.
pub(crate) fn unstable(utilisation: f64, servers: u32) -> Finding {
    let needed = utilisation * f64::from(servers);
    // A whole number of servers would be busy all the time, which is not enough.
    let needed = needed.floor() + 1.0;
    Finding::new(
        "queue-unstable",
        Severity::Serious,
        format!(
            "jobs bring {} % of the work that {} can do: the queue grows for as long as they \
             keep coming, and there is no mean response; it takes at least {} or fewer arrivals",
            percent(utilisation),
            servers_in_words(f64::from(servers)),
            servers_in_words(needed),
        ),
    )
}

/// Service times that are not exponential, where M/M queues assume they are.
///
/// The test of Anderson and Darling alone decides, so that exponential times are called otherwise at
/// its level; the interval of the variation is there to say how far off they are.
pub(crate) fn not_exponential(fit: &ServiceFit, check: &ExponentialCheck) -> Option<Finding> {
    let scv = fit.scv;
    if check.p >= ALPHA {
        return None;
    }
    let effect = 0.5 * (1.0 + scv.estimate);
    let compared = if effect < 1.0 { "longer" } else { "shorter" };
    let factor = if effect < 1.0 { 1.0 / effect } else { effect };
    let how = if factor.is_finite() && (factor - 1.0).abs() >= 0.005 {
        format!("it makes waits about {} times {compared} than they are", figure(factor))
    } else {
        "its quantiles are wrong even where its means are not".to_owned()
    };
    let interval = scv.low.zip(scv.high).map_or_else(String::new, |(low, high)| {
        format!(" (95 % interval {} to {})", figure(low), figure(high))
    });
    Some(Finding::new(
        "queue-not-exponential",
        Severity::Serious,
        format!(
            "M/M is the wrong model: service times vary with an scv of {}{interval} where \
             exponential ones have 1 (Anderson-Darling p {}); {how}",
            figure(scv.estimate),
            p_words(check.p),
        ),
    ))
}

fn p_words(p: f64) -> String {
    if p <= 0.000_5 { "at most 0.0005".to_owned() } else { format!("= {}", figure(p)) }
}

fn percent(fraction: f64) -> String {
    figure((1e4 * fraction).round() / 100.0)
}

fn servers_in_words(number: f64) -> String {
    if number == 1.0 { "1 server".to_owned() } else { format!("{} servers", figure(number)) }
}

#[cfg(test)]
mod tests {
    use trainwright_queueing::{QueueDraft, QueueName, exponential_check, fit_service};

    use super::*;

    fn draft(arrival_rate: f64) -> QueueDraft {
        QueueDraft {
            name: QueueName::Mm1,
            arrival_rate: Some(arrival_rate),
            service_rate: Some(1.0),
            servers: None,
            capacity: None,
            population: None,
            scv_arrival: None,
            scv_service: None,
            target: None,
        }
    }

    #[test]
    fn a_nearly_full_queue_is_told_and_a_quiet_one_is_not() {
        assert!(findings_of_queue(&draft(0.8).answer().unwrap()).is_empty());
        let busy = findings_of_queue(&draft(0.9).answer().unwrap());
        let text = &busy[0].text;
        // M/M/1: 1 / (1 - 0.945) over 1 / (1 - 0.9).
        assert!(text.contains("busy 90 %") && text.contains("1.818 times"), "{text}");
        let brim = findings_of_queue(&draft(0.99).answer().unwrap());
        assert!(brim[0].text.contains("1.010 % more arrivals"), "{}", brim[0].text);
    }

    #[test]
    fn customers_that_keep_a_server_busy_are_told() {
        let finite = |population: u32| QueueDraft {
            name: QueueName::Finite,
            population: Some(population),
            servers: Some(1),
            ..draft(1.0)
        };
        let found = findings_of_queue(&finite(30).answer().unwrap());
        let text = &found[0].text;
        assert!(text.contains("busy over 99.99 % of the time: customers mostly wait"), "{text}");
        // Servers that are always busy give a response of 30 / servers - 1: 14 against 29.
        assert!(text.contains("one more server makes the mean response 0.4828 times"), "{text}");
        assert!(findings_of_queue(&finite(2).answer().unwrap()).is_empty());
    }

    #[test]
    fn times_that_are_not_exponential_are_told() {
        let fit = |times: &[f64]| {
            not_exponential(&fit_service(times, 1).unwrap(), &exponential_check(times, 1).unwrap())
        };
        let even: Vec<f64> = (0..40).map(|i| 10.0 + f64::from(i % 3)).collect();
        let text = fit(&even).unwrap().text;
        assert!(text.starts_with("M/M is the wrong model") && text.contains("longer"), "{text}");
        // Quantiles of the exponential distribution.
        let plain: Vec<f64> = (0..60).map(|i| -(1.0 - (f64::from(i) + 0.5) / 60.0).ln()).collect();
        assert_eq!(fit(&plain), None);
    }

    #[test]
    fn an_unstable_queue_names_the_servers_it_needs() {
        let text = unstable(1.5, 2).text;
        assert!(text.contains("150 %") && text.contains("at least 4 servers"), "{text}");
    }
}
