//! A training job of the built-in trainer.

pub(crate) mod augmentation;
pub(crate) mod compression;
mod limits;
pub(crate) mod network_name;
pub(crate) mod schedule;
pub(crate) mod split;
pub(crate) mod strategy;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::job::augmentation::Augmentation;
use crate::job::compression::Compression;
use crate::job::network_name::NetworkName;
use crate::job::schedule::Schedule;
use crate::job::split::JobSplit;
use crate::job::strategy::{AllReduce, Consistency, Scaling, Strategy, idle_keys};
use crate::{Configuration, Level};

/// One training job, complete: what `trainwright job` reads and `trainwright train` builds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobSpec {
    /// The network to train.
    pub network: NetworkName,
    /// A data set's name, or a folder.
    pub data: String,
    /// Folder to look for named data sets in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_dir: Option<PathBuf>,
    /// Hidden layers of an MLP.
    #[serde(default = "one")]
    pub hidden_layers: u32,
    /// Neurons in each hidden layer.
    #[serde(default = "default_neurons")]
    pub neurons: u32,
    /// Learning rate.
    #[serde(default = "default_lr")]
    pub lr: f64,
    /// Examples a step.
    #[serde(default = "default_batch")]
    pub batch: u32,
    /// Examples whose gradients are computed at once, the unit of a step's arithmetic: the number
    /// of replicas does not change it. Without it the share of a replica in the batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micro_batch: Option<u32>,
    /// Passes over the training data.
    #[serde(default = "one")]
    pub epochs: u32,
    /// What turns gradients into updates.
    #[serde(default)]
    pub optimizer: Optimizer,
    /// How learning rate and batch go on.
    #[serde(default)]
    pub schedule: Schedule,
    /// Epochs over which the learning rate rises to its full size.
    #[serde(default)]
    pub warmup: f64,
    /// Batch that the learning rate is meant for; it is scaled linearly to the batch in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_batch: Option<u32>,
    /// Momentum of the optimisers `momentum` and `nesterov`.
    #[serde(default = "default_momentum")]
    pub momentum: f64,
    /// What draws weights to zero; 0.01 for `adamw`, otherwise 0, where it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight_decay: Option<f64>,
    /// Penalty on absolute weights, for the optimiser `ftrl`.
    #[serde(default)]
    pub l1: f64,
    /// Largest global norm of the gradients; longer ones are scaled down to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip_norm: Option<f64>,
    /// Share of each label that is spread over all classes.
    #[serde(default)]
    pub label_smoothing: f64,
    /// Random changes of the pictures to learn from.
    #[serde(default, skip_serializing_if = "Augmentation::is_none")]
    pub augment: Augmentation,
    /// Side in pixels of the squares that the files of a picture folder are made; 64 without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u32>,
    /// Stop after this many epochs without a lower loss on a tenth of the training part that is
    /// held out for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_stopping: Option<u32>,
    /// Seconds of training after which the job ends with what it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit_s: Option<f64>,
    /// File of the test part, where the data are one file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_data: Option<String>,
    /// Safetensors file of weights to start from, in PyTorch's order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    /// Layers that do not learn: those whose name starts with this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freeze: Option<String>,
    /// Folder for TensorBoard event files; each trial of a study has its own in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tensorboard: Option<PathBuf>,
    /// Hash the features of a sparse model into two to the power of this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash_bits: Option<u32>,
    /// Whether the updates of a sparse model wait for each other.
    #[serde(default)]
    pub update: UpdateMode,
    /// How layers are split over the ranks of the strategy, as a plan says; ranks are copies
    /// without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<JobSplit>,
    /// How training is spread over devices.
    #[serde(default)]
    pub strategy: Strategy,
    /// Replicas of the network, each on threads of its own, for `mirrored` and `local-sgd`.
    #[serde(default = "one")]
    pub replicas: u32,
    /// Worker processes, for `multi-worker`, `parameter-server` and `local-sgd`.
    #[serde(default = "one")]
    pub workers: u32,
    /// Servers that own the parameters, for `parameter-server`.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub servers: u32,
    /// When servers apply the gradients of workers, for `parameter-server`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub consistency: Consistency,
    /// How many steps a worker may be ahead of the slowest, for the consistency `bounded`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub staleness: u32,
    /// How many of the workers are not waited for, for the consistency `sync`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub backup: u32,
    /// Steps between two averages of the parameters, for `local-sgd`.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub sync_every: u32,
    /// Momentum of the averages, for `local-sgd`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub outer_momentum: f64,
    /// How batch and learning rate follow the number of replicas.
    #[serde(default, skip_serializing_if = "is_default")]
    pub scaling: Scaling,
    /// In which order gradients are added, for `mirrored` and `multi-worker`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub all_reduce: AllReduce,
    /// How gradients are made smaller on their way, for `mirrored` and `multi-worker`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub compress: Compression,
    /// Whether gradients are added up while others are still computed, for `mirrored` and
    /// `multi-worker`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub overlap: bool,
    /// Whether the other workers go on after the loss of one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub elastic: bool,
    /// Threads that one replica computes with.
    #[serde(default = "one")]
    pub threads: u32,
    /// Seed of initial weights and shuffling.
    pub seed: u64,
}

