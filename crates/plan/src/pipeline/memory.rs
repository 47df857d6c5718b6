//! Memory of a pipeline's stages.

use crate::pipeline::costs::Costs;
use crate::pipeline::{PipelineOrder, Stages};
use crate::problem::Sharding;

/// Bytes of the weights of each group that a stage uses; one that several use counts to each.
pub(super) fn weight_bytes(
    costs: &Costs<'_>,
    stages: &Stages,
    stage: usize,
) -> impl Iterator<Item = u64> {
    let own = costs.range(stages, stage);
    let groups = costs.problem.graph().groups().iter();
    let held = groups.filter(move |group| group.operators.iter().any(|at| own.contains(at)));
    held.map(|group| 4 * group.elements)
}

/// Bytes of weights, gradients, the optimiser's numbers and activations of the fullest stage.
pub(super) fn of_fullest(costs: &Costs<'_>, stages: &Stages, order: PipelineOrder) -> [u64; 4] {
    let all = (0..stages.count()).map(|stage| of_stage(costs, stages, (stage, order)));
    all.max_by_key(|own| own.iter().sum::<u64>()).unwrap_or([0; 4])
}

fn of_stage(
    costs: &Costs<'_>,
    stages: &Stages,
    (stage, order): (usize, PipelineOrder),
) -> [u64; 4] {
    let training = &costs.problem.training;
    let weights: u64 = weight_bytes(costs, stages, stage).sum();
    let own = costs.range(stages, stage);
    let in_flight = match order {
        PipelineOrder::Gpipe => costs.micro_batches,
        PipelineOrder::OneForwardOneBackward => {
            costs.micro_batches.min((stages.count() - stage) as u64)
        }
    };
    let whole: u64 = costs.kept[own.clone()].iter().sum();
    let input = costs.cut_bytes[own.start];
    // With recomputation only the stage's inputs wait; one micro-batch is whole.
    let kept = match training.recompute {
        true => in_flight * input + whole,
        false => in_flight * (input + whole),
    };
    let width = costs.width as u64;
    let share = |from: Sharding| {
        if training.sharding >= from { weights.div_ceil(width) } else { weights }
    };
    // The weights that are being used are whole.
    let largest = weight_bytes(costs, stages, stage).max().unwrap_or(0);
    let gathered =
        if training.sharding >= Sharding::Weights { largest - largest.div_ceil(width) } else { 0 };
    let slots = u64::from(training.optimizer_slots);
    // Gradients of micro-batches are added up in a tree, with a buffer for each of its levels.
    let buffers = u64::from(costs.micro_batches.next_power_of_two().ilog2()) + 1;
    [
        share(Sharding::Weights) + gathered,
        share(Sharding::Gradients) + buffers * weights,
        slots * share(Sharding::Optimizer),
        kept,
    ]
}
