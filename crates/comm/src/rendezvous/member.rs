//! The ranks from 1 on, which call rank 0.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use super::door::Door;
use super::link::Roll;
use super::messages::{JOB_BYTES, Join, Welcome};
use super::wire::Wire;
use super::{JoinOptions, SHORTEST, Seat, listen};
use crate::error::CommError;
use crate::frame::Kind;
use crate::group::Group;

/// How long a process waits before it calls a rank 0 again that did not listen yet.
const AGAIN: Duration = Duration::from_millis(50);

/// Joins the group whose rank 0 listens at `address`, as the rank wanted or the next free one.
///
/// Rank 0 may start later; it is called until [`JoinOptions::gathering`] is over.
///
/// # Errors
/// Where rank 0 cannot be reached, refuses, or the group does not form.
pub fn join(
    address: &str,
    wanted: Option<usize>,
    options: JoinOptions,
) -> Result<Group, CommError> {
    let until = Instant::now() + options.gathering;
    let (stream, found) = reach(address, until)?;
    let own = stream.local_addr().map_err(|source| CommError::Socket {
        what: "ask for the own side of",
        address: address.to_owned(),
        source,
    })?;
    let mut seat = Seat {
        door: Door::new(listen(SocketAddr::new(own.ip(), 0))?, &options.secret),
        options,
        coordinator: Some(found),
        job: [0; JOB_BYTES],
        rank: 0,
        size: 0,
        group: 0,
        addresses: Vec::new(),
    };
    let roll = ask(&seat, Wire::new(stream, found.to_string(), until), wanted)?;
    seat.job = roll.job;
    let transport = seat.sit_down(&roll)?;
    Ok(Group::seated(transport, seat))
}

/// Calls rank 0 again after a loss.
pub(super) fn join_again(seat: &Seat, address: SocketAddr) -> Result<Roll, CommError> {
    // Rank 0 may hear of the loss a patience later, and then waits for others for two.
    let until = Instant::now() + 4 * seat.options.patience;
    let (stream, found) = reach(&address.to_string(), until)?;
    let roll = ask(seat, Wire::new(stream, found.to_string(), until), Some(seat.rank))?;
    if roll.job != seat.job || roll.group <= seat.group {
        let fault = "it welcomed this rank to another job".to_owned();
        return Err(CommError::Stranger { address: address.to_string(), fault });
    }
    Ok(roll)
}

fn ask(seat: &Seat, mut wire: Wire, wanted: Option<usize>) -> Result<Roll, CommError> {
    wire.call(&seat.options.secret)?;
    let port = seat.door.address().map_or(0, |own| own.port());
    let join = Join {
        wanted: wanted.map(|rank| rank as u32),
        member_of: seat.group,
        port,
        fingerprint: seat.options.fingerprint.clone(),
    };
    wire.say(Kind::Join, &join.encode())?;
    let words = wire.hear(Kind::Welcome)?;
    let Some(welcome) = Welcome::parse(&words) else {
        let fault = "its welcome cannot be read".to_owned();
        return Err(CommError::Stranger { address: wire.address, fault });
    };
    let first = seat.coordinator.expect("only members ask");
    Ok(Roll {
        rank: welcome.rank as usize,
        group: welcome.group,
        job: welcome.job,
        addresses: [vec![first], welcome.addresses].concat(),
    })
}

/// Connects, trying again until the time is over.
fn reach(address: &str, until: Instant) -> Result<(TcpStream, SocketAddr), CommError> {
    let fault = |source| CommError::Socket { what: "reach", address: address.to_owned(), source };
    let start = Instant::now();
    loop {
        let found: Vec<SocketAddr> = address.to_socket_addrs().map_err(fault)?.collect();
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let address = address.to_owned();
            return Err(CommError::NoAnswer { address, waited: start.elapsed() });
        }
        for address in found {
            if let Ok(stream) = TcpStream::connect_timeout(&address, left.max(SHORTEST)) {
                return Ok((stream, address));
            }
        }
        std::thread::sleep(AGAIN.min(left));
    }
}
