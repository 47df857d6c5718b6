//! A line between two processes: blocking messages on one connection, signs of life on the other.

use std::io::{ErrorKind, IoSlice, Read, Write};
use std::net::TcpStream;

use bytemuck::must_cast_slice_mut;

use super::control::Control;
use super::watch::{Pulse, Watch};
use super::{LOCAL_SEND_BUFFER, Link, Mesh, Timing, is_within_machine};
use crate::error::{CommError, Loss};
use crate::frame::{HEADER_BYTES, Header, Kind};
use crate::lines::{HEAD_BYTES, Line, Message, Wire, Words, encode, parse};

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::SndBuf;

/// A line between two processes.
struct TcpLine {
    peer: usize,
    group: u32,
    data: TcpStream,
    watch: Watch,
}

impl Mesh {
    /// A line for each connection, each with a watch of its own.
    pub(crate) fn into_lines(self, timing: Timing) -> std::io::Result<Vec<Option<Line>>> {
        let Self { rank, group, links } = self;
        let size = links.len();
        let line = |(peer, link): (usize, Option<Link>)| {
            let Some(link) = link else { return Ok(None) };
            let wire = TcpLine::new(rank, peer, (size, group), link, timing)?;
            Ok(Some(Line::new(peer, Box::new(wire))))
        };
        links.into_iter().enumerate().map(line).collect()
    }
}

impl TcpLine {
    fn new(
        rank: usize,
        peer: usize,
        (size, group): (usize, u32),
        link: Link,
        timing: Timing,
    ) -> std::io::Result<Self> {
        let Link { data, control } = link;
        control.set_nonblocking(true)?;
        control.set_nodelay(true)?;
        data.set_nodelay(true)?;
        if is_within_machine(&data) {
            setsockopt(&data, SndBuf, &LOCAL_SEND_BUFFER)?;
        }
        let pulse = Pulse { heartbeat: timing.heartbeat, patience: timing.patience };
        let controls = vec![Control::new(control, peer, size, group)];
        // Whoever waits in a read or write is woken when the watch shuts the connection down.
        let watch = Watch::start(rank, controls, vec![data.try_clone()?], pulse)?;
        Ok(Self { peer, group, data, watch })
    }

    fn fill(&mut self, room: &mut [u8]) -> Result<(), CommError> {
        self.data.read_exact(room).map_err(|_| self.watch.why_closed(self.peer).error())
    }

    fn nonsense(&self) -> CommError {
        self.watch.blame(self.peer, Loss::Nonsense).error()
    }

    fn write_all(&mut self, mut slices: &mut [IoSlice<'_>]) -> std::io::Result<()> {
        IoSlice::advance_slices(&mut slices, 0);
        while !slices.is_empty() {
            match self.data.write_vectored(slices) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(gone) => IoSlice::advance_slices(&mut slices, gone),
                Err(fault) if fault.kind() == ErrorKind::Interrupted => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(())
    }
}

impl Wire for TcpLine {
    fn send(&mut self, words: &Words<'_>) -> Result<(), CommError> {
        self.check()?;
        let length = words.bytes() as u64;
        let header = Header { kind: Kind::Data, group: self.group, tag: 0, length }.encode();
        let head = encode(words);
        let [rows, values, next] = words.parts().map(IoSlice::new);
        let mut slices = [IoSlice::new(&header), IoSlice::new(&head), rows, values, next];
        let sent = self.write_all(&mut slices);
        sent.map_err(|_| self.watch.why_closed(self.peer).error())
    }

    fn receive(
        &mut self,
        into: &mut Message,
        most: usize,
        comes: &mut dyn FnMut(),
    ) -> Result<(), CommError> {
        let mut bytes = [0; HEADER_BYTES + HEAD_BYTES];
        self.fill(&mut bytes)?;
        comes();
        let (header, head) = bytes.split_first_chunk().expect("room for both");
        let head = parse(head.first_chunk().expect("room for both"));
        let (Ok(header), Some(head)) = (Header::parse(header), head) else {
            return Err(self.nonsense());
        };
        let parts = head.bytes().unwrap_or(usize::MAX);
        let whole = (parts as u64).saturating_add(HEAD_BYTES as u64);
        let ours = header.kind == Kind::Data && header.group == self.group && header.tag == 0;
        if !ours || header.length != whole {
            return Err(self.nonsense());
        }
        if parts > most {
            self.watch.blame(self.peer, Loss::Nonsense);
            let (rank, bytes, limit) = (self.peer, parts as u64, most as u64);
            return Err(CommError::TooLarge { rank, bytes, limit });
        }
        (into.kind, into.numbers) = (head.kind, head.numbers);
        let [rows, values, next] = head.lengths;
        into.rows.resize(rows, 0);
        into.values.resize(values, 0.0);
        into.next.resize(next, 0);
        self.fill(must_cast_slice_mut(&mut into.rows))?;
        self.fill(must_cast_slice_mut(&mut into.values))?;
        self.fill(must_cast_slice_mut(&mut into.next))
    }

    fn check(&self) -> Result<(), CommError> {
        self.watch.verdict().map_or(Ok(()), |verdict| Err(verdict.error()))
    }
}
