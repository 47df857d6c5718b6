//! Neural networks on the processor: layers, losses and optimisers over flat vectors of `f32`.
//!
//! A network owns no parameters. They live in one flat vector and their gradients in another of
//! the same layout, so that whatever spreads training over devices can sum, send and compare them
//! without knowing the layers. Read `mlp.rs` first; `dense.rs` and `loss.rs` are its parts,
//! `adam.rs` and `sgd.rs` turn gradients into updates, `team.rs` shares a step among threads. Data sets and training loops are not here.

mod adam;
mod dense;
mod error;
mod exponential;
mod init;
mod kernels;
mod loss;
mod matrix;
mod mlp;
mod optimizer;
mod parts;
mod sgd;
mod team;

pub use adam::Adam;
pub use error::NetworksError;
pub use loss::BatchScore;
pub use mlp::{Batch, Mlp, MlpWorkspace};
pub use optimizer::Optimizer;
pub use sgd::Sgd;
pub use team::Team;
