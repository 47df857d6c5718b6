//! Moves numbers between ranks.
mod collectives;
mod error;
mod frame;
mod group;
mod leaves;
mod pieces;
mod rendezvous;
mod tcp;
mod threads;
mod transport;

pub use collectives::{Algorithm, Order};
pub use error::{CommError, Loss, Refusal};
pub use group::Group;
pub use leaves::{LeafTree, TreeSum};
pub use pieces::Pieces;
pub use rendezvous::{Coordinator, JoinOptions, Secret, join};
pub use transport::{Outgoing, Place, Source, Tag, Take, Traffic, Transport};
