//! Load tests in words.

use trainwright_queueing::{LoadModel, MeasuredQueue};
use trainwright_report::figure;
use trainwright_report::terminal::{Colour, Unit, findings_text};
use trainwright_study::TrialState;

use crate::{LoadEvent, LoadReply};

/// What a load test measured, beside what a model expects.
pub fn load(reply: &LoadReply, colour: Colour) -> String {
    load_summary(reply) + &findings_text(&reply.findings, colour)
}

/// The same without findings, which a page shows by themselves.
pub(crate) fn load_summary(reply: &LoadReply) -> String {
    let unit = Unit::Seconds;
    let rate = match reply.rate_per_s {
        Some(rate) => format!("{} arrivals, {}", reply.arrivals, unit.rate(rate)),
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

/// One event of a load test, in one line.
pub fn load_event(event: &LoadEvent<'_>) -> String {
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
