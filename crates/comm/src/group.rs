//! A rank's view of its group: who it is, and the collectives.

use std::time::Duration;

use crate::error::CommError;
use crate::rendezvous::Seat;
use crate::tcp::TcpTransport;
use crate::threads::ThreadTransport;
use crate::transport::{Outgoing, Place, Tag, Traffic, Transport};

/// How long a thread waits for another one before it gives up, unless told.
const THREAD_LIMIT: Duration = Duration::from_secs(600);

/// Marks the tags of collectives, which count up; others are the caller's.
const COLLECTIVE: u64 = 1 << 63;

/// A rank among others. All ranks call the same collectives in the same order.
///
/// ```
/// use trainwright_comm::{Algorithm, Group, Order};
///
/// let sums: Vec<f32> = std::thread::scope(|scope| {
///     let ranks = Group::threads(3).into_iter().map(|mut group| {
///         scope.spawn(move || {
///             let mut values = [group.rank() as f32];
///             group.all_reduce(&mut values, Algorithm::Sharded, Order::Fixed)?;
///             Ok::<f32, trainwright_comm::CommError>(values[0])
///         })
///     });
///     let ranks: Vec<_> = ranks.collect();
///     ranks.into_iter().map(|rank| rank.join().unwrap().unwrap()).collect()
/// });
/// assert_eq!(sums, [3.0, 3.0, 3.0]);
/// ```
pub struct Group {
    pub(crate) transport: Box<dyn Transport>,
    /// Collectives begun so far.
    operations: u64,
    /// Where survivors meet again, for ranks that are processes.
    seat: Option<Seat>,
}

impl Group {
    /// A group over a transport.
    pub fn new(transport: Box<dyn Transport>) -> Self {
        Self { transport, operations: 0, seat: None }
    }

    /// A rank that has joined.
    pub(crate) fn seated(transport: TcpTransport, seat: Seat) -> Self {
        Self { seat: Some(seat), ..Self::new(Box::new(transport)) }
    }

    /// The ranks of a group of threads in this process, to be moved to one thread each.
    ///
    /// Messages are read where the sender has them, without a copy. A rank that waits for another
    /// one for ten minutes gives up.
    pub fn threads(size: usize) -> Vec<Self> {
        let ranks = ThreadTransport::ranks(size, THREAD_LIMIT);
        ranks.into_iter().map(|rank| Self::new(Box::new(rank))).collect()
    }

    /// This rank.
    pub fn rank(&self) -> usize {
        self.transport.rank()
    }

    /// The number of ranks.
    pub fn size(&self) -> usize {
        self.transport.size()
    }

    /// What this rank has moved so far.
    pub fn traffic(&self) -> Traffic {
        self.transport.traffic()
    }

    /// Whether the group is whole, as far as this rank has heard; costs no message.
    ///
    /// # Errors
    /// The loss that was noticed.
    pub fn check(&self) -> Result<(), CommError> {
        self.transport.check()
    }

    /// Sends bytes to one rank, which receives them by [`Self::receive`]; `tag` is the caller's
    /// own, below 2^63, and the same on both sides. Returns when the bytes may change again, which
    /// between threads is when they were received.
    ///
    /// # Errors
    /// Where the rank is lost or does not exist.
    pub fn send(&mut self, to: usize, tag: u64, bytes: &[u8]) -> Result<(), CommError> {
        self.other(to)?;
        let sends = [Outgoing { to, parts: &[bytes] }];
        self.transport.exchange(Tag(tag & !COLLECTIVE), &sends, &mut [])
    }

    /// Receives exactly as many bytes as there is room for.
    ///
    /// # Errors
    /// Where the rank is lost, does not exist, or sends something else.
    pub fn receive(&mut self, from: usize, tag: u64, into: &mut [u8]) -> Result<(), CommError> {
        self.other(from)?;
        self.transport.exchange(Tag(tag & !COLLECTIVE), &[], &mut [Place { from, into }])
    }

    /// Sends to one rank and receives from it at once; the other side does the same with the same
    /// tag.
    ///
    /// # Errors
    /// Where the rank is lost, does not exist, or sends something else.
    pub fn trade(
        &mut self,
        with: usize,
        tag: u64,
        bytes: &[u8],
        into: &mut [u8],
    ) -> Result<(), CommError> {
        self.other(with)?;
        let sends = [Outgoing { to: with, parts: &[bytes] }];
        let mut places = [Place { from: with, into }];
        self.transport.exchange(Tag(tag & !COLLECTIVE), &sends, &mut places)
    }

    /// A rank among these that has sent something which was not received yet; none where none has
    /// within the limit.
    ///
    /// # Errors
    /// Where one of them is lost or does not exist.
    pub fn ready(&mut self, among: &[usize], limit: Duration) -> Result<Option<usize>, CommError> {
        among.iter().try_for_each(|rank| self.other(*rank))?;
        self.transport.ready(among, limit)
    }

    /// Forms a new group with the survivors, after a rank was lost.
    ///
    /// All survivors call it. They meet at rank 0, which waits for them at most twice the patience;
    /// ranks keep their order, and close the gaps. Ranks without a way to rank 0 get an error, so
    /// that there are never two groups.
    ///
    /// # Errors
    /// Where rank 0 was lost, this rank was given up by the others, or nothing was lost.
    pub fn regroup(self) -> Result<Self, CommError> {
        let Self { transport, seat, .. } = self;
        let mut seat = seat.ok_or(CommError::CannotRegroup("its ranks are threads"))?;
        let Err(loss) = transport.check() else {
            return Err(CommError::CannotRegroup("no rank is lost"));
        };
        drop(transport);
        let transport = seat.meet_again(loss)?;
        Ok(Self::seated(transport, seat))
    }

    /// Leaves the group, with what is needed to connect again.
    pub(crate) fn leave(self) -> Result<Seat, CommError> {
        let Self { transport, seat, .. } = self;
        transport.check()?;
        seat.ok_or(CommError::CannotRegroup("its ranks are threads"))
    }

    /// The tag of the next collective: all ranks count alike.
    pub(crate) fn next_tag(&mut self) -> Tag {
        self.operations += 1;
        Tag(COLLECTIVE | self.operations)
    }

    fn other(&self, rank: usize) -> Result<(), CommError> {
        if rank < self.size() && rank != self.rank() {
            return Ok(());
        }
        Err(CommError::NoSuchRank { rank, size: self.size() })
    }
}

impl std::fmt::Debug for Group {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Group(rank {} of {})", self.rank(), self.size())
    }
}
