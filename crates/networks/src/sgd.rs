//! Stochastic gradient descent, plain or with momentum.

use crate::kernels::{self, MomentumStep};
use crate::optimizer::{Optimizer, share};
use crate::parts::{Cut, Parts};
use crate::team::Team;

/// Gradient descent; with momentum the step follows `v = momentum * v + gradient` (Polyak 1964,
/// in the form of Sutskever et al. 2013, section 2, with the rate taken out of the velocity).
#[derive(Debug, Clone)]
pub struct Sgd {
    parameter_count: usize,
    momentum: Option<Momentum>,
}

#[derive(Debug, Clone)]
struct Momentum {
    factor: f32,
    velocity: Vec<f32>,
}

impl Sgd {
    /// Plain descent for that many parameters.
    pub fn new(parameter_count: usize) -> Self {
        Self { parameter_count, momentum: None }
    }

    /// Descent with momentum for that many parameters.
    pub fn with_momentum(parameter_count: usize, factor: f32) -> Self {
        let velocity = vec![0.0; parameter_count];
        Self { parameter_count, momentum: Some(Momentum { factor, velocity }) }
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
        assert_eq!(parameters.len(), self.parameter_count, "as many parameters as planned for");
        assert_eq!(gradients.len(), self.parameter_count, "as many gradients as planned for");
        let rate = learning_rate as f32;
        let share = share(parameters.len(), team);
        let parts = parameters.len().div_ceil(share);
        let parameters = Parts::new(parameters, Cut::Every(share));
        let part_of =
            |part: usize| &gradients[part * share..gradients.len().min((part + 1) * share)];
        match &mut self.momentum {
            None => team.run(parts, &|part| {
                kernels::descend(parameters.take(part), part_of(part), rate);
            }),
            Some(Momentum { factor, velocity }) => {
                let step = MomentumStep { rate, momentum: *factor };
                let velocity = Parts::new(velocity, Cut::Every(share));
                team.run(parts, &|part| {
                    let (parameters, velocity) = (parameters.take(part), velocity.take(part));
                    kernels::descend_with_momentum(parameters, velocity, part_of(part), step);
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimizer::contract;

    #[test]
    fn it_keeps_the_optimizer_contract() {
        contract::check(&|count| Box::new(Sgd::new(count)));
        contract::check(&|count| Box::new(Sgd::with_momentum(count, 0.9)));
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
}
