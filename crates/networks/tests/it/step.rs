//! A step that also brings the state up to date.

use trainwright_networks::{Batch, BatchScore, Learned, Network, StepOptions, Workspace};

/// Writes the gradients of a batch and takes its statistics into the state.
pub(crate) fn learn(
    network: &Network,
    (parameters, state): (&[f32], &mut [f32]),
    batch: Batch<'_>,
    options: StepOptions,
    gradients: &mut [f32],
    workspace: &mut Workspace,
) -> BatchScore {
    let mut statistics = vec![f32::NAN; state.len()];
    let learned = Learned { gradients, statistics: &mut statistics };
    let score = network.gradients(parameters, state, batch, options, learned, workspace);
    network.fold_statistics(state, &statistics);
    score
}
