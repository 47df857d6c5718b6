//! Plans that run here: a plan file becomes a split job.

use std::path::Path;

use serde::Serialize;
use trainwright_networks::{LayerDescription, NetworkDescription};
use trainwright_plan::{
    PipelineOrder, PlanFile, PlannedOperator, PlannedPipeline, Sharding, Sums, Training,
};
use trainwright_study::{
    Cut, CutLayer, JobPipeline, JobSpec, JobSplit, NetworkName, Optimizer, StageOrder, Strategy,
};
use trainwright_train::TrainOutcome;

use crate::Error;
use crate::trainings::network::{NetworkRequest, description as description_of};
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
    /// Numbers that the optimiser keeps for each parameter as planned, where the plan tells, and in
    /// this training.
    pub predicted_optimizer_slots: Option<u8>,
    /// See there.
    pub optimizer_slots: u8,
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
    /// Numbers that the optimiser keeps for each parameter, where the plan tells.
    pub optimizer_slots: Option<u8>,
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
    let step = PlannedStep {
        seconds: file.step_time_s,
        memory_bytes: file.memory_bytes_per_device,
        optimizer_slots: file.training.map(|own| own.optimizer_slots),
    };
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
        || network_of(file).is_ok_and(|own| needs_whole(&own));
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

/// The network of a plan: of a text, or of a TOML file.
fn network_of(file: &PlanFile) -> Result<NetworkDescription, Error> {
    let description = file.network.clone();
    description_of(&NetworkRequest { description, input: None, classes: None })
}

/// Numbers that an optimiser keeps for each parameter.
fn optimizer_slots(optimizer: Optimizer) -> u8 {
    match optimizer {
        Optimizer::Sgd => 0,
        Optimizer::Momentum | Optimizer::Nesterov | Optimizer::AdaGrad => 1,
        Optimizer::Adam | Optimizer::AdamW | Optimizer::Ftrl => 2,
    }
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
                predicted_optimizer_slots: step.optimizer_slots,
                optimizer_slots: optimizer_slots(job.optimizer),
                measured_memory_bytes: (done.ranks.iter()).filter_map(|own| own.memory_bytes).max(),
            }),
            _ => None,
        };
        Self { planned, ..self }
    }
}

/// Refuses what a plan asks of training that ranks do not do.
fn check_training(training: &Training, copies: u32) -> Result<(), String> {
    let cut = match training.sharding {
        Sharding::None => None,
        Sharding::Optimizer => Some("the optimiser's numbers"),
        Sharding::Gradients => Some("gradients and the optimiser's numbers"),
        Sharding::Weights => Some("weights, gradients and the optimiser's numbers"),
    };
    let sums = match training.sums {
        Sums::Ring => None,
        Sums::Tree => Some("trees"),
        Sums::Sharded => Some("pieces that one copy updates"),
        Sums::Server => Some("a server"),
    };
    if training.recompute {
        return Err(
            "its ranks compute the forward pass again in the backward pass, which cannot run here; plan without --recompute"
                .into(),
        );
    }
    match (cut, sums) {
        _ if copies < 2 => Ok(()),
        (Some(what), _) => Err(format!(
            "its copies share {what}, but copies that run here hold all of them; plan without --sharding, and another strategy than sharded"
        )),
        (_, Some(how)) => Err(format!(
            "its gradients are added up by {how}, but those of ranks by rings; plan without --sums"
        )),
        _ => Ok(()),
    }
}

/// Parts of an operator by samples, by outputs, and by what it sums over.
fn degrees(own: &PlannedOperator) -> Result<[u16; 3], String> {
    let mut found = [1; 3];
    for (name, degree) in &own.degrees {
        match name.as_str() {
            "height" | "width" | "length" => {
                return Err(format!(
                    "operator `{}` is split by {name}, which cannot run here",
                    own.name
                ));
            }
            "sample" => found[0] *= degree,
            name if name.starts_with("sum of ") => found[2] *= degree,
            _ => found[1] *= degree,
        }
    }
    Ok(found)
}

/// How the layers of a plan are split over ranks.
///
/// # Errors
/// They are split in a way, or trained in one, that ranks here do not have.
pub(crate) fn split(file: &PlanFile) -> Result<JobSplit, String> {
    let split = match &file.pipeline {
        Some(pipeline) => staged(file, pipeline)?,
        None => grid(file)?,
    };
    if let Some(training) = &file.training {
        check_training(training, split.data)?;
    }
    Ok(split)
}

