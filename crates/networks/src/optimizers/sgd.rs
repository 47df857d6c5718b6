//! Stochastic gradient descent: plain, with momentum or with Nesterov's momentum.

use crate::arithmetic::numbers::Numbers;
use crate::optimizers::optimizer::{Optimizer, OptimizerMemory, Trained};
use crate::optimizers::update_kernels::{self, DescentStep};
use crate::threads::parts::{Cut, Parts};
use crate::threads::team::Team;

/// Gradient descent; with momentum the step follows `v = momentum * v + gradient` (Polyak 1964,
/// in the form of Sutskever et al. 2013, section 2, with the rate taken out of the velocity).
#[derive(Debug, Clone)]
pub struct Sgd {
    trained: Trained,
    decay: f64,
    momentum: Option<Momentum>,
}

#[derive(Debug, Clone)]
struct Momentum {
    kind: MomentumKind,
    factor: f32,
    velocity: Numbers,
}

/// Where the velocity takes the step from.
#[derive(Debug, Clone, Copy)]
enum MomentumKind {
    Polyak,
    Nesterov,
}

impl Sgd {
    /// Plain descent for these parameters (a number means all).
    pub fn new(trained: impl Into<Trained>) -> Self {
        Self { trained: trained.into(), decay: 0.0, momentum: None }
    }

    /// Descent with momentum.
    pub fn with_momentum(trained: impl Into<Trained>, factor: f32) -> Self {
        Self::moving(trained.into(), MomentumKind::Polyak, factor)
    }

    /// Descent with Nesterov's momentum: the step is `gradient + momentum * v`, that is, it looks
    /// one step of the velocity ahead (Sutskever et al. 2013, section 2, as PyTorch writes it).
    pub fn with_nesterov(trained: impl Into<Trained>, factor: f32) -> Self {
        Self::moving(trained.into(), MomentumKind::Nesterov, factor)
    }

    fn moving(trained: Trained, kind: MomentumKind, factor: f32) -> Self {
        let velocity = Numbers::zeros(trained.parameter_count());
        Self { trained, decay: 0.0, momentum: Some(Momentum { kind, factor, velocity }) }
    }

    /// The same with `decay` times the weight added to each gradient.
    pub fn with_weight_decay(self, decay: f64) -> Self {
        Self { decay, ..self }
    }
}

impl Optimizer for Sgd {
    fn step(
        &mut self,
        parameters: &mut [f32],
        gradients: &[f32],
        learning_rate: f64,
        team: &mut Team,
    ) {
        let momentum = self.momentum.as_ref().map_or(0.0, |momentum| momentum.factor);
        let step = DescentStep { rate: learning_rate as f32, momentum, decay: self.decay as f32 };
        let cut = Cut::At(self.trained.ends());
        let parameters = Parts::new(parameters, cut);
        let Some(Momentum { kind, velocity, .. }) = &mut self.momentum else {
            return self.trained.update(gradients, team, &|piece, gradients| {
                update_kernels::descend(parameters.take(piece), gradients, step);
            });
        };
        let velocity = Parts::new(velocity, cut);
        let descend = match kind {
            MomentumKind::Polyak => update_kernels::descend_with_momentum,
            MomentumKind::Nesterov => update_kernels::descend_with_nesterov,
        };
        self.trained.update(gradients, team, &|piece, gradients| {
            descend(parameters.take(piece), velocity.take(piece), gradients, step);
        });
    }

    fn memory(&mut self) -> OptimizerMemory<'_> {
        let momentum = self.momentum.iter_mut();
        let slots = momentum.map(|momentum| ("velocity", &mut momentum.velocity[..])).collect();
        OptimizerMemory { steps: None, slots }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::optimizers::optimizer::contract;

    #[test]
    fn it_keeps_the_optimizer_contract() {
        contract::check(0.01, &|trained| Box::new(Sgd::new(trained)));
        contract::check(0.01, &|trained| Box::new(Sgd::with_momentum(trained, 0.9)));
        contract::check(0.01, &|trained| Box::new(Sgd::with_nesterov(trained, 0.9)));
    }

    #[test]
    fn momentum_adds_up_as_on_paper() {
        let (mut parameters, mut sgd) = ([0.0], Sgd::with_momentum(1, 0.5));
        for _ in 0..3 {
            sgd.step(&mut parameters, &[1.0], 1.0, &mut Team::new(1).unwrap());
        }
        // Velocities 1, 1.5 and 1.75.
        assert_eq!(parameters, [-4.25]);
    }

    #[test]
    fn weight_decay_alone_shrinks_weights_by_the_rate() {
        let (mut parameters, mut sgd) = ([8.0], Sgd::new(1).with_weight_decay(0.5));
        sgd.step(&mut parameters, &[0.0], 0.5, &mut Team::new(1).unwrap());
        assert_eq!(parameters, [6.0]);
    }

    #[test]
    fn nesterov_looks_one_step_of_the_velocity_ahead() {
        let (mut parameters, mut sgd) = ([0.0], Sgd::with_nesterov(1, 0.5));
        for _ in 0..3 {
            sgd.step(&mut parameters, &[1.0], 1.0, &mut Team::new(1).unwrap());
        }
        // Velocities 1, 1.5 and 1.75; steps 1 + 0.5, 1 + 0.75 and 1 + 0.875.
        assert_eq!(parameters, [-5.125]);
    }

    #[test]
    fn a_constant_gradient_brings_the_speed_to_its_limit() {
        // The velocity tends to gradient / (1 - momentum), here 10 times the gradient.
        for mut sgd in [Sgd::with_momentum(1, 0.9), Sgd::with_nesterov(1, 0.9)] {
            let (mut parameters, mut team) = ([0.0], Team::new(1).unwrap());
            (0..300).for_each(|_| sgd.step(&mut parameters, &[0.5], 0.01, &mut team));
            let before = parameters[0];
            sgd.step(&mut parameters, &[0.5], 0.01, &mut team);
            assert!((before - parameters[0] - 0.05).abs() < 1e-5, "{} {before}", parameters[0]);
        }
    }

    proptest! {
        #[test]
        fn steps_follow_the_definition_with_decay_in_the_gradient(
            gradients in prop::collection::vec(-2.0_f32..2.0, 1..20),
            factor in 0.0_f32..0.95, decay in 0.0_f64..0.5, start in -3.0_f32..3.0,
        ) {
            let made = [
                Sgd::new(1), Sgd::with_momentum(1, factor), Sgd::with_nesterov(1, factor),
            ];
            for (kind, sgd) in made.into_iter().enumerate() {
                let (mut found, mut sgd) = ([start], sgd.with_weight_decay(decay));
                let (mut expected, mut velocity) = (f64::from(start), 0.0);
                for &gradient in &gradients {
                    let gradient_and_decay = f64::from(gradient) + decay * expected;
                    velocity = f64::from(factor) * velocity + gradient_and_decay;
                    expected -= 0.1 * match kind {
                        0 => gradient_and_decay,
                        1 => velocity,
                        _ => gradient_and_decay + f64::from(factor) * velocity,
                    };
                    sgd.step(&mut found, &[gradient], 0.1, &mut Team::new(1).unwrap());
                }
                // Twenty steps of numbers up to some 40 in single precision.
                let error = (f64::from(found[0]) - expected).abs();
                prop_assert!(error < 1e-4 * (1.0 + expected.abs()), "{kind}: {found:?} {expected}");
            }
        }
    }
}
