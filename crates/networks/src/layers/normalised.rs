//! Batch norm: values of each channel brought to mean 0 and variance 1 over a batch, then scaled
//! and shifted, with the activation that follows in the same pass.

use std::ops::Range;

use rand_pcg::Pcg64;

use super::norm_kernels::{self, Affine, Descent};
use crate::arithmetic::matrix::Writing;
use crate::layers::layer::{Backward, Forward, Layer, MOST_PARTS, Mode, Needs, examples_per_part};
use crate::network::description::Activation;
use crate::network::tensors::{Layout, TensorKind};
use crate::threads::parts::{Cut, Parts};

/// Added to the variance before its root, as in PyTorch.
pub(crate) const EPSILON: f64 = 1e-5;

/// Share of a batch in the running statistics, as in PyTorch.
const MOMENTUM: f32 = 0.1;

/// Numbers whose sums are added up in single precision before they go to double precision; few
/// enough to stay in the cache while the channels are gone through.
const NUMBERS_OF_A_SUM: usize = 1 << 14;

/// Batch norm of Ioffe and Szegedy (2015, algorithms 1 and 2) and an activation: where its
/// numbers lie in the flat vectors of parameters (scale, shift) and state (mean, variance).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Norm {
    channels: usize,
    gamma: Range<usize>,
    beta: Range<usize>,
    mean: Range<usize>,
    variance: Range<usize>,
    activation: Activation,
}

/// Moments of a batch about pivots.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchMoments<'a> {
    /// The sums that [`Norm::gather`] made, of all parts.
    pub(crate) sums: &'a [f64],
    /// Rows that were summed.
    pub(crate) rows: usize,
    /// The state with the running means that distances were taken from.
    pub(crate) pivots: &'a [f32],
}

/// What of a layer's `fixed` memory means what: a channel's mean, the inverse of its standard
/// deviation, its scale, and the two numbers of [`Descent`].
const FIXED: usize = 5;

impl Norm {
    /// A norm whose numbers come next in the layouts.
    pub(crate) fn new(
        name: &str,
        channels: usize,
        activation: Activation,
        (parameters, state): (&mut Layout, &mut Layout),
    ) -> Self {
        let vector = |layout: &mut Layout, what: &str| {
            layout.add(format!("{name}.{what}"), TensorKind::Vector, &[channels])
        };
        Self {
            channels,
            gamma: vector(parameters, "weight"),
            beta: vector(parameters, "bias"),
            mean: vector(state, "running_mean"),
            variance: vector(state, "running_var"),
            activation,
        }
    }

    /// Numbers of `fixed` memory and of double-precision sums.
    pub(crate) fn needs(&self) -> Needs {
        let fixed = FIXED * self.channels;
        Needs { fixed, sums: self.sums_of(MOST_PARTS), ..Needs::default() }
    }

    /// Double-precision sums of that many parts.
    pub(crate) fn sums_of(&self, parts: usize) -> usize {
        2 * self.channels * parts
    }

    pub(crate) fn initialise(&self, parameters: &mut [f32], state: &mut [f32]) {
        parameters[self.gamma.clone()].fill(1.0);
        parameters[self.beta.clone()].fill(0.0);
        state[self.mean.clone()].fill(0.0);
        state[self.variance.clone()].fill(1.0);
    }

    /// The activation that follows.
    pub(crate) fn activation(&self) -> Activation {
        self.activation
    }

    /// Numbers of the rows that are summed at a time.
    fn stretch(&self) -> usize {
        (NUMBERS_OF_A_SUM / self.channels).clamp(8, 512) * self.channels
    }

    /// Adds the moments of some rows to a part's sums, taken about the running means, so that
    /// little is lost where the means are large.
    pub(crate) fn gather(&self, rows: &[f32], state: &[f32], sums: &mut [f64]) {
        let pivot = &state[self.mean.clone()];
        for stretch in rows.chunks(self.stretch()) {
            norm_kernels::moments(stretch, pivot, sums);
        }
    }

