//! The largest value of each window.

use super::window::Window;
use crate::arithmetic::matrix::Writing;
use crate::arithmetic::simd::fused_kernels;
use crate::layers::layer::{Backward, Forward, Layer, Needs, examples_per_part};
use crate::threads::parts::{Cut, Parts};

/// Windows that lie side by side; rows and columns that fill no window are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MaxPool {
    pub(crate) window: Window,
    pub(crate) channels: usize,
    /// Whether a ReLU follows.
    ///
    /// The largest of rectified values is the rectified largest, and there are fewer of those.
    pub(crate) rectifies: bool,
}

fused_kernels! {
    /// Largest values of one picture; NaN is taken as the largest.
    fn largest<const FMA: bool>(pool: MaxPool, input: &[f32], output: &mut [f32]) {
        let MaxPool { window, channels, rectifies } = pool;
        for (place, output) in output.chunks_exact_mut(channels).enumerate() {
            for tap in 0..window.kernel * window.kernel {
                let input = &input[start(&window, place, tap) * channels..][..channels];
                if tap == 0 {
                    output.copy_from_slice(input);
                    continue;
                }
                for (output, &value) in output.iter_mut().zip(input) {
                    *output = if (value > *output) | value.is_nan() { value } else { *output };
                }
            }
            if rectifies {
                for output in output {
                    *output = if *output < 0.0 { 0.0 } else { *output };
                }
            }
        }
    }

    /// Hands each gradient to the first of its window's values that is the largest, and 0 to the
    /// others of the window.
    fn hand_back<const FMA: bool>(
        pool: MaxPool,
        kept: (&[f32], &[f32]),
        at_output: &mut [f32],
        at_input: &mut [f32],
        into: Writing,
    ) {
        let (input, output) = kept;
        let MaxPool { window, channels, rectifies } = pool;
        let places = output.chunks_exact(channels).zip(at_output.chunks_exact_mut(channels));
        for (place, (output, rest)) in places.enumerate() {
            for tap in 0..window.kernel * window.kernel {
                let start = start(&window, place, tap) * channels;
                let input = &input[start..start + channels];
                let at_input = &mut at_input[start..start + channels];
                let (output, rest) = (&output[..channels], &mut rest[..channels]);
                for channel in 0..channels {
                    let learns = !rectifies | (output[channel] > 0.0);
                    let hit = learns & (input[channel] == output[channel]);
                    let before = if into == Writing::Add { at_input[channel] } else { 0.0 };
                    at_input[channel] = before + if hit { rest[channel] } else { 0.0 };
                    rest[channel] = if hit { 0.0 } else { rest[channel] };
                }
            }
        }
    }
}

/// The position under a tap of the window at a place.
#[inline(always)]
fn start(window: &Window, place: usize, tap: usize) -> usize {
    let (down, across) = (place / window.output_width(), place % window.output_width());
    let row = down * window.stride + tap / window.kernel;
    row * window.width + across * window.stride + tap % window.kernel
}

impl MaxPool {
    /// Numbers of one example before and after.
    fn sizes(&self) -> (usize, usize) {
        let Window { height, width, .. } = self.window;
        (height * width * self.channels, self.window.positions() * self.channels)
    }

    /// Clears the gradients of what fills no window.
    fn clear_rest(&self, at_input: &mut [f32]) {
        let Window { width, kernel, .. } = self.window;
        let (rows, columns) =
            (self.window.output_height() * kernel, self.window.output_width() * kernel);
        for (index, row) in at_input.chunks_exact_mut(width * self.channels).enumerate() {
            let start = if index < rows { columns * self.channels } else { 0 };
            row[start..].fill(0.0);
        }
    }
}

impl Layer for MaxPool {
    fn needs(&self) -> Needs {
        Needs { input: true, output: true, ..Needs::default() }
    }

    fn forward(&self, pass: Forward<'_>) {
        let (before, after) = self.sizes();
        let step = examples_per_part(pass.examples, self.window.positions());
        let output = Parts::new(pass.output, Cut::Every(step * after));
        pass.rooms.team.run(pass.examples.div_ceil(step), &|part| {
            let input = pass.input[part * step * before..].chunks_exact(before);
            for (input, output) in input.zip(output.take(part).chunks_exact_mut(after)) {
                largest(*self, input, output);
            }
        });
    }

