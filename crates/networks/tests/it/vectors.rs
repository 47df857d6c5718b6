//! Layers against losses, gradients and running statistics that PyTorch computed.

use serde_json::Value;
use trainwright_networks::{Batch, Network, NetworkDescription, StepOptions, TensorInfo};

use crate::step::learn;

/// Made by `bench/training/make_vectors.py`; see `tests/data/README.md`.
const VECTORS: &str = include_str!("../data/layers.json");

fn numbers(value: &Value) -> Vec<f32> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap() as f32).collect()
}

#[track_caller]
fn close(what: &str, found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    // Two computations in single precision of sums of up to some hundred terms.
    let largest = expected.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
    for (found, expected) in found.iter().zip(expected) {
        let gap = (found - expected).abs();
        assert!(gap <= 2e-5 * (0.1 + largest), "{what}: {found} where {expected} is expected");
    }
}

/// The tensor's values in PyTorch's order.
fn theirs(tensor: &TensorInfo, vector: &[f32]) -> Vec<f32> {
    tensor.kind.to_pytorch(&tensor.shape, &vector[tensor.range.clone()])
}

fn check(case: &Value) {
    let name = case["name"].as_str().unwrap();
    let description = NetworkDescription::from_toml(case["description"].as_str().unwrap()).unwrap();
    let network = Network::new(&description).unwrap();
    let mut parameters = vec![f32::NAN; network.parameter_count()];
    for tensor in network.tensors() {
        let values = numbers(&case["tensors"][&tensor.name]["values"]);
        let ours = tensor.kind.from_pytorch(&tensor.shape, &values);
        parameters[tensor.range.clone()].copy_from_slice(&ours);
    }
    let inputs = numbers(&case["inputs"]);
    let labels: Vec<u32> = numbers(&case["labels"]).iter().map(|&label| label as u32).collect();
    let options = StepOptions {
        label_smoothing: case["smoothing"].as_f64().unwrap() as f32,
        ..StepOptions::default()
    };
    let (mut state, mut gradients) = (network.initial_state(), vec![0.0; parameters.len()]);
    let mut workspace = network.workspace(labels.len(), 2).unwrap();
    let batch = Batch { inputs: &inputs, labels: &labels };
    let score =
        learn(&network, (&parameters, &mut state), batch, options, &mut gradients, &mut workspace);
    let loss = score.loss_sum / labels.len() as f64;
    assert!((loss - case["loss"].as_f64().unwrap()).abs() < 1e-5, "{name}: {loss}");
    for tensor in network.tensors() {
        let expected = numbers(&case["tensors"][&tensor.name]["gradients"]);
        close(&format!("{name}: {}", tensor.name), &theirs(tensor, &gradients), &expected);
    }
    for tensor in network.state_tensors() {
        let expected = numbers(&case["state"][&tensor.name]);
        close(&format!("{name}: {}", tensor.name), &theirs(tensor, &state), &expected);
    }
}

#[test]
fn layers_agree_with_pytorch() {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 5);
    cases.iter().for_each(check);
}
