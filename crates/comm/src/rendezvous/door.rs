//! Where a rank is called: connections are answered side by side, so that none holds up others.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use super::secret::Secret;
use super::wire::Wire;
use crate::error::CommError;
use crate::frame::Kind;

/// How long a caller may take to prove itself.
const MANNERS: Duration = Duration::from_secs(2);

/// Callers that are answered at once; further ones wait, at most until those are turned away.
const AT_ONCE: usize = 256;

/// How often callers are looked for.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// A caller that has proved itself, and what it wants.
#[derive(Debug)]
pub(super) struct Guest {
    pub(super) wire: Wire,
    pub(super) from: SocketAddr,
    pub(super) wants: Kind,
    pub(super) words: Vec<u8>,
}

/// A caller that has proved itself, or why it was turned away.
type Answered = Result<Guest, CommError>;

/// Answers those that call a listener, for as long as it lives.
///
/// A rank has one door for all groups of its job: the first ranks of a group may go on to the next
/// one, and call, while others still wait for the last rank of the old one.
#[derive(Debug)]
pub(super) struct Door {
    listener: TcpListener,
    secret: Secret,
    busy: Arc<AtomicUsize>,
    answers: Sender<Answered>,
    answered: Receiver<Answered>,
    /// Guests that came too early, in their order.
    early: Vec<Guest>,
}

impl Door {
    /// Answers those that call; the listener does not block.
    pub(super) fn new(listener: TcpListener, secret: &Secret) -> Self {
        let busy = Arc::new(AtomicUsize::new(0));
        let (answers, answered) = channel();
        let early = Vec::new();
        Self { listener, secret: secret.clone(), busy, answers, answered, early }
    }

    /// Where it is.
    pub(super) fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Keeps a guest for those that are asked for later.
    pub(super) fn keep_waiting(&mut self, guest: Guest) {
        // So many never come early; whoever calls so often means no good.
        if self.early.len() < AT_ONCE {
            self.early.push(guest);
        }
    }

    /// Those that came too early and were kept waiting.
    pub(super) fn kept_waiting(&mut self) -> Vec<Guest> {
        std::mem::take(&mut self.early)
    }

    /// The next caller that has proved itself or was turned away, where there is one soon.
    pub(super) fn next(&self) -> Option<Answered> {
        while self.busy.load(Ordering::Acquire) < AT_ONCE {
            // A caller that is gone again, or a system short of sockets: others may come.
            let Ok((stream, from)) = self.listener.accept() else { break };
            self.answer(stream, from);
        }
        self.answered.recv_timeout(LOOK_EVERY).ok()
    }

    fn answer(&self, stream: TcpStream, from: SocketAddr) {
        let (secret, sender) = (self.secret.clone(), self.answers.clone());
        let busy = Busy::new(&self.busy);
        // Where no thread can be had, the connection closes and its caller hears of it.
        let _ = std::thread::Builder::new().name("comm door".to_owned()).spawn(move || {
            let guest = greet(stream, from, &secret);
            drop(busy);
            let _ = sender.send(guest);
        });
    }
}

fn greet(stream: TcpStream, from: SocketAddr, secret: &Secret) -> Answered {
    let mut wire = Wire::new(stream, from.to_string(), Instant::now() + MANNERS);
    wire.answer(secret)?;
    let (wants, words) = wire.hear_any()?;
    Ok(Guest { wire, from, wants, words })
}

/// Counts one caller for as long as it lives.
struct Busy(Arc<AtomicUsize>);

impl Busy {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(count.clone())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
