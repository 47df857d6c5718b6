//! Jobs whose parameters are with servers, all on threads of this process.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use trainwright_study::{JobSpec, Seed};
use trainwright_train::{
    CheckpointEvery, CheckpointOptions, CheckpointStart, Done, Flow, TrainEvent, TrainOptions,
    TrainOutcome, train_with,
};

use crate::strategies::{job, pictures};

/// A job on servers.
fn served(job: &JobSpec, workers: u32, servers: u32, more: &Value) -> JobSpec {
    let mut all = serde_json::to_value(job).unwrap();
    let own = json!({ "strategy": "parameter-server", "workers": workers, "servers": servers });
    for keys in [&own, more] {
        all.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
    }
    serde_json::from_value(all).unwrap()
}

fn done_with(job: &JobSpec, options: &TrainOptions) -> Done {
    match train_with(job, options, &mut |_| Flow::Continue).unwrap() {
        TrainOutcome::Done(done) => done,
        other => panic!("the job should have finished: {other:?}"),
    }
}

fn done(job: &JobSpec) -> Done {
    done_with(job, &TrainOptions::default())
}

/// Sparse examples of forty features, with a test part.
fn sparse() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, count, first) in [("set", 600_u64, 0), ("set.t", 150, 10_000)] {
        let line = |example: u64| {
            let seed = Seed::new(first + example + 1);
            let mut ids: Vec<u64> = (0..6).map(|at| seed.derive(at).value() % 40 + 1).collect();
            ids.sort_unstable();
            ids.dedup();
            // Features below 20 speak for one class, with some noise.
            let low = ids.iter().filter(|id| **id <= 20).count();
            let noise = seed.derive(77).value().is_multiple_of(10);
            let label = if (2 * low > ids.len()) != noise { "+1" } else { "-1" };
            let value = |id: &u64| format!(" {id}:{}", 1 + seed.derive(100 + id).value() % 3);
            format!("{label}{}\n", ids.iter().map(value).collect::<String>())
        };
        let text: String = (0..count).map(line).collect();
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn sparse_job(folder: &Path, optimizer: &str, batch: u32) -> JobSpec {
    let keys = json!({
        "network": "logistic", "optimizer": optimizer, "batch": batch, "lr": 0.1, "epochs": 2,
    });
    job(&folder.join("set"), &keys)
}

#[track_caller]
fn check_bits(alone: &JobSpec, cast: &[(u32, u32)], more: &Value) {
    let expected = done(alone);
    for &(workers, servers) in cast {
        let found = done(&served(alone, workers, servers, more));
        let words = format!("{workers} workers, {servers} servers, {more}");
        assert_eq!(found.parameters_hash, expected.parameters_hash, "{words}");
        let scores = |done: &Done| [done.test_loss, done.test_accuracy, done.train_accuracy];
        assert_eq!(scores(&found), scores(&expected), "{words}");
        // Losses are added up share by share, in double precision.
        let gap = (found.train_loss - expected.train_loss).abs();
        assert!(gap <= 1e-12 * expected.train_loss.abs(), "{words}: {gap}");
        assert_eq!(found.steps, expected.steps, "{words}");
    }
}

#[test]
fn synchronous_workers_learn_the_bits_of_one_device() {
    // 40 pictures in batches of 16 leave a step of 8; four by micro-batch, three in the odd case.
    let set = pictures(40, 12);
    for (optimizer, micro_batch) in [("momentum", 4), ("adam", 3)] {
        let keys = json!({
            "network": "mlp", "optimizer": optimizer, "micro_batch": micro_batch, "clip_norm": 0.5,
        });
        let job = job(set.path(), &keys);
        check_bits(&job, &[(1, 1), (2, 1), (3, 2), (5, 3)], &json!({}));
    }
}

#[test]
fn batch_norm_and_dropout_do_not_know_of_servers() {
    let set = pictures(40, 12);
    let network = set.path().join("small.toml");
    let keys = json!({
        "network": network, "optimizer": "momentum", "micro_batch": 4, "augment": "flip",
    });
    let job = job(set.path(), &keys);
    check_bits(&job, &[(1, 2), (3, 2)], &json!({}));
    check_bits(&job, &[(1, 2)], &json!({ "consistency": "async" }));
}

#[test]
fn one_asynchronous_worker_learns_the_bits_of_one_device_and_nothing_is_stale() {
    let set = pictures(40, 12);
    for keys in [
        json!({ "network": "mlp", "optimizer": "adam", "clip_norm": 0.5 }),
        json!({ "network": "mlp", "optimizer": "sgd", "micro_batch": 5 }),
    ] {
        let job = job(set.path(), &keys);
        check_bits(&job, &[(1, 1), (1, 3)], &json!({ "consistency": "async" }));
        let found = done(&served(&job, 1, 2, &json!({ "consistency": "async" })));
        for server in &found.ranks[2..] {
            assert_eq!(server.staleness, [found.steps], "{server:?}");
        }
    }
}

#[test]
fn no_slack_is_synchronous() {
    let set = pictures(40, 12);
    let keys = json!({ "network": "mlp", "optimizer": "adam", "micro_batch": 4, "clip_norm": 1.0 });
    let job = job(set.path(), &keys);
    let bounded = json!({ "consistency": "bounded", "staleness": 0 });
    check_bits(&job, &[(1, 1), (3, 2)], &bounded);
}

#[test]
fn every_gradient_is_counted_with_its_staleness_and_bounded_ones_are_bounded() {
    let set = pictures(200, 8);
    let keys = json!({ "network": "mlp", "optimizer": "sgd", "batch": 4 });
    let job = job(set.path(), &keys);
    let shares = |consistency: &str| if consistency == "bounded" { 3 } else { 1 };
    for more in
        [json!({ "consistency": "async" }), json!({ "consistency": "bounded", "staleness": 2 })]
    {
        let found = done(&served(&job, 3, 2, &more));
        assert_eq!(found.steps, 100);
        let roles: Vec<usize> = found.ranks.iter().map(|own| own.rank).collect();
        assert_eq!(roles, [0, 1, 2, 3, 4, 5]);
        for server in &found.ranks[4..] {
            let counted: u64 = server.staleness.iter().sum();
            assert_eq!(counted, 100 * shares(more["consistency"].as_str().unwrap()));
            assert!(server.staleness.len() <= 3 || more["consistency"] == "async");
            assert_eq!(server.dropped, 0);
        }
        let computed = |rank: usize| found.ranks[rank].compute_s > 0.0;
        assert!(!computed(0) && computed(1) && computed(2) && computed(3));
        let sent: u64 = found.ranks[1..4].iter().map(|own| own.bytes_sent).sum();
        let received: u64 = found.ranks[4..].iter().map(|own| own.bytes_received).sum();
        assert!(received > 0 && sent > received, "the leader hears from workers too");
        assert_eq!(found.bytes_sent, found.ranks.iter().map(|own| own.bytes_sent).sum::<u64>());
    }
}

#[test]
fn leader_workers_and_servers_account_for_their_time() {
    let set = pictures(120, 28);
    let keys = json!({ "network": "mlp", "optimizer": "adam", "epochs": 12 });
    let job = job(set.path(), &keys);
    for more in [
        json!({ "consistency": "sync" }),
        json!({ "consistency": "async" }),
        json!({ "consistency": "bounded", "staleness": 2 }),
    ] {
        let found = done(&served(&job, 2, 2, &more));
        for own in &found.ranks {
            let covered = own.accounted_s() / own.wall_s;
            // A busy machine takes the cores between two looks at the clock; a server's account
            // is made of work and of what is left.
            let least = if own.rank > 2 { 0.999 } else { 0.7 };
            assert!((least..1.001).contains(&covered), "{more}, {covered}: {own:?}");
        }
        for worker in &found.ranks[1..3] {
            assert!(worker.server_queue_s > 0.0 && worker.communication_s > 0.0, "{worker:?}");
            assert!(worker.cpu_s.is_some_and(|cpu| cpu > 0.0), "{worker:?}");
        }
        for server in &found.ranks[3..] {
            let times = [server.idle_s, server.communication_s, server.update_s];
            assert!(times.iter().all(|time| *time > 0.0), "{server:?}");
            assert_eq!(server.server_queue_s, 0.0, "a server does not wait at itself");
        }
    }
}

#[test]
fn a_sparse_model_on_servers_learns_the_bits_of_one_device() {
    let set = sparse();
    for optimizer in ["sgd", "adagrad", "ftrl"] {
        for batch in [1, 7, 100] {
            let job = sparse_job(set.path(), optimizer, batch);
            check_bits(&job, &[(1, 1), (1, 3)], &json!({ "consistency": "async" }));
            check_bits(&job, &[(1, 2)], &json!({}));
        }
    }
}

#[test]
fn sparse_workers_together_differ_from_one_device_by_rounding_alone() {
    let set = sparse();
    let job = sparse_job(set.path(), "adagrad", 50);
    let alone = done(&job);
    for (workers, servers) in [(2, 1), (3, 2)] {
        let found = done(&served(&job, workers, servers, &json!({})));
        let gap = (found.test_loss - alone.test_loss).abs();
        assert!(gap < 1e-5 * alone.test_loss, "{workers} workers: {gap}");
    }
}

#[test]
fn asynchronous_sparse_workers_learn_too() {
    let set = sparse();
    let job = sparse_job(set.path(), "adagrad", 5);
    let alone = done(&job);
    let found = done(&served(&job, 4, 2, &json!({ "consistency": "async" })));
    assert_eq!(found.steps, alone.steps);
    assert!(found.test_accuracy > alone.test_accuracy - 0.1, "{}", found.test_accuracy);
}

#[test]
fn a_recorded_run_is_computed_again_to_the_bit() {
    let (set, rows) = (pictures(60, 12), sparse());
    let network = set.path().join("small.toml");
    let dense = json!({
        "network": network, "optimizer": "adam", "batch": 4, "clip_norm": 0.5, "epochs": 2,
    });
    let jobs = [job(set.path(), &dense), sparse_job(rows.path(), "adagrad", 10)];
    let folder = tempfile::tempdir().unwrap();
    for (at, job) in jobs.iter().enumerate() {
        for more in
            [json!({ "consistency": "async" }), json!({ "consistency": "bounded", "staleness": 2 })]
        {
            // The sparse model is not clipped.
            let path = folder.path().join(format!("{at}.jsonl"));
            let spec = served(job, 3, 2, &more);
            let record = TrainOptions { record: Some(path.clone()), ..TrainOptions::default() };
            let found = done_with(&spec, &record);
            let replay = TrainOptions { replay: Some(path), ..TrainOptions::default() };
            let again = done_with(&spec, &replay);
            assert_eq!(again.parameters_hash, found.parameters_hash, "{more}");
            assert_eq!(again.test_loss, found.test_loss, "{more}");
        }
    }
}

#[test]
fn only_runs_on_servers_are_recorded() {
    let set = pictures(9, 6);
    let job = job(set.path(), &json!({ "network": "mlp" }));
    let options = TrainOptions { record: Some("run.jsonl".into()), ..TrainOptions::default() };
    let error = train_with(&job, &options, &mut |_| Flow::Continue).unwrap_err().to_string();
    assert!(error.starts_with("--record is for strategy `parameter-server`"), "{error}");
    let job = served(&job, 3, 2, &json!({ "backup": 1 }));
    let error = train_with(&job, &options, &mut |_| Flow::Continue).unwrap_err().to_string();
    assert!(error.starts_with("--record does not go with backup workers"), "{error}");
}

#[test]
fn a_checkpoint_of_some_servers_goes_on_with_others_and_on_one_device() {
    let (set, rows) = (pictures(40, 12), sparse());
    let keys = json!({ "network": "mlp", "optimizer": "adam", "micro_batch": 4, "epochs": 3 });
    for job in [job(set.path(), &keys), sparse_job(rows.path(), "ftrl", 40)] {
        let whole = done(&job);
        // Sums of several workers on a sparse model depend on their number.
        let sparse = job.micro_batch.is_none();
        let workers = |count: u32| if sparse { 1 } else { count };
        for goes_on in [Some((workers(3), 1)), None] {
            let kept = tempfile::tempdir().unwrap();
            let options = |start| TrainOptions {
                checkpoint: Some(CheckpointOptions {
                    folder: kept.path().to_owned(),
                    every: CheckpointEvery::Epochs(1),
                    start,
                }),
                ..TrainOptions::default()
            };
            let mut epochs = 0;
            let first = served(&job, workers(2), 3, &json!({}));
            let stopped = train_with(&first, &options(CheckpointStart::Fresh), &mut |event| {
                epochs += u32::from(matches!(event, TrainEvent::Epoch(_)));
                if epochs == 1 { Flow::Stop } else { Flow::Continue }
            });
            assert!(matches!(stopped.unwrap(), TrainOutcome::Stopped(_)));
            let second = match goes_on {
                Some((workers, servers)) => served(&job, workers, servers, &json!({})),
                None => job.clone(),
            };
            let resumed = done_with(&second, &options(CheckpointStart::Resume));
            assert_eq!(resumed.parameters_hash, whole.parameters_hash, "{goes_on:?}");
        }
    }
}

#[test]
fn backup_workers_learn_from_every_example_once() {
    let set = pictures(42, 8);
    let keys = json!({ "network": "mlp", "optimizer": "sgd", "batch": 8, "epochs": 2 });
    let alone = done(&job(set.path(), &keys));
    let spec = served(&job(set.path(), &keys), 4, 2, &json!({ "backup": 1 }));
    let mut seen = Vec::new();
    let outcome = train_with(&spec, &TrainOptions::default(), &mut |event| {
        if let TrainEvent::Step(step) = event {
            seen.push(step.batch);
        }
        Flow::Continue
    });
    let TrainOutcome::Done(found) = outcome.unwrap() else { panic!("it should finish") };
    assert_eq!(seen.iter().sum::<usize>(), 84);
    assert_eq!(found.steps, alone.steps);
    for server in &found.ranks[5..] {
        assert_eq!(server.staleness, [3 * found.steps], "never of an old version: {server:?}");
    }
}

#[test]
fn a_loss_that_is_no_number_ends_the_job_as_diverged() {
    let set = pictures(40, 12);
    let keys = json!({ "network": "mlp", "optimizer": "sgd", "lr": 1e30, "epochs": 3 });
    for more in [json!({}), json!({ "consistency": "async" })] {
        let spec = served(&job(set.path(), &keys), 2, 2, &more);
        let outcome = train_with(&spec, &TrainOptions::default(), &mut |_| Flow::Continue);
        assert!(matches!(outcome.unwrap(), TrainOutcome::Diverged(_)), "{more}");
    }
}

#[test]
fn an_example_that_a_worker_cannot_read_is_told_as_its_fault() {
    let set = pictures(20, 8);
    let spec = served(
        &job(set.path(), &json!({ "network": "mlp", "optimizer": "sgd" })),
        2,
        1,
        &json!({ "freeze": "no such layer" }),
    );
    let error = train_with(&spec, &TrainOptions::default(), &mut |_| Flow::Continue);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("no such layer"), "{error}");
}
