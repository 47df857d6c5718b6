//! A job kept on disk, so that it goes on after any interruption as if there had been none.
//!
//! A checkpoint is one safetensors file: parameters, state and the optimiser's memory as tensors,
//! the job and its progress as JSON texts, and a checksum of each (`checksums.rs`). Shuffling and
//! initial weights follow from the job's seed and the epoch, so that these are the whole random
//! state. `keeper.rs` writes checkpoints and goes on from them, `kept.rs` is one that is there.

mod checksums;
mod folder;
mod job_difference;
pub(crate) mod keeper;
pub(crate) mod kept;
mod options;

pub use folder::last_checkpoint;
pub use kept::DamagedCheckpoint;
pub use options::{CheckpointEvery, CheckpointOptions, CheckpointStart};
