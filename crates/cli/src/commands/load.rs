//! `trainwright load`.

use std::env;
use std::time::Duration;

use anyhow::Context;
use trainwright::{Error, LoadArrivals, LoadEnd, LoadEvent, LoadReply, LoadRequest};
use trainwright_queueing::{LoadModel, MeasuredQueue};
use trainwright_report::{LoadPage, figure, load_html};
use trainwright_study::TrialState;

use super::load as load_study;
use super::queue::findings_text;
use super::report::{now, write_page};
use super::run::check_folder_of;
use crate::arguments::{ArrivalsArgument, LoadArguments};
use crate::interrupt::Interrupt;
use crate::output::{print, print_json, tell};
use crate::quantities::Unit;

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
        tell(&progress(&event));
    })?;
    let words = text(&reply);
    if let Some(path) = &arguments.report {
        write_page(path, &page(&reply, &words))?;
    }
    if arguments.common.json {
        print_json("load", &reply)?
    } else {
        print(&format!(
            "{words}{}Kept in {}\n",
            findings_text(&reply.findings),
            reply.kept.display()
        ))?
    }
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

fn progress(event: &LoadEvent<'_>) -> String {
    match event {
        LoadEvent::Begun { jobs, slots, configuration } => {
            let plural = if *slots == 1 { "slot" } else { "slots" };
            format!("{jobs} jobs will arrive at {slots} {plural}, each with {configuration}")
        }
        LoadEvent::Ended { job, present } => format!(
            "job {} {}: waited {}, took {}; {present} waiting or running",
            job.number,
            job.state,
            Unit::Seconds.time(job.wait_s),
            Unit::Seconds.time(job.service_s),
        ),
    }
}

fn text(reply: &LoadReply) -> String {
    let unit = Unit::Seconds;
    let rate = match reply.rate_per_s {
        Some(rate) => format!("{} arrivals, {}", reply.arrivals, unit.rate_words(rate)),
        None => "arrivals from a file".to_owned(),
    };
    let plural = if reply.slots == 1 { "slot" } else { "slots" };
    let mut lines = vec![
        format!("{}: {rate}, {} {plural}, {}", reply.study, reply.slots, reply.configuration),
        format!(
            "jobs      {} of {} ended, {} failed",
            reply.measured_jobs().len(),
            reply.planned,
            reply.count(TrialState::Failed)
        ),
    ];
    if let Some(own) = &reply.measured {
        lines.extend(measured_lines(own, reply.slots));
    }
    if let (Some(own), Some(model)) = (&reply.measured, &reply.model) {
        lines.extend(model_lines(own, model));
    }
    lines.join("\n") + "\n"
}

fn measured_lines(own: &MeasuredQueue, slots: u32) -> Vec<String> {
    let unit = Unit::Seconds;
    let service = own.service.mean;
    vec![
        format!(
            "service   {} on average (95 % interval {} to {}), scv {}",
            unit.time(service.estimate),
            unit.time(service.low.max(0.0)),
            unit.time(service.high),
            figure(own.service.scv.estimate),
        ),
        format!(
            "load      {} of {} busy while jobs came and left; {} jobs in the system on average, {} of \
             them waiting",
            figure(own.utilisation * f64::from(slots)),
            if slots == 1 { "1 slot".to_owned() } else { format!("{slots} slots") },
            figure(own.mean_jobs),
            figure(own.mean_queue),
        ),
        format!(
            "wait      {} on average; {} % of the jobs found all slots busy",
            unit.time(own.mean_wait),
            figure(100.0 * own.p_wait),
        ),
        format!(
            "response  {} on average; half within {}, 90 % within {}",
            unit.time(own.mean_response),
            own.response_quantiles.p50.map_or_else(String::new, |time| unit.time(time)),
            own.response_quantiles.p90.map_or_else(String::new, |time| unit.time(time)),
        ),
    ]
}

fn model_lines(own: &MeasuredQueue, model: &LoadModel) -> Vec<String> {
    let unit = Unit::Seconds;
    let long_run = match &model.steady_state {
        Some(state) => {
            format!("{} in the long run", unit.time(state.mean_response))
        }
        None => "no long run, because the queue grows for ever".to_owned(),
    };
    let verdict = if model.agrees { "agrees" } else { "does not agree" };
    vec![format!(
        "model     {} says {long_run}, and {} to {} for 95 % of runs of {} jobs from an empty queue: it \
         {verdict} with the measurement",
        model.queue,
        unit.time(model.mean_response.low),
        unit.time(model.mean_response.high),
        own.jobs,
    )]
}

fn page(reply: &LoadReply, words: &str) -> String {
    load_html(&LoadPage {
        study: &reply.study,
        configuration: &reply.configuration.to_string(),
        jobs: &reply.measured_jobs(),
        measured: reply.measured.as_ref(),
        model: reply.model.as_ref(),
        words,
        findings: &reply.findings,
        program: concat!("trainwright ", env!("CARGO_PKG_VERSION")),
        written_at: &now(),
    })
}
