//! The protocol buffer wire format: fields of a message in, fields of a message out.
//!
//! Varints, fixed 32 and 64 bit numbers and length-delimited bytes; groups, which no message
//! here uses, are refused. Encoding: <https://protobuf.dev/programming-guides/encoding/>.

use crate::error::RecordsError;

/// The fields of one message in the order of their bytes.
pub(crate) struct Fields<'a> {
    message: &'static str,
    bytes: &'a [u8],
    position: usize,
}

/// One field, with the message's name for errors.
pub(crate) struct Field<'a> {
    message: &'static str,
    pub(crate) number: u32,
    value: FieldValue<'a>,
}

enum FieldValue<'a> {
    Varint(u64),
    Fixed64([u8; 8]),
    Bytes(&'a [u8]),
    Fixed32([u8; 4]),
}

impl<'a> Fields<'a> {
    pub(crate) fn new(message: &'static str, bytes: &'a [u8]) -> Self {
        Self { message, bytes, position: 0 }
    }

    fn read_field(&mut self) -> Result<Field<'a>, RecordsError> {
        let start = self.position;
        let key = self.varint()?;
        let number = key >> 3;
        if number == 0 || number > (1 << 29) - 1 {
            return Err(RecordsError::MessageField {
                message: self.message,
                offset: start,
                number,
            });
        }
        let value = match (key & 7) as u8 {
            0 => FieldValue::Varint(self.varint()?),
            1 => FieldValue::Fixed64(self.array()?),
            2 => {
                let length = self.varint()?;
                FieldValue::Bytes(self.take(length)?)
            }
            5 => FieldValue::Fixed32(self.array()?),
            wire_type => {
                let message = self.message;
                return Err(RecordsError::MessageWireType { message, offset: start, wire_type });
            }
        };
        Ok(Field { message: self.message, number: number as u32, value })
    }

    fn varint(&mut self) -> Result<u64, RecordsError> {
        let start = self.position;
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            if shift == 63 && byte > 1 {
                break;
            }
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(RecordsError::MessageNumber { message: self.message, offset: start })
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], RecordsError> {
        Ok(self.take(N as u64)?.try_into().expect("take returns as many bytes as asked"))
    }

    fn take(&mut self, count: u64) -> Result<&'a [u8], RecordsError> {
        let rest = &self.bytes[self.position..];
        match usize::try_from(count).ok().and_then(|count| rest.get(..count)) {
            Some(taken) => {
                self.position += taken.len();
                Ok(taken)
            }
            None => Err(RecordsError::MessageTruncated {
                message: self.message,
                offset: self.bytes.len(),
            }),
        }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, RecordsError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.position == self.bytes.len() {
            return None;
        }
        let field = self.read_field();
        if field.is_err() {
            self.position = self.bytes.len();
        }
        Some(field)
    }
}

