//! Why a job could not be trained; a job that diverges or is stopped is no error.

use std::path::PathBuf;

use trainwright_comm::CommError;
use trainwright_networks::NetworksError;
use trainwright_records::RecordsError;
use trainwright_study::JobError;

use crate::learners::memory_limit::{MemoryLimit, bytes_in_words};

/// Why a job could not be trained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message documents its variant")]
pub enum TrainError {
    #[error(transparent)]
    Job(#[from] JobError),
    #[error(transparent)]
    Data(#[from] RecordsError),
    /// Pictures that do not suit what is asked of them.
    #[error(transparent)]
    Pictures(RecordsError),
    #[error(transparent)]
    Network(#[from] NetworksError),
    #[error("training together failed: {0}")]
    Together(Box<CommError>),
    #[error(
        "{error}; {}",
        checkpoint.as_ref().map_or_else(
            || "nothing was kept: train with --checkpoint to go on after a loss".to_owned(),
            |path| format!("go on from {} with --resume", path.display())
        )
    )]
    Lost { error: Box<CommError>, checkpoint: Option<PathBuf> },
    #[error(
        "{who}: {error}; {}",
        checkpoint.as_ref().map_or_else(
            || "nothing was kept: train with --checkpoint to go on after a loss".to_owned(),
            |path| format!("go on from {} with --resume", path.display())
        )
    )]
    LostRole { who: String, error: Box<CommError>, checkpoint: Option<PathBuf> },
    #[error(
        "{option} is for strategy `parameter-server`; a run of `{strategy}` gives the same bits again as it is"
    )]
    OnlyServers { option: &'static str, strategy: &'static str },
    #[error(
        "{option} does not go with backup workers; leave --backup out, or use --consistency async"
    )]
    NotWithBackup { option: &'static str },
    #[error("cannot read the record {}: {source}", path.display())]
    ReadRecord { path: PathBuf, source: std::io::Error },
    #[error("record {}, line {line}: {problem}", path.display())]
    Record { path: PathBuf, line: usize, problem: String },
    #[error("the plan cannot be run: {reason}")]
    Split { reason: String },
    #[error("no program was named that starts workers; use the command `train`")]
    NoWorkers,
    #[error("cannot start the worker {}: {source}", program.display())]
    StartWorker { program: PathBuf, source: std::io::Error },
    #[error("the listener for other ranks fails: {0}")]
    Meeting(#[source] std::io::Error),
    #[error("a worker ended before it joined ({status}); what it wrote stands above")]
    WorkerEnded { status: String },
    #[error("rank 0 gave an order that this version does not know; use one version everywhere")]
    UnknownOrder,
    #[error(
        "rank {rank} has other parameters than rank 0 in `{tensor}`: a fault of its memory or \
         processor, or of this program; go on from the last checkpoint without that machine"
    )]
    Unequal { rank: usize, tensor: String },
    #[error("replica {rank}: {error}")]
    Replica { rank: usize, error: Box<TrainError> },
    #[error("cannot read network {}: {source}", path.display())]
    Description { path: PathBuf, source: std::io::Error },

    #[error(
        "there is no test part: {} does not exist; name a file with test_data (--test-data)",
        path.display()
    )]
    NoTestFile { path: PathBuf },
    #[error("{} has {count} different labels ({labels:?}), two are needed", path.display())]
    NotTwoClasses { path: PathBuf, count: usize, labels: Vec<f32> },
    #[error("{} has label {label}, which the training part has not", path.display())]
    UnknownLabel { path: PathBuf, label: f32 },

    #[error("event file {}: {source}", path.display())]
    Board { path: PathBuf, source: std::io::Error },
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: std::io::Error },
    #[error("network `logistic` is written to safetensors files alone, not to ONNX")]
    SparseOnnx,
    #[error("{picture} is of class {class}, but the network tells apart {classes}")]
    NoSuchClass { picture: String, class: u32, classes: usize },
    #[error("checkpoint folder {}: {source}", path.display())]
    Folder { path: PathBuf, source: std::io::Error },
    #[error(
        "{} is there already: go on from it with --resume, or choose another folder",
        path.display()
    )]
    HasCheckpoints { path: PathBuf },
    #[error("{} has no checkpoint; write some with `train --checkpoint`", path.display())]
    NoCheckpoint { path: PathBuf },
    #[error("cannot use checkpoint {}: {problem}", path.display())]
    Checkpoint { path: PathBuf, problem: String },
    #[error("checkpoint {} is damaged: {problem}", path.display())]
    DamagedCheckpoint { path: PathBuf, problem: String },
    #[error(
        "checkpoint {} is damaged: {problem}; no older one is sound, train again in another folder",
        path.display()
    )]
    NoSoundCheckpoint { path: PathBuf, problem: String },
    #[error(
        "network `{network}` needs about {} of memory, {} for parameters, gradients and optimiser \
         and {} for batches of {batch}; the limit is {limit}: make layers or batch smaller",
        bytes_in_words(learning.saturating_add(*of_batch)),
        bytes_in_words(*learning),
        bytes_in_words(*of_batch)
    )]
    TooLarge { network: String, learning: u64, of_batch: u64, batch: usize, limit: MemoryLimit },
    #[error(
        "{} has the feature {id}, so that the table of weights needs about {} of memory; the limit \
         is {limit}: give hash_bits (--hash-bits) to fold features into a smaller table",
        path.display(),
        bytes_in_words(*bytes)
    )]
    TooManyFeatures { path: PathBuf, id: u32, bytes: u64, limit: MemoryLimit },
    #[error(
        "tensor `{name}` has {} numbers where {expected} are needed",
        found.map_or("no".to_owned(), |count| count.to_string())
    )]
    Tensor { name: String, expected: usize, found: Option<usize> },
}

