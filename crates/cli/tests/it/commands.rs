//! What every verb owes its user: help with an example, JSON with a schema, exit codes, plain text.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::program::{End, Lab, shell_study};

const VERBS: [&str; 23] = [
    "load",
    "machine",
    "stats",
    "queue",
    "init",
    "check",
    "run",
    "status",
    "logs",
    "stop",
    "export",
    "import",
    "analyze",
    "design",
    "report",
    "data",
    "data fetch",
    "train",
    "job",
    "metrics",
    "metrics test",
    "schema",
    "completions",
];

fn finished_lab() -> Lab {
    let script = "echo \"::metric {\\\"y\\\": $x$TRAINWRIGHT_REPLICATE}\"";
    let study = shell_study("[1, 2]", script, "[metrics.y]\nobjective = \"minimize\"")
        .replace("type = \"full\"", "type = \"full\"\nreplications = 2");
    let lab = Lab::with_study(&study);
    lab.expect(0, &["run", "study.toml"]);
    lab
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[track_caller]
fn check_keys(value: &Value, wanted: &[&str]) {
    let present = keys(value);
    let missing: Vec<&&str> = wanted.iter().filter(|key| !present.contains(**key)).collect();
    assert!(missing.is_empty(), "no {missing:?} among {present:?}");
}

#[test]
fn every_verb_has_help_with_an_example() {
    let lab = Lab::new();
    for verb in VERBS {
        let words: Vec<&str> = verb.split(' ').chain(["--help"]).collect();
        let help = lab.expect(0, &words).stdout;
        assert!(help.contains("Example"), "{verb}: {help}");
        assert!(help.contains(&format!("  trainwright {verb}")), "{verb}: {help}");
    }
    let all = lab.expect(0, &["--help"]).stdout;
    for verb in VERBS.iter().filter(|verb| !verb.contains(' ')) {
        assert!(all.contains(&format!("\n  {verb} ")), "`--help` does not list {verb}");
    }
}

#[test]
fn bad_arguments_exit_2() {
    let lab = Lab::new();
    for words in [["fly"].as_slice(), &["run"], &["check", "a", "b"], &["design", "fractional"]] {
        assert_eq!(lab.run(words).code, Some(2), "{words:?}");
    }
    lab.expect(2, &["check", "nowhere.toml"]).says(&["nowhere.toml"]);
    lab.write("study.toml", shell_study("[1, 2]", "echo", ""));
    lab.expect(2, &["metrics", "test", "no.log", "--study", "study.toml"]).says(&["no.log"]);
    lab.expect(2, &["import", "no.csv", "--study", "study.toml"]).says(&["no.csv"]);
    lab.expect(2, &["analyze", "--data", "no.csv", "--formula", "y ~ a"]).says(&["no.csv"]);
}

#[test]
fn json_carries_its_schema() {
    let lab = finished_lab();
    let cases = [
        ("check", "check study.toml --json"),
        ("run", "run study.toml --json"),
        ("status", "status study.toml --json"),
        ("logs", "logs study.toml 1 --json"),
        ("export", "export study.toml --format json"),
        ("analyze", "analyze study.toml --json"),
        ("report", "report study.toml --json"),
        ("design", "design full --levels 2,3 --json"),
    ];
    for (verb, words) in cases {
        let words: Vec<&str> = words.split(' ').collect();
        assert_eq!(lab.json(&words)["schema"], format!("trainwright/{verb}/1"), "{words:?}");
    }
}

#[test]
fn a_fault_shows_file_line_caret_and_help() {
    let text = shell_study("[1, 2]", "echo", "").replace("seed = 5", "sede = 5");
    let lab = Lab::with_study(&text);
    for verb in ["check", "run", "status", "export", "analyze", "report", "stop"] {
        let end = lab.expect(2, &[verb, "study.toml"]);
        end.says(&["study.toml:4:1", "sede = 5", "^^^^", "did you mean `seed`?"]);
        assert_eq!(end.stdout, "");
    }
    let text = shell_study("[1, 2]", "echo", "").replace("\"full\"", "\"fractional\"\nruns = 3");
    lab.write("study.toml", text);
    lab.expect(2, &["check", "study.toml"]).says(&["study.toml:9:8", "runs = 3", "^"]);
}

#[test]
fn all_faults_are_shown_at_once() {
    let text = shell_study("[1]", "echo {y}", "timeout = \"soon\"");
    let lab = Lab::with_study(&text);
    lab.expect(2, &["check", "study.toml"]).says(&["`x` has 1 level", "{y}", "soon"]);
}

#[test]
fn check_tells_what_will_run_and_touches_nothing() {
    let text = shell_study("[1, 2, 3]", "echo", "timeout = \"30m\"\nwarmup = 1")
        + "[budget]\nprice_per_hour = 2.0\n";
    let lab = Lab::with_study(&text);
    let preview = lab.json(&["check", "study.toml", "--json"]);
    check_keys(
        &preview,
        &["study", "design", "trials", "first_command", "hours", "price", "notes"],
    );
    assert_eq!(preview["trials"].as_array().unwrap().len(), 3);
    assert_eq!(preview["first_command"][0], "sh");
    assert_eq!(preview["hours"]["hours"], 2.0);
    assert_eq!(preview["price"], 4.0);
    let names: Vec<_> = std::fs::read_dir(lab.folder()).unwrap().flatten().collect();
    assert_eq!(names.len(), 1, "check left {names:?}");
}

#[test]
fn the_plan_of_a_seed_is_always_the_same() {
    let text = shell_study("[1, 2, 3, 4, 5]", "echo", "");
    let (a, b) = (Lab::with_study(&text), Lab::with_study(&text));
    let trials = |lab: &Lab| lab.json(&["check", "study.toml", "--json"])["trials"].clone();
    assert_eq!(trials(&a), trials(&b));
    b.write("study.toml", text.replace("seed = 5", "seed = 6"));
    assert_ne!(trials(&a), trials(&b));
}

#[test]
fn export_has_the_columns_of_the_contract() {
    let lab = finished_lab();
    let csv = lab.expect(0, &["export", "study.toml"]).stdout;
    let header = csv.lines().next().unwrap();
    assert_eq!(header, "trial,row,replicate,state,attempts,x,y,time");
    assert_eq!(csv.lines().count(), 5);
    let row = lab.rows().remove(0);
    assert_eq!(row.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(","), header);
    lab.expect(0, &["export", "study.toml", "-o", "t.csv"]);
    assert_eq!(lab.read("t.csv"), csv);
}

#[test]
fn a_fractional_design_is_that_of_the_books() {
    let words = ["design", "fractional", "--factors", "6", "--generators", "F=ABCDE", "--json"];
    let lab = Lab::new();
    let design = lab.json(&words);
    let wanted = [
        "factors",
        "rows",
        "generators",
        "defining_relation",
        "resolution",
        "word_length_pattern",
        "clear_two_factor",
        "aliases",
    ];
    check_keys(&design, &wanted);
    assert_eq!(design["resolution"], 6);
    assert_eq!(design["rows"].as_array().unwrap().len(), 32);
    assert_eq!(design["defining_relation"][0], "ABCDEF");
    assert_eq!(design["word_length_pattern"]["6"], 1);
    for row in design["rows"].as_array().unwrap() {
        let product: i64 =
            row.as_array().unwrap().iter().map(|sign| sign.as_i64().unwrap()).product();
        assert_eq!(product, 1, "{row}");
    }
    let by_runs = lab.json(&["design", "fractional", "--factors", "9", "--runs", "32", "--json"]);
    let letters: Vec<&str> =
        by_runs["factors"].as_array().unwrap().iter().flat_map(Value::as_str).collect();
    assert_eq!(letters.concat(), "ABCDEFGHJ", "I stands for the identity");
    assert_eq!(by_runs["resolution"], 4);
    lab.expect(2, &["design", "fractional", "--factors", "6", "--runs", "33"]).says(&["33"]);
}

#[test]
fn piped_output_has_no_escape_codes() {
    let lab = finished_lab();
    for words in ["run study.toml", "status study.toml", "analyze study.toml", "check study.toml"] {
        let words: Vec<&str> = words.split(' ').collect();
        let end = lab.expect(0, &words);
        assert!(!format!("{}{}", end.stdout, end.stderr).contains('\u{1b}'), "{end:?}");
    }
    lab.write("broken.toml", "schema = 1\nno = 1\n");
    let mut command = lab.command(&["check", "broken.toml"]);
    command.env("NO_COLOR", "1");
    let end = End::of(command);
    assert!(!end.stderr.contains('\u{1b}') && !end.stderr.is_empty(), "{end:?}");
}

/// `script` gives the program a terminal.
#[test]
fn no_color_is_kept_on_a_terminal_too() {
    let lab = Lab::new();
    lab.write("broken.toml", "schema = 1\nno = 1\n");
    let shown = |no_color: &str| {
        let mut command = std::process::Command::new("script");
        let program = env!("CARGO_BIN_EXE_trainwright");
        command.args(["-qec", &format!("'{program}' check broken.toml"), "/dev/null"]);
        command.current_dir(lab.folder()).env("NO_COLOR", no_color).env("TERM", "xterm");
        command.output().ok().map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    match (shown(""), shown("1")) {
        (Some(colour), Some(plain)) if plain.contains("unknown key") => {
            assert!(colour.contains('\u{1b}'), "{colour:?}");
            assert!(!plain.contains('\u{1b}'), "{plain:?}");
        }
        _ => eprintln!("SKIPPED: no `script` here, so no terminal to look at"),
    }
}

#[test]
fn logs_shows_what_a_trial_wrote() {
    let lab = finished_lab();
    assert!(lab.expect(0, &["logs", "study.toml", "1"]).stdout.starts_with("::metric {"));
    lab.expect(0, &["logs", "study.toml", "1", "--stderr"]).says(&["wrote nothing"]);
    std::fs::remove_dir_all(lab.path("trainwright.trials/demo/00001")).unwrap();
    lab.expect(2, &["logs", "study.toml", "1"]).says(&["demo/00001/stdout"]);
    lab.expect(2, &["logs", "study.toml", "99"]).says(&["no trial 99", "1 to 4"]);
}

#[test]
fn completions_and_schema_are_whole() {
    let lab = Lab::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = lab.expect(0, &["completions", shell]).stdout;
        assert!(script.contains("trainwright") && script.contains("analyze"), "{shell}");
    }
    let schema = lab.json(&["schema"]);
    check_keys(&schema["properties"], &["schema", "study", "factors", "design", "metrics"]);
}
