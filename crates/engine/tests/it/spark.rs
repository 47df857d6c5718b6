//! Streamed tasks and gangs on a real cluster, and what happens when something breaks.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trainwright_engine::EngineError;
use trainwright_engine::spark::{
    GangOrder, GangWish, SparkDriver, StreamedEnd, StreamedOrder, run_gang, run_streamed,
};

use crate::cluster::Cluster;
use crate::executor::{driver, options};

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// Squares numbers on a cluster; what came back, by number.
fn squares(
    driver: &SparkDriver,
    numbers: &[i64],
    partitions: u32,
    body: Value,
) -> Result<(BTreeMap<i64, Value>, StreamedEnd), EngineError> {
    let order = StreamedOrder {
        driver,
        kind: "squares",
        common: body,
        tasks: numbers.iter().map(|number| json!(number)).collect(),
        partitions,
        words: "squares".to_owned(),
    };
    let mut found = BTreeMap::new();
    let end = run_streamed(order, &|| true, &mut |done| -> Result<(), EngineError> {
        let before = found.insert(numbers[done.task], done.result);
        assert_eq!(before, None, "a task counts once");
        Ok(())
    })?;
    Ok((found, end))
}

fn check(found: &BTreeMap<i64, Value>, numbers: &[i64]) {
    assert_eq!(found.len(), numbers.len());
    assert!(found.iter().all(|(number, own)| own["square"] == number * number), "{found:?}");
}

#[test]
fn tasks_are_streamed_through_partitions_and_each_counts_once() {
    let Some(driver) = driver() else { return };
    let numbers: Vec<i64> = (0..200).collect();
    let (found, end) = squares(&driver, &numbers, 4, json!({})).unwrap();
    check(&found, &numbers);
    assert_eq!(end.cluster.len(), 4, "one attempt a partition");
    for task in &end.cluster {
        assert_eq!((task.status.as_str(), task.attempt), ("success", 1));
        assert!(task.host.starts_with("127.0.0."), "{task:?}");
        assert!(task.duration_s > Some(0.0) && task.scheduler_delay_s.is_some(), "{task:?}");
        let usage = task.usage.as_ref().expect("the process tells what it used");
        assert!(usage.peak_memory_bytes > Some(100_000) && usage.wall_s > 0.0, "{usage:?}");
    }
}

#[test]
fn a_task_that_fails_is_tried_again_and_the_others_are_not() {
    let Some(driver) = driver() else { return };
    let numbers = [1, 2, -3, 4, 5, 6, 7, 8];
    let (found, end) = squares(&driver, &numbers, 4, json!({"fails": 2})).unwrap();
    check(&found, &numbers);
    assert_eq!(found[&-3]["attempt"], 2, "the third attempt made it");
    let failed: Vec<_> = end.cluster.iter().filter(|task| task.status == "failed").collect();
    assert_eq!((failed.len(), end.cluster.len()), (2, 4 + 2));
    for task in failed {
        let said = task.error.as_deref().expect("its standard error is kept");
        let words = format!("attempt {} dislikes -3", task.attempt - 1);
        assert!(said.contains(&words), "{said}");
    }
}

#[test]
fn a_task_that_never_succeeds_fails_the_job_with_what_it_said_and_spark_goes_on() {
    let Some(driver) = driver() else { return };
    let error = squares(&driver, &[1, -3], 2, json!({"fails": 99})).unwrap_err().to_string();
    assert!(error.contains("dislikes -3"), "{error}");
    assert!(error.contains("attempt 4"), "four attempts are Spark's default: {error}");
    check(&squares(&driver, &[5], 1, json!({})).unwrap().0, &[5]);
}

#[test]
fn a_result_comes_back_while_the_next_task_of_its_partition_still_runs() {
    let Some(driver) = driver() else { return };
    let folder = tempfile::tempdir().unwrap();
    let go = folder.path().join("go");
    let order = StreamedOrder {
        driver: &driver,
        kind: "squares",
        // The second one waits until somebody has heard of the first.
        common: json!({"go": go, "free": 1}),
        tasks: vec![json!(1), json!(2)],
        partitions: 1,
        words: "squares one by one".to_owned(),
    };
    let begun = Instant::now();
    let goes_on = || begun.elapsed() < PATIENCE;
    let mut heard = Vec::new();
    let end = run_streamed(order, &goes_on, &mut |done| -> Result<(), EngineError> {
        heard.push(done.result["square"].as_i64().unwrap());
        std::fs::write(&go, "").unwrap();
        Ok(())
    });
    assert!(!end.unwrap().stopped, "only {heard:?} came back");
    assert_eq!(heard, [1, 4]);
}

