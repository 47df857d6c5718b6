//! One number in a JSON file.

use std::fs;
use std::path::Path;

use super::reported::{number_of, parse_lenient};
use super::{Point, Reading};

/// The number that a JSON Pointer (RFC 6901) leads to.
pub(crate) fn read(path: &Path, pointer: &str) -> Reading {
    let mut reading = Reading::new(path);
    let bytes = match fs::read(path) {
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
                reading.points.push(Point { line: 1, text, value: number, step: None });
            }
            None => {
                let place = path.display();
                reading.complain(format!("`{pointer}` of {place} is {value}, which is no number"));
            }
        },
    }
    reading
}
