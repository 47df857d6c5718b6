use std::fs;

use trainwright_study::Outcome;

use crate::lab::{ACC, Lab};

#[track_caller]
fn failure(lab: &Lab) -> String {
    match lab.run().outcome {
        Outcome::Failed { reason } => reason,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn check_failure(lab: &Lab, parts: &[&str]) {
    let reason = failure(lab);
    for part in parts {
        assert!(reason.contains(part), "`{part}` not in:\n{reason}");
    }
}

#[test]
fn a_trial_with_all_its_metrics_has_finished() {
    let script = "echo '{\"acc\": 0.5, \"step\": 1}' >> $TRAINWRIGHT_METRICS
                  echo '{\"acc\": 0.25, \"step\": 2}' >> $TRAINWRIGHT_METRICS
                  echo bye";
    let record = Lab::new(script, "", ACC).run();
    assert_eq!(record.outcome, Outcome::Finished);
    assert_eq!((record.measurements[0].value, record.measurements[0].in_range), (0.25, true));
    assert_eq!(record.output_end, "bye");
    assert_eq!(record.command, ["sh", "run.sh", "2"]);
    let usage = record.usage.unwrap();
    assert_eq!((usage.exit_code, usage.signal), (Some(0), None));
    assert!(usage.wall_s > 0.0 && usage.network.is_some(), "{usage:?}");
    let curve = &record.series[0];
    assert_eq!((&*curve.name, &curve.values), ("metric.acc", &vec![0.5, 0.25]));
}

#[test]
fn a_value_outside_its_range_is_kept_and_flagged() {
    let record = Lab::new("echo '::metric {\"acc\": 97}'", "", ACC).run();
    assert_eq!(record.outcome, Outcome::Finished);
    assert_eq!((record.measurements[0].value, record.measurements[0].in_range), (97.0, false));
}

#[test]
fn a_bad_exit_fails_even_with_metrics() {
    let script = "echo '::metric {\"acc\": 0.5}'; echo 'no such dataset' >&2; exit 3";
    let lab = Lab::new(script, "", ACC);
    check_failure(&lab, &["exit code 3\n", "the output ends:", "    no such dataset"]);
    assert_eq!(lab.run().usage.unwrap().exit_code, Some(3));
}

#[test]
fn a_signal_fails() {
    let lab = Lab::new("kill -SEGV $$", "", ACC);
    check_failure(&lab, &["signal SIGSEGV"]);
    assert_eq!(lab.run().usage.unwrap().signal, Some(11));
}

#[test]
fn nan_is_divergence() {
    let script = "echo '::metric {\"acc\": 0.5, \"epoch\": 1}'
                  echo '::metric {\"acc\": NaN, \"epoch\": 2}'";
    let record = Lab::new(script, "", ACC).run();
    let reason = "metric `acc` was NaN at step 2 (line 2 of stdout)".to_owned();
    assert_eq!(record.outcome, Outcome::Diverged { reason });
    let crashed = Lab::new(&format!("{script}\nexit 1"), "", ACC);
    check_failure(&crashed, &["exit code 1; metric `acc` was NaN at step 2"]);
}

#[test]
fn a_missing_metric_fails_with_rule_near_lines_and_output() {
    let metric = "[metrics.acc]\nfrom = \"regex\"\nmatch = 'accuracy: (?P<value>[0-9.]+)'\n\
                  objective = \"maximize\"";
    let lab = Lab::new("echo loading; echo 'Accuracy = 0.9'; echo done", "", metric);
    let parts = [
        "metric `acc` was not found",
        "rule: lines of the standard output that match `accuracy: (?P<value>[0-9.]+)`",
        "near: line 2 of stdout: Accuracy = 0.9",
        "    done",
    ];
    check_failure(&lab, &parts);
    let (_, missing) = lab.run_to_end();
    assert_eq!(missing.iter().map(|one| &*one.metric).collect::<Vec<_>>(), ["acc"]);
    assert!(missing[0].explanation.contains("near: line 2"), "{missing:?}");
    let crashed = Lab::new("exit 3", "", metric).run_to_end();
    assert_eq!(crashed.1, [], "the rule is not to blame");
}

#[test]
fn a_setting_that_did_not_arrive_fails() {
    let echo = format!("{ACC}[echo.x]\nmatch = 'x=(?P<value>\\S+)'\n");
    let script = "echo \"x=$1\"; echo '::metric {\"acc\": 1}'";
    assert_eq!(Lab::new(script, "", &echo).run().outcome, Outcome::Finished);
    let deaf = Lab::new("echo x=1; echo '::metric {\"acc\": 1}'", "", &echo);
    check_failure(&deaf, &["`x` was 1, but this trial is one with 2"]);
    let mute = Lab::new("echo '::metric {\"acc\": 1}'", "", &echo);
    check_failure(&mute, &["did not say what `x` was"]);
}

#[test]
fn a_program_that_is_not_there_fails() {
    let lab = Lab::of_tables(&format!(
        "[factors.x]\nlevels = [1, 2]\n[run]\ncommand = [\"no-such-program\", \"{{x}}\"]\n{ACC}"
    ));
    check_failure(&lab, &["cannot start `no-such-program`", "is it installed"]);
    assert_eq!(lab.run().usage, None);
    let lab = Lab::new("true", "workdir = \"nowhere\"", ACC);
    check_failure(&lab, &["working folder", "nowhere is not there"]);
}

#[test]
fn a_file_of_an_earlier_run_is_not_believed() {
    let metric = "[metrics.acc]\nfrom = \"json\"\nfile = \"eval.json\"\npointer = \"/acc\"\n\
                  objective = \"maximize\"";
    let lab = Lab::new("test ! -e write || cp new.json eval.json", "", metric);
    fs::write(lab.path("eval.json"), "{\"acc\": 0.1}").unwrap();
    check_failure(&lab, &["eval.json is older than the trial"]);
    fs::write(lab.path("new.json"), "{\"acc\": 0.2}").unwrap();
    fs::write(lab.path("write"), "").unwrap();
    assert_eq!(lab.run().measurements[0].value, 0.2);
}

#[test]
fn a_failed_prepare_command_fails_the_trial() {
    let lab = Lab::new("touch ran", "prepare = \"echo no room; exit 4\"", ACC);
    check_failure(&lab, &["prepare command `echo no room; exit 4` failed: exit code 4", "no room"]);
    assert!(!lab.path("ran").exists());
}
