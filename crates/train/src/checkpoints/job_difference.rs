//! Whether a checkpoint is of the job that asks for it.

use serde_json::Value;

/// Keys of a job that may differ between an interrupted run and the one that goes on.
const FREE_KEYS: [&str; 10] = [
    "threads",
    "time_limit_s",
    "data_dir",
    "tensorboard",
    "strategy",
    "replicas",
    "workers",
    "servers",
    "elastic",
    "overlap",
];

/// Of those, the ones on which the batch depends where it is that of each replica.
const COUNTS: [&str; 2] = ["replicas", "workers"];

/// The first key in which two jobs differ, in words.
pub(super) fn difference(kept: &str, asked: &str) -> Option<String> {
    let [kept, asked] = [kept, asked].map(|text| serde_json::from_str(text).unwrap_or(Value::Null));
    let object = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let (kept, asked) = (object(&kept), object(&asked));
    let counts_matter = kept.contains_key("scaling");
    let is_free = |key: &str| FREE_KEYS.contains(&key) && !(counts_matter && COUNTS.contains(&key));
    let keys = kept.keys().chain(asked.keys()).filter(|key| !is_free(key));
    keys.into_iter().find(|key| kept.get(*key) != asked.get(*key)).map(|key| {
        let show = |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
        format!(
            "it is of a job with `{key}` {}, now {} is asked for",
            show(kept.get(key)),
            show(asked.get(key))
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_different_job_is_told_by_its_key() {
        let found = difference(r#"{"lr":0.1,"threads":1}"#, r#"{"lr":0.2,"threads":2}"#);
        assert_eq!(found.unwrap(), "it is of a job with `lr` 0.1, now 0.2 is asked for");
        assert_eq!(difference(r#"{"lr":0.1,"threads":1}"#, r#"{"lr":0.1,"threads":2}"#), None);
        let per_replica =
            |workers: u32| format!(r#"{{"scaling":"per-replica","workers":{workers}}}"#);
        assert_eq!(difference(r#"{"workers":2}"#, r#"{"workers":3}"#), None);
        assert!(difference(&per_replica(2), &per_replica(3)).is_some(), "it is another batch");
        let found = difference("{}", r#"{"warmup":2}"#);
        assert_eq!(found.unwrap(), "it is of a job with `warmup` nothing, now 2 is asked for");
    }

    #[test]
    fn where_and_on_how_many_a_job_runs_may_change_and_nothing_else() {
        for key in FREE_KEYS {
            let job = |value: u32| format!(r#"{{"{key}":{value}}}"#);
            assert_eq!(difference(&job(1), &job(2)), None, "{key}");
            assert_eq!(difference("{}", &job(2)), None, "{key}");
        }
        for key in ["network", "data", "seed", "batch", "lr", "optimizer", "micro_batch", "split"] {
            let job = |value: u32| format!(r#"{{"{key}":{value}}}"#);
            let words = format!("it is of a job with `{key}` 1, now 2 is asked for");
            assert_eq!(difference(&job(1), &job(2)), Some(words));
        }
        assert_eq!(difference("{}", "{}"), None);
    }
}
