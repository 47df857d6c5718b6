//! Convolutions of each channel by itself.

use std::ops::Range;

use super::convolution::{PartBackward, PartForward, Product};
use super::window::Window;
use crate::arithmetic::matrix::Writing;
use crate::arithmetic::simd::{LANES, Lanes, add_product, add_products, fused_kernels};

/// One window of weights for each channel; channels last.
#[derive(Debug)]
pub(crate) struct DepthwiseFilters {
    window: Window,
    channels: usize,
    /// For each place of the input, the window's places and weights that touch it: where each
    /// starts in `back_taps`.
    back_starts: Vec<usize>,
    back_taps: Vec<Tap>,
    forward_starts: Vec<usize>,
    forward_taps: Vec<Tap>,
}

/// A position of one picture and the window's weights that multiply it, as places in their
/// slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tap {
    value: usize,
    weight: usize,
}

impl DepthwiseFilters {
    /// Most bytes that [`Self::new`] takes.
    pub(crate) fn bytes(window: &Window) -> u64 {
        let positions = window.positions() as u64;
        let [down, across] = [window.height, window.width].map(|it| it.min(window.kernel) as u64);
        // Forward and back, each in lists at first and then one after another.
        let taps = positions.saturating_mul(down).saturating_mul(across).saturating_mul(4);
        let places = positions.saturating_add((window.height * window.width) as u64);
        let of_lists = places.saturating_mul((size_of::<Vec<Tap>>() + size_of::<usize>()) as u64);
        taps.saturating_mul(size_of::<Tap>() as u64).saturating_add(of_lists)
    }

    /// Filters for that many channels.
    pub(crate) fn new(window: Window, channels: usize) -> Self {
        let places = window.positions();
        let mut forward: Vec<Vec<Tap>> = vec![Vec::new(); places];
        let mut back: Vec<Vec<Tap>> = vec![Vec::new(); window.height * window.width];
        for (place, taps) in forward.iter_mut().enumerate() {
            let (rows, first_row) = window.rows_at(place / window.output_width());
            let (columns, first_column) = window.columns_at(place % window.output_width());
            for (down, row) in rows.enumerate() {
                for (across, column) in columns.clone().enumerate() {
                    let position = (first_row + down) * window.width + first_column + across;
                    let weight = (row * window.kernel + column) * channels;
                    taps.push(Tap { value: position * channels, weight });
                    back[position].push(Tap { value: place * channels, weight });
                }
            }
        }
        let (forward_starts, forward_taps) = flat(&forward);
        let (back_starts, back_taps) = flat(&back);
        Self { window, channels, back_starts, back_taps, forward_starts, forward_taps }
    }
}

fn flat(lists: &[Vec<Tap>]) -> (Vec<usize>, Vec<Tap>) {
    let mut starts = vec![0];
    for list in lists {
        starts.push(starts[starts.len() - 1] + list.len());
    }
    (starts, lists.concat())
}

/// Weighted sums at each place of one picture.
pub(super) struct Sums<'a> {
    starts: &'a [usize],
    taps: &'a [Tap],
    channels: usize,
    into: Writing,
}

fused_kernels! {
    /// Computes the weighted sums of each place.
    fn weighted_sums<const FMA: bool>(
        sums: &Sums<'_>,
        values: &[f32],
        weights: &[f32],
        output: &mut [f32],
    ) {
        let Sums { starts, taps, channels, into } = *sums;
        for (bounds, output) in starts.windows(2).zip(output.chunks_exact_mut(channels)) {
            let taps = &taps[bounds[0]..bounds[1]];
            let mut at = 0;
            while at + 4 * LANES <= channels {
                block::<FMA, 4>(taps, values, weights, at, &mut output[at..], into);
                at += 4 * LANES;
            }
            while at + LANES <= channels {
                block::<FMA, 1>(taps, values, weights, at, &mut output[at..], into);
                at += LANES;
            }
            for channel in at..channels {
                let mut sum = if into == Writing::Add { output[channel] } else { 0.0 };
                for tap in taps {
                    let (value, weight) = (values[tap.value + channel], weights[tap.weight + channel]);
                    sum = add_product::<FMA>(value, weight, sum);
                }
                output[channel] = sum;
            }
        }
    }

    /// Adds to the gradients of the weights what one picture contributes.
    fn weight_gradients<const FMA: bool>(
        window: &Window,
        input: &[f32],
        at_output: &[f32],
        gradients: &mut [f32],
    ) {
        let channels = gradients.len() / (window.kernel * window.kernel);
        let width = window.output_width();
        for place in 0..window.output_height() {
            let (rows, first_row) = window.rows_at(place);
            let at_output = &at_output[place * width * channels..(place + 1) * width * channels];
            for (down, row) in rows.enumerate() {
                let start = (first_row + down) * window.width * channels;
                let input = &input[start..start + window.width * channels];
                let start = row * window.kernel * channels;
                let gradients = &mut gradients[start..start + window.kernel * channels];
                row_gradients::<FMA>(window, input, at_output, gradients);
            }
        }
    }
}

