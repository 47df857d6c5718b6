//! `trainwright export`.

use trainwright::{Error, ExportTable, Results, UsageColumns};

use crate::arguments::{ExportArguments, ExportFormat};
use crate::commands::load;
use crate::output::print;
use crate::pages::write_file;

pub(crate) fn export(arguments: &ExportArguments) -> anyhow::Result<u8> {
    if arguments.spreadsheet_safe && arguments.format != ExportFormat::Csv {
        let message = "--spreadsheet-safe is about CSV tables; leave it out";
        return Err(Error::Request(message.to_owned()).into());
    }
    let study = load(&arguments.study)?;
    let results = Results::read(&study, arguments.store.as_deref())?;
    let usage = if arguments.usage { UsageColumns::Added } else { UsageColumns::LeftOut };
    let table = ExportTable::new(&study, &results, usage);
    let mut bytes = Vec::new();
    match arguments.format {
        ExportFormat::Csv => trainwright::export_csv(&table, &mut bytes)?,
        ExportFormat::Json => bytes = trainwright::to_json("export", &table).into_bytes(),
        ExportFormat::Parquet => parquet(&table, &mut bytes)?,
        ExportFormat::Mlflow => {
            let message = "an SQLite file of MLflow cannot be printed; name it with --output";
            let path = arguments.output.as_deref();
            let path = path.ok_or_else(|| Error::Request(message.to_owned()))?;
            trainwright::export_mlflow(&study, &results, path)?;
            return Ok(0);
        }
    }
    if arguments.spreadsheet_safe {
        bytes = trainwright::safe_for_spreadsheets(&bytes)?;
    }
    match &arguments.output {
        None => print(&bytes)?,
        Some(path) => write_file(path, &bytes)?,
    }
    Ok(0)
}

#[cfg(feature = "parquet")]
fn parquet(table: &ExportTable, output: &mut Vec<u8>) -> Result<(), Error> {
    trainwright::export_parquet(table, output)
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: &ExportTable, _: &mut Vec<u8>) -> Result<(), Error> {
    let message = "this program was built without Parquet; build it with `--features parquet`";
    Err(Error::Request(message.to_owned()))
}
