//! What a job leaves behind beside its events: TensorBoard's files, traces, exports, a fingerprint.

pub(crate) mod export;
pub(crate) mod fingerprint;
pub(crate) mod tensorboard;
pub(crate) mod trace;
