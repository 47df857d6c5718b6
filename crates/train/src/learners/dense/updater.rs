//! From gradients to parameters: clipping and the optimiser, for the piece that a rank owns.

use std::ops::Range;

use trainwright_networks::{Optimizer, Team, TensorInfo, Trained, clip_to_norm, squares_of_blocks};
use trainwright_study::JobSpec;

use crate::learners::optimizers::optimizer;

/// Changes the parameters of a piece.
pub(crate) struct Updater {
    piece: Range<usize>,
    optimizer: Box<dyn Optimizer>,
    clip_norm: Option<f64>,
}

impl Updater {
    /// The updater of a job for this piece of a network's parameters.
    pub(crate) fn new(job: &JobSpec, tensors: &[TensorInfo], piece: Range<usize>) -> Self {
        let trained = Trained::ranges(piece.len(), &within(&trained_ranges(tensors), &piece));
        Self { optimizer: optimizer(job, trained), piece, clip_norm: job.clip_norm }
    }

    /// Where the piece lies among the parameters.
    pub(crate) fn piece(&self) -> Range<usize> {
        self.piece.clone()
    }

    /// Whether it must know the norm of all gradients.
    pub(crate) fn clips(&self) -> bool {
        self.clip_norm.is_some()
    }

    /// Squares of the piece's gradients, block by block; those of all pieces one after another add
    /// up to the squared norm.
    pub(crate) fn squares(&self, gradients: &[f32], team: &mut Team) -> Vec<f64> {
        squares_of_blocks(gradients, team)
    }

    /// Makes one step with the gradients of the piece, whose global norm is `norm` where it is
    /// known.
    pub(crate) fn update(
        &mut self,
        parameters: &mut [f32],
        gradients: &mut [f32],
        size: (f64, Option<f64>),
        team: &mut Team,
    ) {
        let piece = self.piece.clone();
        self.update_piece(&mut parameters[piece], gradients, size, team);
    }

    /// The same where the parameters are those of the piece alone.
    pub(crate) fn update_piece(
        &mut self,
        parameters: &mut [f32],
        gradients: &mut [f32],
        (rate, norm): (f64, Option<f64>),
        team: &mut Team,
    ) {
        if let (Some(limit), Some(norm)) = (self.clip_norm, norm) {
            clip_to_norm(gradients, norm, limit, team);
        }
        self.optimizer.step(parameters, gradients, rate, team);
    }

    /// What the optimiser remembers of the piece.
    pub(crate) fn optimizer(&mut self) -> &mut dyn Optimizer {
        &mut *self.optimizer
    }
}

/// Where the parameters lie that training changes.
fn trained_ranges(tensors: &[TensorInfo]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for tensor in tensors.iter().filter(|tensor| tensor.trainable) {
        match ranges.last_mut() {
            Some(last) if last.end == tensor.range.start => last.end = tensor.range.end,
            _ => ranges.push(tensor.range.clone()),
        }
    }
    ranges
}

/// The parts of ranges within a piece, counted from its start.
fn within(ranges: &[Range<usize>], piece: &Range<usize>) -> Vec<Range<usize>> {
    let cut = |range: &Range<usize>| {
        let (start, end) = (range.start.max(piece.start), range.end.min(piece.end));
        (start < end).then(|| start - piece.start..end - piece.start)
    };
    ranges.iter().filter_map(cut).collect()
}

#[cfg(test)]
mod tests {
    use trainwright_networks::Network;

    use super::*;

    #[test]
    fn stretches_that_learn_are_joined() {
        let network = Network::perceptron(2, &[3], 2).unwrap();
        assert_eq!(trained_ranges(network.tensors()), vec![Range { start: 0, end: 17 }]);
        let mut tensors = network.tensors().to_vec();
        tensors[1].trainable = false;
        assert_eq!(trained_ranges(&tensors), [0..6, 9..17]);
    }

    #[test]
    fn a_piece_has_the_parts_of_stretches_that_lie_in_it() {
        let ranges = [0..6, 9..17];
        assert_eq!(within(&ranges, &(0..17)), ranges);
        assert_eq!(within(&ranges, &(4..10)), [0..2, 5..6]);
        assert!(within(&ranges, &(6..9)).is_empty());
        assert!(within(&ranges, &(9..9)).is_empty());
    }
}
