//! The mean of each window.

use crate::arithmetic::matrix::Writing;
use crate::arithmetic::simd::{add_product, fused_kernels};
use crate::layers::layer::{Backward, Forward, Layer, Needs, examples_per_part};
use crate::threads::parts::{Cut, Parts};

/// Windows that lie side by side, or one over the whole picture; rows and columns that fill no
/// window are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AveragePool {
    pub(crate) height: usize,
    pub(crate) width: usize,
    /// Height and width of the windows.
    pub(crate) size: (usize, usize),
    pub(crate) channels: usize,
}

impl AveragePool {
    /// How many windows there are in a column and in a row.
    pub(crate) fn places(&self) -> (usize, usize) {
        (self.height / self.size.0, self.width / self.size.1)
    }

    /// Numbers of one example before and after.
    fn sizes(&self) -> (usize, usize) {
        let (down, across) = self.places();
        (self.height * self.width * self.channels, down * across * self.channels)
    }

    /// For each position under a window, the place of its first channel and of its window's.
    #[inline(always)]
    fn each_position(&self, mut work: impl FnMut(usize, usize)) {
        let (down, across) = self.places();
        for row in 0..down * self.size.0 {
            for column in 0..across * self.size.1 {
                let window = row / self.size.0 * across + column / self.size.1;
                work((row * self.width + column) * self.channels, window * self.channels);
            }
        }
    }

    fn share(&self) -> f32 {
        1.0 / (self.size.0 * self.size.1) as f32
    }
}

fused_kernels! {
    /// Means of one picture's windows.
    fn means<const FMA: bool>(pool: AveragePool, input: &[f32], output: &mut [f32]) {
        let channels = pool.channels;
        output.fill(0.0);
        pool.each_position(|from, to| {
            let (from, to) = (&input[from..from + channels], &mut output[to..to + channels]);
            for (to, &from) in to.iter_mut().zip(from) {
                *to += from;
            }
        });
        let share = pool.share();
        for value in output {
            *value *= share;
        }
    }

    /// Adds to each position its share of its window's gradient.
    fn hand_back<const FMA: bool>(pool: AveragePool, at_output: &[f32], at_input: &mut [f32]) {
        let (channels, share) = (pool.channels, pool.share());
        pool.each_position(|to, from| {
            let (from, to) = (&at_output[from..from + channels], &mut at_input[to..to + channels]);
            for (to, &from) in to.iter_mut().zip(from) {
                *to = add_product::<FMA>(from, share, *to);
            }
        });
    }
}

impl Layer for AveragePool {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn forward(&self, pass: Forward<'_>) {
        let (before, after) = self.sizes();
        let step = examples_per_part(pass.examples, self.height * self.width);
        let output = Parts::new(pass.output, Cut::Every(step * after));
        pass.rooms.team.run(pass.examples.div_ceil(step), &|part| {
            let input = pass.input[part * step * before..].chunks_exact(before);
            for (input, output) in input.zip(output.take(part).chunks_exact_mut(after)) {
                means(*self, input, output);
            }
        });
    }

    fn backward(&self, pass: Backward<'_>) {
        let Some(target) = pass.input_gradients else { return };
        let (before, after) = self.sizes();
        let step = examples_per_part(pass.examples, self.height * self.width);
        let to = Parts::new(target.values, Cut::Every(step * before));
        let from = &*pass.output_gradients;
        pass.rooms.team.run(pass.examples.div_ceil(step), &|part| {
            let to = to.take(part);
            if target.into == Writing::Replace {
                to.fill(0.0);
            }
            let from = from[part * step * after..].chunks_exact(after);
            for (from, to) in from.zip(to.chunks_exact_mut(before)) {
                hand_back(*self, from, to);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::layers::layer::Mode;
    use crate::layers::layer::alone::{Alone, pairs};
    use crate::network::initial_weights::test_values as values;

    #[test]
    fn windows_are_averaged_and_shares_handed_back() {
        let pool = AveragePool { height: 2, width: 3, size: (2, 2), channels: 1 };
        let mut output = [0.0];
        means(pool, &[1.0, 2.0, 50.0, 3.0, 6.0, 50.0], &mut output);
        assert_eq!(output, [3.0]);
        let mut at_input = [1.0; 6];
        hand_back(pool, &[4.0], &mut at_input);
        assert_eq!(at_input, [2.0, 2.0, 1.0, 2.0, 2.0, 1.0]);
    }

    #[test]
    fn both_compilations_agree() {
        let pool = AveragePool { height: 4, width: 4, size: (4, 4), channels: 9 };
        let input: Vec<f32> = (0..144).map(|it| ((it * 37) % 101) as f32).collect();
        let [mut one, mut two] = [[0.0; 9], [0.0; 9]];
        plain::means::<false>(pool, &input, &mut one);
        means(pool, &input, &mut two);
        assert_eq!(one, two);
        let [mut back, mut again] = [input.clone(), input];
        plain::hand_back::<false>(pool, &one, &mut back);
        hand_back(pool, &one, &mut again);
        // Sums of numbers below 101, each rounded to 2^-17 or better.
        assert!(back.iter().zip(&again).all(|(one, two)| (one - two).abs() < 2e-5));
    }

    /// Pools a batch window by window, and hands gradients back.
    fn check(pool: AveragePool, examples: usize, threads: usize, into: Writing) {
        let ((before, after), (down, across)) = (pool.sizes(), pool.places());
        let (input, at_output) = (values(examples * before, 1), values(examples * after, 2));
        let (parameters, other, mode) = (&[][..], None, Mode::Score);
        let alone =
            Alone { layer: &pool, parameters, input: &input, other, examples, mode, threads };
        let found = alone.run(&at_output, into);
        let mut at_input = vec![if into == Writing::Add { 1.0 } else { 0.0 }; input.len()];
        let area = (pool.size.0 * pool.size.1) as f32;
        for (at, &slope) in at_output.iter().enumerate() {
            let (example, channel) = (at / after, at % pool.channels);
            let window = at % after / pool.channels;
            let (row, column) = (window / across * pool.size.0, window % across * pool.size.1);
            let mut sum = 0.0;
            for (y, x) in pairs(pool.size.0, pool.size.1) {
                let position = (row + y) * pool.width + column + x;
                let place = example * before + position * pool.channels + channel;
                sum += input[place];
                at_input[place] += slope / area;
            }
            assert!((found.output[at] - sum / area).abs() < 1e-6, "{at} of {down} x {across}");
        }
        let pairs = found.at_input.iter().zip(&at_input);
        pairs.for_each(|(found, expected)| assert!((found - expected).abs() < 1e-6));
    }

    proptest! {
        #[test]
        fn any_batch_is_averaged_window_by_window(
            (height, width) in (1..7_usize, 1..7_usize),
            size in (1..4_usize, 1..4_usize),
            (channels, examples, threads) in (1..4_usize, 1..9_usize, 1..4_usize),
            add: bool,
        ) {
            prop_assume!(size.0 <= height && size.1 <= width);
            let into = if add { Writing::Add } else { Writing::Replace };
            check(AveragePool { height, width, size, channels }, examples, threads, into);
        }
    }
}
