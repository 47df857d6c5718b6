//! The verb `train`: one training job, told as events, and what bound it.

use serde::Serialize;
use trainwright_analysis::{Attribution, TrainingAccount, attribute};
use trainwright_study::JobSpec;
use trainwright_train::{
    Flow, TrainEvent, TrainOptions, TrainOutcome, WorkRequest, Workers, train_with, work,
};

use crate::planning::execution::PlannedStepTime;
use crate::trainings::bottleneck::{MachineBefore, account};
use crate::{ClusterReply, Error};

/// A training that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// How it ended.
    pub outcome: TrainOutcome,
    /// What its ranks did with their time; absent where it came to no end, or they kept no account.
    pub account: Option<TrainingAccount>,
    /// Which resource bound it.
    pub bottleneck: Option<Attribution>,
    /// What a plan said of its steps, where it followed one.
    pub planned: Option<PlannedStepTime>,
}

/// Trains one network; `on_event` hears every step and may stop it.
///
/// Where nothing is said of workers, this program is started for each.
///
/// # Errors
/// The job is wrong, its data cannot be read, or what it keeps cannot be written.
pub fn train(
    job: &JobSpec,
    options: &TrainOptions,
    on_event: &mut dyn FnMut(&TrainEvent) -> Flow,
) -> Result<Trained, Error> {
    let before = MachineBefore::now();
    let workers = options.workers.clone().or_else(started_here);
    let options = TrainOptions { workers, ..options.clone() };
    let outcome = train_with(job, &options, on_event)?;
    let account = match &outcome {
        TrainOutcome::Done(done) => account(job, options.workers.as_ref(), done, &before),
        TrainOutcome::Diverged(_) | TrainOutcome::Stopped(_) => None,
    };
    let bottleneck = account.as_ref().and_then(attribute);
    Ok(Trained { outcome, account, bottleneck, planned: None })
}

impl Trained {
    /// The last event as a line of JSON, with what bound the training and what a cluster did for it.
    ///
    /// # Panics
    /// Never: events and verdicts are structures whose keys are texts.
    pub fn json_line(&self, cluster: Option<&ClusterReply>) -> String {
        let (event, bottleneck) = (self.outcome.clone().into(), self.bottleneck.as_ref());
        let line = LastLine { event: &event, bottleneck, planned: self.planned.as_ref(), cluster };
        serde_json::to_string(&line).expect("events and verdicts have fields with names")
    }
}

#[derive(Serialize)]
struct LastLine<'a> {
    #[serde(flatten)]
    event: &'a TrainEvent,
    #[serde(skip_serializing_if = "Option::is_none")]
    bottleneck: Option<&'a Attribution>,
    #[serde(skip_serializing_if = "Option::is_none")]
    planned: Option<&'a PlannedStepTime>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<&'a ClusterReply>,
}

/// Works for a job that another process trains.
///
/// # Errors
/// It is refused there, the data cannot be read here, or another worker is lost.
pub fn worker(request: &WorkRequest) -> Result<(), Error> {
    Ok(work(request)?)
}

/// Workers that are processes of this program.
pub(super) fn started_here() -> Option<Workers> {
    let program = std::env::current_exe().ok()?;
    Some(Workers::Started { program })
}
