//! CSV tables that a spreadsheet shows and does not run.

use crate::Error;

/// The same table with an apostrophe before every cell that a spreadsheet would take for a
/// formula. Names and levels of a study may come from anywhere; `=HYPERLINK(...)` in one of them
/// would act on whoever opens the table (OWASP, CSV injection).
///
/// # Errors
/// The bytes are no CSV table.
pub fn safe_for_spreadsheets(table: &[u8]) -> Result<Vec<u8>, Error> {
    let failed = |error: csv::Error| Error::Request(format!("cannot write CSV: {error}"));
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(table);
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in reader.records() {
        let record = record.map_err(failed)?;
        writer.write_record(record.iter().map(safe)).map_err(failed)?;
    }
    writer.into_inner().map_err(|error| Error::Request(format!("cannot write CSV: {error}")))
}

fn safe(cell: &str) -> String {
    let acts = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if acts && cell.parse::<f64>().is_err() { format!("'{cell}") } else { cell.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_get_an_apostrophe_and_numbers_stay() {
        let table = "level,y\n=cmd|'/c calc'!A0,-1.5\n\"+1,2\",1e-3\n@x,-inf\nplain,\n";
        let safe = safe_for_spreadsheets(table.as_bytes()).unwrap();
        assert_eq!(
            String::from_utf8(safe).unwrap(),
            "level,y\n'=cmd|'/c calc'!A0,-1.5\n\"'+1,2\",1e-3\n'@x,-inf\nplain,\n"
        );
    }
}
