//! What is needed to run the study again.

use std::fmt::Write;

use trainwright_analysis::wording::count;
use trainwright_study::Machine;

use crate::escape::escape;
use crate::figure::bytes;
use crate::html::{facts, folded, note};
use crate::input::ReportInput;

/// Machines that are described.
const MOST_MACHINES: usize = 20;

/// Machines, program, commit, seed, study file and command line.
pub(in crate::html) fn section(input: &ReportInput<'_>) -> String {
    let mut out = facts(&[
        ("report by", escape(input.program).to_string()),
        ("written", escape(input.written_at).to_string()),
        ("seed", input.study.seed.value().to_string()),
        ("study file", escape(&input.study.source.path.display().to_string()).to_string()),
    ]);
    if input.machines.is_empty() {
        out += &note("No trial has recorded the machine it ran on.");
    }
    for machine in input.machines.iter().take(MOST_MACHINES) {
        let _ = write!(out, "<h3>{}</h3>\n{}", escape(&machine.host), described(machine));
    }
    if input.machines.len() > MOST_MACHINES {
        let all = count(input.machines.len(), "machine");
        out += &note(&format!("The first {MOST_MACHINES} of {all}."));
    }
    if let Some(trial) = input.trials.iter().find(|trial| !trial.command.is_empty()) {
        let words: Vec<String> = trial.command.iter().map(|word| quoted(word)).collect();
        let _ = write!(
            out,
            "<h3>Command line</h3>\n<p class=\"look\">As trial {} ran it.</p>\n\
             <pre class=\"command\">{}</pre>\n",
            trial.number,
            escape(&words.join(" "))
        );
    }
    let text = format!("<pre>{}</pre>", escape(&input.study.shown_source()));
    out + "<h3>Study file</h3>\n" + &folded("Show its text", &text)
}

fn described(machine: &Machine) -> String {
    let commit = match (&machine.git_commit, machine.git_dirty) {
        (None, _) => "not a git checkout".to_owned(),
        (Some(commit), Some(true)) => {
            format!("<code>{}</code> with uncommitted changes", escape(commit))
        }
        (Some(commit), _) => format!("<code>{}</code>", escape(commit)),
    };
    facts(&[
        ("processor", escape(&machine.cpu).to_string()),
        ("cores", machine.cores.to_string()),
        ("memory", bytes(machine.memory_bytes)),
        ("system", escape(&machine.system).to_string()),
        ("trials run by", escape(&machine.trainwright).to_string()),
        ("commit of the study", commit),
    ])
}

/// A word as a shell would need it.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_./=:,@%+".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use trainwright_study::TrialState;

    use super::*;
    use crate::tests::{SmallStudy, trial};

    fn machine(commit: Option<&str>, dirty: Option<bool>) -> Machine {
        Machine {
            host: "<host>".to_owned(),
            cpu: "cpu".to_owned(),
            cores: 2,
            memory_bytes: 3 << 30,
            system: "Linux".to_owned(),
            trainwright: "1".to_owned(),
            git_commit: commit.map(ToOwned::to_owned),
            git_dirty: dirty,
        }
    }

    #[test]
    fn words_are_quoted_where_a_shell_would_change_them() {
        for (word, expected) in [
            ("--lr=0.1", "--lr=0.1"),
            ("s3://bucket/a@b", "s3://bucket/a@b"),
            ("", "''"),
            ("two words", "'two words'"),
            ("$HOME", "'$HOME'"),
            ("it's", "'it'\\''s'"),
            ("a;b", "'a;b'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }

    #[test]
    fn a_commit_says_whether_the_folder_had_changes() {
        let told = |commit, dirty| described(&machine(commit, dirty));
        assert!(told(None, Some(true)).contains("<dd>not a git checkout</dd>"));
        assert!(told(Some("ab<"), Some(false)).contains("<dd><code>ab&lt;</code></dd>"));
        assert!(told(Some("ab"), Some(true)).contains("<code>ab</code> with uncommitted changes"));
        assert!(told(Some("ab"), None).contains("<dd><code>ab</code></dd>"));
    }

    #[test]
    fn the_command_is_that_of_the_first_trial_that_has_one() {
        let mut own = SmallStudy::with("", "");
        assert!(section(&own.input(None)).contains("No trial has recorded the machine"));
        own.trials = vec![
            trial(1, 1, TrialState::Planned, None),
            trial(2, 2, TrialState::Finished, Some(1.0)),
        ];
        own.trials[1].command = ["run", "a b"].map(ToOwned::to_owned).to_vec();
        let machines = vec![machine(None, None); MOST_MACHINES + 1];
        let input = ReportInput { machines: &machines, ..own.input(None) };
        let page = section(&input);
        assert!(page.contains("As trial 2 ran it."), "{page}");
        assert!(page.contains("<pre class=\"command\">run &#39;a b&#39;</pre>"), "{page}");
        assert_eq!(page.matches("<h3>&lt;host&gt;</h3>").count(), MOST_MACHINES);
        assert!(page.contains("The first 20 of 21 machines."), "{page}");
    }
}
