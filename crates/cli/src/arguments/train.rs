//! Arguments of `train` and `job`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use trainwright::records::PixelLimit;
use trainwright::training::CheckpointEvery;

use super::ClusterArguments;

#[derive(Debug, Args)]
pub(crate) struct TrainArguments {
    /// Network: mlp, logistic, a description such as cnn:flowers, or a TOML file; see
    /// `trainwright network`.
    #[arg(long, default_value = "mlp")]
    pub network: String,
    /// Data set's name, a folder of IDX files, of prepared shards or of pictures (a folder a
    /// class), or a libsvm file for the network `logistic`.
    #[arg(long, default_value = "fashion-mnist-sample")]
    pub data: String,
    /// Side of the squares that the files of a picture folder are made [default: 64].
    #[arg(long, value_name = "PIXELS")]
    pub size: Option<i64>,
    /// Most pixels that a picture file may have [default: TRAINWRIGHT_MAX_PIXELS, or else
    /// 100000000].
    #[arg(long, value_name = "PIXELS")]
    pub max_pixels: Option<PixelLimit>,
    /// Folder to look for named data sets in.
    #[arg(long, value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,
    /// Hidden layers.
    #[arg(long, default_value_t = 1)]
    pub hidden_layers: i64,
    /// Neurons in each hidden layer.
    #[arg(long, default_value_t = 128)]
    pub neurons: i64,
    /// Follow a plan that `trainwright plan` has written: its network, batch and split, on threads,
    /// or on processes with --strategy multi-worker.
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// How training is spread over devices: one-device, mirrored (replicas on threads),
    /// multi-worker (processes), parameter-server, or local-sgd (replicas that drift apart for
    /// some steps).
    #[arg(long, default_value = "one-device")]
    pub strategy: String,
    /// Replicas of the network, for mirrored and local-sgd.
    #[arg(long, default_value_t = 1)]
    pub replicas: i64,
    /// Worker processes, for multi-worker, parameter-server and local-sgd; they are started and
    /// watched.
    #[arg(long, default_value_t = 1)]
    pub workers: i64,
    /// Examples a step, over all replicas; see --scaling.
    #[arg(long, default_value_t = 32)]
    pub batch: i64,
    /// Examples whose gradients are computed at once; where it is given, the number of replicas
    /// changes no bit of the result [default: a replica's share of the batch].
    #[arg(long, value_name = "EXAMPLES")]
    pub micro_batch: Option<i64>,
    /// Passes over the training data.
    #[arg(long, default_value_t = 1)]
    pub epochs: i64,
    /// Learning rate.
    #[arg(long, default_value_t = 0.001, value_parser = finite)]
    pub lr: f64,
    /// What turns gradients into updates: sgd, momentum, nesterov, adam, adamw or adagrad; sgd,
    /// adagrad or ftrl for `logistic`.
    #[arg(long, default_value = "adam")]
    pub optimizer: String,
    #[command(flatten)]
    pub learning: LearningArguments,
    #[command(flatten)]
    pub spreading: SpreadingArguments,
    #[command(flatten)]
    pub sparse: SparseArguments,
    #[command(flatten)]
    pub keeping: KeepingArguments,
    #[command(flatten)]
    pub meeting: MeetingArguments,
    #[command(flatten)]
    pub cluster: ClusterArguments,
    /// Fewest workers to go on with when a cluster loses executors for good [default: as many as
    /// --workers].
    #[arg(long, value_name = "N", help_heading = "Cluster")]
    pub min_workers: Option<u32>,
    /// Seed of initial weights and shuffling.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Threads that each replica computes with.
    #[arg(long, default_value_t = 1)]
    pub threads: i64,
    /// Print JSON lines.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Learning")]
pub(crate) struct LearningArguments {
    /// How rate and batch go on: constant, cosine, step:0.1@30,60, grow-batch:5@30,60 or
    /// noise-scale.
    #[arg(long, default_value = "constant")]
    pub schedule: String,
    /// Epochs over which the learning rate rises to its full size.
    #[arg(long, value_name = "EPOCHS", value_parser = finite)]
    pub warmup: Option<f64>,
    /// Batch that the learning rate is meant for; it is scaled linearly to the batch in use.
    #[arg(long, value_name = "BATCH")]
    pub reference_batch: Option<i64>,
    /// Momentum of `momentum` and `nesterov` [default: 0.9].
    #[arg(long, value_parser = finite)]
    pub momentum: Option<f64>,
    /// What draws weights to zero [default: 0; 0.01 for adamw].
    #[arg(long, value_parser = finite)]
    pub weight_decay: Option<f64>,
    /// Largest global norm of the gradients.
    #[arg(long, value_name = "NORM", value_parser = finite)]
    pub clip_norm: Option<f64>,
    /// Share of each label that is spread over all classes [default: 0].
    #[arg(long, value_name = "SHARE", value_parser = finite)]
    pub label_smoothing: Option<f64>,
    /// Random changes of the pictures to learn from: some of flip, crop:64, zoom:0.5 and
    /// contrast:0.8-1.2 with commas between them; test pictures are cropped in the middle.
    #[arg(long, value_name = "CHANGES")]
    pub augment: Option<String>,
    /// Start from the weights of a safetensors file, in PyTorch's order; the last layer may differ.
    #[arg(long, value_name = "FILE")]
    pub weights: Option<String>,
    /// Layers that do not learn: those whose name starts with this, such as features.
    #[arg(long, value_name = "NAME")]
    pub freeze: Option<String>,
    /// Stop after this many epochs without a lower loss on a held-out tenth of the training part.
    #[arg(long, value_name = "EPOCHS")]
    pub early_stopping: Option<i64>,
    /// End with what there is after this time of training, such as 90s or 10m.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub time_limit: Option<f64>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Strategies")]
pub(crate) struct SpreadingArguments {
    /// How batch and rate follow the number of replicas: global (--batch is that of all together)
    /// or per-replica (of each; the rate grows with their number) [default: global].
    #[arg(long)]
    pub scaling: Option<String>,
    /// In which order gradients are added, for mirrored and multi-worker: fixed (the same bits for
    /// any number of replicas) or ring [default: fixed].
    #[arg(long, value_name = "ORDER")]
    pub all_reduce: Option<String>,
    /// How gradients are made smaller on their way, for mirrored and multi-worker: none, f16, bf16
    /// or top-k:0.01 [default: none].
    #[arg(long, value_name = "HOW")]
    pub compress: Option<String>,
    /// Add up gradients while others are still computed, for mirrored and multi-worker: where the
    /// network is slow and a core is free; changes no bit.
    #[arg(long)]
    pub overlap: bool,
    /// Go on with the other workers after the loss of one, for multi-worker and local-sgd.
    #[arg(long)]
    pub elastic: bool,
    /// Steps between two averages of the parameters, for local-sgd [default: 1].
    #[arg(long, value_name = "STEPS")]
    pub sync_every: Option<i64>,
    /// Momentum of the averages, for local-sgd [default: 0].
    #[arg(long, value_name = "MOMENTUM", value_parser = finite)]
    pub outer_momentum: Option<f64>,
    /// Servers that own the parameters, for parameter-server [default: 1].
    #[arg(long)]
    pub servers: Option<i64>,
    /// When servers apply gradients, for parameter-server: sync, async or bounded [default: sync].
    #[arg(long, value_name = "WHEN")]
    pub consistency: Option<String>,
    /// Steps that a worker may be ahead of the slowest, for bounded [default: 0].
    #[arg(long, value_name = "STEPS")]
    pub staleness: Option<i64>,
    /// How many of the workers are not waited for, for sync [default: 0].
    #[arg(long, value_name = "WORKERS")]
    pub backup: Option<i64>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Sparse models (--network logistic)")]
pub(crate) struct SparseArguments {
    /// File of the test part [default: the data's name with .t].
    #[arg(long, value_name = "FILE")]
    pub test_data: Option<String>,
    /// Hash features into two to the power of this.
    #[arg(long, value_name = "BITS")]
    pub hash_bits: Option<i64>,
    /// Whether updates wait for each other: sync (one a batch) or hogwild (one an example,
    /// threads without locks).
    #[arg(long)]
    pub update: Option<String>,
    /// Penalty on absolute weights, for ftrl [default: 0].
    #[arg(long, value_parser = finite)]
    pub l1: Option<f64>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Keeping")]
pub(crate) struct KeepingArguments {
    /// Write a page about the training: what bound it, each rank's time, steps moment by moment, and
    /// what a cluster did.
    #[arg(long, value_name = "HTML")]
    pub report: Option<PathBuf>,
    /// Folder for checkpoints, from which --resume goes on.
    #[arg(long, value_name = "FOLDER")]
    pub checkpoint: Option<PathBuf>,
    /// When to write one, such as `500 steps` or `2 epochs`; one is always written at the end.
    #[arg(long, value_name = "N steps|epochs", default_value = "1 epochs", value_parser = every)]
    #[arg(requires = "checkpoint")]
    pub checkpoint_every: CheckpointEvery,
    /// Go on from the last checkpoint that is not damaged; without any, begin.
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
    /// Write the trained network to this file: ONNX where the name ends in .onnx, else safetensors
    /// for PyTorch; may be given again.
    #[arg(long, value_name = "FILE")]
    pub export: Vec<PathBuf>,
    /// Write what each rank did, step by step, to this file, as a Chrome trace for
    /// chrome://tracing or Perfetto.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Write down which gradients the servers of parameter-server apply, and in which order, so
    /// that the run can be computed again.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Compute a run again, to the bit, from what --record wrote; give the same job.
    #[arg(long, value_name = "FILE", conflicts_with = "record")]
    pub replay: Option<PathBuf>,
    /// Folder for TensorBoard event files: losses, accuracies, hyperparameters, histograms of the
    /// parameters, pictures.
    #[arg(long, value_name = "FOLDER")]
    pub tensorboard: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Workers and servers elsewhere")]
pub(crate) struct MeetingArguments {
    /// Wait here for workers that join with `trainwright worker` instead of starting them. Where
    /// torchrun, mpirun or srun has started this command several times, rank 0 waits and the
    /// others join.
    #[arg(long, value_name = "HOST:PORT", requires = "secret_file")]
    pub listen: Option<String>,
    /// File with the secret that all workers share, of 16 bytes or more.
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub secret_file: Option<PathBuf>,
    /// How long a worker may be silent before it counts as lost [default: 10s]; one whose process
    /// ends is noticed at once.
    #[arg(long, value_name = "TIME", value_parser = patience)]
    pub patience: Option<Duration>,
}

#[derive(Debug, Args)]
pub(crate) struct WorkerArguments {
    /// Where the training process listens.
    #[arg(long, value_name = "HOST:PORT")]
    pub join: String,
    /// File with the secret that all workers share.
    #[arg(long, value_name = "FILE")]
    pub secret_file: PathBuf,
    /// The rank to be; the next free one without it.
    #[arg(long)]
    pub rank: Option<usize>,
    /// How long another rank may be silent before it counts as lost [default: 10s].
    #[arg(long, value_name = "TIME", value_parser = patience)]
    pub patience: Option<Duration>,
    /// Most pixels that a picture file may have [default: TRAINWRIGHT_MAX_PIXELS, or else
    /// 100000000].
    #[arg(long, value_name = "PIXELS")]
    pub max_pixels: Option<PixelLimit>,
}

#[derive(Debug, Args)]
pub(crate) struct JobArguments {
    /// Job file.
    pub spec: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct PredictArguments {
    /// Checkpoint, or a folder of them, of which the last that is not damaged counts.
    pub from: PathBuf,
    /// Data set whose test part counts; or a picture, a folder of pictures (perhaps a folder a
    /// class) or TFRecord files, all of which count [default: what was trained on].
    #[arg(long)]
    pub data: Option<String>,
    /// Folder to look for named data sets in.
    #[arg(long, value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,
    /// File of the test part, for sparse models.
    #[arg(long, value_name = "FILE")]
    pub test_data: Option<String>,
    /// Write what each example was taken for to this table.
    #[arg(short, long, value_name = "CSV")]
    pub output: Option<PathBuf>,
    /// Write classes, confusion and the surest mistakes to this HTML file.
    #[arg(long, value_name = "HTML")]
    pub report: Option<PathBuf>,
    /// Threads to compute with.
    #[arg(long, default_value_t = 1)]
    pub threads: u32,
    /// Most pixels that a picture file may have [default: TRAINWRIGHT_MAX_PIXELS, or else
    /// 100000000].
    #[arg(long, value_name = "PIXELS")]
    pub max_pixels: Option<PixelLimit>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

fn finite(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number")?;
    if number.is_finite() { Ok(number) } else { Err("not a finite number".to_owned()) }
}

fn seconds(text: &str) -> Result<f64, String> {
    let time = trainwright_study::parse_duration(text);
    time.map(|time| time.as_secs_f64()).ok_or("write a number and ms, s, m or h".to_owned())
}

fn patience(text: &str) -> Result<Duration, String> {
    let time = trainwright_study::parse_duration(text).ok_or("write a number and ms, s, m or h")?;
    if time < Duration::from_millis(100) {
        return Err("must be at least 100ms, or a busy worker counts as lost".to_owned());
    }
    Ok(time)
}

fn every(text: &str) -> Result<CheckpointEvery, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number: u32 = number.trim().parse().map_err(|_| "no whole number before the unit")?;
    match (number, unit) {
        (0, _) => Err("must be at least 1".to_owned()),
        (_, "" | "step" | "steps") => Ok(CheckpointEvery::Steps(number.into())),
        (_, "epoch" | "epochs") => Ok(CheckpointEvery::Epochs(number)),
        _ => Err("write a number of steps or epochs, such as `500 steps`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_is_a_time_that_a_busy_worker_can_keep() {
        assert_eq!(patience("2s"), Ok(Duration::from_secs(2)));
        assert_eq!(patience("100ms"), Ok(Duration::from_millis(100)));
        assert!(patience("99ms").is_err() && patience("2").is_err() && patience("x").is_err());
    }

    #[test]
    fn checkpoints_are_counted_in_steps_or_epochs() {
        assert_eq!(every("500"), Ok(CheckpointEvery::Steps(500)));
        assert_eq!(every("1 step"), Ok(CheckpointEvery::Steps(1)));
        assert_eq!(every("2epochs"), Ok(CheckpointEvery::Epochs(2)));
        assert!(every("0 steps").is_err() && every("2 weeks").is_err() && every("x").is_err());
    }
}
