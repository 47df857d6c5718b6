//! Lines of JSON over a stream.

use std::io::{self, BufRead, BufReader, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Longest line that is read; a record of a trial with its curves has some megabytes.
const LONGEST: u64 = 256 << 20;

/// Reads values, a line each.
#[derive(Debug)]
pub(super) struct JsonReader<R>(BufReader<R>);

impl<R: Read> JsonReader<R> {
    pub(super) fn new(stream: R) -> Self {
        Self(BufReader::new(stream))
    }

    /// The next value; nothing at the end, also where the last line was cut off.
    ///
    /// # Errors
    /// When the stream breaks, or a line is something else.
    pub(super) fn next<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let mut line = Vec::new();
        self.0.by_ref().take(LONGEST).read_until(b'\n', &mut line)?;
        if line.pop() != Some(b'\n') {
            return Ok(None);
        }
        Ok(Some(serde_json::from_slice(&line)?))
    }
}

/// Writes a value as a line.
///
/// # Errors
/// When the stream breaks.
pub(super) fn write_line(stream: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    stream.write_all(&line)?;
    stream.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_line_by_line_and_a_torn_one_not_at_all() {
        let mut bytes = Vec::new();
        write_line(&mut bytes, &"a\nb").unwrap();
        write_line(&mut bytes, &[1.5, -0.0]).unwrap();
        bytes.extend_from_slice(b"[1, 2");
        let mut reader = JsonReader::new(&bytes[..]);
        assert_eq!(reader.next::<String>().unwrap().unwrap(), "a\nb");
        let numbers: Vec<f64> = reader.next().unwrap().unwrap();
        assert_eq!(numbers[1].to_bits(), (-0.0_f64).to_bits());
        assert!(reader.next::<Vec<f64>>().unwrap().is_none());
    }

    #[test]
    fn a_line_of_something_else_is_an_error() {
        assert!(JsonReader::new(&b"{oops}\n"[..]).next::<serde_json::Value>().is_err());
    }
}
