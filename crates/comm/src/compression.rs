//! Sums of numbers that are sent in fewer bytes: rounded, or the largest ones only.

mod rounded;
mod top_k;
mod two_bytes;

pub use rounded::Rounding;
pub use top_k::TopK;
