//! What `run` says at its end, read as a newcomer reads it.

use crate::program::{Lab, shell_study};

/// A study whose trials compute `y` by awk from the factors `names` and `r`, the replicate.
fn study(factors: &str, names: &[&str], design: &str, y: &str, more: &str) -> String {
    let given: String = names.iter().map(|name| format!(" -v {name}=${name}")).collect();
    let env: String = names.iter().map(|name| format!("env.{name} = \"{{{name}}}\"\n")).collect();
    let program = format!(r#"BEGIN {{ printf "::metric {{\"y\": %.9f}}\n", {y} }}"#);
    format!(
        "schema = 1\n[study]\nname = \"demo\"\nseed = 5\n{factors}[design]\n{design}\n\
         [run]\nenv.r = \"{{replicate}}\"\n{env}\
         command = [\"sh\", \"-c\", '''awk -v r=$r{given} '{program}' ''']\n\
         [metrics.y]\nobjective = \"maximize\"\n{more}\n[analysis]\nresponse = \"y\"\n"
    )
}

fn two_levels(names: &[&str]) -> String {
    names.iter().map(|name| format!("[factors.{name}]\nlevels = [0, 1]\n")).collect()
}

/// Words after the heading up to the next empty line.
fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let start = text.find(heading).unwrap_or_else(|| panic!("no {heading}:\n{text}"));
    text[start..].split("\n\n").next().unwrap()
}

#[track_caller]
fn holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
}

#[test]
fn a_peak_between_the_ends_is_named_and_never_called_noise() {
    let y = "0.9 - 0.15 * (log(lr) / log(10) + 3) ^ 2 + 0.01 * sin(37 * r + 1000 * lr)";
    for (levels, design) in [
        ("levels = [1e-4, 1e-3, 1e-2]", "type = \"full\"\nreplications = 4"),
        ("range = { from = 1e-4, to = 1e-2 }", "type = \"latin-hypercube\"\nruns = 12"),
    ] {
        let factors = format!("[factors.lr]\n{levels}\nscale = \"log\"\n");
        let lab = Lab::with_study(&study(&factors, &["lr"], design, y, ""));
        let said = lab.expect(0, &["run", "study.toml"]).stdout;
        holds(section(&said, "What matters"), &["y is highest at 0.00", "than at either end"]);
        assert!(!said.contains("could be noise"), "{said}");
    }
}

#[test]
fn an_aliased_product_is_told_as_either_and_the_foldover_tells_which() {
    let names = ["a", "b", "c", "d"];
    let y = "0.5 + 0.05 * (2 * c - 1) * (2 * d - 1) + 0.004 * sin(29 * r + 7 * a + 3 * b + 11 * c)";
    let design = "type = \"fractional\"\nruns = 8\nreplications = 2";
    let before = study(&two_levels(&names), &names, design, y, "");
    let lab = Lab::with_study(&before);
    let said = lab.expect(0, &["run", "study.toml"]).stdout;
    let matters = section(&said, "What matters");
    holds(matters, &["a:b or c:d", "these runs cannot tell which", "may act through a:b or c:d: "]);
    // No single factor matters, so nothing speaks for either.
    assert!(!matters.contains("likeliest"), "{matters}");
    holds(section(&said, "Next"), &["Tell a:b from c:d: `foldover = \"a\"`", "adds 16 trials"]);
    let rows = lab.rows();
    lab.write("study.toml", before.replace("runs = 8", "runs = 8\nfoldover = \"a\""));
    let said = lab.expect(0, &["run", "study.toml"]).stdout;
    assert_eq!(lab.rows().len(), 32);
    let kept = |row: &serde_json::Value| lab.rows().iter().any(|own| own["y"] == row["y"]);
    assert!(rows.iter().all(kept), "the first trials stay");
    let matters = section(&said, "What matters");
    holds(matters, &["  c:d ", "c changes y by"]);
    assert!(!matters.contains(" or "), "{matters}");
}

#[test]
fn replicates_in_blocks_are_one_configuration() {
    let design = "type = \"full\"\nreplications = 3\norder = \"blocked\"";
    let y = "0.7 + 0.02 * a + 0.01 * b + 0.02 * sin(31 * r + 5 * a + 3 * b)";
    let lab = Lab::with_study(&study(&two_levels(&["a", "b"]), &["a", "b"], design, y, ""));
    let said = lab.expect(0, &["run", "study.toml"]).stdout;
    holds(section(&said, "Best configuration"), &["mean of 3 trials"]);
}

