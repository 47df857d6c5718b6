//! `trainwright report`.

use trainwright::{ReportReply, Results};

use crate::arguments::ReportArguments;
use crate::commands::load;
use crate::output::show;
use crate::pages::write_report;

pub(crate) fn report(arguments: &ReportArguments) -> anyhow::Result<u8> {
    let study = load(&arguments.common.study)?;
    let results = Results::read(&study, arguments.common.store.as_deref())?;
    let bytes = write_report(&study, &results, &arguments.output)?;
    let reply = ReportReply { report: arguments.output.clone(), bytes };
    show("report", arguments.common.json, &reply, |reply| {
        format!("Wrote {} ({} kB).\n", reply.report.display(), reply.bytes / 1000)
    })?;
    Ok(0)
}