    /// Turns the moments of a batch into the numbers that normalise, and tells its mean and
    /// variance, which [`fold`] takes into the running ones.
    pub(crate) fn settle(
        &self,
        batch: BatchMoments<'_>,
        parameters: &[f32],
        statistics: Option<&mut [f32]>,
        fixed: &mut [f32],
    ) {
        let statistics = statistics.expect("learning tells statistics");
        let (rows, gamma) = (batch.rows as f64, &parameters[self.gamma.clone()]);
        for channel in 0..self.channels {
            let [first, second] = self.total(batch.sums, channel).map(|sum| sum / rows);
            let mean = f64::from(batch.pivots[self.mean.start + channel]) + first;
            let variance = (second - first * first).max(0.0);
            let inverse = 1.0 / (variance + EPSILON).sqrt();
            fixed[channel] = mean as f32;
            fixed[self.channels + channel] = inverse as f32;
            fixed[2 * self.channels + channel] = (f64::from(gamma[channel]) * inverse) as f32;
            let unbiased = variance * rows / (rows - 1.0).max(1.0);
            statistics[self.mean.start + channel] = mean as f32;
            statistics[self.variance.start + channel] = unbiased as f32;
        }
    }

    /// Takes the numbers that normalise from the running statistics.
    pub(crate) fn recall(&self, parameters: &[f32], state: &[f32], fixed: &mut [f32]) {
        let (mean, variance) = (&state[self.mean.clone()], &state[self.variance.clone()]);
        let gamma = &parameters[self.gamma.clone()];
        for channel in 0..self.channels {
            let inverse = 1.0 / (f64::from(variance[channel]) + EPSILON).sqrt();
            fixed[channel] = mean[channel];
            fixed[self.channels + channel] = inverse as f32;
            fixed[2 * self.channels + channel] = (f64::from(gamma[channel]) * inverse) as f32;
        }
    }

    /// The numbers that normalise, after [`Self::settle`] or [`Self::recall`].
    pub(crate) fn affine<'a>(&self, parameters: &'a [f32], fixed: &'a [f32]) -> Affine<'a> {
        let of = |which: usize| &fixed[which * self.channels..(which + 1) * self.channels];
        Affine { mean: of(0), scale: of(2), shift: &parameters[self.beta.clone()] }
    }

    /// The numbers that turn gradients, after [`Self::turn`].
    pub(crate) fn descent<'a>(&self, fixed: &'a [f32]) -> Descent<'a> {
        let of = |which: usize| &fixed[which * self.channels..(which + 1) * self.channels];
        Descent { slope: of(3), offset: of(4) }
    }

    /// Adds the moments of some rows' gradients to a part's sums.
    pub(crate) fn gather_gradients(
        &self,
        gradients: &[f32],
        values: &[f32],
        affine: Affine<'_>,
        sums: &mut [f64],
    ) {
        let step = self.stretch();
        for (gradients, values) in gradients.chunks(step).zip(values.chunks(step)) {
            norm_kernels::gradient_moments(gradients, values, affine, self.activation, sums);
        }
    }

    /// Turns the sums of all parts over `rows` rows into gradients of scale and shift and into
    /// the numbers of [`Self::descent`]; a frozen norm has no gradients, and its statistics do
    /// not depend on the batch.
    ///
    /// With `g` the gradient after the activation's corner and `x^ = (x - mean) / deviation`,
    /// `dx = scale (g - mean(g) - x^ mean(g x^))` (Ioffe and Szegedy 2015, section 3).
    pub(crate) fn turn(
        &self,
        sums: &[f64],
        rows: usize,
        gradients: Option<&mut [f32]>,
        fixed: &mut [f32],
    ) {
        let Some(gradients) = gradients else {
            fixed[3 * self.channels..].fill(0.0);
            return;
        };
        for channel in 0..self.channels {
            let [sum, product] = self.total(sums, channel);
            let inverse = f64::from(fixed[self.channels + channel]);
            let scale = f64::from(fixed[2 * self.channels + channel]);
            gradients[self.beta.start + channel] = sum as f32;
            gradients[self.gamma.start + channel] = (product * inverse) as f32;
            let slope = -scale * inverse * inverse * product / rows as f64;
            fixed[3 * self.channels + channel] = slope as f32;
            fixed[4 * self.channels + channel] = (-scale * sum / rows as f64) as f32;
        }
    }

    /// Turns gradients after the activation into gradients of the values, in place.
    pub(crate) fn descend(
        &self,
        gradients: &mut [f32],
        values: &[f32],
        parameters: &[f32],
        fixed: &[f32],
    ) {
        let (affine, descent) = (self.affine(parameters, fixed), self.descent(fixed));
        norm_kernels::descend(gradients, values, affine, descent, self.activation);
    }

    /// The two sums of a channel over all parts, in their order.
    fn total(&self, sums: &[f64], channel: usize) -> [f64; 2] {
        let parts = sums.chunks_exact(2 * self.channels);
        parts.fold([0.0; 2], |[first, second], part| {
            [first + part[channel], second + part[self.channels + channel]]
        })
    }
}

