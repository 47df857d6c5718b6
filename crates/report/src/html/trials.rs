//! Every trial with what it measured.

use std::collections::BTreeSet;
use std::fmt::Write;

use trainwright_analysis::wording::count;
use trainwright_study::{Metric, TrialState};

use super::note;
use crate::charts::with_unit;
use crate::escape::escape;
use crate::figure::{bytes, figure};
use crate::input::{ReportInput, ReportTrial};
use crate::table::{Cell, Sorting, Table};

/// Trials that the table lists.
const MOST_TRIALS: usize = 500;

/// Unfinished trials whose output is shown.
const MOST_OUTPUTS: usize = 50;

/// Characters of a trial's output that are shown, from its end.
const MOST_OUTPUT: usize = 4_000;

/// A column with the cell of each trial.
struct Column<'a> {
    name: String,
    cell: Box<dyn Fn(&ReportTrial) -> Cell + 'a>,
}

/// The table, and why trials did not finish.
pub(super) fn section(input: &ReportInput<'_>) -> String {
    if input.trials.is_empty() {
        return note("No trial is planned yet.");
    }
    let mut same = Vec::new();
    let columns = columns(input, &mut same);
    let head: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let mut table = Table::new("Trials", Sorting::ByHeader, &head);
    for trial in input.trials.iter().take(MOST_TRIALS) {
        table.push(columns.iter().map(|column| (column.cell)(trial)).collect());
    }
    let mut out = String::new();
    if !same.is_empty() {
        out += &note(&format!("The same in all trials: {}.", same.join(", ")));
    }
    out += &table.html();
    if input.trials.len() > MOST_TRIALS {
        out += &note(&format!(
            "The first {MOST_TRIALS} of {} trials; `trainwright export` writes them all.",
            input.trials.len()
        ));
    }
    out + &unfinished(input)
}

/// Columns in which trials differ; the others are described in `same`.
fn columns<'a>(input: &'a ReportInput<'_>, same: &mut Vec<String>) -> Vec<Column<'a>> {
    let mut columns = vec![
        column("trial", |trial: &ReportTrial| Cell::count(trial.number as usize)),
        column("row", |trial| {
            trial.row.map_or_else(Cell::missing, |row| Cell::count(row as usize))
        }),
    ];
    let repeats: BTreeSet<u32> = input.trials.iter().map(|trial| trial.replicate).collect();
    if repeats.len() > 1 {
        columns.push(column("replicate", |trial| Cell::count(trial.replicate as usize)));
    }
    columns.push(column("state", state));
    for factor in &input.study.factors {
        let levels: BTreeSet<Option<String>> = input
            .trials
            .iter()
            .map(|trial| trial.configuration.get(&factor.name).map(ToString::to_string))
            .collect();
        match levels.first() {
            Some(Some(level)) if levels.len() == 1 => {
                same.push(format!("{} = {level}", factor.name))
            }
            _ => columns.push(column(&factor.name, |trial| level(trial, &factor.name))),
        }
    }
    for metric in &input.study.metrics {
        let name = with_unit(&metric.name, metric.unit.as_deref());
        columns.push(column(&name, |trial| measurement(trial, metric)));
    }
    if input.trials.iter().any(|trial| trial.usage.is_some()) {
        columns.push(column("wall (s)", |trial| {
            Cell::optional(trial.usage.as_ref().map(|usage| usage.wall_s))
        }));
        columns.push(column("CPU (s)", |trial| {
            Cell::optional(trial.usage.as_ref().map(|usage| usage.user_s + usage.system_s))
        }));
        columns.push(column("peak memory", memory));
    }
    let attempts: BTreeSet<u32> = input.trials.iter().map(|trial| trial.attempts).collect();
    match attempts.first() {
        Some(attempts_each) if attempts.len() == 1 => {
            same.push(format!("attempts = {attempts_each}"));
        }
        _ => columns.push(column("attempts", |trial| Cell::count(trial.attempts as usize))),
    }
    if input.trials.iter().any(|trial| trial.started_ms.is_some()) {
        columns.push(column("started (UTC)", started));
    }
    columns
}

