//! `trainwright report`.

use std::fs;
use std::path::Path;

use serde_json::json;
use trainwright::{Error, Results};
use trainwright_study::Study;

use super::load;
use crate::arguments::ReportArguments;
use crate::output::{print, print_json};

pub(crate) fn report(arguments: &ReportArguments) -> anyhow::Result<u8> {
    let study = load(&arguments.common.study)?;
    let results = Results::read(&study, arguments.common.store.as_deref())?;
    let bytes = write_report(&study, &results, &arguments.output)?;
    if arguments.common.json {
        print_json("report", &json!({ "report": arguments.output, "bytes": bytes }))?;
    } else {
        print(&format!("Wrote {} ({} kB).\n", arguments.output.display(), bytes / 1000))?;
    }
    Ok(0)
}

/// Writes a study's report and gives its size.
pub(crate) fn write_report(study: &Study, results: &Results, path: &Path) -> Result<usize, Error> {
    let html = trainwright::report(study, results, &now())?;
    write_page(path, &html)?;
    Ok(html.len())
}

/// Writes one page.
pub(crate) fn write_page(path: &Path, html: &str) -> Result<(), Error> {
    fs::write(path, html).map_err(|source| Error::Folder { path: path.to_owned(), source })
}

/// The present minute, for the foot of a page.
pub(crate) fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string()
}
