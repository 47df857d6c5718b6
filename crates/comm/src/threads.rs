//! Ranks as threads of one process: a sender lays its slices open and receivers read them there.

mod pool;
mod slot;
mod watched;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{CommError, Loss};
use crate::spin::Spin;
use crate::transport::{Outgoing, Place, Source, Tag, Take, Traffic, Transport};
use pool::{Apart, Pool};
use slot::{Slot, while_published};
use watched::{Patience, Waited};

/// How long a thread spins before it sleeps, where every rank can have a core: one that was woken
/// is as late.
const SPIN: Duration = Duration::from_micros(300);

/// How often [`Transport::ready`] looks at the slots of its senders.
const LOOK_EVERY: Duration = Duration::from_micros(50);

/// A rank that is a thread.
#[derive(Debug)]
pub(crate) struct ThreadTransport {
    rank: usize,
    hub: Arc<Hub>,
    limit: Duration,
    spin: Spin,
    traffic: Traffic,
}

#[derive(Debug)]
struct Hub {
    size: usize,
    /// The slot of a pair is at `from * size + to`.
    slots: Vec<Slot>,
    pool: Pool,
    loss: Mutex<Option<(usize, Loss)>>,
    /// Whether each rank is gone; it may go in peace once it is needed no more.
    gone: Vec<AtomicBool>,
}

impl ThreadTransport {
    /// The ranks of a group of threads. One that waits for another longer than the limit gives up.
    pub(crate) fn ranks(size: usize, limit: Duration) -> Vec<Self> {
        let hub = Arc::new(Hub {
            size,
            slots: (0..size * size).map(|_| Slot::default()).collect(),
            pool: Pool::new(size),
            loss: Mutex::new(None),
            gone: (0..size).map(|_| AtomicBool::new(false)).collect(),
        });
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let most = if size <= cores { SPIN } else { Duration::ZERO };
        let rank = |rank| Self {
            rank,
            hub: hub.clone(),
            limit,
            spin: Spin::new(most),
            traffic: Traffic::default(),
        };
        (0..size).map(rank).collect()
    }

