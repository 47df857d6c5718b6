//! The layers; each file holds one kind, `layer.rs` says what a layer must do, and
//! `network/build.rs` strings them together.

mod add;
mod average_pool;
mod convolution;
mod dense;
mod depthwise;
mod dropout;
mod embedding;
mod few_rows;
mod filters;
mod gates;
pub(crate) mod layer;
mod lstm;
mod many_zeros;
mod max_pool;
mod norm_kernels;
pub(crate) mod normalised;
mod places;
mod rectifier;
mod window;

pub(crate) use add::Add;
pub(crate) use average_pool::AveragePool;
pub(crate) use convolution::{Convolution, Finish, Product};
pub(crate) use dense::Dense;
pub(crate) use depthwise::DepthwiseFilters;
pub(crate) use dropout::Dropout;
pub(crate) use embedding::Embedding;
pub(crate) use filters::Filters;
pub(crate) use lstm::{Directions, Lstm};
pub(crate) use max_pool::MaxPool;
pub(crate) use normalised::{BatchNorm, EPSILON as NORM_EPSILON, Norm};
pub(crate) use rectifier::Rectifier;
pub(crate) use window::Window;
