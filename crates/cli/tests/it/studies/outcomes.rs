//! How trials end, and what `run` says about it.

use std::fs;

use serde_json::json;

use crate::program::{End, Lab, is_alive, shell_study};

fn reason(lab: &Lab, trial: usize) -> String {
    let status = lab.json(&["status", "study.toml", "--json"]);
    status["trials"][trial - 1]["reason"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_failed_trial_shows_its_last_lines_and_the_others_go_on() {
    let script = "echo working; [ $x = 2 ] && { echo the disk of node 7 is gone >&2; exit 9; }; :";
    let lab = Lab::with_study(&shell_study("[1, 2, 3]", script, ""));
    let end = lab.expect(1, &["run", "study.toml"]);
    end.says(&["failed: exit code 9"]);
    assert!(end.stdout.contains("the disk of node 7 is gone"), "{end:#?}");
    assert_eq!(lab.states(), [("failed".to_owned(), 1), ("finished".to_owned(), 2)].into());
    let failed = lab.rows().iter().position(|row| row["state"] == "failed").unwrap() + 1;
    assert!(reason(&lab, failed).contains("the disk of node 7 is gone"));
    let number = failed.to_string();
    let log = lab.expect(0, &["logs", "study.toml", &number, "--stderr"]);
    assert_eq!(log.stdout, "the disk of node 7 is gone\n");
    // Failed trials stay failed until the user asks.
    lab.expect(1, &["run", "study.toml"]);
    assert_eq!(lab.rows()[failed - 1]["attempts"], 1);
    lab.expect(1, &["run", "study.toml", "--retry-failed"]);
    assert_eq!(lab.rows()[failed - 1]["attempts"], 2);
}

#[test]
fn a_missing_program_fails_with_its_name() {
    let study = shell_study("[1, 2]", "", "").replace("\"sh\"", "\"no-such-trainer\"");
    let lab = Lab::with_study(&study);
    lab.expect(1, &["run", "study.toml"]).says(&["cannot start `no-such-trainer`"]);
    assert_eq!(lab.states(), [("failed".to_owned(), 2)].into());
    lab.expect(0, &["logs", "study.toml", "1"]).says(&["wrote nothing"]);
}

#[test]
fn a_missing_workdir_fails_with_its_path() {
    let lab = Lab::with_study(&shell_study("[1, 2]", "pwd", "workdir = \"model-{x}\""));
    lab.write("model-1/here", "");
    lab.expect(1, &["run", "study.toml"]).says(&["model-2", "`workdir`"]);
    assert_eq!(lab.states(), [("failed".to_owned(), 1), ("finished".to_owned(), 1)].into());
    let finished = lab.rows().iter().position(|row| row["x"] == 1).unwrap() + 1;
    let log = lab.expect(0, &["logs", "study.toml", &finished.to_string()]);
    assert!(log.stdout.ends_with("/model-1\n"), "{log:?}");
}

#[test]
fn a_trial_over_its_timeout_fails_and_is_gone() {
    let script = "[ $x = 1 ] || { echo $$ > pid; echo still here; sleep 600; }";
    let lab = Lab::with_study(&shell_study("[1, 2]", script, "timeout = \"1s\""));
    lab.expect(1, &["run", "study.toml"]).says(&["took longer than its timeout of 1 s"]);
    assert_eq!(lab.states(), [("failed".to_owned(), 1), ("finished".to_owned(), 1)].into());
    let pid = lab.lines("pid")[0][0].parse().unwrap();
    assert!(!is_alive(pid));
}

#[test]
fn only_listed_exit_codes_get_another_attempt() {
    let script = "echo $x >> ran; [ $x = 1 ] && exit 75; [ $x = 2 ] && exit 1; \
                  [ $x = 3 ] && [ $(grep -c 3 ran) -lt 3 ] && kill -9 $$; :";
    let more = "retries = 2\nretry_on = [75, 137]";
    let lab = Lab::with_study(&shell_study("[1, 2, 3, 4]", script, more));
    lab.expect(1, &["run", "study.toml"]).says(&["trying again"]);
    let mut seen: Vec<_> = lab
        .rows()
        .iter()
        .map(|row| json!([row["x"], row["state"], row["attempts"]]).to_string())
        .collect();
    seen.sort();
    let expected =
        ["[1,\"failed\",3]", "[2,\"failed\",1]", "[3,\"finished\",3]", "[4,\"finished\",1]"];
    assert_eq!(seen, expected);
    assert_eq!(lab.lines("ran").len(), 8);
}

#[test]
fn warm_ups_run_first_and_are_nowhere_in_the_results() {
    let lab =
        Lab::with_study(&shell_study("[1, 2]", "echo $TRAINWRIGHT_TRIAL >> ran", "warmup = 3"));
    lab.expect(0, &["run", "study.toml"]).says(&["warm-up 3 of 3"]);
    let ran: Vec<String> = lab.lines("ran").concat();
    assert_eq!(ran, ["0", "0", "0", "1", "2"]);
    assert_eq!(lab.rows().len(), 2);
    lab.expect(0, &["run", "study.toml"]);
    assert_eq!(lab.lines("ran").len(), 5, "a finished study needs no warm-up");
}

#[test]
fn prepare_runs_before_each_trial_and_its_failure_fails_the_trial() {
    let more = "prepare = 'echo prepare {x} >> ran; [ {x} != 2 ] || { echo no cache; exit 4; }'";
    let lab = Lab::with_study(&shell_study("[1, 2, 3]", "echo trial $x >> ran", more));
    lab.expect(1, &["run", "study.toml"]).says(&["the prepare command", "exit code 4"]);
    assert_eq!(lab.states(), [("failed".to_owned(), 1), ("finished".to_owned(), 2)].into());
    let ran: Vec<String> = lab.lines("ran").iter().map(|words| words.join(" ")).collect();
    for x in ["1", "3"] {
        let at = ran.iter().position(|line| *line == format!("prepare {x}")).unwrap();
        assert_eq!(ran[at + 1], format!("trial {x}"));
    }
    assert!(!ran.contains(&"trial 2".to_owned()));
    let failed = lab.rows().iter().position(|row| row["x"] == 2).unwrap() + 1;
    assert!(reason(&lab, failed).contains("no cache"));
}

#[test]
fn words_of_a_conditional_factor_are_left_out_where_it_does_not_exist() {
    let study = "schema = 1\n[study]\nname = \"demo\"\n[factors.opt]\nlevels = [\"sgd\", \"adam\"]\n\
        [factors.momentum]\nlevels = [0.5, 0.9]\nwhen = \"opt == 'sgd'\"\n[design]\ntype = \"full\"\n\
        [run]\nenv.MOMENTUM = \"{momentum}\"\n\
        command = [\"sh\", \"-c\", 'echo \"${MOMENTUM-unset}\" \"$@\" >> ran', \"sh\", \"{opt}\", [\"-m\", \"{momentum}\"]]\n\
        [metrics.time]\nfrom = \"wall\"\nunit = \"s\"\n";
    let lab = Lab::with_study(study);
    lab.expect(0, &["run", "study.toml"]);
    let mut ran: Vec<String> = lab.lines("ran").iter().map(|words| words.join(" ")).collect();
    ran.sort();
    assert_eq!(ran, ["0.5 sgd -m 0.5", "0.9 sgd -m 0.9", "unset adam"]);
    let without = lab.rows().into_iter().find(|row| row["opt"] == "adam").unwrap();
    assert!(without["momentum"].is_null());
}

#[test]
fn the_protocol_and_the_placeholders_agree() {
    let script = "[ {trial} = $TRAINWRIGHT_TRIAL ] && [ {seed} = $TRAINWRIGHT_SEED ] && \
        [ {replicate} = $TRAINWRIGHT_REPLICATE ] && [ \"{trial.dir}\" = \"$TRAINWRIGHT_DIR\" ] && \
        [ $TRAINWRIGHT_STUDY = demo ] && [ ! -e $TRAINWRIGHT_STOP_FILE ] && \
        grep -q \"\\\"x\\\": *$x\" $TRAINWRIGHT_PARAMS && \
        echo '{\"y\": {x}}' >> $TRAINWRIGHT_METRICS";
    let lab =
        Lab::with_study(&shell_study("[1, 2]", script, "[metrics.y]\nobjective = \"minimize\""));
    lab.expect(0, &["run", "study.toml"]);
    let rows = lab.rows();
    assert!(rows.iter().all(|row| row["y"].as_f64() == row["x"].as_f64()), "{rows:?}");
}

#[test]
fn a_study_runs_in_its_own_folder_wherever_it_is_called_from() {
    let lab = Lab::new();
    lab.write("my süße 'study'/study.toml", shell_study("[1, 2]", "cat here", ""));
    lab.write("my süße 'study'/here", "found");
    fs::create_dir(lab.path("elsewhere")).unwrap();
    let study = "../my süße 'study'/study.toml";
    for words in [["run", study].as_slice(), &["status", study], &["logs", study, "2"]] {
        let mut command = lab.command(words);
        command.current_dir(lab.path("elsewhere"));
        let end = End::of(command);
        assert_eq!(end.code, Some(0), "{words:?}: {end:?}");
        assert_eq!(end.stdout == "found", words[0] == "logs", "{end:?}");
    }
    assert!(lab.path("my süße 'study'/trainwright.db").exists());
    assert_eq!(fs::read_dir(lab.path("elsewhere")).unwrap().count(), 0);
}

#[test]
fn levels_reach_the_command_letter_by_letter() {
    let levels = ["a b", "{seed}", "$(touch ran-it)", "ü'\"\n", "", "--flag", "back\\slash"];
    let study = format!(
        "schema = 1\n[study]\nname = \"demo\"\n[factors.s]\nlevels = {levels:?}\n\
         [design]\ntype = \"full\"\n[run]\n\
         command = [\"sh\", \"-c\", 'printf %s \"$1\" > $TRAINWRIGHT_DIR/level', \"sh\", \"{{s}}\"]\n\
         [metrics.time]\nfrom = \"wall\"\nunit = \"s\"\n"
    );
    let lab = Lab::with_study(&study);
    lab.expect(0, &["run", "study.toml"]);
    let rows = lab.rows();
    for row in &rows {
        let file = format!("trainwright.trials/demo/{:05}/level", row["trial"].as_u64().unwrap());
        assert_eq!(lab.read(&file), row["s"].as_str().unwrap(), "{row}");
    }
    assert_eq!(rows.len(), levels.len());
    assert!(!lab.path("ran-it").exists());
}
