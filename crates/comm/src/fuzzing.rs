//! The parsers of what other processes send, for fuzz targets alone.

use crate::error::Refusal;
use crate::frame::{HEADER_BYTES, Header};
use crate::lines::{encode, read_whole};
use crate::rendezvous::{Join, LinkWords, Welcome};
use crate::servers::{read_done, read_leases, read_takes};
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
}
