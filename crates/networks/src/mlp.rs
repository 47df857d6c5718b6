//! The multilayer perceptron: dense layers with ReLU between them, softmax at the end.

use std::ops::Range;

use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;

use crate::dense::{Dense, Followed};
use crate::error::NetworksError;
use crate::kernels;
use crate::loss::{BatchScore, softmax, softmax_gradients};
use crate::parts::{Cut, Parts};
use crate::team::Team;

/// The shape of a perceptron; its parameters live in flat vectors outside.
///
/// ```
/// use trainwright_networks::{Batch, Mlp};
///
/// let mlp = Mlp::new(2, &[8], 3)?;
/// let parameters = mlp.initial_parameters(7);
/// let mut gradients = vec![0.0; mlp.parameter_count()];
/// let mut workspace = mlp.workspace(2, 1)?;
/// let batch = Batch { inputs: &[0.0, 1.0, 1.0, 0.0], labels: &[0, 2] };
/// let score = mlp.gradients(&parameters, batch, &mut gradients, &mut workspace);
/// assert_eq!(score.examples, 2);
/// # Ok::<(), trainwright_networks::NetworksError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mlp {
    layers: Vec<Dense>,
    /// Pieces that the gradients are computed in, by layer and inputs, and where each ends in the
    /// flat vector. They depend on the shape alone, so that the thread count changes no bit.
    pieces: Vec<(usize, Range<usize>)>,
    cuts: Vec<usize>,
}

/// Examples and their classes.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// One row an example.
    pub inputs: &'a [f32],
    /// The class of each example.
    pub labels: &'a [u32],
}

/// Buffers for batches up to a size, so that steps do not allocate theirs, and the threads that
/// fill them.
#[derive(Debug)]
pub struct MlpWorkspace {
    team: Team,
    capacity: usize,
    /// Outputs of each layer after its ReLU; those of the last are probabilities, and become
    /// gradients of the logits.
    outputs: Vec<Vec<f32>>,
    /// Gradients of the outputs of each layer but the last.
    output_gradients: Vec<Vec<f32>>,
    scores: Vec<BatchScore>,
}

/// What belongs to some rows of a batch: their part of each buffer.
struct Stretch<'a> {
    outputs: Vec<&'a mut [f32]>,
    output_gradients: Vec<&'a mut [f32]>,
}

/// Whether a pass over a batch also computes gradients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pass {
    Score,
    Train,
}

impl Mlp {
    /// A perceptron from inputs over hidden layers to classes.
    ///
    /// # Errors
    /// When a layer is empty or the parameters cannot be addressed.
    pub fn new(inputs: usize, hidden: &[usize], classes: usize) -> Result<Self, NetworksError> {
        let widths: Vec<usize> = [&[inputs], hidden, &[classes]].concat();
        if let Some(layer) = widths.iter().position(|&width| width == 0) {
            return Err(NetworksError::EmptyLayer { layer, widths });
        }
        let limit = isize::MAX as usize / size_of::<f32>();
        let mut count = 0_usize;
        let (mut layers, mut pieces, mut cuts) = (Vec::new(), Vec::new(), Vec::new());
        for (index, pair) in widths.windows(2).enumerate() {
            let layer = Dense::new(pair[0], pair[1], count);
            let more = (pair[0].checked_add(1)).and_then(|inputs| inputs.checked_mul(pair[1]));
            match more.and_then(|more| count.checked_add(more)) {
                Some(sum) if sum <= limit => count = sum,
                _ => return Err(NetworksError::TooLarge { widths }),
            }
            for (inputs, cut) in layer.cuts(inputs_per_piece(pair[0], pair[1])) {
                pieces.push((index, inputs));
                cuts.push(cut);
            }
            layers.push(layer);
        }
        Ok(Self { layers, pieces, cuts })
    }

    /// Length of the flat vectors of parameters and gradients.
    pub fn parameter_count(&self) -> usize {
        *self.cuts.last().expect("a perceptron has at least one layer")
    }

