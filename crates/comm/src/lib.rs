//! Moves numbers between ranks.
mod collectives;
mod error;
mod group;
mod leaves;
mod pieces;
mod threads;
mod transport;

pub use collectives::{Algorithm, Order};
pub use error::{CommError, Loss, Refusal};
pub use group::Group;
pub use leaves::{LeafTree, TreeSum};
pub use pieces::Pieces;
pub use transport::{Outgoing, Place, Source, Tag, Take, Traffic, Transport};
