//! Simulated queues beside their closed forms, in words.

use trainwright_report::figure;
use trainwright_report::terminal::{TextTable, Unit};

use crate::{Agreement, ClassesSimulated, QueueSimulated};

/// A simulated queue, figure by figure.
pub fn queue_simulated(seen: &QueueSimulated, unit: Unit) -> String {
    let approximate = if seen.approximate { ", which is an approximation" } else { "" };
    let heading = heading(&seen.queue, seen.jobs, seen.confidence, seen.seed);
    let counted = counted(&seen.figures, seen.confidence);
    format!("{heading}\n{}{counted}{approximate}.\n", table(&seen.figures, unit))
}

/// A simulated queue with classes, class by class.
pub fn classes_simulated(seen: &ClassesSimulated, unit: Unit) -> String {
    let mut text = heading(&seen.queue, seen.jobs, seen.confidence, seen.seed) + "\n";
    for (number, figures) in (1..).zip(&seen.classes) {
        text += &format!("class {number}\n{}", table(figures, unit));
    }
    let all: Vec<Agreement> = seen.classes.concat();
    format!("{text}{}.\n", counted(&all, seen.confidence))
}

fn heading(queue: &str, jobs: u32, confidence: f64, seed: u64) -> String {
    let confidence = figure(100.0 * confidence);
    format!("{queue}: {jobs} simulated jobs, {confidence} % intervals, seed {seed}")
}

fn table(figures: &[Agreement], unit: Unit) -> String {
    let head = ["figure", "simulated", "from", "to", "closed form", "within"];
    let mut table = TextTable::with_header(head);
    for own in figures {
        let times = ["wait", "response"].iter().any(|word| own.figure.contains(word));
        let shown = |value: f64| match times && own.figure != "p_wait" {
            true => unit.time(value),
            false => figure(value),
        };
        let seen = own.simulated;
        table.row([
            own.figure.replace('_', " "),
            shown(seen.estimate),
            shown(seen.low),
            shown(seen.high),
            own.closed_form.map_or_else(|| "none".to_owned(), shown),
            own.within.map_or("", |within| if within { "yes" } else { "no" }).to_owned(),
        ]);
    }
    table.to_string()
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
