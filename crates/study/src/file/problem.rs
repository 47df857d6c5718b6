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
