//! What a load test means, in words.

use trainwright_queueing::{LoadModel, MeasuredQueue};

use super::answer_findings::{not_exponential, unstable};
use crate::findings::{Finding, Severity};
use crate::wording::{brief, figure, p_value};

/// Jobs below which a comparison says little.
const FEW: usize = 30;

/// What a load test measured.
#[derive(Debug, Clone, Copy)]
pub struct LoadMeasured<'a> {
    /// Jobs that count, summed up.
    pub measured: Option<&'a MeasuredQueue>,
    /// What a queue model expects of them.
    pub model: Option<&'a LoadModel>,
    /// Why the jobs are not summed up.
    pub not_summed: Option<&'a str>,
    /// Jobs at the same time.
    pub slots: u32,
    /// Jobs that began.
    pub jobs: usize,
    /// Jobs that failed.
    pub failed: usize,
    /// Why the test ended before its last job did, and what that left.
    pub cut_short: Option<CutShort>,
}

/// What a load test that ended early left.
#[derive(Debug, Clone, Copy)]
pub struct CutShort {
    /// Why it ended, as a clause.
    pub why: &'static str,
    /// Jobs that ran.
    pub stopped: usize,
    /// Jobs that waited.
    pub waiting: usize,
    /// Jobs that had not come.
    pub never_came: usize,
}

/// What a load test means.
pub fn findings_of_load(reply: &LoadMeasured<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        [cut_short(reply), failures(reply), too_few(reply)].into_iter().flatten().collect();
    let (Some(measured), Some(model)) = (reply.measured, reply.model) else { return findings };
    if model.utilisation >= 1.0 {
        findings.push(unstable(model.utilisation, reply.slots));
    }
    findings.extend(not_exponential(&measured.service, &measured.exponential).map(|finding| {
        // The model of a load test does not assume exponential service; it is worth knowing.
        Finding { severity: Severity::Info, ..finding }
    }));
    findings.extend(disagreement(measured, model));
    findings
}

/// Where the measured jobs are none that the model would give.
fn disagreement(measured: &MeasuredQueue, model: &LoadModel) -> Option<Finding> {
    if model.agrees {
        return None;
    }
    let queue = &model.queue;
    let response = || {
        let seen = figure(measured.mean_response);
        let expected = figure(model.mean_response.estimate);
        format!(
            "the measured mean response of {seen} s is farther from the {expected} s that {queue} \
             expects than in 97.5 % of such runs"
        )
    };
    let service = model.dependence.filter(|own| own.p < 0.025).map(|own| {
        let longer = if own.correlation > 0.0 { "longer" } else { "shorter" };
        format!(
            "jobs that find servers busy take {longer} than others (rank correlation {}, {}), \
             where {queue} has service that does not depend on the load",
            brief(own.correlation),
            p_value(own.p)
        )
    });
    let reasons: Vec<String> =
        (!model.response_agrees).then(response).into_iter().chain(service).collect();
    let text = format!(
        "{}: service may depend on how busy the machine is, or on the job before",
        reasons.join("; ")
    );
    Some(Finding::new("load-model-disagrees", Severity::Warning, text))
}

fn cut_short(reply: &LoadMeasured<'_>) -> Option<Finding> {
    let CutShort { why, stopped, waiting, never_came } = reply.cut_short?;
    Some(Finding::new(
        "load-cut-short",
        Severity::Warning,
        format!(
            "the test ended early because {why}: {stopped} running and {waiting} waiting jobs are left \
             out, and {never_came} never came; jobs left out are the long ones, so that means are too \
             small"
        ),
    ))
}

fn failures(reply: &LoadMeasured<'_>) -> Option<Finding> {
    let LoadMeasured { failed, jobs, .. } = reply;
    let text = format!(
        "{failed} of {jobs} jobs failed; their times count, and a job that fails may take more or less \
         time than one that does its work"
    );
    (*failed > 0).then(|| Finding::new("load-failed-jobs", Severity::Serious, text))
}

fn too_few(reply: &LoadMeasured<'_>) -> Option<Finding> {
    let text = match (reply.measured, reply.not_summed) {
        (Some(measured), _) if measured.jobs >= FEW => return None,
        (Some(measured), _) => format!(
            "{} jobs count, which say little about a queue: its means vary slowly; let at least {FEW} \
             come, better some hundreds",
            measured.jobs
        ),
        (None, reason) => {
            let reason = reason.unwrap_or("there are no jobs");
            format!("the jobs are kept but not summed up: {reason}")
        }
    };
    Some(Finding::new("load-few-jobs", Severity::Warning, text))
}
