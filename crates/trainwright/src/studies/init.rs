//! The verb `init`: a study file to start from.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use trainwright_study::{Level, is_identifier};

use crate::Error;

/// A commented study that runs as it is, with the built-in trainer and data.
const STARTER: &str = include_str!("../../assets/starter.toml");

/// Writes a commented, runnable study file.
///
/// # Errors
/// The file exists already or cannot be written.
pub fn init(path: &Path) -> Result<InitReply, Error> {
    write_new(path, STARTER)
}

/// Writes a study file for a table of results: columns with few values, some of them repeated,
/// become factors, the other numeric columns metrics. In a short table that has no such columns
/// the last numeric one is the metric and the others are factors.
///
/// # Errors
/// The table does not read or has no such columns, or the study file exists already.
pub fn init_from_csv(path: &Path, table: &Path) -> Result<InitReply, Error> {
    let text = std::fs::read_to_string(table)
        .map_err(|source| Error::Input { path: table.to_owned(), source })?;
    let refused = |message: String| Error::Import { file: table.to_owned(), message };
    let columns = read_columns(&text).map_err(refused)?;
    write_new(path, &study_text(&columns, path, table).map_err(refused)?)
}

/// The study file that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InitReply {
    /// Its path.
    pub study: PathBuf,
}

fn write_new(path: &Path, text: &str) -> Result<InitReply, Error> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => Error::Exists { path: path.to_owned() },
        _ => Error::Folder { path: path.to_owned(), source },
    })?;
    Ok(InitReply { study: path.to_owned() })
}

/// Most values that a column may have and still be a factor.
const MOST_LEVELS: usize = 8;

/// Names of columns that count rather than describe.
const COUNTERS: [&str; 8] =
    ["run", "rep", "replicate", "replication", "trial", "row", "id", "order"];

struct Columns {
    factors: Vec<(String, Vec<Level>)>,
    metrics: Vec<String>,
    replications: usize,
}

/// A column that may become a factor or a metric.
struct Candidate {
    index: usize,
    name: String,
    /// Distinct values; one more than a factor may have where there are more.
    levels: Vec<Level>,
    numeric: bool,
    role: Role,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Factor,
    Metric,
    /// A text for every row: a factor only where nothing else is.
    Label,
}

fn read_columns(text: &str) -> Result<Columns, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let records: Vec<csv::StringRecord> =
        reader.records().collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    let names = header.iter().map(str::trim).enumerate();
    let mut found: Vec<Candidate> = names
        .filter(|(_, name)| !COUNTERS.contains(name))
        .filter_map(|(index, name)| candidate(index, name, &records))
        .collect();
    settle_roles(&mut found);
    let all = |role: Role| found.iter().filter(move |own| own.role == role);
    let mut cells: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
    for record in &records {
        let cell = all(Role::Factor).map(|own| record[own.index].trim()).collect();
        *cells.entry(cell).or_default() += 1;
    }
    let columns = Columns {
        factors: all(Role::Factor).map(|own| (own.name.clone(), own.levels.clone())).collect(),
        metrics: all(Role::Metric).map(|own| own.name.clone()).collect(),
        replications: cells.values().copied().max().unwrap_or(1),
    };
    if columns.factors.is_empty() || columns.metrics.is_empty() {
        return Err(format!(
            "it needs a factor (a column of 2 to {MOST_LEVELS} values) and a metric (a numeric column)"
        ));
    }
    Ok(columns)
}

/// What a column may be; nothing for a constant one, and for texts without end.
fn candidate(index: usize, name: &str, records: &[csv::StringRecord]) -> Option<Candidate> {
    let mut levels: Vec<Level> = Vec::new();
    for cell in records.iter().map(|record| record[index].trim()).filter(|c| !c.is_empty()) {
        let level = Level::parse(cell);
        if levels.len() <= MOST_LEVELS && !levels.iter().any(|own| own.same_as(&level)) {
            levels.push(level);
        }
    }
    let numeric = levels.iter().all(|level| level.number().is_some());
    if numeric {
        levels.sort_by(|a, b| {
            a.number().partial_cmp(&b.number()).unwrap_or(std::cmp::Ordering::Equal)
        });
    }
    let repeats = levels.len() < records.len();
    let role = match (levels.len(), numeric) {
        (0 | 1, _) => return None,
        (values, numeric) if values > MOST_LEVELS => numeric.then_some(Role::Metric)?,
        _ if repeats => Role::Factor,
        (_, true) => Role::Metric,
        (_, false) => Role::Label,
    };
    Some(Candidate { index, name: name.to_owned(), levels, numeric, role })
}

/// Short tables leave open what is what: results stand last, as people write tables.
fn settle_roles(found: &mut [Candidate]) {
    let count = |found: &[Candidate], role| found.iter().filter(|own| own.role == role).count();
    if count(found, Role::Metric) == 0
        && count(found, Role::Factor) > 1
        && let Some(last) = found.iter_mut().rev().find(|own| own.numeric)
    {
        last.role = Role::Metric;
    }
    if count(found, Role::Factor) == 0 {
        let labels = found.iter_mut().filter(|own| own.role == Role::Label);
        labels.for_each(|own| own.role = Role::Factor);
    }
    let last = found.iter().rposition(|own| own.role == Role::Metric).unwrap_or(0);
    if count(found, Role::Factor) == 0 {
        let short = |own: &&mut Candidate| own.levels.len() <= MOST_LEVELS;
        found[..last].iter_mut().filter(short).for_each(|own| own.role = Role::Factor);
    }
}

fn study_text(columns: &Columns, path: &Path, table: &Path) -> Result<String, String> {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("study");
    let stem = stem.trim_start_matches('.').replace(|c: char| !plain(c), "-");
    let mut renamed = String::new();
    let mut used = BTreeSet::new();
    let mut name = |column: &str| {
        let name = identifier(column);
        if name != column {
            write!(renamed, " --column '{name}={column}'").expect("writing to memory cannot fail");
        }
        if used.insert(name.clone()) {
            Ok(name)
        } else {
            Err(format!("two columns would be called `{name}`: rename `{column}`"))
        }
    };
    let mut body = String::new();
    let mut put = |line: String| writeln!(body, "{line}").expect("writing to memory cannot fail");
    for (column, levels) in &columns.factors {
        let levels: Vec<String> =
            levels.iter().map(|level| serde_json::to_string(level).unwrap_or_default()).collect();
        put(format!("\n[factors.{}]\nlevels = [{}]", name(column)?, levels.join(", ")));
    }
    put(format!(
        "\n[design]\n# Every combination; write the design that was really run, if it was another.\ntype = \"full\"\nreplications = {}",
        columns.replications
    ));
    let mut response = Err("no metrics found".to_owned());
    for column in &columns.metrics {
        let name = name(column)?;
        put(format!("\n[metrics.{name}]\nunit = \"?\" # write its unit"));
        response = Ok(name);
    }
    put(format!("\n[analysis]\nresponse = \"{}\"\nterms = \"main + 2fi\"", response?));
    let (table, path) = (table.display(), path.display());
    Ok(format!(
        "# Written from {table}. Next: trainwright import {table} --study {path}{renamed}\n\
         schema = 1\n\n[study]\nname = \"{stem}\"\nseed = 1\n{body}"
    ))
}

/// Characters of a study's name.
fn plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._-".contains(c)
}

/// A column's name as one that a study file and its formulas can use.
fn identifier(column: &str) -> String {
    if is_identifier(column) {
        return column.to_owned();
    }
    let name = column.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    if is_identifier(&name) { name } else { format!("_{name}") }
}