    fn backward(&self, pass: Backward<'_>) {
        let Some(target) = pass.input_gradients else { return };
        let (before, after) = self.sizes();
        let step = examples_per_part(pass.examples, self.window.positions());
        let from = Parts::new(pass.output_gradients, Cut::Every(step * after));
        let to = Parts::new(target.values, Cut::Every(step * before));
        pass.rooms.team.run(pass.examples.div_ceil(step), &|part| {
            let (from, to) = (from.take(part), to.take(part));
            let input = pass.input[part * step * before..].chunks_exact(before);
            let output = pass.output[part * step * after..].chunks_exact(after);
            let gradients = from.chunks_exact_mut(after).zip(to.chunks_exact_mut(before));
            for (kept, (from, to)) in input.zip(output).zip(gradients) {
                hand_back(*self, kept, from, to, target.into);
                if target.into == Writing::Replace {
                    self.clear_rest(to);
                }
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

    const POOL: MaxPool = MaxPool {
        window: Window { height: 2, width: 5, kernel: 2, stride: 2, padding: 0 },
        channels: 1,
        rectifies: false,
    };

    #[test]
    fn the_first_largest_gets_the_gradient() {
        let input = [1.0, 5.0, 2.0, 2.0, 9.0, 5.0, 0.0, 2.0, 1.0, 9.0];
        let mut output = [0.0; 2];
        largest(POOL, &input, &mut output);
        assert_eq!(output, [5.0, 2.0]);
        let mut at_input = [f32::NAN; 10];
        hand_back(POOL, (&input, &output), &mut [3.0, 4.0], &mut at_input, Writing::Replace);
        POOL.clear_rest(&mut at_input);
        assert_eq!(at_input, [0.0, 3.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        hand_back(POOL, (&input, &output), &mut [3.0, 4.0], &mut at_input, Writing::Add);
        assert_eq!(at_input, [0.0, 6.0, 8.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn nan_reaches_the_output() {
        let mut input = [1.0; 10];
        for place in [0, 1, 5, 6] {
            input[place] = f32::NAN;
            let mut output = [0.0; 2];
            largest(POOL, &input, &mut output);
            assert!(output[0].is_nan(), "{place}");
            input[place] = 1.0;
        }
    }

    #[test]
    fn both_compilations_agree() {
        let pool = MaxPool {
            window: Window { height: 6, width: 7, kernel: 3, stride: 3, padding: 0 },
            channels: 11,
            rectifies: true,
        };
        let input: Vec<f32> = (0..6 * 7 * 11).map(|it| ((it * 37) % 101) as f32 - 80.0).collect();
        let [mut one, mut two] = [vec![0.0; 44], vec![0.0; 44]];
        plain::largest::<false>(pool, &input, &mut one);
        largest(pool, &input, &mut two);
        assert_eq!(one, two);
        for into in [Writing::Add, Writing::Replace] {
            let [mut back, mut again] = [vec![0.5; input.len()], vec![0.5; input.len()]];
            plain::hand_back::<false>(pool, (&input, &one), &mut [2.0; 44], &mut back, into);
            hand_back(pool, (&input, &one), &mut [2.0; 44], &mut again, into);
            assert_eq!(back, again);
        }
    }

    #[test]
    fn rectifying_after_is_rectifying_before() {
        let (after, input) = (
            MaxPool { rectifies: true, ..POOL },
            [-1.0, -5.0, 2.0, 2.0, 9.0, -5.0, 0.0, -2.0, 3.0, 9.0],
        );
        let rectified = input.map(|value: f32| value.max(0.0));
        let [mut one, mut two] = [[f32::NAN; 2]; 2];
        largest(after, &input, &mut one);
        largest(POOL, &rectified, &mut two);
        assert_eq!((one, two), ([0.0, 3.0], [0.0, 3.0]));
        let [mut back, mut again] = [[0.0; 10]; 2];
        hand_back(after, (&input, &one), &mut [7.0, 8.0], &mut back, Writing::Replace);
        hand_back(POOL, (&rectified, &two), &mut [7.0, 8.0], &mut again, Writing::Replace);
        crate::arithmetic::kernels::relu_backward(&mut again, &rectified);
        assert_eq!(back, again);
        assert_eq!(back.iter().sum::<f32>(), 8.0);
    }

    /// Pools a batch window by window, and hands gradients back to the first largest.
    fn check(pool: MaxPool, examples: usize, threads: usize, into: Writing) {
        let ((before, after), window) = (pool.sizes(), pool.window);
        // Few different numbers, so that windows have several largest ones.
        let input: Vec<f32> =
            values(examples * before, 1).iter().map(|it| (it * 2.0).round()).collect();
        let at_output = values(examples * after, 2);
        let (parameters, other, mode) = (&[][..], None, Mode::Train { seed: 1 });
        let alone =
            Alone { layer: &pool, parameters, input: &input, other, examples, mode, threads };
        let found = alone.run(&at_output, into);
        let mut at_input = vec![if into == Writing::Add { 1.0 } else { 0.0 }; input.len()];
        for (at, &output) in found.output.iter().enumerate() {
            let (example, channel) = (at / after, at % pool.channels);
            let place = at % after / pool.channels;
            let (row, column) = (place / window.output_width(), place % window.output_width());
            let taps = pairs(window.kernel, window.kernel).map(|(y, x)| {
                let (y, x) = (row * window.stride + y, column * window.stride + x);
                example * before + (y * window.width + x) * pool.channels + channel
            });
            let first = |best: usize, it: usize| if input[it] > input[best] { it } else { best };
            let largest = taps.reduce(first).unwrap();
            let expected = if pool.rectifies { input[largest].max(0.0) } else { input[largest] };
            assert_eq!(output, expected);
            if !pool.rectifies || expected > 0.0 {
                at_input[largest] += at_output[at];
            }
        }
        assert_eq!(found.at_input, at_input);
    }

    proptest! {
        #[test]
        fn any_batch_gives_the_largest_of_each_window(
            (height, width, size) in (1..7_usize, 1..7_usize, 1..4_usize),
            (channels, examples, threads) in (1..4_usize, 1..9_usize, 1..4_usize),
            (add, rectifies) in any::<(bool, bool)>(),
        ) {
            let window = Window { height, width, kernel: size, stride: size, padding: 0 };
            prop_assume!(window.fits());
            let into = if add { Writing::Add } else { Writing::Replace };
            check(MaxPool { window, channels, rectifies }, examples, threads, into);
        }
    }
}
