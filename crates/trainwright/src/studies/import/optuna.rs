//! Completed trials of an Optuna study as a table of results.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use trainwright_store::OptunaStudy;
use trainwright_study::Study;

use crate::Error;

/// How every SQLite file begins.
const SQLITE: &[u8] = b"SQLite format 3\0";
/// The column of the only objective.
const VALUE: &str = "value";

/// Whether a file is an SQLite database rather than a table.
pub(super) fn is_database(file: &Path) -> bool {
    let mut begin = [0; SQLITE.len()];
    let read = File::open(file).and_then(|mut own| own.read_exact(&mut begin));
    read.is_ok() && begin == SQLITE
}

/// The trials as CSV: a column for each parameter, and `value`, or `value_0` and on for several
/// objectives. The response is taken from the first unless `columns` say otherwise.
///
/// # Errors
/// The file is no storage of Optuna, or has no such study.
pub(super) fn table(
    study: &Study,
    file: &Path,
    name: Option<&str>,
    columns: &mut BTreeMap<String, String>,
) -> Result<Vec<u8>, Error> {
    let own = OptunaStudy::read(file, name)?;
    let parameters: BTreeSet<&String> =
        own.trials.iter().flat_map(|trial| trial.parameters.keys()).collect();
    let objectives = own.trials.iter().map(|trial| trial.values.len()).max().unwrap_or(1);
    let value_name = |place: usize| match objectives {
        1 => VALUE.to_owned(),
        _ => format!("{VALUE}_{place}"),
    };
    let response = study.analysis.response.clone();
    if !parameters.contains(&response) {
        columns.entry(response).or_insert_with(|| value_name(0));
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = parameters.iter().map(|name| (*name).clone());
    let in_memory = "writing to memory cannot fail";
    writer.write_record(header.chain((0..objectives).map(value_name))).expect(in_memory);
    for trial in &own.trials {
        let cell = |name: &&String| trial.parameters.get(*name).map(ToString::to_string);
        let cells = parameters.iter().map(|name| cell(name).unwrap_or_default());
        let values = (0..objectives)
            .map(|place| trial.values.get(place).map(f64::to_string).unwrap_or_default());
        writer.write_record(cells.chain(values)).expect(in_memory);
    }
    Ok(writer.into_inner().expect(in_memory))
}
