//! Plans: asked for, written, run, and refused.

use serde_json::Value;

use crate::program::Lab;

#[test]
fn a_plan_has_the_fields_that_others_rely_on_and_repeats_by_seed() {
    let lab = Lab::new();
    let words = ["plan", "alexnet", "--machine", "4-p100", "--proposals", "300", "--json"];
    let first = lab.json(&words);
    assert_eq!(first["schema"], "trainwright/plan/1");
    let chosen = &first["chosen"];
    assert!(chosen["step_time_s"].as_f64().unwrap() > 0.0);
    assert!(chosen["memory_bytes_per_device"].as_u64().unwrap() > 0);
    assert_eq!(chosen["operators"].as_array().unwrap().len(), 13);
    assert!(chosen["operators"][0]["degrees"].is_object());
    assert!(first["baselines"]["data_parallel"]["step_time_s"].as_f64().unwrap() > 0.0);
    assert_eq!(first["search"]["proposals"], 300);
    assert!(first["search"]["first_answer_seconds"].as_f64().unwrap() > 0.0);
    let again = lab.json(&words);
    assert_eq!(again["chosen"], first["chosen"]);
    assert_eq!(again["search"]["history"], first["search"]["history"]);
}

#[test]
fn the_files_of_a_plan_are_written() {
    let lab = Lab::new();
    let words = [
        "plan",
        "lenet",
        "--machine",
        "4-k80",
        "--proposals",
        "100",
        "--report",
        "page.html",
        "--trace",
        "trace.json",
        "-o",
        "plan.json",
    ];
    let text = lab.expect(0, &words).stdout;
    assert!(text.contains("Best: ") && text.contains("busiest"), "{text}");
    assert!(lab.read("page.html").contains("Device map"));
    let trace: Value = serde_json::from_str(&lab.read("trace.json")).unwrap();
    assert!(trace["traceEvents"].as_array().unwrap().len() > 10);
    let plan: Value = serde_json::from_str(&lab.read("plan.json")).unwrap();
    assert_eq!(plan["schema"], "trainwright/plan-file/1");
}

/// What a plan of a strategy gives when it is trained.
fn trained(lab: &Lab, (network, strategy): (&str, &str), more: &[&str]) -> Value {
    let words = [
        "plan",
        network,
        "--machine",
        "two.toml",
        "--batch",
        "100",
        "--strategy",
        strategy,
        "-o",
        "plan.json",
    ];
    lab.expect(0, &words);
    let train = ["train", "--plan", "plan.json", "--epochs", "1", "--seed", "3", "--json"];
    let end = lab.expect(0, &[&train[..], more].concat());
    serde_json::from_str(end.stdout.lines().last().unwrap()).unwrap()
}

const SMALL: &str = "mlp:784-32-16-10";

/// A folder with `two.toml`, a machine of two devices.
fn two_devices() -> Lab {
    let lab = Lab::new();
    let machine = include_str!("../../../../examples/plan/2x4-p100.toml");
    let machine = machine.replace("nodes = 2", "nodes = 1");
    lab.write("two.toml", machine.replace("devices_per_node = 4", "devices_per_node = 2"));
    lab
}

/// Bytes of the fullest rank as planned, over those that it had.
fn memory_ratio(lab: &Lab, (network, strategy): (&str, &str), plan: &[&str]) -> f64 {
    let words = ["plan", network, "--machine", "two.toml", "--strategy", strategy];
    lab.expect(0, &[&words[..], plan, &["-o", "plan.json", "--proposals", "50"]].concat());
    let train = ["train", "--plan", "plan.json", "--epochs", "1", "--optimizer", "momentum"];
    let end = lab.expect(0, &[&train[..], &["--json"]].concat());
    let done: Value = serde_json::from_str(end.stdout.lines().last().unwrap()).unwrap();
    let bytes = |key: &str| done["planned"][key].as_f64().unwrap();
    bytes("predicted_memory_bytes") / bytes("measured_memory_bytes")
}

#[test]
fn planned_memory_is_what_the_fullest_rank_has() {
    let lab = two_devices();
    let all = &["one-device", "data-parallel", "tensor", "pipeline"][..];
    for (network, strategies, plan) in [
        ("mlp:784-1024-1024-10", all, &["--batch", "100"][..]),
        ("mlp:784-64-10", all, &["--batch", "512"]),
        ("bilstm:32", &all[2..], &["--batch", "256"]),
        ("cnn:flowers", &all[2..], &["--batch", "256", "--input", "28x28x1", "--classes", "10"]),
    ] {
        for &strategy in strategies {
            let ratio = memory_ratio(&lab, (network, strategy), plan);
            assert!((0.9..1.1).contains(&ratio), "{network}, {strategy}: {ratio}");
        }
    }
}

#[test]
fn a_training_with_another_optimizer_than_planned_says_so() {
    let lab = two_devices();
    let words = ["plan", SMALL, "--machine", "two.toml", "--strategy", "tensor", "-o", "plan.json"];
    lab.expect(0, &words);
    let train = ["train", "--plan", "plan.json", "--epochs", "1"];
    let text = lab.expect(0, &train).stdout;
    assert!(text.contains("with 1 numbers a parameter, but this one has 2"), "{text}");
}

