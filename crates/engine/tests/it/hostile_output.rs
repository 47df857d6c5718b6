//! Whatever a trial writes, the runner neither dies nor hangs.

use trainwright_study::Outcome;

use crate::lab::{ACC, Lab};

#[track_caller]
fn reason(lab: &Lab) -> String {
    match lab.run().outcome {
        Outcome::Failed { reason } => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_pipe_as_metrics_file_fails_the_trial_at_once() {
    let lab = Lab::new("mkfifo $TRAINWRIGHT_METRICS", "", ACC);
    let reason = reason(&lab);
    assert!(reason.contains("metrics.jsonl: it is no regular file"), "{reason}");
}

#[test]
fn pipes_in_place_of_files_fail_the_trial_at_once() {
    for metric in [
        "from = \"json\"\nfile = \"out\"\npointer = \"/acc\"",
        "from = \"csv\"\nfile = \"out\"",
        "from = \"regex\"\nfile = \"out\"\nmatch = '(?P<value>.*)'",
        "from = \"tensorboard\"\nfile = \".\"",
    ] {
        let metric = format!("[metrics.acc]\n{metric}\nobjective = \"maximize\"\n");
        let script = "mkfifo out $TRAINWRIGHT_DIR/a.tfevents.1";
        let reason = reason(&Lab::new(script, "", &metric));
        assert!(reason.contains("it is no regular file"), "{metric}: {reason}");
    }
}

#[test]
fn output_without_line_ends_takes_no_memory() {
    let script = "head -c 200000000 /dev/zero | tr '\\0' x
                  head -c 100000000 /dev/zero | tr '\\0' '\\r'
                  head -c 100000000 /dev/zero >> $TRAINWRIGHT_METRICS";
    let before = trainwright_probe::peak_memory(std::process::id()).unwrap();
    let reason = reason(&Lab::new(script, "", ACC));
    let after = trainwright_probe::peak_memory(std::process::id()).unwrap();
    assert!(reason.contains("metric `acc` was not found"));
    assert!(reason.len() < 100_000, "{}", reason.len());
    // Other tests run beside this one, and one of them takes 200 MB on purpose.
    assert!(after.saturating_sub(before) < 300 << 20, "{before} to {after}");
}

#[test]
fn a_json_file_beyond_the_limit_is_told() {
    let metric = "[metrics.acc]\nfrom = \"json\"\nfile = \"big.json\"\npointer = \"/acc\"\n\
                  objective = \"maximize\"\n";
    let reason = reason(&Lab::new("head -c 17000000 /dev/zero > big.json", "", metric));
    assert!(reason.contains("more than 16 MiB"), "{reason}");
}

#[test]
fn a_quote_that_is_never_closed_is_told() {
    let metric = "[metrics.acc]\nfrom = \"csv\"\nfile = \"log.csv\"\nobjective = \"maximize\"\n";
    let script =
        "printf 'acc\\n\"' > log.csv; head -c 3000000 /dev/zero | tr '\\0' '\\n' >> log.csv";
    let reason = reason(&Lab::new(script, "", metric));
    assert!(reason.contains("is a quote left open?"), "{reason}");
}

#[test]
fn control_characters_are_shown_and_not_obeyed() {
    let script = "printf '\\033[2Jacc: none\\007\\n'; printf '\\033]0;title\\007' >&2
                  printf '{\"\\\\u001b[31m\": \"\\\\u001b\"}\\n' >> $TRAINWRIGHT_METRICS; exit 0";
    let record = Lab::new(script, "", ACC).run();
    let Outcome::Failed { reason } = &record.outcome else { panic!("{record:?}") };
    for text in [reason, &record.output_end] {
        assert!(!text.contains(['\u{1b}', '\u{7}']), "{text:?}");
        assert!(text.contains("\u{241b}[2Jacc: none"), "{text:?}");
    }
}
