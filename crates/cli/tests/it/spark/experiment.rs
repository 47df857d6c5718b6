//! The ready experiment on caching and partitions.

use std::fs;
use std::path::Path;

use super::cluster::Cluster;
use crate::program::Lab;

#[test]
#[ignore = "twelve starts of Spark take minutes"]
fn caching_and_partitions_change_the_time_and_not_the_answers() {
    if !Cluster::is_possible() {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/spark-cache");
    let lab = Lab::new();
    for name in ["study.toml", "job.sh", "job.py"] {
        lab.write(name, fs::read(folder.join(name)).unwrap());
    }
    let found = lab.json(&["run", "study.toml", "--json"]);
    assert_eq!(found["trials"]["finished"], 12, "{found}");
    let rows = lab.rows();
    assert!(rows.iter().all(|row| row["checksum"] == rows[0]["checksum"]), "{rows:?}");
    // Without a cache each of four questions reads all files again.
    let mean = |cache: &str| {
        let own = rows.iter().filter(|row| row["cache"] == cache);
        own.map(|row| row["job_time"].as_f64().unwrap()).sum::<f64>() / 6.0
    };
    assert!(mean("no") > mean("yes"), "{} against {}", mean("no"), mean("yes"));
    let terms = found["analysis"]["anova"][0]["rows"].as_array().unwrap();
    assert!(terms.iter().any(|row| row["term"] == "cache" && row["p"].is_number()), "{terms:?}");
}
