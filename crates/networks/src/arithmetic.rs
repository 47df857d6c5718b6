//! Loops over numbers: where the time goes, and nothing else.
//!
//! `kernels.rs` and `simd.rs` compile loops for the processors that there are, `matrix.rs` is the
//! only caller of `gemm`, `numbers.rs` and `large_pages.rs` are the memory that all of it reads.

pub(crate) mod bytes;
pub(crate) mod exponential;
pub(crate) mod kernels;
pub(crate) mod large_pages;
pub(crate) mod matrix;
pub(crate) mod numbers;
pub(crate) mod simd;
