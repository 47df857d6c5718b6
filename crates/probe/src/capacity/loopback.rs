//! One TCP connection to the machine itself: how much it carries, and how long a byte is away.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use trainwright_study::Repeated;

use crate::ProbeError;

/// Bytes of one write.
const BLOCK: usize = 256 << 10;

/// Bytes a second that arrive.
pub(super) fn bytes_per_s(slot: Duration) -> Result<f64, ProbeError> {
    let sent = |mut stream: TcpStream| -> io::Result<()> {
        let block = vec![7u8; BLOCK];
        let begun = Instant::now();
        while begun.elapsed() < slot {
            stream.write_all(&block)?;
        }
        Ok(())
    };
    let received = |mut stream: TcpStream| {
        let mut block = vec![0u8; BLOCK];
        let mut first = stream.read(&mut block)?;
        let (begun, mut bytes) = (Instant::now(), 0);
        while first > 0 {
            first = stream.read(&mut block)?;
            bytes += first;
        }
        Ok(bytes as f64 / begun.elapsed().as_secs_f64())
    };
    connected(sent, received).map_err(|source| ProbeError::Loopback { source })
}

/// Time of a byte there and back: the middle one of those that fit in a slot.
pub(super) fn round_trip_s(slot: Duration) -> Result<f64, ProbeError> {
    let answers = |mut stream: TcpStream| -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut byte = [0];
        while stream.read(&mut byte)? > 0 {
            stream.write_all(&byte)?;
        }
        Ok(())
    };
    let asks = |mut stream: TcpStream| {
        stream.set_nodelay(true)?;
        let (begun, mut times, mut byte) = (Instant::now(), Vec::new(), [1]);
        while times.is_empty() || begun.elapsed() < slot {
            let sent = Instant::now();
            stream.write_all(&byte)?;
            stream.read_exact(&mut byte)?;
            times.push(sent.elapsed().as_secs_f64());
        }
        Ok(Repeated::of(&times).map_or(0.0, |own| own.median))
    };
    connected(answers, asks).map_err(|source| ProbeError::Loopback { source })
}

/// Both ends of a new connection, one on a thread of its own; gives what the second finds.
fn connected(
    other: impl FnOnce(TcpStream) -> io::Result<()> + Send,
    own: impl FnOnce(TcpStream) -> io::Result<f64>,
) -> io::Result<f64> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    thread::scope(|scope| {
        let other = scope.spawn(move || other(TcpStream::connect(address)?));
        let found = listener.accept().and_then(|(stream, _)| own(stream));
        other.join().expect("neither end panics")?;
        found
    })
}
