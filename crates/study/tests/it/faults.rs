use trainwright_study::{EngineSpec, Study};

use crate::good::{COMMAND_STUDY, JOB_STUDY};

/// The study with one replacement must be refused with exactly these lines:
/// `line:column: message (help)`.
#[track_caller]
fn check(base: &str, from: &str, to: &str, expected: &[&str]) {
    let text = base.replacen(from, to, 1);
    assert_ne!(text, base, "`{from}` is not in the study");
    let error = Study::from_text(&text).expect_err("the study was accepted").to_string();
    let lines: Vec<&str> =
        error.lines().map(|line| line.strip_prefix("study.toml:").unwrap_or(line)).collect();
    assert_eq!(lines, expected, "{from} -> {to}");
}

#[track_caller]
fn check_command(from: &str, to: &str, expected: &[&str]) {
    check(COMMAND_STUDY, from, to, expected);
}

#[track_caller]
fn check_job(from: &str, to: &str, expected: &[&str]) {
    check(JOB_STUDY, from, to, expected);
}

#[test]
fn unknown_keys_get_a_guess() {
    check_command(
        "replications",
        "replicatons",
        &["12:1: unknown key `replicatons` (did you mean `replications`?)"],
    );
    check_command(
        "scale = \"log\"",
        "color = \"red\"",
        &[
            "7:1: unknown key `color` (there are before, hard_to_change, kind, levels, range, scale, when)",
        ],
    );
    check_command("[run]", "[ruin]", &["13:2: unknown key `ruin` (did you mean `run`?)"]);
}

#[test]
fn wrong_types_and_broken_toml_are_shown_in_place() {
    check_command("seed = 7", "seed = \"x\"", &["4:8: invalid type: string \"x\", expected u64"]);
    check_command(
        "seed = 7",
        "seed = ",
        &["4:8: string values must be quoted, expected literal string"],
    );
    check_command("schema = 1", "schema = 2", &["1:10: this program reads schema 1, not 2"]);
    check_command(
        "type = \"full\"",
        "type = \"taguchi\"",
        &[
            "11:8: unknown variant `taguchi`, expected one of `one-factor`, `full`, `fractional`, `plackett-burman`, `central-composite`, `box-behnken`, `latin-hypercube`, `sobol`, `d-optimal`, `mixed`, `table`",
        ],
    );
    check_command(
        "name = \"demo\"\n",
        "",
        &["2:1: missing field `name` (add the key or table name)"],
    );
}

#[test]
fn placeholders_are_strict() {
    check_command(
        "\"{lr}\"",
        "\"{rate}\"",
        &[
            "5:10: the command never uses the factor `lr` (write {lr} where its value belongs, or {params} for a JSON file with all)",
            "14:43: nothing fills the placeholder {rate} (there are lr, batch, seed, trial, replicate, trial.dir, params)",
        ],
    );
    check_command(
        "levels = [32, 256]",
        "levels = [32, 256]\nwhen = \"lr < 0.005\"",
        &[
            "15:51: `batch` does not exist in every configuration (put its words in a list of their own: [\"--batch\", \"{batch}\"])",
        ],
    );
}

#[test]
fn expressions_are_shown_at_the_wrong_letter() {
    check_command(
        "time / (accuracy * 100)^2",
        "time / (accuracy * 100",
        &[
            "24:31: bad expression: `)` is missing at the end (expressions know + - * / ^, comparisons, and or not, log exp sqrt abs min max)",
        ],
    );
    check_command(
        "time / (accuracy * 100)^2",
        "time / acuracy",
        &["24:8: `acuracy` is no metric and no factor (did you mean `accuracy`?)"],
    );
    check_command("time / (accuracy * 100)^2", "cost * 2", &["24:8: `cost` depends on itself"]);
    check_command(
        "objective = \"minimize\"",
        "objective = \"minimize\"\n[[constraint]]\nexpr = \"lr * batch\"",
        &["27:8: `the whole` in `lr * batch` wants a condition (write a comparison)"],
    );
}

#[test]
fn only_formulas_in_a_circle_are_named_and_long_chains_are_checked_at_once() {
    check_command(
        "expr = \"time / (accuracy * 100)^2\"",
        "expr = \"a + time\"\n[metrics.a]\nexpr = \"b\"\n[metrics.b]\nexpr = \"a * 2\"",
        &["26:8: `a` depends on itself", "28:8: `b` depends on itself"],
    );
    // Every formula names the two before it: following each way apart would take for ever.
    let mut text = COMMAND_STUDY.replace("[metrics.cost]", "[metrics.m0]\n[metrics.m1]\n");
    text = text.replace("expr = \"time / (accuracy * 100)^2\"\nobjective = \"minimize\"\n", "");
    for k in 2..400 {
        text += &format!("[metrics.m{k}]\nexpr = \"m{} + m{}\"\n", k - 1, k - 2);
    }
    assert!(Study::from_text(&(text + "[analysis]\nresponse = \"m399\"\n")).is_ok());
}

