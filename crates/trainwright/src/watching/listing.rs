//! Trials chosen by an expression, in an order, a window at a time.

use std::collections::BTreeSet;
use std::fmt::Write;

use trainwright_report::{ReportTrial, ShownColumns, SortKey, TrialTable, escape, with_unit};
use trainwright_study::{EvaluateError, Expression, Study, Value};

use crate::watching::thought::Thought;
use crate::{Error, StudyView};

/// Names that an expression may use beside factors and metrics.
const OWN_NAMES: [&str; 9] = [
    "trial",
    "row",
    "replicate",
    "state",
    "attempts",
    "wall_s",
    "cpu_s",
    "memory_bytes",
    "excluded",
];

/// Which trials, in which order, with which columns.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TrialQuery {
    /// An expression such as `lr > 0.01 and state == "finished"`; all trials without one.
    pub filter: String,
    /// The column to sort by, by its name; the run order without one.
    pub sort: String,
    /// Which way.
    pub order: SortDirection,
    /// Which columns.
    pub columns: ShownColumns,
}

/// Which way trials are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SortDirection {
    /// The smallest first.
    Ascending,
    /// The largest first.
    Descending,
}

/// The trials that a query chose.
pub struct TrialList {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// What is the same in all trials and has no column.
    pub same: Vec<String>,
    /// Trials of the study.
    pub total: usize,
    /// Places of the chosen trials in the view, in the order asked for.
    pub chosen: Vec<usize>,
    /// The column they are sorted by.
    sorted: Option<usize>,
    shown: ShownColumns,
}

impl TrialList {
    /// Chooses and sorts the trials of a view.
    ///
    /// # Errors
    /// The expression does not read or uses a name that no trial has, or there is no such column.
    pub fn new(view: &StudyView, query: &TrialQuery) -> Result<Self, Error> {
        let thought = Thought::none(&view.study);
        let input = view.input(&view.trials, &thought);
        let table = TrialTable::new(&input, query.columns);
        let columns: Vec<String> = table.names().map(str::to_owned).collect();
        let mut chosen = matching(view, &query.filter)?;
        let mut sorted = None;
        if !query.sort.is_empty() {
            let column = column_of(&columns, &view.study, &query.sort).ok_or_else(|| {
                let known = columns.join(", ");
                Error::Request(format!("there is no column `{}`; there are {known}", query.sort))
            })?;
            let mut keyed: Vec<(SortKey, usize)> =
                chosen.iter().map(|own| (table.key(column, &view.trials[*own]), *own)).collect();
            let descending = query.order == SortDirection::Descending;
            keyed.sort_by(|a, b| a.0.order(&b.0, descending).then(a.1.cmp(&b.1)));
            chosen = keyed.into_iter().map(|(_, own)| own).collect();
            sorted = Some(column);
        }
        let same = table.same.clone();
        Ok(Self { columns, same, total: view.trials.len(), chosen, sorted, shown: query.columns })
    }

    /// Rows of the table as markup, from a place in the list; numbers lead to `address`.
    pub fn rows(&self, view: &StudyView, from: usize, count: usize, address: &str) -> String {
        let thought = Thought::none(&view.study);
        let input = view.input(&view.trials, &thought);
        let table = TrialTable::new(&input, self.shown);
        let mut out = String::new();
        for (index, place) in self.chosen.iter().enumerate().skip(from).take(count) {
            let Some(trial) = view.trials.get(*place) else { continue };
            // The header is the first row.
            let _ = write!(out, "<tr aria-rowindex=\"{}\">", index + 2);
            out += &table.cells(trial, address);
            out += "</tr>\n";
        }
        out
    }

    /// The chosen trials.
    pub fn trials<'a>(&'a self, view: &'a StudyView) -> impl Iterator<Item = &'a ReportTrial> {
        self.chosen.iter().filter_map(|place| view.trials.get(*place))
    }

