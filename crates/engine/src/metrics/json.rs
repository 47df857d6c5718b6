//! One number in a JSON file.

use std::io::{self, Read};
use std::path::Path;

use super::reported::{number_of, parse_lenient};
use super::{Point, Reading, shown};
use crate::output::open::open_regular;

/// Bytes of a JSON file that is read; a value tree takes many times as much memory.
const MOST_BYTES: u64 = 16 << 20;

/// The number that a JSON Pointer (RFC 6901) leads to.
pub(crate) fn read(path: &Path, pointer: &str) -> Reading {
    let mut reading = Reading::new(path);
    let bytes = match read_all(path) {
        Ok(bytes) => bytes,
        Err(error) => return Reading::nothing(format!("{}: {error}", path.display())),
    };
    let json = match parse_lenient(&String::from_utf8_lossy(&bytes)) {
        Ok(json) => json,
        Err(error) => return Reading::nothing(format!("{}: {error}", path.display())),
    };
    match json.pointer(pointer) {
        None => reading.complain(format!("{} has no `{pointer}`", path.display())),
        Some(value) => match number_of(value) {
            Some(number) => {
                let text = format!("{pointer} = {value}").into();
                reading.values.add(Point { line: 1, text, value: number, step: None });
            }
            None => {
                let (place, value) = (path.display(), shown(&value.to_string()));
                reading.complain(format!("`{pointer}` of {place} is {value}, which is no number"));
            }
        },
    }
    reading
}

fn read_all(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        let most = MOST_BYTES >> 20;
        return Err(io::Error::other(format!(
            "the file has more than {most} MiB, which is the most that is read; write the number to \
             a file of its own"
        )));
    }
    Ok(bytes)
}
