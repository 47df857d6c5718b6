//! A connection while its ends get to know each other.
//!
//! The one that calls says what it wants and a nonce; the one that is called answers with a nonce
//! of its own. Then each proves by HMAC-SHA256 over both nonces that it knows the secret, the
//! caller first. Every later word on the connection carries a proof under a key that both derive
//! from the secret and the nonces. Whoever reads waits no longer than until a given moment, however
//! slowly bytes come, and takes no more of them than the longest word has.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::messages::MOST_RANKS;
use super::secret::{PROOF_BYTES, Secret, is_proof, nonce, proof};
use crate::error::{CommError, Refusal};
use crate::frame::{HEADER_BYTES, Header, HeaderFault, Kind, VERSION};

/// The least time that is given to the system for one read or write.
const SHORTEST: Duration = Duration::from_millis(1);

/// A connection while its ends get to know each other.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) stream: TcpStream,
    pub(super) address: String,
    /// When reading and writing give up.
    pub(super) until: Instant,
    opened: Instant,
    seal: Option<Seal>,
}

/// Proves that words come from the other end, in their order.
#[derive(Debug)]
struct Seal {
    key: [u8; PROOF_BYTES],
    side: Side,
    sent: u64,
    received: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Caller,
    Called,
}

impl Side {
    fn word(self) -> &'static [u8] {
        if self == Self::Caller { b"caller" } else { b"called" }
    }

    fn other(self) -> Self {
        if self == Self::Caller { Self::Called } else { Self::Caller }
    }
}

impl Wire {
    pub(super) fn new(stream: TcpStream, address: String, until: Instant) -> Self {
        Self { stream, address, until, opened: Instant::now(), seal: None }
    }

    /// Proves itself to the one that was called, and has it prove itself.
    pub(super) fn call(&mut self, secret: &Secret) -> Result<(), CommError> {
        let own: [u8; PROOF_BYTES] = nonce()?;
        self.say(Kind::Hello, &own)?;
        let theirs = self.hear_array(Kind::Challenge)?;
        let words = |side: Side| -> [&[u8]; 3] { [side.word(), &own, &theirs] };
        self.say(Kind::Proof, &secret.proof(&words(Side::Caller)))?;
        let claimed = self.hear_array(Kind::Proof)?;
        if !secret.is_proof(&words(Side::Called), &claimed) {
            return Err(CommError::Refused {
                address: self.address.clone(),
                refusal: Refusal::Secret,
            });
        }
        self.seal_with(secret, Side::Caller, &own, &theirs);
        Ok(())
    }

    /// Has the caller prove itself, then proves itself to it.
    pub(super) fn answer(&mut self, secret: &Secret) -> Result<(), CommError> {
        let theirs = self.hear_array(Kind::Hello)?;
        let own: [u8; PROOF_BYTES] = nonce()?;
        self.say(Kind::Challenge, &own)?;
        let words = |side: Side| -> [&[u8]; 3] { [side.word(), &theirs, &own] };
        let claimed = self.hear_array(Kind::Proof)?;
        if !secret.is_proof(&words(Side::Caller), &claimed) {
            return Err(self.refuse(Refusal::Secret));
        }
        self.say(Kind::Proof, &secret.proof(&words(Side::Called)))?;
        self.seal_with(secret, Side::Called, &theirs, &own);
        Ok(())
    }

    /// Turns the other end away, and gives the error of having done so.
    pub(super) fn refuse(&mut self, refusal: Refusal) -> CommError {
        // Where the words do not arrive, the connection that closes says enough.
        let _ = self.say(Kind::Refusal, &refusal.encode());
        CommError::Refused { address: self.address.clone(), refusal }
    }

    /// Sends a word.
    pub(super) fn say(&mut self, kind: Kind, body: &[u8]) -> Result<(), CommError> {
        let mut frame = Vec::with_capacity(HEADER_BYTES + body.len() + PROOF_BYTES);
        let proof = self.seal.as_mut().map(|seal| seal.prove(kind, body));
        let length = body.len() + proof.map_or(0, |proof| proof.len());
        frame.extend(Header { kind, group: 0, tag: 0, length: length as u64 }.encode());
        frame.extend(body);
        frame.extend(proof.iter().flatten());
        let left = self.left()?;
        let sent =
            self.stream.set_write_timeout(Some(left)).and_then(|()| self.stream.write_all(&frame));
        sent.map_err(|fault| self.broken(&fault))
    }

    /// Waits for a word of this kind; a refusal is an error.
    pub(super) fn hear(&mut self, wanted: Kind) -> Result<Vec<u8>, CommError> {
        let (kind, body) = self.hear_any()?;
        match kind {
            Kind::Refusal => match Refusal::parse(&body) {
                Some(refusal) => Err(CommError::Refused { address: self.address.clone(), refusal }),
                None => Err(self.stranger("its refusal cannot be read")),
            },
            _ if kind == wanted => Ok(body),
            _ => Err(self.stranger(&format!("it said {kind:?} where {wanted:?} was due"))),
        }
    }

