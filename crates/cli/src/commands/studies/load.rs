//! `trainwright load`.

use std::env;
use std::time::Duration;

use anyhow::Context;
use trainwright::{Error, LoadArrivals, LoadEnd, LoadRequest, terminal};
use trainwright_study::TrialState;

use crate::arguments::{ArrivalsArgument, LoadArguments};
use crate::commands::load as load_study;
use crate::interrupt::Interrupt;
use crate::output::{show, stdout_colour, tell};
use crate::pages::{check_folder_of, now, write_file};

pub(crate) fn load(arguments: &LoadArguments) -> anyhow::Result<u8> {
    let study = load_study(&arguments.common.study)?;
    if let Some(path) = &arguments.report {
        check_folder_of(path)?;
    }
    let request = LoadRequest {
        store: arguments.common.store.as_deref(),
        arrivals: arrivals(arguments)?,
        jobs: arguments.jobs,
        slots: arguments.slots,
        warmup_jobs: arguments.warmup_jobs,
        max_time: max_time(arguments)?,
        set: &arguments.set,
        seed: arguments.seed,
        program: env::current_exe().context("cannot find this program's own file")?,
    };
    let interrupt = Interrupt::listen()?;
    let reply = trainwright::load(&study, &request, &|| interrupt.wish(), &mut |event| {
        tell(&terminal::load_event(&event));
    })?;
    if let Some(path) = &arguments.report {
        write_file(path, trainwright::load_page(&reply, &now()))?;
    }
    show("load", arguments.common.json, &reply, |reply| {
        format!("{}Kept in {}\n", terminal::load(reply, stdout_colour()), reply.kept.display())
    })?;
    Ok(match reply.end {
        LoadEnd::Interrupted => 130,
        _ if reply.count(TrialState::Failed) > 0 => 1,
        LoadEnd::Complete | LoadEnd::TimeUp => 0,
    })
}

fn arrivals(arguments: &LoadArguments) -> Result<LoadArrivals<'_>, Error> {
    let wrong = |text: &str| Err(Error::Request(text.to_owned()));
    let rate = arguments.rate.as_ref().map(|rate| rate.per_second());
    match (arguments.arrivals, rate, &arguments.arrivals_file) {
        (ArrivalsArgument::File, _, None) => wrong("--arrivals file needs --arrivals-file FILE"),
        (ArrivalsArgument::Poisson | ArrivalsArgument::File, _, Some(path)) => {
            Ok(LoadArrivals::File(path))
        }
        (ArrivalsArgument::Deterministic, _, Some(_)) => {
            wrong("a file says when jobs arrive; leave out --arrivals deterministic")
        }
        (ArrivalsArgument::Poisson, Some(rate_per_s), None) => {
            Ok(LoadArrivals::Poisson { rate_per_s })
        }
        (ArrivalsArgument::Deterministic, Some(rate_per_s), None) => {
            Ok(LoadArrivals::Deterministic { rate_per_s })
        }
        (_, None, None) => wrong("say how fast jobs arrive: --rate 40/h"),
    }
}

fn max_time(arguments: &LoadArguments) -> Result<Option<Duration>, Error> {
    let Some(span) = &arguments.max_time else { return Ok(None) };
    match Duration::try_from_secs_f64(span.seconds()) {
        Ok(time) if !time.is_zero() => Ok(Some(time)),
        _ => Err(Error::Request("--max-time must be a positive time, such as 30m".to_owned())),
    }
}
