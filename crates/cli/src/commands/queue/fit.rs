//! `trainwright queue fit`.

use trainwright::terminal::{self, Unit};
use trainwright::{Error, FitRequest, FitSource};

use super::show_in;
use crate::arguments::FitArguments;
use crate::commands::load;
use crate::output::stdout_colour;

pub(super) fn fit(arguments: &FitArguments) -> anyhow::Result<u8> {
    let missing = |what: &str| Error::Request(format!("a fit needs {what}"));
    let study = arguments.study.as_deref().map(load).transpose()?;
    let source = match (&study, &arguments.data) {
        (Some(study), _) => FitSource::Study {
            study,
            store: arguments.store.as_deref(),
            metric: arguments
                .metric
                .as_deref()
                .ok_or_else(|| missing("the metric that is the service time: --metric NAME"))?,
        },
        (None, Some(data)) => FitSource::Table {
            data,
            column: arguments
                .column
                .as_deref()
                .ok_or_else(|| missing("the column of the service times: --column NAME"))?,
            unit: arguments.unit.as_deref(),
            interarrival: arguments.interarrival.as_deref(),
        },
        (None, None) => return Err(missing("--data or --study").into()),
    };
    let reply = trainwright::fit_queue(&FitRequest {
        source,
        conditions: &arguments.conditions,
        arrival_rate: arguments.arrival.as_ref().map(|rate| rate.per_second()),
        servers: arguments.servers,
        seed: arguments.seed,
    })?;
    show_in(Unit::Seconds, arguments.json, &reply, |reply| {
        terminal::queue_fit(reply, stdout_colour())
    })?;
    Ok(0)
}
