//! Adam and AdamW: steps scaled by running moments of the gradients.

use crate::arithmetic::numbers::Numbers;
use crate::optimizers::optimizer::{Optimizer, OptimizerMemory, Trained};
use crate::optimizers::update_kernels::{self, AdamStep};
use crate::threads::parts::{Cut, Parts};
use crate::threads::team::Team;

/// Adam of Kingma and Ba (2015, algorithm 1) with its usual constants: `beta1 = 0.9`,
/// `beta2 = 0.999`, `epsilon = 1e-8`.
#[derive(Debug, Clone)]
pub struct Adam {
    trained: Trained,
    steps: u64,
    first: Numbers,
    second: Numbers,
    decay: Decay,
}

/// How weights are drawn to zero.
#[derive(Debug, Clone, Copy)]
enum Decay {
    /// By a share of the weight in its gradient.
    InGradient(f64),
    /// By a share of the weight times the rate, beside the step.
    BesideStep(f64),
}

const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

impl Adam {
    /// An optimiser for these parameters (a number means all) that has seen no gradients.
    pub fn new(trained: impl Into<Trained>) -> Self {
        let trained = trained.into();
        let zeros = Numbers::zeros(trained.parameter_count());
        let decay = Decay::InGradient(0.0);
        Self { trained, steps: 0, first: zeros.clone(), second: zeros, decay }
    }

    /// The same with `decay` times the weight added to each gradient.
    pub fn with_weight_decay(self, decay: f64) -> Self {
        Self { decay: Decay::InGradient(decay), ..self }
    }

    /// AdamW of Loshchilov and Hutter (2019, algorithm 2): each step also takes `decay` times the
    /// rate off the weight, past the moments.
    pub fn with_decoupled_decay(self, decay: f64) -> Self {
        Self { decay: Decay::BesideStep(decay), ..self }
    }
}

impl Optimizer for Adam {
    fn step(
        &mut self,
        parameters: &mut [f32],
        gradients: &[f32],
        learning_rate: f64,
        team: &mut Team,
    ) {
        self.steps += 1;
        let steps = self.steps as f64;
        let (decay, shrink) = match self.decay {
            Decay::InGradient(decay) => (decay, 1.0),
            Decay::BesideStep(decay) => (0.0, 1.0 - learning_rate * decay),
        };
        // The corrections of the zero start, 1 - beta^t, belong to the moments; applying them to
        // the rate and to the root gives the same update and leaves the moments alone.
        let step = AdamStep {
            beta1: BETA1 as f32,
            beta2: BETA2 as f32,
            rate: (learning_rate / (1.0 - BETA1.powf(steps))) as f32,
            second_scale: (1.0 / (1.0 - BETA2.powf(steps)).sqrt()) as f32,
            epsilon: EPSILON as f32,
            decay: decay as f32,
            shrink: shrink as f32,
        };
        let cut = Cut::At(self.trained.ends());
        let parameters = Parts::new(parameters, cut);
        let [first, second] = [&mut self.first, &mut self.second].map(|all| Parts::new(all, cut));
        self.trained.update(gradients, team, &|piece, gradients| {
            let moments = [first.take(piece), second.take(piece)];
            update_kernels::adam(parameters.take(piece), moments, gradients, step);
        });
    }

    fn memory(&mut self) -> OptimizerMemory<'_> {
        let slots = vec![("first", &mut self.first[..]), ("second", &mut self.second[..])];
        OptimizerMemory { steps: Some(&mut self.steps), slots }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::optimizers::optimizer::contract;

    #[test]
    fn it_keeps_the_optimizer_contract() {
        contract::check(0.01, &|trained| Box::new(Adam::new(trained)));
    }

    #[test]
    fn the_first_step_has_the_size_of_the_rate() {
        // Kingma and Ba, section 2.1: with t = 1 the ratio of moments is +-1.
        let mut parameters = [0.0, 0.0];
        Adam::new(2).step(&mut parameters, &[1e-3, -50.0], 0.1, &mut Team::new(1).unwrap());
        assert!((parameters[0] + 0.1).abs() < 1e-5 && (parameters[1] - 0.1).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn steps_agree_with_the_algorithm_as_printed(
            gradients in prop::collection::vec(-2.0_f32..2.0, 1..30),
        ) {
            let (mut parameter, mut m, mut v) = (1.0_f64, 0.0_f64, 0.0_f64);
            let (mut found, mut adam) = ([1.0_f32], Adam::new(1));
            for (index, &gradient) in gradients.iter().enumerate() {
                let (g, t) = (f64::from(gradient), index as i32 + 1);
                m = 0.9 * m + 0.1 * g;
                v = 0.999 * v + 0.001 * g * g;
                let (m_hat, v_hat) = (m / (1.0 - 0.9_f64.powi(t)), v / (1.0 - 0.999_f64.powi(t)));
                parameter -= 0.01 * m_hat / (v_hat.sqrt() + 1e-8);
                adam.step(&mut found, &[gradient], 0.01, &mut Team::new(1).unwrap());
            }
            // Thirty steps of 0.01, each rounded to a few parts in 10^6 because 1 - 0.999 keeps
            // only 13 bits of its own.
            prop_assert!((f64::from(found[0]) - parameter).abs() < 3e-5);
        }
    }

    #[test]
    fn decay_beside_the_step_shrinks_by_the_rate_and_decay_in_the_gradient_is_a_step() {
        let mut team = Team::new(1).unwrap();
        let mut run = |mut adam: Adam| {
            let mut parameters = [2.0_f32, -0.01];
            (0..10).for_each(|_| adam.step(&mut parameters, &[0.0; 2], 0.1, &mut team));
            parameters
        };
        let [large, small] = run(Adam::new(2).with_decoupled_decay(0.5));
        let factor = 0.95_f32.powi(10);
        assert!((large - 2.0 * factor).abs() < 1e-6 && (small + 0.01 * factor).abs() < 1e-8);
        // In the gradient, Adam divides the decay by about its own size: a weight of any size goes
        // nearly a whole rate a step.
        let [large, _] = run(Adam::new(2).with_weight_decay(0.5));
        assert!((large - 1.0).abs() < 0.05, "{large}");
    }

    proptest! {
        #[test]
        fn decays_follow_the_algorithms_as_printed(
            gradients in prop::collection::vec(-2.0_f32..2.0, 1..20), decay in 0.0_f64..0.3,
        ) {
            for beside in [false, true] {
                let adam = Adam::new(1);
                let mut adam = match beside {
                    true => adam.with_decoupled_decay(decay),
                    false => adam.with_weight_decay(decay),
                };
                let (mut found, mut parameter, mut m, mut v) = ([1.0_f32], 1.0_f64, 0.0, 0.0);
                for (index, &gradient) in gradients.iter().enumerate() {
                    let t = index as i32 + 1;
                    let g = f64::from(gradient) + if beside { 0.0 } else { decay * parameter };
                    m = 0.9 * m + 0.1 * g;
                    v = 0.999 * v + 0.001 * g * g;
                    let m_hat = m / (1.0 - 0.9_f64.powi(t));
                    let v_hat = v / (1.0 - 0.999_f64.powi(t));
                    let shrunk = if beside { 0.01 * decay * parameter } else { 0.0 };
                    parameter -= 0.01 * m_hat / (f64::sqrt(v_hat) + 1e-8) + shrunk;
                    adam.step(&mut found, &[gradient], 0.01, &mut Team::new(1).unwrap());
                }
                // As above; a gradient near 0 makes a whole step of its last digits.
                prop_assert!((f64::from(found[0]) - parameter).abs() < 1e-4, "{beside}");
            }
        }
    }
}
