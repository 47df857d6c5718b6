//! Ranks as processes: a connection between every two of them.

mod control;
mod line;
mod receiving;
mod sending;
mod watch;

use std::io::{self, ErrorKind};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::SndBuf;

use crate::error::{CommError, Loss};
use crate::frame::{Header, Kind};
use crate::spin::{Looks, Spin};
use crate::transport::{Outgoing, Place, ROW_BYTES, Source, Tag, Take, Traffic, Transport};
use control::Control;
#[cfg(feature = "fuzzing")]
pub(crate) use control::is_sign;
use receiving::{Receiving, Wrong, row_buffer};
use sending::Sending;
use watch::{Pulse, Watch};

/// How long a rank sleeps at most before it looks whether the group is whole.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How long a rank looks again and again before it sleeps, where every rank of its machine can have
/// a core: being woken in the middle of an exchange takes longer.
const SPIN: Duration = Duration::from_micros(400);

/// Bytes that may wait in a connection within a machine, of which the kernel makes twice as many.
/// Larger buffers no longer fit the caches: on two cores 4 ranks then took 1.5 times as long for
/// 100 MB. Below 64 kB the kernel waits for acknowledgements. Between machines it decides itself.
const LOCAL_SEND_BUFFER: usize = 256 * 1024;

/// The connections with one other rank.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) data: TcpStream,
    pub(crate) control: TcpStream,
}

/// A rank in a group with its connections: what joining gives.
#[derive(Debug)]
pub(crate) struct Mesh {
    pub(crate) rank: usize,
    /// The number of the group, which grows when survivors meet again.
    pub(crate) group: u32,
    /// For each rank; none for the own one.
    pub(crate) links: Vec<Option<Link>>,
}

/// How patient a rank is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    pub(crate) heartbeat: Duration,
    pub(crate) patience: Duration,
    pub(crate) limit: Duration,
}

/// A rank that is a process.
#[derive(Debug)]
pub(crate) struct TcpTransport {
    rank: usize,
    group: u32,
    /// The connections for data, which do not block; none for the own rank.
    peers: Vec<Option<TcpStream>>,
    watch: Watch,
    limit: Duration,
    spin: Spin,
    traffic: Traffic,
    /// Rows that come in, kept so that their memory is used again.
    buffers: Vec<Vec<f32>>,
}

impl TcpTransport {
    /// Begins with a mesh of connections.
    pub(crate) fn new(mesh: Mesh, timing: Timing) -> io::Result<Self> {
        let Mesh { rank, group, links } = mesh;
        let size = links.len();
        let (mut peers, mut controls, mut data) = (Vec::new(), Vec::new(), Vec::new());
        let mut on_this_machine = 1;
        for (other, link) in links.into_iter().enumerate() {
            let Some(link) = link else {
                peers.push(None);
                continue;
            };
            for stream in [&link.data, &link.control] {
                stream.set_nonblocking(true)?;
                stream.set_nodelay(true)?;
            }
            if is_within_machine(&link.data) {
                setsockopt(&link.data, SndBuf, &LOCAL_SEND_BUFFER)?;
                on_this_machine += 1;
            }
            data.push(link.data.try_clone()?);
            peers.push(Some(link.data));
            controls.push(Control::new(link.control, other, size, group));
        }
        let pulse = Pulse { heartbeat: timing.heartbeat, patience: timing.patience };
        let watch = Watch::start(rank, controls, data, pulse)?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let spin = Spin::new(if on_this_machine <= cores { SPIN } else { Duration::ZERO });
        let (limit, traffic, buffers) = (timing.limit, Traffic::default(), Vec::new());
        Ok(Self { rank, group, peers, watch, limit, spin, traffic, buffers })
    }

    fn header(&self, tag: Tag, bytes: usize) -> Header {
        Header { kind: Kind::Data, group: self.group, tag: tag.0, length: bytes as u64 }
    }