#[test]
fn factors_need_levels_that_differ() {
    check_command(
        "[32, 256]",
        "[32]",
        &[
            "9:10: `batch` has 1 level, a factor needs 2 (move a constant into [job] or the command)",
        ],
    );
    check_command("[32, 256]", "[32, 32.0]", &["9:15: level 32 of `batch` is there twice"]);
    check_command(
        "[32, 256]",
        "[32, \"big\"]",
        &["9:10: `batch` mixes numbers and texts (write all levels as numbers or all as texts)"],
    );
    check_command(
        "[0.001, 0.01]",
        "[0, 0.01]",
        &[
            "6:11: level 0 of `lr` has no place on a log scale (leave `scale` out, or use levels above 0)",
        ],
    );
    check_command(
        "levels = [32, 256]",
        "range = { from = 256, to = 32 }",
        &[
            "9:1: the range of `batch` from 256 to 32 is empty (write numbers, the smaller first: range = { from = 0.001, to = 0.1 })",
        ],
    );
    check_command(
        "levels = [0.001, 0.01]",
        "range = { from = 0, to = 0.1 }",
        &["6:1: 0 of `lr` has no place on a log scale (leave `scale` out, or begin above 0)"],
    );
}

#[test]
fn metrics_need_units_patterns_and_a_response() {
    check_command(
        "unit = \"s\"\n",
        "",
        &[
            "16:10: `time` has no unit; time and money need one (add unit = \"s\", or the unit that it has)",
        ],
    );
    check_command(
        "unit = \"s\"",
        "unit = \"apples\"",
        &["18:8: `apples` is no unit of time (use us, ms, s, min or h)"],
    );
    check_command(
        "(?P<value>[0-9.]+)",
        "([0-9.]+)",
        &[
            "21:9: bad pattern: the pattern has no group `(?P<value>...)` (name the group that holds the value, such as 'loss=(?P<value>[0-9.]+)')",
        ],
    );
    check_command(
        "range = [0, 1]",
        "range = [1, 0]",
        &["22:9: the range of `accuracy` is empty (write the smaller end first, such as [0, 1])"],
    );
    check_command(
        "objective = \"minimize\"",
        "",
        &["1:1: `analysis.response` is missing (name one of time, accuracy, cost)"],
    );
    check_command(
        "objective = \"minimize\"",
        "[analysis]\nresponse = \"cots\"",
        &["26:12: the response `cots` is no metric (did you mean `cost`?)"],
    );
}

#[test]
fn trials_at_the_same_time_may_not_share_a_result_file() {
    let text = COMMAND_STUDY
        .replace("from = \"regex\"", "from = \"regex\"\nfile = \"out.log\"")
        .replace("[metrics.time]", "[engine]\nslots = 2\n[metrics.time]");
    let error = Study::from_text(&text).unwrap_err().to_string();
    let expected = "study.toml:23:8: 2 trials at a time would share the file `out.log` \
                    (put {trial.dir} or {trial} in its name, and in the command's)";
    assert_eq!(error, expected);
    let own = text.replace("out.log", "{trial.dir}/out.log");
    assert!(Study::from_text(&own).is_ok());
}

#[test]
fn keys_of_another_design_are_refused() {
    let of = |design: &str, expected: &[&str]| {
        check_command("type = \"full\"", design, expected);
    };
    of(
        "type = \"full\"\nface = \"inscribed\"\nstarts = 3",
        &[
            "12:8: `face` does not go with this type of design (leave it out)",
            "13:10: `starts` does not go with this type of design (leave it out)",
        ],
    );
    of("type = \"sobol\"", &["10:2: a Sobol design needs runs (add runs = 16)"]);
    of(
        "type = \"d-optimal\"\nruns = 6\ncandidates = \"none.csv\"",
        &["13:14: cannot read `none.csv`: a text alone has no folder"],
    );
    of(
        "type = \"box-behnken\"\ncenter_points = [2, 3]",
        &[
            "12:17: two numbers of centre points are for a central composite design (write one number)",
        ],
    );
    of(
        "type = \"full\"\nblocks = 2\nblock_generators = [\"AB\"]",
        &["12:10: `blocks` and `block_generators` are both there (leave one of them out)"],
    );
}

#[test]
fn a_cluster_needs_a_master_and_only_a_cluster_has_one() {
    let help = "(write kind = \"spark\" and a master such as \"spark://host:7077\")";
    for (keys, message) in [
        ("kind = \"spark\"", "14:8: the Spark engine needs a `master`"),
        ("master = \"local[2]\"", "14:10: `master` is for the Spark engine"),
        ("conf = { a = \"1\" }", "14:1: `conf` is for the Spark engine"),
    ] {
        let expected = format!("{message} {help}");
        check_command("[run]", &format!("[engine]\n{keys}\n[run]"), &[&expected]);
    }
    let keys =
        "[engine]\nkind = \"spark\"\nmaster = \"yarn\"\nslots = 3\nconf = { a = \"1\" }\n[run]";
    let study = Study::from_text(&COMMAND_STUDY.replacen("[run]", keys, 1)).unwrap();
    let EngineSpec::Spark(spark) = &study.engine else { panic!("{:?}", study.engine) };
    assert_eq!((spark.master.as_str(), spark.conf["a"].as_str()), ("yarn", "1"));
    assert_eq!(study.run.slots, 3);
}

