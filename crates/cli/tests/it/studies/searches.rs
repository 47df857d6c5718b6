//! Searches, run by the program or driven from outside.

use serde_json::{Value, json};

use crate::program::Lab;

/// A study whose objective is a formula of its factors; `more` joins the search.
fn study(more: &str) -> String {
    format!(
        "schema = 1\n[study]\nname = \"hunt\"\nseed = 4\n\
         [factors.a]\nrange = {{ from = -5.0, to = 10.0 }}\n\
         [factors.b]\nrange = {{ from = 0, to = 15 }}\n\
         [factors.kind]\nlevels = [\"x\", \"y\"]\n\
         [[constraint]]\nexpr = \"a + b <= 20\"\n\
         [search]\nmethod = \"bayesian\"\n{more}\n\
         [run]\ncommand = [\"awk\", \"-v\", \"a={{a}}\", \"-v\", \"b={{b}}\", \"-v\", \"k={{kind}}\",\n\
         '''BEGIN {{ if (k == \"y\" && b > 12) exit 3\n\
         printf \"::metric {{\\\"loss\\\": %.6f}}\\n\", 1 + (a - 3) ^ 2 + (b - 4) ^ 2 / 4 + (k == \"x\") }}''']\n\
         [metrics.loss]\nfrom = \"stdout\"\nobjective = \"minimize\"\n"
    )
}

fn configurations(lab: &Lab) -> Vec<Value> {
    let of = |row: &Value| json!([row["trial"], row["a"], row["b"], row["kind"], row["state"]]);
    lab.rows().iter().map(of).collect()
}

#[test]
fn a_search_finds_the_best_and_explains_itself() {
    let lab = Lab::with_study(&study("budget = { trials = 30 }"));
    let found = lab.run(&["search", "study.toml", "--json"]);
    let found: Value = serde_json::from_str(&found.stdout).unwrap();
    assert_eq!(found["stop_reason"]["reason"], "trials-spent");
    assert_eq!(found["trials"]["total"], 30);
    let best = &found["best"];
    assert_eq!(best["configuration"]["kind"], "y");
    assert!(best["values"]["loss"].as_f64().unwrap() < 1.5, "{best}");
    let importances = found["importances"].as_array().unwrap();
    let share = |name: &str| {
        let own = importances.iter().find(|own| own["factors"] == json!([name])).unwrap();
        own["share"].as_f64().unwrap()
    };
    assert!(share("a") > share("b") && share("b") > share("kind"), "{importances:?}");
    assert_eq!(found["slices"].as_array().unwrap().len(), 3);
    assert_eq!(found["trace"].as_array().unwrap().len(), 30);
    assert!(found["next"]["gain"].as_f64().unwrap() >= 0.0);
    let words = lab.run(&["search", "study.toml", "--explain"]).stdout;
    for part in ["Search of hunt by bayesian", "Best: loss", "The next trial (", "factor"] {
        assert!(words.contains(part), "{part} is not in {words}");
    }
}

#[test]
fn a_search_goes_on_as_if_it_had_not_stopped() {
    let whole = Lab::with_study(&study("budget = { trials = 14 }"));
    whole.run(&["search", "study.toml"]);
    let parts = Lab::with_study(&study("budget = { trials = 5 }"));
    parts.run(&["search", "study.toml"]);
    assert_eq!(configurations(&parts).len(), 5);
    parts.write("study.toml", study("budget = { trials = 14 }"));
    parts.run(&["search", "study.toml"]);
    assert_eq!(configurations(&parts), configurations(&whole));
    let again = parts.run(&["search", "study.toml", "--json"]);
    assert!(again.stdout.contains("the budget of 14 trials is spent"), "{}", again.stdout);
    assert_eq!(configurations(&parts).len(), 14, "nothing runs twice");
}

