//! Dropout: some values become 0 while learning, and the others grow to make up for them.

use trainwright_random::Random;

use super::rectifier::stretch;
use crate::arithmetic::matrix::Writing;
use crate::arithmetic::simd::fused_kernels;
use crate::layers::layer::{Backward, Forward, Layer, Mode, Needs};
use crate::threads::parts::{Cut, Parts};

/// Leaves out a share of the values (Srivastava et al. 2014, in the form that scales while
/// learning).
///
/// Which ones is a function of the step's seed, the layer and the place of the value, not of the
/// order in which threads come by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Dropout {
    rate: f64,
    layer: u64,
}

/// What decides about each value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    key: u32,
    threshold: u32,
    scale: f32,
}

impl Dropout {
    /// A layer that leaves out the share `rate`; `layer` tells it from others of the network.
    pub(crate) fn new(rate: f64, layer: usize) -> Self {
        Self { rate, layer: layer as u64 }
    }

    fn choice(&self, seed: u64) -> Choice {
        let mut of_step = Random::new(seed);
        let mixed = (0..=self.layer).fold(0, |_, _| of_step.bits());
        Choice {
            // The highest bit takes back the last shift of the generator, which the first
            // versions left out: a seed must go on to leave out the same values.
            key: ((mixed >> 32) ^ (mixed >> 63)) as u32,
            threshold: (self.rate * 2.0_f64.powi(32)) as u32,
            scale: (1.0 / (1.0 - self.rate)) as f32,
        }
    }
}

fused_kernels! {
    /// Multiplies the values that stay and zeroes the others; the first has this place.
    fn leave_out<const FMA: bool>(values: &mut [f32], first: u32, choice: Choice) {
        let Choice { key, threshold, scale } = choice;
        for (index, value) in values.iter_mut().enumerate() {
            let hash = mix(first.wrapping_add(index as u32) ^ key);
            *value = if hash < threshold { 0.0 } else { *value * scale };
        }
    }
}

/// The finaliser of MurmurHash3, which spreads each bit over all.
#[inline(always)]
fn mix(mut hash: u32) -> u32 {
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85EB_CA6B);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xC2B2_AE35);
    hash ^ (hash >> 16)
}

impl Layer for Dropout {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn forward(&self, pass: Forward<'_>) {
        let step = stretch(pass.output.len());
        let count = pass.output.len().div_ceil(step);
        let output = Parts::new(pass.output, Cut::Every(step));
        pass.rooms.team.run(count, &|part| {
            let own = output.take(part);
            own.copy_from_slice(&pass.input[part * step..][..own.len()]);
            if let Mode::Train { seed } = pass.mode {
                leave_out(own, (part * step) as u32, self.choice(seed));
            }
        });
    }

    fn backward(&self, pass: Backward<'_>) {
        let Some(target) = pass.input_gradients else { return };
        let step = stretch(pass.output_gradients.len());
        let count = pass.output_gradients.len().div_ceil(step);
        let from = Parts::new(pass.output_gradients, Cut::Every(step));
        let to = Parts::new(target.values, Cut::Every(step));
        pass.rooms.team.run(count, &|part| {
            let (from, to) = (from.take(part), to.take(part));
            if let Mode::Train { seed } = pass.mode {
                leave_out(from, (part * step) as u32, self.choice(seed));
            }
            match target.into {
                Writing::Replace => to.copy_from_slice(from),
                Writing::Add => super::rectifier::add(to, from),
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::layer::alone::Alone;
    use crate::network::initial_weights::test_values as values;

    #[test]
    fn a_seed_and_a_layer_leave_out_what_they_always_did() {
        let keys = [(0, 0), (7, 0), (7, 3), (u64::MAX, 52)]
            .map(|(seed, layer)| Dropout::new(0.5, layer).choice(seed).key);
        // As versions before the common generator had them.
        assert_eq!(keys, [0xe220_a838, 0x63cb_e1e4, 0x953a_eb71, 0xbca7_20be]);
    }

    #[test]
    fn the_share_that_is_left_out_is_the_rate() {
        for (rate, seed) in [(0.2, 1), (0.5, 2), (0.9, 3)] {
            let mut values = vec![1.0; 100_000];
            leave_out(&mut values, 0, Dropout::new(rate, 3).choice(seed));
            let zeros = values.iter().filter(|&&value| value == 0.0).count() as f64 / 1e5;
            // Four standard deviations of a share of 100,000.
            assert!((zeros - rate).abs() < 4.0 * (rate * (1.0 - rate) / 1e5).sqrt(), "{zeros}");
            let mean = values.iter().sum::<f32>() / 1e5;
            assert!((mean - 1.0).abs() < 0.05, "{mean}");
        }
    }

    #[test]
    fn the_choice_depends_on_seed_layer_and_place_alone() {
        let run = |seed, layer, first: usize| {
            let mut values = vec![1.0; 1000];
            leave_out(&mut values[first..], first as u32, Dropout::new(0.5, layer).choice(seed));
            values[500..].to_vec()
        };
        assert_eq!(run(1, 1, 0), run(1, 1, 333));
        assert_ne!(run(1, 1, 0), run(2, 1, 0));
        assert_ne!(run(1, 1, 0), run(1, 2, 0));
        let [mut plain, mut dispatched] = [[1.0; 100], [1.0; 100]];
        plain::leave_out::<false>(&mut plain, 7, Dropout::new(0.5, 1).choice(1));
        leave_out(&mut dispatched, 7, Dropout::new(0.5, 1).choice(1));
        assert_eq!(plain, dispatched);
    }

    fn passed(rate: f64, mode: Mode, threads: usize, at_output: &[f32]) -> [Vec<f32>; 2] {
        let (layer, input) = (Dropout::new(rate, 2), vec![1.0; at_output.len()]);
        let (parameters, other, examples) = (&[][..], None, 1);
        let alone =
            Alone { layer: &layer, parameters, input: &input, other, examples, mode, threads };
        let found = alone.run(at_output, Writing::Replace);
        [found.output, found.at_input]
    }

    #[test]
    fn gradients_go_back_where_values_came_through() {
        let at_output = values(40_000, 1);
        let mode = Mode::Train { seed: 7 };
        let [output, at_input] = passed(0.25, mode, 1, &at_output);
        let (kept, left_out) = (4.0_f32 / 3.0, 0.0);
        assert!(output.iter().all(|&value| value == kept || value == left_out));
        assert!(output.contains(&kept) && output.contains(&left_out));
        let expected = output.iter().zip(&at_output).map(|(share, gradient)| share * gradient);
        assert!(at_input.iter().copied().eq(expected));
        assert_eq!(
            passed(0.25, mode, 3, &at_output),
            [output, at_input],
            "on any number of threads"
        );
    }

    #[test]
    fn nothing_is_left_out_of_a_frozen_layer_or_when_judging() {
        let at_output = values(1000, 1);
        for mode in [Mode::Frozen, Mode::Score] {
            assert_eq!(passed(0.9, mode, 1, &at_output), [vec![1.0; 1000], at_output.clone()]);
        }
    }
}
