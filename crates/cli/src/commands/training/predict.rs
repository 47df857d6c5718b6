//! `trainwright predict`.

use trainwright::records::PixelLimit;
use trainwright::training::PredictRequest;
use trainwright::{Error, terminal};

use crate::arguments::PredictArguments;
use crate::commands::training::damaged_checkpoints::tell_damaged;
use crate::output::show;
use crate::pages::{now, write_file};

pub(crate) fn predict(arguments: &PredictArguments) -> anyhow::Result<u8> {
    let request = PredictRequest {
        from: arguments.from.clone(),
        data: arguments.data.clone(),
        data_dir: arguments.data_dir.clone(),
        test_data: arguments.test_data.clone(),
        threads: arguments.threads,
        max_pixels: arguments
            .max_pixels
            .map_or_else(PixelLimit::from_environment, Ok)
            .map_err(Error::from)?,
    };
    let predictions = trainwright::predict(&request)?;
    predictions.damaged.iter().for_each(tell_damaged);
    if let Some(path) = &arguments.output {
        write_file(path, trainwright::predictions_csv(&predictions))?;
    }
    if let Some(path) = &arguments.report {
        write_file(path, trainwright::predictions_page(&predictions, &now()))?;
    }
    show("predict", arguments.json, &predictions, terminal::predictions)?;
    Ok(0)
}
