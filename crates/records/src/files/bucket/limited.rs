//! A place made slow: every request waits for the latency, and all requests together get no more
//! than the bandwidth. This shows on one machine what a distant bucket does to reading.
//!
//! The place behind is really read or written; where it is slower than the limits, that counts.

use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::limits::Limits;
use super::link::{Link, PIECE_BYTES};
use super::{Bucket, Object};
use crate::error::RecordsError;

/// Any place, with latency and bandwidth in front of it.
pub struct Limited {
    inner: Arc<dyn Bucket>,
    pace: Arc<Pace>,
}

/// The clock and the link that all requests share.
struct Pace {
    since: Instant,
    latency: Duration,
    link: Option<Link>,
}

impl Limited {
    /// Puts limits in front of a place.
    pub fn new(inner: Arc<dyn Bucket>, limits: Limits) -> Self {
        let link = limits.bandwidth.map(Link::new);
        let pace = Pace { since: Instant::now(), latency: limits.latency, link };
        Self { inner, pace: Arc::new(pace) }
    }
}

impl Pace {
    /// The time of an answer to a request that is made now.
    fn answer(&self) -> Duration {
        self.since.elapsed() + self.latency
    }

    /// Waits until bytes that are ready at a time have arrived; tells when that was planned.
    fn transfer(&self, mut ready: Duration, bytes: u64) -> Duration {
        let mut left = bytes;
        while let Some(link) = &self.link
            && left > 0
        {
            let piece = left.min(PIECE_BYTES);
            ready = link.take(ready, piece);
            // Others may take the link only while this request really waits for its piece.
            self.wait_until(ready);
            left -= piece;
        }
        self.wait_until(ready);
        ready
    }

    fn wait_until(&self, due: Duration) {
        thread::sleep(due.saturating_sub(self.since.elapsed()));
    }
}

impl Bucket for Limited {
    fn list(&self, folder: &Path) -> Result<Vec<Object>, RecordsError> {
        let answer = self.pace.answer();
        let objects = self.inner.list(folder)?;
        self.pace.wait_until(answer);
        Ok(objects)
    }

    fn open(&self, address: &Path) -> Result<Box<dyn Read + Send>, RecordsError> {
        let ready = self.pace.answer();
        let inner = self.inner.open(address)?;
        self.pace.wait_until(ready);
        Ok(Box::new(PacedReader { inner, pace: Arc::clone(&self.pace), ready }))
    }

    fn read_range(&self, address: &Path, range: Range<u64>) -> Result<Vec<u8>, RecordsError> {
        let ready = self.pace.answer();
        let bytes = self.inner.read_range(address, range)?;
        self.pace.transfer(ready, bytes.len() as u64);
        Ok(bytes)
    }

    fn write(&self, address: &Path, bytes: &[u8]) -> Result<(), RecordsError> {
        self.pace.transfer(self.pace.answer(), bytes.len() as u64);
        self.inner.write(address, bytes)
    }
}

/// A stream whose bytes arrive no faster than the link allows.
struct PacedReader {
    inner: Box<dyn Read + Send>,
    pace: Arc<Pace>,
    /// When the next bytes are ready to be sent, by the plan.
    ready: Duration,
}

impl Read for PacedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        // A stream whose reader was busy elsewhere goes on from now; the link was not kept for it.
        let late = self.pace.since.elapsed().saturating_sub(self.ready);
        if late > READ_AHEAD {
            self.ready += late - READ_AHEAD;
        }
        self.ready = self.pace.transfer(self.ready, count as u64);
        Ok(count)
    }
}

/// How much of a stream comes in while its reader does something else: what the network's own
/// buffers would hold is given as time.
const READ_AHEAD: Duration = Duration::from_millis(2);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::bucket::limits::Bandwidth;
    use crate::files::bucket::{LocalBucket, contract};

    fn limited(latency: Duration, bytes_per_s: Option<u64>) -> Limited {
        let bandwidth = bytes_per_s.map(|it| Bandwidth::new(it).unwrap());
        Limited::new(Arc::new(LocalBucket), Limits { latency, bandwidth })
    }

    #[test]
    fn a_limited_place_keeps_the_contract() {
        for bandwidth in [None, Some(1_000_000_000)] {
            let folder = tempfile::tempdir().unwrap();
            contract::check(&limited(Duration::from_micros(10), bandwidth), folder.path());
        }
    }

    // Only lower bounds: a busy machine may take longer, but a limit is never undercut.
    #[test]
    fn every_request_waits_and_all_share_the_bandwidth() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("object");
        LocalBucket.write(&path, &[7; 200_000]).unwrap();
        let bucket = limited(Duration::from_millis(2), Some(20_000_000));
        let start = Instant::now();
        for _ in 0..3 {
            bucket.read_range(&path, 0..1).unwrap();
        }
        assert!(start.elapsed() >= Duration::from_millis(6), "{:?}", start.elapsed());

        let start = Instant::now();
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| bucket.read(&path, &mut Vec::new()).unwrap());
            }
        });
        // 400 kB at 20 MB/s; the read-ahead is no gift either, since each stream starts afresh.
        assert!(start.elapsed() >= Duration::from_millis(20), "{:?}", start.elapsed());
    }
}