/// What turns gradients into updates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Optimizer {
    /// Plain stochastic gradient descent.
    Sgd,
    /// Descent with momentum.
    Momentum,
    /// Descent with Nesterov's momentum.
    Nesterov,
    /// Adam with its usual constants.
    #[default]
    Adam,
    /// Adam with weight decay beside the step.
    #[serde(rename = "adamw")]
    AdamW,
    /// AdaGrad.
    #[serde(rename = "adagrad")]
    AdaGrad,
    /// FTRL-Proximal, for sparse models.
    Ftrl,
}

/// Whether the updates of a sparse model wait for each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UpdateMode {
    /// One update a batch.
    #[default]
    Sync,
    /// One update an example, on all threads without locks.
    Hogwild,
}

fn one() -> u32 {
    1
}
fn is_one(count: &u32) -> bool {
    *count == 1
}
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
fn default_neurons() -> u32 {
    128
}
fn default_lr() -> f64 {
    0.001
}
fn default_batch() -> u32 {
    32
}
fn default_momentum() -> f64 {
    0.9
}

/// Keys that `[job]` and factors of a job may have.
pub const JOB_KEYS: [&str; 42] = [
    "network",
    "data",
    "hidden_layers",
    "neurons",
    "lr",
    "batch",
    "micro_batch",
    "epochs",
    "optimizer",
    "schedule",
    "warmup",
    "reference_batch",
    "momentum",
    "weight_decay",
    "l1",
    "clip_norm",
    "label_smoothing",
    "augment",
    "size",
    "early_stopping",
    "time_limit_s",
    "test_data",
    "weights",
    "freeze",
    "tensorboard",
    "hash_bits",
    "update",
    "strategy",
    "replicas",
    "workers",
    "servers",
    "consistency",
    "staleness",
    "backup",
    "sync_every",
    "outer_momentum",
    "scaling",
    "all_reduce",
    "compress",
    "overlap",
    "elastic",
    "threads",
];

/// Why a job cannot be built: the key at fault and what is wrong with its value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}`: {message}")]
pub struct JobError {
    /// The key, or empty where the fault has no single key.
    pub key: String,
    /// What is wrong.
    pub message: String,
}

/// The `[job]` table: the keys that stay the same over all trials.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobTemplate {
    /// Keys and values in file order.
    pub fields: Configuration,
}

