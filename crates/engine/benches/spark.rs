//! What Spark costs beyond the work: for a streamed task, for a trial, for the start of a gang.
//!
//! Needs a cluster in `SPARK_MASTER`; prints JSON. This program is also what the executors run. Java
//! compiles what it runs often, so that the first tens of jobs take longer: a first round, told as
//! `cold`, counts for nothing else.

#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trainwright_engine::spark::{
    ExecutorLink, GangOrder, GangWish, SparkDriver, SparkEngine, SparkOptions, SparkPlace,
    StreamedOrder, TRIAL_KIND, run_gang, run_streamed, serve_streamed, serve_trial,
};
use trainwright_engine::{
    Engine, EngineError, EngineEvent, LocalEngine, LocalPlace, TrialOrder, TrialStart,
};
use trainwright_study::{Configuration, Level, PlannedTrial, Study};

const ROUNDS: usize = 5;
const TASKS: usize = 2_000;
const TRIALS: u32 = 20;

fn main() {
    if std::env::args().any(|word| word == "executor") {
        return executor();
    }
    let Ok(master) = std::env::var("SPARK_MASTER") else {
        // As under `cargo test --benches`, where there is no cluster.
        println!("set SPARK_MASTER to a cluster");
        return;
    };
    let begun = Instant::now();
    let options = SparkOptions {
        master,
        conf: vec![("spark.executor.memory".to_owned(), "512m".to_owned())],
        suited: Vec::new(),
        program: std::env::current_exe().unwrap(),
    };
    let driver = Arc::new(SparkDriver::start(&options, &|| true).unwrap());
    let start_s = begun.elapsed().as_secs_f64();
    let slots = driver.slots(u32::MAX).unwrap();
    let (first_job_s, _) = timed(|| streamed(&driver, 1, 1));
    let cold = round(&driver, slots);
    let rounds: Vec<Value> = (0..ROUNDS).map(|_| round(&driver, slots)).collect();
    println!(
        "{}",
        json!({
            "slots": slots, "start_s": start_s, "first_job_s": first_job_s,
            "tasks": TASKS, "trials": TRIALS, "cold": cold, "rounds": rounds,
        })
    );
}

/// Everything once.
fn round(driver: &Arc<SparkDriver>, slots: u32) -> Value {
    let (one, _) = timed(|| streamed(driver, slots, slots as usize));
    let (many, _) = timed(|| streamed(driver, slots, TASKS));
    let [local, spark] = [trials(&mut local()), trials(&mut on_spark(driver))];
    let (gang, _) = timed(|| gang(driver, 2));
    json!({
        "warm_job_ms": one * 1e3,
        "streamed_task_ms": many * 1e3 / TASKS as f64,
        "trial_local_ms": local * 1e3,
        "trial_spark_ms": spark * 1e3,
        "trial_overhead_ms": (spark - local) * 1e3,
        "gang_of_2_s": gang,
    })
}

fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let begun = Instant::now();
    let result = work();
    (begun.elapsed().as_secs_f64(), result)
}

fn streamed(driver: &SparkDriver, partitions: u32, count: usize) {
    let order = StreamedOrder {
        driver,
        kind: "nothing",
        common: Value::Null,
        tasks: vec![Value::Null; count],
        partitions,
        words: "nothing".to_owned(),
    };
    run_streamed(order, &|| true, &mut |_| Ok::<(), EngineError>(())).unwrap();
}

fn gang(driver: &SparkDriver, ranks: u32) {
    let words = "a gang that only meets".to_owned();
    let order = GangOrder { driver, kind: "meet", body: Value::Null, ranks, words };
    let end = run_gang(&order, &mut |_| GangWish::GoOn).unwrap();
    assert_eq!(end.failure, None);
}

struct Lab {
    folder: tempfile::TempDir,
    engine: Box<dyn Engine>,
}

fn local() -> Lab {
    let folder = tempfile::tempdir().unwrap();
    let place =
        LocalPlace { trials: folder.path().to_owned(), program: "/bin/sh".into(), slots: 1 };
    Lab { engine: Box::new(LocalEngine::new(place).unwrap()), folder }
}

fn on_spark(driver: &Arc<SparkDriver>) -> Lab {
    let folder = tempfile::tempdir().unwrap();
    let place = SparkPlace { trials: folder.path().to_owned(), slots: 1 };
    Lab { engine: Box::new(SparkEngine::new(Arc::clone(driver), place).unwrap()), folder }
}

/// Seconds that a trial takes whose program does next to nothing, one after the other.
fn trials(lab: &mut Lab) -> f64 {
    let text = "schema = 1\nstudy.name = \"nothing\"\nfactors.x.levels = [1, 2]\n\
                design.type = \"full\"\nrun.command = [\"echo\", '::metric {\"y\": {x}}']\n\
                metrics.y.objective = \"maximize\"\n";
    let path = lab.folder.path().join("study.toml");
    std::fs::write(&path, text).unwrap();
    let study = Arc::new(Study::load(&path).unwrap());
    let begun = Instant::now();
    for number in 1..=TRIALS {
        let trial = PlannedTrial {
            number,
            row: Some(1),
            replicate: 1,
            configuration: Configuration::new(vec![("x".to_owned(), Level::Integer(2))]),
            seed: 7,
            block: None,
            whole_plot: None,
        };
        let study = Arc::clone(&study);
        lab.engine
            .submit(TrialOrder {
                study,
                trial,
                slots: 1,
                start: TrialStart::Anew,
                variables: Default::default(),
            })
            .unwrap();
        while !lab.engine.next_event(Duration::from_secs(60)).is_some_and(|own| is_good_end(&own)) {
        }
    }
    begun.elapsed().as_secs_f64() / f64::from(TRIALS)
}

fn is_good_end(event: &EngineEvent) -> bool {
    if let EngineEvent::Ended { record, .. } = event {
        assert!(!record.measurements.is_empty(), "{record:?}");
    }
    event.is_end()
}

fn executor() {
    let link = ExecutorLink::open().unwrap();
    let Some((kind, body)) = link.work().unwrap() else { return };
    match kind.as_str() {
        TRIAL_KIND => serve_trial(&link, body, Path::new("/bin/sh")).unwrap(),
        "meet" => {
            let own = format!("rank {}", link.task().partition);
            assert!(link.exchange_addresses(&own).unwrap().contains(&own));
            link.close();
        }
        _ => serve_streamed(&link, &mut |_| Ok::<Value, EngineError>(Value::Null)).unwrap(),
    }
}
