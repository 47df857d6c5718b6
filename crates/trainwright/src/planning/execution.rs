//! Plans that run here: a plan file becomes a split job.

use std::path::Path;
use std::str::FromStr;

use serde::Serialize;
use trainwright_networks::{LayerDescription, NetworkDescription};
use trainwright_plan::{PipelineOrder, PlanFile, PlannedOperator, PlannedPipeline};
use trainwright_study::{
    Cut, CutLayer, JobPipeline, JobSpec, JobSplit, NetworkName, StageOrder, Strategy,
};
use trainwright_train::TrainOutcome;

use crate::Error;
use crate::trainings::train::Trained;

/// The time of a step and the memory of a rank as planned and as measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PlannedStepTime {
    /// Seconds as planned.
    pub predicted_s: f64,
    /// Seconds as measured: those of training over its steps.
    pub measured_s: f64,
    /// Bytes of the fullest device as planned.
    pub predicted_memory_bytes: u64,
    /// Bytes of the fullest rank as it had them: parameters, gradients, the optimiser's numbers and
    /// activations; absent where the ranks were replicas, which do not count it.
    pub measured_memory_bytes: Option<u64>,
}

/// What a plan file says of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlannedStep {
    /// Seconds.
    pub seconds: f64,
    /// Bytes of the fullest device.
    pub memory_bytes: u64,
}

/// The job that a plan file makes of a job: network, batch and split are the plan's. Also gives
/// what the plan says of a step.
///
/// Ranks of a split network have no dropout, batch norm, frozen layers or checkpoints. Where one of
/// these is there and all that the plan splits are examples, the ranks are replicas instead.
///
/// # Errors
/// The file is no plan, or it is one that cannot run here.
pub fn planned_job(
    job: JobSpec,
    path: &Path,
    keeping: Keeping,
) -> Result<(JobSpec, PlannedStep), Error> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| Error::Input { path: path.to_owned(), source })?;
    let file = PlanFile::from_json(&text)
        .map_err(|source| Error::PlanFile { path: path.to_owned(), source: Box::new(source) })?;
    let refused = |reason: String| Error::Request(format!("{}: {reason}", path.display()));
    let job = job_of(job, &file, keeping).map_err(refused)?;
    let step =
        PlannedStep { seconds: file.step_time_s, memory_bytes: file.memory_bytes_per_device };
    Ok((job, step))
}

/// Whether checkpoints of a job are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// No.
    Nothing,
    /// Yes.
    Checkpoints,
}

/// The job that a plan makes of a job.
pub(crate) fn job_of(job: JobSpec, file: &PlanFile, keeping: Keeping) -> Result<JobSpec, String> {
    let split = split(file)?;
    let network = NetworkName::try_from(file.network.clone()).map_err(|error| error.to_string())?;
    let batch = u32::try_from(file.batch)
        .map_err(|_| format!("its batch {} is too large to train", file.batch))?;
    let ranks = split.ranks();
    let only_examples = split.tensor == 1 && split.pipeline.is_none();
    let needs_replicas = keeping == Keeping::Checkpoints
        || job.freeze.is_some()
        || NetworkDescription::from_str(&file.network).is_ok_and(|own| needs_whole(&own));
    let split = Some(split).filter(|_| !(only_examples && needs_replicas));
    let mut job = JobSpec { network, batch, split, ..job };
    match job.strategy {
        Strategy::MultiWorker => job.workers = ranks,
        Strategy::OneDevice | Strategy::Mirrored => {
            job.strategy = Strategy::Mirrored;
            job.replicas = ranks;
        }
        other => {
            let word = other.word();
            return Err(format!(
                "--plan goes with --strategy mirrored or multi-worker, not {word}"
            ));
        }
    }
    Ok(job)
}

/// Whether a network has layers whose numbers of an example depend on others or on the step.
fn needs_whole(network: &NetworkDescription) -> bool {
    let is_such = |layer: &LayerDescription| {
        matches!(layer, LayerDescription::Dropout { .. } | LayerDescription::BatchNorm { .. })
    };
    network.layers.iter().any(|named| is_such(&named.layer))
}

impl Trained {
    /// The same with what a plan said of its steps.
    pub fn with_plan(self, job: &JobSpec, step: Option<PlannedStep>) -> Self {
        let planned = match (&self.outcome, step) {
            (TrainOutcome::Done(done), Some(step)) => Some(PlannedStepTime {
                predicted_s: step.seconds,
                measured_s: f64::from(job.batch) / done.examples_per_s,
                predicted_memory_bytes: step.memory_bytes,
                measured_memory_bytes: (done.ranks.iter()).filter_map(|own| own.memory_bytes).max(),
            }),
            _ => None,
        };
        Self { planned, ..self }
    }
}

