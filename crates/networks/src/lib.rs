//! Neural networks on the processor: layers, losses and optimisers over flat vectors of `f32`.
//!
//! A network owns no parameters. They live in one flat vector and their gradients in another of
//! the same layout, so that whatever spreads training over devices can sum, send and compare them
//! without knowing the layers; what steps change without gradients, such as the statistics of
//! batch norm, is a third. Read `network.rs` first. `description.rs` and `families.rs` say what a
//! network consists of, `build.rs` makes it, `workspace.rs` runs its steps, `layer.rs` is what a
//! layer must do and `layers/` holds the layers. `optimizer.rs` says
//! what turns gradients into updates, `schedule.rs` how rate and batch go on, `safetensors.rs` how
//! tensors are kept, `onnx.rs` how a network leaves for other programs. `sparse_logistic.rs` is the one model with a table instead of layers.
//! `team.rs` shares a step among threads. Data sets and training loops are not here.

mod adagrad;
mod adam;
mod auc;
mod blocks;
mod build;
mod bytes;
mod clipping;
mod description;
mod error;
mod exponential;
mod families;
mod init;
mod kernels;
mod large_pages;
mod layer;
mod layers;
mod log_loss;
mod loss;
mod matrix;
mod network;
mod noise_scale;
mod numbers;
mod onnx;
mod optimizer;
mod parts;
mod pretrained;
mod safetensors;
mod schedule;
mod sgd;
mod simd;
mod slots;
mod sparse_copies;
mod sparse_free;
mod sparse_logistic;
mod sparse_rules;
mod sparse_set;
mod sparse_table;
mod sparse_waiting;
mod summary;
mod team;
mod tensors;
mod update_kernels;
mod workspace;

pub use adagrad::AdaGrad;
pub use adam::Adam;
pub use auc::area_under_curve;
pub use bytes::{scale_bytes, scale_rows};
pub use clipping::{clip_by_global_norm, squared_norm};
pub use description::{
    Activation, LayerDescription, LossName, NamedLayer, NetworkDescription, Returns,
};
pub use error::NetworksError;
pub use loss::BatchScore;
pub use network::{Batch, Network, StepOptions};
pub use noise_scale::{GradientNorms, NoiseScale};
pub use numbers::Numbers;
pub use optimizer::{Optimizer, OptimizerMemory, Trained};
pub use pretrained::LoadedWeights;
pub use safetensors::{NamedTensor, SafeTensors, save_safetensors};
pub use schedule::{Schedule, ScheduleShape, StepSize};
pub use sgd::Sgd;
pub use sparse_logistic::{SparseEvaluation, SparseLogistic, SparseMode, SparseRule};
pub use sparse_set::{FeatureOrder, SparseDraft, SparseSet};
pub use sparse_table::SparseBatch;
pub use summary::Operator;
pub use team::Team;
pub use tensors::{TensorInfo, TensorKind};
pub use workspace::Workspace;
