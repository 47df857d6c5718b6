//! Protocol buffer messages, as far as ONNX files need them.
//!
//! Encoding: <https://protobuf.dev/programming-guides/encoding/>; numbers of fields:
//! <https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3>.

/// A message that grows field by field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Message(Vec<u8>);

/// Wire types of a field.
const VARINT: u64 = 0;
const BYTES: u64 = 2;
const FIXED_32: u64 = 5;

impl Message {
    /// With a whole number that is not negative.
    pub(super) fn number(mut self, field: u64, value: usize) -> Self {
        self.varint(field << 3 | VARINT);
        self.varint(value as u64);
        self
    }

    /// With a 32 bit float.
    pub(super) fn float(mut self, field: u64, value: f32) -> Self {
        self.varint(field << 3 | FIXED_32);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// With bytes or a text.
    pub(super) fn bytes(mut self, field: u64, value: impl AsRef<[u8]>) -> Self {
        let value = value.as_ref();
        self.varint(field << 3 | BYTES);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    /// With another message.
    pub(super) fn message(self, field: u64, value: &Self) -> Self {
        self.bytes(field, &value.0)
    }

    /// With each of some messages under one field.
    pub(super) fn messages<'a>(self, field: u64, all: impl IntoIterator<Item = &'a Self>) -> Self {
        all.into_iter().fold(self, |message, value| message.message(field, value))
    }

    /// Its bytes.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_specification_come_out() {
        // `a: 150` in field 1, `testing` in field 2, and a message with the first in field 3.
        let first = Message::default().number(1, 150);
        assert_eq!(first.0, [0x08, 0x96, 0x01]);
        let text = Message::default().bytes(2, "testing");
        assert_eq!(text.0, [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67]);
        assert_eq!(Message::default().message(3, &first).0, [0x1a, 0x03, 0x08, 0x96, 0x01]);
        assert_eq!(Message::default().float(2, 1.0).0, [0x15, 0, 0, 0x80, 0x3f]);
    }
}
