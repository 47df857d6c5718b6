//! A network split over ranks learns what one device learns.

use serde_json::{Value, json};

use trainwright_networks::SafeTensors;
use trainwright_study::JobSpec;
use trainwright_train::{Done, Flow, TrainOptions, TrainOutcome, train_with};

fn done(keys: Value, options: &TrainOptions) -> Done {
    let job: JobSpec = serde_json::from_value(keys).unwrap();
    match train_with(&job, options, &mut |_| Flow::Continue).unwrap() {
        TrainOutcome::Done(done) => done,
        other => panic!("{other:?}"),
    }
}

/// Parameters after training a job with some keys.
fn trained(keys: Value) -> Vec<f32> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trained.safetensors");
    let options = TrainOptions { export: vec![path.clone()], ..TrainOptions::default() };
    done(keys, &options);
    let file = SafeTensors::open(&path).unwrap();
    let names: Vec<String> = file.shapes().map(|(name, _)| name.to_owned()).collect();
    names.iter().flat_map(|name| file.values(name).unwrap()).collect()
}

fn base(network: &str, more: &Value) -> Value {
    let mut keys = json!({
        "network": network, "data": "fashion-mnist-sample", "batch": 64, "lr": 0.05,
        "optimizer": "momentum", "epochs": 1, "seed": 3,
    });
    for (key, value) in more.as_object().unwrap() {
        keys[key] = value.clone();
    }
    keys
}

fn split_over(ranks: u32, split: Value, network: &str) -> Value {
    base(network, &json!({ "strategy": "mirrored", "replicas": ranks, "split": split }))
}

/// The length of the difference over that of the first.
fn relative(expected: &[f32], found: &[f32]) -> f64 {
    assert_eq!(expected.len(), found.len());
    let square = |values: &mut dyn Iterator<Item = f32>| -> f64 {
        values.map(|it| f64::from(it) * f64::from(it)).sum::<f64>().sqrt()
    };
    let difference = square(&mut expected.iter().zip(found).map(|(a, b)| a - b));
    difference / square(&mut expected.iter().copied())
}

fn cut(name: &str, how: &str) -> Value {
    json!({ "name": name, "cut": how })
}

const NET: &str = "mlp:784-32-24-16-10";

#[test]
fn tensor_parallel_layers_learn_what_one_device_learns() {
    let one = trained(base(NET, &json!({})));
    let all_outputs: Vec<Value> = (0..4).map(|at| cut(&at.to_string(), "outputs")).collect();
    let pairs =
        vec![cut("0", "outputs"), cut("1", "inputs"), cut("2", "outputs"), cut("3", "inputs")];
    let inputs_after_whole = vec![cut("1", "inputs")];
    for (layers, ranks) in
        [(all_outputs, 2), (pairs.clone(), 2), (pairs, 4), (inputs_after_whole, 2)]
    {
        let split = json!({ "data": 1, "tensor": ranks, "layers": layers });
        let found = trained(split_over(ranks, split, NET));
        let error = relative(&one, &found);
        assert!(error < 1e-5, "{error} with {ranks}");
        assert!(error > 0.0 || ranks == 2, "it was split at all");
    }
}

#[test]
fn a_memory_s_two_directions_are_split() {
    let one = trained(base("bilstm:6", &json!({})));
    let split = json!({ "data": 1, "tensor": 2, "layers": [cut("0", "outputs")] });
    let found = trained(split_over(2, split, "bilstm:6"));
    let error = relative(&one, &found);
    assert!(error < 1e-5, "{error}");
}

/// A file of a network with layers of their own between those that are cut.
fn with_rectifiers(folder: &std::path::Path) -> String {
    let dense = |outputs: usize| format!("[[layer]]\nkind = \"dense\"\noutputs = {outputs}\n");
    let relu = "[[layer]]\nkind = \"relu\"\n";
    let toml =
        ["name = \"plain\"\ninput = [784]\n", &dense(32), relu, &dense(16), relu, &dense(10)];
    let path = folder.join("plain.toml");
    std::fs::write(&path, toml.concat()).unwrap();
    path.display().to_string()
}

