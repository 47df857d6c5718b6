//! What is said of metrics and echoes, taken or refused.

use super::*;
use crate::file::check::tests::{check, faults_of, taken, text_with};
use crate::{Direction, Expression};

/// The metric `m` with these lines.
#[track_caller]
fn refused(lines: &str, expected: &[&str]) {
    check("[metrics.m]\n", &format!("[metrics.m]\n{lines}\n"), expected);
}

fn metric(lines: &str) -> Metric {
    taken("[metrics.m]\n", &format!("[metrics.m]\n{lines}\n")).metrics[0].clone()
}

#[test]
fn a_study_measures_something() {
    check(
        "[metrics.m]",
        "[metrics]",
        &["10:2: the study has no metrics \
           (add a table such as [metrics.time] with from = \"wall\" and unit = \"s\")"],
    );
}

#[test]
fn a_metric_that_says_nothing_is_reported_under_its_name() {
    let own = metric("");
    assert_eq!(own.source, MetricSource::Reported { key: "m".to_owned() });
    assert_eq!((own.pick, own.unit, own.range, own.objective), (Pick::Last, None, None, None));
}

#[test]
fn sources_read_with_their_keys_or_with_the_name_of_the_metric() {
    let text = |text: &str| text.to_owned();
    let of = |lines: &str, source: MetricSource| {
        assert_eq!(metric(lines).source, source, "{lines}");
    };
    of("key = \"k\"", MetricSource::Reported { key: text("k") });
    of("from = \"jsonl\"", MetricSource::Jsonl { key: text("m") });
    of("from = \"stdout\"\nkey = \"k\"", MetricSource::Stdout { key: text("k") });
    of("from = \"wall\"\nunit = \"min\"", MetricSource::Wall);
    of(
        "from = \"csv\"\nfile = \"a.csv\"",
        MetricSource::Csv { file: text("a.csv"), column: text("m") },
    );
    of(
        "from = \"tensorboard\"\ntag = \"loss/val\"",
        MetricSource::Tensorboard { file: text("."), tag: text("loss/val") },
    );
    of(
        "from = \"json\"\nfile = \"a.json\"\npointer = \"\"",
        MetricSource::Json { file: text("a.json"), pointer: String::new() },
    );
    let expr = Expression::parse("a + 1").unwrap();
    of("expr = \"a + 1\"", MetricSource::Expr { expr });
}

