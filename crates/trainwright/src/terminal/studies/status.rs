//! How far a study has come, in words.

use std::fmt::Write as _;

use trainwright_report::figure;
use trainwright_report::terminal::visible;
use trainwright_store::Progress;
use trainwright_study::TrialState;

use crate::StatusReply;

/// How far a study has come; reasons hold lines of trials, so they are made visible.
pub fn status(reply: &StatusReply) -> String {
    let mut text = format!("{}: {} trials", reply.study, reply.counts.total);
    for (state, count) in reply.counts.states.iter().filter(|(_, count)| *count > 0) {
        write!(text, ", {count} {state}").expect("writing to memory cannot fail");
    }
    match reply.runner {
        Some(pid) => text.push_str(&format!("\nbeing run by process {pid}")),
        None if reply.counts.count(TrialState::Running) > reply.outside.len() => {
            text.push_str("\nits runner died; `trainwright run` goes on where it stopped");
        }
        None => {}
    }
    if !reply.outside.is_empty() {
        let numbers: Vec<String> = reply.outside.iter().map(u32::to_string).collect();
        let numbers = numbers.join(", ");
        let told = format!("\nasked for from outside and not told of yet: trial {numbers}");
        text.push_str(&told);
    }
    if let Some(spent) = &reply.budget_spent {
        text.push_str(&format!("\n{spent}"));
    }
    text.push('\n');
    let told = reply.trials.iter().filter(|trial| {
        matches!(trial.state, TrialState::Running | TrialState::Failed | TrialState::Diverged)
    });
    for trial in told {
        let reason = trial.reason.as_deref().and_then(|reason| reason.lines().next());
        let latest = reply.progress.iter().find(|own| own.number == trial.trial).map(latest);
        let reason = visible(latest.as_deref().or(reason).unwrap_or_default());
        let line = format!(
            "  trial {:>4}  {:<8}  {}  {reason}\n",
            trial.trial, trial.state, trial.configuration,
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// What a running trial last told: `12 s  loss 0.25`.
fn latest(progress: &Progress) -> String {
    let mut text = format!("{:.0} s", progress.elapsed_s);
    for (name, value) in progress.latest.iter().take(4) {
        write!(text, "  {name} {}", figure(*value)).expect("writing to memory cannot fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use trainwright_study::{Configuration, Level};

    use super::*;
    use crate::{TrialCounts, TrialStatus};

    fn reply(state: TrialState, runner: Option<u32>, reason: Option<&str>) -> StatusReply {
        let pairs = vec![("lr".to_owned(), Level::Number(0.5))];
        let states = TrialState::ALL.into_iter().map(|own| (own, usize::from(own == state)));
        StatusReply {
            study: "demo".to_owned(),
            store: "trainwright.db".into(),
            change: 1,
            progress: Vec::new(),
            runner,
            outside: Vec::new(),
            counts: TrialCounts { total: 1, states: states.collect() },
            budget_spent: None,
            trials: vec![TrialStatus {
                trial: 7,
                row: Some(1),
                replicate: 1,
                state,
                attempts: 1,
                configuration: Configuration::new(pairs),
                wall_s: None,
                reason: reason.map(str::to_owned),
            }],
        }
    }

    #[test]
    fn a_finished_trial_needs_no_line_of_its_own() {
        let text = status(&reply(TrialState::Finished, None, None));
        assert_eq!(text, "demo: 1 trials, 1 finished\n");
    }

    #[test]
    fn a_used_up_budget_is_said_below_the_counts() {
        let spent = Some("1 trial was not run, since `max_hours = 2` is used up".to_owned());
        let planned = reply(TrialState::Planned, None, None);
        let text = status(&StatusReply { budget_spent: spent, ..planned });
        assert!(text.ends_with("\n1 trial was not run, since `max_hours = 2` is used up\n"));
    }

    #[test]
    fn a_failed_trial_tells_the_first_line_of_its_reason_with_escapes_made_visible() {
        let text = status(&reply(TrialState::Failed, None, Some("exit \x1b[2J 1\nmore")));
        assert!(text.ends_with("  trial    7  failed    lr=0.5  exit \\e[2J 1\n"), "{text:?}");
    }

    #[test]
    fn a_running_trial_shows_what_it_last_told() {
        let latest = [("loss".to_owned(), 0.25)].into();
        let told = Progress { number: 7, elapsed_s: 12.4, latest, told_ms: 0 };
        let text =
            status(&StatusReply { progress: vec![told], ..reply(TrialState::Running, None, None) });
        assert!(text.ends_with("lr=0.5  12 s  loss 0.2500\n"), "{text:?}");
    }

    #[test]
    fn a_runner_that_died_is_told_from_one_that_works() {
        let text = status(&reply(TrialState::Running, None, None));
        assert!(text.contains("its runner died; `trainwright run` goes on"), "{text}");
        let outside = StatusReply { outside: vec![7], ..reply(TrialState::Running, None, None) };
        let text = status(&outside);
        assert!(text.contains("not told of yet: trial 7") && !text.contains("died"), "{text}");
        let text = status(&reply(TrialState::Running, Some(42), None));
        assert!(text.contains("being run by process 42"), "{text}");
    }
}