    /// The head of the table as markup; each column leads to `address` sorted by it.
    pub fn head(
        &self,
        query: &TrialQuery,
        address: &dyn Fn(&str, SortDirection) -> String,
    ) -> String {
        let mut out = String::from("<tr aria-rowindex=\"1\">");
        for (place, name) in self.columns.iter().enumerate() {
            let sorted = self.sorted == Some(place);
            let (state, next) = match (sorted, query.order) {
                (true, SortDirection::Ascending) => {
                    (" aria-sort=\"ascending\"", SortDirection::Descending)
                }
                (true, SortDirection::Descending) => {
                    (" aria-sort=\"descending\"", SortDirection::Ascending)
                }
                (false, _) => ("", SortDirection::Ascending),
            };
            let _ = write!(
                out,
                "<th scope=\"col\"{state}><a href=\"{}\">{}</a></th>",
                escape(&address(name, next)),
                escape(name)
            );
        }
        out + "</tr>"
    }
}

/// The column of a name: its heading, or what filters and JSON call the same.
fn column_of(columns: &[String], study: &Study, name: &str) -> Option<usize> {
    let metric = study.metrics.iter().find(|own| own.name == name);
    let heading = match (metric, name) {
        (Some(metric), _) => with_unit(name, metric.unit.as_deref()),
        (None, "wall_s") => "wall (s)".to_owned(),
        (None, "cpu_s") => "CPU (s)".to_owned(),
        (None, "memory_bytes") => "peak memory".to_owned(),
        (None, _) => name.to_owned(),
    };
    let place = |wanted: &str| columns.iter().position(|own| own == wanted);
    place(name).or_else(|| place(&heading))
}

/// Places of the trials for which an expression is true.
fn matching(view: &StudyView, filter: &str) -> Result<Vec<usize>, Error> {
    if filter.trim().is_empty() {
        return Ok((0..view.trials.len()).collect());
    }
    let wrong = |words: String| Error::Request(format!("cannot filter by `{filter}`: {words}"));
    let expression = Expression::parse(filter).map_err(|error| wrong(error.to_string()))?;
    let known = names(&view.study);
    if let Some(name) = expression.names().into_iter().find(|name| !known.contains(name)) {
        let known: Vec<&str> = known.into_iter().collect();
        return Err(wrong(format!("no trial has `{name}`; there are {}", known.join(", "))));
    }
    let mut out = Vec::new();
    for (place, trial) in view.trials.iter().enumerate() {
        match expression.truth(&|name| value(trial, name)) {
            Ok(true) => out.push(place),
            // A trial without the value, such as one that is planned, is not what was asked for.
            Ok(false)
            | Err(EvaluateError::MissingName { .. } | EvaluateError::DivisionByZero { .. }) => {}
            Err(error) => return Err(wrong(error.to_string())),
        }
    }
    Ok(out)
}

fn names(study: &Study) -> BTreeSet<&str> {
    let factors = study.factors.iter().map(|own| own.name.as_str());
    let metrics = study.metrics.iter().map(|own| own.name.as_str());
    factors.chain(metrics).chain(OWN_NAMES).collect()
}

fn value(trial: &ReportTrial, name: &str) -> Option<Value> {
    let number = |own: f64| Some(Value::Number(own));
    if let Some(level) = trial.configuration.get(name) {
        return Some(level.into());
    }
    if let Some(own) = trial.measurements.iter().find(|own| own.metric == name) {
        return number(own.value);
    }
    let usage = trial.usage.as_ref();
    match name {
        "trial" => number(trial.number.into()),
        "row" => number(trial.row?.into()),
        "replicate" => number(trial.replicate.into()),
        "state" => Some(Value::Text(trial.state.word().to_owned())),
        "attempts" => number(trial.attempts.into()),
        "wall_s" => number(usage?.wall_s),
        "cpu_s" => usage.and_then(|own| number(own.user_s + own.system_s)),
        "memory_bytes" => number(usage?.peak_memory_bytes? as f64),
        "excluded" => Some(Value::Truth(trial.excluded.is_some())),
        _ => None,
    }
}
