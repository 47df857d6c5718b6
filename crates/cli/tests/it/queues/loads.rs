//! `trainwright load`: real jobs arrive, wait, run and leave.

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::program::{Lab, shell_study, until};

fn split(words: &str) -> Vec<&str> {
    words.split(' ').collect()
}

fn lab(script: &str) -> Lab {
    Lab::with_study(&shell_study("[1, 2]", script, ""))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// What must hold for the jobs of any test, however long they took.
#[track_caller]
fn check_books(reply: &Value, servers: usize) {
    let jobs = reply["jobs"].as_array().unwrap();
    let time = |job: &Value, key: &str| number(&job[key]);
    for pair in jobs.windows(2) {
        assert_eq!(number(&pair[1]["number"]), number(&pair[0]["number"]) + 1.0);
        assert!(time(&pair[0], "arrival_s") <= time(&pair[1], "arrival_s"));
        assert!(time(&pair[0], "start_s") <= time(&pair[1], "start_s"), "first come first served");
    }
    for job in jobs {
        let (wait, service) = (time(job, "wait_s"), time(job, "service_s"));
        assert!((wait + service - time(job, "response_s")).abs() < 1e-9, "{job}");
        assert!(wait >= 0.0 && service >= time(job, "process_s"), "{job}");
        let start = time(job, "start_s");
        let running =
            |other: &&Value| time(other, "start_s") <= start && time(other, "end_s") > start;
        assert!(jobs.iter().filter(running).count() <= servers, "{job}");
    }
    let measured = &reply["measured"];
    if number(&measured["skipped"]) == 0.0 {
        let rate = number(&measured["jobs"]) / number(&measured["window"]);
        let law = rate * number(&measured["mean_response"]);
        assert!((law - number(&measured["mean_jobs"])).abs() < 1e-9, "Little's law");
    }
    assert_eq!(measured["first_come_first_served"], true);
}

#[test]
fn every_job_arrives_waits_runs_and_is_kept() {
    let lab = lab("sleep 0.02; echo $x >> ran");
    let ask = "load study.toml --rate 40/s --jobs 12 --slots 2 --set x=2 --report load.html --json";
    let reply = lab.json(&split(ask));
    assert_eq!(reply["schema"], "trainwright/load/1");
    assert_eq!((&reply["end"], &reply["planned"]), (&"complete".into(), &12.into()));
    assert_eq!(reply["configuration"]["x"], 2);
    assert_eq!(lab.read("ran"), "2\n".repeat(12));
    check_books(&reply, 2);
    assert_eq!(reply["model"]["queue"], "M/G/2");
    // The answer and the table of jobs lie beside the store.
    let kept: Value =
        serde_json::from_str(&lab.read("trainwright.loads/demo/load-0001.json")).unwrap();
    assert_eq!(kept, reply);
    assert_eq!(lab.lines("trainwright.loads/demo/load-0001.csv").len(), 13);
    let page = lab.read("load.html");
    for part in ["response-of-jobs", "jobs-in-system", "load-curve"] {
        assert!(page.contains(part), "no {part}");
    }
    // The same seed plans the same arrivals; the next test has its own files.
    let again = lab.json(&split("load study.toml --rate 40/s --jobs 4 --slots 2 --json"));
    for (a, b) in again["jobs"].as_array().unwrap().iter().zip(reply["jobs"].as_array().unwrap()) {
        assert_eq!(a["arrival_s"], b["arrival_s"]);
    }
    assert!(lab.path("trainwright.loads/demo/load-0002.json").exists());
    assert_eq!(again["configuration"]["x"], 1);
    // Trials of the study are not touched.
    lab.expect(0, &["run", "study.toml", "--no-flush"]);
    assert_eq!(lab.states(), [("finished".to_owned(), 2)].into());
}

#[test]
fn arrivals_can_be_regular_or_given() {
    let lab = lab("true");
    let ask = "load study.toml --rate 50 --jobs 5 --arrivals deterministic --warmup-jobs 2 --json";
    let regular = lab.json(&split(ask));
    let moments: Vec<f64> =
        regular["jobs"].as_array().unwrap().iter().map(|job| number(&job["arrival_s"])).collect();
    for (place, moment) in moments.iter().enumerate() {
        assert!((moment - 0.02 * (place + 1) as f64).abs() < 1e-12);
    }
    assert_eq!(
        (&regular["measured"]["jobs"], &regular["measured"]["skipped"]),
        (&3.into(), &2.into())
    );
    lab.write("moments.csv", "arrival_s\n0\n0\n# a pause\n0.05,x\n0.06\n");
    let given = lab.json(&split("load study.toml --arrivals-file moments.csv --json"));
    assert_eq!((&given["arrivals"], &given["rate_per_s"]), (&"file".into(), &Value::Null));
    check_books(&given, 1);
    let told = lab.expect(0, &split("load study.toml --arrivals-file moments.csv")).stdout;
    assert!(told.contains("4 of 4 ended") && told.contains("G/G/1 says"), "{told}");
}

#[test]
fn too_much_work_is_told_as_such() {
    let lab = lab("sleep 0.05");
    let reply = lab.json(&split("load study.toml --rate 1000/s --jobs 8 --json"));
    let ids: Vec<&str> = reply["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| own["id"].as_str().unwrap())
        .collect();
    assert!(ids.contains(&"queue-unstable") && ids.contains(&"load-few-jobs"), "{ids:?}");
    assert_eq!(reply["model"]["steady_state"], Value::Null);
}

#[test]
fn failed_jobs_are_counted_and_exit_1() {
    let lab = lab("[ $TRAINWRIGHT_TRIAL -ne 2 ]");
    let end = lab.expect(1, &split("load study.toml --rate 100/s --jobs 4 --json"));
    let reply: Value = serde_json::from_str(&end.stdout).unwrap();
    assert_eq!(reply["jobs"][1]["state"], "failed");
    assert!(reply["jobs"][1]["reason"].as_str().unwrap().contains("exit code 1"), "{reply}");
    assert_eq!(reply["findings"][0]["id"], "load-failed-jobs");
}

#[test]
fn ctrl_c_keeps_what_was_measured() {
    let lab = lab("[ $TRAINWRIGHT_TRIAL -le 3 ] && exit 0; echo up > hanging; sleep 600");
    let mut running = lab.start(&split("load study.toml --rate 200/s --jobs 9 --json"));
    until("a job hangs", || !lab.read("hanging").is_empty());
    running.signal(Signal::SIGINT);
    assert_eq!(running.end().code(), Some(130));
    let reply: Value = serde_json::from_str(&lab.read("running.stdout")).unwrap();
    assert_eq!(reply["end"], "interrupted");
    let states: Vec<&str> = reply["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| job["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["finished", "finished", "finished", "stopped"]);
    assert_eq!(reply["measured"]["jobs"], 3);
    assert_eq!(reply["findings"][0]["id"], "load-cut-short");
    let kept: Value =
        serde_json::from_str(&lab.read("trainwright.loads/demo/load-0001.json")).unwrap();
    assert_eq!(kept, reply);
}

#[test]
fn time_is_bounded() {
    let lab = lab("sleep 600");
    let reply = lab.json(&split("load study.toml --rate 100/s --jobs 3 --max-time 200ms --json"));
    assert_eq!(reply["end"], "time-up");
    assert_eq!(reply["jobs"][0]["state"], "stopped");
    assert_eq!(reply["measured"], Value::Null);
    assert!(reply["not_summed"].as_str().unwrap().contains("at least 3"), "{reply}");
}

#[test]
fn bad_requests_exit_2_before_anything_runs() {
    let lab = lab("echo >> ran");
    for (ask, parts) in [
        ("--rate -1 --jobs 3", ["arrival rate is -1", "between"]),
        ("--rate 1 --jobs 0", ["number of jobs is 0", "1 to"]),
        ("--jobs 3", ["--rate", "required"]),
        ("--rate 1", ["--jobs", "required"]),
        ("--rate 1 --jobs 3 --set y=1", ["no factor `y`", "`x`"]),
        ("--rate 1 --jobs 3 --set x=7", ["x=7", "levels"]),
        ("--rate 1 --jobs 3 --slots 0", ["--slots", "0"]),
        ("--rate 1 --jobs 3 --max-time 0", ["--max-time", "positive"]),
        ("--arrivals-file none.csv", ["none.csv", "cannot read"]),
        ("--arrivals file --rate 1 --jobs 3", ["--arrivals-file", "needs"]),
    ] {
        lab.expect(2, &split(&format!("load study.toml {ask}"))).says(&parts);
    }
    lab.write("back.csv", "3\n1\n");
    lab.expect(2, &split("load study.toml --arrivals-file back.csv")).says(&["line 2", "`1`"]);
    lab.expect(3, &split("load study.toml --rate 1 --jobs 3 --report nowhere/l.html"))
        .says(&["nowhere/l.html"]);
    assert_eq!(lab.read("ran"), "");
}
