//! A queue in words.

use trainwright::Error;
use trainwright_analysis::Finding;
use trainwright_queueing::{
    Chosen, QueueAnswer, QueueKind, QueueingError, TargetAnswer, TimeQuantiles,
};
use trainwright_report::figure;

use crate::quantities::Unit;

pub(super) fn queue_text(answer: &QueueAnswer, unit: Unit) -> String {
    let state = &answer.steady_state;
    let by = match answer.servers {
        1 => "1 server".to_owned(),
        many => format!("each of {many} servers"),
    };
    let who = match answer.kind {
        QueueKind::Finite { .. } => "each customer comes",
        _ => "jobs arrive",
    };
    let (arrival, service) = (at(answer.arrival_rate, unit), at(answer.service_rate, unit));
    let mut lines = vec![
        format!("{}: {who} {arrival}; {by} works {service}.", answer.queue),
        format!("busy      {}{}", percent(state.utilisation), empty(state.p0)),
    ];
    if state.p_block > 0.0 {
        let (blocked, accepted) = (percent(state.p_block), at(state.throughput, unit));
        lines.push(format!(
            "refused   {blocked} of the jobs; what follows is about the others, which come \
             {accepted}"
        ));
    }
    let (jobs, queue) = (figure(state.mean_jobs), figure(state.mean_queue));
    lines.push(format!("jobs      {jobs} on average, {queue} of them waiting"));
    let waiting = state.p_wait.map(|p_wait| format!("; {} of the jobs wait", percent(p_wait)));
    let times =
        |mean: f64, quantiles| format!("{} on average{}", unit.time(mean), within(quantiles, unit));
    let wait = times(state.mean_wait, &answer.quantiles.wait);
    lines.push(format!("wait      {wait}{}", waiting.unwrap_or_default()));
    let response = times(state.mean_response, &answer.quantiles.response);
    lines.push(format!("response  {response}"));
    lines.extend(answer.target.as_ref().map(|target| target_text(answer, target, unit)));
    if unit == Unit::None {
        lines.push("Times are in the unit that the rates are per.".to_owned());
    }
    if answer.quantiles.response.p50.is_none() {
        lines.push("Quantiles depend on more than rates and variations: not given.".to_owned());
    }
    lines.join("\n") + "\n"
}

/// Findings as the verdict of a study shows them; nothing where there are none.
pub(crate) fn findings_text(findings: &[Finding]) -> String {
    let lines: String = findings
        .iter()
        .map(|finding| format!("  {:<8} {}\n", finding.severity.word(), finding.text))
        .collect();
    if lines.is_empty() { lines } else { format!("Findings\n{lines}") }
}

/// An error in the units of the question.
pub(super) fn in_unit(error: Error, unit: Unit) -> Error {
    let Error::Queue(inner) = &error else { return error };
    if unit == Unit::None {
        return error;
    }
    let (time, rate) = (|value| unit.time(value), |value| unit.rate_words(value));
    match inner {
        QueueingError::Unreachable { what, limit, floor } => Error::Request(format!(
            "a {what} of {} cannot be reached at any load: without any waiting it is already {}",
            time(*limit),
            time(*floor)
        )),
        QueueingError::TooManyServers { what, limit, most } => Error::Request(format!(
            "no number of servers up to {most} brings the {what} to {}",
            time(*limit)
        )),
        QueueingError::Unstable { arrival_rate, servers: given, limit, needed, .. } => {
            let more = needed.map_or_else(String::new, |needed| {
                format!(", or with at least {}", servers(needed))
            });
            Error::Request(format!(
                "the queue would grow for ever: jobs arrive at {}, {} can serve {}; it is stable with \
                 fewer arrivals{more}",
                rate(*arrival_rate),
                servers(*given),
                rate(*limit),
            ))
        }
        _ => error,
    }
}

/// `at rate 3` or `40 an hour`.
fn at(rate: f64, unit: Unit) -> String {
    match unit {
        // Rates that were given are shown as they were given.
        Unit::None => format!("at rate {rate}"),
        Unit::Seconds => format!("at {}", unit.rate_words(rate)),
    }
}

fn empty(p0: Option<f64>) -> String {
    let words = |p0| format!("; the system is empty {} of the time", percent(p0));
    p0.map(words).unwrap_or_default()
}

fn target_text(answer: &QueueAnswer, target: &TargetAnswer, unit: Unit) -> String {
    let kept = if target.met { "kept" } else { "missed" };
    let limit = match unit {
        Unit::None => target.limit.to_string(),
        Unit::Seconds => unit.time(target.limit),
    };
    let rate = match target.largest_rate {
        Some(rate) => format!("arrivals up to {}", unit.rate_words(rate)),
        None => "all arrivals that can be served".to_owned(),
    };
    let service = match target.smallest_service_rate {
        Some(rate) => {
            format!("a mean service of up to {} at these arrivals", unit.time(1.0 / rate))
        }
        None => "any service that keeps up".to_owned(),
    };
    let chosen = match target.chosen {
        None => "",
        Some(Chosen::Servers) => " (the fewest servers were chosen)",
        Some(Chosen::ArrivalRate) => " (the largest arrival rate was chosen)",
        Some(Chosen::ServiceRate) => " (the slowest service was chosen)",
    };
    format!(
        "target    {} of at most {limit}: {kept}{chosen}; this rate needs {}, and with {} it is kept for \
         {rate}, or for {service}",
        target.figure,
        servers(target.servers_needed),
        servers(answer.servers),
    )
}

fn within(quantiles: &TimeQuantiles, unit: Unit) -> String {
    let parts = [("half", quantiles.p50), ("90 %", quantiles.p90), ("99 %", quantiles.p99)];
    let known = parts.iter().filter_map(|(part, time)| Some((part, (*time)?)));
    known.map(|(part, time)| format!("; {part} within {}", unit.time(time))).collect()
}

pub(super) fn percent(fraction: f64) -> String {
    format!("{} %", figure(100.0 * fraction))
}

pub(super) fn servers(number: u32) -> String {
    if number == 1 { "1 server".to_owned() } else { format!("{number} servers") }
}
