//! Reads texts that programs leave: line by line, by their end, and while they grow.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Calls `visit` with every line and its number from 1.
///
/// A carriage return inside a line starts the line anew, as progress bars do; both parts have the
/// same number. Bytes that are not UTF-8 show as replacement characters.
pub(crate) fn each_line(path: &Path, mut visit: impl FnMut(usize, &str)) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(1 << 16, File::open(path)?);
    let mut bytes = Vec::new();
    let mut number = 0;
    while reader.read_until(b'\n', &mut bytes)? > 0 {
        number += 1;
        visit_parts(&bytes, |part| visit(number, part));
        bytes.clear();
    }
    Ok(())
}

fn visit_parts(line: &[u8], mut visit: impl FnMut(&str)) {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    for part in line.split(|&byte| byte == b'\r') {
        visit(&String::from_utf8_lossy(part));
    }
}

/// The last lines of a text, at most `lines` of them and about 8 KB; empty without a text.
pub(crate) fn last_lines(path: &Path, lines: usize) -> String {
    let text = last_bytes(path, 8 << 10).unwrap_or_default();
    let text = text.trim_end();
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

fn last_bytes(path: &Path, limit: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let start = file.metadata()?.len().saturating_sub(limit);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    // A cut through the middle of a line leaves half a line, which says less than none.
    let cut = if start == 0 { None } else { bytes.iter().position(|&byte| byte == b'\n') };
    let whole = cut.map_or(0, |end| end + 1);
    Ok(String::from_utf8_lossy(&bytes[whole..]).into_owned())
}

/// Follows a text that grows.
#[derive(Debug)]
pub(crate) struct Follower {
    path: PathBuf,
    offset: u64,
    unfinished: Vec<u8>,
}

impl Follower {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, offset: 0, unfinished: Vec::new() }
    }

    /// Calls `visit` with every line finished since the last call; a text not there has none.
    pub(crate) fn new_lines(&mut self, mut visit: impl FnMut(&str)) -> io::Result<()> {
        let mut file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            opened => opened?,
        };
        file.seek(SeekFrom::Start(self.offset))?;
        self.offset += file.read_to_end(&mut self.unfinished)? as u64;
        let Some(end) = self.unfinished.iter().rposition(|&byte| byte == b'\n') else {
            return Ok(());
        };
        let rest = self.unfinished.split_off(end + 1);
        for line in self.unfinished.split_inclusive(|&byte| byte == b'\n') {
            visit_parts(line, &mut visit);
        }
        self.unfinished = rest;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[track_caller]
    fn check(bytes: &[u8], expected: &[(usize, &str)]) {
        let file = file(bytes);
        let mut lines = Vec::new();
        each_line(file.path(), |number, line| lines.push((number, line.to_owned()))).unwrap();
        let lines: Vec<(usize, &str)> = lines.iter().map(|(n, line)| (*n, line.as_str())).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn lines_end_with_any_line_end() {
        check(b"", &[]);
        check(b"a\nb", &[(1, "a"), (2, "b")]);
        check(b"a\r\n\nb\n", &[(1, "a"), (2, ""), (3, "b")]);
        check(b"1%\r2%\r3%\ndone\n", &[(1, "1%"), (1, "2%"), (1, "3%"), (2, "done")]);
        check(b"\xff\n", &[(1, "\u{fffd}")]);
    }

    #[test]
    fn the_end_of_a_long_text_starts_with_a_whole_line() {
        let text: String = (0..5000).map(|n| format!("line {n}\n")).collect();
        let file = file(text.as_bytes());
        assert_eq!(last_lines(file.path(), 2), "line 4998\nline 4999");
        assert!(last_lines(file.path(), 9999).starts_with("line 4"));
        assert_eq!(last_lines(Path::new("not/there"), 3), "");
    }

    proptest! {
        #[test]
        fn a_follower_sees_every_finished_line_once(
            pieces in prop::collection::vec("[ab\n]{0,6}", 0..12),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("log");
            let mut follower = Follower::new(path.clone());
            let (mut text, mut seen) = (String::new(), Vec::new());
            for piece in pieces {
                follower.new_lines(|line| seen.push(line.to_owned())).unwrap();
                text.push_str(&piece);
                fs::write(&path, &text).unwrap();
            }
            follower.new_lines(|line| seen.push(line.to_owned())).unwrap();
            let finished = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
            prop_assert_eq!(seen, finished.lines().collect::<Vec<_>>());
        }
    }
}
