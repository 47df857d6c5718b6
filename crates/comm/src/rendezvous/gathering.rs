//! The processes that have come, and who is turned away.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::door::{Door, Guest};
use super::link::Roll;
use super::messages::{JOB_BYTES, Join, Welcome};
use super::wire::Wire;
use crate::error::{CommError, Refusal};
use crate::frame::Kind;

/// How long the welcome of one process may take.
const WELCOME: Duration = Duration::from_secs(2);

/// Reasons kept of those that were turned away.
const REASONS: usize = 8;

/// The processes that have come to be ranks from 1 on.
#[derive(Debug)]
pub(super) struct Gathering<'a> {
    pub(super) size: usize,
    /// The number of the group that members come from; 0 for newcomers.
    pub(super) from_group: u32,
    /// The rank that was lost there.
    pub(super) lost: Option<usize>,
    pub(super) fingerprint: &'a str,
    come: Vec<Comer>,
    refused: Vec<String>,
}

#[derive(Debug)]
struct Comer {
    wire: Wire,
    listens: SocketAddr,
    wanted: Option<usize>,
}

impl<'a> Gathering<'a> {
    /// Nobody but rank 0 yet.
    pub(super) fn new(
        size: usize,
        from_group: u32,
        lost: Option<usize>,
        fingerprint: &'a str,
    ) -> Self {
        Self { size, from_group, lost, fingerprint, come: Vec::new(), refused: Vec::new() }
    }

    /// Lets callers in until all have come or the time is over; says whether all have.
    pub(super) fn wait(&mut self, door: &mut Door, until: Instant) -> bool {
        for guest in door.kept_waiting() {
            self.admit(guest);
        }
        let all = self.size - 1 - usize::from(self.lost.is_some());
        loop {
            self.come.retain(|comer| is_open(&comer.wire.stream));
            if self.come.len() == all {
                return true;
            }
            if Instant::now() >= until {
                return false;
            }
            match door.next() {
                Some(Ok(guest)) => self.admit(guest),
                Some(Err(fault)) => self.note(fault.to_string()),
                None => {}
            }
        }
    }

    /// Why the group is not complete.
    pub(super) fn missing(&self, waited: Duration) -> CommError {
        let taken = self.places();
        let ranks = (1..self.size).filter(|rank| !taken.contains(rank)).collect();
        CommError::Missing { ranks, size: self.size, waited, refused: self.refused.clone() }
    }

    /// Tells each process its rank and where the others listen; `own` is where rank 0 does.
    pub(super) fn welcome(mut self, group: u32, job: [u8; JOB_BYTES], own: SocketAddr) -> Roll {
        let places = self.places();
        let mut order: Vec<usize> = (0..self.come.len()).collect();
        order.sort_by_key(|at| places[*at]);
        let addresses: Vec<SocketAddr> = order.iter().map(|at| self.come[*at].listens).collect();
        for (before, at) in order.iter().enumerate() {
            let rank = before as u32 + 1;
            let welcome = Welcome { rank, group, job, addresses: addresses.clone() };
            let wire = &mut self.come[*at].wire;
            wire.until = Instant::now() + WELCOME;
            // One that is gone by now is missed when the ranks connect.
            let _ = wire.say(Kind::Welcome, &welcome.encode());
        }
        Roll { rank: 0, group, job, addresses: [vec![own], addresses].concat() }
    }

    /// The rank of each that has come: what it wanted, the others in the order of arrival.
    fn places(&self) -> Vec<usize> {
        let wanted = |rank: &usize| self.come.iter().any(|comer| comer.wanted == Some(*rank));
        let mut free = (1..).filter(|rank| !wanted(rank));
        let mut next = || free.next().expect("there is no last number");
        self.come.iter().map(|comer| comer.wanted.unwrap_or_else(&mut next)).collect()
    }

    fn admit(&mut self, mut guest: Guest) {
        // A rank of an older group that still tries to connect is no matter of this one.
        let Some(join) = Join::parse(&guest.words).filter(|_| guest.wants == Kind::Join) else {
            return;
        };
        match self.objection(&join) {
            Some(refusal) => {
                let fault = guest.wire.refuse(refusal);
                self.note(fault.to_string());
            }
            None => self.come.push(Comer {
                wire: guest.wire,
                listens: SocketAddr::new(guest.from.ip(), join.port),
                wanted: join.wanted.map(|rank| rank as usize),
            }),
        }
    }

    fn objection(&self, join: &Join) -> Option<Refusal> {
        let size = self.size;
        if join.member_of != self.from_group {
            return Some(Refusal::OldGroup { now: self.from_group, joiner: join.member_of });
        }
        if join.fingerprint != self.fingerprint {
            let (group, joiner) = (self.fingerprint.to_owned(), join.fingerprint.clone());
            return Some(Refusal::Fingerprint { group, joiner });
        }
        if let Some(rank) = join.wanted.map(|rank| rank as usize) {
            if rank >= size {
                return Some(Refusal::NoSuchRank { rank, size });
            }
            if self.lost == Some(rank) {
                return Some(Refusal::GivenUp { rank });
            }
            if rank == 0 || self.come.iter().any(|comer| comer.wanted == Some(rank)) {
                return Some(Refusal::RankTaken { rank });
            }
        }
        (self.come.len() + 1 == size).then_some(Refusal::Full { size })
    }

    fn note(&mut self, reason: String) {
        if self.refused.len() < REASONS && !self.refused.contains(&reason) {
            self.refused.push(reason);
        }
    }
}

/// Whether the other end, which has nothing to say now, is still there.
fn is_open(stream: &TcpStream) -> bool {
    let looked = stream.set_nonblocking(true).and_then(|()| stream.peek(&mut [0]));
    let silent = matches!(looked, Err(fault) if fault.kind() == ErrorKind::WouldBlock);
    silent && stream.set_nonblocking(false).is_ok()
}
