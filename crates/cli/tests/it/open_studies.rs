//! Studies without `[design]`: their trials come from elsewhere.

use serde_json::json;

use crate::program::Lab;

const OPEN: &str = "schema = 1\n[study]\nname = \"found\"\nseed = 3\n\
    [factors.lr]\nrange = { from = 0.001, to = 1.0 }\nscale = \"log\"\n\
    [factors.optimizer]\nlevels = [\"sgd\", \"adam\"]\nhard_to_change = true\n\
    [run]\ntimeout = \"1m\"\n\
    [metrics.loss]\nobjective = \"minimize\"\n[analysis]\nterms = \"main\"\n";

/// Twelve results, two of each configuration.
fn results() -> String {
    let mut csv = "lr,optimizer,loss\n".to_owned();
    for (place, lr) in ["0.001", "0.03", "1e0"].into_iter().enumerate() {
        for (other, optimizer) in ["sgd", "adam"].into_iter().enumerate() {
            for repeat in 0..2 {
                let loss = 2 * place + other;
                csv.push_str(&format!("{lr},{optimizer},{loss}.{}\n", 1 + 3 * repeat + place));
            }
        }
    }
    csv
}

#[test]
fn a_check_says_where_the_trials_come_from() {
    let lab = Lab::with_study(OPEN);
    let end = lab.expect(0, &["check", "study.toml"]);
    assert!(end.stdout.contains("trainwright import"), "{}", end.stdout);
    assert!(end.stdout.contains("search"), "{}", end.stdout);
    let check = lab.json(&["check", "study.toml", "--json"]);
    assert_eq!((&check["trials"], &check["confounding"]), (&json!([]), &json!(null)));
    assert_eq!(check["power"], json!(null));
}

#[test]
fn results_of_any_configuration_are_kept_and_analysed() {
    let lab = Lab::with_study(OPEN);
    lab.write("results.csv", results());
    let end = lab.expect(0, &["import", "results.csv", "--study", "study.toml"]);
    assert!(end.stdout.contains("Kept 12 results."), "{}", end.stdout);
    assert!(!end.stdout.contains("design"), "{}", end.stdout);
    lab.expect(0, &["export", "study.toml", "--output", "out.csv"]);
    let text = lab.read("out.csv");
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| lines[0].iter().position(|own| *own == name).unwrap();
    let (row, replicate) = (column("row"), column("replicate"));
    for (line, own) in lines[1..].iter().enumerate() {
        assert_eq!((own[row], own[replicate]), ("", (line % 2 + 1).to_string().as_str()));
    }
    let analysis = lab.json(&["analyze", "study.toml", "--json"]);
    assert_eq!(analysis["n"], 12);
    let findings = analysis["findings"].to_string();
    assert!(!findings.contains("not-in-design"), "{findings}");
    lab.expect(0, &["analyze", "study.toml"]);
    lab.expect(0, &["status", "study.toml"]);
    lab.expect(0, &["report", "study.toml", "--output", "page.html"]);
    lab.expect(0, &["check", "study.toml"]);
}

#[test]
fn a_study_without_results_has_nothing_to_analyse() {
    let lab = Lab::with_study(OPEN);
    for words in [&["analyze", "study.toml"][..], &["report", "study.toml", "--output", "p.html"]] {
        let end = lab.run(words);
        assert!(matches!(end.code, Some(1..=3)), "{words:?}: {:?} {}", end.code, end.stderr);
    }
}