/// Weighted sums of `BLOCKS` times eight channels at one place.
#[inline(always)]
fn block<const FMA: bool, const BLOCKS: usize>(
    taps: &[Tap],
    values: &[f32],
    weights: &[f32],
    at: usize,
    output: &mut [f32],
    into: Writing,
) {
    let mut sums = [[0.0_f32; LANES]; BLOCKS];
    let (output, _) = output[..BLOCKS * LANES].as_chunks_mut::<LANES>();
    if into == Writing::Add {
        sums.copy_from_slice(output);
    }
    for tap in taps {
        let values = lanes::<BLOCKS>(values, tap.value + at);
        let weights = lanes::<BLOCKS>(weights, tap.weight + at);
        for block in 0..BLOCKS {
            add_products::<FMA>(&values[block], &weights[block], &mut sums[block]);
        }
    }
    output.copy_from_slice(&sums);
}

#[inline(always)]
fn lanes<const BLOCKS: usize>(values: &[f32], at: usize) -> &[Lanes; BLOCKS] {
    let (lanes, _) = values[at..at + BLOCKS * LANES].as_chunks::<LANES>();
    lanes.try_into().expect("a slice of that many blocks")
}

/// Adds to the gradients of one row of the window's weights what one row of places contributes.
#[inline(always)]
fn row_gradients<const FMA: bool>(
    window: &Window,
    input: &[f32],
    at_output: &[f32],
    gradients: &mut [f32],
) {
    let channels = gradients.len() / window.kernel;
    for (tap, gradients) in gradients.chunks_exact_mut(channels).enumerate() {
        // Places whose window has this tap on the picture.
        let first = window.padding.saturating_sub(tap).div_ceil(window.stride);
        let beyond = (window.width + window.padding).saturating_sub(tap).div_ceil(window.stride);
        let last = beyond.min(window.output_width());
        if first >= last {
            continue;
        }
        let start = (first * window.stride + tap - window.padding) * channels;
        let (input, at_output) = (&input[start..], &at_output[first * channels..last * channels]);
        let step = window.stride * channels;
        let mut at = 0;
        while at + 2 * LANES <= channels {
            dot::<FMA, 2>(input, at_output, (step, channels), at, gradients);
            at += 2 * LANES;
        }
        while at + LANES <= channels {
            dot::<FMA, 1>(input, at_output, (step, channels), at, gradients);
            at += LANES;
        }
        for (place, at_output) in at_output.chunks_exact(channels).enumerate() {
            for channel in at..channels {
                let value = input[place * step + channel];
                gradients[channel] =
                    add_product::<FMA>(value, at_output[channel], gradients[channel]);
            }
        }
    }
}

#[inline(always)]
fn dot<const FMA: bool, const BLOCKS: usize>(
    input: &[f32],
    at_output: &[f32],
    (step, channels): (usize, usize),
    at: usize,
    gradients: &mut [f32],
) {
    let mut sums = [[0.0_f32; LANES]; BLOCKS];
    let places = at_output.len() / channels;
    for place in 0..places {
        let values = lanes::<BLOCKS>(input, place * step + at);
        let factors = lanes::<BLOCKS>(at_output, place * channels + at);
        for block in 0..BLOCKS {
            add_products::<FMA>(&values[block], &factors[block], &mut sums[block]);
        }
    }
    for (gradient, sum) in gradients[at..].iter_mut().zip(sums.as_flattened()) {
        *gradient += sum;
    }
}

impl Product for DepthwiseFilters {
    fn window(&self) -> Window {
        self.window
    }

    fn channels(&self) -> (usize, usize) {
        (self.channels, self.channels)
    }

    fn inputs_of_an_output(&self) -> usize {
        self.window.kernel * self.window.kernel
    }

    fn scratch(&self) -> usize {
        0
    }

