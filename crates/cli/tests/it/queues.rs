//! `trainwright queue` against the reference vectors, and what it refuses.

use serde_json::Value;

use crate::program::Lab;

/// Made with mpmath; see `crates/queueing/tests/data/README.md`.
const VECTORS: &str = include_str!("../../../queueing/tests/data/queueing.json");

fn split(words: &str) -> Vec<&str> {
    words.split(' ').collect()
}

#[track_caller]
fn close(what: &str, found: &Value, expected: &Value) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{what} is {found}"));
    let expected = expected.as_f64().unwrap();
    // The tolerance of the vectors.
    let gap = (found - expected).abs();
    assert!(gap <= 1e-10 * expected.abs(), "{what}: {found} where {expected} is expected");
}

/// The words that ask for the queue of a vector.
fn question(case: &Value) -> String {
    let kind = match case["model"].as_str().unwrap() {
        "M/M/1" => "mm1",
        "M/M/c" => "mmc",
        "M/M/c/K" => "mmck",
        "M/G/1" => "mg1",
        _ => "ggc",
    };
    let service = case["mu"].as_f64().unwrap_or_else(|| 1.0 / case["ES"].as_f64().unwrap());
    let mut words = format!("queue {kind} --json --arrival {} --service {service}", case["lam"]);
    for (flag, key) in [
        ("--servers", "c"),
        ("--capacity", "K"),
        ("--scv-arrival", "ca2"),
        ("--scv-service", "cs2"),
        ("--scv-service", "scv"),
    ] {
        match case.get(key) {
            Some(value) if (kind, key) != ("mm1", "c") => words += &format!(" {flag} {value}"),
            _ => {}
        }
    }
    words
}

const NAMES: [(&str, &str); 10] = [
    ("utilisation", "rho"),
    ("utilisation", "utilisation"),
    ("p0", "p0"),
    ("p_wait", "p_wait"),
    ("p_wait", "p_wait_accepted"),
    ("p_block", "p_block"),
    ("mean_jobs", "E_N"),
    ("mean_queue", "Lq"),
    ("mean_wait", "E_Wq"),
    ("mean_response", "E_T"),
];

#[test]
fn every_vector_comes_back() {
    let lab = Lab::new();
    let cases: Vec<Value> = serde_json::from_str(VECTORS).unwrap();
    assert!(cases.len() > 20);
    for case in &cases {
        let words = question(case);
        let answer = lab.json(&split(&words));
        assert_eq!(answer["schema"], "trainwright/queue/1");
        for (ours, theirs) in NAMES {
            if let Some(expected) = case.get(theirs) {
                close(&format!("{ours} of {words}"), &answer[ours], expected);
            }
        }
        for (ours, theirs) in [("wait", "wq_quantiles"), ("response", "t_quantiles")] {
            for (key, part) in [("p50", "0.5"), ("p90", "0.9"), ("p99", "0.99")] {
                let found = &answer["quantiles"][ours][key];
                match case.get(theirs) {
                    Some(expected) => close(key, found, &expected[part]),
                    // Limited queues have quantiles that the vectors lack; others have none.
                    None => assert_eq!(found.is_null(), !words.contains("mmck"), "{words}"),
                }
            }
        }
    }
}

#[test]
fn a_target_is_answered_with_servers_and_rate() {
    let lab = Lab::new();
    // M/M/1: the response is 1 / (service - arrival), nine tenths keep within ln 10 times that.
    let ask = "queue mm1 --arrival 9 --service 10 --target-response 0.5 --json";
    let answer = lab.json(&split(ask));
    assert_eq!(answer["target"]["met"], false);
    assert_eq!(answer["target"]["servers_needed"], 2);
    close("largest rate", &answer["target"]["largest_rate"], &Value::from(8.0));
    let answer = lab.json(&split(&format!("{ask} --quantile 0.9")));
    let rate = Value::from(10.0 - 10f64.ln() / 0.5);
    close("largest rate", &answer["target"]["largest_rate"], &rate);
    // Without a number of servers the target chooses it.
    let ask = "queue mmc --arrival 90 --service 10 --target-response 0.15 --json";
    let chosen = lab.json(&split(ask));
    assert_eq!(chosen["servers"], chosen["target"]["servers_needed"]);
    assert_eq!(chosen["target"]["met"], true);
}

#[test]
fn words_tell_the_same() {
    let lab = Lab::new();
    let told = |words: &str| lab.expect(0, &split(words)).stdout;
    let expected = "\
M/M/4: jobs arrive at rate 3.2; each of 4 servers works at rate 1.
busy      80 %; the system is empty 2.730 % of the time
jobs      5.586 on average, 2.386 of them waiting
wait      0.7455 on average; half within 0.2204; 90 % within 2.232; 99 % within 5.110; \
59.64 % of the jobs wait
response  1.746 on average; half within 1.346; 90 % within 3.776; 99 % within 6.893
target    mean response of at most 2: kept; this rate needs 4 servers, and with 4 servers it is \
kept for arrivals up to rate 3.339
Times are in the unit that the rates are per.
";
    let ask = "queue mmc --arrival 3.2 --service 1 --servers 4 --target-response 2";
    assert_eq!(told(ask), expected);
    let general = told("queue mg1 --arrival 0.8 --service 1 --scv-service 2");
    assert!(general.contains("not given") && !general.contains("within"), "{general}");
    let limited = told("queue mmck --arrival 5 --service 1 --servers 4 --capacity 12");
    assert!(limited.contains("refused   21.82 %"), "{limited}");
}

#[test]
fn what_has_no_answer_exits_2_and_says_why() {
    let lab = Lab::new();
    for (ask, parts) in [
        ("mmc --arrival 20 --service 3 --servers 4", ["below 12", "at least 7 servers"]),
        ("mm1 --arrival 1 --service 1", ["grow for ever", "at least 2 servers"]),
        ("mmc --arrival 1 --service 1", ["`mmc` needs", "servers"]),
        ("mm1 --arrival -1 --service 1", ["arrival rate is -1", "between"]),
        ("mm1 --arrival nan --service 1", ["arrival rate is NaN", "between"]),
        ("mmck --arrival 1 --service 1 --servers 4 --capacity 3", ["3 places", "at least 4"]),
        ("mm1 --arrival 1 --service 2 --scv-service 2", ["`mm1` has no variation", "mg1"]),
        ("mm1 --arrival 1 --service 2 --target-response 0.5", ["cannot be reached", "0.5"]),
        ("mm1 --arrival 1 --service 2 --target-response 2 --quantile 90", ["quantile", "90"]),
        ("mm1 --arrival 1 --service 2 --quantile 0.9", ["--target-response", "required"]),
    ] {
        lab.expect(2, &split(&format!("queue {ask}"))).says(&parts);
    }
}

#[test]
fn help_has_an_example() {
    let help = Lab::new().expect(0, &["queue", "--help"]).stdout;
    assert!(help.contains("Examples:\n  trainwright queue mmc "), "{help}");
}
