//! A study file for what another program has kept.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use trainwright_study::Level;

use super::{ForeignFactor, ForeignKind, ForeignMetric, ForeignRuns, ForeignValues};
use crate::studies::import::direction_guess::{guessed_line, guessed_objective};
use crate::studies::init::{identifier, key, study_name};

/// Rows of a full design for each configuration that there is a result of, at most; a thinner
/// table was no full design.
const MOST_ROWS_A_RESULT: usize = 4;

/// The text of a study at `path` for what was found at `origin`.
///
/// # Errors
/// There is nothing to vary or to measure, or two names become the same.
pub(crate) fn study_file(
    found: &ForeignRuns,
    kind: ForeignKind,
    path: &Path,
    origin: &Path,
    which: Option<&str>,
) -> Result<String, String> {
    if found.factors.is_empty() {
        return Err(format!("it has no parameter that differs between runs{}", told(&found.notes)));
    }
    let Some(response) = found.metrics.last() else {
        return Err(format!("it has no metrics{}", told(&found.notes)));
    };
    let mut names = Names::default();
    let mut text = String::new();
    for ForeignFactor { name, values } in &found.factors {
        put(&mut text, &format!("\n[factors.{}]", key(&names.take(name)?)));
        put(&mut text, &values_line(values));
    }
    text.push_str(&plan(found));
    if let Some(command) = &found.command {
        put(&mut text, &format!("\n[run]\ncommand = {}", serde_json::json!(command)));
    }
    let mut response_name = String::new();
    for metric in &found.metrics {
        let name = names.take(&metric.name)?;
        let is_response = metric == response;
        put(&mut text, &metric_table(metric, &name, is_response));
        if is_response {
            response_name = name;
        }
    }
    put(&mut text, &format!("\n[analysis]\nresponse = \"{response_name}\""));
    Ok(head(found, kind, path, origin, which) + &text)
}

fn head(
    found: &ForeignRuns,
    kind: ForeignKind,
    path: &Path,
    origin: &Path,
    which: Option<&str>,
) -> String {
    let (shown, study) = (origin.display(), path.display());
    let next = match (found.results.is_empty(), which) {
        (true, _) => format!("trainwright check {study}"),
        (false, None) => format!("trainwright import {shown} --study {study}"),
        (false, Some(which)) => {
            format!("trainwright import {shown} --study {study} --which '{which}'")
        }
    };
    let mut text = format!("# Written from {shown}, {}. Next: {next}\n", kind.words());
    let guess = found.metrics.last().filter(|own| own.maximize.is_none()).map(|own| {
        let objective = guessed_objective(&own.name);
        format!("which end of `{}` is good is not in it: `{objective}` is a guess", own.name)
    });
    if !found.notes.is_empty() || guess.is_some() {
        text.push_str("# Not carried over, or to be looked at:\n");
    }
    for note in found.notes.iter().chain(&guess) {
        // What stands in a file must not end the comment.
        let note: String = note.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        put(&mut text, &format!("# - {note}"));
    }
    text + &format!("schema = 1\n\n[study]\nname = \"{}\"\nseed = 1\n", study_name(path))
}

/// The design or search: a search where there was one; a full design where the results look like
/// one; else nothing, which lets all results in.
fn plan(found: &ForeignRuns) -> String {
    if let Some(search) = &found.search {
        let mut text = format!(
            "\n[search]\nmethod = \"{}\"\nbudget = {{ trials = {} }}\n",
            search.method, search.trials
        );
        if !search.objectives.is_empty() {
            put(&mut text, &format!("objectives = {}", serde_json::json!(search.objectives)));
        }
        text.extend(search.early_stop.iter().map(|line| format!("{line}\n")));
        return text;
    }
    let mut cells: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for result in &found.results {
        let cell = found.factors.iter().map(|own| {
            result.get(&own.name).map(|text| Level::parse(text).identity()).unwrap_or_default()
        });
        *cells.entry(cell.collect()).or_default() += 1;
    }
    let levels = found.factors.iter().map(|own| match &own.values {
        ForeignValues::Levels(levels) => Some(levels.len()),
        ForeignValues::Range { .. } => None,
    });
    let rows = levels
        .collect::<Option<Vec<_>>>()
        .map(|all| all.into_iter().fold(1_usize, |product, levels| product.saturating_mul(levels)));
    match rows {
        Some(rows) if rows <= MOST_ROWS_A_RESULT * cells.len() => format!(
            "\n[design]\n# Every combination; write the design that was really run, if it was another.\n\
             type = \"full\"\nreplications = {}\n",
            cells.values().copied().max().unwrap_or(1)
        ),
        _ => {
            "\n# No [design]: the results are no full one. Results of any configuration come in.\n"
                .to_owned()
        }
    }
}

fn values_line(values: &ForeignValues) -> String {
    match values {
        ForeignValues::Levels(levels) => {
            let levels: Vec<String> = levels.iter().map(toml).collect();
            format!("levels = [{}]", levels.join(", "))
        }
        ForeignValues::Range { from, to, log } => {
            let scale = if *log { "\nscale = \"log\"" } else { "" };
            format!("range = {{ from = {}, to = {} }}{scale}", toml(from), toml(to))
        }
    }
}

fn metric_table(metric: &ForeignMetric, name: &str, is_response: bool) -> String {
    let mut text = format!("\n[metrics.{}]", key(name));
    if let Some(maximize) = metric.maximize {
        text += &format!("\nobjective = \"{}\"", if maximize { "maximize" } else { "minimize" });
    } else if is_response {
        text += &format!("\n{}", guessed_line(&metric.name));
    }
    for key in &metric.keys {
        text += &format!("\n{key}");
    }
    if !metric.keys.iter().any(|key| key.starts_with("unit")) {
        text += "\nunit = \"?\" # write its unit";
    }
    text
}

fn toml(level: &Level) -> String {
    serde_json::to_string(level).unwrap_or_default()
}

fn told(notes: &[String]) -> String {
    if notes.is_empty() { String::new() } else { format!(": {}", notes.join("; ")) }
}

fn put(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("writing to memory cannot fail");
}

/// Names that a study file can use, each once.
#[derive(Default)]
struct Names(BTreeSet<String>);

impl Names {
    fn take(&mut self, name: &str) -> Result<String, String> {
        let own = identifier(name);
        match self.0.insert(own.clone()) {
            true => Ok(own),
            false => Err(format!("two names would become `{own}`: rename `{name}`")),
        }
    }
}