#[test]
fn what_ranks_here_do_not_do_is_refused_by_name() {
    let lab = two_devices();
    let words = ["plan", SMALL, "--machine", "two.toml", "--strategy", "sharded", "-o", "cut.json"];
    lab.expect(0, &words);
    let train = ["train", "--plan", "cut.json", "--epochs", "1"];
    lab.expect(2, &train).says(&["weights, gradients and the optimiser's numbers", "cut.json"]);
}

#[test]
fn a_memory_of_one_direction_is_never_cut() {
    let lab = two_devices();
    let words = ["plan", "lstm:32", "--machine", "two.toml", "--proposals", "300", "--json"];
    for strategy in ["tensor", "mesh", "hybrid"] {
        let answer = lab.json(&[&words[..], &["--strategy", strategy]].concat());
        let degrees = &answer["chosen"]["operators"][0]["degrees"];
        assert!(degrees["channel"].is_null(), "{strategy}: {degrees}");
    }
}

#[test]
fn plans_run_on_threads_and_processes_and_tell_planned_and_measured_times() {
    let lab = two_devices();
    let alone = lab.expect(
        0,
        &["train", "--network", SMALL, "--batch", "100", "--epochs", "1", "--seed", "3", "--json"],
    );
    let alone: Value = serde_json::from_str(alone.stdout.lines().last().unwrap()).unwrap();
    for strategy in ["data-parallel", "tensor", "pipeline"] {
        let threads = trained(&lab, (SMALL, strategy), &[]);
        let loss = |own: &Value| own["test_loss"].as_f64().unwrap();
        assert!((loss(&threads) / loss(&alone) - 1.0).abs() < 1e-4, "{strategy}: {threads}");
        assert!(threads["planned"]["predicted_s"].as_f64().unwrap() > 0.0, "{threads}");
        assert!(threads["planned"]["measured_s"].as_f64().unwrap() > 0.0, "{threads}");
        let processes = trained(&lab, (SMALL, strategy), &["--strategy", "multi-worker"]);
        assert_eq!(processes["parameters_hash"], threads["parameters_hash"], "{strategy}");
    }
}

/// Layers that only replicas have, and checkpoints, go with data parallel plans.
#[test]
fn data_parallel_plans_keep_checkpoints_and_others_refuse_them() {
    let lab = two_devices();
    let keeping = ["--checkpoint", "kept"];
    let kept = trained(&lab, (SMALL, "data-parallel"), &keeping);
    assert!(kept["planned"]["measured_s"].as_f64().unwrap() > 0.0, "{kept}");
    assert!(kept["planned"]["measured_memory_bytes"].is_null(), "{kept}");
    assert!(lab.path("kept").read_dir().unwrap().count() > 0);
    let replicas = [
        "train",
        "--network",
        SMALL,
        "--batch",
        "100",
        "--epochs",
        "1",
        "--seed",
        "3",
        "--strategy",
        "mirrored",
        "--replicas",
        "2",
        "--json",
    ];
    let replicas = lab.expect(0, &replicas);
    let replicas: Value = serde_json::from_str(replicas.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(kept["parameters_hash"], replicas["parameters_hash"]);
    let words = ["plan", SMALL, "--machine", "two.toml", "--strategy", "tensor", "-o", "cut.json"];
    lab.expect(0, &words);
    let train = ["train", "--plan", "cut.json", "--checkpoint", "kept", "--epochs", "1"];
    lab.expect(2, &train).says(&["checkpoints of a split network"]);
    lab.expect(2, &["plan", SMALL, "--machine", "4-k80", "--measure"]).says(&["--machine here"]);
}

#[test]
fn what_cannot_be_planned_or_run_is_refused_with_code_2() {
    let lab = Lab::new();
    let refuses = |words: &[&str], expected: &[&str]| lab.expect(2, words).says(expected);
    refuses(&["plan", "vgg", "--machine", "4-k80"], &["`vgg`", "inception-v3"]);
    refuses(&["plan", "lenet", "--machine", "5-k80"], &["`5-k80`", "16-p100"]);
    refuses(&["plan", "lenet", "--machine", "gone.toml"], &["gone.toml"]);
    lab.write("bad.toml", "name = \"x\"\n");
    refuses(&["plan", "lenet", "--machine", "bad.toml"], &["bad.toml", "missing field"]);
    refuses(&["plan", "lenet", "--machine", "4-k80", "--batch", "0"], &["batch is 0"]);
    refuses(&["plan", "lenet", "--machine", "4-k80", "--pin", "x"], &["--pin x"]);
    refuses(&["plan", "lenet", "--machine", "4-k80", "--pin", "fc9=0"], &["`fc9`"]);
    refuses(
        &["plan", "alexnet", "--machine", "4-k80", "--memory", "0.01", "--proposals", "10"],
        &["no plan fits"],
    );
    lab.write("plan.json", "{}");
    refuses(&["train", "--plan", "plan.json"], &["plan.json", "missing field"]);
    let words = ["plan", "lenet", "--machine", "4-k80", "--strategy", "mesh", "-o", "lenet.json"];
    lab.expect(0, &words);
    refuses(&["train", "--plan", "lenet.json"], &["lenet"]);
}
