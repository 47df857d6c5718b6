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
const STARTER: &str = include_str!("../assets/starter.toml");

/// Writes a commented, runnable study file.
///
/// # Errors
/// The file exists already or cannot be written.
pub fn init(path: &Path) -> Result<InitReply, Error> {
    write_new(path, STARTER)
}

/// Writes a study file for a table of results: columns with few values become factors, the other
/// numeric columns metrics.
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

fn read_columns(text: &str) -> Result<Columns, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names: Vec<String> = reader
        .headers()
        .map_err(|error| error.to_string())?
        .iter()
        .map(|name| name.trim().to_owned())
        .collect();
    let records: Vec<csv::StringRecord> =
        reader.records().collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    let mut columns = Columns { factors: Vec::new(), metrics: Vec::new(), replications: 1 };
    let mut factor_columns = Vec::new();
    for (index, name) in names.iter().enumerate() {
        if COUNTERS.contains(&name.as_str()) {
            continue;
        }
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
        if (2..=MOST_LEVELS).contains(&levels.len()) && records.len() > levels.len() {
            columns.factors.push((name.clone(), levels));
            factor_columns.push(index);
        } else if numeric && levels.len() > MOST_LEVELS {
            columns.metrics.push(name.clone());
        }
    }
    let mut cells: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
    for record in &records {
        *cells.entry(factor_columns.iter().map(|&c| record[c].trim()).collect()).or_default() += 1;
    }
    columns.replications = cells.values().copied().max().unwrap_or(1);
    if columns.factors.is_empty() || columns.metrics.is_empty() {
        return Err(format!(
            "no factors (columns of 2 to {MOST_LEVELS} values) or no metrics (numeric columns of more) found"
        ));
    }
    Ok(columns)
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
