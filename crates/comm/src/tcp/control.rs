//! The connection for signs of life between two ranks.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use crate::error::Loss;
use crate::frame::{HEADER_BYTES, Header, Kind};

/// Bytes after the header of an abort: the lost rank, who noticed, and how it was lost.
const ABORT_BYTES: usize = 9;

/// That a rank is lost, how, and who noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) lost: usize,
    pub(super) by: usize,
    pub(super) why: Loss,
}

/// What the other rank has said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Life,
    Goodbye,
    /// A rank is lost, as another one has noticed.
    Lost(Report),
    Closed,
    Nonsense,
}

/// The connection for signs of life with one rank.
#[derive(Debug)]
pub(super) struct Control {
    /// The other rank.
    pub(super) rank: usize,
    size: usize,
    group: u32,
    /// None once it has closed.
    stream: Option<TcpStream>,
    /// When something last came.
    pub(super) heard: Instant,
    /// Bytes of the frame that is coming in.
    come: Vec<u8>,
}

impl Control {
    /// A connection that does not block, with `rank` of a group.
    pub(super) fn new(stream: TcpStream, rank: usize, size: usize, group: u32) -> Self {
        let stream = Some(stream);
        Self { rank, size, group, stream, heard: Instant::now(), come: Vec::new() }
    }

    pub(super) fn is_open(&self) -> bool {
        self.stream.is_some()
    }

    /// The socket of an open connection.
    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_ref().expect("only open connections are waited for").as_fd()
    }

    pub(super) fn beat(&mut self) {
        self.send(Kind::Heartbeat, &[]);
    }

    pub(super) fn goodbye(&mut self) {
        self.send(Kind::Goodbye, &[]);
    }

    pub(super) fn abort(&mut self, report: Report) {
        let mut body = [0; ABORT_BYTES];
        body[..4].copy_from_slice(&(report.lost as u32).to_le_bytes());
        body[4..8].copy_from_slice(&(report.by as u32).to_le_bytes());
        body[8] = report.why.code();
        self.send(Kind::Abort, &body);
    }

    /// What came next, where something whole did.
    pub(super) fn next_sign(&mut self, now: Instant) -> Option<Sign> {
        let stream = self.stream.as_mut()?;
        loop {
            let wanted = match parse(&self.come, self.size, self.group) {
                Parsed::Sign(sign) => {
                    self.come.clear();
                    self.heard = now;
                    if sign == Sign::Nonsense {
                        self.stream = None;
                    }
                    return Some(sign);
                }
                Parsed::Needs(wanted) => wanted,
            };
            let mut room = [0; HEADER_BYTES];
            match stream.read(&mut room[..wanted]) {
                Ok(0) => {
                    self.stream = None;
                    return Some(Sign::Closed);
                }
                Ok(read) => self.come.extend_from_slice(&room[..read]),
                Err(fault) if fault.kind() == ErrorKind::WouldBlock => return None,
                Err(fault) if fault.kind() == ErrorKind::Interrupted => {}
                Err(_) => {
                    self.stream = None;
                    return Some(Sign::Closed);
                }
            }
        }
    }

    /// Sends a frame if the socket takes it. Where it does not, the other rank has not read for
    /// minutes and is silent anyway; a connection that broke is noticed by reading.
    fn send(&mut self, kind: Kind, body: &[u8]) {
        let Some(stream) = &mut self.stream else { return };
        let header = Header { kind, group: self.group, tag: 0, length: body.len() as u64 };
        let frame = [&header.encode(), body].concat();
        let _ = stream.write_all(&frame);
    }
}

/// Whether bytes are one whole frame of this connection, in a group of 4.
#[cfg(feature = "fuzzing")]
pub(crate) fn is_sign(bytes: &[u8]) -> bool {
    matches!(parse(bytes, 4, 1), Parsed::Sign(sign) if sign != Sign::Nonsense)
}

enum Parsed {
    Sign(Sign),
    /// So many further bytes.
    Needs(usize),
}

/// Reads the frame at the beginning of these bytes, which hold no more than one.
fn parse(bytes: &[u8], size: usize, group: u32) -> Parsed {
    let Some(header) = bytes.first_chunk::<HEADER_BYTES>() else {
        return Parsed::Needs(HEADER_BYTES - bytes.len());
    };
    let nonsense = Parsed::Sign(Sign::Nonsense);
    let Ok(header) = Header::parse(header) else { return nonsense };
    if header.group != group || header.tag != 0 {
        return nonsense;
    }
    match (header.kind, header.length) {
        (Kind::Heartbeat, 0) => Parsed::Sign(Sign::Life),
        (Kind::Goodbye, 0) => Parsed::Sign(Sign::Goodbye),
        (Kind::Abort, length) if length == ABORT_BYTES as u64 => {
            let Some(body) = bytes[HEADER_BYTES..].first_chunk::<ABORT_BYTES>() else {
                return Parsed::Needs(HEADER_BYTES + ABORT_BYTES - bytes.len());
            };
            let [a, b, c, d, e, f, g, h, code] = *body;
            let lost = u32::from_le_bytes([a, b, c, d]) as usize;
            let by = u32::from_le_bytes([e, f, g, h]) as usize;
            match Loss::of_code(code) {
                Some(why) if lost < size && by < size => {
                    Parsed::Sign(Sign::Lost(Report { lost, by, why }))
                }
                _ => nonsense,
            }
        }
        _ => nonsense,
    }
}
