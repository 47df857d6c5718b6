//! Operations in which every rank takes part, over any transport.
//!
//! `all_reduce.rs` chooses among the algorithms; `sharded.rs` is the one that a trainer uses, in
//! its two halves.

mod all_reduce;
mod barrier;
mod broadcast;
mod gather;
mod ring;
mod sharded;
mod tree;

pub use all_reduce::{Algorithm, Order};

use std::ops::Range;

use crate::error::CommError;
use crate::leaves::LeafTree;

/// The nodes of every rank, in order, and which of them are a rank's own.
fn nodes_of_all(tree: LeafTree, size: usize, rank: usize) -> (Vec<Range<usize>>, Range<usize>) {
    let (mut nodes, mut own) = (Vec::new(), 0..0);
    for other in 0..size {
        let start = nodes.len();
        nodes.extend(tree.nodes_of(other, size));
        if other == rank {
            own = start..nodes.len();
        }
    }
    (nodes, own)
}

/// Fails where a caller's value has another length than the operation needs.
fn expect_length(what: &'static str, expected: usize, found: usize) -> Result<(), CommError> {
    if expected == found { Ok(()) } else { Err(CommError::WrongShape { what, expected, found }) }
}
