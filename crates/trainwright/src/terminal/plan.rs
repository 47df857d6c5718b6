//! Plans in words.

use trainwright_plan::{Change, PlannedOperator, Strategy};
use trainwright_report::figure;
use trainwright_report::terminal::TextTable;

use crate::PlanReply;

/// Operators that are listed before the rest is only counted.
const LISTED: usize = 24;

/// The table of strategies, the best of them, why it is, and what would help.
pub fn plan(reply: &PlanReply) -> String {
    let machine = &reply.machine;
    let mut out = format!(
        "{}, batch {}: {} parameters, {} TFLOP a step\n{}: {} ({})\n\n",
        reply.network,
        reply.batch,
        reply.parameters,
        figure(reply.flops / 1e12),
        machine.name,
        devices_in_nodes(reply),
        machine.source
    );
    let (head, rows) = plan_table(reply);
    let mut table = TextTable::with_header(head).numbers_in(1..9);
    rows.into_iter().for_each(|row| table.row(row));
    out += &table.to_string();
    out += &format!("\n{}\n", plan_best(reply));
    out += &operators(reply);
    out += "\nWhy\n";
    for line in plan_reasons(reply) {
        out += &format!(" {line}\n");
    }
    out += &text_table(plan_what_if(reply));
    if let Some(line) = plan_searched(reply) {
        out += &format!("\n{line}\n");
    }
    out += &text_table(plan_measured(reply));
    out
}

/// Heads and rows of a table whose second to fourth columns are numbers.
type HeadAndRows = (Vec<&'static str>, Vec<Vec<String>>);

fn text_table((head, rows): HeadAndRows) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut table = TextTable::with_header(head).numbers_in(1..4);
    rows.into_iter().for_each(|row| table.row(row));
    format!("\n{table}")
}

/// The devices of a machine, such as `4 devices in 1 node`.
pub(crate) fn devices_in_nodes(reply: &PlanReply) -> String {
    let machine = &reply.machine;
    format!(
        "{} in {}",
        counted(machine.devices as u64, "device"),
        counted(machine.nodes.into(), "node")
    )
}

/// Which plan is best, in a line.
pub(crate) fn plan_best(reply: &PlanReply) -> String {
    let chosen = &reply.chosen;
    format!(
        "Best: {} ({}), {} ms a step, {} examples/s, {} times data parallel",
        strategy_name(chosen.strategy),
        chosen.detail,
        figure(1e3 * chosen.step_time_s),
        figure(chosen.examples_per_s),
        figure(chosen.speed_up_over_data_parallel)
    )
}

/// What was planned beside what was measured.
pub(crate) fn plan_measured(reply: &PlanReply) -> HeadAndRows {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let rows = reply.measured.iter().map(|own| {
        vec![
            strategy_name(own.strategy).to_owned(),
            figure(1e3 * own.predicted_s),
            or_dash(own.measured_s.map(|seconds| figure(1e3 * seconds))),
            or_dash(own.error.map(|error| format!("{:+.0} %", 100.0 * error))),
            own.refused.clone().unwrap_or_default(),
        ]
    });
    (vec!["tried here", "planned ms", "measured ms", "planned is", ""], rows.collect())
}

/// Heads and rows of the table of strategies.
pub(crate) fn plan_table(reply: &PlanReply) -> HeadAndRows {
    let mut head = vec![
        "strategy",
        "ms a step",
        "examples/s",
        "weights",
        "gradients",
        "optimiser",
        "activations",
        "GiB a device",
        "epoch",
        "",
    ];
    let costs = reply.strategies.iter().any(|row| row.epoch_cost.is_some());
    head[8] = if costs { "epoch cost" } else { "epoch s" };
    let gib = |bytes: u64| figure(bytes as f64 / (1_u64 << 30) as f64);
    let rows = reply.strategies.iter().map(|row| {
        let epoch = if costs { row.epoch_cost } else { row.epoch_s };
        let detail =
            if row.fits { row.detail.clone() } else { format!("does not fit; {}", row.detail) };
        vec![
            strategy_name(row.strategy).to_owned(),
            figure(1e3 * row.step_time_s),
            figure(row.examples_per_s),
            gib(row.weights_bytes),
            gib(row.gradients_bytes),
            gib(row.optimizer_bytes),
            gib(row.activations_bytes),
            gib(row.memory_bytes_per_device),
            epoch.map_or_else(|| "-".to_owned(), figure),
            detail,
        ]
    });
    (head, rows.collect())
}

fn operators(reply: &PlanReply) -> String {
    let chosen = &reply.chosen;
    if let Some(own) = &chosen.pipeline {
        return format!("Stages begin at {}\n", own.begins.join(", "));
    }
    let mut table = TextTable::with_header(["operator", "split", "devices"]);
    for own in chosen.operators.iter().take(LISTED) {
        table.row([own.name.clone(), split_text(own), devices_text(&own.devices)]);
    }
    let rest = chosen.operators.len().saturating_sub(LISTED);
    let more =
        if rest > 0 { format!(" ... and {rest} more (--json has all)\n") } else { String::new() };
    format!("\n{table}{more}")
}

