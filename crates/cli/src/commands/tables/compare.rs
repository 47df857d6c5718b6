//! `trainwright compare`.

use std::path::PathBuf;

use trainwright::analysis::CompareOptions;
use trainwright::{Error, Results, terminal};

use crate::arguments::CompareArguments;
use crate::commands::load;
use crate::output::{show, stdout_colour};
use crate::pages::{check_folder_of, now, write_file};

pub(crate) fn compare(arguments: &CompareArguments) -> anyhow::Result<u8> {
    let found = match (arguments.studies.as_slice(), &arguments.data) {
        (several @ [_, _, ..], _) => return compare_studies(arguments, several),
        (_, _) if arguments.report.is_some() => {
            let message = "--report shows several studies; for one use `trainwright report`";
            return Err(Error::Request(message.to_owned()).into());
        }
        ([path], _) => {
            let study = load(path)?;
            let results = Results::read(&study, arguments.store.as_deref())?;
            let [by, column, baseline] = [&arguments.by, &arguments.column, &arguments.baseline];
            trainwright::compare_trials(
                &study,
                &results,
                by.as_deref(),
                column.as_deref(),
                baseline.as_deref(),
            )?
        }
        ([], Some(data)) => trainwright::compare(data, &options(arguments)?)?,
        ([], None) => unreachable!("the argument parser asks for a study or for data"),
    };
    show("compare", arguments.json, &found, |found| terminal::compared(found, stdout_colour()))?;
    // The program ends now; a hundred thousand comparisons would take a tenth of its time to free.
    std::mem::forget(found);
    Ok(0)
}

fn compare_studies(arguments: &CompareArguments, files: &[PathBuf]) -> anyhow::Result<u8> {
    if arguments.by.is_some() || arguments.column.is_some() {
        let message = "--by and --column are about one study; leave them out for several";
        return Err(Error::Request(message.to_owned()).into());
    }
    if let Some(path) = &arguments.report {
        check_folder_of(path)?;
    }
    let mut studies = Vec::new();
    for file in files {
        let study = load(file)?;
        let results = Results::read(&study, arguments.store.as_deref())?;
        studies.push((study, results));
    }
    let reply = trainwright::compare_studies(&studies)?;
    if let Some(path) = &arguments.report {
        write_file(path, trainwright::studies_page(&reply, &now()))?;
    }
    show("compare-studies", arguments.json, &reply, |reply| {
        terminal::studies_compared(reply, stdout_colour())
    })?;
    Ok(0)
}

fn options(arguments: &CompareArguments) -> Result<CompareOptions, Error> {
    let given = |value: &Option<String>, name: &str| {
        value.clone().ok_or_else(|| Error::Request(format!("with --data, {name} is needed too")))
    };
    Ok(CompareOptions {
        column: given(&arguments.column, "--column")?,
        by: given(&arguments.by, "--by")?,
        baseline: arguments.baseline.clone(),
        paired: arguments.paired.clone(),
        objective: arguments.objective.map(Into::into),
        alpha: arguments.alpha.unwrap_or(0.05),
    })
}
