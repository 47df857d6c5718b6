//! A convolution with what follows it: bias or batch norm, and an activation.
//!
//! What the window computes is a [`Product`]: `filters.rs` mixes channels, `depthwise.rs` keeps
//! them apart. Products hand over their rows while those are still in the caches, so that the
//! moments of batch norm and the biases cost no pass over memory of their own.

use std::ops::Range;

use rand_pcg::Pcg64;

use super::normalised::{BatchMoments, Norm};
use super::window::Window;
use super::{norm_kernels, rectifier};
use crate::arithmetic::matrix::Writing;
use crate::arithmetic::simd::fused_kernels;
use crate::layers::layer::{Backward, Forward, Layer, MOST_PARTS, Mode, Needs, examples_per_part};
use crate::network::description::Activation;
use crate::network::initial_weights::{fill_uniform, he_limit};
use crate::threads::parts::{Cut, Parts};
use crate::threads::team::Team;

/// What a window computes at each of its places.
pub(crate) trait Product: std::fmt::Debug + Send + Sync {
    /// Where the window may lie.
    fn window(&self) -> Window;

    /// Channels before and after.
    fn channels(&self) -> (usize, usize);

    /// How many inputs an output is a sum of.
    fn inputs_of_an_output(&self) -> usize;

    /// Numbers that a thread needs for itself.
    fn scratch(&self) -> usize;

    /// Computes some examples and hands over stretches of finished rows.
    fn forward(&self, part: PartForward<'_>, done: &mut dyn FnMut(&mut [f32]));

    /// Computes the gradients of some examples. `ready` is called with each stretch of output
    /// gradients, and where it starts, before they are used.
    fn backward(&self, part: PartBackward<'_>, ready: &mut dyn FnMut(usize, &mut [f32]));

    /// Stretches of inputs whose weights' gradients are better computed over the whole batch at
    /// once, when they are many; none where parts of the batch each compute all of them.
    fn pieces(&self) -> &[Range<usize>];

    /// Computes the gradients of the weights of one such stretch.
    fn piece(&self, inputs: Range<usize>, input: &[f32], at_output: &[f32], gradients: &mut [f32]);
}

/// Some examples on their way forward.
pub(crate) struct PartForward<'a> {
    pub(crate) weights: &'a [f32],
    pub(crate) input: &'a [f32],
    pub(crate) output: &'a mut [f32],
    pub(crate) scratch: &'a mut [f32],
}

/// Some examples on their way back.
pub(crate) struct PartBackward<'a> {
    pub(crate) weights: &'a [f32],
    pub(crate) input: &'a [f32],
    pub(crate) at_output: &'a mut [f32],
    pub(crate) at_input: Option<(&'a mut [f32], Writing)>,
    /// To be overwritten by the gradients of the weights over these examples.
    pub(crate) gradients: Option<&'a mut [f32]>,
    pub(crate) scratch: &'a mut [f32],
}

/// What follows the product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Finish {
    /// A bias, which lies here in the flat vector, and an activation.
    Bias(Range<usize>, Activation),
    /// Batch norm with its activation.
    Norm(Norm),
}

/// A convolution layer.
#[derive(Debug)]
pub(crate) struct Convolution {
    pub(crate) product: Box<dyn Product>,
    pub(crate) weights: Range<usize>,
    pub(crate) finish: Finish,
}

/// Most numbers that the partial gradients of all parts may have together.
const MOST_PARTIALS: usize = 1 << 20;

impl Convolution {
    /// Numbers of one example before and after.
    fn sizes(&self) -> (usize, usize) {
        let (window, (inputs, outputs)) = (self.product.window(), self.product.channels());
        (window.height * window.width * inputs, window.positions() * outputs)
    }

    /// Numbers of a part's gradients: those of the weights, then those of the bias.
    fn partial(&self) -> usize {
        let weights = if self.product.pieces().is_empty() { self.weights.len() } else { 0 };
        weights + self.product.channels().1
    }

    fn most_backward_parts(&self) -> usize {
        (MOST_PARTIALS / self.partial()).clamp(1, MOST_PARTS)
    }

    /// Examples of a part on the way back.
    fn backward_examples(&self, examples: usize) -> usize {
        let wanted = examples_per_part(examples, self.product.window().positions());
        wanted.max(examples.div_ceil(self.most_backward_parts()))
    }

    /// Adds up the partial gradients of the parts, in their order.
    fn reduce(&self, team: &mut Team, partials: &[f32], gradients: &mut [f32]) {
        const STRETCH: usize = 4096;
        let step = self.partial();
        let own = step - self.product.channels().1;
        if own > 0 {
            let target = &mut gradients[self.weights.clone()];
            let stretch = own.div_ceil(256).max(STRETCH);
            let (count, target) = (own.div_ceil(stretch), Parts::new(target, Cut::Every(stretch)));
            team.run(count, &|part| {
                let target = target.take(part);
                target.fill(0.0);
                for partial in partials.chunks_exact(step) {
                    rectifier::add(target, &partial[part * stretch..][..target.len()]);
                }
            });
        }
        if let Finish::Bias(bias, _) = &self.finish {
            let target = &mut gradients[bias.clone()];
            target.fill(0.0);
            for partial in partials.chunks_exact(step) {
                rectifier::add(target, &partial[own..]);
            }
        }
    }
}

