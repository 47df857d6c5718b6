//! Every way a trial can tell a metric, from its process to the exported table.

use crate::program::{Lab, shell_study};
use crate::record_files;

/// Runs one script with the metric `y` and gives its lab.
#[track_caller]
fn measured(script: &str, metric: &str) -> Lab {
    let more = format!("[metrics.y]\nobjective = \"minimize\"\n{metric}");
    let lab = Lab::with_study(&shell_study("[1, 2]", script, &more));
    lab.expect(0, &["run", "study.toml"]);
    lab
}

/// The metric `y` must be `factor` times the level.
#[track_caller]
fn check(script: &str, metric: &str, factor: f64) {
    for row in measured(script, metric).rows() {
        let expected = factor * row["x"].as_f64().unwrap();
        assert_eq!(row["y"].as_f64(), Some(expected), "{metric}: {row}");
    }
}

#[test]
fn wall_time_is_measured_in_the_unit_asked_for() {
    let lab = measured("sleep 0.05", "from = \"wall\"\nunit = \"ms\"");
    for row in lab.rows() {
        let (ms, s) = (row["y"].as_f64().unwrap(), row["time"].as_f64().unwrap());
        assert!(ms >= 50.0, "{row}");
        // Both come from one clock reading; the quotient may round.
        assert!((ms / 1000.0 - s).abs() < 1e-9, "{row}");
    }
}

#[test]
fn json_lines_of_the_metrics_file_count() {
    let script = "echo '{\"y\": 9}' >> $TRAINWRIGHT_METRICS; \
                  echo \"{\\\"y\\\": $((x * 10)).0, \\\"step\\\": 2}\" >> $TRAINWRIGHT_METRICS; \
                  echo '::metric {\"y\": 5}'";
    check(script, "from = \"jsonl\"", 10.0);
    check(script, "", 10.0);
}

#[test]
fn marked_lines_of_the_output_count() {
    let script = "echo '::metric {\"acc\": 0}'; echo \"::metric {\\\"acc\\\": $x.0}\"; echo acc 7";
    check(script, "from = \"stdout\"\nkey = \"acc\"", 1.0);
    check(script, "key = \"acc\"", 1.0);
}

#[test]
fn a_pattern_picks_the_value_asked_for() {
    let script = "for k in 3 1 5 7; do echo loss: $((k * x)); done; echo loss: none";
    for (pick, factor) in [("last", 7.0), ("first", 3.0), ("min", 1.0), ("max", 7.0), ("mean", 4.0)]
    {
        let metric =
            format!("from = \"regex\"\nmatch = 'loss: (?P<value>[0-9]+)'\npick = \"{pick}\"");
        check(script, &metric, factor);
    }
    let metric = "from = \"regex\"\nfile = \"stderr\"\nmatch = 'loss: (?P<value>[0-9]+)'";
    check("echo loss: 8; echo loss: $x >&2", metric, 1.0);
    let metric = "from = \"regex\"\nfile = \"log-{x}.txt\"\nmatch = '=(?P<value>\\S+)'";
    check("echo =$x > log-$x.txt", metric, 1.0);
}

#[test]
fn a_json_file_is_read_at_its_pointer() {
    let metric = "from = \"json\"\nfile = \"out.json\"\npointer = \"/eval/1/acc\"";
    check(
        "echo \"{\\\"eval\\\": [0, {\\\"acc\\\": $x}]}\" > $TRAINWRIGHT_DIR/out.json",
        metric,
        1.0,
    );
}

#[test]
fn a_csv_file_is_read_by_its_column() {
    let metric = "from = \"csv\"\nfile = \"log.csv\"\ncolumn = \"val loss\"\npick = \"max\"";
    check("printf 'epoch,val loss\\n1,%s\\n2,0.5\\n' $x > $TRAINWRIGHT_DIR/log.csv", metric, 1.0);
}

/// An event file with one scalar, as TensorFlow's event.proto and summary.proto lay it out.
fn event_file(tag: &str, values: &[f32]) -> Vec<u8> {
    let mut events = Vec::new();
    for (step, value) in (1u8..).zip(values) {
        let mut entry = vec![0x0a, tag.len() as u8];
        entry.extend(tag.as_bytes());
        entry.push(0x15);
        entry.extend(value.to_le_bytes());
        let mut event = vec![0x09];
        event.extend(f64::from(step).to_le_bytes());
        event.extend([0x10, step, 0x2a, entry.len() as u8 + 2, 0x0a, entry.len() as u8]);
        event.extend(entry);
        events.push(event);
    }
    record_files::written(&events)
}

#[test]
fn tensorboard_files_are_read_by_their_tag() {
    let metric = "from = \"tensorboard\"\nfile = \"tb\"\ntag = \"val/acc\"";
    let script = "mkdir $TRAINWRIGHT_DIR/tb; cp template-$x $TRAINWRIGHT_DIR/tb/a.tfevents.1";
    let more = format!("[metrics.y]\nobjective = \"minimize\"\n{metric}");
    let lab = Lab::with_study(&shell_study("[1, 2]", script, &more));
    lab.write("template-1", event_file("val/acc", &[0.25, 1.0]));
    lab.write("template-2", event_file("val/acc", &[0.25, 2.0]));
    lab.expect(0, &["run", "study.toml"]);
    let rows = lab.rows();
    assert!(rows.iter().all(|row| row["y"].as_f64() == row["x"].as_f64()), "{rows:?}");
}