    /// Waits for a word of any kind.
    pub(super) fn hear_any(&mut self) -> Result<(Kind, Vec<u8>), CommError> {
        let mut header = [0; HEADER_BYTES];
        self.fill(&mut header)?;
        let header = match Header::parse(&header) {
            Ok(header) => header,
            Err(HeaderFault::Version(joiner)) => {
                return Err(self.refuse(Refusal::Version { group: VERSION, joiner }));
            }
            Err(fault) => return Err(self.stranger(&fault.to_string())),
        };
        let limit = longest(header.kind);
        if header.group != 0 || header.tag != 0 || header.length > limit {
            return Err(self.stranger(&format!("a word of {} bytes is too long", header.length)));
        }
        let mut body = vec![0; header.length as usize];
        self.fill(&mut body)?;
        let Some(seal) = &mut self.seal else { return Ok((header.kind, body)) };
        let genuine = body.len() >= PROOF_BYTES
            && seal.is_genuine(header.kind, &body[..body.len() - PROOF_BYTES], &body);
        if !genuine {
            return Err(self.stranger("its words were changed on the way"));
        }
        body.truncate(body.len() - PROOF_BYTES);
        Ok((header.kind, body))
    }

    fn hear_array(&mut self, kind: Kind) -> Result<[u8; PROOF_BYTES], CommError> {
        let body = self.hear(kind)?;
        body.try_into().map_err(|_| self.stranger(&format!("its {kind:?} has a wrong length")))
    }

    fn seal_with(&mut self, secret: &Secret, side: Side, caller: &[u8], called: &[u8]) {
        let key = secret.proof(&[b"words", caller, called]);
        self.seal = Some(Seal { key, side, sent: 0, received: 0 });
    }

    fn fill(&mut self, mut room: &mut [u8]) -> Result<(), CommError> {
        while !room.is_empty() {
            let left = self.left()?;
            let read =
                self.stream.set_read_timeout(Some(left)).and_then(|()| self.stream.read(room));
            match read {
                Ok(0) => return Err(self.stranger("it closed the connection")),
                Ok(read) => room = &mut room[read..],
                Err(fault) if fault.kind() == ErrorKind::Interrupted => {}
                Err(fault) => return Err(self.broken(&fault)),
            }
        }
        Ok(())
    }

    fn left(&self) -> Result<Duration, CommError> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(self.no_answer()) } else { Ok(left.max(SHORTEST)) }
    }

    fn broken(&self, fault: &std::io::Error) -> CommError {
        match fault.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => self.no_answer(),
            _ => self.stranger(&format!("the connection broke: {fault}")),
        }
    }

    fn no_answer(&self) -> CommError {
        CommError::NoAnswer { address: self.address.clone(), waited: self.opened.elapsed() }
    }

    fn stranger(&self, fault: &str) -> CommError {
        CommError::Stranger { address: self.address.clone(), fault: fault.to_owned() }
    }
}

impl Seal {
    fn prove(&mut self, kind: Kind, body: &[u8]) -> [u8; PROOF_BYTES] {
        self.sent += 1;
        proof(&self.key, &[self.side.word(), &self.sent.to_le_bytes(), &[kind as u8], body])
    }

    /// Whether the proof at the end of `sealed` is that of `body`.
    fn is_genuine(&mut self, kind: Kind, body: &[u8], sealed: &[u8]) -> bool {
        self.received += 1;
        let words: [&[u8]; 4] =
            [self.side.other().word(), &self.received.to_le_bytes(), &[kind as u8], body];
        is_proof(&self.key, &words, &sealed[body.len()..])
    }
}

