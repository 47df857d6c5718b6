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

    /// The only field of a message.
    fn field(bytes: &[u8]) -> Field<'_> {
        Fields::new("Test", bytes).next().unwrap().unwrap()
    }

    #[test]
    fn a_field_of_another_type_is_told_with_its_number() {
        let number = field(b"\x38\x05");
        let is_not = |error: RecordsError, expected: &str| {
            let message = format!("field 7 of message `Test` is not stored as {expected}");
            assert_eq!(error.to_string(), message);
        };
        is_not(number.bytes().unwrap_err(), "length-delimited bytes");
        is_not(number.float().unwrap_err(), "a 32 bit number");
        is_not(number.double().unwrap_err(), "a 64 bit number");
        let bytes = field(b"\x3a\x03abc");
        is_not(bytes.varint().unwrap_err(), "a varint");
        is_not(bytes.floats_into(&mut Vec::new()).unwrap_err(), "whole packed numbers");
        is_not(bytes.doubles_into(&mut Vec::new()).unwrap_err(), "whole packed numbers");
        let message = field(b"\x3a\x01\xff").text().unwrap_err().to_string();
        assert_eq!(message, "field 7 of message `Test` is not UTF-8 text");
    }

    #[test]
    fn numbers_are_read_packed_and_one_at_a_time() {
        let (mut floats, mut doubles, mut ints) = (Vec::new(), Vec::new(), Vec::new());
        field(b"\x0d\x00\x00\x80\x3f").floats_into(&mut floats).unwrap();
        field(b"\x0a\x08\x00\x00\x00\x40\x00\x00\x80\xbf").floats_into(&mut floats).unwrap();
        assert_eq!(floats, [1.0, 2.0, -1.0]);
        field(b"\x09\x00\x00\x00\x00\x00\x00\xf0\x3f").doubles_into(&mut doubles).unwrap();
        field(b"\x0a\x08\x00\x00\x00\x00\x00\x00\x00\x40").doubles_into(&mut doubles).unwrap();
        assert_eq!(doubles, [1.0, 2.0]);
        field(b"\x08\x07").ints_into(&mut ints).unwrap();
        field(b"\x0a\x03\x01\x96\x01").ints_into(&mut ints).unwrap();
        assert_eq!(ints, [7, 1, 150]);
        // The last packed number goes on beyond its end.
        assert!(field(b"\x0a\x02\x01\x96").ints_into(&mut ints).is_err());
    }

    #[test]
    fn one_number_is_single_however_it_is_stored_and_none_or_two_are_not() {
        assert_eq!(field(b"\x08\x07").single_int().unwrap(), Some(7));
        assert_eq!(field(b"\x0a\x02\x96\x01").single_int().unwrap(), Some(150));
        assert_eq!(field(b"\x0a\x02\x01\x02").single_int().unwrap(), None);
        assert_eq!(field(b"\x0a\x00").single_int().unwrap(), None);
    }

    #[test]
    fn damage_ends_a_message_and_is_told_with_its_byte() {
        let found = |bytes: &'static [u8]| {
            let fields = Fields::new("Test", bytes);
            fields.map(|it| it.map(|it| it.number).map_err(|it| it.to_string())).collect::<Vec<_>>()
        };
        let error = |text: &str| Err(format!("message `Test` {text}"));
        assert_eq!(
            found(b"\x08\x01\x0b\x08\x01"),
            [Ok(1), error("has unknown wire type 3 at byte 2")]
        );
        assert_eq!(
            found(b"\x08\x01\x00\x01"),
            [Ok(1), error("has a field with number 0 at byte 2")]
        );
        assert_eq!(found(b"\x08\x01\x0d\x00"), [Ok(1), error("is cut off at byte 4")]);
        assert_eq!(found(b""), []);
    }
}