#[test]
fn layers_that_compute_number_by_number_are_cut_as_those_before() {
    let folder = tempfile::tempdir().unwrap();
    let network = with_rectifiers(folder.path());
    let one = trained(base(&network, &json!({})));
    let all =
        vec![cut("0", "outputs"), cut("1", "outputs"), cut("2", "outputs"), cut("3", "inputs")];
    let pairs =
        vec![cut("0", "outputs"), cut("1", "outputs"), cut("2", "inputs"), cut("3", "outputs")];
    for layers in [all, pairs] {
        let split = json!({ "data": 1, "tensor": 2, "layers": layers });
        let error = relative(&one, &trained(split_over(2, split, &network)));
        assert!(error < 1e-5, "{error}");
    }
}

#[test]
fn some_layers_are_split_by_examples_beside_those_that_are_cut() {
    // Rates at which rounding does not grow.
    let few = json!({ "batch": 256, "clip_norm": 1.0, "lr": 0.005 });
    let layers = vec![cut("0", "samples"), cut("1", "samples"), cut("6", "outputs")];
    for (network, layers) in [
        ("cnn:flowers", layers),
        ("lstm:8", vec![cut("0", "samples"), cut("1", "outputs")]),
        (NET, vec![cut("0", "outputs"), cut("1", "samples"), cut("3", "inputs")]),
    ] {
        let one = trained(base(network, &few));
        for data in if network == NET { 1..=2 } else { 1..=1 } {
            let split = json!({ "data": data, "tensor": 2, "layers": layers });
            let mut keys = split_over(2 * data, split, network);
            few.as_object().unwrap().iter().for_each(|(key, value)| keys[key] = value.clone());
            let error = relative(&one, &trained(keys));
            assert!(error < 1e-5, "{network}: {error}");
        }
    }
}

#[test]
fn data_parallel_ranks_are_one_device_with_micro_batches_bit_for_bit() {
    let one = trained(base(NET, &json!({ "micro_batch": 32 })));
    let found = trained(split_over(2, json!({ "data": 2 }), NET));
    // The last batch of an epoch is cut elsewhere where it does not fill a micro-batch.
    assert!(relative(&one, &found) < 1e-5);
    let mirrored = trained(base(NET, &json!({ "strategy": "mirrored", "replicas": 2 })));
    assert_eq!(relative(&mirrored, &found), 0.0, "the bits of mirrored");
}

#[test]
fn a_grid_of_data_and_tensor_ranks_learns_the_same() {
    let one = trained(base(NET, &json!({})));
    let layers = vec![cut("0", "outputs"), cut("1", "inputs")];
    let split = json!({ "data": 2, "tensor": 2, "layers": layers });
    let error = relative(&one, &trained(split_over(4, split, NET)));
    assert!(error < 1e-5, "{error}");
}

#[test]
fn pipelines_learn_the_same_in_both_orders() {
    let one = trained(base(NET, &json!({})));
    let mut found = Vec::new();
    for order in ["gpipe", "one-forward-one-backward"] {
        let pipeline = json!({ "begins": ["0", "1", "3"], "micro_batches": 4, "order": order });
        found.push(trained(split_over(3, json!({ "data": 1, "pipeline": pipeline }), NET)));
        let error = relative(&one, found.last().unwrap());
        assert!(error < 1e-5, "{order}: {error}");
    }
    assert_eq!(found[0], found[1], "the order of work changes no bit");
    let pipeline =
        json!({ "begins": ["0", "2"], "micro_batches": 2, "order": "one-forward-one-backward" });
    let mixed = trained(split_over(4, json!({ "data": 2, "pipeline": pipeline }), NET));
    assert!(relative(&one, &mixed) < 1e-5);
}

#[test]
fn gradients_are_clipped_by_their_length_over_all_ranks() {
    let clipped = |mut keys: Value| {
        keys["clip_norm"] = json!(0.3);
        trained(keys)
    };
    let one = clipped(base(NET, &json!({})));
    assert!(relative(&one, &trained(base(NET, &json!({})))) > 1e-3, "they are clipped at all");
    let layers = [cut("0", "outputs"), cut("1", "inputs"), cut("2", "outputs")];
    let grid = json!({ "data": 2, "tensor": 2, "layers": layers });
    let pipeline = json!({ "begins": ["0", "2"], "micro_batches": 2, "order": "gpipe" });
    for (ranks, split) in [(4, grid), (4, json!({ "data": 2, "pipeline": pipeline }))] {
        let error = relative(&one, &clipped(split_over(ranks, split.clone(), NET)));
        assert!(error < 1e-5, "{split}: {error}");
    }
}

