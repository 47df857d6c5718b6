//! Connecting every rank with every other one, once all addresses are known.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Instant;

use super::door::{Door, Guest};
use super::messages::{Channel, JOB_BYTES, LinkWords};
use super::secret::Secret;
use super::wire::Wire;
use crate::error::{CommError, Loss, Refusal};
use crate::frame::Kind;
use crate::tcp::{Link, Mesh};

/// What a rank knows of its group before it is connected.
#[derive(Debug, Clone)]
pub(super) struct Roll {
    pub(super) rank: usize,
    pub(super) group: u32,
    pub(super) job: [u8; JOB_BYTES],
    /// Where each rank listens.
    pub(super) addresses: Vec<SocketAddr>,
}

/// Connects a rank with all others: it calls those before it and is called by those after it.
pub(super) fn link(
    roll: &Roll,
    listener: &TcpListener,
    secret: &Secret,
    until: Instant,
) -> Result<Mesh, CommError> {
    let mut halves: Vec<Halves> = roll.addresses.iter().map(|_| Halves::default()).collect();
    for (to, halves) in halves.iter_mut().enumerate().take(roll.rank) {
        halves.data = Some(call(roll, to, Channel::Data, secret, until)?);
        halves.control = Some(call(roll, to, Channel::Control, secret, until)?);
    }
    let door = Door::new(listener, secret);
    while let Some(missing) = (roll.rank + 1..halves.len()).find(|rank| !halves[*rank].is_whole()) {
        if Instant::now() >= until {
            return Err(CommError::PeerLost { rank: missing, why: Loss::Unreachable });
        }
        // Callers without proof, or from another time, are no matter of the group.
        if let Some(Ok(guest)) = door.next() {
            admit(roll, guest, &mut halves);
        }
    }
    let links = halves.into_iter().map(Halves::link).collect();
    Ok(Mesh { rank: roll.rank, group: roll.group, links })
}

fn call(
    roll: &Roll,
    to: usize,
    channel: Channel,
    secret: &Secret,
    until: Instant,
) -> Result<TcpStream, CommError> {
    let lost = |_| CommError::PeerLost { rank: to, why: Loss::Unreachable };
    let address = roll.addresses[to];
    let left = until.saturating_duration_since(Instant::now()).max(super::SHORTEST);
    let stream = TcpStream::connect_timeout(&address, left).map_err(lost)?;
    let mut wire = Wire::new(stream, address.to_string(), until);
    let (from, to) = (roll.rank as u32, to as u32);
    let words = LinkWords { job: roll.job, group: roll.group, from, to, channel };
    wire.call(secret)
        .and_then(|()| wire.say(Kind::Link, &words.encode()))
        .map_err(|_| CommError::PeerLost { rank: to as usize, why: Loss::Unreachable })?;
    plain(wire.stream)
}

fn admit(roll: &Roll, mut guest: Guest, halves: &mut [Halves]) {
    if guest.wants == Kind::Join {
        guest.wire.refuse(Refusal::Full { size: halves.len() });
        return;
    }
    let Some(words) = LinkWords::parse(&guest.words).filter(|_| guest.wants == Kind::Link) else {
        return;
    };
    let from = words.from as usize;
    let ours = words.job == roll.job && words.group == roll.group && words.to == roll.rank as u32;
    if !ours || from <= roll.rank || from >= halves.len() {
        return;
    }
    let Ok(stream) = plain(guest.wire.stream) else { return };
    match words.channel {
        Channel::Data => halves[from].data = Some(stream),
        Channel::Control => halves[from].control = Some(stream),
    }
}

/// A connection without the time limits of joining.
fn plain(stream: TcpStream) -> Result<TcpStream, CommError> {
    let address = || stream.peer_addr().map_or_else(|_| "?".to_owned(), |name| name.to_string());
    let done = stream.set_read_timeout(None).and_then(|()| stream.set_write_timeout(None));
    match done {
        Ok(()) => Ok(stream),
        Err(source) => Err(CommError::Socket { what: "set up", address: address(), source }),
    }
}

/// The connections with one rank, as far as they are there.
#[derive(Default)]
struct Halves {
    data: Option<TcpStream>,
    control: Option<TcpStream>,
}

impl Halves {
    fn is_whole(&self) -> bool {
        self.data.is_some() && self.control.is_some()
    }

    fn link(self) -> Option<Link> {
        Some(Link { data: self.data?, control: self.control? })
    }
}
