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
    lab.write("bad.toml", &text.replace("dense", "dance"));
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
