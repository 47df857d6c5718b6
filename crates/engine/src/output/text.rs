//! Reads texts that programs leave: line by line, by their end, and while they grow.
//!
//! Whatever a program writes, no more than one line and a buffer are held.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::open::open_regular;

/// Bytes of a line that are looked at; what follows in a longer one is passed over.
const LONGEST_LINE: usize = 1 << 20;
/// Bytes read at a time.
const BUFFER: usize = 1 << 16;
/// Bytes of a growing text that one look takes in; where more were written, the last ones.
const MOST_AT_ONCE: u64 = 8 << 20;

/// Calls `visit` with every line and its number from 1.
///
/// A carriage return inside a line starts the line anew, as progress bars do; both parts have the
/// same number. Of a part that is longer than a mebibyte only the beginning is seen. Bytes that are
/// not UTF-8 show as replacement characters.
pub(crate) fn each_line(path: &Path, mut visit: impl FnMut(usize, &str)) -> io::Result<End> {
    let mut parts = Parts::default();
    each_buffer(&mut open_regular(path)?, |bytes| parts.add(bytes, &mut visit))?;
    let end = if parts.begun { End::Open } else { End::Whole };
    parts.finish(&mut visit);
    Ok(end)
}

/// How a text ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// With a whole line, or it is empty.
    Whole,
    /// With a line that has no end: its program wrote none, or was ended.
    Open,
}

/// Calls `visit` with what is left of a file, piece by piece.
fn each_buffer(file: &mut File, mut visit: impl FnMut(&[u8])) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => visit(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Cuts a stream of bytes into lines, and lines at carriage returns.
#[derive(Debug, Default)]
struct Parts {
    /// The part under way, up to the longest that is looked at.
    part: Vec<u8>,
    /// Whether a carriage return came last: it ends the line or only the part.
    returned: bool,
    /// Whether the line under way has any bytes.
    begun: bool,
    /// Lines that have ended.
    lines: usize,
}

impl Parts {
    fn add(&mut self, mut bytes: &[u8], visit: &mut dyn FnMut(usize, &str)) {
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.extend(&bytes[..end], visit);
            match bytes[end] {
                b'\n' => self.end_line(visit),
                _ => self.carriage_return(visit),
            }
            bytes = &bytes[end + 1..];
        }
        self.extend(bytes, visit);
    }

    fn extend(&mut self, text: &[u8], visit: &mut dyn FnMut(usize, &str)) {
        if text.is_empty() {
            return;
        }
        if self.returned {
            self.end_part(visit);
        }
        self.begun = true;
        let room = LONGEST_LINE - self.part.len();
        self.part.extend_from_slice(&text[..text.len().min(room)]);
    }

    fn carriage_return(&mut self, visit: &mut dyn FnMut(usize, &str)) {
        if self.returned {
            self.end_part(visit);
        }
        self.begun = true;
        self.returned = true;
    }

    fn end_part(&mut self, visit: &mut dyn FnMut(usize, &str)) {
        visit(self.lines + 1, &String::from_utf8_lossy(&self.part));
        self.part.clear();
        self.returned = false;
    }

    fn end_line(&mut self, visit: &mut dyn FnMut(usize, &str)) {
        self.end_part(visit);
        self.begun = false;
        self.lines += 1;
    }

    /// A last line need not end.
    fn finish(mut self, visit: &mut dyn FnMut(usize, &str)) {
        if self.begun {
            self.end_part(visit);
        }
    }
}

