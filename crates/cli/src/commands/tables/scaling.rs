//! `trainwright scaling` and `trainwright overhead`.

use trainwright::analysis::{OverheadOptions, ScalingOptions};
use trainwright::terminal;

use crate::arguments::{OverheadArguments, ScalingArguments};
use crate::output::{show, stdout_colour};

pub(crate) fn scaling(arguments: &ScalingArguments) -> anyhow::Result<u8> {
    let found = trainwright::scaling(
        &arguments.data,
        &ScalingOptions {
            column: arguments.column.clone(),
            workers: arguments.workers.clone(),
            size: arguments.size.clone(),
            predict: arguments.predict.clone(),
            predict_size: arguments.predict_size,
            alpha: arguments.alpha,
        },
    )?;
    show("scaling", arguments.json, &found, |found| terminal::scaling(found, stdout_colour()))?;
    Ok(0)
}

pub(crate) fn overhead(arguments: &OverheadArguments) -> anyhow::Result<u8> {
    let found = trainwright::overhead(
        &arguments.data,
        &OverheadOptions {
            column: arguments.column.clone(),
            steps: arguments.steps.clone(),
            by: arguments.by.clone(),
            samples: arguments.samples,
            unit: arguments.unit.clone(),
            alpha: arguments.alpha,
        },
    )?;
    show("overhead", arguments.json, &found, |found| terminal::overhead(found, stdout_colour()))?;
    Ok(0)
}
