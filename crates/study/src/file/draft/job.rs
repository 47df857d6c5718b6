//! A job of the built-in trainer before any check.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Level;

/// A job of the built-in trainer.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobDraft {
    /// The network: `mlp`, `logistic`, a description such as `cnn:flowers`, or a TOML file.
    pub network: Option<Level>,
    /// A data set's name, such as `fashion-mnist-sample`, or a folder.
    pub data: Option<Level>,
    /// Hidden layers of an MLP.
    pub hidden_layers: Option<Level>,
    /// Neurons in each hidden layer.
    pub neurons: Option<Level>,
    /// Learning rate.
    pub lr: Option<Level>,
    /// Examples a step.
    pub batch: Option<Level>,
    /// Examples whose gradients are computed at once, whatever the number of replicas.
    pub micro_batch: Option<Level>,
    /// Passes over the training data.
    pub epochs: Option<Level>,
    /// `sgd`, `momentum`, `nesterov`, `adam`, `adamw`, `adagrad` or `ftrl`.
    pub optimizer: Option<Level>,
    /// `constant`, `cosine`, `step:0.1@30,60`, `grow-batch:5@30,60` or `noise-scale`.
    pub schedule: Option<Level>,
    /// Epochs over which the learning rate rises to its full size.
    pub warmup: Option<Level>,
    /// Batch that the learning rate is meant for; it is scaled linearly to the batch in use.
    pub reference_batch: Option<Level>,
    /// Momentum of `momentum` and `nesterov`.
    pub momentum: Option<Level>,
    /// What draws weights to zero.
    pub weight_decay: Option<Level>,
    /// Penalty on absolute weights, for `ftrl`.
    pub l1: Option<Level>,
    /// Largest global norm of the gradients.
    pub clip_norm: Option<Level>,
    /// Share of each label that is spread over all classes.
    pub label_smoothing: Option<Level>,
    /// Random changes of the pictures to learn from: `none`, or some of `flip`, `crop:64`,
    /// `zoom:0.5` and `contrast:0.8-1.2` with commas between them.
    pub augment: Option<Level>,
    /// Side in pixels of the squares that the files of a picture folder are made.
    pub size: Option<Level>,
    /// Epochs without improvement after which a job stops.
    pub early_stopping: Option<Level>,
    /// Seconds of training after which a job ends with what it has.
    pub time_limit_s: Option<Level>,
    /// File of the test part, where the data are one file.
    pub test_data: Option<Level>,
    /// File of weights to start from.
    pub weights: Option<Level>,
    /// Start of the names of layers that do not learn.
    pub freeze: Option<Level>,
    /// Folder for TensorBoard event files, beside the study file; each trial has its own in it.
    pub tensorboard: Option<Level>,
    /// Hash the features of a sparse model into two to the power of this.
    pub hash_bits: Option<Level>,
    /// Whether the updates of a sparse model wait for each other: `sync` or `hogwild`.
    pub update: Option<Level>,
    /// `one-device`, `mirrored`, `multi-worker`, `parameter-server` or `local-sgd`.
    pub strategy: Option<Level>,
    /// Replicas of the network, for `mirrored` and `local-sgd`.
    pub replicas: Option<Level>,
    /// Worker processes, for `multi-worker`, `parameter-server` and `local-sgd`.
    pub workers: Option<Level>,
    /// Servers that own the parameters, for `parameter-server`.
    pub servers: Option<Level>,
    /// When servers apply gradients, for `parameter-server`: `sync`, `async` or `bounded`.
    pub consistency: Option<Level>,
    /// Steps that a worker may be ahead of the slowest, for the consistency `bounded`.
    pub staleness: Option<Level>,
    /// Workers that are not waited for, for the consistency `sync`.
    pub backup: Option<Level>,
    /// Steps between two averages of the parameters, for `local-sgd`.
    pub sync_every: Option<Level>,
    /// Momentum of the averages, for `local-sgd`.
    pub outer_momentum: Option<Level>,
    /// How batch and rate follow the number of replicas: `global` or `per-replica`.
    pub scaling: Option<Level>,
    /// In which order gradients are added: `fixed` or `ring`.
    pub all_reduce: Option<Level>,
    /// How gradients are made smaller on their way: `none`, `f16`, `bf16` or `top-k:0.01`.
    pub compress: Option<Level>,
    /// Whether the other workers go on after the loss of one.
    pub elastic: Option<Level>,
    /// Threads that one replica computes with.
    pub threads: Option<Level>,
}

impl JobDraft {
    /// Keys that were written, with their values.
    pub(crate) fn fields(self) -> Vec<(String, Level)> {
        let fields = [
            ("network", self.network),
            ("data", self.data),
            ("hidden_layers", self.hidden_layers),
            ("neurons", self.neurons),
            ("lr", self.lr),
            ("batch", self.batch),
            ("micro_batch", self.micro_batch),
            ("epochs", self.epochs),
            ("optimizer", self.optimizer),
            ("schedule", self.schedule),
            ("warmup", self.warmup),
            ("reference_batch", self.reference_batch),
            ("momentum", self.momentum),
            ("weight_decay", self.weight_decay),
            ("l1", self.l1),
            ("clip_norm", self.clip_norm),
            ("label_smoothing", self.label_smoothing),
            ("augment", self.augment),
            ("size", self.size),
            ("early_stopping", self.early_stopping),
            ("time_limit_s", self.time_limit_s),
            ("test_data", self.test_data),
            ("weights", self.weights),
            ("freeze", self.freeze),
            ("tensorboard", self.tensorboard),
            ("hash_bits", self.hash_bits),
            ("update", self.update),
            ("strategy", self.strategy),
            ("replicas", self.replicas),
            ("workers", self.workers),
            ("servers", self.servers),
            ("consistency", self.consistency),
            ("staleness", self.staleness),
            ("backup", self.backup),
            ("sync_every", self.sync_every),
            ("outer_momentum", self.outer_momentum),
            ("scaling", self.scaling),
            ("all_reduce", self.all_reduce),
            ("compress", self.compress),
            ("elastic", self.elastic),
            ("threads", self.threads),
        ];
        fields.into_iter().filter_map(|(key, level)| Some((key.to_owned(), level?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JOB_KEYS;

    #[test]
    fn every_key_of_a_job_is_handed_on_under_its_name() {
        for key in JOB_KEYS {
            let draft: JobDraft = toml::from_str(&format!("{key} = \"v\"")).unwrap();
            assert_eq!(draft.fields(), [(key.to_owned(), Level::Text("v".to_owned()))]);
        }
    }

    #[test]
    fn keys_come_in_one_order_whatever_the_file_has() {
        let text: String = JOB_KEYS.iter().rev().map(|key| format!("{key} = 1\n")).collect();
        let draft: JobDraft = toml::from_str(&text).unwrap();
        let keys: Vec<String> = draft.fields().into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, JOB_KEYS);
        assert_eq!(JobDraft::default().fields(), []);
    }
}
