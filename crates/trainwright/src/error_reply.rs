//! An error as JSON, for programs that asked for JSON.

use serde::Serialize;
use trainwright_study::{FaultyFile, StudyError};

use crate::Error;

/// Why a verb could not do its work: `{"schema": "trainwright/error/1", ...}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ErrorReply {
    /// Who can mend it.
    pub kind: ErrorKind,
    /// The program's exit code.
    pub exit_code: u8,
    /// What is wrong and what to do, as people read it.
    pub message: String,
    /// The faults of a study file with their places; empty for other errors.
    pub problems: Vec<ProblemReply>,
}

/// Who can mend an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// A command that was to run failed.
    Failed,
    /// What was asked for: arguments, a study, a table.
    Input,
    /// The machine: files, space, other programs.
    Environment,
    /// Us.
    Bug,
    /// The user stopped it.
    Stopped,
}

/// One fault of a study file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProblemReply {
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl ErrorReply {
    /// An error by its words and exit code.
    pub fn new(message: String, exit_code: u8) -> Self {
        let kind = match exit_code {
            1 => ErrorKind::Failed,
            2 => ErrorKind::Input,
            3 => ErrorKind::Environment,
            130 => ErrorKind::Stopped,
            _ => ErrorKind::Bug,
        };
        Self { kind, exit_code, message, problems: Vec::new() }
    }

    /// One of our own errors.
    pub fn of(error: &Error) -> Self {
        let problems = match error {
            Error::Faulty(file) | Error::Study(StudyError::Faulty(file)) => problems(file),
            _ => Vec::new(),
        };
        Self { problems, ..Self::new(error.to_string(), error.exit_code()) }
    }
}

fn problems(file: &FaultyFile) -> Vec<ProblemReply> {
    let reply = |problem: &trainwright_study::Problem| {
        let (line, column) = file.place(problem);
        ProblemReply {
            file: file.file.path.display().to_string(),
            line,
            column,
            message: problem.message.clone(),
            help: problem.help.clone(),
        }
    };
    file.problems.iter().map(reply).collect()
}

#[cfg(test)]
mod tests {
    use trainwright_study::Study;

    use super::*;

    #[test]
    fn faults_of_a_study_have_their_places() {
        let faulty = Study::from_text("schema = 1\n[study]\nnmae = \"x\"\n").unwrap_err();
        let reply = ErrorReply::of(&Error::Faulty(faulty));
        assert_eq!((reply.kind, reply.exit_code), (ErrorKind::Input, 2));
        let own = &reply.problems[0];
        assert_eq!((own.line, own.column, own.message.as_str()), (3, 1, "unknown key `nmae`"));
        assert_eq!(own.help.as_deref(), Some("did you mean `name`?"));
    }

    #[test]
    fn other_errors_have_words_alone() {
        let reply = ErrorReply::of(&Error::Request("no".to_owned()));
        assert_eq!((reply.message.as_str(), reply.problems.len()), ("no", 0));
        assert_eq!(ErrorReply::new(String::new(), 3).kind, ErrorKind::Environment);
        assert_eq!(ErrorReply::new(String::new(), 4).kind, ErrorKind::Bug);
    }
}
