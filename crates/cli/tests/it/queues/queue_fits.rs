//! `trainwright queue fit`: which queue measured times make, and what is no service time.

use crate::program::{Lab, shell_study};

/// The published measurements of field report D; see `crates/queueing/tests/data/README.md`.
const REPORT_D: &str = include_str!("../../../../queueing/tests/data/report_d_results.csv");

fn split(words: &str) -> Vec<&str> {
    words.split(' ').collect()
}

fn near(found: &serde_json::Value, expected: f64, digits: f64) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{found}"));
    assert!((found - expected).abs() <= digits, "{found} where {expected} is expected");
}

/// Evenly spread quantiles of the exponential distribution, shuffled by steps of 7.
fn exponential(mean: f64, count: u32) -> Vec<f64> {
    let quantile = |i: u32| -mean * (1.0 - (f64::from(i) + 0.5) / f64::from(count)).ln();
    (0..count).map(|i| quantile(i * 7 % count)).collect()
}

fn table(columns: &[(&str, Vec<f64>)]) -> String {
    let head: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let mut text = head.join(",") + "\n";
    for row in 0..columns[0].1.len() {
        let cells: Vec<String> = columns.iter().map(|(_, own)| own[row].to_string()).collect();
        text += &(cells.join(",") + "\n");
    }
    text
}

#[test]
fn exponential_times_make_mm1_and_even_ones_do_not() {
    let lab = Lab::new();
    let even: Vec<f64> = (0..100).map(|i| 2.0 + 0.1 * f64::from(i % 5)).collect();
    let columns =
        [("plain", exponential(3.0, 100)), ("even", even), ("gaps", exponential(5.0, 100))];
    lab.write("times.csv", table(&columns));
    let ask = "queue fit --data times.csv --column plain --unit min --arrival 10/h --json";
    let plain = lab.json(&split(ask));
    assert_eq!((plain["recommended"].as_str(), plain["unit"].as_str()), (Some("mm1"), Some("s")));
    near(&plain["service"]["mean"]["estimate"], 180.0, 2.0);
    near(&plain["utilisation"], 0.5, 0.01);
    assert_eq!(plain["findings"], serde_json::json!([]));
    let ask = "queue fit --data times.csv --column even --unit min --interarrival gaps --servers 2";
    let even = lab.json(&split(&format!("{ask} --json")));
    assert_eq!(even["recommended"], "ggc");
    assert_eq!(even["findings"][0]["id"], "queue-not-exponential");
    let told = lab.expect(0, &split(ask)).stdout;
    assert!(told.contains("M/M is the wrong model"), "{told}");
    assert!(told.contains("trainwright queue ggc --arrival"), "{told}");
    let full = "queue fit --data times.csv --column plain --unit min --arrival 40/h";
    let told = lab.expect(0, &split(full)).stdout;
    assert!(told.contains("the queue grows for as long as they keep coming"), "{told}");
    assert!(told.contains("at least 2 servers"), "{told}");
}

/// Mistake 7 of field report D: cost is no service time, and it is not exponential either.
#[test]
fn what_is_no_time_is_refused() {
    let lab = Lab::new();
    lab.write("results.csv", REPORT_D);
    let ask = "queue fit --data results.csv --column cost_exact";
    lab.expect(2, &split(ask)).says(&["`cost_exact` cannot be a service time", "no unit"]);
    lab.expect(2, &split(&format!("{ask} --unit usd"))).says(&["`usd` is no unit of time"]);
    lab.expect(2, &split("queue fit --data results.csv --column rep --unit s --where run=99"))
        .says(&["no row"]);
    lab.expect(2, &split("queue fit --data results.csv --column no --unit s")).says(&["`no`"]);
    lab.expect(2, &split("queue fit --data none.csv --column no --unit s")).says(&["none.csv"]);
    // Taken for seconds all the same, four nodes give the variation that the report overlooked.
    let four = lab.json(&split(&format!("{ask} --unit s --where n_nodes=4 --json")));
    assert_eq!(four["service"]["count"], 150);
    near(&four["service"]["rate"], 34.393_375_535_849_56, 1e-9);
    near(&four["service"]["scv"]["estimate"], 2.87, 0.05);
    assert_eq!(four["recommended"], "mg1");
}

/// The commands of the example's page, and the figures of its table.
#[test]
fn the_queues_of_field_report_d_are_put_right() {
    let lab = Lab::new();
    let page = include_str!("../../../../../examples/field-report-d/README.md");
    let asked: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("trainwright ")).collect();
    let answer = |start: &str| {
        let ask = asked.iter().find(|own| own.starts_with(start)).unwrap();
        lab.json(&split(&format!("{ask} --json")))
    };
    let one = answer("queue mm1");
    near(&one["utilisation"], 0.8, 1e-12);
    near(&one["mean_response"], 1.621, 5e-4);
    near(&one["mean_jobs"], 4.0, 1e-9);
    let four = answer("queue mmc");
    near(&four["arrival_rate"], 11.006, 5e-4);
    near(&four["mean_response"], 0.5075, 5e-5);
    near(&four["mean_jobs"], 5.586, 5e-4);
    for figure in ["| 2.468 | 4 | 1.621 |", "| 11.006 | 5.586 | 0.5075 |"] {
        assert!(page.contains(figure), "no {figure}");
    }
    lab.write("results.csv", REPORT_D);
    let refused = asked.iter().find(|own| own.starts_with("queue fit")).unwrap();
    lab.expect(2, &split(refused)).says(&["cannot be a service time"]);
}

#[test]
fn trials_of_a_study_are_service_times() {
    let more =
        "[metrics.cost]\nexpr = \"time * 2\"\nunit = \"usd\"\n[metrics.score]\nfrom = \"stdout\"";
    let script = "echo \"::metric {\\\"score\\\": 1}\"";
    let study = shell_study("[1, 2]", script, more)
        .replace("type = \"full\"", "type = \"full\"\nreplications = 3");
    let lab = Lab::with_study(&(study + "objective = \"minimize\"\n"));
    lab.expect(2, &split("queue fit --study study.toml --metric time")).says(&["no results"]);
    lab.expect(0, &["run", "study.toml", "--no-flush"]);
    let all = lab.json(&split("queue fit --study study.toml --metric time --json"));
    assert_eq!(all["service"]["count"], 6);
    let ids: Vec<&str> =
        all["findings"].as_array().unwrap().iter().map(|own| own["id"].as_str().unwrap()).collect();
    assert!(ids.contains(&"queue-mixed-configurations"), "{ids:?}");
    let one = lab.json(&split("queue fit --study study.toml --metric time --where x=2 --json"));
    assert_eq!(one["service"]["count"], 3);
    for (metric, parts) in [
        ("cost", ["unit is `usd`", "no unit of time"]),
        ("score", ["`score` cannot be a service time", "no unit"]),
        ("speed", ["no such metric", "`time`"]),
    ] {
        lab.expect(2, &split(&format!("queue fit --study study.toml --metric {metric}")))
            .says(&parts);
    }
    lab.expect(2, &split("queue fit --study study.toml --metric time --where y=2")).says(&["`y`"]);
    lab.expect(2, &split("queue fit --study study.toml")).says(&["--metric"]);
}
