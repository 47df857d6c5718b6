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

#[cfg(test)]
mod tests {
    use trainwright_queueing::Interval;

    use super::*;

    fn agreement(
        figure: &'static str,
        closed_form: Option<f64>,
        within: Option<bool>,
    ) -> Agreement {
        let simulated = Interval { estimate: 0.5, low: 0.25, high: 0.75 };
        Agreement { figure, simulated, closed_form, within }
    }

    fn simulated(approximate: bool) -> QueueSimulated {
        QueueSimulated {
            queue: "M/M/1".to_owned(),
            arrival_rate: 0.5,
            service_rate: 1.0,
            servers: 1,
            jobs: 4000,
            confidence: 0.95,
            seed: 9,
            approximate,
            figures: vec![
                agreement("p_wait", Some(0.5), Some(true)),
                agreement("mean_wait", Some(0.9), Some(false)),
                agreement("response_p99", None, None),
            ],
        }
    }

    fn cells(text: &str, line: usize) -> Vec<String> {
        text.lines().nth(line).unwrap().split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn times_have_units_and_probabilities_do_not() {
        let text = queue_simulated(&simulated(false), Unit::Seconds);
        assert!(text.starts_with("M/M/1: 4000 simulated jobs, 95 % intervals, seed 9\n"), "{text}");
        let plain = ["p", "wait", "0.5000", "0.2500", "0.7500", "0.5000", "yes"];
        assert_eq!(cells(&text, 2), plain);
        let times = ["mean", "wait", "500", "ms", "250", "ms", "750", "ms", "900", "ms", "no"];
        assert_eq!(cells(&text, 3), times);
        assert_eq!(cells(&text, 4).last().map(String::as_str), Some("none"));
    }

    #[test]
    fn figures_in_their_interval_are_counted_among_those_compared() {
        let text = queue_simulated(&simulated(false), Unit::None);
        assert!(
            text.ends_with(
                "1 of 2 figures of the closed form lie in their interval; about 1.9 are expected \
                 if it is right.\n"
            ),
            "{text}"
        );
        let text = queue_simulated(&simulated(true), Unit::None);
        assert!(text.ends_with("if it is right, which is an approximation.\n"), "{text}");
    }

    #[test]
    fn classes_are_shown_one_by_one_and_counted_together() {
        let figures = vec![agreement("mean_jobs", Some(0.5), Some(true))];
        let text = classes_simulated(
            &ClassesSimulated {
                queue: "M/M/1 with 2 classes".to_owned(),
                servers: 1,
                jobs: 4000,
                confidence: 0.9,
                seed: 1,
                classes: vec![figures.clone(), figures],
            },
            Unit::None,
        );
        assert!(text.contains("\nclass 1\n") && text.contains("\nclass 2\n"), "{text}");
        assert!(text.contains("2 of 2 figures") && text.contains("about 1.8 are"), "{text}");
    }
}
