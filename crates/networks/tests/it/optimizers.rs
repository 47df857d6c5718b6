//! Optimisers against PyTorch's, step by step.

use serde_json::Value;
use trainwright_networks::{AdaGrad, Adam, Optimizer, Sgd, Team, clip_to_norm, squared_norm};

/// Steps of PyTorch 2.15 on fixed gradients; see `tests/data/README.md`.
const VECTORS: &str = include_str!("../data/optimizers.json");

fn numbers(value: &Value) -> Vec<f32> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap() as f32).collect()
}

fn make(name: &str, count: usize) -> Box<dyn Optimizer> {
    match name {
        "sgd" | "sgd, clip 3" => Box::new(Sgd::new(count)),
        "sgd, decay 0.1" => Box::new(Sgd::new(count).with_weight_decay(0.1)),
        "momentum 0.9" => Box::new(Sgd::with_momentum(count, 0.9)),
        "momentum 0.9, decay 0.1" => {
            Box::new(Sgd::with_momentum(count, 0.9).with_weight_decay(0.1))
        }
        "nesterov 0.9" => Box::new(Sgd::with_nesterov(count, 0.9)),
        "nesterov 0.9, decay 0.1" => {
            Box::new(Sgd::with_nesterov(count, 0.9).with_weight_decay(0.1))
        }
        "adam" => Box::new(Adam::new(count)),
        "adam, decay 0.1" => Box::new(Adam::new(count).with_weight_decay(0.1)),
        "adamw, decay 0.1" => Box::new(Adam::new(count).with_decoupled_decay(0.1)),
        "adagrad" => Box::new(AdaGrad::new(count)),
        "adagrad, decay 0.1" => Box::new(AdaGrad::new(count).with_weight_decay(0.1)),
        other => panic!("no optimiser for `{other}`"),
    }
}

#[test]
fn every_step_is_that_of_pytorch() {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    let rate = vectors["rate"].as_f64().unwrap();
    let runs = vectors["runs"].as_object().unwrap();
    assert_eq!(runs.len(), 12);
    for (name, rows) in runs {
        let mut parameters = numbers(&vectors["start"]);
        let (mut optimizer, mut team) = (make(name, parameters.len()), Team::new(1).unwrap());
        let gradients = vectors["gradients"].as_array().unwrap();
        for (step, (gradients, row)) in gradients.iter().zip(rows.as_array().unwrap()).enumerate() {
            let mut gradients = numbers(gradients);
            if name.ends_with("clip 3") {
                let norm = squared_norm(&gradients, &mut team).sqrt();
                clip_to_norm(&mut gradients, norm, 3.0, &mut team);
            }
            optimizer.step(&mut parameters, &gradients, rate, &mut team);
            for (found, expected) in parameters.iter().zip(numbers(row)) {
                // A dozen steps in single precision; Adam's 1 - 0.999 keeps 13 bits of its own.
                let error = (found - expected).abs();
                assert!(error < 3e-6, "{name}, step {step}: {found} where {expected}");
            }
        }
    }
}
