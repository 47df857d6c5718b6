//! Neural networks on the processor: layers, losses and optimisers over flat vectors of `f32`.
//!
//! A network owns no parameters. They live in one flat vector and their gradients in another of
//! the same layout, so that whatever spreads training over devices can sum, send and compare them
//! without knowing the layers; what steps change without gradients, such as the statistics of
//! batch norm, is a third. Read `network.rs` first. `description.rs` and `families.rs` say what a
//! network consists of, `build.rs` makes it, `workspace.rs` runs its steps, `layer.rs` is what a
//! layer must do and `layers/` holds the layers. `adam.rs` and `sgd.rs` turn gradients into
//! updates, `team.rs` shares a step among threads. Data sets and training loops are not here.

mod adam;
mod build;
mod description;
mod error;
mod exponential;
mod families;
mod init;
mod kernels;
mod layer;
mod layers;
mod loss;
mod matrix;
mod network;
mod optimizer;
mod parts;
mod sgd;
mod simd;
mod slots;
mod summary;
mod team;
mod tensors;
mod workspace;

pub use adam::Adam;
pub use description::{Activation, LayerDescription, LossName, NamedLayer, NetworkDescription};
pub use error::NetworksError;
pub use loss::BatchScore;
pub use network::{Batch, Network, StepOptions};
pub use optimizer::Optimizer;
pub use sgd::Sgd;
pub use summary::Operator;
pub use team::Team;
pub use tensors::{TensorInfo, TensorKind};
pub use workspace::Workspace;
