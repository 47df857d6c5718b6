//! `trainwright surface`.

use trainwright::analysis::SurfaceOptions;
use trainwright::{Error, Results, terminal};

use crate::arguments::SurfaceArguments;
use crate::commands::load;
use crate::output::{show, stdout_colour};
use crate::pages::{now, write_file};

pub(crate) fn surface(arguments: &SurfaceArguments) -> anyhow::Result<u8> {
    let found = match (&arguments.study, &arguments.data, &arguments.column) {
        (Some(path), _, _) => {
            let study = load(path)?;
            let results = Results::read(&study, arguments.store.as_deref())?;
            trainwright::surface_of_trials(&study, &results)?
        }
        (None, Some(data), Some(column)) => {
            let options = SurfaceOptions {
                column: column.clone(),
                factors: arguments.factors.clone(),
                direction: arguments.objective.map(Into::into),
                alpha: arguments.alpha,
            };
            trainwright::surface(data, &options)?
        }
        _ => {
            let missing = "with --data, --column and --factors are needed too";
            return Err(Error::Request(missing.to_owned()).into());
        }
    };
    if let (Some(path), Some(file)) =
        (&arguments.report, arguments.data.as_ref().or(arguments.study.as_ref()))
    {
        write_file(path, trainwright::surface_report(file, &found, &now()))?;
    }
    show("surface", arguments.json, &found, |found| terminal::surface(found, stdout_colour()))?;
    Ok(0)
}
