//! The optimiser that a job asks for.

use trainwright_networks::{AdaGrad, Adam, Optimizer, Sgd, Trained};
use trainwright_study::{JobSpec, Optimizer as Name};

/// Weight decay of AdamW where none is given, as in PyTorch.
const ADAMW_DECAY: f64 = 0.01;

/// Vectors as long as the parameters that the optimiser of a job remembers.
pub(crate) fn remembered(job: &JobSpec) -> u64 {
    match job.optimizer {
        Name::Sgd => 0,
        Name::Momentum | Name::Nesterov | Name::AdaGrad => 1,
        Name::Adam | Name::AdamW | Name::Ftrl => 2,
    }
}

/// Makes the optimiser of a job for these parameters.
///
/// # Panics
/// For `ftrl`, which a checked job has with sparse models alone.
pub(crate) fn optimizer(job: &JobSpec, trained: Trained) -> Box<dyn Optimizer> {
    let (momentum, decay) = (job.momentum as f32, job.weight_decay.unwrap_or(0.0));
    match job.optimizer {
        Name::Sgd => Box::new(Sgd::new(trained).with_weight_decay(decay)),
        Name::Momentum => Box::new(Sgd::with_momentum(trained, momentum).with_weight_decay(decay)),
        Name::Nesterov => Box::new(Sgd::with_nesterov(trained, momentum).with_weight_decay(decay)),
        Name::Adam => Box::new(Adam::new(trained).with_weight_decay(decay)),
        Name::AdamW => {
            let decay = job.weight_decay.unwrap_or(ADAMW_DECAY);
            Box::new(Adam::new(trained).with_decoupled_decay(decay))
        }
        Name::AdaGrad => Box::new(AdaGrad::new(trained).with_weight_decay(decay)),
        Name::Ftrl => unreachable!("a checked job has ftrl with sparse models alone"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(optimizer: &str) -> JobSpec {
        let job = serde_json::json!({
            "network": "mlp", "data": "any", "seed": 1, "optimizer": optimizer,
            "weight_decay": 0.5, "momentum": 0.5,
        });
        serde_json::from_value(job).unwrap()
    }

    #[test]
    fn each_remembers_as_much_as_is_told_before() {
        for name in ["sgd", "momentum", "nesterov", "adam", "adamw", "adagrad"] {
            let job = job(name);
            let mut optimizer = optimizer(&job, Trained::ranges(3, &[0..1, 2..3]));
            assert_eq!(optimizer.memory().slots.len() as u64, remembered(&job), "{name}");
        }
    }

    /// Parameters after a step of rate 0.1 with the gradient 1 from 2.
    fn stepped(name: &str) -> f32 {
        let mut optimizer = optimizer(&job(name), Trained::from(1));
        let (mut parameters, mut team) = ([2.0], trainwright_networks::Team::new(1).unwrap());
        optimizer.step(&mut parameters, &[1.0], 0.1, &mut team);
        parameters[0]
    }

    #[test]
    fn a_name_makes_the_optimiser_of_that_name_with_the_decay_of_the_job() {
        // The gradient with decay is 1 + 0.5 * 2; adaptive ones make their first step of the rate
        // whatever it is, and only decoupled decay adds to that: 2 * (1 - 0.1 * 0.5) - 0.1.
        let close = |name: &str, expected: f32| {
            let found = stepped(name);
            assert!((found - expected).abs() < 1e-5, "{name}: {found}");
        };
        close("sgd", 1.8);
        close("momentum", 1.8);
        close("nesterov", 2.0 - 0.1 * (2.0 + 0.5 * 2.0));
        close("adam", 1.9);
        close("adamw", 1.8);
        close("adagrad", 1.9);
    }
}
