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

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(text: &str, pointer: &str) -> Reading {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        read(file.path(), pointer)
    }

    #[test]
    fn what_a_pointer_leads_to_must_be_a_number() {
        let complaint = |text: &str, pointer: &str| reading(text, pointer).complaints.join("\n");
        assert!(
            complaint(r#"{"a": [1, {"b": "x"}]}"#, "/a/1/b")
                .ends_with("is \"x\", which is no number")
        );
        assert!(complaint(r#"{"a": [1]}"#, "/a/5").ends_with("has no `/a/5`"));
        assert!(!complaint("{\"a\": ", "/a").is_empty());
    }

    #[test]
    fn a_file_of_one_number_is_pointed_at_by_nothing() {
        let found = reading("2.5", "");
        let values: Vec<f64> = found.values.iter().map(|(_, point)| point.value).collect();
        assert_eq!(values, [2.5]);
    }

    #[test]
    fn a_file_that_is_too_large_is_not_read() {
        let text = " ".repeat(MOST_BYTES as usize) + "1";
        let found = reading(&text, "");
        assert!(
            found.complaints[0].contains("the file has more than 16 MiB"),
            "{:?}",
            found.complaints
        );
    }
}
