//! What turns gradients into updates.

use crate::team::Team;

/// Changes parameters by gradients, and remembers what it needs from step to step.
pub trait Optimizer: Send {
    /// Makes one step, in place; the size of the team changes the time, not a bit of the result.
    ///
    /// # Panics
    /// When the vectors do not have the length that the optimiser was made for.
    fn step(
        &mut self,
        parameters: &mut [f32],
        gradients: &[f32],
        learning_rate: f64,
        team: &mut Team,
    );
}

/// How many numbers each of a team's threads updates; few are not worth sharing.
pub(crate) fn share(count: usize, team: &Team) -> usize {
    count.div_ceil(team.threads()).max(8192)
}

#[cfg(test)]
pub(crate) mod contract {
    use super::*;

    /// What every optimiser must do.
    pub(crate) fn check(make: &dyn Fn(usize) -> Box<dyn Optimizer>) {
        zero_gradients_change_nothing_at_first(make(3));
        a_bowl_is_descended(make(2));
        a_step_is_the_same_for_each_coordinate_alone(make);
        a_step_is_the_same_for_any_team(make);
    }

    fn a_step_is_the_same_for_any_team(make: &dyn Fn(usize) -> Box<dyn Optimizer>) {
        let count = 3 * 8192 + 5;
        let gradients: Vec<f32> = (0..count).map(|index| (index % 91) as f32 - 45.0).collect();
        let run = |threads| {
            let (mut parameters, mut optimizer) = (vec![1.0; count], make(count));
            for _ in 0..3 {
                optimizer.step(&mut parameters, &gradients, 0.1, &mut Team::new(threads).unwrap());
            }
            parameters
        };
        let alone = run(1);
        assert!(alone == run(2) && alone == run(3) && alone == run(7));
    }

    fn zero_gradients_change_nothing_at_first(mut optimizer: Box<dyn Optimizer>) {
        let mut parameters = [1.0, -2.0, 3.0];
        optimizer.step(&mut parameters, &[0.0; 3], 0.1, &mut Team::new(1).unwrap());
        assert_eq!(parameters, [1.0, -2.0, 3.0]);
    }

    fn a_bowl_is_descended(mut optimizer: Box<dyn Optimizer>) {
        let mut parameters = [1.0, -3.0];
        for _ in 0..2000 {
            let gradients = [parameters[0], 0.5 * parameters[1]];
            optimizer.step(&mut parameters, &gradients, 0.01, &mut Team::new(1).unwrap());
        }
        assert!(parameters.iter().all(|value: &f32| value.abs() < 0.05), "{parameters:?}");
    }

    fn a_step_is_the_same_for_each_coordinate_alone(make: &dyn Fn(usize) -> Box<dyn Optimizer>) {
        let gradients = [0.5, -1.5, 4.0];
        let (mut together, mut whole) = ([1.0; 3], make(3));
        for _ in 0..5 {
            whole.step(&mut together, &gradients, 0.1, &mut Team::new(1).unwrap());
        }
        for (expected, gradient) in together.into_iter().zip(gradients) {
            let (mut alone, mut single) = ([1.0], make(1));
            for _ in 0..5 {
                single.step(&mut alone, &[gradient], 0.1, &mut Team::new(1).unwrap());
            }
            assert_eq!(alone, [expected]);
        }
    }
}
