//! `trainwright compare`.

use trainwright::analysis::CompareOptions;
use trainwright::{Error, Results, terminal};

use crate::arguments::CompareArguments;
use crate::commands::load;
use crate::output::{show, stdout_colour};

pub(crate) fn compare(arguments: &CompareArguments) -> anyhow::Result<u8> {
    let found = match (&arguments.study, &arguments.data) {
        (Some(path), _) => {
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
        (None, Some(data)) => trainwright::compare(data, &options(arguments)?)?,
        (None, None) => unreachable!("the argument parser asks for a study or for data"),
    };
    show("compare", arguments.json, &found, |found| terminal::compared(found, stdout_colour()))?;
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