/// Takes the statistics of a batch into the running ones.
pub(crate) fn fold(state: &mut [f32], statistics: &[f32]) {
    for (running, new) in state.iter_mut().zip(statistics) {
        *running += MOMENTUM * (new - *running);
    }
}

/// Batch norm as a layer of its own.
#[derive(Debug)]
pub(crate) struct BatchNorm {
    pub(crate) norm: Norm,
    /// Rows of channels an example has.
    pub(crate) positions: usize,
}

impl Layer for BatchNorm {
    fn needs(&self) -> Needs {
        Needs { input: true, ..self.norm.needs() }
    }

    fn initialise(&self, parameters: &mut [f32], state: &mut [f32], _random: &mut Pcg64) {
        self.norm.initialise(parameters, state);
    }

    fn forward(&self, pass: Forward<'_>) {
        let Self { norm, positions } = self;
        let (team, _, _, sums) = pass.rooms.split();
        let stretch = examples_per_part(pass.examples, *positions) * positions * norm.channels;
        let count = pass.input.len().div_ceil(stretch);
        let own =
            |part: usize| &pass.input[part * stretch..pass.input.len().min((part + 1) * stretch)];
        match pass.mode {
            Mode::Train { .. } => {
                let sums = &mut sums[..norm.sums_of(count)];
                let parts = Parts::new(&mut *sums, Cut::Every(2 * norm.channels));
                team.run(count, &|part| {
                    let sums = parts.take(part);
                    sums.fill(0.0);
                    norm.gather(own(part), pass.state, sums);
                });
                let rows = pass.examples * positions;
                let batch = BatchMoments { sums, rows, pivots: pass.state };
                norm.settle(batch, pass.parameters, pass.statistics, pass.fixed);
            }
            Mode::Frozen | Mode::Score => norm.recall(pass.parameters, pass.state, pass.fixed),
        }
        let affine = norm.affine(pass.parameters, pass.fixed);
        let output = Parts::new(pass.output, Cut::Every(stretch));
        team.run(count, &|part| {
            norm_kernels::normalise(own(part), output.take(part), affine, norm.activation);
        });
    }

