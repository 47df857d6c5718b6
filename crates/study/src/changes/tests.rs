use super::*;
use crate::Study;

const COMMAND: &str = r#"schema = 1
[study]
name = "demo"
seed = 7
[factors.lr]
levels = [0.001, 0.01]
[factors.blocks]
levels = [1, 2]
[design]
type = "table"
rows = [[0.001, 1], [0.01, 2]]
[run]
command = ["train", "--lr={lr}", "--blocks", "{blocks}"]
env.KEY = "secret {lr}"
env.MODE = "fast"
keep_env = ["MODE"]
[metrics.loss]
from = "regex"
match = 'loss (?P<value>\S+)'
[metrics.cost]
expr = "loss * lr"
objective = "minimize"
"#;

const JOB: &str = r#"schema = 1
[study]
name = "job"
[factors.neurons]
levels = [32, 128]
[design]
type = "full"
[job]
network = "mlp"
data = "fashion-mnist-sample"
threads = 1
[metrics.accuracy]
key = "test_accuracy"
"#;

fn basis(text: &str) -> StudyBasis {
    Study::from_text(text).unwrap_or_else(|fault| panic!("{fault}")).basis()
}

#[track_caller]
fn found(base: &str, from: &str, to: &str) -> Vec<StudyChange> {
    let text = base.replacen(from, to, 1);
    assert_ne!(text, base);
    let (old, new) = (basis(base), basis(&text));
    assert!(changes(&old, &old).is_empty() && changes(&new, &new).is_empty());
    changes(&old, &new)
}

/// One replacement makes one change, told with these words and with this effect.
#[track_caller]
fn check(from: &str, to: &str, words: &str, effect: ChangeEffect) {
    let found = found(COMMAND, from, to);
    let [change] = &found[..] else { panic!("{found:?}") };
    assert_eq!((change.words().as_str(), change.effect()), (words, effect));
}

#[test]
fn a_table_study_with_a_factor_named_blocks_grows() {
    check(
        "[0.01, 2]]",
        "[0.01, 2], [0.01, 1]]",
        "`rows` of the design are now 3; they were 2",
        ChangeEffect::Grows,
    );
}

#[test]
fn factors_and_designs_tell_what_is_new() {
    use ChangeEffect::{Grows, OnReading, Refused};
    check("[1, 2]", "[1, 2, 4, 8]", "the factor `blocks` has the new levels 4, 8", Grows);
    check("[1, 2]", "[2, 1]", "the levels of `blocks` are in another order", Grows);
    check("seed = 7", "seed = 8", "the seed is now 8; it was 7", Refused);
    check(
        "[design]",
        "[design]\norder = \"standard\"",
        "the order of the trials is now `standard`; it was `randomized`",
        Refused,
    );
    check(
        "[run]",
        "[[constraint]]\nexpr = \"lr < 1\"\n[run]",
        "the constraint is now `lr < 1`; it was `none`",
        Grows,
    );
    check(
        "[1, 2]",
        "[1, 2]\nkind = \"system\"",
        "the factor `blocks` is of another kind",
        OnReading,
    );
    let full = found(COMMAND, "\"table\"\nrows = [[0.001, 1], [0.01, 2]]", "\"full\"");
    assert_eq!(full[0].words(), "the design is now `full`; it was `table`");
    let blocks = JOB.replace("\"full\"", "\"full\"\nblocks = 2");
    let found = changes(&basis(JOB), &basis(&blocks));
    assert_eq!(found[0].words(), "`blocks` is now `2`; it was `none`");
    assert_eq!(found[0].effect(), Refused);
}

#[test]
fn levels_spelled_otherwise_are_the_same() {
    assert!(found(COMMAND, "levels = [1, 2]", "levels = [1.0, 2.0]").is_empty());
}

#[test]
fn a_changed_command_is_accepted_by_name() {
    let accepted = ChangeEffect::NeedsAcceptance("command");
    check(
        "\"train\"",
        "\"my train\"",
        "the command is now `\"my train\" --lr={lr} --blocks {blocks}`; \
         it was `train --lr={lr} --blocks {blocks}`",
        accepted,
    );
    check("\"fast\"", "\"slow\"", "the variable `MODE` is now `slow`; it was `fast`", accepted);
    check("secret", "public", "the variable `KEY` is no longer the same", accepted);
    check("env.MODE", "workdir = \"w\"\nenv.MODE", "the folder to run in is now `w`", accepted);
    let job = found(JOB, "threads = 1", "threads = 2");
    assert_eq!(job[0].words(), "`threads` of the job is now `2`; it was `1`");
    assert_eq!(job[0].help().unwrap(), "if it measures the same, accept it with --accept command");
}

