//! `trainwright metrics test`.

use trainwright::terminal;

use crate::arguments::MetricsTestArguments;
use crate::commands::load;
use crate::output::show;

pub(crate) fn test(arguments: &MetricsTestArguments) -> anyhow::Result<u8> {
    let study = load(&arguments.study)?;
    let reply = trainwright::metric_rules(&study, &arguments.log)?;
    show("metrics-test", arguments.json, &reply, terminal::metric_rules)?;
    Ok(0)
}
