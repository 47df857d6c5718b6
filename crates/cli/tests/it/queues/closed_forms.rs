//! `trainwright queue` against the reference vectors, and what it refuses.

use serde_json::Value;

use crate::program::Lab;

/// Made with mpmath; see `crates/queueing/tests/data/README.md`.
const VECTORS: &str = include_str!("../../../../queueing/tests/data/queueing.json");

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
            for (key, part) in [("p50", "0.5"), ("p90", "0.9"), ("p95", "0.95"), ("p99", "0.99")] {
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
kept for arrivals up to rate 3.339, or for a mean service of up to 1.034 at these arrivals
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
    let lab = Lab::new();
    let help = lab.expect(0, &["queue", "--help"]).stdout;
    assert!(help.contains("Examples:\n  trainwright queue mmc "), "{help}");
    for kind in ["mm1", "mmc", "mmck", "mg1", "ggc", "finite", "priority", "simulate", "fit"] {
        let help = lab.expect(0, &["queue", kind, "--help"]).stdout;
        assert!(help.contains(&format!("  trainwright queue {kind} ")), "{help}");
    }
}

/// "How many workers for a mean response under 10 minutes at 40 jobs an hour?"
#[test]
fn people_ask_in_hours_and_minutes() {
    let lab = Lab::new();
    let ask = "queue mmc --arrival 40/h --service-time 8m --target-response 10m";
    let answer = lab.json(&split(&format!("{ask} --json")));
    assert_eq!(answer["unit"], "s");
    assert_eq!(answer["target"]["chosen"], "servers");
    let servers = answer["servers"].as_u64().unwrap();
    assert!(answer["mean_response"].as_f64().unwrap() <= 600.0, "{answer}");
    let fewer = lab.json(&split(&format!("{ask} --servers {} --json", servers - 1)));
    assert!(fewer["mean_response"].as_f64().unwrap() > 600.0);
    assert_eq!(fewer["target"]["met"], false);
    let told = lab.expect(0, &split(ask)).stdout;
    assert!(
        told.contains("jobs arrive at 40 an hour") && told.contains("at most 10 min"),
        "{told}"
    );
    // The largest rate and the slowest service are asked by leaving them out.
    let rate =
        format!("queue mmc --service-time 8m --servers {servers} --target-response 10m --json");
    let rate = lab.json(&split(&rate));
    assert_eq!(rate["target"]["chosen"], "arrival-rate");
    assert!(rate["arrival_rate"].as_f64().unwrap() >= 40.0 / 3600.0);
    close("response at that rate", &rate["mean_response"], &Value::from(600.0));
    let slow = lab.json(&split(
        "queue mmc --arrival 40/h --servers 9 --target-wait 1m --quantile p90 --json",
    ));
    assert_eq!(slow["target"]["chosen"], "service-rate");
    close("wait", &slow["quantiles"]["wait"]["p90"], &Value::from(60.0));
    // Errors speak the same language.
    lab.expect(2, &split("queue mmc --arrival 40/h --service-time 12m --target-response 10m"))
        .says(&["mean response of 10 min cannot be reached", "12 min"]);
    lab.expect(2, &split("queue mmc --arrival 40/h --service-time 12m --servers 4")).says(&[
        "40 an hour",
        "20 an hour",
        "at least 9 servers",
    ]);
    lab.expect(2, &split("queue mm1 --arrival 40/h --service 1"))
        .says(&["`--service 1`", "no unit"]);
    lab.expect(2, &split("queue mm1 --arrival 4/fortnight --service 1")).says(&["fortnight"]);
}

