//! `trainwright run`.

use std::env;
use std::num::NonZero;

use anyhow::Context;
use trainwright::store::Durability;
use trainwright::{Accepted, Results, RetryFailed, RunEnd, RunReply, RunRequest};
use trainwright_study::TrialState;
use trainwright_web::TrackingServer;

use crate::arguments::{Acceptable, RunArguments};
use crate::commands::load;
use crate::interrupt::Interrupt;
use crate::output::{show, stdout_colour};
use crate::pages::{check_folder_of, write_report};
use crate::progress::Progress;

pub(crate) fn run(arguments: &RunArguments) -> anyhow::Result<u8> {
    let mut study = load(&arguments.common.study)?;
    study.run.slots = arguments.slots.map_or(study.run.slots, NonZero::get);
    let store = arguments.common.store.as_deref();
    let tracking = study.run.mlflow.then(|| TrackingServer::start(&study, store)).transpose()?;
    let request = RunRequest {
        store,
        durability: if arguments.no_flush { Durability::Unflushed } else { Durability::Flushed },
        retry_failed: if arguments.retry_failed { RetryFailed::Yes } else { RetryFailed::No },
        accepted: Accepted { command: arguments.accept.contains(&Acceptable::Command) },
        replay: arguments.replay.as_deref(),
        program: env::current_exe().context("cannot find this program's own file")?,
        engine: arguments.cluster.instead_of(&study.engine)?,
        variables: tracking.as_ref().map(TrackingServer::variables),
    };
    if let Some(path) = &arguments.report {
        check_folder_of(path)?;
    }
    let interrupt = Interrupt::listen()?;
    let mut progress = Progress::new(study.run.slots);
    let end = trainwright::run(&study, &request, &|| interrupt.wish(), &mut |event| {
        progress.hear(&event);
    });
    progress.finish();
    let end = end?;
    let results = Results::read(&study, store)?;
    if let Some(path) = &arguments.report {
        write_report(&study, &results, path)?;
    }
    let reply = RunReply::of(&study, &results, end, arguments.report.clone());
    show("run", arguments.common.json, &reply, |reply| {
        let page = reply.report.as_ref().map(|path| format!("Report: {}\n", path.display()));
        let verdict = trainwright::verdict(&study, &results, reply, stdout_colour());
        verdict + &page.unwrap_or_default()
    })?;
    Ok(match end {
        RunEnd::Interrupted => 130,
        _ if results.count(TrialState::Failed) > 0 => 1,
        RunEnd::NoMetric => 1,
        RunEnd::Complete | RunEnd::BudgetSpent => 0,
    })
}