/// Bytes that a word of a kind has at most, with its proof.
fn longest(kind: Kind) -> u64 {
    match kind {
        Kind::Hello | Kind::Challenge | Kind::Proof => PROOF_BYTES as u64,
        Kind::Join | Kind::Refusal => 10 * 1024,
        Kind::Link => 128,
        // An address has up to 58 letters, with its length.
        Kind::Welcome => (MOST_RANKS * 64) as u64,
        Kind::Data | Kind::Heartbeat | Kind::Abort | Kind::Goodbye => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// Both ends of a connection, with time enough for a busy machine.
    fn ends() -> (Wire, Wire) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let caller = TcpStream::connect(address).unwrap();
        let called = listener.accept().unwrap().0;
        let until = Instant::now() + Duration::from_secs(60);
        let wire = |stream, name: &str| Wire::new(stream, name.to_owned(), until);
        (wire(caller, "called"), wire(called, "caller"))
    }

    fn secret(letter: u8) -> Secret {
        Secret::new([letter; 16]).unwrap()
    }

    /// Ends that have proved themselves.
    fn sealed() -> (Wire, Wire) {
        let (mut caller, mut called) = ends();
        thread::scope(|scope| {
            let answers = scope.spawn(|| called.answer(&secret(1)));
            caller.call(&secret(1)).unwrap();
            answers.join().unwrap().unwrap();
        });
        (caller, called)
    }

    #[test]
    fn words_arrive_in_both_directions_and_in_order() {
        let (mut caller, mut called) = sealed();
        for body in [&b"first"[..], b"", b"third"] {
            caller.say(Kind::Join, body).unwrap();
            assert_eq!(called.hear(Kind::Join).unwrap(), body);
            called.say(Kind::Welcome, body).unwrap();
            assert_eq!(caller.hear(Kind::Welcome).unwrap(), body);
        }
    }

    #[test]
    fn both_ends_are_told_that_secrets_differ() {
        let (mut caller, mut called) = ends();
        let [asked, answered] = thread::scope(|scope| {
            let answers = scope.spawn(|| called.answer(&secret(2)));
            let asked = caller.call(&secret(1));
            [asked, answers.join().unwrap()]
        });
        for end in [asked, answered] {
            assert!(
                matches!(end, Err(CommError::Refused { refusal: Refusal::Secret, .. })),
                "{end:?}"
            );
        }
    }

    #[test]
    fn a_word_that_was_changed_said_again_or_sent_back_is_noticed() {
        let changed = |change: fn(&mut Vec<u8>)| {
            let (mut caller, mut called) = sealed();
            caller.say(Kind::Join, b"a word").unwrap();
            let mut frame = vec![0; HEADER_BYTES + 6 + PROOF_BYTES];
            called.fill(&mut frame).unwrap();
            change(&mut frame);
            caller.stream.write_all(&frame).unwrap();
            called.hear(Kind::Join)
        };
        assert_eq!(changed(|_| ()).unwrap(), b"a word");
        for (change, why) in [
            ((|frame| frame[HEADER_BYTES] ^= 1) as fn(&mut Vec<u8>), "another letter"),
            (|frame| *frame.last_mut().unwrap() ^= 1, "another proof"),
            (|frame| frame[6] = Kind::Link as u8, "another kind"),
        ] {
            let told = changed(change).unwrap_err().to_string();
            assert!(told.contains("changed on the way"), "{why}: {told}");
        }
        let (mut caller, mut called) = sealed();
        caller.say(Kind::Join, b"a word").unwrap();
        let mut frame = vec![0; HEADER_BYTES + 6 + PROOF_BYTES];
        called.fill(&mut frame).unwrap();
        caller.stream.write_all(&frame).unwrap();
        caller.stream.write_all(&frame).unwrap();
        called.hear(Kind::Join).unwrap();
        assert!(called.hear(Kind::Join).is_err(), "the same word again");
        called.stream.write_all(&frame).unwrap();
        assert!(caller.hear(Kind::Join).is_err(), "its own word sent back");
    }

    #[test]
    fn a_word_of_another_kind_or_length_is_named() {
        let (mut caller, mut called) = sealed();
        caller.say(Kind::Link, b"x").unwrap();
        let told = called.hear(Kind::Join).unwrap_err().to_string();
        assert_eq!(told, "caller is no rank of this program: it said Link where Join was due");
        let header = Header { kind: Kind::Join, group: 0, tag: 0, length: 1 << 40 };
        caller.stream.write_all(&header.encode()).unwrap();
        let told = called.hear(Kind::Join).unwrap_err().to_string();
        assert!(told.contains("a word of 1099511627776 bytes is too long"), "{told}");
    }

    #[test]
    fn another_version_is_told_to_both_ends() {
        let (mut caller, mut called) = ends();
        let mut hello = Header { kind: Kind::Hello, group: 0, tag: 0, length: 0 }.encode();
        hello[4] = 9;
        caller.stream.write_all(&hello).unwrap();
        let version = Refusal::Version { group: VERSION, joiner: 9 };
        let here = called.hear_any().unwrap_err();
        assert!(matches!(here, CommError::Refused { refusal, .. } if refusal == version));
        let there = caller.hear(Kind::Challenge).unwrap_err();
        assert!(matches!(there, CommError::Refused { refusal, .. } if refusal == version));
    }

    #[test]
    fn who_closes_or_is_out_of_time_is_named() {
        let (caller, mut called) = ends();
        drop(caller);
        let told = called.hear_any().unwrap_err().to_string();
        assert!(told.starts_with("caller is no rank of this program: "), "{told}");
        let (mut caller, _called) = ends();
        caller.until = Instant::now();
        assert!(matches!(caller.hear_any(), Err(CommError::NoAnswer { .. })));
        assert!(matches!(caller.say(Kind::Hello, b""), Err(CommError::NoAnswer { .. })));
    }
}
