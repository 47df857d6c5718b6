//! How a trial ended, in words.

use std::time::Duration;

use nix::sys::signal::Signal;

use trainwright_study::{Outcome, Usage};

use crate::MissingMetric;
use crate::metrics::Gathered;
use crate::output::text::last_lines;
use crate::output::{Output, printable};

/// Lines of the output shown with a reason.
const SHOWN_WITH_REASON: usize = 8;
/// Lines of the output kept with every trial.
const KEPT: usize = 20;

/// Who ended the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndedBy {
    Itself,
    Timeout,
    User,
}

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

/// How a trial ended.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) outcome: Outcome,
    /// The metrics for want of which it failed; empty where anything else ended it.
    pub(crate) missing: Vec<MissingMetric>,
}

/// How a trial ended: stopped, over time, by a bad exit, with a setting that did not arrive,
/// diverged, without its metrics, or finished; the first that holds.
pub(crate) fn verdict(evidence: Evidence<'_>) -> Verdict {
    let without_metrics = |outcome| Verdict { outcome, missing: Vec::new() };
    if let Some(outcome) = outcome_but_for_metrics(&evidence) {
        return without_metrics(outcome);
    }
    let missing = &evidence.gathered.missing;
    if missing.is_empty() {
        return without_metrics(Outcome::Finished);
    }
    let explanations: Vec<&str> = missing.iter().map(|one| one.explanation.as_str()).collect();
    let outcome = failed(explanations.join("\n"), evidence.output);
    Verdict { outcome, missing: missing.clone() }
}

fn outcome_but_for_metrics(evidence: &Evidence<'_>) -> Option<Outcome> {
    let failed = |reason: String| Some(failed(reason, evidence.output));
    let diverged = evidence.gathered.diverged.as_ref();
    match evidence.ended_by {
        EndedBy::User => return Some(Outcome::Stopped),
        EndedBy::Timeout => {
            let limit = evidence.timeout.unwrap_or_default().as_secs_f64();
            return failed(format!("took longer than its timeout of {limit} s and was stopped"));
        }
        EndedBy::Itself => {}
    }
    if let Some(exit) = bad_exit(evidence.usage.exit_code, evidence.usage.signal) {
        return failed(match diverged {
            Some(reason) => format!("{exit}; {reason}"),
            None => exit,
        });
    }
    if let Some(reason) = &evidence.disagreement {
        return failed(reason.clone());
    }
    diverged.map(|reason| Outcome::Diverged { reason: printable(reason).into_owned() })
}

fn failed(reason: String, output: &Output<'_>) -> Outcome {
    let reason = with_output(reason, &end_of_output(output, SHOWN_WITH_REASON));
    Outcome::Failed { reason: printable(&reason).into_owned() }
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
    let ends: Vec<String> = ends.into_iter().filter(|end| !end.is_empty()).collect();
    printable(&ends.join("\n")).into_owned()
}
