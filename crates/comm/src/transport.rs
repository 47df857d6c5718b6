//! What collectives need of a transport: messages that go out and come in at once.
//!
//! A message is known before it comes: who sends it, its tag and its length. So nothing is
//! allocated at a sender's word, and a rank that calls another operation is noticed.

use std::ops::Range;
use std::time::Duration;

use crate::error::CommError;

/// Bytes of a part in one row of a message of several parts; see [`Outgoing`].
pub(crate) const ROW_BYTES: usize = 128 * 1024;

/// Names an operation, so that two ranks at different operations notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tag(pub u64);

impl std::fmt::Display for Tag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// A message to a rank: one part, or several of the same length that the receiver takes in step.
///
/// Over a wire several parts go row by row: the first stretch of each part, then the next stretch
/// of each. A receiver that adds them up never needs to hold more than a row.
#[derive(Debug, Clone, Copy)]
pub struct Outgoing<'a> {
    /// The receiver.
    pub to: usize,
    /// What is sent.
    pub parts: &'a [&'a [u8]],
}

/// Where a message of one part is put.
#[derive(Debug)]
pub struct Place<'a> {
    /// The sender.
    pub from: usize,
    /// The message, which has exactly this length.
    pub into: &'a mut [u8],
}

/// A rank whose parts are taken in step with those of others.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    /// The sender.
    pub from: usize,
    /// How many parts it sends.
    pub parts: usize,
}

/// Takes stretches of all parts of all sources: the offset in bytes, then the stretches, sources
/// in the order that was asked for. Offsets ascend without gaps; a stretch other than the last is
/// a multiple of 4096 bytes.
pub type Take<'a> = dyn FnMut(usize, &[&[u8]]) + 'a;

/// What a transport has moved so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes of messages sent, without the 32 of each frame's header.
    pub sent: u64,
    /// Bytes of messages received, counted likewise.
    pub received: u64,
    /// Messages sent.
    pub messages: u64,
    /// Time in which the rank could do nothing but wait for another.
    pub waited: Duration,
}

/// Moves messages between the ranks of a group, in both directions at once.
///
/// An operation lists at most one message to each rank and at most one from each. All ranks call
/// matching operations in the same order. After an error every further operation gives one too.
pub trait Transport: Send {
    /// This rank.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn size(&self) -> usize;

    /// Sends and receives, and returns when the places are filled and `sends` may change again.
    ///
    /// # Errors
    /// Where a rank is lost or out of step.
    fn exchange(
        &mut self,
        tag: Tag,
        sends: &[Outgoing<'_>],
        places: &mut [Place<'_>],
    ) -> Result<(), CommError>;

    /// Sends, and receives parts of `bytes` bytes each, which `take` gets in step.
    ///
    /// # Errors
    /// Where a rank is lost or out of step.
    fn combine(
        &mut self,
        tag: Tag,
        sends: &[Outgoing<'_>],
        sources: &[Source],
        bytes: usize,
        take: &mut Take<'_>,
    ) -> Result<(), CommError>;

    /// Where ranks share memory: lets `work` change this rank's `piece` of the vectors of all ranks
    /// at once, in the order of ranks. Pieces of different ranks must not overlap. None where ranks
    /// share none, and nothing is done.
    fn put_together(
        &mut self,
        _tag: Tag,
        _values: &mut [f32],
        _piece: Range<usize>,
        _work: &mut dyn FnMut(&mut [&mut [f32]]),
    ) -> Option<Result<(), CommError>> {
        None
    }

    /// A rank among these that has sent a message which was not received yet; none where none has
    /// within the limit.
    ///
    /// # Errors
    /// Where one of them is lost.
    fn ready(&mut self, among: &[usize], limit: Duration) -> Result<Option<usize>, CommError>;

    /// Whether the group is whole, as far as this rank has heard; costs no message.
    ///
    /// # Errors
    /// The loss that was noticed.
    fn check(&self) -> Result<(), CommError>;

    /// What was moved so far.
    fn traffic(&self) -> Traffic;
}
