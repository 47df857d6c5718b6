//! The verb `init`: a study file to start from.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use trainwright_study::{Level, is_identifier};

use crate::Error;
use crate::studies::import::ImportSource;
use crate::studies::import::direction_guess::guessed_line;
use crate::studies::import::foreign::{self, ForeignKind, study_file};

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

/// Writes a study file for what another program has kept, or for a table: with the factors and
/// levels found, and comments that say what could not be carried over.
///
/// # Errors
/// It does not read, has nothing to vary or to measure, or the study file exists already.
pub fn init_from(path: &Path, source: ImportSource<'_>) -> Result<InitReply, Error> {
    let ImportSource { file, which, kind } = source;
    let kind = kind.map_or_else(|| ForeignKind::of(file), Ok)?;
    if kind == ForeignKind::Csv {
        return init_from_csv(path, file);
    }
    let found = foreign::read(file, kind, which)?;
    let text = study_file(&found, kind, path, file, which);
    let refused = |message: String| Error::Import { file: file.to_owned(), message };
    write_new(path, &text.map_err(refused)?)
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
    let mut cells: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for record in &records {
        let cell = all(Role::Factor).map(|own| Level::parse(&record[own.index]).identity());
        let cell = cell.collect();
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

/// The columns of a table that were set, and those that were measured.
pub(crate) fn columns_of(text: &str) -> Result<(Vec<String>, Vec<String>), String> {
    let Columns { factors, metrics, .. } = read_columns(text)?;
    Ok((factors.into_iter().map(|(name, _)| name).collect(), metrics))
}

/// What a column may be; nothing for a constant one, and for texts without end.
fn candidate(index: usize, name: &str, records: &[csv::StringRecord]) -> Option<Candidate> {
    let mut levels: Vec<Level> = Vec::new();
    let mut texts: Vec<&str> = Vec::new();
    let mut filled = 0;
    for cell in records.iter().map(|record| record[index].trim()).filter(|c| !c.is_empty()) {
        filled += 1;
        let level = Level::parse(cell);
        if levels.len() <= MOST_LEVELS && !levels.iter().any(|own| own.same_as(&level)) {
            levels.push(level);
            texts.push(cell);
        }
    }
    let numbers = levels.iter().filter(|level| level.number().is_some()).count();
    let numeric = numbers == levels.len();
    if numeric {
        levels.sort_by(|a, b| {
            a.number().partial_cmp(&b.number()).unwrap_or(std::cmp::Ordering::Equal)
        });
    } else if numbers > 0 {
        // A factor has numbers or texts for levels, not both.
        levels = texts.into_iter().map(|text| Level::Text(text.to_owned())).collect();
    }
    // An empty cell repeats nothing: a result may be missing.
    let repeats = levels.len() < filled;
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
    let stem = study_name(path);
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
        put(format!("\n[factors.{}]\nlevels = [{}]", key(&name(column)?), levels.join(", ")));
    }
    put(format!(
        "\n[design]\n# Every combination; write the design that was really run, if it was another.\ntype = \"full\"\nreplications = {}",
        columns.replications
    ));
    let mut response = Err("no metrics found".to_owned());
    for (place, column) in columns.metrics.iter().enumerate() {
        let name = name(column)?;
        put(format!("\n[metrics.{}]\nunit = \"?\" # write its unit", key(&name)));
        // The last one is the response.
        if place + 1 == columns.metrics.len() {
            put(guessed_line(column));
        }
        response = Ok(name);
    }
    put(format!("\n[analysis]\nresponse = \"{}\"\nterms = \"main + 2fi\"", response?));
    let (table, path) = (table.display(), path.display());
    Ok(format!(
        "# Written from {table}. Next: trainwright import {table} --study {path}{renamed}\n\
         schema = 1\n\n[study]\nname = \"{stem}\"\nseed = 1\n{body}"
    ))
}

/// A name for a study, by its file's.
pub(crate) fn study_name(path: &Path) -> String {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("study");
    stem.trim_start_matches('.').replace(|c: char| !plain(c), "-")
}

/// Characters of a study's name.
fn plain(c: char) -> bool {
    c.is_alphanumeric() || "._-".contains(c)
}

/// A column's name as one that a study file and its formulas can use.
pub(crate) fn identifier(column: &str) -> String {
    if is_identifier(column) {
        return column.to_owned();
    }
    let name = column.replace(|c: char| !c.is_alphanumeric(), "_");
    if is_identifier(&name) { name } else { format!("_{name}") }
}

/// A name as a key of a TOML file: quoted where it is of another script than TOML's bare keys.
pub(crate) fn key(name: &str) -> String {
    if name.is_ascii() { name.to_owned() } else { format!("\"{name}\"") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use trainwright_study::{Direction, Study};

    use super::*;

    fn roles(table: &str) -> (Vec<String>, Vec<String>) {
        let columns = read_columns(table).unwrap();
        (columns.factors.into_iter().map(|(name, _)| name).collect(), columns.metrics)
    }

    fn refusal<T>(result: Result<T, String>) -> String {
        result.err().expect("it was not refused")
    }

    #[test]
    fn the_starter_is_a_study_without_a_fault() {
        let study = Study::from_text(STARTER).unwrap();
        assert!(study.task.is_some() && !study.factors.is_empty());
    }

    #[test]
    fn columns_that_repeat_are_factors_and_the_others_metrics() {
        let table = "lr,opt,loss,acc\n0.1,sgd,3,50\n0.1,adam,4,51\n0.2,sgd,5,52\n0.2,adam,6,53\n";
        assert_eq!(
            roles(table),
            (vec!["lr".into(), "opt".into()], vec!["loss".into(), "acc".into()])
        );
    }

    #[test]
    fn a_metric_with_a_missing_value_is_no_factor() {
        let table = "lr,loss,acc\n0.1,3,50\n0.1,4,\n0.2,5,52\n0.2,6,53\n";
        assert_eq!(roles(table), (vec!["lr".into()], vec!["loss".into(), "acc".into()]));
    }

    #[test]
    fn where_all_columns_repeat_the_last_number_is_the_result() {
        let table = "lr,batch,acc\n0.1,32,50\n0.1,64,50\n0.2,32,51\n0.2,64,51\n";
        assert_eq!(roles(table), (vec!["lr".into(), "batch".into()], vec!["acc".into()]));
    }

    #[test]
    fn where_nothing_repeats_texts_are_factors_or_all_but_the_last_number() {
        let texts = "engine,time\nfast,1\nslow,2\nother,3\n";
        assert_eq!(roles(texts), (vec!["engine".into()], vec!["time".into()]));
        let numbers = "nodes,time\n1,90\n2,50\n4,30\n";
        assert_eq!(roles(numbers), (vec!["nodes".into()], vec!["time".into()]));
    }

    #[test]
    fn counters_and_constants_are_passed_over() {
        let table = "run,id,host,x,y\n1,1,h,1,5\n2,2,h,2,6\n3,3,h,1,7\n4,4,h,2,8\n";
        assert_eq!(roles(table), (vec!["x".into()], vec!["y".into()]));
        assert_eq!(
            refusal(read_columns("y\n1\n2\n")),
            "it needs a factor (a column of 2 to 8 values) and a metric (a numeric column)"
        );
    }

    #[test]
    fn many_values_are_no_levels() {
        let mut table = "x,note,y\n".to_owned();
        for row in 0..18 {
            table += &format!("{},text {row},{}\n", row % 9, row);
        }
        // Nine values are one too many, and texts without end are nothing.
        assert!(read_columns(&table).is_err());
        let eight = table.replace("\n8,", "\n7,");
        assert_eq!(roles(&eight), (vec!["x".into()], vec!["y".into()]));
    }

    #[test]
    fn levels_are_sorted_and_replications_are_the_most_of_any_cell() {
        let table = "x,y\n10,1\n2,2\n2.0,3\n10,4\n2,5\n";
        let columns = read_columns(table).unwrap();
        let levels: Vec<String> = columns.factors[0].1.iter().map(Level::to_string).collect();
        assert_eq!(levels, ["2", "10"]);
        assert_eq!(columns.replications, 3);
    }

    #[test]
    fn a_column_of_numbers_and_texts_has_levels_that_are_all_texts() {
        let columns = read_columns("bits,y\n16,1\n1e1,2\nauto,3\n16,4\nauto,5\n").unwrap();
        let texts = ["16", "1e1", "auto"].map(|text| Level::Text(text.to_owned()));
        assert_eq!(columns.factors[0].1, texts);
    }

    #[test]
    fn names_become_such_as_formulas_can_use() {
        for (column, name) in [
            ("lr", "lr"),
            ("learning rate", "learning_rate"),
            ("time (s)", "time__s_"),
            ("2nd", "_2nd"),
            ("学習 率", "学習_率"),
        ] {
            assert_eq!(identifier(column), name);
            assert!(is_identifier(&identifier(column)), "{column}");
        }
    }

    #[test]
    fn the_file_tells_the_command_that_takes_the_table_in() {
        let table = "learning rate,time (s)\n0.1,5\n0.2,6\n0.1,7\n0.2,8\n";
        let columns = read_columns(table).unwrap();
        let text =
            study_text(&columns, Path::new("out/my study.toml"), Path::new("t.csv")).unwrap();
        let first = text.lines().next().unwrap();
        assert_eq!(
            first,
            "# Written from t.csv. Next: trainwright import t.csv --study out/my study.toml \
             --column 'learning_rate=learning rate' --column 'time__s_=time (s)'"
        );
        let study = Study::from_text(&text).unwrap();
        assert_eq!((study.name.as_str(), study.design.replications), ("my-study", 2));
        assert_eq!(study.analysis.response, "time__s_");
    }

    #[test]
    fn a_table_does_not_say_that_an_accuracy_should_be_large_so_it_is_guessed() {
        let columns = read_columns("lr,acc\n0.1,5\n0.2,6\n0.1,7\n0.2,8\n").unwrap();
        let text = study_text(&columns, Path::new("größe.toml"), Path::new("t.csv")).unwrap();
        assert!(text.contains("objective = \"maximize\" # a guess"), "{text}");
        let study = Study::from_text(&text).unwrap();
        assert_eq!((study.name.as_str(), study.direction()), ("größe", Direction::Maximize));
    }

    #[test]
    fn two_columns_of_one_name_are_refused() {
        let columns = read_columns("a b,a_b,y\n1,1,5\n1,2,6\n2,1,7\n2,2,8\n").unwrap();
        assert_eq!(
            refusal(study_text(&columns, Path::new("s.toml"), Path::new("t.csv"))),
            "two columns would be called `a_b`: rename `a_b`"
        );
    }

    proptest! {
        /// Whatever texts stand in a column, the study that is written loads and has them.
        #[test]
        fn every_text_is_a_level_that_loads(texts in proptest::collection::btree_set("[ -~äß→]{1,12}", 2..6)) {
            let mut writer = csv::Writer::from_writer(Vec::new());
            writer.write_record(["which", "y"]).unwrap();
            for (at, text) in texts.iter().chain(&texts).enumerate() {
                writer.write_record([text.as_str(), &format!("{at}.5")]).unwrap();
            }
            let table = String::from_utf8(writer.into_inner().unwrap()).unwrap();
            let Ok(columns) = read_columns(&table) else { return Ok(()) };
            let text = study_text(&columns, Path::new("s.toml"), Path::new("t.csv")).unwrap();
            let study = Study::from_text(&text);
            prop_assert!(study.is_ok(), "{}\n{}", text, study.unwrap_err());
            let levels = &study.unwrap().factors[0].levels;
            prop_assert!(columns.factors[0].1.iter().zip(levels).all(|(a, b)| a.same_as(b)));
            // Blanks around a cell are no part of it.
            let trimmed: std::collections::BTreeSet<&str> = texts.iter().map(|own| own.trim()).collect();
            let known = levels.iter().all(|level| level.number().is_some() || trimmed.contains(level.to_string().as_str()));
            prop_assert!(known, "{:?}", levels);
        }
    }
}