    fn backward(&self, pass: Backward<'_>) {
        let Self { norm, positions } = self;
        let (team, _, _, sums) = pass.rooms.split();
        let stretch = examples_per_part(pass.examples, *positions) * positions * norm.channels;
        let length = pass.input.len();
        let count = length.div_ceil(stretch);
        let range = |part: usize| part * stretch..length.min((part + 1) * stretch);
        let sums = &mut sums[..norm.sums_of(count)];
        if pass.gradients.is_some() {
            let affine = norm.affine(pass.parameters, pass.fixed);
            let parts = Parts::new(&mut *sums, Cut::Every(2 * norm.channels));
            let gradients = &*pass.output_gradients;
            team.run(count, &|part| {
                let sums = parts.take(part);
                sums.fill(0.0);
                let (gradients, values) = (&gradients[range(part)], &pass.input[range(part)]);
                norm.gather_gradients(gradients, values, affine, sums);
            });
        }
        norm.turn(sums, pass.examples * positions, pass.gradients, pass.fixed);
        let Some(target) = pass.input_gradients else { return };
        let (parameters, fixed) = (pass.parameters, &*pass.fixed);
        let from = Parts::new(pass.output_gradients, Cut::Every(stretch));
        let to = Parts::new(target.values, Cut::Every(stretch));
        team.run(count, &|part| {
            let (from, to) = (from.take(part), to.take(part));
            norm.descend(from, &pass.input[range(part)], parameters, fixed);
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

    /// A norm of two channels with its parameters and state.
    fn norm() -> (Norm, Vec<f32>, Vec<f32>) {
        let (mut parameters, mut state) = (Layout::default(), Layout::default());
        let norm = Norm::new("n", 2, Activation::Linear, (&mut parameters, &mut state));
        let [mut parameters, mut state] = [vec![f32::NAN; 4], vec![f32::NAN; 4]];
        norm.initialise(&mut parameters, &mut state);
        (norm, parameters, state)
    }

    fn settled(rows: &[f32], norm: &Norm, parameters: &[f32], state: &mut [f32]) -> Vec<f32> {
        let mut sums = vec![0.0; norm.sums_of(1)];
        norm.gather(rows, state, &mut sums);
        let mut fixed = vec![0.0; norm.needs().fixed];
        let mut statistics = state.to_vec();
        let batch = BatchMoments { sums: &sums, rows: rows.len() / 2, pivots: state };
        norm.settle(batch, parameters, Some(&mut statistics), &mut fixed);
        fold(state, &statistics);
        fixed
    }

    #[test]
    fn a_norm_begins_as_one_that_changes_nothing() {
        let (norm, parameters, state) = norm();
        assert_eq!(
            (parameters.as_slice(), state.as_slice()),
            (&[1.0, 1.0, 0.0, 0.0][..], &[0.0, 0.0, 1.0, 1.0][..])
        );
        let mut fixed = vec![f32::NAN; norm.needs().fixed];
        norm.recall(&parameters, &state, &mut fixed);
        let inverse = (1.0 / (1.0 + EPSILON).sqrt()) as f32;
        assert_eq!(fixed[..6], [0.0, 0.0, inverse, inverse, inverse, inverse]);
    }

    #[test]
    fn mean_and_variance_are_those_of_the_batch_and_go_into_the_running_ones_by_a_tenth() {
        let (norm, mut parameters, mut state) = norm();
        parameters[..2].copy_from_slice(&[2.0, 1.0]);
        // Channel 1: 1, 2, 3, 6 (mean 3, squares 14 / 4); channel 2: constant 5.
        let rows = [1.0, 5.0, 2.0, 5.0, 3.0, 5.0, 6.0, 5.0];
        let fixed = settled(&rows, &norm, &parameters, &mut state);
        let inverse = 1.0 / (3.5 + EPSILON).sqrt();
        assert_eq!(fixed[..2], [3.0, 5.0]);
        assert!((f64::from(fixed[2]) - inverse).abs() < 1e-6);
        assert!((f64::from(fixed[4]) - 2.0 * inverse).abs() < 1e-6, "scale times inverse");
        // The constant channel has the variance 0, and is divided by the root of epsilon alone.
        assert!((f64::from(fixed[3]) - 1.0 / EPSILON.sqrt()).abs() < 1e-1, "{}", fixed[3]);
        // PyTorch's running variance is the unbiased one: 14 / 3.
        let expected = [0.3, 0.5, 0.9 + 0.1 * 14.0 / 3.0, 0.9];
        assert!(state.iter().zip(expected).all(|(own, it)| (own - it).abs() < 1e-6), "{state:?}");
    }

    #[test]
    fn values_far_from_zero_keep_their_variance() {
        let (norm, parameters, mut state) = norm();
        // Running means near the values are what the sums are taken around.
        state[..2].copy_from_slice(&[10_000.0, -10_000.0]);
        let rows = [9_999.0, -10_001.0, 10_001.0, -9_999.0];
        let fixed = settled(&rows, &norm, &parameters, &mut state);
        assert_eq!(fixed[..2], [10_000.0, -10_000.0]);
        assert!((fixed[2] - 1.0).abs() < 1e-4 && (fixed[3] - 1.0).abs() < 1e-4, "{fixed:?}");
    }

    #[test]
    fn one_row_has_no_unbiased_variance_and_divides_by_nothing() {
        let (norm, parameters, mut state) = norm();
        settled(&[2.0, 4.0], &norm, &parameters, &mut state);
        assert!(state.iter().all(|own| own.is_finite()), "{state:?}");
        assert!((state[2] - 0.9).abs() < 1e-6);
    }

    #[test]
    fn a_frozen_norm_hands_gradients_on_without_the_terms_of_the_batch() {
        let (norm, parameters, state) = norm();
        let mut fixed = vec![f32::NAN; norm.needs().fixed];
        norm.recall(&parameters, &state, &mut fixed);
        norm.turn(&[1.0, 2.0, 3.0, 4.0], 5, None, &mut fixed);
        assert_eq!(fixed[6..], [0.0; 4]);
    }

    #[test]
    fn sums_of_parts_are_added_in_their_order() {
        let (norm, ..) = norm();
        let sums = [1.0, 2.0, 3.0, 4.0, 10.0, 20.0, 30.0, 40.0];
        assert_eq!(norm.total(&sums, 0), [11.0, 33.0]);
        assert_eq!(norm.total(&sums, 1), [22.0, 44.0]);
    }
}
