//! Connections two by two: a lost one ends nothing but itself.
//!
//! In a [`crate::Group`] the loss of one rank ends the operation of all. Parameter servers go on
//! when a worker dies, so their ranks are connected by lines instead: between threads a pair of
//! queues, between processes the two connections of the group with a watch of their own.

mod message;
mod thread_line;

use std::time::Instant;

use crate::error::CommError;
use crate::group::Group;
use crate::transport::Traffic;
pub(crate) use message::HEAD_BYTES;
#[cfg(feature = "fuzzing")]
pub(crate) use message::read_whole;
pub use message::{Message, Words};
pub(crate) use message::{encode, parse};
use thread_line::ThreadLine;

/// One end of a connection with one other rank.
///
/// ```
/// use trainwright_comm::{Line, Message, Words};
///
/// let (mut here, mut there) = Line::pair(0, 1);
/// here.send(&Words { kind: 7, values: &[1.5], ..Words::default() })?;
/// let mut heard = Message::default();
/// there.receive(&mut heard, 1000)?;
/// assert_eq!((heard.kind, &heard.values[..]), (7, &[1.5][..]));
/// # Ok::<(), trainwright_comm::CommError>(())
/// ```
pub struct Line {
    peer: usize,
    wire: Box<dyn Wire>,
    traffic: Traffic,
}

/// What carries the messages of a line.
pub(crate) trait Wire: Send {
    fn send(&mut self, words: &Words<'_>) -> Result<(), CommError>;

    /// Waits for the next message, whose parts together have at most `most` bytes; tells by `comes`
    /// when its beginning is there.
    fn receive(
        &mut self,
        into: &mut Message,
        most: usize,
        comes: &mut dyn FnMut(),
    ) -> Result<(), CommError>;

    /// Whether the other end lives, as far as is known.
    fn check(&self) -> Result<(), CommError>;
}

impl Line {
    pub(crate) fn new(peer: usize, wire: Box<dyn Wire>) -> Self {
        Self { peer, wire, traffic: Traffic::default() }
    }

    /// Both ends of a line between two threads: that of rank `first` comes first.
    pub fn pair(first: usize, second: usize) -> (Self, Self) {
        let (near, far) = ThreadLine::pair(first, second);
        (Self::new(second, Box::new(near)), Self::new(first, Box::new(far)))
    }

    /// The lines of so many ranks that are threads: for each rank, those to all others.
    pub fn threads(size: usize) -> Vec<Vec<Option<Self>>> {
        let mut all: Vec<Vec<Option<Self>>> =
            (0..size).map(|_| (0..size).map(|_| None).collect()).collect();
        let pairs =
            (0..size).flat_map(|first| (first + 1..size).map(move |second| (first, second)));
        for (first, second) in pairs {
            let (near, far) = Self::pair(first, second);
            all[first][second] = Some(near);
            all[second][first] = Some(far);
        }
        all
    }

    /// The rank at the other end.
    pub fn peer(&self) -> usize {
        self.peer
    }

    /// What was moved over this line so far.
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// Sends a message.
    ///
    /// # Errors
    /// Where the other end is lost.
    pub fn send(&mut self, words: &Words<'_>) -> Result<(), CommError> {
        self.wire.send(words)?;
        self.traffic.messages += 1;
        self.traffic.sent += words.bytes() as u64;
        Ok(())
    }

    /// Waits for the next message, whose parts together have at most `most` bytes.
    ///
    /// # Errors
    /// Where the other end is lost, or sends something else.
    pub fn receive(&mut self, into: &mut Message, most: usize) -> Result<(), CommError> {
        self.receive_telling(into, most, &mut || ())
    }

    /// As [`Self::receive`]; tells by `comes` when waiting is over and reading begins.
    pub(crate) fn receive_telling(
        &mut self,
        into: &mut Message,
        most: usize,
        comes: &mut dyn FnMut(),
    ) -> Result<(), CommError> {
        let start = Instant::now();
        self.wire.receive(into, most, comes)?;
        self.traffic.waited += start.elapsed();
        self.traffic.received += into.words().bytes() as u64;
        Ok(())
    }

    /// Whether the other end lives, as far as is known; costs no message.
    ///
    /// # Errors
    /// The loss that was noticed.
    pub fn check(&self) -> Result<(), CommError> {
        self.wire.check()
    }
}

impl Group {
    /// Connects the ranks two by two instead: for each rank the line to it, none to the own one.
    /// All ranks call it. From then on the loss of a rank ends its own lines alone.
    ///
    /// # Errors
    /// Where a rank is lost meanwhile, or the ranks are threads, which [`Line::threads`] is for.
    pub fn into_lines(self) -> Result<Vec<Option<Line>>, CommError> {
        self.leave()?.lines()
    }
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Line(to rank {})", self.peer)
    }
}
