//! Queues in words.

use trainwright_queueing::{
    Chosen, ClassTargetAnswer, Discipline, PriorityAnswer, QueueAnswer, QueueKind, TargetAnswer,
    TimeQuantiles,
};

use super::{TextTable, Unit};
use crate::figure::figure;

/// What is known about a queue of one class, line by line.
pub fn queue_text(answer: &QueueAnswer, unit: Unit) -> String {
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
        format!("busy      {}{}", percent_of(state.utilisation), empty(state.p0)),
    ];
    if state.p_block > 0.0 {
        let (blocked, accepted) = (percent_of(state.p_block), at(state.throughput, unit));
        lines.push(format!(
            "refused   {blocked} of the jobs; what follows is about the others, which come \
             {accepted}"
        ));
    }
    let (jobs, queue) = (figure(state.mean_jobs), figure(state.mean_queue));
    lines.push(format!("jobs      {jobs} on average, {queue} of them waiting"));
    let waiting = state.p_wait.map(|p_wait| format!("; {} of the jobs wait", percent_of(p_wait)));
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

/// What is known about a queue with classes.
pub fn priority_text(answer: &PriorityAnswer, unit: Unit) -> String {
    let how = match answer.discipline {
        Discipline::NonPreemptive => "urgent jobs wait for a free server",
        Discipline::PreemptiveResume => "urgent jobs interrupt others",
    };
    let state = &answer.steady_state;
    let mut lines = vec![format!(
        "{}, the most urgent first; {how}. Busy {}; {} jobs on average, mean response {}.",
        answer.queue,
        percent_of(state.utilisation),
        figure(state.mean_jobs),
        unit.time(state.mean_response),
    )];
    let mut table =
        TextTable::with_header(["class", "arrivals", "busy", "jobs", "wait", "response"]);
    for (number, class) in (1..).zip(&answer.classes) {
        table.row([
            number.to_string(),
            unit.rate(class.arrival_rate),
            percent_of(class.utilisation),
            figure(class.mean_jobs),
            unit.time(class.mean_wait),
            unit.time(class.mean_response),
        ]);
    }
    lines.push(table.to_string().trim_end().to_owned());
    lines.extend(answer.target.as_ref().map(|target| class_target(answer, target, unit)));
    lines.push("Waits and responses are means; waiting is all time without service.".to_owned());
    lines.join("\n") + "\n"
}

fn class_target(answer: &PriorityAnswer, target: &ClassTargetAnswer, unit: Unit) -> String {
    let kept = if target.met { "kept" } else { "missed" };
    let needed = match target.servers_needed {
        Some(needed) => format!("it needs {}", servers_text(needed)),
        None => "the servers it needs have no closed form".to_owned(),
    };
    format!(
        "target    {} of class {} of at most {}: {kept}; {needed}; with {} it is kept for {} times \
         these arrivals, or for {} times these service times",
        target.figure,
        target.class,
        unit.time(target.limit),
        servers_text(answer.servers),
        figure(target.arrival_factor),
        figure(target.service_time_factor),
    )
}

/// `at rate 3` or `40 an hour`.
fn at(rate: f64, unit: Unit) -> String {
    match unit {
        // Rates that were given are shown as they were given.
        Unit::None => format!("at rate {rate}"),
        Unit::Seconds => format!("at {}", unit.rate(rate)),
    }
}

fn empty(p0: Option<f64>) -> String {
    let words = |p0| format!("; the system is empty {} of the time", percent_of(p0));
    p0.map(words).unwrap_or_default()
}

fn target_text(answer: &QueueAnswer, target: &TargetAnswer, unit: Unit) -> String {
    let kept = if target.met { "kept" } else { "missed" };
    let limit = match unit {
        Unit::None => target.limit.to_string(),
        Unit::Seconds => unit.time(target.limit),
    };
    let rate = match target.largest_rate {
        Some(rate) => format!("arrivals up to {}", unit.rate(rate)),
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
        servers_text(target.servers_needed),
        servers_text(answer.servers),
    )
}

fn within(quantiles: &TimeQuantiles, unit: Unit) -> String {
    let parts = [("half", quantiles.p50), ("90 %", quantiles.p90), ("99 %", quantiles.p99)];
    let known = parts.iter().filter_map(|(part, time)| Some((part, (*time)?)));
    known.map(|(part, time)| format!("; {part} within {}", unit.time(time))).collect()
}

/// A fraction in percent.
pub fn percent_of(fraction: f64) -> String {
    format!("{} %", figure(100.0 * fraction))
}

/// A number of servers.
pub fn servers_text(number: u32) -> String {
    if number == 1 { "1 server".to_owned() } else { format!("{number} servers") }
}
