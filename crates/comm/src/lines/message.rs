//! A message of a line: a kind, some numbers, and three parts of any length.
//!
//! As bytes, after the header of its frame: kind (4 bytes), four zeros, six numbers (8 each), the
//! number of words in each part (8 each), then the parts, 4 bytes a word, little-endian.

use bytemuck::must_cast_slice;

/// Bytes before the parts.
pub(crate) const HEAD_BYTES: usize = 80;

/// Bytes of a word of a part.
const WORD: usize = 4;

/// A message to be sent, with what it borrows.
#[derive(Debug, Clone, Copy, Default)]
pub struct Words<'a> {
    /// What it is; the meaning of the rest follows from it.
    pub kind: u32,
    /// Some numbers.
    pub numbers: [u64; 6],
    /// Which rows the values belong to, or other whole numbers.
    pub rows: &'a [u32],
    /// Numbers of a vector.
    pub values: &'a [f32],
    /// Further rows.
    pub next: &'a [u32],
}

/// A message that has come.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Message {
    /// See [`Words`].
    pub kind: u32,
    /// See [`Words`].
    pub numbers: [u64; 6],
    /// See [`Words`].
    pub rows: Vec<u32>,
    /// See [`Words`].
    pub values: Vec<f32>,
    /// See [`Words`].
    pub next: Vec<u32>,
}

/// What the beginning of a message says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) kind: u32,
    pub(crate) numbers: [u64; 6],
    /// Words of each part.
    pub(crate) lengths: [usize; 3],
}

impl Words<'_> {
    /// Bytes of the whole message.
    pub(crate) fn bytes(&self) -> usize {
        HEAD_BYTES + self.bytes_of_parts()
    }

    /// Bytes of its parts, which limits are about.
    pub(crate) fn bytes_of_parts(&self) -> usize {
        WORD * (self.rows.len() + self.values.len() + self.next.len())
    }

    /// The parts as bytes.
    pub(crate) fn parts(&self) -> [&[u8]; 3] {
        [must_cast_slice(self.rows), must_cast_slice(self.values), must_cast_slice(self.next)]
    }
}

impl Message {
    /// The same, borrowed.
    pub fn words(&self) -> Words<'_> {
        let Self { kind, numbers, rows, values, next } = self;
        Words { kind: *kind, numbers: *numbers, rows, values, next }
    }

    /// Takes over what words say, in the memory that is there.
    pub(crate) fn copy_from(&mut self, words: &Words<'_>) {
        (self.kind, self.numbers) = (words.kind, words.numbers);
        self.rows.clear();
        self.rows.extend_from_slice(words.rows);
        self.values.clear();
        self.values.extend_from_slice(words.values);
        self.next.clear();
        self.next.extend_from_slice(words.next);
    }
}

impl Head {
    /// Bytes of the parts; none where they are more than a machine can have.
    pub(crate) fn bytes(&self) -> Option<usize> {
        let words = self.lengths.iter().try_fold(0_usize, |sum, own| sum.checked_add(*own))?;
        words.checked_mul(WORD)
    }
}

/// The bytes before the parts.
pub(crate) fn encode(words: &Words<'_>) -> [u8; HEAD_BYTES] {
    let mut bytes = [0; HEAD_BYTES];
    bytes[..4].copy_from_slice(&words.kind.to_le_bytes());
    let lengths = [words.rows.len(), words.values.len(), words.next.len()].map(|own| own as u64);
    let numbers = words.numbers.iter().chain(&lengths);
    for (bytes, number) in bytes[8..].chunks_exact_mut(8).zip(numbers) {
        bytes.copy_from_slice(&number.to_le_bytes());
    }
    bytes
}

/// Reads the bytes before the parts.
pub(crate) fn parse(bytes: &[u8; HEAD_BYTES]) -> Option<Head> {
    let number = |at: usize| {
        let bytes = bytes[8 + 8 * at..16 + 8 * at].try_into().expect("eight bytes");
        u64::from_le_bytes(bytes)
    };
    if bytes[4..8] != [0; 4] {
        return None;
    }
    let kind = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let length = |at: usize| usize::try_from(number(6 + at)).ok();
    let lengths = [length(0)?, length(1)?, length(2)?];
    Some(Head { kind, numbers: [0, 1, 2, 3, 4, 5].map(number), lengths })
}

/// Reads a whole message from bytes, as a line between processes does.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn read_whole(bytes: &[u8]) -> Option<Message> {
    let (head, mut rest) = bytes.split_first_chunk::<HEAD_BYTES>()?;
    let Head { kind, numbers, lengths } =
        parse(head).filter(|it| it.bytes() == Some(rest.len()))?;
    let mut part = |words: usize| -> Vec<u32> {
        let (own, left) = rest.split_at(words * WORD);
        rest = left;
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
        own.chunks_exact(WORD).map(word).collect()
    };
    let [rows, values, next] = lengths.map(&mut part);
    let values = values.into_iter().map(f32::from_bits).collect();
    Some(Message { kind, numbers, rows, values, next })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole(words: &Words<'_>) -> Vec<u8> {
        let mut bytes = encode(words).to_vec();
        words.parts().iter().for_each(|part| bytes.extend_from_slice(part));
        bytes
    }

    proptest! {
        #[test]
        fn a_message_survives_its_bytes_and_no_other_length(
            kind: u32, numbers: [u64; 6],
            rows in proptest::collection::vec(any::<u32>(), 0..9),
            values in proptest::collection::vec(-9.0_f32..9.0, 0..9),
            next in proptest::collection::vec(any::<u32>(), 0..9),
        ) {
            let message = Message { kind, numbers, rows, values, next };
            let bytes = whole(&message.words());
            prop_assert_eq!(bytes.len(), message.words().bytes());
            prop_assert_eq!(read_whole(&bytes[..bytes.len() - 1]), None);
            prop_assert_eq!(read_whole(&[&bytes[..], &[0]].concat()), None);
            prop_assert_eq!(read_whole(&bytes), Some(message));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Some(message) = read_whole(&bytes) {
                prop_assert_eq!(whole(&message.words()), bytes);
            }
        }
    }

    #[test]
    fn lengths_that_no_machine_has_are_refused() {
        let mut head = encode(&Words::default());
        head[56..64].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(parse(&head).is_none_or(|head| head.bytes().is_none()));
    }
}