    fn forward(&self, part: PartForward<'_>, done: &mut dyn FnMut(&mut [f32])) {
        let PartForward { weights, input, output, .. } = part;
        let size = self.window.height * self.window.width * self.channels;
        let output_size = self.window.positions() * self.channels;
        let sums = Sums {
            starts: &self.forward_starts,
            taps: &self.forward_taps,
            channels: self.channels,
            into: Writing::Replace,
        };
        for (input, output) in input.chunks_exact(size).zip(output.chunks_exact_mut(output_size)) {
            weighted_sums(&sums, input, weights, output);
            done(output);
        }
    }

    fn backward(&self, part: PartBackward<'_>, ready: &mut dyn FnMut(usize, &mut [f32])) {
        let PartBackward { weights, input, at_output, mut at_input, mut gradients, .. } = part;
        let size = self.window.height * self.window.width * self.channels;
        let output_size = self.window.positions() * self.channels;
        if let Some(gradients) = &mut gradients {
            gradients.fill(0.0);
        }
        let examples = input.chunks_exact(size).zip(at_output.chunks_exact_mut(output_size));
        for (index, (input, at_output)) in examples.enumerate() {
            ready(index * output_size, at_output);
            if let Some(gradients) = &mut gradients {
                weight_gradients(&self.window, input, at_output, gradients);
            }
            if let Some((at_input, into)) = &mut at_input {
                let sums = Sums {
                    starts: &self.back_starts,
                    taps: &self.back_taps,
                    channels: self.channels,
                    into: *into,
                };
                let at_input = &mut at_input[index * size..(index + 1) * size];
                weighted_sums(&sums, at_output, weights, at_input);
            }
        }
    }

    fn pieces(&self) -> &[Range<usize>] {
        &[]
    }

    fn piece(&self, _: Range<usize>, _: &[f32], _: &[f32], _: &mut [f32]) {
        unreachable!("depthwise filters have no pieces")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers(count: usize, salt: usize) -> Vec<f32> {
        (0..count).map(|it| ((it * 37 + salt * 11) % 101) as f32 / 25.0 - 2.0).collect()
    }

    /// At most 25 products below 4 each, and for gradients as many as there are places.
    fn close(found: &[f32], expected: &[f32]) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-3, "{found} {expected}");
        }
    }

    proptest! {
        #[test]
        fn both_compilations_agree_with_each_other_and_with_the_definition(
            size in 3..9_usize, kernel in 1..4_usize, stride in 1..3_usize, channels in 1..45_usize,
            add: bool,
        ) {
            let window = Window { height: size, width: size + 1, kernel, stride, padding: kernel / 2 };
            let filters = DepthwiseFilters::new(window, channels);
            let into = if add { Writing::Add } else { Writing::Replace };
            let sums = Sums {
                starts: &filters.forward_starts, taps: &filters.forward_taps, channels, into,
            };
            let input = numbers(window.height * window.width * channels, 1);
            let weights = numbers(kernel * kernel * channels, 2);
            let before = numbers(window.positions() * channels, 3);
            let [mut plain, mut dispatched] = [before.clone(), before.clone()];
            plain::weighted_sums::<false>(&sums, &input, &weights, &mut plain);
            weighted_sums(&sums, &input, &weights, &mut dispatched);
            close(&dispatched, &plain);

            let at_output = numbers(window.positions() * channels, 4);
            let [mut plain_gradients, mut gradients] = [numbers(weights.len(), 5), numbers(weights.len(), 5)];
            plain::weight_gradients::<false>(&window, &input, &at_output, &mut plain_gradients);
            weight_gradients(&window, &input, &at_output, &mut gradients);
            close(&gradients, &plain_gradients);

            let mut expected = if add { before } else { vec![0.0; before.len()] };
            let mut expected_gradients = numbers(weights.len(), 5);
            for place in 0..window.positions() {
                let (rows, first_row) = window.rows_at(place / window.output_width());
                let (columns, first_column) = window.columns_at(place % window.output_width());
                for (down, row) in rows.enumerate() {
                    for (across, column) in columns.clone().enumerate() {
                        let position = (first_row + down) * window.width + first_column + across;
                        for channel in 0..channels {
                            let value = input[position * channels + channel];
                            let weight = (row * kernel + column) * channels + channel;
                            let output = place * channels + channel;
                            expected[output] += value * weights[weight];
                            expected_gradients[weight] += value * at_output[output];
                        }
                    }
                }
            }
            close(&plain, &expected);
            close(&plain_gradients, &expected_gradients);
        }
    }
}
