//! `trainwright search`, `ask` and `tell`.

use std::collections::BTreeMap;
use std::env;
use std::num::NonZero;

use anyhow::Context;
use trainwright::store::Durability;
use trainwright::{
    Accepted, Results, RetryFailed, RunEnd, RunRequest, SearchReply, Told, terminal,
};
use trainwright_study::TrialState;
use trainwright_web::TrackingServer;

use crate::arguments::{Acceptable, AskArguments, SearchArguments, TellArguments};
use crate::commands::load;
use crate::interrupt::Interrupt;
use crate::output::show;
use crate::pages::{check_folder_of, write_report};
use crate::progress::Progress;

pub(crate) fn search(arguments: &SearchArguments) -> anyhow::Result<u8> {
    let mut study = load(&arguments.common.study)?;
    study.run.slots = arguments.slots.map_or(study.run.slots, NonZero::get);
    let store = arguments.common.store.as_deref();
    let end = if arguments.explain {
        None
    } else {
        let tracking =
            study.run.mlflow.then(|| TrackingServer::start(&study, store)).transpose()?;
        let request = RunRequest {
            store,
            durability: if arguments.no_flush {
                Durability::Unflushed
            } else {
                Durability::Flushed
            },
            retry_failed: RetryFailed::No,
            accepted: Accepted { command: arguments.accept.contains(&Acceptable::Command) },
            replay: None,
            program: env::current_exe().context("cannot find this program's own file")?,
            engine: arguments.cluster.instead_of(&study.engine)?,
            variables: tracking.as_ref().map(TrackingServer::variables),
        };
        if let Some(path) = &arguments.report {
            check_folder_of(path)?;
        }
        let interrupt = Interrupt::listen()?;
        let mut progress = Progress::new(study.run.slots);
        let end = trainwright::search(&study, &request, &|| interrupt.wish(), &mut |event| {
            progress.hear(&event);
        });
        progress.finish();
        Some(end?)
    };
    let results = Results::read(&study, store)?;
    if let Some(path) = &arguments.report {
        write_report(&study, &results, path)?;
    }
    let code = match end.as_ref().map(|own| own.end) {
        Some(RunEnd::Interrupted) => 130,
        Some(_) if results.count(TrialState::Failed) > 0 => 1,
        Some(RunEnd::NoMetric) => 1,
        _ => 0,
    };
    let reply = SearchReply::of(&study, &results, end)?;
    show("search", arguments.common.json, &reply, terminal::search)?;
    Ok(code)
}

pub(crate) fn ask(arguments: &AskArguments) -> anyhow::Result<u8> {
    let study = load(&arguments.common.study)?;
    let reply = trainwright::ask(&study, arguments.common.store.as_deref(), arguments.count)?;
    show("ask", arguments.common.json, &reply, terminal::asked)?;
    Ok(0)
}

pub(crate) fn tell(arguments: &TellArguments) -> anyhow::Result<u8> {
    let study = load(&arguments.common.study)?;
    let told = Told {
        trial: arguments.trial,
        values: arguments.values.iter().cloned().collect::<BTreeMap<_, _>>(),
        failed: arguments.failed.clone(),
        seconds: arguments.seconds,
    };
    let reply = trainwright::tell(&study, arguments.common.store.as_deref(), &told)?;
    show("tell", arguments.common.json, &reply, terminal::told)?;
    Ok(0)
}
