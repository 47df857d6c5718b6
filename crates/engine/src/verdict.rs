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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_exit_is_told_by_its_code_or_signal() {
        assert_eq!(bad_exit(Some(0), None), None);
        assert_eq!(bad_exit(Some(3), None).unwrap(), "exit code 3");
        assert_eq!(bad_exit(None, Some(15)).unwrap(), "signal SIGTERM");
        assert_eq!(
            bad_exit(None, Some(9)).unwrap(),
            "signal SIGKILL; the kernel sends it when memory runs out"
        );
        // Signals of real time have no name.
        assert_eq!(bad_exit(None, Some(40)).unwrap(), "signal 40");
        assert_eq!(bad_exit(None, None), None);
    }

    #[test]
    fn a_reason_is_followed_by_the_end_of_the_output_where_there_is_some() {
        assert_eq!(with_output("exit code 1".to_owned(), ""), "exit code 1");
        assert_eq!(
            with_output("exit code 1".to_owned(), "one\ntwo"),
            "exit code 1\n  the output ends:\n    one\n    two"
        );
    }

    /// The verdict on a trial whose output is one line, after a change of the evidence.
    fn judged(
        gathered: &Gathered,
        usage: &Usage,
        ended_by: EndedBy,
        echo: Option<&str>,
    ) -> Verdict {
        let log = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(log.path(), "last\x1b[2J words\n").unwrap();
        verdict(Evidence {
            ended_by,
            timeout: Some(Duration::from_millis(1500)),
            usage,
            gathered,
            disagreement: echo.map(str::to_owned),
            output: &Output::of_log(log.path()),
        })
    }

    fn without_y() -> Gathered {
        let missing = MissingMetric { metric: "y".to_owned(), explanation: "no y".to_owned() };
        Gathered { missing: vec![missing], ..Gathered::default() }
    }

    #[test]
    fn the_first_reason_that_holds_is_the_one_told() {
        let (well, badly) = (
            Usage { exit_code: Some(0), ..Usage::default() },
            Usage { exit_code: Some(1), ..Usage::default() },
        );
        let nan = Gathered { diverged: Some("`y` is NaN".to_owned()), ..without_y() };
        let told = |gathered: &Gathered, usage: &Usage, by, echo: Option<&str>| {
            let outcome = judged(gathered, usage, by, echo).outcome;
            let reason = outcome.reason().unwrap_or_default().lines().next().unwrap_or_default();
            format!("{}: {reason}", outcome.state().word())
        };
        assert_eq!(told(&nan, &badly, EndedBy::User, Some("lr")), "stopped: ");
        assert_eq!(
            told(&nan, &badly, EndedBy::Timeout, None),
            "failed: took longer than its timeout of 1.5 s and was stopped"
        );
        assert_eq!(told(&nan, &badly, EndedBy::Itself, None), "failed: exit code 1; `y` is NaN");
        assert_eq!(told(&nan, &well, EndedBy::Itself, Some("lr is 2")), "failed: lr is 2");
        assert_eq!(told(&nan, &well, EndedBy::Itself, None), "diverged: `y` is NaN");
        assert_eq!(told(&without_y(), &well, EndedBy::Itself, None), "failed: no y");
        assert_eq!(told(&Gathered::default(), &well, EndedBy::Itself, None), "finished: ");
    }

    #[test]
    fn metrics_are_missing_only_where_nothing_else_ended_the_trial() {
        let well = Usage { exit_code: Some(0), ..Usage::default() };
        let badly = Usage { exit_code: Some(1), ..Usage::default() };
        assert_eq!(judged(&without_y(), &well, EndedBy::Itself, None).missing.len(), 1);
        assert!(judged(&without_y(), &badly, EndedBy::Itself, None).missing.is_empty());
    }

    #[test]
    fn what_a_trial_wrote_is_shown_and_cannot_act_on_the_terminal() {
        let badly = Usage { exit_code: Some(1), ..Usage::default() };
        let outcome = judged(&Gathered::default(), &badly, EndedBy::Itself, None).outcome;
        let reason = outcome.reason().unwrap();
        assert!(reason.starts_with("exit code 1\n  the output ends:\n    last"), "{reason:?}");
        assert!(!reason.contains('\x1b'), "{reason:?}");
    }
}