    /// Random parameters: He before a ReLU, Glorot before the loss, zero biases.
    pub fn initial_parameters(&self, seed: u64) -> Vec<f32> {
        let mut parameters = vec![0.0; self.parameter_count()];
        let mut random = Pcg64::seed_from_u64(seed);
        for (index, layer) in self.layers.iter().enumerate() {
            let next = match index + 1 == self.layers.len() {
                true => Followed::ByLoss,
                false => Followed::ByRelu,
            };
            layer.initialise(&mut parameters, next, &mut random);
        }
        parameters
    }

    /// Buffers for batches of up to `capacity` examples, filled by `threads` threads.
    ///
    /// The thread count changes the time, not a bit of the results.
    ///
    /// # Errors
    /// When the system does not give that many threads.
    pub fn workspace(
        &self,
        capacity: usize,
        threads: usize,
    ) -> Result<MlpWorkspace, NetworksError> {
        let buffer = |layer: &Dense| vec![0.0; capacity * layer.outputs];
        let hidden = &self.layers[..self.layers.len() - 1];
        Ok(MlpWorkspace {
            team: Team::new(threads)?,
            capacity,
            outputs: self.layers.iter().map(buffer).collect(),
            output_gradients: hidden.iter().map(buffer).collect(),
            scores: vec![BatchScore::default(); capacity],
        })
    }

    /// Scores a batch.
    ///
    /// # Panics
    /// When the slices do not fit the shape, the workspace is too small or a label is no class.
    pub fn score(
        &self,
        parameters: &[f32],
        batch: Batch<'_>,
        workspace: &mut MlpWorkspace,
    ) -> BatchScore {
        self.pass_rows(parameters, batch, workspace, Pass::Score)
    }

    /// Scores a batch and writes the gradients of its mean loss.
    ///
    /// # Panics
    /// When the slices do not fit the shape, the workspace is too small or a label is no class.
    pub fn gradients(
        &self,
        parameters: &[f32],
        batch: Batch<'_>,
        gradients: &mut [f32],
        workspace: &mut MlpWorkspace,
    ) -> BatchScore {
        assert_eq!(gradients.len(), self.parameter_count(), "one gradient a parameter");
        let score = self.pass_rows(parameters, batch, workspace, Pass::Train);
        let rows = batch.labels.len();
        let MlpWorkspace { team, outputs, output_gradients, .. } = workspace;
        let gradients = Parts::new(gradients, Cut::At(&self.cuts));
        team.run(self.pieces.len(), &|piece| {
            let (index, inputs) = self.pieces[piece].clone();
            let layer = self.layers[index];
            let input = match index.checked_sub(1) {
                Some(before) => &outputs[before][..rows * layer.inputs],
                None => batch.inputs,
            };
            let at_output = output_gradients.get(index).unwrap_or(&outputs[index]);
            let at_output = &at_output[..rows * layer.outputs];
            layer.parameter_gradients(input, at_output, inputs, gradients.take(piece));
        });
        score
    }

    /// Does what each row needs on its own, for stretches of rows at a time: outputs, loss and,
    /// when training, the gradients of all outputs.
    fn pass_rows(
        &self,
        parameters: &[f32],
        batch: Batch<'_>,
        workspace: &mut MlpWorkspace,
        pass: Pass,
    ) -> BatchScore {
        let rows = batch.labels.len();
        assert_eq!(parameters.len(), self.parameter_count(), "the network's own parameters");
        assert!(rows > 0 && rows <= workspace.capacity, "{rows} examples do not fit the workspace");
        assert_eq!(batch.inputs.len(), rows * self.layers[0].inputs, "one row of inputs a label");
        let stretch = rows_per_stretch(rows);
        let outputs = self.stretches(&mut workspace.outputs, rows, stretch);
        let output_gradients = self.stretches(&mut workspace.output_gradients, rows, stretch);
        let count = rows.div_ceil(stretch);
        let scores = Parts::new(&mut workspace.scores[..count], Cut::Every(1));
        workspace.team.run(count, &|part| {
            let range = part * stretch..rows.min((part + 1) * stretch);
            let inputs = self.layers[0].inputs;
            let part_batch = Batch {
                inputs: &batch.inputs[range.start * inputs..range.end * inputs],
                labels: &batch.labels[range],
            };
            let mut own = Stretch {
                outputs: outputs.iter().map(|all| all.take(part)).collect(),
                output_gradients: output_gradients.iter().map(|all| all.take(part)).collect(),
            };
            scores.take(part)[0] = self.forward(parameters, part_batch, &mut own);
            if pass == Pass::Train {
                self.backward(parameters, part_batch.labels, &mut own, rows);
            }
        });
        let mut total = BatchScore::default();
        workspace.scores[..count].iter().for_each(|&score| total.add(score));
        total
    }