#[test]
fn a_search_driven_from_outside_is_the_same_search() {
    let text = study("budget = { trials = 12 }");
    let inside = Lab::with_study(&text);
    inside.run(&["search", "study.toml"]);
    // The same without a command: what is told is what the command would have printed.
    let begin = text.find("[run]").unwrap();
    let end = text.find("[metrics.loss]").unwrap();
    let outside = Lab::with_study(&format!("{}{}", &text[..begin], &text[end..]));
    loop {
        let asked = outside.json(&["ask", "study.toml", "--json"]);
        let Some(trial) = asked["trials"].get(0) else {
            assert_eq!(asked["stopped"], "the budget of 12 trials is spent");
            break;
        };
        let own = &trial["configuration"];
        let (a, b) = (own["a"].as_f64().unwrap(), own["b"].as_f64().unwrap());
        let number = trial["trial"].to_string();
        let mut words = vec!["tell", "study.toml", "--trial", &number];
        let failed = own["kind"] == "y" && b > 12.0;
        let x = f64::from(u8::from(own["kind"] == "x"));
        let value = format!("loss={:.6}", 1.0 + (a - 3.0).powi(2) + (b - 4.0).powi(2) / 4.0 + x);
        if failed {
            words.extend(["--failed", "exit code 3"]);
        } else {
            words.extend(["--value", &value, "--seconds", "0.5"]);
        }
        outside.expect(0, &words);
    }
    assert_eq!(configurations(&outside), configurations(&inside));
    let end = outside.expect(2, &["tell", "study.toml", "--trial", "3", "--value", "loss=1"]);
    assert!(end.stderr.contains("trial 3 is"), "{}", end.stderr);
    let end = outside.expect(2, &["tell", "study.toml", "--trial", "99", "--value", "loss=1"]);
    assert!(end.stderr.contains("no trial 99"), "{}", end.stderr);
}

#[test]
fn results_that_are_told_are_checked() {
    let text = "schema = 1\n[study]\nname = \"s\"\n[factors.a]\nlevels = [1, 2, 3]\n\
                [search]\nmethod = \"random\"\nbudget = { trials = 3 }\n\
                [metrics.loss]\nobjective = \"minimize\"\n";
    let lab = Lab::with_study(text);
    let asked = lab.json(&["ask", "study.toml", "--count", "5", "--json"]);
    assert_eq!(asked["trials"].as_array().unwrap().len(), 3, "the space has no more");
    let wrong = lab.expect(2, &["tell", "study.toml", "--trial", "1", "--value", "lost=1"]);
    assert!(wrong.stderr.contains("`lost` is no metric"), "{}", wrong.stderr);
    let none = lab.expect(2, &["tell", "study.toml", "--trial", "1"]);
    assert!(none.stderr.contains("lacks the metric `loss`"), "{}", none.stderr);
    let told = lab.json(&["tell", "study.toml", "--trial", "1", "--value", "loss=nan", "--json"]);
    assert_eq!(told["state"], "diverged");
    let told = lab.json(&["tell", "study.toml", "--trial", "2", "--value", "loss=0.5", "--json"]);
    assert_eq!((&told["state"], &told["best_value"]), (&json!("finished"), &json!(0.5)));
}

#[test]
fn a_trial_that_does_badly_is_cut_short_and_never_runs_again() {
    // Trials above 3 report bad losses and then wait to be stopped.
    let script = "for s in 1 2 3; do echo \"::metric {\\\"loss\\\": {a}.$((9 - s)), \\\"step\\\": $s}\"; done\n\
                  if [ {a} -gt 3 ]; then while [ ! -e \"$TRAINWRIGHT_STOP_FILE\" ]; do sleep 0.05; done; fi";
    let text = format!(
        "schema = 1\n[study]\nname = \"s\"\n[factors.a]\nlevels = [1, 2, 3, 4, 5]\n\
         [search]\nmethod = \"grid\"\nbudget = {{ trials = 5 }}\n\
         early_stop = {{ rule = \"median\" }}\n\
         [run]\ncommand = [\"sh\", \"-c\", '''{script}''']\n\
         [metrics.loss]\nfrom = \"stdout\"\nobjective = \"minimize\"\n"
    );
    let lab = Lab::with_study(&text);
    let found = lab.json(&["search", "study.toml", "--json"]);
    assert_eq!(
        (&found["trials"]["finished"], &found["trials"]["cut-short"]),
        (&json!(3), &json!(2))
    );
    assert_eq!(found["best"]["configuration"]["a"], 1);
    let end = lab.expect(0, &["search", "study.toml"]);
    assert!(!end.stderr.contains("trial 4 "), "{}", end.stderr);
    let status = lab.json(&["status", "study.toml", "--json"]);
    let reason = status["trials"][3]["reason"].as_str().unwrap();
    assert!(reason.contains("the median of the others"), "{reason}");
}

