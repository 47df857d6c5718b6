//! How processes become ranks of a group, and survivors become one again.
//!
//! Rank 0 listens; the others call it, prove that they know the shared secret, and say what they
//! are. When all have come, each is told its rank and where the others listen, and every two ranks
//! connect, again with proofs. After a loss the survivors meet once more at rank 0, under the next
//! group number. A group therefore always holds the one rank 0 of its job: of a network that falls
//! apart, only the side with rank 0 can form a group, and the other ranks end with an error. If
//! rank 0 is lost, the job ends.
//!
//! Joining keeps strangers out and notices words that were changed on the way. The numbers of the
//! operations themselves are neither encrypted nor signed: use a trusted network or a tunnel.
//!
//! Read `wire.rs` first, then `gathering.rs`.

mod coordinator;
mod door;
mod gathering;
mod link;
mod member;
mod messages;
mod secret;
mod wire;

use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use crate::error::{CommError, Loss};
use crate::lines::Line;
use crate::tcp::{Mesh, TcpTransport, Timing};
pub use coordinator::Coordinator;
use door::Door;
use link::Roll;
pub use member::join;
use messages::JOB_BYTES;
#[cfg(feature = "fuzzing")]
pub(crate) use messages::{Join, LinkWords, Welcome};
pub use secret::Secret;

/// The least time that is given to the system for a connection.
const SHORTEST: Duration = Duration::from_millis(1);

/// How often survivors try to form a group while further ranks are lost.
const TRIES: usize = 3;

/// What a process needs to join.
#[derive(Debug, Clone)]
pub struct JoinOptions {
    /// The secret that all ranks of the job share.
    pub secret: Secret,
    /// What must agree on all ranks, such as the job's hash and the kind of processor. Ranks that
    /// differ in it are refused, and told both.
    pub fingerprint: String,
    /// How long all ranks are waited for: a minute unless set.
    pub gathering: Duration,
    /// How often a rank shows the others that it lives: twice a second unless set.
    pub heartbeat: Duration,
    /// How long a rank may be silent before it counts as lost: 10 seconds unless set. A process
    /// that ends is noticed at once, for its connections close; patience is for those that are
    /// stopped or cut off and may come back. It should be many heart-beats.
    pub patience: Duration,
    /// How long an operation may stand still while all ranks live: 10 minutes unless set. It ends
    /// groups in which a rank lives but hangs.
    pub limit: Duration,
}

impl JoinOptions {
    /// The usual options, with an empty fingerprint.
    pub fn new(secret: Secret) -> Self {
        Self {
            secret,
            fingerprint: String::new(),
            gathering: Duration::from_secs(60),
            heartbeat: Duration::from_millis(500),
            patience: Duration::from_secs(10),
            limit: Duration::from_secs(600),
        }
    }

    fn timing(&self) -> Timing {
        Timing { heartbeat: self.heartbeat, patience: self.patience, limit: self.limit }
    }
}

/// What a rank keeps in order to meet the survivors again.
#[derive(Debug)]
pub(crate) struct Seat {
    door: Door,
    options: JoinOptions,
    /// Where rank 0 listens; none on rank 0.
    coordinator: Option<SocketAddr>,
    job: [u8; JOB_BYTES],
    rank: usize,
    size: usize,
    group: u32,
    /// Where each rank listens.
    addresses: Vec<SocketAddr>,
}

impl Seat {
    /// Connects with the others of a roll.
    fn sit_down(&mut self, roll: &Roll) -> Result<TcpTransport, CommError> {
        (self.rank, self.size, self.group) = (roll.rank, roll.addresses.len(), roll.group);
        self.addresses.clone_from(&roll.addresses);
        let mesh = self.connect(roll)?;
        TcpTransport::new(mesh, self.options.timing()).map_err(|source| self.trouble(source))
    }

    /// Connects anew with all others, under the next group number, by lines that end one by one.
    pub(crate) fn lines(mut self) -> Result<Vec<Option<Line>>, CommError> {
        let (rank, group, job) = (self.rank, self.group + 1, self.job);
        let mesh = self.connect(&Roll { rank, group, job, addresses: self.addresses.clone() })?;
        mesh.into_lines(self.options.timing()).map_err(|source| self.trouble(source))
    }

    fn connect(&mut self, roll: &Roll) -> Result<Mesh, CommError> {
        let until = Instant::now() + self.options.patience;
        link::link(roll, &mut self.door, &self.options.secret, until)
    }

    fn trouble(&self, source: std::io::Error) -> CommError {
        let address = format!("rank {}", self.rank);
        CommError::Socket { what: "set up the connections of", address, source }
    }

    /// Meets the survivors again after `loss`, which the old group has given.
    pub(crate) fn meet_again(&mut self, loss: CommError) -> Result<TcpTransport, CommError> {
        let mut lost = match loss {
            CommError::PeerLost { rank, .. } => rank,
            CommError::GivenUp { .. } if self.coordinator.is_none() => {
                return Err(CommError::NoCoordinator);
            }
            other => return Err(other),
        };
        for _ in 1..TRIES {
            if lost == 0 {
                return Err(CommError::NoCoordinator);
            }
            match self.try_again(lost) {
                Err(CommError::PeerLost { rank, why: Loss::Unreachable }) => lost = rank,
                done => return done,
            }
        }
        self.try_again(lost)
    }

    fn try_again(&mut self, lost: usize) -> Result<TcpTransport, CommError> {
        let roll = match self.coordinator {
            None => coordinator::gather_again(self, lost)?,
            Some(address) => member::join_again(self, address)?,
        };
        self.sit_down(&roll)
    }
}

fn listen(address: SocketAddr) -> Result<TcpListener, CommError> {
    let bound = TcpListener::bind(address);
    let listener = bound.and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
    listener.map_err(|source| CommError::Socket {
        what: "listen on",
        address: address.to_string(),
        source,
    })
}