    fn sendings<'a>(&self, tag: Tag, sends: &[Outgoing<'a>]) -> Vec<Sending<'a>> {
        let length = |send: &Outgoing<'_>| send.parts.iter().map(|part| part.len()).sum();
        sends.iter().map(|send| Sending::new(send, self.header(tag, length(send)))).collect()
    }

    fn peer(&self, rank: usize) -> &TcpStream {
        self.peers[rank].as_ref().expect("no operation names the own rank")
    }

    /// Moves bytes both ways until all that goes is gone and all that comes has come; `filled` is
    /// told when what is being received is filled, and says whether there is more.
    fn drive(
        &mut self,
        mut sends: Vec<Sending<'_>>,
        receives: &mut [Receiving<'_>],
        filled: &mut dyn FnMut(&mut [Receiving<'_>]) -> bool,
    ) -> Result<(), CommError> {
        let mut last_moved = Instant::now();
        let mut looks: Option<Looks<'_>> = None;
        let mut more = !receives.is_empty();
        loop {
            let now = Instant::now();
            let more_looks = looks.as_mut().is_none_or(|looks| looks.again(now));
            let mut moved = 0;
            for send in sends.iter_mut().filter(|send| !send.is_done()) {
                moved += self.settled(send.to, send.write(self.peer(send.to)))?;
            }
            for receive in receives.iter_mut().filter(|receive| !receive.is_filled()) {
                moved += self.read(receive)?;
            }
            while more && receives.iter().all(Receiving::is_filled) {
                more = filled(receives);
                moved += 1;
            }
            if !more && sends.iter().all(Sending::is_done) {
                return Ok(());
            }
            if moved > 0 {
                (last_moved, looks) = (Instant::now(), None);
            } else if !more_looks {
                looks = None;
                self.wait(&sends, receives, last_moved)?;
            } else if looks.is_none() {
                looks = Some(self.spin.looks(now));
            }
        }
    }

    fn read(&self, receive: &mut Receiving<'_>) -> Result<usize, CommError> {
        let rank = receive.from;
        let read = match receive.read(self.peer(rank)) {
            Ok(Ok(0)) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(Ok(read)) => Ok(read),
            Ok(Err(wrong)) => return Err(self.wrong(rank, wrong, receive.expected)),
            Err(fault) => Err(fault),
        };
        self.settled(rank, read)
    }

    /// Bytes moved with a rank: none where the socket was not ready, an error where it broke.
    fn settled(&self, rank: usize, moved: io::Result<usize>) -> Result<usize, CommError> {
        match moved {
            Ok(bytes) => Ok(bytes),
            Err(fault)
                if matches!(fault.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                Ok(0)
            }
            Err(_) => Err(self.watch.why_closed(rank).error()),
        }
    }

    fn wrong(&self, rank: usize, wrong: Wrong, expected: Header) -> CommError {
        let why = if matches!(wrong, Wrong::Nonsense) { Loss::Nonsense } else { Loss::OutOfStep };
        let verdict = self.watch.blame(rank, why);
        match wrong {
            Wrong::Nonsense => verdict.error(),
            Wrong::Tag(found) => {
                let (expected, found) = (Tag(expected.tag).to_string(), Tag(found).to_string());
                CommError::OutOfStep { rank, expected, found }
            }
            Wrong::Length(found) => {
                CommError::WrongLength { rank, expected: expected.length, found }
            }
        }
    }

    /// Sleeps until a socket is ready for what is still to do.
    fn wait(
        &mut self,
        sends: &[Sending<'_>],
        receives: &[Receiving<'_>],
        last_moved: Instant,
    ) -> Result<(), CommError> {
        let goes = sends.iter().filter(|send| !send.is_done());
        let comes = receives.iter().filter(|receive| !receive.is_filled());
        let wanted: Vec<(usize, PollFlags)> = (goes.map(|send| (send.to, PollFlags::POLLOUT)))
            .chain(comes.map(|receive| (receive.from, PollFlags::POLLIN)))
            .collect();
        self.check()?;
        if last_moved.elapsed() > self.limit
            && let Some((rank, _)) = wanted.first()
        {
            return Err(self.watch.blame(*rank, Loss::TimedOut).error());
        }
        self.sleep(&wanted, LOOK_EVERY);
        Ok(())
    }

    /// Sleeps until one of these sockets is ready, and gives the first that is.
    fn sleep(&mut self, wanted: &[(usize, PollFlags)], limit: Duration) -> Option<usize> {
        let start = Instant::now();
        let limit = PollTimeout::try_from(limit).unwrap_or(PollTimeout::MAX);
        let mut sockets: Vec<PollFd<'_>> = wanted
            .iter()
            .map(|(rank, flags)| PollFd::new(self.peer(*rank).as_fd(), *flags))
            .collect();
        // An interrupted sleep is a short one.
        let _ = poll(&mut sockets, limit);
        let ready = sockets.iter().position(|socket| socket.any().unwrap_or(false));
        drop(sockets);
        self.traffic.waited += start.elapsed();
        ready.map(|at| wanted[at].0)
    }

    fn count_sent(&mut self, sends: &[Outgoing<'_>]) {
        for send in sends {
            self.traffic.messages += 1;
            self.traffic.sent += send.parts.iter().map(|part| part.len() as u64).sum::<u64>();
        }
    }
}

impl Transport for TcpTransport {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.peers.len()
    }

    fn exchange(
        &mut self,
        tag: Tag,
        sends: &[Outgoing<'_>],
        places: &mut [Place<'_>],
    ) -> Result<(), CommError> {
        self.check()?;
        let received: usize = places.iter().map(|place| place.into.len()).sum();
        let mut receives: Vec<Receiving<'_>> = places
            .iter_mut()
            .map(|place| {
                let header = self.header(tag, place.into.len());
                Receiving::to_place(place.from, header, place.into)
            })
            .collect();
        self.drive(self.sendings(tag, sends), &mut receives, &mut |_| false)?;
        self.count_sent(sends);
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
        self.check()?;
        let mut buffers = std::mem::take(&mut self.buffers);
        buffers.resize_with(buffers.len().max(sources.len()), Vec::new);
        let mut receives: Vec<Receiving<'_>> = Vec::with_capacity(sources.len());
        for (source, buffer) in sources.iter().zip(&mut buffers) {
            let room = row_buffer(source.parts, bytes).max(buffer.len());
            buffer.resize(room, 0.0);
            let header = self.header(tag, source.parts * bytes);
            receives.push(Receiving::by_rows(source.from, header, buffer));
        }
        let mut rows = Rows { sources, bytes, start: 0, take };
        rows.begin(&mut receives);
        let done = self
            .drive(self.sendings(tag, sends), &mut receives, &mut |receives| rows.next(receives));
        drop(receives);
        self.buffers = buffers;
        done?;
        self.count_sent(sends);
        let parts: usize = sources.iter().map(|source| source.parts).sum();
        self.traffic.received += (parts * bytes) as u64;
        Ok(())
    }

    fn ready(&mut self, among: &[usize], limit: Duration) -> Result<Option<usize>, CommError> {
        let start = Instant::now();
        let wanted: Vec<(usize, PollFlags)> =
            among.iter().map(|rank| (*rank, PollFlags::POLLIN)).collect();
        loop {
            self.check()?;
            let left = limit.saturating_sub(start.elapsed());
            if let Some(rank) = self.sleep(&wanted, left.min(LOOK_EVERY)) {
                let waiting = match self.peer(rank).peek(&mut [0]) {
                    Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
                    other => other,
                };
                if self.settled(rank, waiting)? > 0 {
                    return Ok(Some(rank));
                }
            }
            if start.elapsed() >= limit {
                return Ok(None);
            }
        }
    }

    fn check(&self) -> Result<(), CommError> {
        self.watch.verdict().map_or(Ok(()), |verdict| Err(verdict.error()))
    }

    fn traffic(&self) -> Traffic {
        self.traffic
    }
}

/// Whether both ends of a connection are on this machine.
fn is_within_machine(stream: &TcpStream) -> bool {
    matches!((stream.local_addr(), stream.peer_addr()), (Ok(own), Ok(other)) if own.ip() == other.ip())
}

/// Where an operation is that takes parts in step.
struct Rows<'a, 'b> {
    sources: &'a [Source],
    bytes: usize,
    /// Where the current row starts in each part.
    start: usize,
    take: &'a mut Take<'b>,
}

impl Rows<'_, '_> {
    fn length(&self) -> usize {
        ROW_BYTES.min(self.bytes - self.start)
    }

    fn begin(&self, receives: &mut [Receiving<'_>]) {
        for (receive, source) in receives.iter_mut().zip(self.sources) {
            receive.next_row(source.parts * self.length());
        }
    }

    /// Hands a filled row over; says whether there is another one.
    fn next(&mut self, receives: &mut [Receiving<'_>]) -> bool {
        let length = self.length();
        if length > 0 {
            let parts: Vec<&[u8]> =
                receives.iter().flat_map(|receive| receive.row().chunks(length)).collect();
            (self.take)(self.start, &parts);
        }
        self.start += length;
        self.begin(receives);
        self.start < self.bytes
    }
}

#[cfg(test)]
mod tests;