/// How the layers of a plan are split over ranks: as many by samples as the operator with the fewest
/// parts by them; the others are cut as finely over the ranks that have the same examples.
fn grid(file: &PlanFile) -> Result<JobSplit, String> {
    let all = file.operators.iter().map(degrees).collect::<Result<Vec<_>, _>>()?;
    let data = all.iter().map(|own| own[0]).min();
    let data = data.ok_or("it has neither operators nor stages")?;
    let tensor = all.iter().map(|own| own[1].max(own[2]).max(own[0] / data)).max().unwrap_or(1);
    let mut layers = Vec::new();
    for (own, degrees) in file.operators.iter().zip(all) {
        let cut = match degrees {
            [samples, 1, 1] if samples == data => continue,
            [samples, 1, 1] if samples == data * tensor => Cut::Samples,
            [samples, outputs, 1] if samples == data && outputs == tensor => Cut::Outputs,
            [samples, 1, inputs] if samples == data && inputs == tensor => Cut::Inputs,
            _ => {
                return Err(format!(
                    "operator `{}` is split otherwise than into {data} or {} by samples, or {tensor} by outputs or inputs; try --strategy data-parallel, tensor or pipeline",
                    own.name,
                    data * tensor
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
            training: None,
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
    fn layers_split_by_samples_stand_beside_others() {
        let found =
            split(&file(&[("0", &[("sample", 2)]), ("1", &[]), ("2", &[("channel", 2)])])).unwrap();
        assert_eq!((found.data, found.tensor), (1, 2));
        let cuts: Vec<(&str, Cut)> =
            found.layers.iter().map(|own| (own.name.as_str(), own.cut)).collect();
        assert_eq!(cuts, [("0", Cut::Samples), ("2", Cut::Outputs)]);
    }

    #[test]
    fn what_cannot_run_is_named() {
        let error = split(&file(&[("0", &[("sample", 2)]), ("1", &[("channel", 4)])])).unwrap_err();
        assert!(error.contains("operator `0`"), "{error}");
        let error = split(&file(&[("0", &[("height", 2)])])).unwrap_err();
        assert!(error.contains("height"), "{error}");
        let error =
            split(&file(&[("0", &[("channel", 4)]), ("1", &[("channel", 2)])])).unwrap_err();
        assert!(error.contains("operator `1`"), "{error}");
        assert!(split(&file(&[])).is_err());
    }

    #[test]
    fn what_ranks_do_not_do_is_refused_by_name() {
        let refused = |training: Training| {
            let copies = [("0", &[("sample", 2)][..])];
            let own = PlanFile { training: Some(training), ..file(&copies) };
            let job: JobSpec = serde_json::from_value(serde_json::json!({
                "network": "mlp", "data": "fashion-mnist-sample", "seed": 1,
            }))
            .unwrap();
            job_of(job, &own, Keeping::Nothing).err().unwrap_or_default()
        };
        let usual = Training::default();
        assert_eq!(refused(usual), "");
        let sharded = refused(Training { sharding: Sharding::Weights, ..usual });
        assert!(sharded.contains("weights, gradients and the optimiser's numbers"), "{sharded}");
        let again = refused(Training { recompute: true, ..usual });
        assert!(again.contains("--recompute"), "{again}");
        let served = refused(Training { sums: Sums::Server, ..usual });
        assert!(served.contains("a server"), "{served}");
    }

    #[test]
    fn layers_that_need_whole_batches_are_found_in_toml_files_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("drop.toml");
        let toml = "name = \"drop\"\ninput = [784]\n[[layer]]\nkind = \"dense\"\noutputs = 64\n\
                    [[layer]]\nkind = \"dropout\"\nrate = 0.5\n[[layer]]\nkind = \"dense\"\noutputs = 10\n";
        std::fs::write(&path, toml).unwrap();
        let both = [("sample", 2)];
        let own = PlanFile {
            network: path.display().to_string(),
            ..file(&[("0", &both), ("1", &both), ("2", &both)])
        };
        let job: JobSpec = serde_json::from_value(serde_json::json!({
            "network": "mlp", "data": "fashion-mnist-sample", "seed": 1,
        }))
        .unwrap();
        let job = job_of(job, &own, Keeping::Nothing).unwrap();
        assert_eq!((job.split, job.replicas), (None, 2), "they run as replicas");
    }
}
