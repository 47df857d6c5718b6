//! `trainwright queue`.

use trainwright::Error;
use trainwright_queueing::{
    Measure, QueueAnswer, QueueDraft, QueueName, Statistic, Target, TargetAnswer, TimeQuantiles,
};
use trainwright_report::figure;

use crate::arguments::{QueueArguments, QueueKindArgument};
use crate::output::{print, print_json};

pub(crate) fn queue(arguments: &QueueArguments) -> anyhow::Result<u8> {
    let answer = trainwright::queue(&draft(arguments)?)?;
    if arguments.json {
        print_json("queue", &answer)?
    } else {
        print(&text(&answer))?
    }
    Ok(0)
}

fn draft(arguments: &QueueArguments) -> Result<QueueDraft, Error> {
    let statistic = arguments.quantile.map_or(Statistic::Mean, Statistic::Quantile);
    let target = match arguments.target_response {
        Some(limit) => Some(Target::new(Measure::Response, statistic, limit)?),
        None => None,
    };
    Ok(QueueDraft {
        name: match arguments.kind {
            QueueKindArgument::Mm1 => QueueName::Mm1,
            QueueKindArgument::Mmc => QueueName::Mmc,
            QueueKindArgument::Mmck => QueueName::Mmck,
            QueueKindArgument::Mg1 => QueueName::Mg1,
            QueueKindArgument::Ggc => QueueName::Ggc,
        },
        arrival_rate: arguments.arrival,
        service_rate: arguments.service,
        servers: arguments.servers,
        capacity: arguments.capacity,
        scv_arrival: arguments.scv_arrival,
        scv_service: arguments.scv_service,
        target,
    })
}

fn text(answer: &QueueAnswer) -> String {
    let state = &answer.steady_state;
    let by = match answer.servers {
        1 => "1 server".to_owned(),
        many => format!("each of {many} servers"),
    };
    let (arrival, service) = (answer.arrival_rate, answer.service_rate);
    let mut lines = vec![
        format!("{}: jobs arrive at rate {arrival}; {by} works at rate {service}.", answer.queue),
        format!("busy      {}{}", percent(state.utilisation), empty(state.p0)),
    ];
    if state.p_block > 0.0 {
        let (blocked, accepted) = (percent(state.p_block), figure(state.throughput));
        lines.push(format!(
            "refused   {blocked} of the jobs; what follows is about the others, which come at \
             rate {accepted}"
        ));
    }
    let (jobs, queue) = (figure(state.mean_jobs), figure(state.mean_queue));
    lines.push(format!("jobs      {jobs} on average, {queue} of them waiting"));
    let waiting = state.p_wait.map(|p_wait| format!("; {} of the jobs wait", percent(p_wait)));
    let times = |mean: f64, quantiles| format!("{} on average{}", figure(mean), within(quantiles));
    let wait = times(state.mean_wait, &answer.quantiles.wait);
    lines.push(format!("wait      {wait}{}", waiting.unwrap_or_default()));
    let response = times(state.mean_response, &answer.quantiles.response);
    lines.push(format!("response  {response}"));
    lines.extend(answer.target.as_ref().map(|target| target_text(answer, target)));
    lines.push("Times are in the unit that the rates are per.".to_owned());
    if answer.quantiles.response.p50.is_none() {
        lines.push("Quantiles depend on more than rates and variations: not given.".to_owned());
    }
    lines.join("\n") + "\n"
}

fn empty(p0: Option<f64>) -> String {
    let words = |p0| format!("; the system is empty {} of the time", percent(p0));
    p0.map(words).unwrap_or_default()
}

fn target_text(answer: &QueueAnswer, target: &TargetAnswer) -> String {
    let kept = if target.met { "kept" } else { "missed" };
    let rate = match target.largest_rate {
        Some(rate) => format!("arrivals up to rate {}", figure(rate)),
        None => "all arrivals that can be served".to_owned(),
    };
    format!(
        "target    {} of at most {}: {kept}; this rate needs {}, and with {} it is kept for {rate}",
        target.figure,
        target.limit,
        servers(target.servers_needed),
        servers(answer.servers),
    )
}

fn within(quantiles: &TimeQuantiles) -> String {
    let parts = [("half", quantiles.p50), ("90 %", quantiles.p90), ("99 %", quantiles.p99)];
    let known = parts.iter().filter_map(|(part, time)| Some((part, (*time)?)));
    known.map(|(part, time)| format!("; {part} within {}", figure(time))).collect()
}

fn percent(fraction: f64) -> String {
    format!("{} %", figure(100.0 * fraction))
}

fn servers(number: u32) -> String {
    if number == 1 { "1 server".to_owned() } else { format!("{number} servers") }
}
