//! What a load test means.

use trainwright_analysis::{CutShort, Finding, LoadMeasured, findings_of_load};
use trainwright_study::TrialState;

use super::{LoadEnd, LoadReply};

pub(super) fn findings(reply: &LoadReply) -> Vec<Finding> {
    let why = match reply.end {
        LoadEnd::Complete => None,
        LoadEnd::TimeUp => Some("the time was up"),
        LoadEnd::Interrupted => Some("it was stopped"),
    };
    findings_of_load(&LoadMeasured {
        measured: reply.measured.as_ref(),
        model: reply.model.as_ref(),
        not_summed: reply.not_summed.as_deref(),
        slots: reply.slots,
        jobs: reply.jobs.len(),
        failed: reply.count(TrialState::Failed),
        cut_short: why.map(|why| CutShort {
            why,
            stopped: reply.count(TrialState::Stopped),
            waiting: reply.left_waiting,
            never_came: reply.planned - reply.arrived,
        }),
    })
}