/// How the layers of a plan are split over ranks.
fn split(file: &PlanFile) -> Result<JobSplit, String> {
    if let Some(pipeline) = &file.pipeline {
        return staged(file, pipeline);
    }
    let degree = |own: &PlannedOperator, wanted: fn(&str) -> bool| -> u16 {
        own.degrees.iter().filter(|(name, _)| wanted(name)).map(|(_, degree)| *degree).product()
    };
    let is_sum = |name: &str| name.starts_with("sum of ");
    let is_other = |name: &str| name != "sample" && !name.starts_with("sum of ");
    let data = file.operators.iter().map(|own| degree(own, |name| name == "sample")).max();
    let data = data.ok_or("it has neither operators nor stages")?;
    let cuts = |own: &PlannedOperator| (degree(own, is_other), degree(own, is_sum));
    let tensor = file.operators.iter().map(|own| cuts(own).0.max(cuts(own).1)).max().unwrap_or(1);
    let mut layers = Vec::new();
    for own in &file.operators {
        let refused = |what: &str| Err(format!("operator `{}` {what}", own.name));
        if let Some(name) =
            own.degrees.keys().find(|name| matches!(name.as_str(), "height" | "width" | "length"))
        {
            return refused(&format!("is split by {name}, which cannot run here"));
        }
        if degree(own, |name| name == "sample") != data {
            return refused(&format!(
                "is not split into {data} by samples as others are; try --strategy data-parallel, tensor or pipeline"
            ));
        }
        let cut = match cuts(own) {
            (1, 1) => continue,
            (outputs, 1) if outputs == tensor => Cut::Outputs,
            (1, inputs) if inputs == tensor => Cut::Inputs,
            _ => {
                return refused(&format!(
                    "is cut otherwise than into {tensor} by outputs or inputs"
                ));
            }
        };
        layers.push(CutLayer { name: own.name.clone(), cut });
    }
    Ok(JobSplit { data: data.into(), tensor: tensor.into(), layers, pipeline: None })
}

fn staged(file: &PlanFile, own: &PlannedPipeline) -> Result<JobSplit, String> {
    let stages = own.begins.len();
    if stages == 0 || !file.devices.is_multiple_of(stages) {
        return Err(format!("its {stages} stages do not share {} devices evenly", file.devices));
    }
    let order = match own.order {
        PipelineOrder::Gpipe => StageOrder::Gpipe,
        PipelineOrder::OneForwardOneBackward => StageOrder::OneForwardOneBackward,
    };
    let micro_batches = u32::try_from(own.micro_batches).map_err(|_| "too many micro-batches")?;
    let pipeline = Some(JobPipeline { begins: own.begins.clone(), micro_batches, order });
    let data = (file.devices / stages) as u32;
    Ok(JobSplit { data, tensor: 1, layers: Vec::new(), pipeline })
}

#[cfg(test)]
mod tests {
    use trainwright_plan::PLAN_SCHEMA;

    use super::*;

    fn file(operators: &[(&str, &[(&str, u16)])]) -> PlanFile {
        let operator = |(name, degrees): &(&str, &[(&str, u16)])| PlannedOperator {
            name: (*name).to_owned(),
            degrees: degrees.iter().map(|(name, degree)| ((*name).to_owned(), *degree)).collect(),
            devices: vec![],
        };
        PlanFile {
            schema: PLAN_SCHEMA.to_owned(),
            network: "mlp:784-8-10".into(),
            batch: 32,
            machine: "here".into(),
            devices: 2,
            step_time_s: 0.1,
            memory_bytes_per_device: 1,
            operators: operators.iter().map(operator).collect(),
            pipeline: None,
        }
    }

    #[test]
    fn degrees_become_a_grid() {
        let found = split(&file(&[
            ("0", &[("sample", 2), ("channel", 2)]),
            ("1", &[("sample", 2), ("sum of channel", 2)]),
            ("2", &[("sample", 2)]),
        ]))
        .unwrap();
        assert_eq!((found.data, found.tensor, found.ranks()), (2, 2, 4));
        let cuts: Vec<(&str, Cut)> =
            found.layers.iter().map(|own| (own.name.as_str(), own.cut)).collect();
        assert_eq!(cuts, [("0", Cut::Outputs), ("1", Cut::Inputs)]);
    }

    #[test]
    fn what_cannot_run_is_named() {
        let error = split(&file(&[("0", &[("sample", 2)]), ("1", &[])])).unwrap_err();
        assert!(error.contains("operator `1`"), "{error}");
        let error = split(&file(&[("0", &[("height", 2)])])).unwrap_err();
        assert!(error.contains("height"), "{error}");
        let error =
            split(&file(&[("0", &[("channel", 4)]), ("1", &[("channel", 2)])])).unwrap_err();
        assert!(error.contains("operator `1`"), "{error}");
        assert!(split(&file(&[])).is_err());
    }
}