#[test]
fn classes_and_customers_are_answered() {
    let lab = Lab::new();
    // Two classes by hand: residual work 0.375, loads 0.25 and 0.25.
    let ask = "queue priority --arrival 0.5,0.25 --service 2,1 --json";
    let plain = lab.json(&split(ask));
    close("class 1", &plain["classes"][0]["mean_wait"], &Value::from(0.5));
    close("class 2", &plain["classes"][1]["mean_wait"], &Value::from(1.0));
    let hurried = lab.json(&split(&format!("{ask} --preemptive")));
    close("class 1", &hurried["classes"][0]["mean_response"], &Value::from(1.0 / 1.5));
    assert_eq!(hurried["discipline"], "preemptive-resume");
    let target = lab.json(&split(
        "queue priority --arrival 2,3 --service 1 --target-response 1.5 --class 2 --json",
    ));
    assert_eq!(target["servers"], target["target"]["servers_needed"]);
    assert!(target["classes"][1]["mean_response"].as_f64().unwrap() <= 1.5);
    let told = lab.expect(0, &split("queue priority --arrival 2/h,6/h --service-time 5m")).stdout;
    assert!(told.contains("M/M/1 with 2 classes") && told.contains("2 an hour"), "{told}");
    // Four machines and one repairer: 1 + 0.4 + 0.12 + 0.024 + 0.0024.
    let finite = "queue finite --population 4 --arrival 0.1 --service 1 --servers 1 --json";
    let finite = lab.json(&split(finite));
    assert_eq!(finite["queue"], "M/M/1//4");
    close("p0", &finite["p0"], &Value::from(1.0 / 1.5464));
    for (ask, parts) in [
        ("priority --arrival 1,2,3 --service 9,9", ["lists 2 values", "3 classes"]),
        ("priority --arrival 1,2 --service 9 --class 3 --target-wait 1", ["no class 3", "1 to 2"]),
        ("priority --arrival 1,2 --service 2,3 --servers 2", ["closed form", "simulate"]),
        ("mm1 --arrival 1,2 --service 9", ["2 values", "priority"]),
        ("mm1 --arrival 1 --service 9 --preemptive", ["--preemptive", "priority"]),
        ("finite --arrival 1 --service 9 --servers 2", ["`finite` needs", "population"]),
        ("mm1 --service 9 --target-response 1 --service-time 2", ["--service", "cannot"]),
        ("mmc --arrival 2 --target-response 1", ["two of", "servers"]),
    ] {
        lab.expect(2, &split(&format!("queue {ask}"))).says(&parts);
    }
}

#[test]
fn simulations_agree_with_closed_forms() {
    let lab = Lab::new();
    for ask in [
        "mm1 --arrival 0.6 --service 1",
        "mmc --arrival 3 --service 1 --servers 4",
        "mmck --arrival 5 --service 1 --servers 4 --capacity 12",
        "mg1 --arrival 0.6 --service 1 --scv-service 0.3",
        "finite --arrival 0.3 --service 1 --servers 2 --population 9",
    ] {
        // The seed is fixed, so that this is no matter of luck.
        let ask = format!("queue simulate {ask} --jobs 200000 --confidence 0.999 --seed 3 --json");
        let seen = lab.json(&split(&ask));
        let figures = seen["figures"].as_array().unwrap();
        for own in figures {
            assert_ne!(own["within"], false, "{ask}: {own}");
        }
        assert!(figures.iter().filter(|own| own["within"] == true).count() >= 9, "{ask}");
        assert_eq!(seen, lab.json(&split(&ask)), "a seed decides everything");
    }
    let classes =
        "queue simulate priority --arrival 0.2,0.3 --service 1,2 --preemptive --jobs 200000";
    let told = lab.expect(0, &split(classes)).stdout;
    assert!(told.contains("class 2") && told.contains("of 8 figures"), "{told}");
    lab.expect(2, &split("queue simulate mm1 --arrival 2 --service 1")).says(&["grow for ever"]);
    lab.expect(2, &split("queue simulate mm1 --arrival 1 --service 2 --jobs 9")).says(&["jobs"]);
}

#[test]
fn a_page_shows_the_curve_and_the_target() {
    let lab = Lab::new();
    let ask =
        "queue mmc --arrival 40/h --service-time 8m --target-response 10m --report queue.html";
    lab.expect(0, &split(ask));
    let page = lab.read("queue.html");
    for part in ["response-curve", "response-by-servers", "target 600", "Content-Security-Policy"] {
        assert!(page.contains(part), "no {part}");
    }
    lab.expect(3, &split("queue mm1 --arrival 1 --service 2 --report nowhere/q.html"))
        .says(&["nowhere/q.html"]);
    let nearly = lab.expect(0, &split("queue mm1 --arrival 0.95 --service 1")).stdout;
    assert!(nearly.contains("Findings") && nearly.contains("busy 95 %"), "{nearly}");
}
