//! Every trial with what it measured.

use std::collections::BTreeSet;
use std::fmt::Write;

use trainwright_analysis::wording::count;
use trainwright_study::{GpuScope, GpuUsage, Metric, Moment, TrialState};

use crate::charts::with_unit;
use crate::escape::escape;
use crate::figure::{bytes, figure};
use crate::html::note;
use crate::input::{ReportInput, ReportTrial};
use crate::table::{Cell, SortKey, Sorting, Table};

/// Trials that the table lists.
const MOST_TRIALS: usize = 500;

/// Files of one trial that are listed.
const MOST_FILES: usize = 20;

/// Unfinished trials whose output is shown.
const MOST_OUTPUTS: usize = 50;

/// Characters of a trial's output that are shown, from its end.
const MOST_OUTPUT: usize = 4_000;

/// The columns of a table of trials.
pub struct TrialTable<'a> {
    columns: Vec<Column<'a>>,
    /// What is the same in all trials and has no column, in words.
    pub same: Vec<String>,
}

/// Which columns a table of trials has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ShownColumns {
    /// Those in which trials differ.
    Differing,
    /// All.
    All,
}

impl<'a> TrialTable<'a> {
    /// The table of a study's trials.
    pub fn new(input: &'a ReportInput<'_>, shown: ShownColumns) -> Self {
        let mut same = Vec::new();
        let columns = columns(input, shown, &mut same);
        Self { columns, same }
    }

    /// Names of the columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// By what a trial is sorted in a column.
    pub fn key(&self, column: usize, trial: &ReportTrial) -> SortKey {
        (self.columns[column].cell)(trial).sort_key()
    }

    /// The cells of a trial; its number leads to `address` and the number.
    pub fn cells(&self, trial: &ReportTrial, address: &str) -> String {
        let mut out = String::new();
        for (index, column) in self.columns.iter().enumerate() {
            if index == 0 {
                let (address, number) = (escape(address), trial.number);
                let _ = write!(
                    out,
                    "<th scope=\"row\" class=\"num\"><a href=\"{address}{number}\">{number}</a></th>"
                );
            } else {
                (column.cell)(trial).write(&mut out);
            }
        }
        out
    }
}

/// A column with the cell of each trial.
struct Column<'a> {
    name: String,
    cell: Box<dyn Fn(&ReportTrial) -> Cell + 'a>,
}

/// The table, and why trials did not finish.
pub(in crate::html) fn section(input: &ReportInput<'_>) -> String {
    if input.trials.is_empty() {
        return note("No trial is planned yet.");
    }
    let TrialTable { columns, same } = TrialTable::new(input, ShownColumns::Differing);
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
    out += &excluded(input);
    out + &files(input) + &unfinished(input)
}

/// Files that trials left, and how to read them.
fn files(input: &ReportInput<'_>) -> String {
    let left: Vec<&ReportTrial> =
        input.trials.iter().filter(|trial| !trial.files.is_empty()).take(MOST_TRIALS).collect();
    if left.is_empty() {
        return String::new();
    }
    let mut table = Table::new("Files of trials", Sorting::ByHeader, &["trial", "size", "file"]);
    for trial in left {
        for (name, size) in trial.files.iter().take(MOST_FILES) {
            table.push(vec![
                Cell::count(trial.number as usize),
                Cell::shown(bytes(*size), *size as f64),
                Cell::text(name),
            ]);
        }
    }
    format!(
        "<details><summary>Files that trials left</summary>\n{}{}</details>\n",
        note("`trainwright logs STUDY TRIAL --file NAME` shows one."),
        table.html()
    )
}

/// Which trials the analysis leaves out because somebody said so, and why.
fn excluded(input: &ReportInput<'_>) -> String {
    let mut out = String::new();
    for trial in input.trials {
        if let Some(reason) = &trial.excluded {
            out += &note(&format!("Trial {} is left out of the analysis: {reason}", trial.number));
        }
    }
    out
}

