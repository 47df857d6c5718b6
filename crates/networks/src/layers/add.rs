//! The sum of two values, as at the end of a residual block.

use super::rectifier::{self, stretch};
use crate::arithmetic::matrix::Writing;
use crate::layers::layer::{Backward, Forward, Gradients, Layer, Needs};
use crate::threads::parts::{Cut, Parts};
use crate::threads::team::Team;

/// Adds the output of an earlier layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Add;

impl Layer for Add {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn forward(&self, pass: Forward<'_>) {
        let other = pass.other.expect("a sum has two terms");
        let (length, step) = (pass.output.len(), stretch(pass.output.len()));
        let output = Parts::new(pass.output, Cut::Every(step));
        pass.rooms.team.run(length.div_ceil(step), &|part| {
            let own = output.take(part);
            own.copy_from_slice(&pass.input[part * step..][..own.len()]);
            rectifier::add(own, &other[part * step..]);
        });
    }

    fn backward(&self, pass: Backward<'_>) {
        for target in [pass.input_gradients, pass.other_gradients].into_iter().flatten() {
            hand_on(pass.output_gradients, target, &mut pass.rooms.team);
        }
    }
}

fn hand_on(from: &[f32], target: Gradients<'_>, team: &mut Team) {
    let step = stretch(from.len());
    let to = Parts::new(target.values, Cut::Every(step));
    team.run(from.len().div_ceil(step), &|part| {
        let to = to.take(part);
        let from = &from[part * step..][..to.len()];
        match target.into {
            Writing::Replace => to.copy_from_slice(from),
            Writing::Add => rectifier::add(to, from),
        }
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::layers::layer::Mode;
    use crate::layers::layer::alone::Alone;
    use crate::network::initial_weights::test_values as values;

    proptest! {
        /// Lengths around those at which the work is shared among threads.
        #[test]
        fn gradients_are_handed_on_whole_or_added(length in 1_usize..9000, threads in 1_usize..4) {
            let from: Vec<f32> = (0..length).map(|at| at as f32).collect();
            let mut team = Team::new(threads).unwrap();
            let mut to = vec![0.5; length];
            hand_on(&from, Gradients { values: &mut to, into: Writing::Add }, &mut team);
            prop_assert!(to.iter().zip(&from).all(|(to, from)| *to == from + 0.5));
            hand_on(&from, Gradients { values: &mut to, into: Writing::Replace }, &mut team);
            prop_assert_eq!(to, from);
        }
    }

    #[test]
    fn both_terms_of_a_sum_get_its_gradients() {
        let [input, other, at_output] = [1, 2, 3].map(|seed| values(40_000, seed));
        for (threads, into) in [(1, Writing::Replace), (3, Writing::Add)] {
            let (parameters, mode, examples) = (&[][..], Mode::Score, 1);
            let terms = (&input[..], Some(&other[..]));
            let alone = Alone {
                layer: &Add,
                parameters,
                input: terms.0,
                other: terms.1,
                examples,
                mode,
                threads,
            };
            let found = alone.run(&at_output, into);
            let before = if into == Writing::Add { 1.0 } else { 0.0 };
            for at in 0..input.len() {
                assert_eq!(found.output[at], input[at] + other[at]);
                assert_eq!(found.at_input[at], before + at_output[at]);
                assert_eq!(found.at_other[at], before + at_output[at]);
            }
        }
    }
}
