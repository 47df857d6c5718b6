//! What turns gradients into updates.

use std::ops::Range;

use crate::threads::team::Team;

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

    /// What it remembers from step to step, to be kept or put back.
    fn memory(&mut self) -> OptimizerMemory<'_>;
}

/// What an optimiser remembers: with it and the parameters, training goes on as if it had never
/// been interrupted.
#[derive(Debug)]
pub struct OptimizerMemory<'a> {
    /// Steps so far, where they matter.
    pub steps: Option<&'a mut u64>,
    /// Vectors with one number a parameter, by name.
    pub slots: Vec<(&'static str, &'a mut [f32])>,
}

/// Which parameters are trained; the others are never touched.
///
/// ```
/// use trainwright_networks::{Adam, Optimizer, Team, Trained};
///
/// let mut adam = Adam::new(Trained::ranges(3, &[1..2, 2..3]));
/// let mut parameters = [1.0, 1.0, 1.0];
/// adam.step(&mut parameters, &[5.0, 5.0, 5.0], 0.1, &mut Team::new(1)?);
/// assert_eq!(parameters[0], 1.0);
/// # Ok::<(), trainwright_networks::NetworksError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trained {
    /// Where each piece ends; the last is the number of parameters.
    ends: Vec<usize>,
    /// Whether each piece is trained.
    trained: Vec<bool>,
}

/// Parameters that one thread updates at a time; few are not worth sharing.
const PIECE: usize = 16_384;

impl Trained {
    /// The parameters in these rising ranges, of as many as there are.
    ///
    /// # Panics
    /// When the ranges overlap, fall or end beyond the parameters.
    pub fn ranges(parameter_count: usize, ranges: &[Range<usize>]) -> Self {
        let mut pieces = Self { ends: Vec::new(), trained: Vec::new() };
        let mut reached = 0;
        for range in ranges {
            let rises = reached <= range.start && range.start <= range.end;
            assert!(rises && range.end <= parameter_count, "{range:?} follows {reached}");
            pieces.add(reached..range.start, false);
            pieces.add(range.clone(), true);
            reached = range.end;
        }
        pieces.add(reached..parameter_count, false);
        pieces
    }

    fn add(&mut self, range: Range<usize>, trained: bool) {
        let starts = range.clone().step_by(PIECE);
        self.ends.extend(starts.map(|start| range.end.min(start + PIECE)));
        self.trained.resize(self.ends.len(), trained);
    }

    /// How many parameters there are, trained or not.
    pub(crate) fn parameter_count(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Where the pieces end.
    pub(crate) fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// Calls `update` with each piece that is trained and the gradients of its parameters.
    pub(crate) fn update(
        &self,
        gradients: &[f32],
        team: &mut Team,
        update: &(dyn Fn(usize, &[f32]) + Sync),
    ) {
        assert_eq!(gradients.len(), self.parameter_count(), "one gradient a parameter");
        team.run(self.ends.len(), &|piece| {
            if self.trained[piece] {
                let start = piece.checked_sub(1).map_or(0, |before| self.ends[before]);
                update(piece, &gradients[start..self.ends[piece]]);
            }
        });
    }
}

impl From<usize> for Trained {
    fn from(parameter_count: usize) -> Self {
        Self::ranges(parameter_count, std::slice::from_ref(&(0..parameter_count)))
    }
}

#[cfg(test)]
pub(crate) mod contract {
    use super::*;

    /// What every optimiser must do, with a rate at which 2000 steps are enough for a bowl.
    pub(crate) fn check(rate: f64, make: &dyn Fn(Trained) -> Box<dyn Optimizer>) {
        zero_gradients_change_nothing_at_first(make(3.into()));
        a_bowl_is_descended(rate, make(2.into()));
        a_step_is_the_same_for_each_coordinate_alone(make);
        a_step_is_the_same_for_any_team(make);
        what_is_not_trained_stays(make);
        memory_put_back_goes_on_alike(make);
    }

