//! A table of runs, as the page of a W&B project exports it.
//!
//! The table does not say which columns were set and which were measured, so they are told apart as
//! in any table.

use std::collections::BTreeMap;

use super::{ForeignRuns, of_pairs};
use crate::studies::init::columns_of;

/// What W&B writes about a run itself.
const BOOKKEEPING: [&str; 17] = [
    "Name",
    "State",
    "Notes",
    "User",
    "Tags",
    "Created",
    "Runtime",
    "Sweep",
    "ID",
    "Group",
    "Job Type",
    "Updated",
    "End Time",
    "Hostname",
    "GPU Type",
    "Commit",
    "Description",
];

/// Whether a line is the header of such a table.
pub(super) fn is_header(line: &str) -> bool {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
    let Some(Ok(header)) = reader.records().next() else { return false };
    let has = |name: &str| header.iter().any(|own| own.trim() == name);
    has("Name") && has("State") && (has("Runtime") || has("Created") || has("Sweep"))
}

/// Finished runs are results.
pub(super) fn runs(text: &str) -> Result<ForeignRuns, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let state = header.iter().position(|name| name.trim() == "State");
    let kept: Vec<usize> = (0..header.len())
        .filter(|index| {
            let name = header[*index].trim();
            !BOOKKEEPING.contains(&name) && !name.starts_with('_')
        })
        .collect();
    let (mut rows, mut left_out) = (Vec::new(), 0);
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        match state.is_none_or(|state| record[state].trim() == "finished") {
            true => rows.push(record),
            false => left_out += 1,
        }
    }
    let mut table = csv::Writer::from_writer(Vec::new());
    let in_memory = "writing to memory cannot fail";
    for record in std::iter::once(&header).chain(&rows) {
        table.write_record(kept.iter().map(|index| &record[*index])).expect(in_memory);
    }
    let table = String::from_utf8_lossy(&table.into_inner().expect(in_memory)).into_owned();
    let (factors, metrics) = columns_of(&table)?;
    let cells = |record: &csv::StringRecord, names: &[String]| -> BTreeMap<String, String> {
        let own =
            kept.iter().filter(|index| names.iter().any(|name| name == header[**index].trim()));
        own.map(|index| (header[*index].trim().to_owned(), record[*index].trim().to_owned()))
            .filter(|(_, cell)| !cell.is_empty() && !cell.eq_ignore_ascii_case("nan"))
            .collect()
    };
    let mut notes = vec![
        "the table does not say which columns were set and which were measured; check the split"
            .to_owned(),
    ];
    if left_out > 0 {
        notes.push(format!("{left_out} runs did not finish and are left out"));
    }
    let results = rows.iter().map(|row| (cells(row, &factors), cells(row, &metrics))).collect();
    Ok(of_pairs(results, notes))
}
