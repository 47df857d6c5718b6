//! The parsers of what other processes send, for fuzz targets alone.

use crate::error::Refusal;
use crate::frame::{HEADER_BYTES, Header};
use crate::lines::{HEAD_BYTES, Message, encode, parse, read_whole};
use crate::rendezvous::{Join, LinkWords, Welcome};
use crate::servers::{
    Gradients, Owner, Push, Server, read_done, read_leases, read_log, read_takes,
};
use crate::tcp::is_sign;

/// Reads bytes as every kind of word; what can be read must have these bytes again.
pub fn read_words(bytes: &[u8]) {
    if let Some(header) = bytes.first_chunk::<HEADER_BYTES>()
        && let Ok(read) = Header::parse(header)
    {
        assert_eq!(read.encode(), *header);
    }
    if let Some(join) = Join::parse(bytes) {
        assert_eq!(join.encode(), bytes);
    }
    if let Some(link) = LinkWords::parse(bytes) {
        assert_eq!(link.encode(), bytes);
    }
    if let Some(welcome) = Welcome::parse(bytes) {
        // An address may be written in several ways: its meaning stays.
        assert_eq!(Welcome::parse(&welcome.encode()), Some(welcome));
    }
    if let Some(refusal) = Refusal::parse(bytes) {
        assert_eq!(Refusal::parse(&refusal.encode()), Some(refusal));
    }
}

/// Reads bytes as what comes on a connection for signs of life.
pub fn read_signs(bytes: &[u8]) {
    is_sign(bytes);
}

/// Reads bytes as a message between workers, servers and their leader, and as every kind of it.
pub fn read_lines(bytes: &[u8]) {
    let Some(message) = read_whole(bytes) else { return };
    let words = message.words();
    let again = [&encode(&words)[..], &words.parts().concat()].concat();
    assert_eq!(again, bytes);
    let _ = (read_done(&message), read_leases(&message), read_takes(&message));
    let _ = read_log(&message.rows);
}

/// Lets a server hear bytes as messages one after another, each after a byte that says whether the
/// leader sends it: it answers or refuses.
pub fn serve_lines(mut bytes: &[u8]) {
    let server = Server::new(Vector(vec![0.5; 8]));
    while let Some((sender, message, rest)) = next_message(bytes) {
        let mut message = message;
        server.hears(&mut message, sender & 1 == 1);
        bytes = rest;
    }
}

/// Who sends the first message of bytes, the message, and what comes after it.
fn next_message(bytes: &[u8]) -> Option<(u8, Message, &[u8])> {
    let (sender, bytes) = bytes.split_first()?;
    let length = parse(bytes.first_chunk()?)?.bytes()?.checked_add(HEAD_BYTES)?;
    let (own, rest) = bytes.split_at_checked(length)?;
    Some((*sender, read_whole(own)?, rest))
}

/// A vector of a server, changed by plain descent.
struct Vector(Vec<f32>);

impl Owner for Vector {
    fn read(&self, rows: Option<&[u32]>, into: &mut Vec<f32>) {
        match rows {
            Some(rows) => into.extend(rows.iter().map(|row| self.0[*row as usize])),
            None => into.extend_from_slice(&self.0),
        }
    }

    fn has_rows(&self, rows: &[u32]) -> bool {
        rows.iter().all(|row| (*row as usize) < self.0.len())
    }

    fn admits(&self, push: &Push<'_>) -> bool {
        push.rows.len() == push.values.len() && self.has_rows(push.rows)
    }

    fn sum(&mut self, gradients: &Gradients<'_>) {
        for push in &gradients.pushes {
            let changes = push.rows.iter().zip(push.values);
            changes.for_each(|(row, value)| self.0[*row as usize] += value);
        }
    }

    fn squares(&mut self) -> Vec<f64> {
        self.0.iter().map(|value| f64::from(*value).powi(2)).collect()
    }

    fn update(&mut self, _: f64, _: Option<f64>) {}

    fn store(&mut self, into: &mut Vec<f32>) {
        into.extend_from_slice(&self.0);
    }

    fn load(&mut self, values: &[f32]) -> bool {
        let fits = values.len() == self.0.len();
        if fits {
            self.0.copy_from_slice(values);
        }
        fits
    }
}
