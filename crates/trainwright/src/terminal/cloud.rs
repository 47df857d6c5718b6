//! Catalogues, recommendations and replays in words.

use std::collections::BTreeSet;

use trainwright_search::cloud::ernest::Experiments;
use trainwright_search::cloud::{Objective, Quantiles, Summary};

use super::{TextTable, Unit, figure};
use crate::{Catalog, Choice, CloudReplay, Foretold, OwnRun, Recommendation};

/// A catalogue as a table.
pub fn cloud_catalog(own: &Catalog) -> String {
    let head = ["type", "vCPU", "memory GiB", "USD/h", "GHz", "disk GB", "network Gbit/s"];
    let mut table = TextTable::with_header(head).numbers_in(1..7);
    let optional = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), figure);
    for machine in &own.machines {
        table.row([
            machine.vm_type.clone(),
            figure(machine.vcpus),
            figure(machine.memory_gib),
            figure(machine.price_usd_per_hour),
            optional(machine.cpu_ghz),
            optional(machine.local_disk_gb),
            optional(machine.network_gbps),
        ]);
    }
    let count = own.machines.len();
    format!("{table}\n{count} types, prices of {}\nsource: {}\n", own.date, own.source)
}

/// Experiments to make, with what they cost.
pub fn cloud_experiments(own: &Experiments) -> String {
    let mut table =
        TextTable::with_header(["nodes", "share of the input %", "weight"]).numbers_in(0..3);
    for experiment in &own.chosen {
        table.row([
            experiment.machines.to_string(),
            figure(100.0 * experiment.share),
            figure(experiment.weight),
        ]);
    }
    format!(
        "{table}\n{} of {} possible runs; those that the optimum wants whole cost {} runs of the \
         smallest part on one machine\n",
        own.chosen.len(),
        own.candidates,
        figure(own.cost)
    )
}

/// What a law foretells, with its terms.
pub fn cloud_foretold(own: &Foretold) -> String {
    let [fixed, work, tree, each] = own.law.coefficients.map(figure);
    let mut text = format!(
        "time = {fixed} + {work} share/nodes + {tree} log(nodes) + {each} nodes seconds, from {} \
         runs\n\n",
        own.runs
    );
    let mut table = TextTable::with_header(["nodes", "time", "from", "to", ""]).numbers_in(0..4);
    for time in &own.predictions {
        let seconds = |own: f64| Unit::Seconds.time(own);
        let end = |own: Option<f64>| own.map_or_else(|| "-".to_owned(), seconds);
        let found = &time.prediction;
        table.row([
            time.nodes.to_string(),
            seconds(found.elapsed_s),
            end(found.low_s),
            end(found.high_s),
            if found.extrapolates { "beyond the runs" } else { "" }.to_owned(),
        ]);
    }
    text += &table.to_string();
    if own.predictions.iter().any(|own| own.prediction.extrapolates) {
        text +=
            "\nBeyond the nodes or shares of the runs a law may be far off: add a run nearby.\n";
    }
    text
}

/// One run by a command, in one line.
pub fn cloud_run(run: &OwnRun) -> String {
    let time = run.elapsed_s.map_or_else(|| "unknown".to_owned(), |own| Unit::Seconds.time(own));
    let end = if run.completed { "took" } else { "failed after" };
    format!("{} x {} {end} {time}", run.nodes, run.vm_type)
}

/// Which machines, how many, and why.
pub fn cloud_recommendation(own: &Recommendation) -> String {
    let mut lines = Vec::new();
    let failed = own.runs.iter().filter(|run| !run.completed).count();
    let tried: BTreeSet<(&str, u32)> =
        own.runs.iter().map(|run| (run.vm_type.as_str(), run.nodes)).collect();
    lines.push(format!(
        "runs      {} of {} candidates{}, {failed} failed; they cost {} USD",
        tried.len(),
        own.candidates,
        if tried.len() < own.runs.len() {
            format!(" ({} runs)", own.runs.len())
        } else {
            String::new()
        },
        figure(own.spent_usd)
    ));
    match &own.best {
        Some(best) => lines.push(format!("best      {}", measured(best))),
        None => lines.push("best      no run has ended well within the limits yet".to_owned()),
    }
    match (&own.next, &own.stop) {
        (_, Some(stop)) => lines.push(format!("stop      {}", stop.words())),
        (Some(next), None) => lines.push(format!("next      {}", expected(next, own.objective))),
        (None, None) => {}
    }
    lines.extend(
        own.beside.iter().map(|own_run| format!("beside    {}", expected(own_run, own.objective))),
    );
    if own.stop.is_some()
        && let Some(other) = own.outlook.first()
    {
        lines.push(format!("second    {}", expected(other, own.objective)));
    }
    lines.extend(own.warnings.iter().map(|own| format!("mind      {own}")));
    lines.join("\n") + "\n"
}

