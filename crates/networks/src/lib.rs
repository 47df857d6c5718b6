//! Neural networks on the processor: layers, losses and optimisers over flat vectors of `f32`.
//!
//! A network owns no parameters. They live in one flat vector and their gradients in another of
//! the same layout, so that whatever spreads training over devices can sum, send and compare them
//! without knowing the layers; what steps change without gradients, such as the statistics of
//! batch norm, is a third. Data sets and training loops are not here.
//!
//! | room | holds |
//! |---|---|
//! | `network` | a network: its description, how it is built, its tensors and its steps; read it first |
//! | `layers` | one file a kind of layer; `layer.rs` is what each must do |
//! | `losses` | how outputs are judged |
//! | `optimizers` | one file an optimiser; `optimizer.rs` is the contract; clipping, noise of gradients |
//! | `schedule` | how rate and batch go on |
//! | `sparse` | logistic regression on sparse examples: a table instead of layers |
//! | `files` | safetensors, ONNX, weights that others trained |
//! | `arithmetic` | kernels, matrix products and the memory they read |
//! | `threads` | the team that shares a step, and memory cut for it |

mod arithmetic;
mod error;
mod files;
mod layers;
mod losses;
mod network;
mod optimizers;
mod schedule;
mod sparse;
mod threads;

pub use arithmetic::bytes::{scale_bytes, scale_rows};
pub use arithmetic::matrix::square_product;
pub use arithmetic::numbers::Numbers;
pub use arithmetic::simd::processor_kind;
pub use error::NetworksError;
pub use files::pretrained::LoadedWeights;
pub use files::safetensors::{NamedTensor, SafeTensors, write_safetensors};
pub use losses::area_under_curve::area_under_curve;
pub use losses::loss::BatchScore;
pub use network::description::{
    Activation, LayerDescription, LossName, NamedLayer, NetworkDescription, Returns,
};
pub use network::gradient_sink::{GradientSink, GradientVector, LearnedInto};
pub use network::operator::Operator;
pub use network::tensors::{TensorInfo, TensorKind};
pub use network::workspace::Workspace;
pub use network::{Batch, Learned, Network, StepOptions};
pub use optimizers::adagrad::AdaGrad;
pub use optimizers::adam::Adam;
pub use optimizers::clipping::{NORM_BLOCK, clip_to_norm, squared_norm, squares_of_blocks};
pub use optimizers::noise_scale::{GradientNorms, NoiseScale};
pub use optimizers::optimizer::{Optimizer, OptimizerMemory, Trained};
pub use optimizers::sgd::Sgd;
pub use schedule::{Schedule, ScheduleShape, StepSize};
pub use sparse::examples::{FeatureOrder, SparseDraft, SparseSet};
pub use sparse::logistic::{SparseEvaluation, SparseLogistic, SparseMode, SparseRule};
pub use sparse::pieces::{RowFinder, SparseGradients, SparsePiece};
pub use sparse::weight_table::SparseBatch;
pub use threads::team::Team;
