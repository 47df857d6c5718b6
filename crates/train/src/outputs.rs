//! What a job leaves behind beside its events: TensorBoard's files, exports, a fingerprint.

pub(crate) mod export;
pub(crate) mod fingerprint;
pub(crate) mod tensorboard;