#[test]
fn values_of_variables_are_not_kept_unless_the_study_names_them() {
    let kept = serde_json::to_string(&basis(COMMAND)).unwrap();
    assert!(!kept.contains("secret") && kept.contains("KEY") && kept.contains("fast"), "{kept}");
}

#[test]
fn a_factor_joins_with_the_value_that_trials_had() {
    let more = "[factors.threads]\nlevels = [1, 2]\nbefore = 1\n[design]\n";
    let found =
        changes(&basis(JOB), &basis(&JOB.replace("threads = 1\n", "").replace("[design]\n", more)));
    let words = ["the factor `threads` has joined; trials before had 1"];
    assert_eq!(found.iter().map(StudyChange::words).collect::<Vec<_>>(), words);
    assert_eq!(found[0].effect(), ChangeEffect::Grows);

    let silent = more.replace("before = 1\n", "");
    let text = JOB.replace("threads = 1\n", "").replace("[design]\n", &silent);
    let refused = &changes(&basis(JOB), &basis(&text))[0];
    assert_eq!(refused.effect(), ChangeEffect::Refused);
    assert!(refused.help().unwrap().contains("`before` in [factors.threads]"));
}

#[test]
fn a_command_that_is_the_same_at_the_earlier_value_has_not_changed() {
    let old = COMMAND.replace("\"--lr={lr}\"", "\"--lr={lr}\", \"--threads=1\"");
    let more = "[factors.threads]\nlevels = [1, 2]\nbefore = 1\n[design]\n";
    let new = COMMAND
        .replace("\"--lr={lr}\"", "\"--lr={lr}\", \"--threads={threads}\"")
        .replace("[design]\n", more)
        .replace("[[0.001, 1], [0.01, 2]]", "[[0.001, 1, 1], [0.01, 2, 1]]");
    let found = changes(&basis(&old), &basis(&new));
    assert!(
        !found.iter().any(|own| matches!(own, StudyChange::CommandChanged { .. })),
        "{found:?}"
    );
    let other = changes(&basis(&old.replace("=1\"", "=2\"")), &basis(&new));
    assert!(other.iter().any(|own| matches!(own, StudyChange::CommandChanged { .. })));
}

#[test]
fn rules_and_formulas_of_metrics_are_told_apart() {
    check("loss (?P", "LOSS (?P", "the metric `loss` is read otherwise", ChangeEffect::Rereads);
    check(
        "[metrics.cost]",
        "pick = \"min\"\n[metrics.cost]",
        "the metric `loss` is read otherwise",
        ChangeEffect::Rereads,
    );
    check(
        "loss * lr",
        "log(loss)",
        "the formula of `cost` is now `log(loss)`; it was `loss * lr`",
        ChangeEffect::OnReading,
    );
    check(
        "[metrics.cost]",
        "[metrics.more]\n[metrics.cost]",
        "the metric `more` has joined",
        ChangeEffect::Rereads,
    );
}

#[test]
fn what_an_older_version_kept_still_reads_and_compares() {
    // Kept by the first version of the store for this study, but for the name of its second factor.
    let kept = r#"{"study":{"name":"demo","seed":7},
        "factors":[{"name":"lr","levels":[0.001,0.01],"scale":"linear","kind":"hyper"},
                   {"name":"blocks","levels":[1,2],"scale":"linear","kind":"hyper"}],
        "design":{"kind":{"type":"table","rows":[{"lr":0.001,"blocks":1},{"lr":0.01,"blocks":2}]},
                  "order":"randomized"},
        "constraints":[],
        "task":{"command":{"words":["train","--lr={lr}","--blocks","{blocks}"],
                "env":{"KEY":"secret {lr}","MODE":"fast"},"workdir":null}}}"#;
    let old: StudyBasis = serde_json::from_str(kept).unwrap();
    assert_eq!(changes(&old, &basis(COMMAND)), []);
    let found = changes(&old, &basis(&COMMAND.replace("secret", "public")));
    let words: Vec<String> = found.iter().map(StudyChange::words).collect();
    assert_eq!(words, ["the variable `KEY` is no longer the same"], "the old value is not shown");
}

#[test]
fn a_basis_survives_being_written_and_read() {
    for text in [COMMAND, JOB] {
        let basis = basis(text);
        let kept = serde_json::to_string(&basis).unwrap();
        assert_eq!(serde_json::from_str::<StudyBasis>(&kept).unwrap(), basis);
    }
}