fn column<'a>(name: &str, cell: impl Fn(&ReportTrial) -> Cell + 'a) -> Column<'a> {
    Column { name: name.to_owned(), cell: Box::new(cell) }
}

fn state(trial: &ReportTrial) -> Cell {
    let state = trial.state;
    let word = format!("<span class=\"state state-{state}\">{state}</span>");
    if explained(trial) {
        Cell::markup(format!("<a href=\"#trial-{}\">{word}</a>", trial.number))
    } else {
        Cell::markup(word)
    }
}

fn level(trial: &ReportTrial, factor: &str) -> Cell {
    let Some(level) = trial.configuration.get(factor) else { return Cell::missing() };
    match level.number() {
        Some(number) => Cell::shown(level.to_string(), number),
        None => Cell::text(&level.to_string()),
    }
}

fn measurement(trial: &ReportTrial, metric: &Metric) -> Cell {
    let own = trial.measurements.iter().find(|own| own.metric == metric.name);
    match own {
        Some(own) if own.in_range => Cell::number(own.value),
        Some(own) => Cell::shown(format!("{} (out of range)", figure(own.value)), own.value),
        None => Cell::missing(),
    }
}

fn memory(trial: &ReportTrial) -> Cell {
    let peak = trial.usage.as_ref().and_then(|usage| usage.peak_memory_bytes);
    peak.map_or_else(Cell::missing, |peak| Cell::shown(bytes(peak), peak as f64))
}

fn started(trial: &ReportTrial) -> Cell {
    let Some(ms) = trial.started_ms else { return Cell::missing() };
    let Ok(time) = jiff::Timestamp::from_millisecond(ms) else { return Cell::missing() };
    Cell::shown(time.strftime("%Y-%m-%d %H:%M:%S").to_string(), ms as f64)
}

/// Whether a trial's end is explained below the table.
fn explained(trial: &ReportTrial) -> bool {
    matches!(trial.state, TrialState::Failed | TrialState::Diverged)
}

fn unfinished(input: &ReportInput<'_>) -> String {
    let all: Vec<_> = input.trials.iter().filter(|trial| explained(trial)).collect();
    if all.is_empty() {
        return String::new();
    }
    let mut out = String::from("<h3>Trials that did not finish</h3>\n");
    for trial in all.iter().take(MOST_OUTPUTS) {
        let reason = trial.reason.as_deref().unwrap_or("no reason was recorded");
        let first = reason.lines().next().unwrap_or_default();
        let _ = write!(
            out,
            "<details id=\"trial-{}\"><summary>Trial {} <span class=\"state state-{}\">{}</span> {}\
             </summary><p>{}</p>",
            trial.number,
            trial.number,
            trial.state,
            trial.state,
            escape(first),
            escape(&trial.configuration.to_string())
        );
        if reason.lines().count() > 1 {
            let _ = write!(out, "<pre>{}</pre>", escape(reason));
        }
        if !trial.command.is_empty() {
            let _ =
                write!(out, "<pre class=\"command\">{}</pre>", escape(&trial.command.join(" ")));
        }
        match trial.output_end.as_deref().filter(|text| !text.trim().is_empty()) {
            Some(text) => out += &output(text),
            None => out += "<p class=\"quiet\">It printed nothing.</p>",
        }
        out += "</details>\n";
    }
    if all.len() > MOST_OUTPUTS {
        let all = count(all.len(), "trial");
        out += &note(&format!(
            "The first {MOST_OUTPUTS} of {all} that did not finish; `trainwright logs` shows the \
             others."
        ));
    }
    out
}

fn output(text: &str) -> String {
    let length = text.chars().count();
    let end: String = text.chars().skip(length.saturating_sub(MOST_OUTPUT)).collect();
    let heading = if length > MOST_OUTPUT {
        format!("The last {MOST_OUTPUT} of {length} characters kept of its output:")
    } else {
        "The last lines of its output:".to_owned()
    };
    format!("<p class=\"quiet\">{heading}</p><pre>{}</pre>", escape(&end))
}
