//! This test program as the one that executors run, and the application that tests share.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};
use tempfile::TempDir;
use trainwright_engine::EngineError;
use trainwright_engine::spark::{
    ExecutorLink, SparkDriver, SparkOptions, TRIAL_KIND, serve_streamed, serve_trial,
};

use crate::cluster::Cluster;

/// A program that runs this test binary as an executor's process.
pub(crate) fn program(folder: &Path) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let path = folder.join("executor-program");
    let words = "--exact executor::process_of_a_task --ignored --nocapture --quiet";
    fs::write(&path, format!("#!/bin/sh\nexec {} {words}\n", own.display())).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

pub(crate) fn options(master: &str, folder: &Path, conf: &[(&str, &str)]) -> SparkOptions {
    let usual = [("spark.executor.memory", "512m")];
    let pairs = usual.iter().chain(conf).map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
    SparkOptions {
        master: master.to_owned(),
        conf: pairs.collect(),
        suited: Vec::new(),
        program: program(folder),
    }
}

/// The application of all tests of this binary; nothing where there is no Spark.
pub(crate) fn driver() -> Option<Arc<SparkDriver>> {
    static SHARED: OnceLock<Option<(Arc<SparkDriver>, Cluster, TempDir)>> = OnceLock::new();
    let shared = SHARED.get_or_init(|| {
        if !Cluster::is_possible() {
            return None;
        }
        let (cluster, folder) = (Cluster::start(2), tempfile::tempdir().unwrap());
        let options = options(&cluster.master, folder.path(), &[]);
        let driver = SparkDriver::start(&options, &|| true).unwrap();
        Some((Arc::new(driver), cluster, folder))
    });
    shared.as_ref().map(|own| Arc::clone(&own.0))
}

/// What a task's process does; it is no test, and ends at once where Spark did not start it.
#[test]
#[ignore = "started by Spark"]
fn process_of_a_task() {
    let link = ExecutorLink::open().unwrap();
    let Some((kind, body)) = link.work().unwrap() else { return };
    match kind.as_str() {
        TRIAL_KIND => serve_trial(&link, body, Path::new("/bin/sh")).unwrap(),
        "squares" => serve_streamed(&link, &mut |task| square(&task, &link, &body)).unwrap(),
        other => panic!("{other}"),
    }
}

/// Squares a number. A negative one fails while the attempt is below what the body says; the number
/// that the body calls slow takes long on a first attempt; all but the one it calls free wait for a
/// file, where it names one.
fn square(task: &Value, link: &ExecutorLink, body: &Value) -> Result<Value, EngineError> {
    let (number, attempt) = (task.as_i64().unwrap(), i64::from(link.task().attempt));
    if number < 0 && attempt < body["fails"].as_i64().unwrap_or(0) {
        let problem = format!("attempt {attempt} dislikes {number}");
        return Err(EngineError::Link { address: "a test".to_owned(), problem });
    }
    if let Some(go) = body["go"].as_str().filter(|_| Some(number) != body["free"].as_i64()) {
        // Until somebody lets it go, or the runner ends it.
        while !Path::new(go).exists() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
    if Some(number) == body["slow"].as_i64() && attempt == 0 {
        std::thread::sleep(std::time::Duration::from_secs(60));
    }
    Ok(json!({"square": number * number, "attempt": attempt}))
}