fused_kernels! {
    /// Adds each row of a matrix to the sums.
    fn add_rows<const FMA: bool>(matrix: &[f32], sums: &mut [f32]) {
        for row in matrix.chunks_exact(sums.len()) {
            for (sum, &value) in sums.iter_mut().zip(row) {
                *sum += value;
            }
        }
    }
}

impl Convolution {
    /// Adds up the gradients of a norm over all parts, which each of them needs on the way back.
    fn turn_norm(&self, norm: &Norm, step: usize, pass: &mut Backward<'_>) {
        let (examples, size) = (pass.examples, self.sizes().1);
        let count = examples.div_ceil(step);
        let (team, _, _, sums) = pass.rooms.split();
        let sums = &mut sums[..norm.sums_of(count)];
        if pass.gradients.is_some() {
            let affine = norm.affine(pass.parameters, pass.fixed);
            let parts = Parts::new(&mut *sums, Cut::Every(norm.sums_of(1)));
            let (at_output, stash) = (&*pass.output_gradients, &*pass.stash);
            team.run(count, &|part| {
                let own = part * step * size..examples.min((part + 1) * step) * size;
                let sums = parts.take(part);
                sums.fill(0.0);
                norm.gather_gradients(&at_output[own.clone()], &stash[own], affine, sums);
            });
        }
        let rows = examples * self.product.window().positions();
        norm.turn(sums, rows, pass.gradients.as_deref_mut(), pass.fixed);
    }

    /// Computes the gradients of the inputs, and of each part's weights and biases.
    fn backward_parts(&self, step: usize, pass: &mut Backward<'_>) {
        let (size_before, size_after) = self.sizes();
        let (examples, partial) = (pass.examples, self.partial());
        let (count, own_weights) = (examples.div_ceil(step), partial - self.product.channels().1);
        let learns = pass.gradients.is_some();
        let range =
            |part: usize, size: usize| part * step * size..examples.min((part + 1) * step) * size;
        let (into, at_input) = match pass.input_gradients.take() {
            Some(target) => (target.into, target.values),
            None => (Writing::Replace, &mut [][..]),
        };
        let has_target = !at_input.is_empty();
        let (input, output, parameters) = (pass.input, pass.output, pass.parameters);
        let (stash, fixed) = (&*pass.stash, &*pass.fixed);
        let (team, scratch, partials, _) = pass.rooms.split();
        let at_output = Parts::new(&mut *pass.output_gradients, Cut::Every(step * size_after));
        let at_input = Parts::new(at_input, Cut::Every(step * size_before));
        let partials = Parts::new(&mut partials[..count * partial], Cut::Every(partial));
        team.run_numbered(count, &|part, worker| {
            let (of_weights, of_bias) = partials.take(part).split_at_mut(own_weights);
            of_bias.fill(0.0);
            let offset = range(part, size_after).start;
            let mut ready = |start: usize, rows: &mut [f32]| {
                let own = offset + start..offset + start + rows.len();
                match &self.finish {
                    Finish::Bias(_, activation) => {
                        if *activation != Activation::Linear {
                            rectifier::backward(*activation, rows, &output[own]);
                        }
                        add_rows(rows, of_bias);
                    }
                    Finish::Norm(norm) => norm.descend(rows, &stash[own], parameters, fixed),
                }
            };
            scratch.lend(worker, |scratch| {
                let part = PartBackward {
                    weights: &parameters[self.weights.clone()],
                    input: &input[range(part, size_before)],
                    at_output: at_output.take(part),
                    at_input: has_target.then(|| (at_input.take(part), into)),
                    gradients: (learns && own_weights > 0).then_some(of_weights),
                    scratch,
                };
                self.product.backward(part, &mut ready);
            });
        });
    }
}

impl Layer for Convolution {
    fn needs(&self) -> Needs {
        let partials = self.partial() * self.most_backward_parts();
        let needs = match &self.finish {
            Finish::Bias(_, activation) => {
                Needs { output: *activation != Activation::Linear, ..Needs::default() }
            }
            Finish::Norm(norm) => Needs { stash: self.sizes().1, ..norm.needs() },
        };
        Needs { input: true, scratch: self.product.scratch(), partials, ..needs }
    }

    fn initialise(&self, parameters: &mut [f32], state: &mut [f32], random: &mut Pcg64) {
        let limit = he_limit(self.product.inputs_of_an_output());
        fill_uniform(&mut parameters[self.weights.clone()], limit, random);
        match &self.finish {
            Finish::Bias(bias, _) => parameters[bias.clone()].fill(0.0),
            Finish::Norm(norm) => norm.initialise(parameters, state),
        }
    }

