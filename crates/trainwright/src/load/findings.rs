//! What a load test means, in words.

use trainwright_analysis::{Finding, Severity};
use trainwright_report::figure;
use trainwright_study::TrialState;

use super::{LoadEnd, LoadReply};
use crate::queue::{not_exponential, unstable};

/// Jobs below which a comparison says little.
const FEW: usize = 30;

pub(super) fn findings(reply: &LoadReply) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        [cut_short(reply), failures(reply), too_few(reply)].into_iter().flatten().collect();
    let (Some(measured), Some(model)) = (&reply.measured, &reply.model) else { return findings };
    if model.utilisation >= 1.0 {
        findings.push(unstable(model.utilisation, reply.slots));
    }
    findings.extend(not_exponential(&measured.service, &measured.exponential).map(|finding| {
        // The model of a load test does not assume exponential service; it is worth knowing.
        Finding { severity: Severity::Info, ..finding }
    }));
    if !model.agrees {
        let band = model.mean_response;
        let (seen, low, high) =
            (figure(measured.mean_response), figure(band.low), figure(band.high));
        findings.push(Finding::new("load-model-disagrees", Severity::Warning, format!(
                "the measured mean response of {seen} s lies outside {low} to {high} s, where {} puts \
                 95 % of such runs: service may depend on how busy the machine is, or on the job \
                 before",
                model.queue
            )));
    }
    findings
}

fn cut_short(reply: &LoadReply) -> Option<Finding> {
    let why = match reply.end {
        LoadEnd::Complete => return None,
        LoadEnd::TimeUp => "the time was up",
        LoadEnd::Interrupted => "it was stopped",
    };
    let stopped = reply.count(TrialState::Stopped);
    let never_came = reply.planned - reply.arrived;
    Some(Finding::new(
        "load-cut-short",
        Severity::Warning,
        format!(
            "the test ended early because {why}: {stopped} running and {} waiting jobs are left out, \
             and {never_came} never came; jobs left out are the long ones, so that means are too small",
            reply.left_waiting
        ),
    ))
}

fn failures(reply: &LoadReply) -> Option<Finding> {
    let failed = reply.count(TrialState::Failed);
    (failed > 0).then(|| Finding::new("load-failed-jobs", Severity::Serious, format!(
            "{failed} of {} jobs failed; their times count, and a job that fails may take more or less \
             time than one that does its work",
            reply.jobs.len()
        )))
}

fn too_few(reply: &LoadReply) -> Option<Finding> {
    let text = match (&reply.measured, &reply.not_summed) {
        (Some(measured), _) if measured.jobs >= FEW => return None,
        (Some(measured), _) => format!(
            "{} jobs count, which say little about a queue: its means vary slowly; let at least {FEW} \
             come, better some hundreds",
            measured.jobs
        ),
        (None, reason) => {
            let reason = reason.as_deref().unwrap_or("there are no jobs");
            format!("the jobs are kept but not summed up: {reason}")
        }
    };
    Some(Finding::new("load-few-jobs", Severity::Warning, text))
}