#[test]
fn formulas_use_factors_and_other_metrics() {
    let metric = "expr = \"3 * z^2 / x\"\n[metrics.z]\nfrom = \"stdout\"";
    check("echo \"::metric {\\\"z\\\": $x}\"", metric, 3.0);
}

#[test]
fn a_division_by_zero_is_told_and_is_no_number() {
    let more = "[metrics.y]\nobjective = \"minimize\"\nexpr = \"1 / (x - 1)\"";
    let lab = Lab::with_study(&shell_study("[1, 2]", ":", more));
    lab.expect(1, &["run", "study.toml"]).says(&["division by zero in `1 / (x - 1)`"]);
    assert_eq!(lab.states(), [("failed".to_owned(), 1), ("finished".to_owned(), 1)].into());
    let failed = lab.rows().into_iter().find(|row| row["state"] == "failed").unwrap();
    assert!(failed["y"].is_null(), "{failed}");
}

#[test]
fn a_value_outside_its_range_is_kept_and_flagged() {
    let more = "[metrics.acc]\nobjective = \"maximize\"\nrange = [0, 1]";
    let script = "echo \"::metric {\\\"acc\\\": $((x * 40))}\"";
    let lab = Lab::with_study(&shell_study("[0, 1, 2]", script, more));
    lab.expect(0, &["run", "study.toml"]);
    let values: Vec<f64> = lab.rows().iter().map(|row| row["acc"].as_f64().unwrap()).collect();
    assert!(values.contains(&40.0) && values.contains(&80.0), "{values:?}");
    lab.expect(0, &["report", "study.toml", "-o", "r.html"]);
    assert!(lab.read("r.html").contains("outside"), "the report does not flag the values");
}

#[test]
fn a_diverged_trial_is_a_result_and_no_failure() {
    let more = "[metrics.loss]\nobjective = \"minimize\"\nfrom = \"jsonl\"";
    let script = "for s in 1 2; do [ $x$s = 32 ] && v=NaN || v=$x; \
                  echo \"{\\\"step\\\": $s, \\\"loss\\\": $v}\" >> $TRAINWRIGHT_METRICS; done";
    let study = shell_study("[1, 2, 3]", script, more)
        .replace("type = \"full\"", "type = \"full\"\nreplications = 2");
    let lab = Lab::with_study(&study);
    let end = lab.expect(0, &["run", "study.toml"]);
    end.says(&["diverged: metric `loss` was NaN at step 2"]);
    assert!(end.stdout.contains("2 diverged"), "{end:#?}");
    assert_eq!(lab.states(), [("diverged".to_owned(), 2), ("finished".to_owned(), 4)].into());
    assert_eq!(lab.json(&["analyze", "study.toml", "--json"])["n"], 4);
    let diverged = lab.rows().into_iter().find(|row| row["state"] == "diverged").unwrap();
    assert!(diverged["loss"].is_null(), "{diverged}");
    lab.expect(0, &["run", "study.toml"]);
    assert_eq!(lab.rows().iter().filter(|row| row["attempts"] == 1).count(), 6);
}

#[test]
fn a_trial_that_says_it_diverged_keeps_its_numbers_and_counts_where_the_study_says_so() {
    let more = "[metrics.loss]\nobjective = \"minimize\"\nfrom = \"jsonl\"";
    let script = "[ $x = 3 ] && d=true || d=false; \
                  echo \"{\\\"loss\\\": $x$TRAINWRIGHT_REPLICATE, \\\"diverged\\\": $d}\" >> $TRAINWRIGHT_METRICS";
    let study = shell_study("[1, 2, 3]", script, more)
        .replace("type = \"full\"", "type = \"full\"\nreplications = 2");
    let lab = Lab::with_study(&study);
    lab.expect(0, &["run", "study.toml"]).says(&["diverged: the program says that it diverged"]);
    let diverged = lab.rows().into_iter().find(|row| row["state"] == "diverged").unwrap();
    assert!(diverged["loss"].as_f64().is_some_and(|loss| loss > 30.0), "{diverged}");
    assert_eq!(lab.json(&["analyze", "study.toml", "--json"])["n"], 4);
    lab.write("study.toml", format!("{study}\n[analysis]\ndiverged = \"count\"\n"));
    assert_eq!(lab.json(&["analyze", "study.toml", "--json"])["n"], 6);
    assert_eq!(lab.states(), [("diverged".to_owned(), 2), ("finished".to_owned(), 4)].into());
}