/// Columns in which trials differ; the others are described in `same`.
fn columns<'a>(
    input: &'a ReportInput<'_>,
    shown: ShownColumns,
    same: &mut Vec<String>,
) -> Vec<Column<'a>> {
    let all = shown == ShownColumns::All;
    let mut columns = vec![
        column("trial", |trial: &ReportTrial| Cell::count(trial.number as usize)),
        column("row", |trial| {
            trial.row.map_or_else(Cell::missing, |row| Cell::count(row as usize))
        }),
    ];
    let repeats: BTreeSet<u32> = input.trials.iter().map(|trial| trial.replicate).collect();
    if all || repeats.len() > 1 {
        columns.push(column("replicate", |trial| Cell::count(trial.replicate as usize)));
    }
    let explained: BTreeSet<u32> = explained(input).map(|trial| trial.number).collect();
    columns.push(column("state", move |trial| state(trial, explained.contains(&trial.number))));
    for factor in &input.study.factors {
        let levels: BTreeSet<Option<String>> = input
            .trials
            .iter()
            .map(|trial| trial.configuration.get(&factor.name).map(ToString::to_string))
            .collect();
        match levels.first() {
            Some(Some(level)) if !all && levels.len() == 1 => {
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
        columns.extend(gpu_columns(input.trials));
    }
    let attempts: BTreeSet<u32> = input.trials.iter().map(|trial| trial.attempts).collect();
    match attempts.first() {
        Some(attempts_each) if !all && attempts.len() == 1 => {
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

fn state(trial: &ReportTrial, is_explained: bool) -> Cell {
    let state = trial.state;
    let mut word = format!("<span class=\"state state-{state}\">{state}</span>");
    if let Some(reason) = &trial.excluded {
        let _ = write!(word, " <span class=\"quiet\" title=\"{}\">excluded</span>", escape(reason));
    }
    if is_explained {
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

/// What trials used of each GPU; a mark says where a figure is of the whole device.
fn gpu_columns<'a>(trials: &[ReportTrial]) -> Vec<Column<'a>> {
    let used = trials.iter().filter_map(|trial| trial.usage.as_ref());
    let devices: BTreeSet<u32> = used.flat_map(|usage| &usage.gpus).map(|gpu| gpu.device).collect();
    let whole = |scope: GpuScope| if scope == GpuScope::Device { " (device)" } else { "" };
    let of = |device: u32, cell: fn(&GpuUsage) -> Option<(String, f64, GpuScope)>| {
        move |trial: &ReportTrial| {
            let own = trial
                .usage
                .as_ref()
                .and_then(|usage| usage.gpus.iter().find(|own| own.device == device));
            own.and_then(cell).map_or_else(Cell::missing, |(text, value, scope)| {
                Cell::shown(text + whole(scope), value)
            })
        }
    };
    let columns = |device: u32| {
        [
            column(
                &format!("GPU {device} (%)"),
                of(device, |own| {
                    let percent = own.utilization_percent?;
                    Some((figure(percent), percent, own.utilization_scope))
                }),
            ),
            column(
                &format!("GPU {device} memory"),
                of(device, |own| {
                    let peak = own.peak_memory_bytes?;
                    Some((bytes(peak), peak as f64, own.memory_scope))
                }),
            ),
            column(
                &format!("GPU {device} energy (J)"),
                of(device, |own| Some((figure(own.energy_j?), own.energy_j?, GpuScope::Device))),
            ),
        ]
    };
    devices.into_iter().flat_map(columns).collect()
}

fn started(trial: &ReportTrial) -> Cell {
    let Some(ms) = trial.started_ms else { return Cell::missing() };
    Cell::shown(Moment::of_unix_s(ms.div_euclid(1000)).to_string(), ms as f64)
}

/// The trials that ended badly.
fn ended_badly<'a>(input: &'a ReportInput<'_>) -> impl Iterator<Item = &'a ReportTrial> {
    let badly =
        |trial: &&ReportTrial| matches!(trial.state, TrialState::Failed | TrialState::Diverged);
    input.trials.iter().filter(badly)
}

/// Those whose end is explained below the table.
fn explained<'a>(input: &'a ReportInput<'_>) -> impl Iterator<Item = &'a ReportTrial> {
    ended_badly(input).take(MOST_OUTPUTS)
}

fn unfinished(input: &ReportInput<'_>) -> String {
    let all = ended_badly(input).count();
    if all == 0 {
        return String::new();
    }
    let mut out = String::from("<h3>Trials that did not finish</h3>\n");
    for trial in explained(input) {
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
    if all > MOST_OUTPUTS {
        let all = count(all, "trial");
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

#[cfg(test)]
mod tests {
    use trainwright_study::Usage;

    use super::*;
    use crate::tests::{SmallStudy, trial};

    fn page_of(trials: Vec<ReportTrial>) -> String {
        let mut own = SmallStudy::with("", "");
        own.trials = trials;
        section(&own.input(None))
    }

    #[test]
    fn a_level_that_never_changes_is_told_once_and_takes_no_column() {
        let finished = |number, row| trial(number, row, TrialState::Finished, Some(1.5));
        let page = page_of(vec![finished(1, 1), finished(2, 2)]);
        assert!(page.contains("The same in all trials: b = 10, attempts = 1."), "{page}");
        assert!(page.contains(">a</th>") && !page.contains(">b</th>"), "{page}");
        assert!(!page.contains(">replicate</th>") && !page.contains(">started (UTC)</th>"));
        let mut again = finished(2, 1);
        (again.replicate, again.attempts, again.started_ms) = (2, 3, Some(86_400_000));
        let page = page_of(vec![finished(1, 1), again]);
        assert!(page.contains(">replicate</th>") && page.contains(">attempts</th>"), "{page}");
        assert!(page.contains(">1970-01-02 00:00:00</td>"), "{page}");
    }

    #[test]
    fn figures_of_a_whole_gpu_are_marked_and_trials_without_one_have_a_dash() {
        let gpu = GpuUsage {
            device: 2,
            name: "G".to_owned(),
            utilization_percent: Some(40.5),
            utilization_scope: GpuScope::Device,
            peak_memory_bytes: Some(3 << 20),
            memory_scope: GpuScope::Tree,
            power_w: None,
            energy_j: None,
        };
        let mut with = trial(1, 1, TrialState::Finished, Some(1.0));
        with.usage = Some(Usage { gpus: vec![gpu], ..Usage::default() });
        let page = page_of(vec![with, trial(2, 2, TrialState::Finished, Some(1.0))]);
        assert!(page.contains(">GPU 2 (%)</th>"), "{page}");
        assert!(page.contains("title=\"40.5\">40.50 (device)</td>"), "{page}");
        assert!(page.contains(">3.0 MiB</td>"), "{page}");
        // Peak memory and energy were not measured; the second trial has no figures at all.
        assert_eq!(page.matches("title=\"not available\"").count(), 2 + 3 + 3, "{page}");
    }

    #[test]
    fn a_value_out_of_its_range_is_marked_and_a_missing_one_is_a_dash() {
        let mut strange = trial(1, 1, TrialState::Finished, Some(7.0));
        strange.measurements[0].in_range = false;
        let page = page_of(vec![strange, trial(2, 2, TrialState::Planned, None)]);
        assert!(page.contains("title=\"7\">7 (out of range)</td>"), "{page}");
        assert!(page.contains("title=\"not available\">\u{2013}</td>"), "{page}");
        assert_eq!(page_of(vec![]), "<p class=\"note\">No trial is planned yet.</p>\n");
    }

    #[test]
    fn a_trial_that_failed_is_explained_with_the_end_of_what_it_printed() {
        let mut failed = trial(3, 1, TrialState::Failed, None);
        failed.reason = Some("exit code 1\n<second line>".to_owned());
        failed.output_end = Some(format!("{}<end>", "é".repeat(MOST_OUTPUT)));
        let page = page_of(vec![failed]);
        assert!(
            page.contains("<a href=\"#trial-3\">") && page.contains("<details id=\"trial-3\">")
        );
        assert!(page.contains("exit code 1</summary>"), "{page}");
        assert!(page.contains("<pre>exit code 1\n&lt;second line&gt;</pre>"), "{page}");
        assert!(page.contains("The last 4000 of 4005 characters kept of its output:"), "{page}");
        let shown = page.rsplit_once("<pre>").unwrap().1.split_once("</pre>").unwrap().0;
        assert_eq!(shown.matches('é').count(), MOST_OUTPUT - 5);
        assert!(shown.ends_with("&lt;end&gt;"));
        let mut silent = trial(4, 1, TrialState::Diverged, None);
        silent.output_end = Some(" \n".to_owned());
        let page = page_of(vec![silent]);
        assert!(page.contains("no reason was recorded") && page.contains("It printed nothing."));
    }

    #[test]
    fn every_link_to_an_explanation_leads_somewhere() {
        let trials = (1..=60).map(|number| trial(number, 1, TrialState::Failed, None)).collect();
        let page = page_of(trials);
        assert!(page.contains("The first 50 of 60 trials that did not finish"), "{page}");
        for link in page.split("href=\"#").skip(1) {
            let id = link.split_once('"').unwrap().0;
            assert!(page.contains(&format!("id=\"{id}\"")), "nothing is called {id}");
        }
    }
}