impl From<CommError> for TrainError {
    fn from(error: CommError) -> Self {
        Self::Together(Box::new(error))
    }
}

#[cfg(test)]
mod tests {
    use trainwright_comm::Loss;

    use super::*;

    fn lost(checkpoint: Option<&str>) -> TrainError {
        let error = Box::new(CommError::PeerLost { rank: 2, why: Loss::Closed });
        TrainError::Lost { error, checkpoint: checkpoint.map(PathBuf::from) }
    }

    #[test]
    fn a_loss_is_told_with_the_way_on() {
        assert_eq!(
            lost(Some("kept/step-7")).to_string(),
            "rank 2 is lost: its connection closed, so its process has ended; go on from kept/step-7 with --resume"
        );
        let nothing = lost(None).to_string();
        assert!(
            nothing.ends_with("nothing was kept: train with --checkpoint to go on after a loss"),
            "{nothing}"
        );
        let role = TrainError::LostRole {
            who: "server 2".to_owned(),
            error: Box::new(CommError::PeerLost { rank: 4, why: Loss::Silent }),
            checkpoint: None,
        };
        assert!(
            role.to_string().starts_with("server 2: rank 4 is lost: nothing was heard"),
            "{role}"
        );
    }

    #[test]
    fn messages_name_the_file_the_place_and_what_is_needed() {
        let path = || PathBuf::from("a/b");
        for (error, words) in [
            (
                TrainError::Record { path: path(), line: 3, problem: "it ends".to_owned() },
                "record a/b, line 3: it ends",
            ),
            (
                TrainError::NotTwoClasses { path: path(), count: 3, labels: vec![0.0, 1.0, 2.0] },
                "a/b has 3 different labels ([0.0, 1.0, 2.0]), two are needed",
            ),
            (
                TrainError::UnknownLabel { path: path(), label: 7.0 },
                "a/b has label 7, which the training part has not",
            ),
            (
                TrainError::NoSuchClass { picture: "x.png".to_owned(), class: 12, classes: 10 },
                "x.png is of class 12, but the network tells apart 10",
            ),
            (
                TrainError::HasCheckpoints { path: path() },
                "a/b is there already: go on from it with --resume, or choose another folder",
            ),
            (
                TrainError::NoSoundCheckpoint { path: path(), problem: "cut off".to_owned() },
                "checkpoint a/b is damaged: cut off; no older one is sound, train again in another folder",
            ),
            (
                TrainError::Replica { rank: 3, error: Box::new(TrainError::UnknownOrder) },
                "replica 3: rank 0 gave an order that this version does not know; use one version everywhere",
            ),
        ] {
            assert_eq!(error.to_string(), words);
        }
    }

    #[test]
    fn too_much_memory_is_told_in_parts_with_the_limit() {
        let error = TrainError::TooLarge {
            network: "mlp:9-9".to_owned(),
            learning: 3 << 30,
            of_batch: 1 << 30,
            batch: 64,
            limit: MemoryLimit::Machine(2 << 30),
        };
        assert_eq!(
            error.to_string(),
            "network `mlp:9-9` needs about 4.0 GiB of memory, 3.0 GiB for parameters, gradients and optimiser \
             and 1.0 GiB for batches of 64; the limit is the 2.0 GiB of this machine: make layers or batch smaller"
        );
    }
}