    /// Publishes, runs `work`, and accounts for what was sent.
    fn publish(
        &mut self,
        tag: Tag,
        sends: &[Outgoing<'_>],
        work: impl FnOnce(&Inbox<'_>) -> Result<Duration, Fault>,
    ) -> Result<(), CommError> {
        self.check()?;
        let (hub, rank) = (&*self.hub, self.rank);
        let inbox = Inbox { hub, rank, patience: Patience { limit: self.limit, spin: &self.spin } };
        let messages: Vec<_> =
            sends.iter().map(|send| (hub.slot(rank, send.to), tag, send.parts)).collect();
        let start = Instant::now();
        let done = while_published(&messages, inbox.patience, || work(&inbox));
        let worked = done.map_err(|fault| fault.told(hub, sends))?;
        self.traffic.waited += start.elapsed().saturating_sub(worked);
        for send in sends {
            self.traffic.messages += 1;
            self.traffic.sent += send.parts.iter().map(|part| part.len() as u64).sum::<u64>();
        }
        Ok(())
    }
}

impl Transport for ThreadTransport {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.hub.size
    }

    fn exchange(
        &mut self,
        tag: Tag,
        sends: &[Outgoing<'_>],
        places: &mut [Place<'_>],
    ) -> Result<(), CommError> {
        let received: usize = places.iter().map(|place| place.into.len()).sum();
        self.publish(tag, sends, |inbox| {
            let mut worked = Duration::ZERO;
            for place in places {
                inbox.read(place.from, tag, 1, place.into.len(), |parts| {
                    let start = Instant::now();
                    place.into.copy_from_slice(parts[0]);
                    worked += start.elapsed();
                    Ok(())
                })?;
            }
            Ok(worked)
        })?;
        self.traffic.received += received as u64;
        Ok(())
    }

    fn combine(
        &mut self,
        tag: Tag,
        sends: &[Outgoing<'_>],
        sources: &[Source],
        bytes: usize,
        take: &mut Take<'_>,
    ) -> Result<(), CommError> {
        self.publish(tag, sends, |inbox| {
            let mut worked = Duration::ZERO;
            if sources.is_empty() {
                return Ok(worked);
            }
            inbox.read_all(sources, tag, bytes, &[], &mut |parts| {
                let start = Instant::now();
                take(0, parts);
                worked = start.elapsed();
            })?;
            Ok(worked)
        })?;
        let parts: usize = sources.iter().map(|source| source.parts).sum();
        self.traffic.received += (parts * bytes) as u64;
        Ok(())
    }

    fn put_together(
        &mut self,
        tag: Tag,
        values: &mut [f32],
        piece: Range<usize>,
        work: &mut dyn FnMut(&mut [&mut [f32]]),
    ) -> Option<Result<(), CommError>> {
        if let Err(loss) = self.check() {
            return Some(Err(loss));
        }
        let patience = Patience { limit: self.limit, spin: &self.spin };
        let (whole, own) = (size_of_val(values), size_of_val(&values[piece.clone()]));
        let (start, mut worked) = (Instant::now(), Duration::ZERO);
        let mut timed = |pieces: &mut [&mut [f32]]| {
            let start = Instant::now();
            work(pieces);
            worked = start.elapsed();
        };
        let done = self.hub.pool.put_together(self.rank, tag, values, piece, patience, &mut timed);
        if let Err(apart) = done {
            let bytes = |numbers: usize| numbers * size_of::<f32>();
            let fault = match apart {
                // Others may only be late: one that is gone is the reason, where there is one.
                Apart::Waited { on, waited } => {
                    let gone = (0..self.hub.size).find(|rank| self.hub.is_gone(*rank));
                    Fault::Waited { on: gone.unwrap_or(on), waited }
                }
                Apart::Unlike { rank, tags: [expected, found], .. } if expected != found => {
                    Fault::Tag { from: rank, expected, found }
                }
                Apart::Unlike { rank, lengths: [expected, found], .. } => {
                    let (expected, found) = (bytes(expected), bytes(found));
                    Fault::Length { from: rank, expected, found }
                }
            };
            return Some(Err(fault.told(&self.hub, &[])));
        }
        self.traffic.waited += start.elapsed().saturating_sub(worked);
        // As if every piece had gone to its owner and come back.
        let others = self.hub.size - 1;
        self.traffic.messages += 2 * others as u64;
        self.traffic.sent += (whole - own + own * others) as u64;
        self.traffic.received += (whole - own + own * others) as u64;
        Some(Ok(()))
    }

    fn ready(&mut self, among: &[usize], limit: Duration) -> Result<Option<usize>, CommError> {
        let start = Instant::now();
        loop {
            self.check()?;
            let waiting =
                among.iter().find(|from| self.hub.slot(**from, self.rank).has_message()).copied();
            if let Some(gone) = among.iter().find(|from| self.hub.is_gone(**from))
                && waiting.is_none()
            {
                return Err(self.hub.break_up(*gone, Loss::Left));
            }
            if waiting.is_some() || start.elapsed() >= limit {
                self.traffic.waited += start.elapsed();
                return Ok(waiting);
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn check(&self) -> Result<(), CommError> {
        match *self.hub.loss.lock().unwrap_or_else(PoisonError::into_inner) {
            Some((rank, why)) => Err(CommError::PeerLost { rank, why }),
            None => Ok(()),
        }
    }

    fn traffic(&self) -> Traffic {
        self.traffic
    }
}

impl Drop for ThreadTransport {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.hub.break_up(self.rank, Loss::Panicked);
        }
        self.hub.gone[self.rank].store(true, Ordering::Release);
        for other in 0..self.hub.size {
            self.hub.slot(self.rank, other).close();
            self.hub.slot(other, self.rank).close();
        }
        self.hub.pool.close();
    }
}

impl Hub {
    fn slot(&self, from: usize, to: usize) -> &Slot {
        &self.slots[from * self.size + to]
    }

    fn is_gone(&self, rank: usize) -> bool {
        self.gone[rank].load(Ordering::Acquire)
    }

    /// Ends the group for this reason, unless it has ended for another one; gives the reason.
    fn break_up(&self, rank: usize, why: Loss) -> CommError {
        let (rank, why) =
            *self.loss.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((rank, why));
        self.slots.iter().for_each(Slot::close);
        self.pool.close();
        CommError::PeerLost { rank, why }
    }
}

/// What a rank reads from the others.
struct Inbox<'a> {
    hub: &'a Hub,
    rank: usize,
    patience: Patience<'a>,
}

impl Inbox<'_> {
    /// Reads one message, once its tag and shape are right.
    fn read(
        &self,
        from: usize,
        tag: Tag,
        parts: usize,
        bytes: usize,
        look: impl FnOnce(&[&[u8]]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let slot = self.hub.slot(from, self.rank);
        let read = slot.read(self.patience, |found, sent| {
            if found != tag {
                return Err(Fault::Tag { from, expected: tag, found });
            }
            let total = sent.iter().map(|part| part.len()).sum::<usize>();
            if sent.len() != parts || sent.iter().any(|part| part.len() != bytes) {
                return Err(Fault::Length { from, expected: parts * bytes, found: total });
            }
            look(sent)
        });
        read.unwrap_or_else(|waited| Err(Fault::Waited { on: from, waited }))
    }

    /// Reads the messages of all sources at once.
    fn read_all(
        &self,
        sources: &[Source],
        tag: Tag,
        bytes: usize,
        seen: &[&[u8]],
        look: &mut dyn FnMut(&[&[u8]]),
    ) -> Result<(), Fault> {
        let Some((first, rest)) = sources.split_first() else {
            look(seen);
            return Ok(());
        };
        self.read(first.from, tag, first.parts, bytes, |parts| {
            self.read_all(rest, tag, bytes, &[seen, parts].concat(), look)
        })
    }
}

/// What went wrong, before it is told to the group.
enum Fault {
    Tag { from: usize, expected: Tag, found: Tag },
    Length { from: usize, expected: usize, found: usize },
    Waited { on: usize, waited: Waited },
    Unread { message: usize, waited: Waited },
}

impl From<(usize, Waited)> for Fault {
    fn from((message, waited): (usize, Waited)) -> Self {
        Self::Unread { message, waited }
    }
}

impl Fault {
    /// Ends the group because of this fault.
    fn told(self, hub: &Hub, sends: &[Outgoing<'_>]) -> CommError {
        match self {
            Self::Tag { from, expected, found } => {
                hub.break_up(from, Loss::OutOfStep);
                let (expected, found) = (expected.to_string(), found.to_string());
                CommError::OutOfStep { rank: from, expected, found }
            }
            Self::Length { from, expected, found } => {
                hub.break_up(from, Loss::OutOfStep);
                let (expected, found) = (expected as u64, found as u64);
                CommError::WrongLength { rank: from, expected, found }
            }
            Self::Waited { on, waited } => Self::gave_up(hub, on, waited),
            Self::Unread { message, waited } => Self::gave_up(hub, sends[message].to, waited),
        }
    }

    fn gave_up(hub: &Hub, on: usize, waited: Waited) -> CommError {
        let why = if waited == Waited::TooLong { Loss::TimedOut } else { Loss::Left };
        hub.break_up(on, why)
    }
}

#[cfg(test)]
mod tests;
