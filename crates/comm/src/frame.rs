//! The header before every message between processes.
//!
//! 32 bytes, numbers little-endian: the letters `TWcm`, version (2 bytes), kind (1), a zero (1),
//! group number (4), four zeros, tag (8), length of what follows (8). A reader knows which kinds
//! and which length it may get before it reads further or asks for memory.

/// Bytes of a header.
pub(crate) const HEADER_BYTES: usize = 32;

/// The version of frames and of joining. Ranks of different versions refuse each other.
pub(crate) const VERSION: u16 = 1;

const MAGIC: [u8; 4] = *b"TWcm";

/// What a frame carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// A message of an operation.
    Data = 1,
    /// A sign of life.
    Heartbeat = 2,
    /// A rank is lost, and with it the group.
    Abort = 3,
    /// The sender leaves the group.
    Goodbye = 4,
    /// The first words of a connection: what it is for, and a nonce.
    Hello = 5,
    /// The nonce of the one that was called.
    Challenge = 6,
    /// Knowledge of the secret.
    Proof = 7,
    /// The connection is turned away.
    Refusal = 8,
    /// A process wants to be a rank.
    Join = 9,
    /// The group is complete: rank, size and addresses.
    Welcome = 10,
    /// A rank connects to another one of its group.
    Link = 11,
}

impl Kind {
    const ALL: [Self; 11] = [
        Self::Data,
        Self::Heartbeat,
        Self::Abort,
        Self::Goodbye,
        Self::Hello,
        Self::Challenge,
        Self::Proof,
        Self::Refusal,
        Self::Join,
        Self::Welcome,
        Self::Link,
    ];
}

/// The header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    /// The number of the group; 0 where there is none yet.
    pub(crate) group: u32,
    pub(crate) tag: u64,
    pub(crate) length: u64,
}

/// Why bytes are no header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HeaderFault {
    #[error("its bytes do not begin as a message of this program does")]
    Magic,
    #[error("it speaks version {0} of the protocol, this program version {VERSION}")]
    Version(u16),
    #[error("there is no message of kind {0}")]
    Kind(u8),
    #[error("bytes that must be 0 are not")]
    Padding,
}

impl Header {
    pub(crate) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0..4].copy_from_slice(&MAGIC);
        bytes[4..6].copy_from_slice(&VERSION.to_le_bytes());
        bytes[6] = self.kind as u8;
        bytes[8..12].copy_from_slice(&self.group.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.tag.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.length.to_le_bytes());
        bytes
    }

    pub(crate) fn parse(bytes: &[u8; HEADER_BYTES]) -> Result<Self, HeaderFault> {
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        let half = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
        if bytes[0..4] != MAGIC {
            return Err(HeaderFault::Magic);
        }
        let version = u16::from_le_bytes([bytes[4], bytes[5]]);
        if version != VERSION {
            return Err(HeaderFault::Version(version));
        }
        let kind = Kind::ALL.into_iter().find(|kind| *kind as u8 == bytes[6]);
        let kind = kind.ok_or(HeaderFault::Kind(bytes[6]))?;
        if bytes[7] != 0 || half(12) != 0 {
            return Err(HeaderFault::Padding);
        }
        Ok(Self { kind, group: half(8), tag: word(16), length: word(24) })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_header_survives_its_bytes(
            kind in 0..Kind::ALL.len(), group: u32, tag: u64, length: u64,
        ) {
            let header = Header { kind: Kind::ALL[kind], group, tag, length };
            prop_assert_eq!(Header::parse(&header.encode()), Ok(header));
        }

        #[test]
        fn bytes_that_parse_are_those_of_the_header(bytes: [u8; HEADER_BYTES], good in 0_usize..8) {
            // Right beginnings, so that the later checks are reached too.
            let mut tried = bytes;
            let header = Header { kind: Kind::Data, group: 0, tag: 0, length: 0 }.encode();
            tried[..good].copy_from_slice(&header[..good]);
            if let Ok(header) = Header::parse(&tried) {
                prop_assert_eq!(header.encode(), tried);
            }
        }
    }

    #[test]
    fn another_version_is_told() {
        let mut bytes = Header { kind: Kind::Hello, group: 0, tag: 0, length: 0 }.encode();
        bytes[4] = 9;
        assert_eq!(Header::parse(&bytes), Err(HeaderFault::Version(9)));
    }
}