    fn steps(optimizer: &mut dyn Optimizer, parameters: &mut [f32], gradients: &[f32], count: u32) {
        let mut team = Team::new(1).unwrap();
        (0..count).for_each(|_| optimizer.step(parameters, gradients, 0.1, &mut team));
    }

    fn a_step_is_the_same_for_any_team(make: &dyn Fn(Trained) -> Box<dyn Optimizer>) {
        let count = 3 * PIECE + 5;
        let gradients: Vec<f32> = (0..count).map(|index| (index % 91) as f32 - 45.0).collect();
        let run = |threads| {
            let (mut parameters, mut optimizer) = (vec![1.0; count], make(count.into()));
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
        steps(&mut *optimizer, &mut parameters, &[0.0; 3], 1);
        assert_eq!(parameters, [1.0, -2.0, 3.0]);
    }

    fn a_bowl_is_descended(rate: f64, mut optimizer: Box<dyn Optimizer>) {
        let mut parameters = [1.0, -3.0];
        for _ in 0..2000 {
            let gradients = [parameters[0], 0.5 * parameters[1]];
            optimizer.step(&mut parameters, &gradients, rate, &mut Team::new(1).unwrap());
        }
        assert!(parameters.iter().all(|value: &f32| value.abs() < 0.05), "{parameters:?}");
    }

    fn a_step_is_the_same_for_each_coordinate_alone(make: &dyn Fn(Trained) -> Box<dyn Optimizer>) {
        let gradients = [0.5, -1.5, 4.0];
        let (mut together, mut whole) = ([1.0; 3], make(3.into()));
        steps(&mut *whole, &mut together, &gradients, 5);
        for (expected, gradient) in together.into_iter().zip(gradients) {
            let (mut alone, mut single) = ([1.0], make(1.into()));
            steps(&mut *single, &mut alone, &[gradient], 5);
            assert_eq!(alone, [expected]);
        }
    }

    fn what_is_not_trained_stays(make: &dyn Fn(Trained) -> Box<dyn Optimizer>) {
        let (mut some, mut all) = ([1.0; 4], [1.0; 4]);
        steps(&mut *make(Trained::ranges(4, &[1..2, 3..4])), &mut some, &[2.0; 4], 3);
        steps(&mut *make(4.into()), &mut all, &[2.0; 4], 3);
        assert_eq!(some, [1.0, all[1], 1.0, all[3]]);
    }

    fn memory_put_back_goes_on_alike(make: &dyn Fn(Trained) -> Box<dyn Optimizer>) {
        let gradients = [0.5, -1.5, 4.0];
        let (mut expected, mut whole) = ([1.0; 3], make(3.into()));
        steps(&mut *whole, &mut expected, &gradients, 3);
        let (mut parameters, mut second) = (expected, make(3.into()));
        let OptimizerMemory { steps: count, slots } = whole.memory();
        let into = second.memory();
        if let (Some(count), Some(into)) = (count, into.steps) {
            *into = *count;
        }
        for ((name, values), (same, into)) in slots.into_iter().zip(into.slots) {
            assert_eq!(name, same);
            into.copy_from_slice(values);
        }
        steps(&mut *whole, &mut expected, &gradients, 3);
        steps(&mut *second, &mut parameters, &gradients, 3);
        assert_eq!(parameters, expected);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_all_parameters_and_know_which_are_trained() {
        let some = Trained::ranges(3 * PIECE, &[5..7, 7..PIECE + 8]);
        assert_eq!(some.ends, [5, 7, PIECE + 7, PIECE + 8, 2 * PIECE + 8, 3 * PIECE]);
        assert_eq!(some.trained, [false, true, true, true, false, false]);
        assert_eq!(Trained::from(0).parameter_count(), 0);
    }

    #[test]
    #[should_panic(expected = "3..5 follows 4")]
    fn overlapping_ranges_are_refused() {
        Trained::ranges(9, &[0..4, 3..5]);
    }
}