/// How an operator is split, such as `sample 4, channel 2`.
pub(crate) fn split_text(own: &PlannedOperator) -> String {
    if own.degrees.is_empty() {
        return "whole".to_owned();
    }
    let text = |(name, degree): (&String, &u16)| format!("{name} {degree}");
    own.degrees.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// Devices with ranges of neighbours, such as `0-3 8`.
fn devices_text(devices: &[u16]) -> String {
    let mut ranges: Vec<(u16, u16)> = Vec::new();
    for &device in devices {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == device => *last = device,
            _ => ranges.push((device, device)),
        }
    }
    let text = |&(first, last): &(u16, u16)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    ranges.iter().map(text).collect::<Vec<_>>().join(" ")
}

/// Why the best plan takes as long as it does, line by line.
pub(crate) fn plan_reasons(reply: &PlanReply) -> Vec<String> {
    let mut lines = Vec::new();
    let step_ns = reply.chosen.step_time_s * 1e9;
    if let Some(path) = &reply.critical_path {
        let share = |own: &trainwright_plan::CriticalPart| {
            format!("{} {:.0} %", own.name, 100.0 * own.ns as f64 / step_ns)
        };
        let list = |own: &[trainwright_plan::CriticalPart]| {
            own.iter().map(share).collect::<Vec<_>>().join(", ")
        };
        lines.push(format!("critical path ({} tasks): {}", path.tasks, list(&path.parts)));
        lines.push(format!("most of it in: {}", list(&path.longest)));
    }
    let busy = reply.busy.iter().take(4);
    let busy = busy.map(|own| format!("{} {:.0} %", own.name, 100.0 * own.share));
    lines.push(format!("busiest: {}", busy.collect::<Vec<_>>().join(", ")));
    if let Some(own) = &reply.most_helpful {
        let times = figure(own.speed_up);
        lines.push(format!("most helpful: {} ({times} times the examples/s)", own.text));
    }
    lines
}

/// What changes of machine and batch would do.
pub(crate) fn plan_what_if(reply: &PlanReply) -> HeadAndRows {
    let rows = reply.what_if.iter().map(|own| {
        let fits = if own.fits { "" } else { " (does not fit)" };
        let unpinned = match own.unpinned.as_slice() {
            [] => String::new(),
            names => format!(" (without the pin of {})", names.join(", ")),
        };
        vec![
            format!("{}{unpinned}{fits}", change_text(own.change)),
            figure(1e3 * own.step_time_s),
            figure(own.examples_per_s),
            figure(own.speed_up),
        ]
    });
    (vec!["what if", "ms a step", "examples/s", "times"], rows.collect())
}

/// How the search went, in a line.
pub(crate) fn plan_searched(reply: &PlanReply) -> Option<String> {
    reply.search.as_ref().map(|own| {
        format!(
            "{} proposals and {} to polish in {} s (seed {}), from {}{}",
            own.proposals,
            own.polish_proposals,
            figure(own.seconds),
            own.seed,
            own.from,
            if own.locally_optimal {
                "; no change of one operator helps"
            } else {
                "; stopped before its end"
            }
        )
    })
}

/// So many of something.
fn counted(number: u64, word: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {word}{ending}")
}

/// A strategy as people call it.
pub(crate) fn strategy_name(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::OneDevice => "one device",
        Strategy::DataParallel => "data parallel",
        Strategy::Sharded => "sharded",
        Strategy::Tensor => "tensor",
        Strategy::Pipeline => "pipeline",
        Strategy::Mesh => "mesh",
        Strategy::Hybrid => "per operator",
    }
}

/// A change in words.
pub(crate) fn change_text(change: Change) -> &'static str {
    match change {
        Change::DevicesTwiceAsFast => "devices twice as fast",
        Change::InsideTwiceAsFast => "links in a node twice as fast",
        Change::BetweenTwiceAsFast => "network between nodes twice as fast",
        Change::NoLatency => "messages without latency",
        Change::NoLaunch => "work that starts at once",
        Change::TwiceTheNodes => "twice the nodes, planned anew",
        Change::HalfTheNodes => "half the nodes, planned anew",
        Change::TwiceTheBatch => "twice the batch",
        Change::HalfTheBatch => "half the batch",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_node_is_no_nodes() {
        assert_eq!(counted(1, "node"), "1 node");
        assert_eq!(counted(4, "node"), "4 nodes");
    }

    #[test]
    fn neighbouring_devices_are_ranges() {
        assert_eq!(devices_text(&[0, 1, 2, 3, 8, 6]), "0-3 8 6");
        assert_eq!(devices_text(&[]), "");
        let own = PlannedOperator {
            name: "a".into(),
            degrees: [("channel".to_owned(), 2), ("sample".to_owned(), 4)].into(),
            devices: vec![],
        };
        assert_eq!(split_text(&own), "channel 2, sample 4");
    }
}
