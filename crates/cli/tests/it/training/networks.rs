//! `trainwright network`: what networks consist of, and what is refused.

use serde_json::Value;

use crate::program::Lab;

fn summary(words: &[&str]) -> Value {
    let lab = Lab::new();
    lab.json(&[&["network"], words, &["--json"]].concat())
}

#[test]
fn mobilenet_has_the_parameters_that_torchvision_counts() {
    let found = summary(&["mobilenet-v2:1.0"]);
    assert_eq!(found["schema"], "trainwright/network/1");
    assert_eq!(found["parameters"], 3_504_872);
    // Sandler et al. (2018, table 4) count 300 million multiplications with additions.
    let flops = found["flops"].as_f64().unwrap();
    assert!((flops / 2.0 / 300e6 - 1.0).abs() < 0.02, "{flops}");
    let operators = found["operators"].as_array().unwrap();
    assert_eq!(operators[0]["name"], "features.0.0");
    assert_eq!(operators[0]["inputs"][0], "input");
    assert_eq!(operators[0]["output_shape"], serde_json::json!([112, 112, 32]));
}

#[test]
fn input_and_classes_can_be_chosen() {
    let found = summary(&["mobilenet-v2:0.5", "--input", "96x96x3", "--classes", "5"]);
    assert_eq!(found["classes"], 5);
    assert_eq!(found["input"], serde_json::json!([96, 96, 3]));
    let lab = Lab::new();
    let text = lab.expect(0, &["network", "cnn:flowers"]).stdout;
    assert!(text.contains("62x62x32") && text.contains("parameters"), "{text}");
}

#[test]
fn a_toml_file_describes_a_network() {
    let lab = Lab::new();
    let text = "name = \"mine\"\ninput = [4]\n[[layer]]\nkind = \"dense\"\noutputs = 3\n";
    lab.write("mine.toml", text);
    let found = lab.json(&["network", "mine.toml", "--json"]);
    assert_eq!((&found["network"], &found["parameters"]), (&"mine".into(), &15.into()));
    lab.write("bad.toml", text.replace("dense", "dance"));
    let refused = lab.expect(2, &["network", "bad.toml"]);
    assert!(refused.stderr.contains("dance"), "{}", refused.stderr);
}

#[test]
fn what_is_no_network_is_refused() {
    let lab = Lab::new();
    for (words, told) in [
        (&["network", "resnet"][..], "resnet"),
        (&["network", "mlp:784-128-10", "--classes", "3"], "3 classes"),
        (&["network", "cnn:flowers", "--input", "64x0x3"], "64x0x3"),
        (&["network", "cnn:flowers", "--input", "6x6x3"], "room for"),
    ] {
        let refused = lab.expect(2, words);
        assert!(refused.stderr.contains(told), "{}", refused.stderr);
    }
}

/// The last event of a short training.
fn trained(lab: &Lab, words: &[&str]) -> Value {
    let words = [&["train", "--json", "--data", "fashion-mnist-sample"], words].concat();
    let end = lab.expect(0, &words);
    serde_json::from_str(end.stdout.lines().last().unwrap()).unwrap()
}

#[test]
fn described_networks_learn_alike_with_any_number_of_threads() {
    let lab = Lab::new();
    for (network, least) in [("bilstm:32", 0.6), ("cnn:flowers", 0.65), ("mlp:784-32-10", 0.6)] {
        let words = ["--network", network, "--batch", "64", "--lr", "0.003", "--threads"];
        let [one, two] =
            ["1", "2"].map(|threads| trained(&lab, &[&words[..], &[threads]].concat()));
        assert_eq!(one["parameters_hash"], two["parameters_hash"], "{network}");
        assert!(one["test_accuracy"].as_f64().unwrap() > least, "{network}: {one}");
    }
}

#[test]
fn a_network_that_does_not_fit_its_data_is_refused() {
    let lab = Lab::new();
    let refused = lab.expect(2, &["train", "--network", "mlp:100-10"]);
    assert!(refused.stderr.contains("100 numbers"), "{}", refused.stderr);
    let refused = lab.expect(2, &["train", "--network", "resnet"]);
    assert!(refused.stderr.contains("bilstm:128"), "{}", refused.stderr);
}

#[test]
fn exported_weights_are_a_start_for_other_jobs() {
    let lab = Lab::new();
    let first = ["--network", "mlp:784-16-10", "--export", "kept.safetensors"];
    let before = trained(&lab, &first);
    // Layer 0 is frozen and the rate is next to nothing, so that the old accuracy stays.
    let words = ["--network", "mlp:784-16-10", "--weights", "kept.safetensors"];
    let after = trained(&lab, &[words, ["--freeze", "0", "--lr", "1e-9"]].concat());
    let accuracy = |end: &Value| end["test_accuracy"].as_f64().unwrap();
    assert!((accuracy(&before) - accuracy(&after)).abs() < 0.005, "{before} {after}");
    let other = ["train", "--network", "mlp:784-17-10", "--weights", "kept.safetensors"];
    let refused = lab.expect(2, &other);
    assert!(refused.stderr.contains("0.weight"), "{}", refused.stderr);
    let refused = lab.expect(2, &["train", "--network", "mlp:784-16-10", "--freeze", "x"]);
    assert!(refused.stderr.contains("starts with `x`"), "{}", refused.stderr);
}
