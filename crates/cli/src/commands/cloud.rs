//! `trainwright cloud`: machines for a job, and methods that choose them.

use std::collections::BTreeMap;
use std::env;
use std::time::Duration;

use anyhow::Context;
use trainwright::clouds::{ExperimentRequest, Limits, Method, Stop};
use trainwright::{
    Again, CloudJob, Error, OwnRun, RecommendRequest, ReplayRequest, Wish, terminal,
};

use crate::arguments::{
    CatalogArguments, CloudObjective, CloudTellArguments, CloudVerb, ExperimentsArguments,
    ForetellArguments, RecommendArguments, ReplayArguments,
};
use crate::commands::load as load_study;
use crate::interrupt::Interrupt;
use crate::output::{show, tell};
use crate::pages::{check_folder_of, now, write_file};

pub(crate) fn cloud(verb: &CloudVerb) -> anyhow::Result<u8> {
    match verb {
        CloudVerb::Catalog(arguments) => catalog(arguments),
        CloudVerb::Recommend(arguments) => recommend(arguments),
        CloudVerb::Tell(arguments) => tell_run(arguments),
        CloudVerb::Replay(arguments) => replay(arguments),
        CloudVerb::Experiments(arguments) => experiments(arguments),
        CloudVerb::Foretell(arguments) => foretell(arguments),
    }
}

fn catalog(arguments: &CatalogArguments) -> anyhow::Result<u8> {
    let reply = trainwright::catalog(arguments.file.as_deref())?;
    show("cloud-catalog", arguments.json, &reply, terminal::cloud_catalog)?;
    Ok(0)
}

fn experiments(arguments: &ExperimentsArguments) -> anyhow::Result<u8> {
    let request = ExperimentRequest {
        parts: arguments.parts,
        total_parts: arguments.of,
        machines: arguments.nodes,
        cores: arguments.cores,
        budget: arguments.budget,
    };
    let reply = trainwright::cloud_experiments(&request)?;
    show("cloud-experiments", arguments.json, &reply, terminal::cloud_experiments)?;
    Ok(0)
}

fn foretell(arguments: &ForetellArguments) -> anyhow::Result<u8> {
    let reply = trainwright::cloud_foretell(&arguments.runs, &arguments.nodes, arguments.share)?;
    show("cloud-foretell", arguments.json, &reply, terminal::cloud_foretold)?;
    Ok(0)
}

fn recommend(arguments: &RecommendArguments) -> anyhow::Result<u8> {
    let study = arguments.study.as_deref().map(load_study).transpose()?;
    let by_command = arguments.command.as_deref().map(|line| CloudJob::Command {
        line,
        timeout: arguments.timeout.as_ref().map(|own| Duration::from_secs_f64(own.seconds())),
    });
    let program = env::current_exe().context("cannot find this program's own file")?;
    let interrupt = Interrupt::listen()?;
    let request = RecommendRequest {
        file: &arguments.file,
        catalog: arguments.catalog.as_deref(),
        nodes: arguments.nodes.as_deref(),
        objective: arguments.objective.map(CloudObjective::noun),
        limits: Limits {
            time_s: arguments.max_time.as_ref().map(|own| own.seconds()),
            cost_usd: arguments.max_cost,
        },
        history: arguments.history.as_deref(),
        method: arguments.method,
        seed: arguments.seed,
        job: study.as_ref().map(CloudJob::Study).or(by_command),
        most_runs: arguments.max_runs,
        count: arguments.count as usize,
        program: &program,
    };
    let wish = || interrupt.wish();
    let mut told = |run: &OwnRun| tell(&terminal::cloud_run(run));
    let reply = trainwright::cloud_recommend(&request, &wish, &mut told)?;
    show("cloud-recommend", arguments.json, &reply, terminal::cloud_recommendation)?;
    let failed = matches!(reply.stop, Some(Stop::AllFailed { .. }));
    Ok(if wish() != Wish::GoOn { 130 } else { u8::from(failed) })
}

fn tell_run(arguments: &CloudTellArguments) -> anyhow::Result<u8> {
    let runs = match &arguments.runs {
        Some(table) => trainwright::own_runs(table, arguments.workload.as_deref())?,
        None => vec![run_by_hand(arguments)?],
    };
    let again = if arguments.again { Again::Yes } else { Again::No };
    let reply = trainwright::cloud_tell(&arguments.file, runs, again)?;
    show("cloud-tell", arguments.json, &reply, terminal::cloud_recommendation)?;
    Ok(0)
}

fn run_by_hand(arguments: &CloudTellArguments) -> anyhow::Result<OwnRun> {
    let mut metrics = BTreeMap::new();
    for (name, value) in &arguments.metric {
        let number = value.parse::<f64>().ok().filter(|own| own.is_finite());
        let number = number.ok_or_else(|| {
            Error::Request(format!("--metric {name}={value}: `{value}` is not a number"))
        })?;
        metrics.insert(name.clone(), number);
    }
    Ok(OwnRun {
        vm_type: arguments.vm_type.clone().unwrap_or_default(),
        nodes: arguments.nodes,
        elapsed_s: arguments.time.as_ref().map(|own| own.seconds()),
        completed: !arguments.failed,
        metrics,
    })
}

fn replay(arguments: &ReplayArguments) -> anyhow::Result<u8> {
    if let Some(path) = &arguments.report {
        check_folder_of(path)?;
    }
    let methods = if arguments.method == ["all"] {
        Method::ALL.to_vec()
    } else {
        let named = arguments.method.iter().map(|name| Method::named(name));
        named.collect::<Result<Vec<_>, _>>().map_err(Error::from)?
    };
    let reply = trainwright::cloud_replay(&ReplayRequest {
        runs: &arguments.runs,
        history: arguments.history.as_deref(),
        methods,
        objective: arguments.objective.noun(),
        workload: arguments.workload.as_deref(),
        seeds: arguments.seeds,
        complete_only: arguments.complete_only,
    })?;
    if let Some(path) = &arguments.report {
        let name = arguments.runs.file_name().unwrap_or(arguments.runs.as_os_str());
        write_file(path, trainwright::cloud_page(&reply, &name.to_string_lossy(), &now()))?;
    }
    show("cloud-replay", arguments.json, &reply, terminal::cloud_replay)?;
    Ok(0)
}
