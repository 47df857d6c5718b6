//! How a trial ended, in words.

use std::time::Duration;

use nix::sys::signal::Signal;

use trainwright_study::{Outcome, Usage};

use crate::local::supervise::EndedBy;
use crate::metrics::Gathered;
use crate::output::Output;
use crate::output::text::last_lines;

/// Lines of the output shown with a reason.
const SHOWN_WITH_REASON: usize = 8;
/// Lines of the output kept with every trial.
const KEPT: usize = 20;

/// All that decides how a trial ended.
#[derive(Debug)]
pub(crate) struct Evidence<'a> {
    pub(crate) ended_by: EndedBy,
    pub(crate) timeout: Option<Duration>,
    pub(crate) usage: &'a Usage,
    pub(crate) gathered: &'a Gathered,
    pub(crate) disagreement: Option<String>,
    pub(crate) output: &'a Output<'a>,
}

/// How a trial ended: stopped, over time, by a bad exit, with a setting that did not arrive,
/// diverged, without its metrics, or finished; the first that holds.
pub(crate) fn outcome(evidence: Evidence<'_>) -> Outcome {
    let failed = |reason: String| {
        let end = end_of_output(evidence.output, SHOWN_WITH_REASON);
        Outcome::Failed { reason: with_output(reason, &end) }
    };
    match (evidence.ended_by, evidence.timeout) {
        (EndedBy::User, _) => return Outcome::Stopped,
        (EndedBy::Timeout, timeout) => {
            let limit = timeout.unwrap_or_default().as_secs_f64();
            return failed(format!("took longer than its timeout of {limit} s and was stopped"));
        }
        (EndedBy::Itself, _) => {}
    }
    if let Some(exit) = bad_exit(evidence.usage.exit_code, evidence.usage.signal) {
        let diverged = evidence.gathered.diverged.as_ref();
        return failed(match diverged {
            Some(reason) => format!("{exit}; {reason}"),
            None => exit,
        });
    }
    if let Some(reason) = evidence.disagreement {
        return failed(reason);
    }
    if let Some(reason) = &evidence.gathered.diverged {
        return Outcome::Diverged { reason: reason.clone() };
    }
    if !evidence.gathered.missing.is_empty() {
        return failed(evidence.gathered.missing.join("\n"));
    }
    Outcome::Finished
}

/// A bad exit in words: `exit code 3`, `signal SIGKILL`.
pub(crate) fn bad_exit(exit_code: Option<i32>, signal: Option<i32>) -> Option<String> {
    match (exit_code, signal) {
        (Some(0), _) => None,
        (Some(code), _) => Some(format!("exit code {code}")),
        (None, Some(signal)) => Some(match Signal::try_from(signal) {
            Ok(Signal::SIGKILL) => {
                "signal SIGKILL; the kernel sends it when memory runs out".to_owned()
            }
            Ok(signal) => format!("signal {signal}"),
            Err(_) => format!("signal {signal}"),
        }),
        (None, None) => None,
    }
}

/// A reason followed by the end of the output.
pub(crate) fn with_output(reason: String, end: &str) -> String {
    if end.is_empty() {
        return reason;
    }
    let lines: Vec<String> = end.lines().map(|line| format!("    {line}")).collect();
    format!("{reason}\n  the output ends:\n{}", lines.join("\n"))
}

/// The end of the output as it is kept with the trial.
pub(crate) fn kept_output(output: &Output<'_>) -> String {
    end_of_output(output, KEPT)
}

/// The last lines of the standard output, then those of the standard error.
fn end_of_output(output: &Output<'_>, lines: usize) -> String {
    let ends = [&output.stdout, &output.stderr].map(|path| last_lines(path, lines));
    ends.into_iter().filter(|end| !end.is_empty()).collect::<Vec<_>>().join("\n")
}