fn measured(own: &Choice) -> String {
    let (time, cost) = (own.elapsed_s.unwrap_or(0.0), own.cost_usd.unwrap_or(0.0));
    let name = format!("{} x {}", own.nodes, own.vm_type);
    format!("{name}: {} and {} USD a run", Unit::Seconds.time(time), figure(cost))
}

fn expected(own: &Choice, objective: Objective) -> String {
    let name = format!("{} x {}, {} USD/h", own.nodes, own.vm_type, figure(own.price_usd_per_hour));
    let (Some(time), Some(cost)) = (own.elapsed_s, own.cost_usd) else { return name };
    let shown = |value: f64| match objective {
        Objective::Time => Unit::Seconds.time(value),
        Objective::Cost => format!("{} USD", figure(value)),
    };
    let range = match (own.low, own.high) {
        // Before anything has run nobody knows how large the job is.
        (Some(low), Some(high)) if high < 100.0 * low => {
            format!(" (90 % interval {} to {})", shown(low), shown(high))
        }
        (Some(_), Some(_)) => return name,
        _ => String::new(),
    };
    format!("{name}: about {} and {} USD{range}", Unit::Seconds.time(time), figure(cost))
}

/// Methods compared.
pub fn cloud_replay(reply: &CloudReplay) -> String {
    let head = [
        "method",
        "replays",
        "n to 5 %",
        "n to 10 %",
        "stops at",
        "ratio at stop",
        "within 5 %",
        "search cost",
    ];
    let mut table = TextTable::with_header(head).numbers_in(1..8);
    let pair = |own: &Quantiles| {
        let shown = |value: Option<f64>| value.map_or_else(|| "never".to_owned(), figure);
        format!("{} / {}", shown(own.median), shown(own.p90))
    };
    for (method, _, own) in reply.methods() {
        let Summary { n_to_5pct, n_to_10pct, ratio_at_stop, stopped_after, search_cost, .. } = own;
        table.row([
            method.name().to_owned(),
            own.replays.to_string(),
            pair(n_to_5pct),
            pair(n_to_10pct),
            pair(stopped_after),
            pair(ratio_at_stop),
            format!("{} %", figure(100.0 * own.within_5pct_at_stop)),
            pair(search_cost),
        ]);
    }
    format!("{table}\nmedian / 90th percentile\n{}\n", cloud_replay_sentences(reply).join("\n"))
}

/// What a replay says, sentence by sentence.
pub(crate) fn cloud_replay_sentences(reply: &CloudReplay) -> Vec<String> {
    let objective = match reply.objective {
        Objective::Time => "time",
        Objective::Cost => "cost",
    };
    let mut all = vec![format!("objective {objective}; history: {}", reply.history)];
    let first = reply.methods().into_iter().min_by(|a, b| {
        let runs = |own: &Summary| own.n_to_5pct.p90.unwrap_or(f64::INFINITY);
        runs(a.2).total_cmp(&runs(b.2))
    });
    if let Some((method, _, own)) = first.filter(|_| !reply.others.is_empty())
        && let Some(runs) = own.n_to_5pct.p90
    {
        all.push(format!(
            "{} comes within 5 % of the optimum first: nine in ten replays need at most {} runs",
            method.name(),
            figure(runs)
        ));
    }
    if !reply.without_optimum.is_empty() {
        let names = reply.without_optimum.join(", ");
        all.push(format!("left out, since nothing ever finished: {names}"));
    }
    all.extend(reply.notes.iter().cloned());
    all
}