#[test]
fn every_rank_accounts_for_its_time_its_bytes_and_its_memory() {
    let layers = [cut("0", "outputs"), cut("1", "inputs")];
    let grid = json!({ "data": 2, "tensor": 2, "layers": layers });
    let pipeline = json!({ "begins": ["0", "1"], "micro_batches": 4, "order": "gpipe" });
    for (ranks, split) in [(4, grid), (2, json!({ "data": 1, "pipeline": pipeline }))] {
        let done = done(split_over(ranks, split, NET), &TrainOptions::default());
        assert_eq!(done.ranks.len(), ranks as usize);
        let sent: u64 = done.ranks.iter().map(|own| own.bytes_sent).sum();
        assert_eq!(sent, done.ranks.iter().map(|own| own.bytes_received).sum::<u64>());
        for own in &done.ranks {
            assert!(own.compute_s > 0.0 && own.communication_s > 0.0, "{own:?}");
            assert!(own.update_s > 0.0 && own.accounted_s() <= own.wall_s, "{own:?}");
            assert!(own.memory_bytes > Some(0), "{own:?}");
        }
        let memory = |rank: usize| done.ranks[rank].memory_bytes.unwrap();
        // Ranks of a grid have halves of the large layer; the second stage has the small ones.
        assert!(if ranks == 4 { memory(0) < 2 * memory(1) } else { memory(0) > 2 * memory(1) });
    }
}

#[test]
fn a_convolutional_network_runs_in_stages() {
    let one = trained(base("cnn:flowers", &json!({ "batch": 256 })));
    let pipeline = json!({ "begins": ["0", "2"], "micro_batches": 2, "order": "gpipe" });
    let mut keys = split_over(2, json!({ "data": 1, "pipeline": pipeline }), "cnn:flowers");
    keys["batch"] = json!(256);
    assert!(relative(&one, &trained(keys)) < 1e-5);
}

#[track_caller]
fn refused(ranks: u32, split: Value, network: &str, more: &Value, words: &str) {
    let mut keys = split_over(ranks, split, network);
    for (key, value) in more.as_object().unwrap() {
        keys[key] = value.clone();
    }
    let job: JobSpec = serde_json::from_value(keys).unwrap();
    let error = train_with(&job, &TrainOptions::default(), &mut |_| Flow::Continue).unwrap_err();
    assert!(error.to_string().contains(words), "{error}");
}

#[test]
fn plans_that_cannot_be_run_say_why_before_a_step_is_made() {
    let none = json!({});
    let tensor =
        |ranks: u32, layers: Vec<Value>| json!({ "data": 1, "tensor": ranks, "layers": layers });
    let check = |ranks, split, network, words: &str| refused(ranks, split, network, &none, words);
    let few = "layer `0` has 2 outputs, too few to be cut over 3 ranks";
    check(3, tensor(3, vec![cut("0", "outputs")]), "mlp:784-2-10", few);
    let few = "layer `1` has 2 inputs, too few to be cut over 3 ranks";
    check(3, tensor(3, vec![cut("1", "inputs")]), "mlp:784-2-10", few);
    check(
        2,
        tensor(2, vec![cut("9", "outputs")]),
        NET,
        "it cuts a layer that the network does not have",
    );
    check(2, tensor(2, vec![cut("0", "inputs")]), "bilstm:6", "layer `0` cannot be cut so");
    let stages = |begins: &[&str]| json!({ "data": 1, "pipeline": { "begins": begins, "micro_batches": 2, "order": "gpipe" } });
    check(2, stages(&["0", "none"]), NET, "it has 2 stages, of which the network has 1");
    let frozen = json!({ "freeze": "0" });
    refused(2, json!({ "data": 2 }), NET, &frozen, "not frozen");
}