    fn forward(&self, pass: Forward<'_>) {
        let (size_before, size_after) = self.sizes();
        let step = examples_per_part(pass.examples, self.product.window().positions());
        let count = pass.examples.div_ceil(step);
        let (team, scratch, _, sums) = pass.rooms.split();
        let weights = &pass.parameters[self.weights.clone()];
        // Computes all parts; `finish` gets stretches of finished rows and the sums of their part.
        let run = |team: &mut Team,
                   output: &mut [f32],
                   sums: Option<&mut [f64]>,
                   finish: &(dyn Fn(&mut [f32], &mut [f64]) + Sync)| {
            let output = Parts::new(output, Cut::Every(step * size_after));
            let sums = sums.map(|sums| {
                let each = sums.len() / count;
                Parts::new(sums, Cut::Every(each))
            });
            team.run_numbered(count, &|part, worker| {
                let examples = part * step..pass.examples.min((part + 1) * step);
                let input = &pass.input[examples.start * size_before..examples.end * size_before];
                let (output, sums) = (output.take(part), sums.as_ref().map(|it| it.take(part)));
                let sums = sums.unwrap_or_default();
                sums.fill(0.0);
                scratch.lend(worker, |scratch| {
                    let part = PartForward { weights, input, output, scratch };
                    self.product.forward(part, &mut |rows| finish(rows, sums));
                });
            });
        };
        match (&self.finish, pass.mode) {
            (Finish::Bias(bias, activation), _) => {
                let bias = &pass.parameters[bias.clone()];
                run(team, pass.output, None, &|rows, _| {
                    norm_kernels::add_bias(rows, bias, *activation);
                });
            }
            (Finish::Norm(norm), Mode::Score) => {
                norm.recall(pass.parameters, pass.state, pass.fixed);
                let affine = norm.affine(pass.parameters, pass.fixed);
                run(team, pass.output, None, &|rows, _| {
                    norm_kernels::normalise_in_place(rows, affine, norm.activation());
                });
            }
            (Finish::Norm(norm), Mode::Train { .. } | Mode::Frozen) => {
                if pass.mode == Mode::Frozen {
                    run(team, pass.stash, None, &|_, _| {});
                    norm.recall(pass.parameters, pass.state, pass.fixed);
                } else {
                    let (sums, state) = (&mut sums[..norm.sums_of(count)], pass.state);
                    run(team, pass.stash, Some(&mut *sums), &|rows, sums| {
                        norm.gather(rows, state, sums);
                    });
                    let rows = pass.examples * self.product.window().positions();
                    let batch = BatchMoments { sums, rows, pivots: state };
                    norm.settle(batch, pass.parameters, pass.statistics, pass.fixed);
                }
                let affine = norm.affine(pass.parameters, pass.fixed);
                normalise(team, (norm, affine), (pass.stash, pass.output), step * size_after);
            }
        }
    }

    fn backward(&self, mut pass: Backward<'_>) {
        let step = self.backward_examples(pass.examples);
        let count = pass.examples.div_ceil(step);
        if let Finish::Norm(norm) = &self.finish {
            self.turn_norm(norm, step, &mut pass);
        }
        self.backward_parts(step, &mut pass);
        let Some(gradients) = pass.gradients else { return };
        let (team, _, partials, _) = pass.rooms.split();
        self.reduce(team, &partials[..count * self.partial()], gradients);
        let pieces = self.product.pieces();
        if let Some(first) = pieces.first() {
            let target = &mut gradients[self.weights.clone()];
            let target = Parts::new(target, Cut::Every(first.len() * self.product.channels().1));
            let at_output = &*pass.output_gradients;
            team.run(pieces.len(), &|piece| {
                let inputs = pieces[piece].clone();
                self.product.piece(inputs, pass.input, at_output, target.take(piece));
            });
        }
    }
}

/// Normalises rows into others, a stretch a part.
fn normalise(
    team: &mut Team,
    (norm, affine): (&Norm, norm_kernels::Affine<'_>),
    (from, to): (&[f32], &mut [f32]),
    stretch: usize,
) {
    let count = to.len().div_ceil(stretch);
    let to = Parts::new(to, Cut::Every(stretch));
    team.run(count, &|part| {
        let to = to.take(part);
        let from = &from[part * stretch..][..to.len()];
        norm_kernels::normalise(from, to, affine, norm.activation());
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_compilations_add_the_same_rows() {
        for columns in [1, 7, 8, 33] {
            let matrix: Vec<f32> =
                (0..5 * columns).map(|it| (it * 37 % 101) as f32 / 7.0).collect();
            let [mut plain, mut dispatched] = [vec![0.25; columns], vec![0.25; columns]];
            plain::add_rows::<false>(&matrix, &mut plain);
            add_rows(&matrix, &mut dispatched);
            assert_eq!(plain, dispatched);
            for (column, sum) in plain.iter().enumerate() {
                let rows = matrix.iter().skip(column).step_by(columns);
                assert_eq!(*sum, rows.fold(0.25, |sum, value| sum + value));
            }
        }
    }
}