impl JobTemplate {
    /// The job of one configuration: the template's keys and the factors together. Keys of the
    /// template that some strategies have, such as replicas, are for those; with others they stay
    /// out.
    ///
    /// # Errors
    /// The first key whose value the trainer cannot take.
    pub fn job(&self, configuration: &Configuration, seed: u64) -> Result<JobSpec, JobError> {
        let mut object = serde_json::Map::new();
        for (key, level) in self.fields.iter().chain(configuration.iter()) {
            object.insert(key.to_owned(), json(level));
        }
        for key in idle_keys(&object) {
            if configuration.get(key).is_none() {
                object.remove(key);
            }
        }
        object.insert("seed".to_owned(), seed.into());
        let keys: Vec<String> = object.keys().cloned().collect();
        let job: JobSpec = serde_json::from_value(object.clone().into()).map_err(|error| {
            JobError { key: faulty_key(&object, &keys), message: plain(&error.to_string()) }
        })?;
        job.check()?;
        Ok(job)
    }
}

impl JobSpec {
    /// Whether every value is one that the trainer can take.
    ///
    /// # Errors
    /// The first key whose value it cannot take.
    pub fn check(&self) -> Result<(), JobError> {
        let fault = |key: &str, message: String| Err(JobError { key: key.to_owned(), message });
        if !(self.lr.is_finite() && self.lr > 0.0) {
            return fault("lr", format!("a learning rate is above 0, this is {}", self.lr));
        }
        let counts = [
            ("neurons", self.neurons),
            ("batch", self.batch),
            ("micro_batch", self.micro_batch.unwrap_or(1)),
            ("epochs", self.epochs),
            ("threads", self.threads),
            ("reference_batch", self.reference_batch.unwrap_or(1)),
            ("size", self.size.unwrap_or(1)),
            ("early_stopping", self.early_stopping.unwrap_or(1)),
        ];
        for (key, value) in counts {
            if value == 0 {
                return fault(key, "must be at least 1".to_owned());
            }
        }
        self.check_numbers()?;
        self.check_combinations()?;
        self.check_strategy()
    }
}

/// The key that alone keeps a job from being read, found by leaving out one at a time.
fn faulty_key(object: &serde_json::Map<String, serde_json::Value>, keys: &[String]) -> String {
    let mandatory = ["network", "data", "seed"];
    let reads = |object: serde_json::Map<String, serde_json::Value>| {
        serde_json::from_value::<JobSpec>(object.into()).is_ok()
    };
    let stand_in = |key: &str| match key {
        "network" => "mlp".into(),
        "data" => "any".into(),
        _ => serde_json::Value::from(0),
    };
    let without = |key: &String| {
        let mut trial = object.clone();
        trial.remove(key);
        if mandatory.contains(&key.as_str()) {
            trial.insert(key.clone(), stand_in(key));
        }
        reads(trial)
    };
    keys.iter().find(|key| without(key)).cloned().unwrap_or_default()
}

fn json(level: &Level) -> serde_json::Value {
    match level {
        Level::Truth(value) => (*value).into(),
        Level::Integer(value) => (*value).into(),
        Level::Number(value) => (*value).into(),
        Level::Text(value) => value.clone().into(),
    }
}