#[test]
fn a_job_can_be_stopped_and_leaves_no_process() {
    let Some(driver) = driver() else { return };
    let go = "/nowhere/go";
    let order = StreamedOrder {
        driver: &driver,
        kind: "squares",
        common: json!({"go": go}),
        tasks: vec![json!(1), json!(2)],
        partitions: 2,
        words: "stopped squares".to_owned(),
    };
    let begun = Instant::now();
    let goes_on = || begun.elapsed() < Duration::from_secs(3);
    let never = &mut |_| -> Result<(), EngineError> { panic!("nothing comes back") };
    let end = run_streamed(order, &goes_on, never).unwrap();
    assert!(end.stopped);
}

#[test]
fn a_stranger_without_the_secret_is_turned_away() {
    let Some(driver) = driver() else { return };
    let mut line = TcpStream::connect(("127.0.0.1", driver.link_port())).unwrap();
    let hello = json!({"proof": "00", "nonce": "00", "job": 1, "machine": "x",
                       "task": {"partition": 0, "attempt": 0, "task_id": 0, "stage": 0}});
    writeln!(line, "{hello}").unwrap();
    let mut said = String::new();
    line.read_to_string(&mut said).unwrap();
    assert_eq!(said.lines().count(), 1, "a challenge, and then nothing: {said}");
    check(&squares(&driver, &[5], 1, json!({})).unwrap().0, &[5]);
}

#[test]
fn a_gang_without_enough_slots_is_refused_at_once() {
    let Some(driver) = driver() else { return };
    let order = GangOrder {
        driver: &driver,
        kind: "nobody",
        body: json!({}),
        ranks: 99,
        words: "too many".to_owned(),
    };
    let begun = Instant::now();
    let refused = run_gang(&order, &mut |_| GangWish::GoOn).unwrap_err();
    assert!(matches!(refused, EngineError::TooFewSlots { wanted: 99, slots: 4 }), "{refused}");
    // Spark alone would look for ten minutes.
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

#[test]
#[ignore = "an application of its own takes half a minute"]
fn a_straggler_is_speculated_and_the_first_result_counts() {
    if !Cluster::is_possible() {
        return;
    }
    let (cluster, folder) = (Cluster::start(2), tempfile::tempdir().unwrap());
    let conf = [
        ("spark.speculation", "true"),
        ("spark.speculation.interval", "100ms"),
        ("spark.speculation.minTaskRuntime", "2s"),
    ];
    let driver =
        SparkDriver::start(&options(&cluster.master, folder.path(), &conf), &|| true).unwrap();
    let numbers: Vec<i64> = (0..8).collect();
    let begun = Instant::now();
    // The slow one sleeps a minute on its first attempt.
    let (found, end) = squares(&driver, &numbers, 8, json!({"slow": 5})).unwrap();
    check(&found, &numbers);
    assert_eq!(found[&5]["attempt"], 1, "the second attempt was faster");
    assert!(end.cluster.iter().any(|task| task.speculative), "{end:?}");
    assert!(begun.elapsed() < Duration::from_secs(50), "{:?}", begun.elapsed());
}

#[test]
#[ignore = "a cluster of its own takes a minute"]
fn an_executor_that_is_killed_in_the_middle_costs_no_task() {
    if !Cluster::is_possible() {
        return;
    }
    let (cluster, folder) = (Cluster::start(2), tempfile::tempdir().unwrap());
    let driver =
        SparkDriver::start(&options(&cluster.master, folder.path(), &[]), &|| true).unwrap();
    assert_eq!(driver.slots(4).unwrap(), 4);
    let go = folder.path().join("go");
    let numbers: Vec<i64> = (0..12).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            wait_for_processes(folder.path(), 4);
            assert!(cluster.kill_executors(Some("127.0.0.2")) > 0);
            std::fs::write(&go, "").unwrap();
        });
        let body = json!({"go": go});
        let (found, end) = squares(&driver, &numbers, 4, body).unwrap();
        check(&found, &numbers);
        let retried = end.cluster.iter().filter(|task| task.attempt > 1).count();
        assert!(retried >= 1, "{end:?}");
    });
}

/// Waits until so many processes of tasks run.
fn wait_for_processes(_: &Path, count: usize) {
    let begun = Instant::now();
    loop {
        let words = "executor::process_of_a_task --ignored";
        let running = crate::cluster::processes().into_iter().filter(|own| own.1.contains(words));
        if running.count() >= count {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "no processes");
        std::thread::sleep(Duration::from_millis(50));
    }
}
