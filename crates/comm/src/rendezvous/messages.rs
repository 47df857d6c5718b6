//! What is said while joining, as bytes.
//!
//! Numbers are little-endian; a text has its length before it. A reader takes exactly the bytes of
//! a message: fewer or more are a fault.

use std::net::SocketAddr;

use crate::error::Refusal;

/// Letters of a fingerprint or an address at most.
const TEXT_BYTES: usize = 4096;

/// Ranks of a group at most.
pub(crate) const MOST_RANKS: usize = 4096;

/// Bytes of a job's number.
pub(crate) const JOB_BYTES: usize = 16;

/// A process wants to be a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Join {
    /// The rank it wants, or had.
    pub(crate) wanted: Option<u32>,
    /// The number of the group that it was in; 0 for a newcomer.
    pub(crate) member_of: u32,
    /// Where it listens for ranks after it.
    pub(crate) port: u16,
    /// What must agree on all ranks.
    pub(crate) fingerprint: String,
}

/// The group is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Welcome {
    pub(crate) rank: u32,
    pub(crate) group: u32,
    /// The number of the job, drawn by rank 0.
    pub(crate) job: [u8; JOB_BYTES],
    /// Where the ranks from 1 on listen.
    pub(crate) addresses: Vec<SocketAddr>,
}

/// A connection between two ranks of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LinkWords {
    pub(crate) job: [u8; JOB_BYTES],
    pub(crate) group: u32,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) channel: Channel,
}

/// What a connection between two ranks is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel {
    Data,
    Control,
}

impl Join {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(self.wanted.unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend(self.member_of.to_le_bytes());
        bytes.extend(self.port.to_le_bytes());
        put_text(&mut bytes, &self.fingerprint);
        bytes
    }

    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        let wanted = Some(fields.u32()?).filter(|rank| *rank != u32::MAX);
        let (member_of, port) = (fields.u32()?, fields.u16()?);
        let fingerprint = fields.text()?;
        fields.end(Self { wanted, member_of, port, fingerprint })
    }
}

impl Welcome {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(self.rank.to_le_bytes());
        bytes.extend(self.group.to_le_bytes());
        bytes.extend(self.job);
        bytes.extend((self.addresses.len() as u32).to_le_bytes());
        for address in &self.addresses {
            put_text(&mut bytes, &address.to_string());
        }
        bytes
    }

    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        let (rank, group, job) = (fields.u32()?, fields.u32()?, fields.array()?);
        let count = fields.u32()? as usize;
        if count >= MOST_RANKS || rank as usize > count {
            return None;
        }
        let addresses = (0..count).map(|_| fields.text()?.parse().ok()).collect::<Option<_>>()?;
        fields.end(Self { rank, group, job, addresses })
    }
}

impl LinkWords {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = self.job.to_vec();
        bytes.extend(self.group.to_le_bytes());
        bytes.extend(self.from.to_le_bytes());
        bytes.extend(self.to.to_le_bytes());
        bytes.push(self.channel as u8);
        bytes
    }

    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        let (job, group) = (fields.array()?, fields.u32()?);
        let (from, to) = (fields.u32()?, fields.u32()?);
        let channel = match fields.u8()? {
            0 => Channel::Data,
            1 => Channel::Control,
            _ => return None,
        };
        fields.end(Self { job, group, from, to, channel })
    }
}

impl Refusal {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let (code, numbers, texts): (u8, [u64; 2], [&str; 2]) = match self {
            Self::Version { group, joiner } => (0, [(*group).into(), (*joiner).into()], ["", ""]),
            Self::Secret => (1, [0, 0], ["", ""]),
            Self::Fingerprint { group, joiner } => (2, [0, 0], [group, joiner]),
            Self::Full { size } => (3, [*size as u64, 0], ["", ""]),
            Self::RankTaken { rank } => (4, [*rank as u64, 0], ["", ""]),
            Self::NoSuchRank { rank, size } => (5, [*rank as u64, *size as u64], ["", ""]),
            Self::OldGroup { now, joiner } => (6, [(*now).into(), (*joiner).into()], ["", ""]),
            Self::GivenUp { rank } => (7, [*rank as u64, 0], ["", ""]),
        };
        bytes.push(code);
        numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        texts.iter().for_each(|text| put_text(&mut bytes, text));
        bytes
    }

    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        let code = fields.u8()?;
        let [first, second] = [fields.u64()?, fields.u64()?];
        let [group, joiner] = [fields.text()?, fields.text()?];
        let rank = usize::try_from(first).ok()?;
        let size = usize::try_from(second).ok()?;
        let refusal = match code {
            0 => Self::Version { group: first.try_into().ok()?, joiner: second.try_into().ok()? },
            1 => Self::Secret,
            2 => Self::Fingerprint { group, joiner },
            3 => Self::Full { size: rank },
            4 => Self::RankTaken { rank },
            5 => Self::NoSuchRank { rank, size },
            6 => Self::OldGroup { now: first.try_into().ok()?, joiner: second.try_into().ok()? },
            7 => Self::GivenUp { rank },
            _ => return None,
        };
        fields.end(refusal)
    }
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    // Cut at the limit: a text that is longer differs within it, or will be refused by its reader.
    let mut end = text.len().min(TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    bytes.extend((end as u32).to_le_bytes());
    bytes.extend(&text.as_bytes()[..end]);
}

