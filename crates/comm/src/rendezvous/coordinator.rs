//! Rank 0, whom the others call.

use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::time::Instant;

use super::door::Door;
use super::gathering::Gathering;
use super::link::Roll;
use super::messages::MOST_RANKS;
use super::secret::nonce;
use super::{JoinOptions, Seat, listen};
use crate::error::CommError;
use crate::group::Group;

/// Rank 0 before the others have come.
///
/// ```
/// use trainwright_comm::{Coordinator, JoinOptions, Secret, join};
///
/// let options = JoinOptions::new(Secret::random()?);
/// let coordinator = Coordinator::listen("127.0.0.1:0", options.clone())?;
/// let address = coordinator.address().to_string();
/// let other = std::thread::spawn(move || join(&address, None, options)?.barrier());
/// coordinator.gather(2)?.barrier()?;
/// other.join().unwrap()?;
/// # Ok::<(), trainwright_comm::CommError>(())
/// ```
#[derive(Debug)]
pub struct Coordinator {
    listener: TcpListener,
    address: SocketAddr,
    options: JoinOptions,
}

impl Coordinator {
    /// Listens on an address such as `10.0.0.1:7000`; with port 0 the system chooses one.
    ///
    /// # Errors
    /// Where the address is none, or taken.
    pub fn listen(address: &str, options: JoinOptions) -> Result<Self, CommError> {
        let fault =
            |source| CommError::Socket { what: "listen on", address: address.to_owned(), source };
        let mut found = address.to_socket_addrs().map_err(fault)?;
        let first = found.next().ok_or_else(|| fault(std::io::ErrorKind::NotFound.into()))?;
        let listener = listen(first)?;
        let address = listener.local_addr().map_err(fault)?;
        Ok(Self { listener, address, options })
    }

    /// Listens by a listener that is there already, as where others had to be told its port first.
    ///
    /// # Errors
    /// Where the system does not tell its address.
    pub fn over(listener: TcpListener, options: JoinOptions) -> Result<Self, CommError> {
        let own = listener.set_nonblocking(true).and_then(|()| listener.local_addr());
        let address = own.map_err(|source| CommError::Socket {
            what: "use",
            address: "a listener".to_owned(),
            source,
        })?;
        Ok(Self { listener, address, options })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits for the other `size - 1` ranks, and is rank 0 of the group.
    ///
    /// # Errors
    /// Where ranks are missing when the time is over; the error names them, and those turned away.
    pub fn gather(self, size: usize) -> Result<Group, CommError> {
        if size == 0 || size > MOST_RANKS {
            return Err(CommError::NoSuchRank { rank: 0, size });
        }
        let (start, job) = (Instant::now(), nonce()?);
        let mut seat = Seat {
            door: Door::new(self.listener, &self.options.secret),
            options: self.options,
            coordinator: None,
            job,
            rank: 0,
            size,
            group: 0,
            addresses: Vec::new(),
        };
        let roll = {
            let mut gathering = Gathering::new(size, 0, None, &seat.options.fingerprint);
            if !gathering.wait(&mut seat.door, start + seat.options.gathering) {
                return Err(gathering.missing(start.elapsed()));
            }
            gathering.welcome(1, job, self.address)
        };
        let transport = seat.sit_down(&roll)?;
        Ok(Group::seated(transport, seat))
    }
}

/// Waits for the survivors, and goes on with those that come in time.
pub(super) fn gather_again(seat: &mut Seat, lost: usize) -> Result<Roll, CommError> {
    let mut gathering =
        Gathering::new(seat.size, seat.group, Some(lost), &seat.options.fingerprint);
    gathering.wait(&mut seat.door, Instant::now() + 2 * seat.options.patience);
    let own = seat.door.address().map_err(|source| CommError::Socket {
        what: "ask for the address of",
        address: "rank 0".to_owned(),
        source,
    })?;
    Ok(gathering.welcome(seat.group + 1, seat.job, own))
}