/// Serde's message in our words, without its trailing position.
fn plain(message: &str) -> String {
    let message = message.split(" at line ").next().unwrap_or(message);
    message.replace("unknown variant", "no such value:").replace("unknown field", "no such key:")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configuration(text: &str) -> Configuration {
        serde_json::from_str(text).unwrap()
    }

    #[track_caller]
    fn check_refused(factors: &str, key: &str, message: &str) {
        let template =
            JobTemplate { fields: configuration(r#"{"network":"mlp","data":"sample"}"#) };
        let error = template.job(&configuration(factors), 1).unwrap_err();
        assert_eq!(error.key, key);
        assert!(error.message.contains(message), "{}", error.message);
    }

    #[test]
    fn factors_fill_the_template() {
        let template =
            JobTemplate { fields: configuration(r#"{"network":"mlp","data":"sample"}"#) };
        let job = template.job(&configuration(r#"{"lr":0.01,"optimizer":"sgd"}"#), 5).unwrap();
        assert_eq!((job.lr, job.optimizer, job.batch, job.seed), (0.01, Optimizer::Sgd, 32, 5));
    }

    #[test]
    fn replicas_of_the_template_are_for_the_strategies_that_have_them() {
        let fields = r#"{"network":"mlp","data":"sample","replicas":2,"workers":3}"#;
        let template = JobTemplate { fields: configuration(fields) };
        let ranks = |factors: &str| template.job(&configuration(factors), 1).unwrap().ranks();
        assert_eq!(ranks("{}"), 1);
        assert_eq!(ranks(r#"{"strategy":"mirrored"}"#), 2);
        assert_eq!(ranks(r#"{"strategy":"multi-worker"}"#), 3);
        assert_eq!(ranks(r#"{"strategy":"mirrored","replicas":4}"#), 4);
        let error = template.job(&configuration(r#"{"replicas":4}"#), 1).unwrap_err();
        assert_eq!(error.key, "replicas", "a factor is never left out without a word");
    }

    #[test]
    fn keys_of_consistencies_are_for_the_trials_that_have_them() {
        let fields = r#"{"network":"mlp","data":"sample","strategy":"parameter-server",
            "workers":4,"staleness":2,"backup":1,"sync_every":8}"#;
        let template = JobTemplate { fields: configuration(fields) };
        let keys = |factors: &str| {
            let job = template.job(&configuration(factors), 1).unwrap();
            (job.staleness, job.backup, job.sync_every)
        };
        assert_eq!(keys("{}"), (0, 1, 1));
        assert_eq!(keys(r#"{"consistency":"bounded"}"#), (2, 0, 1));
        assert_eq!(keys(r#"{"consistency":"async"}"#), (0, 0, 1));
        let fields = r#"{"network":"mlp","data":"sample","workers":4,"sync_every":8}"#;
        let template = JobTemplate { fields: configuration(fields) };
        let local = template.job(&configuration(r#"{"strategy":"local-sgd"}"#), 1).unwrap();
        assert_eq!((local.workers, local.sync_every), (4, 8));
    }

    #[test]
    fn values_the_trainer_cannot_take_are_named() {
        check_refused(r#"{"lr":0.0}"#, "lr", "above 0");
        check_refused(r#"{"batch":0}"#, "batch", "at least 1");
        check_refused(r#"{"batch":1.5}"#, "batch", "invalid type");
        check_refused(r#"{"optimizer":"rmsprop"}"#, "optimizer", "no such value: `rmsprop`");
        check_refused(r#"{"strategy":"mirror"}"#, "strategy", "no such value: `mirror`");
        check_refused(r#"{"replicas":2}"#, "replicas", "`mirrored` and `local-sgd` have");
        check_refused(r#"{"schedule":"linear"}"#, "schedule", "is no schedule");
        check_refused(r#"{"warmup":-1.0}"#, "warmup", "at least 0, this is -1");
        check_refused(r#"{"momentum":1.0}"#, "momentum", "below 1, this is 1");
        check_refused(r#"{"clip_norm":0.0}"#, "clip_norm", "above 0, this is 0");
        check_refused(r#"{"hash_bits":31}"#, "hash_bits", "from 1 to 30, this is 31");
        check_refused(r#"{"optimizer":"ftrl"}"#, "optimizer", "`logistic` alone");
        check_refused(r#"{"network":"logistic"}"#, "optimizer", "sgd, adagrad or ftrl");
        check_refused(r#"{"augment":"turn"}"#, "augment", "no change of pictures");
        check_refused(
            r#"{"network":"logistic","optimizer":"sgd","augment":"flip"}"#,
            "augment",
            "no pictures",
        );
        check_refused(r#"{"update":"hogwild"}"#, "update", "`logistic` alone");
        check_refused(r#"{"network":"cnn"}"#, "network", "no such value: `cnn`");
    }
}