#[test]
fn unknown_strategies_are_refused() {
    check_job(
        "network = \"mlp\"",
        "network = \"mlp\"\nstrategy = \"mirror\"",
        &[
            "14:12: no such value: `mirror`, expected one of `one-device`, `mirrored`, `multi-worker`, `parameter-server`, `local-sgd`",
        ],
    );
    check_job(
        "[\"sgd\", \"adam\"]",
        "[\"sgd\", \"lion\"]",
        &[
            "7:18: no such value: `lion`, expected one of `sgd`, `momentum`, `nesterov`, `adam`, `adamw`, `adagrad`, `ftrl`",
        ],
    );
}

#[test]
fn a_job_knows_its_keys() {
    check_job(
        "factors.neurons",
        "factors.neurones",
        &["4:10: the job does not know the factor `neurones` (did you mean `neurons`?)"],
    );
    check_job(
        "network = \"mlp\"",
        "network = \"mlp\"\nneurons = 5",
        &["14:11: `neurons` is both a factor and a key of [job] (leave it out of [job])"],
    );
    check_job(
        "network = \"mlp\"\n",
        "",
        &[
            "12:2: [job] has no `network` (such as network = \"mlp\" and data = \"fashion-mnist-sample\")",
        ],
    );
    check_job(
        "[job]",
        "[run]\ncommand = [\"true\"]\n[job]",
        &[
            "13:11: the study has both [job] and a command (keep [job] for the built-in trainer or `command` for your own)",
        ],
    );
}

#[test]
fn table_designs_name_the_bad_cell() {
    check_command(
        "type = \"full\"",
        "type = \"table\"\nrows = [[0.001, 32], [0.01, 64]]",
        &["12:29: 64 is no level of `batch` (its levels are 32, 256)"],
    );
    check_command(
        "type = \"full\"",
        "type = \"table\"\nrows = [[0.001]]",
        &["12:9: row 1 has 1 cells for 2 factors"],
    );
    check_command(
        "type = \"full\"",
        "type = \"full\"\nruns = 4",
        &["12:8: `runs` does not go with this type of design (leave it out)"],
    );
}

#[test]
fn a_study_name_is_short_enough_for_a_folder() {
    let long = "n".repeat(201);
    check_command(
        "\"demo\"",
        &format!("\"{long}\""),
        &["3:8: the study's name has 201 bytes (200 are enough for the folder that it names)"],
    );
    assert!(Study::from_text(&COMMAND_STUDY.replace("demo", &long[..200])).is_ok());
}

#[test]
fn control_characters_are_refused_at_their_place() {
    let words = "the control character U+0000 cannot stand here (leave it out)";
    check_command("\"train.py\"", "\"tr\\u0000.py\"", &[&format!("14:23: {words}")]);
    let of = |line: &str, place: &str| {
        let expected = format!("{place}: {words}");
        check_command("timeout = \"20m\"", line, &[&expected]);
    };
    of("env.A = \"\\u0000\"", "15:9");
    of("workdir = \"a\\u0000\"", "15:11");
    of("prepare = \"sync\\u0000\"", "15:11");
    check_command(
        "timeout = \"20m\"",
        "env.\"A=B\" = \"1\"",
        &["15:13: `A=B` cannot name a variable"],
    );
    check_command(
        "[32, 256]",
        "[\"a\", \"b\\u001b\"]",
        &["9:16: the control character U+001B cannot stand here (leave it out)"],
    );
}

#[test]
fn metrics_are_not_named_like_columns_of_an_export() {
    for name in ["state", "trial", "row", "replicate", "attempts", "block", "whole_plot"] {
        let expected = format!(
            "23:10: `{name}` has a meaning of its own (choose another name for this metric)"
        );
        let text = format!("[metrics.{name}]\n[metrics.cost]");
        check_command("[metrics.cost]", &text, &[&expected]);
    }
    check_command(
        "[metrics.cost]",
        "[metrics.lr]\n[metrics.cost]",
        &["23:10: `lr` is already a factor"],
    );
}

#[test]
fn a_preparation_has_a_program() {
    check_command(
        "timeout = \"20m\"",
        "prepare = []",
        &["15:11: `prepare` has no program (begin with the program, or leave it out)"],
    );
}

#[test]
fn the_value_from_before_a_factor_is_one_of_its_levels() {
    check_command(
        "levels = [32, 256]",
        "levels = [32, 256]\nbefore = 64",
        &["10:10: 64 is no level of `batch` (its levels are 32, 256)"],
    );
}