    /// Buffers of the layers, cut into stretches of rows.
    fn stretches<'a>(
        &self,
        buffers: &'a mut [Vec<f32>],
        rows: usize,
        stretch: usize,
    ) -> Vec<Parts<'a, f32>> {
        let parts = |(values, layer): (&'a mut Vec<f32>, &Dense)| {
            Parts::new(&mut values[..rows * layer.outputs], Cut::Every(stretch * layer.outputs))
        };
        buffers.iter_mut().zip(&self.layers).map(parts).collect()
    }

    /// Computes the outputs of each layer, the last as probabilities.
    fn forward(
        &self,
        parameters: &[f32],
        batch: Batch<'_>,
        stretch: &mut Stretch<'_>,
    ) -> BatchScore {
        for (index, layer) in self.layers.iter().enumerate() {
            let (before, rest) = stretch.outputs.split_at_mut(index);
            let input = before.last().map_or(batch.inputs, |previous| &**previous);
            layer.forward(parameters, input, rest[0]);
            if index + 1 == self.layers.len() {
                return softmax(rest[0], batch.labels, layer.outputs);
            }
            kernels::relu(rest[0]);
        }
        unreachable!("a perceptron has at least one layer")
    }

    /// Computes the gradients of the outputs of each layer; those of the last replace it.
    fn backward(
        &self,
        parameters: &[f32],
        labels: &[u32],
        stretch: &mut Stretch<'_>,
        examples: usize,
    ) {
        let Stretch { outputs, output_gradients } = stretch;
        let (logits, hidden) = outputs.split_last_mut().expect("there is at least one layer");
        let classes = self.layers[hidden.len()].outputs;
        softmax_gradients(logits, labels, classes, examples);
        for (before, layer) in self.layers[1..].iter().enumerate().rev() {
            let (earlier, later) = output_gradients.split_at_mut(before + 1);
            let at_output = later.first().map_or(&**logits, |gradients| &**gradients);
            layer.input_gradients(parameters, at_output, earlier[before]);
            kernels::relu_backward(earlier[before], hidden[before]);
        }
    }
}

impl MlpWorkspace {
    /// The threads, for what else there is to do in a step.
    pub fn team(&mut self) -> &mut Team {
        &mut self.team
    }
}

/// How many rows of a batch are worked on at a time: a quarter, as long as that keeps the
/// products large enough for `gemm` to be fast and small enough for the caches.
fn rows_per_stretch(rows: usize) -> usize {
    rows.div_ceil(4).next_multiple_of(8).clamp(16, 128)
}

/// How many inputs of a layer have their weights' gradients computed at a time: a quarter, or
/// all where that would be little work.
fn inputs_per_piece(inputs: usize, outputs: usize) -> usize {
    let least = 4096_usize.div_ceil(outputs);
    inputs.div_ceil(4).max(least).next_multiple_of(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_counted_with_biases() {
        assert_eq!(Mlp::new(784, &[128], 10).unwrap().parameter_count(), 101_770);
        assert_eq!(Mlp::new(5, &[], 3).unwrap().parameter_count(), 18);
    }

    #[test]
    fn impossible_shapes_are_refused() {
        assert_eq!(
            Mlp::new(784, &[128, 0], 10).unwrap_err().to_string(),
            "layer 2 of [784, 128, 0, 10] has no neurons"
        );
        assert!(matches!(Mlp::new(usize::MAX / 2, &[16], 10), Err(NetworksError::TooLarge { .. })));
    }

    #[test]
    fn the_seed_decides_the_parameters() {
        let mlp = Mlp::new(20, &[5], 3).unwrap();
        assert_eq!(mlp.initial_parameters(1), mlp.initial_parameters(1));
        assert_ne!(mlp.initial_parameters(1), mlp.initial_parameters(2));
    }
}
