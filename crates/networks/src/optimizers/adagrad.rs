//! AdaGrad: steps scaled by the root of all squared gradients so far.

use crate::arithmetic::numbers::Numbers;
use crate::optimizers::optimizer::{Optimizer, OptimizerMemory, Trained};
use crate::optimizers::update_kernels::{self, AdaGradStep};
use crate::threads::parts::{Cut, Parts};
use crate::threads::team::Team;

/// AdaGrad of Duchi, Hazan and Singer (2011, figure 1, diagonal) with `epsilon = 1e-10` beside
/// the root, as PyTorch has it.
#[derive(Debug, Clone)]
pub struct AdaGrad {
    trained: Trained,
    squares: Numbers,
    decay: f64,
}

/// Keeps the first division from being by zero.
pub(crate) const EPSILON: f32 = 1e-10;

impl AdaGrad {
    /// An optimiser for these parameters (a number means all) that has seen no gradients.
    pub fn new(trained: impl Into<Trained>) -> Self {
        let trained = trained.into();
        let squares = Numbers::zeros(trained.parameter_count());
        Self { trained, squares, decay: 0.0 }
    }

    /// The same with `decay` times the weight added to each gradient.
    pub fn with_weight_decay(self, decay: f64) -> Self {
        Self { decay, ..self }
    }
}

impl Optimizer for AdaGrad {
    fn step(
        &mut self,
        parameters: &mut [f32],
        gradients: &[f32],
        learning_rate: f64,
        team: &mut Team,
    ) {
        let (rate, decay) = (learning_rate as f32, self.decay as f32);
        let step = AdaGradStep { rate, epsilon: EPSILON, decay };
        let cut = Cut::At(self.trained.ends());
        let (parameters, squares) =
            (Parts::new(parameters, cut), Parts::new(&mut self.squares, cut));
        self.trained.update(gradients, team, &|piece, gradients| {
            let (parameters, squares) = (parameters.take(piece), squares.take(piece));
            update_kernels::adagrad(parameters, squares, gradients, step);
        });
    }

    fn memory(&mut self) -> OptimizerMemory<'_> {
        OptimizerMemory { steps: None, slots: vec![("squares", &mut self.squares[..])] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimizers::optimizer::contract;

    #[test]
    fn it_keeps_the_optimizer_contract() {
        contract::check(0.3, &|trained| Box::new(AdaGrad::new(trained)));
    }

    #[test]
    fn equal_gradients_give_steps_that_shrink_with_the_root_of_their_number() {
        let (mut parameters, mut adagrad) = ([0.0], AdaGrad::new(1));
        let mut expected = 0.0;
        for step in 1..=20 {
            adagrad.step(&mut parameters, &[3.0], 0.1, &mut Team::new(1).unwrap());
            expected -= 0.1 / f64::from(step).sqrt();
        }
        // Twenty steps in single precision.
        assert!((f64::from(parameters[0]) - expected).abs() < 1e-6);
    }

    #[test]
    fn decay_counts_as_gradient() {
        // With no gradient the first step is that of the decay alone: the rate, whatever its size.
        let (mut parameters, mut adagrad) = ([4.0, -0.5], AdaGrad::new(2).with_weight_decay(0.25));
        adagrad.step(&mut parameters, &[0.0, 0.0], 0.125, &mut Team::new(1).unwrap());
        assert!((parameters[0] - 3.875).abs() < 1e-6 && (parameters[1] + 0.375).abs() < 1e-6);
        let OptimizerMemory { slots, .. } = adagrad.memory();
        assert_eq!(slots[0].1, [1.0, 0.015_625]);
    }

    #[test]
    fn a_rare_gradient_moves_as_far_as_a_frequent_one_did_at_first() {
        let (mut parameters, mut adagrad) = ([0.0, 0.0], AdaGrad::new(2));
        let mut team = Team::new(1).unwrap();
        (0..99).for_each(|_| adagrad.step(&mut parameters, &[1.0, 0.0], 0.1, &mut team));
        let before = parameters;
        adagrad.step(&mut parameters, &[1.0, 1.0], 0.1, &mut team);
        // One step of a hundred against the first.
        assert!((before[0] - parameters[0] - 0.01).abs() < 1e-6);
        assert!((before[1] - parameters[1] - 0.1).abs() < 1e-6);
    }
}
