//! `trainwright export`.

use std::fs::File;

use trainwright::{Error, Results};

use super::load;
use crate::arguments::{ExportArguments, ExportFormat};
use crate::output::print;

pub(crate) fn export(arguments: &ExportArguments) -> anyhow::Result<u8> {
    let study = load(&arguments.study)?;
    let results = Results::read(&study, arguments.store.as_deref())?;
    let mut bytes = Vec::new();
    match arguments.format {
        ExportFormat::Csv => trainwright::export_csv(&study, &results, &mut bytes)?,
        ExportFormat::Json => {
            let value = trainwright::export_json(&study, &results);
            serde_json::to_writer_pretty(&mut bytes, &value)?;
            bytes.push(b'\n');
        }
    }
    match &arguments.output {
        None => print(&String::from_utf8(bytes)?)?,
        Some(path) => {
            let written = File::create(path)
                .and_then(|mut file| std::io::Write::write_all(&mut file, &bytes));
            written.map_err(|source| Error::Folder { path: path.clone(), source })?;
        }
    }
    Ok(0)
}