/// The last lines of a text, at most `lines` of them and about 8 KB, as a terminal would show them
/// after carriage returns; empty without a text.
pub(crate) fn last_lines(path: &Path, lines: usize) -> String {
    let text = last_bytes(path, 8 << 10).unwrap_or_default();
    let shown = |line| str::rsplit(line, '\r').next().unwrap_or_default();
    let all: Vec<&str> =
        text.trim_end().lines().map(|line| shown(line.trim_end_matches('\r'))).collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

fn last_bytes(path: &Path, limit: u64) -> io::Result<String> {
    // Most trials leave one of their texts empty, and need not wait for it to be opened.
    if fs::metadata(path)?.len() == 0 {
        return Ok(String::new());
    }
    let mut file = open_regular(path)?;
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
    parts: Parts,
}

impl Follower {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, offset: 0, parts: Parts::default() }
    }

    /// Calls `visit` with every line finished since the last call; a text not there has none.
    ///
    /// A program that writes faster than anyone could follow is seen by its last lines alone.
    pub(crate) fn new_lines(&mut self, mut visit: impl FnMut(&str)) -> io::Result<()> {
        let mut file = match open_regular(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            opened => opened?,
        };
        let length = file.metadata()?.len();
        if length.saturating_sub(self.offset) > MOST_AT_ONCE {
            // The first line after the gap may be half a line, which reads as no JSON object.
            self.offset = length - MOST_AT_ONCE;
            self.parts = Parts::default();
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let (offset, parts) = (&mut self.offset, &mut self.parts);
        each_buffer(&mut file, |bytes| {
            *offset += bytes.len() as u64;
            parts.add(bytes, &mut |_, part| visit(part));
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn lines_of(path: &Path) -> Vec<(usize, String)> {
        let mut lines = Vec::new();
        each_line(path, |number, line| lines.push((number, line.to_owned()))).unwrap();
        lines
    }

    #[track_caller]
    fn check(bytes: &[u8], expected: &[(usize, &str)]) {
        let lines = lines_of(file(bytes).path());
        let lines: Vec<(usize, &str)> = lines.iter().map(|(n, line)| (*n, line.as_str())).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn lines_end_with_any_line_end() {
        check(b"", &[]);
        check(b"a\nb", &[(1, "a"), (2, "b")]);
        check(b"a\r\n\nb\n", &[(1, "a"), (2, ""), (3, "b")]);
        check(b"1%\r2%\r3%\ndone\n", &[(1, "1%"), (1, "2%"), (1, "3%"), (2, "done")]);
        check(b"a\r\rb\r", &[(1, "a"), (1, ""), (1, "b")]);
        check(b"\xff\n", &[(1, "\u{fffd}")]);
    }

    #[test]
    fn of_an_endless_line_the_beginning_is_seen() {
        let mut bytes = vec![b'x'; LONGEST_LINE + 3 * BUFFER];
        bytes.extend(b"\nnext\n");
        let lines = lines_of(file(&bytes).path());
        assert_eq!((lines.len(), lines[0].1.len()), (2, LONGEST_LINE));
        assert_eq!(lines[1], (2, "next".to_owned()));
    }

    #[test]
    fn a_follower_holds_one_line_at_most_and_reads_nothing_twice() {
        let file = file(&vec![b'x'; 2 * LONGEST_LINE]);
        let mut follower = Follower::new(file.path().to_owned());
        for _ in 0..2 {
            follower.new_lines(|_| panic!("no line has ended")).unwrap();
            assert_eq!(follower.parts.part.len(), LONGEST_LINE);
            assert_eq!(follower.offset, 2 * LONGEST_LINE as u64);
        }
    }

    #[test]
    fn a_follower_that_falls_behind_goes_on_with_the_end() {
        let file = file(&vec![b'\n'; 3 * MOST_AT_ONCE as usize]);
        let mut follower = Follower::new(file.path().to_owned());
        let mut seen = 0;
        follower.new_lines(|_| seen += 1).unwrap();
        assert_eq!(seen, MOST_AT_ONCE);
    }

    #[test]
    fn the_end_of_a_long_text_starts_with_a_whole_line() {
        let text: String = (0..5000).map(|n| format!("line {n}\n")).collect();
        let file = file(text.as_bytes());
        assert_eq!(last_lines(file.path(), 2), "line 4998\nline 4999");
        assert!(last_lines(file.path(), 9999).starts_with("line 4"));
        assert_eq!(last_lines(Path::new("not/there"), 3), "");
    }

    #[test]
    fn the_end_shows_what_carriage_returns_left() {
        assert_eq!(last_lines(file(b"1%\r2%\r3%\r\ndone\r\n").path(), 9), "3%\ndone");
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

        #[test]
        fn cutting_into_buffers_changes_nothing(
            bytes in prop::collection::vec(prop::sample::select(b"a\r\n".to_vec()), 0..20),
            cut in 0usize..20,
        ) {
            let mut whole = Vec::new();
            let mut parts = Parts::default();
            parts.add(&bytes, &mut |n, part| whole.push((n, part.to_owned())));
            parts.finish(&mut |n, part| whole.push((n, part.to_owned())));
            let (mut pieces, mut parts) = (Vec::new(), Parts::default());
            let (head, tail) = bytes.split_at(cut.min(bytes.len()));
            parts.add(head, &mut |n, part| pieces.push((n, part.to_owned())));
            parts.add(tail, &mut |n, part| pieces.push((n, part.to_owned())));
            parts.finish(&mut |n, part| pieces.push((n, part.to_owned())));
            prop_assert_eq!(whole, pieces);
        }
    }
}