/// Bytes that are still to be read.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn array<const BYTES: usize>(&mut self) -> Option<[u8; BYTES]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn u8(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn text(&mut self) -> Option<String> {
        let length = self.u32()? as usize;
        if length > TEXT_BYTES || length > self.0.len() {
            return None;
        }
        let (text, rest) = self.0.split_at(length);
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }

    fn end<T>(self, read: T) -> Option<T> {
        self.0.is_empty().then_some(read)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn changed_or_random_bytes_are_read_or_refused_but_never_panic(
            random in proptest::collection::vec(any::<u8>(), 0..200),
            place in 0_usize..64, byte: u8,
        ) {
            let addresses = vec!["127.0.0.1:80".parse().unwrap(); 3];
            let welcome = Welcome { rank: 1, group: 1, job: [0; JOB_BYTES], addresses };
            let join = Join { wanted: None, member_of: 0, port: 1, fingerprint: "ab".to_owned() };
            let refusal = Refusal::Fingerprint { group: "a".to_owned(), joiner: "b".to_owned() };
            for mut bytes in [random, welcome.encode(), join.encode(), refusal.encode()] {
                if let Some(changed) = bytes.get_mut(place) {
                    *changed = byte;
                }
                if let Some(join) = Join::parse(&bytes) {
                    prop_assert_eq!(join.encode(), &bytes[..]);
                }
                let _ = (Welcome::parse(&bytes), LinkWords::parse(&bytes), Refusal::parse(&bytes));
            }
        }
    }

    #[test]
    fn a_welcome_that_claims_many_ranks_asks_for_no_memory() {
        let welcome = Welcome { rank: 0, group: 1, job: [0; JOB_BYTES], addresses: Vec::new() };
        let mut bytes = welcome.encode();
        let end = bytes.len();
        bytes[end - 4..].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(Welcome::parse(&bytes), None);
    }

    #[track_caller]
    fn check<T: PartialEq + std::fmt::Debug>(
        value: T,
        bytes: Vec<u8>,
        parse: fn(&[u8]) -> Option<T>,
    ) {
        assert_eq!(parse(&bytes), Some(value));
        for end in 0..bytes.len() {
            assert_eq!(parse(&bytes[..end]), None, "cut to {end} bytes");
        }
        assert_eq!(parse(&[&bytes[..], &[0]].concat()), None, "with a byte too many");
    }

    #[test]
    fn words_of_joining_survive_their_bytes_and_no_other_length() {
        let join =
            Join { wanted: Some(3), member_of: 2, port: 80, fingerprint: "zen3 äb".to_owned() };
        check(join.clone(), join.encode(), Join::parse);
        let join = Join { wanted: None, ..join };
        check(join.clone(), join.encode(), Join::parse);
        let addresses = vec!["127.0.0.1:80".parse().unwrap(), "[::1]:9".parse().unwrap()];
        let welcome = Welcome { rank: 2, group: 7, job: [9; JOB_BYTES], addresses };
        check(welcome.clone(), welcome.encode(), Welcome::parse);
        let link =
            LinkWords { job: [1; JOB_BYTES], group: 1, from: 2, to: 0, channel: Channel::Control };
        check(link.clone(), link.encode(), LinkWords::parse);
    }

    #[test]
    fn every_refusal_survives_its_bytes() {
        for refusal in [
            Refusal::Version { group: 1, joiner: 2 },
            Refusal::Secret,
            Refusal::Fingerprint { group: "a".to_owned(), joiner: "b".to_owned() },
            Refusal::Full { size: 4 },
            Refusal::RankTaken { rank: 1 },
            Refusal::NoSuchRank { rank: 9, size: 4 },
            Refusal::OldGroup { now: 3, joiner: 2 },
            Refusal::GivenUp { rank: 2 },
        ] {
            check(refusal.clone(), refusal.encode(), Refusal::parse);
        }
    }

    proptest! {
        #[test]
        fn what_is_said_while_joining_arrives(
            wanted in proptest::option::of(0..u32::MAX), member_of: u32, port: u16,
            fingerprint in "\\PC{0,40}", rank in 0_u32..4, job: [u8; JOB_BYTES], ends: [u16; 3],
        ) {
            let join = Join { wanted, member_of, port, fingerprint: fingerprint.clone() };
            prop_assert_eq!(Join::parse(&join.encode()), Some(join));
            let addresses = ends.map(|port| SocketAddr::from(([127, 0, 0, 1], port))).to_vec();
            let welcome = Welcome { rank: rank.min(3), group: member_of, job, addresses };
            prop_assert_eq!(Welcome::parse(&welcome.encode()), Some(welcome));
            let refusal = Refusal::Fingerprint { group: fingerprint.clone(), joiner: fingerprint };
            prop_assert_eq!(Refusal::parse(&refusal.encode()), Some(refusal));
        }
    }

    #[test]
    fn a_text_beyond_the_limit_is_cut_between_two_letters() {
        // Two bytes a letter, after a first one of one byte: the limit falls within a letter.
        let long = format!("a{}", "\u{e9}".repeat(TEXT_BYTES));
        let join = Join { wanted: None, member_of: 0, port: 1, fingerprint: long.clone() };
        let read = Join::parse(&join.encode()).unwrap().fingerprint;
        assert_eq!(read.len(), TEXT_BYTES - 1);
        assert!(long.starts_with(&read));
    }
}
