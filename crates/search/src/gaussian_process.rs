//! Gaussian processes: what to expect of points that were not measured, and how surely.
//!
//! Read `process.rs` first. `kernel.rs` says how alike two points are, `hyper_parameters.rs` what
//! is believed of lengths, amplitude and noise, `likelihood.rs` how well values agree with them;
//! `ascent.rs` finds the best and `slice_sampling.rs` draws others, which `ensemble.rs` averages
//! over. `expected_improvement.rs` is what a search makes of it, `value_scale.rs` the scale on
//! which values are modelled.

mod ascent;
mod cholesky;
mod ensemble;
mod expected_improvement;
mod exponential;
mod hyper_parameters;
mod kernel;
mod likelihood;
mod process;
mod slice_sampling;
mod value_scale;

pub use cholesky::Cholesky;
pub use ensemble::{Draws, Ensemble};
pub use expected_improvement::{expected_improvement, improvement_chance};
pub use hyper_parameters::{HyperParameters, Prior, Priors};
pub use kernel::Distance;
pub(crate) use kernel::correlation;
pub use process::{GaussianProcess, Measured, Posterior};
pub(crate) use slice_sampling::normal;
pub use value_scale::ValueScale;