#[test]
fn a_pattern_is_searched_in_the_text_that_the_study_names() {
    let of = |line: &str| {
        let lines = format!("from = \"regex\"\nmatch = 'm=(?P<value>.*)'\n{line}");
        match metric(&lines).source {
            MetricSource::Regex { file, .. } => file,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(of(""), TextFile::Stdout);
    assert_eq!(of("file = \"stderr\""), TextFile::Stderr);
    assert_eq!(of("file = \"./stdout\""), TextFile::Path("./stdout".to_owned()));
}

#[test]
fn what_a_source_cannot_do_without_is_told_with_an_example() {
    let at = "10:10: `m` needs";
    refused(
        "from = \"regex\"",
        &[&format!("{at} `match` (such as 'accuracy: (?P<value>[0-9.]+)')")],
    );
    let json = format!("{at} `file` and `pointer` (such as \"/eval/accuracy\")");
    refused("from = \"json\"", &[&json]);
    refused("from = \"json\"\nfile = \"a.json\"", &[&json]);
    refused("from = \"json\"\npointer = \"/a\"", &[&json]);
    refused("from = \"csv\"", &[&format!("{at} `file` (such as \"results.csv\")")]);
    refused("from = \"expr\"", &[&format!("{at} `expr` (such as \"time / accuracy\")")]);
}

#[test]
fn a_pointer_starts_at_the_root() {
    refused(
        "from = \"json\"\nfile = \"a.json\"\npointer = \"eval\"",
        &["13:11: the pointer `eval` does not start with `/`"],
    );
}

/// Keys with a value that reads, and the words of `from` that they go with; `-` is none.
const KEYS: [(&str, &str, &str); 7] = [
    ("key", "\"k\"", "- jsonl stdout"),
    ("file", "\"f\"", "regex json csv tensorboard"),
    ("match", "'(?P<value>.)'", "regex"),
    ("pick", "\"max\"", "- jsonl stdout regex csv tensorboard"),
    ("pointer", "\"/p\"", "json"),
    ("column", "\"c\"", "csv"),
    ("tag", "\"t\"", "tensorboard"),
];

#[test]
fn each_key_goes_with_its_sources_and_with_no_other() {
    for from in ["-", "wall", "jsonl", "stdout", "regex", "json", "csv", "tensorboard", "expr"] {
        for (key, value, own) in KEYS {
            let from_line = if from == "-" { String::new() } else { format!("from = \"{from}\"") };
            let lines = format!("[metrics.m]\n{from_line}\n{key} = {value}");
            let faults = faults_of(&text_with("[metrics.m]", &lines));
            let words = format!(
                ": `{key}` does not go with where `m` is read (change `from`, or leave it out)"
            );
            let refused = faults.iter().any(|fault| fault.ends_with(&words));
            let fits = own.split(' ').any(|own| own == from);
            assert_eq!(refused, !fits, "{from} and {key}: {faults:?}");
        }
    }
}

#[test]
fn a_formula_beside_another_source_is_refused() {
    refused(
        "from = \"jsonl\"\nexpr = \"a\"",
        &["12:8: `expr` does not go with where `m` is read (change `from`, or leave it out)"],
    );
}

#[test]
fn time_and_money_need_a_unit_whatever_they_are_called() {
    for word in NEED_A_UNIT {
        for name in [word.to_owned(), format!("train_{word}"), format!("{word}_of_day")] {
            let text = text_with("[metrics.m]", &format!("[metrics.{name}]"));
            let words = format!(
                "10:10: `{name}` has no unit; time and money need one \
                 (add unit = \"s\", or the unit that it has)"
            );
            assert_eq!(faults_of(&text), [words]);
            assert_eq!(faults_of(&(text + "unit = \"any\"\n")), Vec::<String>::new());
        }
    }
    // Part of a word is no word.
    taken("[metrics.m]", "[metrics.timeouts]");
}

#[test]
fn wall_time_is_counted_in_a_unit_of_time() {
    for unit in ["us", "µs", "ms", "s", "seconds", "min", "minutes", "h", "hours"] {
        metric(&format!("from = \"wall\"\nunit = \"{unit}\""));
    }
    refused(
        "from = \"wall\"\nunit = \"days\"",
        &["12:8: `days` is no unit of time (use us, ms, s, min or h)"],
    );
}

#[test]
fn what_the_kernel_measures_is_no_metric_of_the_study() {
    for name in KERNEL_FIGURES {
        let words =
            format!("10:10: `{name}` is always measured (choose another name for this metric)");
        check("[metrics.m]", &format!("[metrics.{name}]"), &[&words]);
    }
}

#[test]
fn a_range_of_belief_has_a_smaller_and_a_larger_end() {
    let words = "11:9: the range of `m` is empty (write the smaller end first, such as [0, 1])";
    for bad in ["[1, 1]", "[2, 1]", "[0, inf]", "[nan, 1]"] {
        refused(&format!("range = {bad}"), &[words]);
    }
    assert_eq!(metric("range = [-1, 0.5]").range, Some((-1.0, 0.5)));
    assert_eq!(metric("objective = \"maximize\"").objective, Some(Direction::Maximize));
}

#[test]
fn a_formula_gives_a_number() {
    refused("expr = \"b * 2\"", &["11:8: `*` in `b * 2` wants numbers"]);
    refused("expr = \"a < 2\"", &["11:8: `the whole` in `a < 2` wants a number"]);
    // What is no number at the first levels alone may be one at others.
    metric("expr = \"1 / (a - 1)\"");
}

#[test]
fn a_formula_may_use_factors_other_metrics_and_the_kernels_figures() {
    metric("expr = \"n * a + wall_s / cpu_s\"\n[metrics.n]\n[analysis]\nresponse = \"m\"");
}

#[test]
fn each_unknown_name_of_a_formula_is_told() {
    let there = "(there are m, a, b, wall_s, cpu_s, peak_memory_bytes, disk_read_bytes, \
                 disk_write_bytes)";
    refused(
        "expr = \"loss + wall + accuracy\"",
        &[
            &format!("11:8: `accuracy` is no metric and no factor {there}"),
            &format!("11:8: `loss` is no metric and no factor {there}"),
            "11:8: `wall` is no metric and no factor (did you mean `wall_s`?)",
        ],
    );
}

#[test]
fn files_with_a_name_of_their_own_are_shared_by_no_two_trials() {
    let of = |lines: &str| {
        let text = format!("[engine]\nslots = 2\n[metrics.m]\n{lines}");
        faults_of(&text_with("[metrics.m]", &text))
    };
    let shared = |file: &str| {
        format!(
            "14:8: 2 trials at a time would share the file `{file}` \
             (put {{trial.dir}} or {{trial}} in its name, and in the command's)"
        )
    };
    assert_eq!(of("from = \"csv\"\nfile = \"a.csv\""), [shared("a.csv")]);
    assert_eq!(of("from = \"json\"\nfile = \"a.json\"\npointer = \"/m\""), [shared("a.json")]);
    assert_eq!(of("from = \"csv\"\nfile = \"{trial}.csv\""), Vec::<String>::new());
    // The engine gives each trial its own output.
    let output = "from = \"regex\"\nfile = \"stderr\"\nmatch = '(?P<value>.)'";
    assert_eq!(of(output), Vec::<String>::new());
}

#[test]
fn an_echo_reads_a_factor_back() {
    let of = |echo: &str| text_with("[metrics.m]", &format!("[echo.{echo}\n[metrics.m]"));
    let study = crate::Study::from_text(&of("a]\nmatch = 'a=(?P<value>.*)'")).unwrap();
    let pattern = Pattern::parse("a=(?P<value>.*)").unwrap();
    let expected = Echo { factor: "a".to_owned(), file: TextFile::Stdout, pattern };
    assert_eq!(study.echoes, [expected]);
    assert_eq!(
        faults_of(&of("c]\nmatch = '(?P<value>.)'")),
        ["10:7: `c` is no factor (there are a, b)"]
    );
    assert_eq!(
        faults_of(&of("a]\nmatch = 'a=(.*)'")),
        ["11:9: bad pattern: the pattern has no group `(?P<value>...)` \
          (name the group that holds the value, such as 'loss=(?P<value>[0-9.]+)')"]
    );
}
