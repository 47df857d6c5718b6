//! Sums over numbered leaves in an order that does not depend on the number of ranks.
//!
//! A step's contributions (micro-batches) are the leaves 0..M of a binary tree. A node over n
//! leaves, n at least 2, splits at the largest power of two below n; its value is the left part
//! plus the right part, in f32. Ranks hold contiguous ranges of leaves. A rank adds up its leaves
//! as far as whole nodes lie in its range, and whoever completes the tree adds the nodes of all
//! ranks. Where the sum was made, and in how many places, then leaves no trace in its bits.
//!
//! Read `tree.rs` first.

mod completion;
mod partial_sum;
mod tree;
mod tree_sum;

pub(crate) use completion::Completion;
pub(crate) use partial_sum::PartialSum;
pub use tree::LeafTree;
pub use tree_sum::TreeSum;
