//! Moves numbers between the ranks of a group. Knows nothing of networks.
//!
//! A [`Group`] is a rank's view of its group, with the collectives as methods. Its ranks are threads
//! of one process ([`Group::threads`]) or processes anywhere ([`Coordinator`] and [`join`]); what
//! follows is the same for both.
//!
//! # Sums
//!
//! What ranks bring to a sum are numbered leaves (micro-batches), dealt out in contiguous ranges.
//! [`LeafTree`] fixes in which order they are added, so that one rank and many give the same bits.
//! A rank adds up its leaves in a [`TreeSum`]; [`Group::reduce_scatter_nodes`] leaves to each rank
//! the sum of its own piece of the vector ([`Pieces`]), which it may clip and use for an update;
//! [`Group::all_gather`] gives the pieces to all. Threads that share their parameters need no
//! all-gather, only a [`Group::barrier`]. [`Group::all_reduce`] does both halves.
//!
//! [`Buckets`] and [`Group::overlapped`] let sums run beside a backward pass;
//! [`Group::all_reduce_rounded`] and [`TopK`] send fewer bytes.
//!
//! # Between threads
//!
//! A sender lays its slices open and blocks until they were read; receivers add straight from them.
//! The rules that make this sound are in `threads/slot.rs`.
//!
//! # Between processes
//!
//! Rank 0 listens, the others call it. Caller and called prove to each other by HMAC-SHA256 over two
//! nonces that they know the job's secret, which is never sent; the words of joining that follow are
//! signed with a key derived from both. A caller has two seconds for this, many are answered side by
//! side, and no more memory is asked for than the longest word needs. Refused with the reason are
//! another version, secret or fingerprint, ranks that are taken or do not exist, and members of an
//! older group. When all have come, rank 0 tells each its rank, the group's number and where the
//! others listen, and every two ranks connect twice, proving themselves again.
//!
//! The first connection is for data. Every message has a header of 32 bytes (`frame.rs`) with the
//! group's number, the operation's number and the length, and a receiver knows all three before it
//! reads. A rank sends and receives at once, from one thread, and adds numbers while further ones
//! arrive. Numbers are little-endian as in memory. Data is neither encrypted nor signed.
//!
//! The second connection is for signs of life (`tcp/watch.rs`). Each rank sends a heart-beat at an
//! interval ([`JoinOptions::heartbeat`]) from a thread of its own, whatever it computes meanwhile.
//! A rank whose process ends is lost at once, since its connections close. One that is stopped or
//! cut off is lost when nothing was heard of it for longer than the patience
//! ([`JoinOptions::patience`]); until then the others wait, and nothing breaks. A rank that lives
//! but does not move is given up after [`JoinOptions::limit`]. Whoever notices a loss tells all
//! others, so that each operation on each rank ends with an error that names the lost rank
//! ([`CommError::PeerLost`]), and a rank that was given up and wakes again learns it
//! ([`CommError::GivenUp`]).
//!
//! After a loss survivors may call [`Group::regroup`]. They meet at rank 0 under a higher group
//! number; frames and members of an older number are refused. A group without rank 0 cannot form,
//! so a network that falls apart never holds two groups of a job.
//!
//! # Parameter servers
//!
//! Where some ranks own the numbers and others compute gradients, they are connected two by two
//! ([`Group::into_lines`], [`Line`]), so that a worker may die without ending the others. See
//! [`Server`], [`Worker`] and [`Leader`]; what waits for what is the [`Consistency`].

#[cfg(target_endian = "big")]
compile_error!("numbers are sent as they lie in memory, which must be little-endian");

#[cfg(feature = "fuzzing")]
pub mod fuzzing;

mod buckets;
mod collectives;
mod compression;
mod error;
mod frame;
mod group;
mod leaves;
mod lines;
mod overlap;
mod pieces;
mod rendezvous;
mod servers;
mod spin;
mod tcp;
mod threads;
mod transport;

pub use buckets::Buckets;
pub use collectives::{Algorithm, Order};
pub use compression::{Rounding, TopK};
pub use error::{CommError, Loss, Refusal};
pub use group::Group;
pub use leaves::{LeafTree, TreeSum};
pub use lines::{Line, Message, Words};
pub use overlap::{OverlapTimes, Unfinished};
pub use pieces::Pieces;
pub use rendezvous::{Coordinator, JoinOptions, Secret, join};
pub use servers::{
    Applied, AppliedPush, Consistency, Done, Finished, Gradients, Job, Leader, Order as WorkOrder,
    Owner, Push, Pushed, Ran, Server, ServerAccount, ServerWaits, Share, Staleness, StepPlan,
    Stretch, Worker, text_of_words, words_of_text,
};
pub use transport::{Outgoing, Place, Source, Tag, Take, Traffic, Transport};
