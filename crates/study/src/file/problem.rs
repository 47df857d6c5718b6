//! What is wrong in a study file, and where.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

use crate::SourceFile;

/// One fault with its place and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub message: String,
    /// Bytes of the file it concerns.
    pub span: Range<usize>,
    /// What to do.
    pub help: Option<String>,
}

/// A file with faults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultyFile {
    /// The file.
    pub file: SourceFile,
    /// Its faults in the order of their places; at least one.
    pub problems: Vec<Problem>,
}

impl FaultyFile {
    /// Line and column of a problem, from 1.
    pub fn place(&self, problem: &Problem) -> (usize, usize) {
        let before = &self.file.text.as_bytes()[..problem.span.start.min(self.file.text.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let column = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
        (line, column)
    }
}

impl fmt::Display for FaultyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n" };
            f.write_str(gap)?;
            // What was built in code has no places.
            if !self.file.path.as_os_str().is_empty() {
                let (line, column) = self.place(problem);
                write!(f, "{}:{line}:{column}: ", self.file.path.display())?;
            }
            f.write_str(&problem.message)?;
            if let Some(help) = &problem.help {
                write!(f, " ({help})")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for FaultyFile {}

/// Why there is no study.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each message documents its variant")]
pub enum StudyError {
    #[error("cannot read {path}: {source}", path = path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Faulty(#[from] FaultyFile),
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn faulty(text: &str, problems: Vec<Problem>) -> FaultyFile {
        let file = SourceFile { path: "dir/s.toml".into(), text: text.to_owned() };
        FaultyFile { file, problems }
    }

    fn problem(start: usize, help: Option<&str>) -> Problem {
        Problem { message: "bad".to_owned(), span: start..start, help: help.map(str::to_owned) }
    }

    #[track_caller]
    fn check_place(text: &str, start: usize, place: (usize, usize)) {
        let own = problem(start, None);
        assert_eq!(faulty(text, Vec::new()).place(&own), place, "{text:?} at {start}");
    }

    #[test]
    fn places_count_lines_and_letters_from_1() {
        check_place("", 0, (1, 1));
        check_place("a = 1\nb = 2\n", 0, (1, 1));
        check_place("a = 1\nb = 2\n", 4, (1, 5));
        check_place("a = 1\nb = 2\n", 6, (2, 1));
        check_place("a = 1\nb = 2\n", 12, (3, 1));
    }

    #[test]
    fn a_letter_of_several_bytes_is_one_column() {
        check_place("é = 1\n", 2, (1, 2));
        check_place("k = \"日本\" x\n", "k = \"日本\" ".len(), (1, 10));
    }

    #[test]
    fn a_place_beyond_the_text_is_its_end() {
        check_place("ab\nc", 99, (2, 2));
    }

    #[test]
    fn every_fault_has_a_line_with_its_place_and_its_help() {
        let own = faulty("a\nb\n", vec![problem(0, None), problem(2, Some("do this"))]);
        assert_eq!(own.to_string(), "dir/s.toml:1:1: bad\ndir/s.toml:2:1: bad (do this)");
    }

    #[test]
    fn what_has_no_file_has_no_places() {
        let problems = vec![problem(0, Some("do this"))];
        let own = FaultyFile { file: SourceFile::default(), problems };
        assert_eq!(own.to_string(), "bad (do this)");
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let source = io::Error::from(io::ErrorKind::PermissionDenied);
        let error = StudyError::Unreadable { path: "s.toml".into(), source };
        assert_eq!(error.to_string(), "cannot read s.toml: permission denied");
        let faulty = faulty("", vec![problem(0, None)]);
        assert_eq!(StudyError::from(faulty.clone()).to_string(), faulty.to_string());
    }

    proptest! {
        #[test]
        fn a_place_is_where_a_reader_would_count_it(text in "[a-é\n]{0,40}", at in 0usize..45) {
            let starts: Vec<usize> = text.char_indices().map(|(start, _)| start).collect();
            let start = starts.get(at).copied().unwrap_or(text.len());
            let before: Vec<&str> = text[..start].split('\n').collect();
            let expected = (before.len(), before[before.len() - 1].chars().count() + 1);
            prop_assert_eq!(faulty(&text, Vec::new()).place(&problem(start, None)), expected);
        }
    }
}