#[test]
fn a_program_that_prints_nan_in_its_own_way_has_diverged() {
    let more = "[metrics.y]\nobjective = \"minimize\"";
    let script = "echo '::metric {\"y\": 1}'; echo \"::metric {\\\"y\\\": $x}\"";
    let lab = Lab::with_study(&shell_study("[\"nan\", \"-inf\", \"oops\"]", script, more));
    let mut said = lab.expect(1, &["run", "study.toml"]).stderr;
    // A first trial without its metric stops the study; the rest runs when asked again.
    said += &lab.expect(1, &["run", "study.toml"]).stderr;
    assert!(said.contains("metric `y` has values that do not read"), "{said}");
    for row in lab.rows() {
        let expected = if row["x"] == "oops" { "failed" } else { "diverged" };
        assert_eq!(row["state"], expected, "{row}");
        assert!(row["y"].is_null(), "the value before is not the result: {row}");
    }
}

#[test]
fn a_missing_metric_fails_with_the_rule_and_the_nearest_line() {
    let more = "[metrics.acc]\nobjective = \"maximize\"\nfrom = \"regex\"\nmatch = 'accuracy: (?P<value>[0-9.]+)'";
    let lab = Lab::with_study(&shell_study("[1, 2]", "echo epoch 1; echo Accuracy = 0.5", more));
    lab.expect(1, &["run", "study.toml"]);
    let status = lab.json(&["status", "study.toml", "--json"]);
    let reason = status["trials"][0]["reason"].as_str().unwrap();
    for part in ["metric `acc`", "accuracy: (?P<value>[0-9.]+)", "Accuracy = 0.5"] {
        assert!(reason.contains(part), "no `{part}` in {reason}");
    }
}

#[test]
fn a_setting_that_did_not_arrive_fails_the_trial() {
    let more = "[echo.x]\nmatch = 'x was (?P<value>\\S+)'";
    let script = "[ $x = 3 ] && x=4; [ $x = 5 ] || echo x was $x.0";
    let lab = Lab::with_study(&shell_study("[1, 3, 5]", script, more));
    lab.expect(1, &["run", "study.toml"]).says(&["`x` was 4.0", "one with 3", "did not say"]);
    assert_eq!(lab.states(), [("failed".to_owned(), 2), ("finished".to_owned(), 1)].into());
}

#[test]
fn a_file_of_an_earlier_run_is_not_taken_for_a_result() {
    let more = "[metrics.y]\nobjective = \"minimize\"\nfrom = \"json\"\nfile = \"out.json\"\npointer = \"/y\"";
    let lab = Lab::with_study(&shell_study("[1, 2]", ":", more));
    lab.write("out.json", "{\"y\": 3}");
    let end = lab.expect(1, &["run", "study.toml"]);
    assert!(end.stdout.contains("older than the trial"), "{end:#?}");
}

#[test]
fn metrics_test_shows_finds_and_near_misses() {
    let more = "[metrics.acc]\nobjective = \"maximize\"\nfrom = \"regex\"\nmatch = 'acc: (?P<value>[0-9.]+)'";
    let lab = Lab::with_study(&shell_study("[1, 2]", ":", more));
    lab.write("good.log", "start\nacc: 0.5\nacc: 0.75\n");
    lab.write("bad.log", "start\nAcc 0.5\n");
    let words = ["metrics", "test", "good.log", "--study", "study.toml"];
    let text = lab.expect(0, &words).stdout;
    assert!(text.contains("line 3: 0.75") && text.contains("-> 0.75"), "{text}");
    let words = ["metrics", "test", "bad.log", "--study", "study.toml", "--json"];
    let tried = lab.json(&words);
    assert_eq!(tried["schema"], "trainwright/metrics-test/1");
    let rules = tried["rules"].as_array().unwrap();
    let rule = rules.iter().find(|rule| rule["metric"] == "acc").unwrap();
    assert!(rule["picked"].is_null());
    assert_eq!(rule["near_misses"][0]["text"], "Acc 0.5");
}

#[test]
fn a_python_program_reports_with_its_own_json() {
    let there = std::process::Command::new("python3").arg("--version").output();
    if !there.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: no python3 here, so no Python program was run");
        return;
    }
    let code = "import json, os\nx = float(os.environ['x'])\n\
                with open(os.environ['TRAINWRIGHT_METRICS'], 'a') as file:\n\
                \x20   for step in range(3):\n\
                \x20       y = float('nan') if x == 3 and step == 1 else x * step\n\
                \x20       file.write(json.dumps({'step': step, 'y': y}) + '\\n')\n";
    let more = "[metrics.y]\nobjective = \"minimize\"\npick = \"max\"";
    let study = shell_study("[1, 2, 3]", "exec python3 train.py", more);
    let lab = Lab::with_study(&study);
    lab.write("train.py", code);
    lab.expect(0, &["run", "study.toml"]);
    for row in lab.rows() {
        let expected = row["x"].as_f64().filter(|x| *x < 3.0).map(|x| 2.0 * x);
        assert_eq!(row["y"].as_f64(), expected, "{row}");
        assert_eq!(row["state"] == "diverged", expected.is_none(), "{row}");
    }
}
