//! TensorBoard event files, read by hand: event.proto and summary.proto of TensorFlow.

use std::fs;
use std::path::Path;

use crate::record_files;

/// One scalar of a run.
#[derive(Debug)]
pub(crate) struct Scalar {
    pub(crate) run: String,
    pub(crate) tag: String,
    pub(crate) step: i64,
    pub(crate) value: f64,
}

/// The scalars of every run, which is a folder, in the order of their file.
pub(crate) fn scalars(board: &Path) -> Vec<Scalar> {
    let mut found = Vec::new();
    for run in fs::read_dir(board).unwrap() {
        let run = run.unwrap();
        let name = run.file_name().into_string().unwrap();
        for file in fs::read_dir(run.path()).unwrap() {
            let bytes = fs::read(file.unwrap().path()).unwrap();
            for event in record_files::read(&bytes) {
                found.extend(of_event(&name, &event));
            }
        }
    }
    found
}

/// Step in field 2, summary in field 5, its values in field 1.
fn of_event(run: &str, event: &[u8]) -> Vec<Scalar> {
    let fields = fields(event);
    let number = |own: &(u64, Field<'_>)| match own {
        (2, Field::Number(step)) => Some(step.cast_signed()),
        _ => None,
    };
    let step = fields.iter().find_map(number).unwrap_or(0);
    let inner = |field: u64, fields: &[(u64, Field<'_>)]| -> Vec<Vec<u8>> {
        let own = fields.iter().filter(|(own, _)| *own == field);
        own.filter_map(|(_, value)| value.bytes().map(<[u8]>::to_vec)).collect()
    };
    let mut found = Vec::new();
    for summary in inner(5, &fields) {
        for value in inner(1, &self::fields(&summary)) {
            let own = self::fields(&value);
            let tag = inner(1, &own).concat();
            let tag = String::from_utf8(tag).unwrap();
            let tensor = inner(8, &own).concat();
            let value = one_float(&self::fields(&tensor));
            found.extend(value.map(|value| Scalar { run: run.to_owned(), tag, step, value }));
        }
    }
    found
}

/// The value of a tensor of type 1, float, with one element and no dimensions: its bytes in field
/// 4, or a list in field 5.
fn one_float(tensor: &[(u64, Field<'_>)]) -> Option<f64> {
    let is_float = tensor.iter().any(|own| matches!(own, (1, Field::Number(1))));
    tensor.iter().filter(|_| is_float).find_map(|own| match own {
        (4 | 5, Field::Bytes(bytes)) => {
            Some(f64::from(f32::from_le_bytes((*bytes).try_into().ok()?)))
        }
        (5, Field::Single(value)) => Some(f64::from(*value)),
        _ => None,
    })
}

enum Field<'a> {
    Number(u64),
    Single(f32),
    Bytes(&'a [u8]),
    Double,
}

impl<'a> Field<'a> {
    fn bytes(&self) -> Option<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}

/// The fields of a message by their numbers, as protobuf encodes them.
fn fields(mut rest: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut found = Vec::new();
    while !rest.is_empty() {
        let key = varint(&mut rest);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut rest)),
            1 => {
                rest = &rest[8..];
                Field::Double
            }
            5 => {
                let (value, after) = rest.split_at(4);
                rest = after;
                Field::Single(f32::from_le_bytes(value.try_into().unwrap()))
            }
            _ => {
                let length = varint(&mut rest) as usize;
                let (bytes, after) = rest.split_at(length);
                rest = after;
                Field::Bytes(bytes)
            }
        };
        found.push((key >> 3, field));
    }
    found
}

fn varint(rest: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (byte, after) = rest.split_first().unwrap();
        *rest = after;
        value |= u64::from(byte & 127) << shift;
        if byte & 128 == 0 {
            break;
        }
    }
    value
}