impl<'a> Field<'a> {
    pub(crate) fn bytes(&self) -> Result<&'a [u8], RecordsError> {
        match self.value {
            FieldValue::Bytes(bytes) => Ok(bytes),
            _ => Err(self.wrong_type("length-delimited bytes")),
        }
    }

    pub(crate) fn text(&self) -> Result<&'a str, RecordsError> {
        std::str::from_utf8(self.bytes()?)
            .map_err(|_| RecordsError::MessageText { message: self.message, number: self.number })
    }

    pub(crate) fn varint(&self) -> Result<u64, RecordsError> {
        match self.value {
            FieldValue::Varint(number) => Ok(number),
            _ => Err(self.wrong_type("a varint")),
        }
    }

    pub(crate) fn float(&self) -> Result<f32, RecordsError> {
        match self.value {
            FieldValue::Fixed32(bytes) => Ok(f32::from_le_bytes(bytes)),
            _ => Err(self.wrong_type("a 32 bit number")),
        }
    }

    pub(crate) fn double(&self) -> Result<f64, RecordsError> {
        match self.value {
            FieldValue::Fixed64(bytes) => Ok(f64::from_le_bytes(bytes)),
            _ => Err(self.wrong_type("a 64 bit number")),
        }
    }

    /// Appends a repeated float field, packed or one at a time.
    pub(crate) fn floats_into(&self, floats: &mut Vec<f32>) -> Result<(), RecordsError> {
        match self.value {
            FieldValue::Bytes(packed) => {
                floats.extend(self.packed(packed)?.iter().copied().map(f32::from_le_bytes));
            }
            _ => floats.push(self.float()?),
        }
        Ok(())
    }

    /// Appends a repeated double field, packed or one at a time.
    pub(crate) fn doubles_into(&self, doubles: &mut Vec<f64>) -> Result<(), RecordsError> {
        match self.value {
            FieldValue::Bytes(packed) => {
                doubles.extend(self.packed(packed)?.iter().copied().map(f64::from_le_bytes));
            }
            _ => doubles.push(self.double()?),
        }
        Ok(())
    }

    /// Appends a repeated int64 field, packed or one at a time.
    pub(crate) fn ints_into(&self, ints: &mut Vec<i64>) -> Result<(), RecordsError> {
        match self.value {
            FieldValue::Bytes(packed) => {
                let mut packed = Fields::new(self.message, packed);
                while packed.position < packed.bytes.len() {
                    ints.push(packed.varint()? as i64);
                }
            }
            _ => ints.push(self.varint()? as i64),
        }
        Ok(())
    }

    /// The only value of a repeated int64 field, packed or not; `None` when there are others.
    pub(crate) fn single_int(&self) -> Result<Option<i64>, RecordsError> {
        match self.value {
            FieldValue::Bytes(packed) => {
                let mut packed = Fields::new(self.message, packed);
                if packed.bytes.is_empty() {
                    return Ok(None);
                }
                let number = packed.varint()? as i64;
                Ok((packed.position == packed.bytes.len()).then_some(number))
            }
            _ => Ok(Some(self.varint()? as i64)),
        }
    }

    fn packed<'b, const N: usize>(&self, bytes: &'b [u8]) -> Result<&'b [[u8; N]], RecordsError> {
        match bytes.as_chunks() {
            (numbers, []) => Ok(numbers),
            _ => Err(self.wrong_type("whole packed numbers")),
        }
    }

    fn wrong_type(&self, expected: &'static str) -> RecordsError {
        RecordsError::MessageFieldType { message: self.message, number: self.number, expected }
    }
}

pub(crate) fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(crate) fn put_bytes_field(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    put_varint(out, u64::from(number) << 3 | 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

pub(crate) fn put_varint_field(out: &mut Vec<u8>, number: u32, value: u64) {
    put_varint(out, u64::from(number) << 3);
    put_varint(out, value);
}

pub(crate) fn put_double_field(out: &mut Vec<u8>, number: u32, value: f64) {
    put_varint(out, u64::from(number) << 3 | 1);
    out.extend_from_slice(&value.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_guide_s_examples_decode() {
        // From the encoding guide: `a: 150` in field 1 and `b: "testing"` in field 2.
        let bytes = b"\x08\x96\x01\x12\x07testing";
        let fields: Vec<_> = Fields::new("Test", bytes).map(Result::unwrap).collect();
        assert_eq!(fields[0].varint().unwrap(), 150);
        assert_eq!(fields[1].text().unwrap(), "testing");
    }

    #[test]
    fn a_varint_beyond_64_bits_is_refused() {
        let mut bytes = vec![0x08];
        bytes.extend([0xff; 9]);
        bytes.push(0x02);
        let error = Fields::new("Test", &bytes).next().unwrap().err().unwrap();
        assert_eq!(error.to_string(), "message `Test` has a number longer than 64 bits at byte 1");
    }

    #[test]
    fn groups_and_field_zero_are_refused() {
        assert!(Fields::new("Test", &[0x0b]).next().unwrap().is_err());
        assert!(Fields::new("Test", &[0x00, 0x01]).next().unwrap().is_err());
    }

    #[test]
    fn a_length_beyond_the_end_is_refused() {
        let bytes = [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x00];
        let error = Fields::new("Test", &bytes).next().unwrap().err().unwrap();
        assert_eq!(error.to_string(), "message `Test` is cut off at byte 12");
    }

    proptest! {
        #[test]
        fn varints_survive_the_round_trip(number: u64) {
            let mut bytes = vec![0x08];
            put_varint(&mut bytes, number);
            let field = Fields::new("Test", &bytes).next().unwrap().unwrap();
            prop_assert_eq!(field.varint().unwrap(), number);
        }
    }
}
