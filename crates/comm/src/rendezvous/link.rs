//! Connecting every rank with every other one, once all addresses are known.

use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::door::{Door, Guest};
use super::messages::{Channel, JOB_BYTES, Join, LinkWords};
use super::secret::Secret;
use super::wire::Wire;
use crate::error::{CommError, Loss, Refusal};
use crate::frame::Kind;
use crate::tcp::{Link, Mesh};

/// How long a rank waits before it calls another one again that hung up.
const AGAIN: Duration = Duration::from_millis(20);

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
    door: &mut Door,
    secret: &Secret,
    until: Instant,
) -> Result<Mesh, CommError> {
    let mut halves: Vec<Halves> = roll.addresses.iter().map(|_| Halves::default()).collect();
    for (to, halves) in halves.iter_mut().enumerate().take(roll.rank) {
        halves.data = Some(call(roll, to, Channel::Data, secret, until)?);
        halves.control = Some(call(roll, to, Channel::Control, secret, until)?);
    }
    for guest in door.kept_waiting() {
        admit(roll, guest, door, &mut halves);
    }
    while let Some(missing) = (roll.rank + 1..halves.len()).find(|rank| !halves[*rank].is_whole()) {
        if Instant::now() >= until {
            return Err(CommError::PeerLost { rank: missing, why: Loss::Unreachable });
        }
        // Callers without proof, or from another time, are no matter of the group.
        if let Some(Ok(guest)) = door.next() {
            admit(roll, guest, door, &mut halves);
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
    let lost = || CommError::PeerLost { rank: to, why: Loss::Unreachable };
    let address = roll.addresses[to];
    let (from, rank) = (roll.rank as u32, to as u32);
    let words = LinkWords { job: roll.job, group: roll.group, from, to: rank, channel };
    loop {
        let left = until.saturating_duration_since(Instant::now()).max(super::SHORTEST);
        // A process that has ended listens no more, so that this fails at once.
        let stream = TcpStream::connect_timeout(&address, left).map_err(|_| lost())?;
        let mut wire = Wire::new(stream, address.to_string(), until);
        let said = wire.call(secret).and_then(|()| wire.say(Kind::Link, &words.encode()));
        match said {
            Ok(()) => return plain(wire.stream),
            // One that was too slow to prove itself on a busy machine may try again.
            Err(CommError::Stranger { .. }) if Instant::now() < until => std::thread::sleep(AGAIN),
            Err(_) => return Err(lost()),
        }
    }
}

fn admit(roll: &Roll, mut guest: Guest, door: &mut Door, halves: &mut [Halves]) {
    if guest.wants == Kind::Join {
        // A member of this group has noticed a loss before this rank did.
        match Join::parse(&guest.words) {
            Some(join) if join.member_of == roll.group => door.keep_waiting(guest),
            _ => drop(guest.wire.refuse(Refusal::Full { size: halves.len() })),
        }
        return;
    }
    let Some(words) = LinkWords::parse(&guest.words).filter(|_| guest.wants == Kind::Link) else {
        return;
    };
    let from = words.from as usize;
    let ours = words.job == roll.job && words.to == roll.rank as u32;
    if ours && words.group > roll.group {
        return door.keep_waiting(guest);
    }
    if !ours || words.group != roll.group || from <= roll.rank || from >= halves.len() {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rendezvous::listen;

    /// What a rank of three knows whose rank 0 listens there; nobody calls the others.
    fn roll(rank: usize, group: u32, first: SocketAddr) -> Roll {
        Roll { rank, group, job: [7; JOB_BYTES], addresses: vec![first; 3] }
    }

    fn call_both(roll: &Roll, secret: &Secret, until: Instant) -> [TcpStream; 2] {
        [Channel::Data, Channel::Control].map(|own| call(roll, 0, own, secret, until).unwrap())
    }

    #[test]
    fn a_rank_that_is_a_group_ahead_is_not_forgotten() {
        let (secret, until) = (Secret::random().unwrap(), Instant::now() + Duration::from_secs(60));
        let mut door = Door::new(listen("127.0.0.1:0".parse().unwrap()).unwrap(), &secret);
        let first = door.address().unwrap();
        let (go, wait) = std::sync::mpsc::channel();
        let ahead = std::thread::spawn({
            let secret = secret.clone();
            move || {
                let old = call_both(&roll(2, 1, first), &secret, until);
                let new = call_both(&roll(2, 2, first), &secret, until);
                go.send(()).unwrap();
                (old, new)
            }
        });
        let behind = std::thread::spawn({
            let secret = secret.clone();
            move || {
                // Not before the other one has gone on to the next group.
                wait.recv().unwrap();
                let old = call_both(&roll(1, 1, first), &secret, until);
                (old, call_both(&roll(1, 2, first), &secret, until))
            }
        });
        for group in [1, 2] {
            let mesh = link(&roll(0, group, first), &mut door, &secret, until).unwrap();
            assert!(mesh.links[1..].iter().all(Option::is_some), "group {group}");
        }
        ahead.join().unwrap();
        behind.join().unwrap();
    }

    #[test]
    fn a_rank_that_listens_no_more_is_lost_at_once() {
        let secret = Secret::random().unwrap();
        let gone = listen("127.0.0.1:0".parse().unwrap()).unwrap().local_addr().unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        let lost = call(&roll(1, 1, gone), 0, Channel::Data, &secret, until).unwrap_err();
        assert!(matches!(lost, CommError::PeerLost { rank: 0, why: Loss::Unreachable }));
        assert!(Instant::now() < until);
    }
}
