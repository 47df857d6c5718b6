//! `trainwright queue simulate`.

use trainwright::{Agreement, Error, SimulationLength};
use trainwright_queueing::QueueName;
use trainwright_report::figure;

use super::print_with_unit;
use super::question::{priority_draft, queue_draft};
use super::words::in_unit;
use crate::arguments::{SimulateArguments, SimulatedKind};
use crate::output::{plain_table, print};
use crate::quantities::Unit;

pub(super) fn simulate(arguments: &SimulateArguments) -> anyhow::Result<u8> {
    if arguments.question.report.is_some() {
        let reason = "--report belongs to the closed forms; a simulation has no page";
        return Err(Error::Request(reason.to_owned()).into());
    }
    let length = SimulationLength {
        jobs: arguments.jobs,
        confidence: arguments.confidence,
        seed: arguments.seed,
    };
    let json = arguments.question.json;
    match name(arguments.kind) {
        Some(name) => {
            let (draft, unit) = queue_draft(name, &arguments.question)?;
            let seen = trainwright::simulate_queue(&draft, &length)
                .map_err(|error| in_unit(error, unit))?;
            if json {
                print_with_unit(unit, &seen)?;
            } else {
                let approximate = if seen.approximate { ", which is an approximation" } else { "" };
                let body = table(&seen.figures, unit);
                let heading = heading(&seen.queue, &length);
                let counted = counted(&seen.figures, length.confidence);
                print(&format!("{heading}\n{body}\n{counted}{approximate}.\n"))?;
            }
        }
        None => {
            let (draft, unit) = priority_draft(&arguments.question)?;
            let seen = trainwright::simulate_priorities(&draft, &length)?;
            if json {
                print_with_unit(unit, &seen)?;
            } else {
                let mut text = heading(&seen.queue, &length) + "\n";
                for (number, figures) in (1..).zip(&seen.classes) {
                    text += &format!("class {number}\n{}\n", table(figures, unit));
                }
                let all: Vec<Agreement> = seen.classes.concat();
                print(&format!("{text}{}.\n", counted(&all, length.confidence)))?;
            }
        }
    }
    Ok(0)
}

fn name(kind: SimulatedKind) -> Option<QueueName> {
    Some(match kind {
        SimulatedKind::Mm1 => QueueName::Mm1,
        SimulatedKind::Mmc => QueueName::Mmc,
        SimulatedKind::Mmck => QueueName::Mmck,
        SimulatedKind::Mg1 => QueueName::Mg1,
        SimulatedKind::Ggc => QueueName::Ggc,
        SimulatedKind::Finite => QueueName::Finite,
        SimulatedKind::Priority => return None,
    })
}

fn heading(queue: &str, length: &SimulationLength) -> String {
    let SimulationLength { jobs, confidence, seed } = length;
    let confidence = figure(100.0 * confidence);
    format!("{queue}: {jobs} simulated jobs, {confidence} % intervals, seed {seed}")
}

fn table(figures: &[Agreement], unit: Unit) -> String {
    let mut table = plain_table();
    table.set_header(["figure", "simulated", "from", "to", "closed form", "within"]);
    for own in figures {
        let times = ["wait", "response"].iter().any(|word| own.figure.contains(word));
        let shown = |value: f64| match times && own.figure != "p_wait" {
            true => unit.time(value),
            false => figure(value),
        };
        let seen = own.simulated;
        table.add_row([
            own.figure.replace('_', " "),
            shown(seen.estimate),
            shown(seen.low),
            shown(seen.high),
            own.closed_form.map_or_else(|| "none".to_owned(), shown),
            own.within.map_or("", |within| if within { "yes" } else { "no" }).to_owned(),
        ]);
    }
    table.trim_fmt()
}

fn counted(figures: &[Agreement], confidence: f64) -> String {
    let compared: Vec<bool> = figures.iter().filter_map(|own| own.within).collect();
    let within = compared.iter().filter(|within| **within).count();
    format!(
        "{within} of {} figures of the closed form lie in their interval; about {} are expected if it \
         is right",
        compared.len(),
        format_args!("{:.1}", confidence * compared.len() as f64),
    )
}