#[test]
fn a_trial_cut_short_goes_on_from_its_checkpoint_when_worse_ones_have_come() {
    // All but the first wait at step 1 to be judged; the second would have been the best.
    let script = r#"
        kept="$TRAINWRIGHT_CHECKPOINT"; mkdir -p "$kept"
        s=$(cat "$kept/step" 2>/dev/null || echo 0); [ $s -gt 0 ] && echo "goes on after $s"
        while [ $s -lt 4 ]; do
          s=$((s + 1)); loss={a}; [ {a} = 3 ] && [ $s -gt 1 ] && loss=0.5
          echo "::metric {\"loss\": $loss, \"step\": $s}"; echo $s > "$kept/step"
          if [ $s = 1 ] && [ {a} -gt 1 ]; then
            for i in $(seq 600); do [ -e "$TRAINWRIGHT_STOP_FILE" ] && exit 0; sleep 0.05; done
          fi
        done"#;
    let text = format!(
        "schema = 1\n[study]\nname = \"s\"\n[factors.a]\nlevels = [1, 3, 4, 5]\n\
         [search]\nmethod = \"grid\"\nbudget = {{ trials = 4 }}\n\
         early_stop = {{ rule = \"halving\", factor = 2, go_on = true }}\n\
         [run]\ncommand = [\"sh\", \"-c\", '''{script}''']\n\
         [metrics.loss]\nfrom = \"stdout\"\nobjective = \"minimize\"\n\
         [metrics.time]\nfrom = \"wall\"\nunit = \"s\"\n"
    );
    let lab = Lab::with_study(&text);
    let found = lab.json(&["search", "study.toml", "--json"]);
    assert_eq!(
        (&found["trials"]["finished"], &found["trials"]["cut-short"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(found["best"]["configuration"]["a"], 3);
    let status = lab.json(&["status", "study.toml", "--json"]);
    assert_eq!(status["trials"][1]["attempts"], 2);
    let own = lab.expect(0, &["logs", "study.toml", "2"]).stdout;
    assert_eq!(own.matches("\"step\"").count(), 4, "each step once: {own}");
    assert!(own.contains("goes on after 1"), "{own}");
    let folder = lab.path("trainwright.trials/s");
    let kept = |trial: &str| folder.join(trial).join("checkpoint").exists();
    assert!(!kept("00001") && !kept("00002") && kept("00003") && kept("00004"), "{folder:?}");
}

#[test]
fn a_job_that_was_stopped_goes_on_to_the_same_end() {
    let lab = Lab::with_study(
        "schema = 1\n[study]\nname = \"s\"\n[factors.lr]\nlevels = [0.001, 0.01]\n\
         [search]\nmethod = \"hyperband\"\nbudget = { trials = 1 }\n\
         [job]\nnetwork = \"mlp\"\ndata = \"fashion-mnist-sample\"\nepochs = 3\n\
         [metrics.accuracy]\nobjective = \"maximize\"\n",
    );
    let whole = lab.json(&["search", "study.toml", "--json"]);
    let spec = lab.path("trainwright.trials/s/00001/job.json");
    let job = |stop: &str| {
        let mut own = lab.command(&["job", spec.to_str().unwrap()]);
        own.env("TRAINWRIGHT_CHECKPOINT", lab.path("kept"));
        own.env("TRAINWRIGHT_METRICS", lab.path("metrics.jsonl"));
        own.env("TRAINWRIGHT_STOP_FILE", lab.path(stop));
        own.output().unwrap()
    };
    lab.write("stop", "");
    assert_eq!(job("stop").status.code(), Some(130));
    assert!(lab.path("kept").read_dir().unwrap().next().is_some(), "it kept itself");
    assert!(job("go-on").status.success());
    let lines = std::fs::read_to_string(lab.path("metrics.jsonl")).unwrap();
    let last = lines.lines().rev().find(|line| line.contains("\"accuracy\"")).unwrap();
    let last: Value = serde_json::from_str(last).unwrap();
    assert_eq!(last["step"], 3);
    assert_eq!(last["accuracy"], whole["best"]["values"]["accuracy"]);
}

#[test]
fn the_best_are_run_again_to_tell_them_apart() {
    let more = "budget = { trials = 10 }\nconfirm = { best = 2, replications = 4 }";
    let lab = Lab::with_study(&study(more));
    let found = lab.run(&["search", "study.toml", "--json"]);
    let found: Value = serde_json::from_str(&found.stdout).unwrap();
    // The trial of the search itself does not count.
    assert_eq!(
        (&found["best"]["replicates"], &found["best"]["confirmed"]),
        (&json!(3), &json!(true))
    );
    assert_eq!(found["runner_up"]["replicates"], 3);
    assert_eq!(found["trials"]["total"], 16);
}

#[test]
fn trials_that_were_asked_for_are_nobody_elses() {
    let lab = Lab::with_study(&study("budget = { trials = 6 }"));
    assert_eq!(lab.json(&["ask", "study.toml", "--count", "2", "--json"])["trials"][1]["trial"], 2);
    let found = lab.json(&["search", "study.toml", "--json"]);
    assert_eq!((&found["trials"]["running"], &found["trials"]["total"]), (&json!(2), &json!(6)));
    let status = lab.expect(0, &["status", "study.toml"]).stdout;
    assert!(status.contains("not told of yet: trial 1, 2") && !status.contains("died"), "{status}");
    for trial in ["1", "2"] {
        lab.expect(0, &["tell", "study.toml", "--trial", trial, "--value", "loss=0.5"]);
    }
    let status = lab.expect(0, &["status", "study.toml"]).stdout;
    assert!(!status.contains("not told of"), "{status}");
}

#[test]
fn a_search_that_has_ended_says_why_whenever_it_is_asked() {
    let lab = Lab::with_study(&study("budget = { trials = 40 }\nstop = { gain = 0.5, least = 8 }"));
    lab.run(&["search", "study.toml", "--slots", "2"]);
    let later = lab.json(&["search", "study.toml", "--explain", "--json"]);
    assert_eq!(later["stop_reason"]["reason"], "little-to-gain", "{later:#}");
    assert!(later["trials"]["total"].as_u64().unwrap() < 40);
}

#[test]
fn a_budget_of_hours_needs_the_time_of_each_trial() {
    let lab = Lab::with_study(&study("budget = { hours = 1.0 }"));
    lab.json(&["ask", "study.toml", "--json"]);
    let words = ["tell", "study.toml", "--trial", "1", "--value", "loss=0.5"];
    lab.expect(2, &words).says(&["the budget of the search is in hours", "--seconds"]);
    lab.expect(0, &[&words[..], &["--seconds", "7200"]].concat());
    let asked = lab.json(&["ask", "study.toml", "--json"]);
    assert!(asked["stopped"].as_str().unwrap().contains("2.00 hours"), "{asked}");
}

#[test]
fn what_an_earlier_study_found_good_is_tried_first() {
    let lab = Lab::with_study(&study("budget = { trials = 20 }"));
    let first = lab.run(&["search", "study.toml", "--json"]);
    let first: Value = serde_json::from_str(&first.stdout).unwrap();
    let text = study("budget = { trials = 4 }\nwarm_start = [\"hunt\"]")
        .replace("\"hunt\"\nseed", "\"next\"\nseed");
    lab.write("next.toml", &text);
    let next = lab.json(&["search", "next.toml", "--json"]);
    assert_eq!(next["best"]["values"], first["best"]["values"]);
    let unknown = text.replace("[\"hunt\"]", "[\"nobody\"]").replace("\"next\"", "\"third\"");
    lab.write("third.toml", unknown);
    let end = lab.expect(2, &["search", "third.toml"]);
    assert!(end.stderr.contains("the store has no study `nobody`"), "{}", end.stderr);
}

#[test]
fn trials_of_optuna_are_known_to_a_search() {
    let text = "schema = 1\n[study]\nname = \"taken\"\n\
        [factors.lr]\nrange = { from = 0.0001, to = 0.1 }\nscale = \"log\"\n\
        [factors.layers]\nrange = { from = 1, to = 4 }\n\
        [factors.optimizer]\nlevels = [\"sgd\", \"adam\"]\n\
        [search]\nmethod = \"bayesian\"\nbudget = { trials = 8 }\nstart = { count = 4 }\n\
        [metrics.loss]\nobjective = \"minimize\"\n";
    let lab = Lab::with_study(text);
    // Made by Optuna 5.0.0; see the tests of the store.
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../store/tests/data/optuna-5.0.0.db");
    lab.write("optuna.db", std::fs::read(sample).unwrap());
    let end = lab.expect(3, &["import", "optuna.db", "--study", "study.toml"]);
    assert!(end.stderr.contains("tuning, empty"), "{}", end.stderr);
    let words = ["import", "optuna.db", "--study", "study.toml", "--optuna-study", "tuning"];
    let end = lab.expect(0, &words);
    assert!(end.stdout.contains("Kept 6 results."), "{}", end.stdout);
    let asked = lab.json(&["ask", "study.toml", "--json"]);
    assert_eq!(asked["trials"][0]["trial"], 7);
    let found = lab.json(&["search", "study.toml", "--explain", "--json"]);
    assert_eq!(found["best"]["values"]["loss"], 0.0002755926764027377);
}

#[test]
fn a_design_comes_first_where_there_is_one() {
    let text = study("budget = { trials = 12 }")
        .replace("[search]", "[design]\ntype = \"latin-hypercube\"\nruns = 6\n[search]");
    let lab = Lab::with_study(&text);
    lab.run(&["search", "study.toml"]);
    let rows = lab.rows();
    assert_eq!(rows.len(), 12);
    let planned = rows.iter().filter(|row| !row["row"].is_null()).count();
    assert!((4..=6).contains(&planned), "constraints may take some away: {planned}");
}

#[test]
fn a_check_tells_what_a_search_will_do_and_what_it_cannot() {
    let lab = Lab::with_study(&study("budget = { trials = 3, hours = 2 }"));
    let end = lab.expect(0, &["check", "study.toml"]);
    for part in ["by bayesian over 3 factors", "at most 3 trials or 2 hours"] {
        assert!(end.stdout.contains(part), "{part} is not in {}", end.stdout);
    }
    let none = study("budget = { trials = 3 }").replace("a + b <= 20", "a + b > 99");
    lab.write("none.toml", none);
    let end = lab.expect(2, &["check", "none.toml"]);
    assert!(
        end.stderr.contains("configurations by chance meets the constraints"),
        "{}",
        end.stderr
    );
}

#[test]
fn a_study_with_a_search_alone_is_not_run() {
    let lab = Lab::with_study(&study("budget = { trials = 3 }"));
    let end = lab.expect(2, &["run", "study.toml"]);
    assert!(end.stderr.contains("trainwright search"), "{}", end.stderr);
    let open = study("budget = { trials = 3 }");
    let begin = open.find("[search]").unwrap();
    let rest = open.find("[run]").unwrap();
    lab.write("open.toml", format!("{}{}", &open[..begin], &open[rest..]));
    let end = lab.expect(2, &["search", "open.toml"]);
    assert!(end.stderr.contains("has no [search]"), "{}", end.stderr);
}