#[test]
fn levels_beyond_off_and_on_are_not_proposed() {
    let design = "type = \"full\"\nreplications = 3";
    let y = "0.7 + 0.2 * a + 0.01 * sin(31 * r + 5 * a + 3 * b)";
    let lab = Lab::with_study(&study(&two_levels(&["a", "b"]), &["a", "b"], design, y, ""));
    let said = lab.expect(0, &["run", "study.toml"]).stdout;
    holds(section(&said, "What matters"), &["from 0 to 1 raises y"]);
    assert!(!said.contains("edge"), "{said}");
}

#[test]
fn text_levels_that_look_like_numbers_are_analysed() {
    let factors = "[factors.batch]\nlevels = [\"16\", \"32\", \"auto\"]\n";
    let y = "0.7 + 0.05 * (batch != 16) + 0.01 * sin(31 * r)";
    let design = "type = \"full\"\nreplications = 3";
    let lab = Lab::with_study(&study(factors, &["batch"], design, y, ""));
    let said = lab.expect(0, &["run", "study.toml"]).stdout;
    holds(&said, &["Best configuration", "batch 32: ", " of batch 16"]);
    let table = lab.expect(0, &["export", "study.toml", "--format", "csv"]).stdout;
    lab.write("kept.csv", table);
    let import = ["import", "kept.csv", "--study", "study.toml", "--store", "other.db"];
    lab.expect(0, &import);
}

#[test]
fn configurations_of_very_different_spread_are_judged_by_their_own() {
    let factors = "[factors.tool]\nlevels = [\"gzip\", \"xz\", \"zstd\"]\n";
    let y = "(tool == \"gzip\" ? 10 + 0.02 * sin(31 * r) : \
             tool == \"xz\" ? 9.9 + 4 * sin(31 * r) : 8 + 0.03 * sin(17 * r))";
    let design = "type = \"full\"\nreplications = 6";
    let lab = Lab::with_study(&study(factors, &["tool"], design, y, ""));
    let said = lab.expect(0, &["run", "study.toml"]).stdout;
    holds(section(&said, "Best configuration"), &["from its own spread", "Welch's comparisons"]);
    let found = lab.json(&["analyze", "study.toml", "--json"]);
    assert_eq!(found["level_differences"][0]["method"], "games-howell");
}

#[test]
fn intervals_of_a_bounded_metric_stay_in_its_range() {
    let y = "1 - 0.002 * (1 - a) - 0.001 * (1 + sin(31 * r + 5 * a + 3 * b))";
    let design = "type = \"full\"\nreplications = 3";
    let factors = two_levels(&["a", "b"]);
    let lab = Lab::with_study(&study(&factors, &["a", "b"], design, y, "range = [0, 1]"));
    lab.expect(0, &["run", "study.toml"]);
    let best = &lab.json(&["analyze", "study.toml", "--json"])["best"];
    for end in [&best["ci_high"], &best["predicted"]["high"]] {
        assert!(end.as_f64().unwrap() <= 1.0, "{best}");
    }
}

#[test]
fn hours_that_are_used_up_are_said_by_run_status_and_analyze() {
    let study = shell_study("[1, 2, 3, 4]", "sleep 0.2", "")
        .replace("type = \"full\"", "type = \"full\"\nreplications = 2");
    let lab = Lab::with_study(&(study + "[budget]\nmax_hours = 0.0001\n"));
    let said = lab.expect(0, &["run", "study.toml"]);
    let words =
        "since `max_hours = 0.0001` is used up: raise it, then `trainwright run study.toml`";
    holds(section(&said.stdout, "Next"), &[words]);
    holds(&lab.expect(0, &["status", "study.toml"]).stdout, &[words]);
    holds(&lab.run(&["analyze", "study.toml"]).stderr, &[words]);
}

#[test]
fn more_replications_are_proposed_only_where_there_is_one() {
    let y = "0.7 + 0.2 * a + 0.01 * sin(31 * r + 5 * a + 3 * b)";
    for (replications, proposed) in [(1, true), (2, false)] {
        let design = format!("type = \"full\"\nreplications = {replications}");
        let lab = Lab::with_study(&study(&two_levels(&["a", "b"]), &["a", "b"], &design, y, ""));
        let said = lab.expect(0, &["run", "study.toml"]).stdout;
        assert_eq!(said.contains("Raise `replications`"), proposed, "{said}");
    }
}
