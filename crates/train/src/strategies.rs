//! How a job is spread: who runs the training loop, and who follows it.

pub(crate) mod local_sgd;
pub(crate) mod mirrored;
pub(crate) mod multi_worker;
pub(crate) mod one_device;
pub(crate) mod parameter_server;
mod rank;
