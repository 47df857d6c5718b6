//! Mesh-TensorFlow's counters of a layout: how large products are on a device, and which sums of
//! how many numbers follow them.

use std::collections::BTreeMap;

use crate::graph::{Dimension, OperatorGraph};
use crate::mesh::{Layout, Mesh};

/// Numbers on one device, for one step forward and backward.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MeshCounters {
    /// Sizes of the products' dimensions together.
    pub einsum: u64,
    /// Numbers added up along mesh dimensions, by their names.
    pub all_reduce: BTreeMap<String, u64>,
}

/// Counts the products of a graph's dense layers under a layout.
///
/// The product of a layer has the dimensions of its output and the one summed over. Those that are
/// split and not in a result must be added up over their mesh dimensions: forward the dimension
/// summed over, for the gradient of the input the outputs, for that of the weights the samples.
pub fn counters(graph: &OperatorGraph, mesh: &Mesh, layout: &Layout) -> MeshCounters {
    let mut found = MeshCounters::default();
    for operator in graph.operators() {
        let Some(summed) = &operator.contracted else { continue };
        let Some(cut) = operator.weights.as_ref().and_then(|weights| weights.cut_by) else {
            continue;
        };
        let outputs = &operator.dims[cut];
        let others =
            || operator.dims.iter().enumerate().filter(|(at, _)| *at != cut).map(|it| it.1);
        let all: Vec<&Dimension> = operator.dims.iter().chain([summed]).collect();
        let product = laid_out(&all, mesh, layout);
        let input: Vec<&Dimension> = others().chain([summed]).collect();
        let output: Vec<&Dimension> = operator.dims.iter().collect();
        let weights = vec![outputs, summed];
        let needs_input_gradient = !operator.inputs.is_empty();
        for (result, wanted) in [(output, true), (input, needs_input_gradient), (weights, true)] {
            if wanted {
                found.einsum += product;
                found.add_up(&all, &result, mesh, layout);
            }
        }
    }
    found
}

impl MeshCounters {
    fn add_up(&mut self, all: &[&Dimension], result: &[&Dimension], mesh: &Mesh, layout: &Layout) {
        let is_in = |dim: &Dimension| result.iter().any(|own| own.name == dim.name);
        let mut axes: Vec<usize> = all
            .iter()
            .filter(|dim| !is_in(dim))
            .filter_map(|dim| layout.rules.get(&dim.name).copied())
            .collect();
        axes.sort_unstable();
        if axes.is_empty() {
            return;
        }
        let names: Vec<&str> = axes.iter().map(|&at| mesh.dims[at].0.as_str()).collect();
        *self.all_reduce.entry(names.join("_")).or_insert(0) += laid_out(result, mesh, layout);
    }
}

/// Numbers of a tensor on one device.
fn laid_out(dims: &[&Dimension], mesh: &Mesh, layout: &Layout) -> u64 {
    let own =
        |dim: &&Dimension| dim.size / layout.rules.get(&dim.name).map_or(1, |&at| mesh.dims[at].1);
    dims.iter().map(own).product()
}
