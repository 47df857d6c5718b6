//! Operator graphs: what a network computes, with named dimensions, so that it can be split.
//!
//! An operator has an output tensor with named dimensions, reads outputs of earlier operators, and
//! may have weights. [`Read`] says which part of an input a part of the output needs. Graphs are
//! built by hand ([`GraphBuilder`]), read from JSON (`file.rs`) or named (`named.rs`).

mod builder;
mod convolutional;
pub(crate) mod file;
mod inception;
mod named;
mod recurrent;
mod transformer;

use serde::{Deserialize, Serialize};

pub use builder::{ConvolutionShape, GraphBuilder, PictureFrom};
pub use named::{NAMED_GRAPHS, named_graph};

use crate::error::PlanError;

/// The most dimensions that an output has, without the one that is summed over.
pub const MOST_DIMENSIONS: usize = 4;

/// Operators of a network in an order in which each comes after those that it reads.
#[derive(Debug, Clone, PartialEq)]
pub struct OperatorGraph {
    pub(crate) name: String,
    pub(crate) batch: u64,
    pub(crate) operators: Vec<Operator>,
    pub(crate) groups: Vec<ParameterGroup>,
}

/// One operator: what it writes, what it reads, what that costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Operator {
    /// Unique in its graph.
    pub name: String,
    /// Such as `convolution` or `dense`; machines have speeds for kinds.
    pub kind: String,
    /// Dimensions of the output; the order is that of memory.
    pub dims: Vec<Dimension>,
    /// The dimension that is summed over, where it may be split: each part then has a partial sum.
    pub contracted: Option<Dimension>,
    /// What it reads of other operators.
    pub inputs: Vec<Input>,
    /// Operations forward for one number of the output.
    pub flops_per_output: f64,
    /// Operations backward for each operation forward.
    pub backward: f64,
    /// Bytes kept until the backward step for one number of the output.
    pub kept_per_output: f64,
    /// Numbers read from elsewhere than operators, for one number of the output.
    pub read_per_output: f64,
    /// Its weights, if it has any.
    pub weights: Option<Weights>,
}

/// A named dimension of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dimension {
    /// Its name; the same name means the same thing all over a graph.
    pub name: String,
    /// How long it is.
    pub size: u64,
    /// What splitting it means.
    pub role: Role,
}

/// What splitting a dimension means (Jia, Zaharia and Aiken, "Beyond data and model parallelism
/// for deep neural networks", SysML 2019, section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Examples of the batch: every part needs all weights.
    Sample,
    /// Places of an example, such as rows of a picture: every part needs all weights.
    Attribute,
    /// Outputs that have weights of their own: a part needs its part of the weights.
    Parameter,
    /// The same of two directions that know nothing of each other: two parts at most.
    Direction,
    /// Never split.
    Whole,
}

/// What an operator reads of another one.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// Place of that operator in the graph.
    pub from: usize,
    /// For each dimension of that operator's output, what a part of this one reads of it.
    pub reads: Vec<Read>,
}

/// What a part of an output reads of one dimension of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Read {
    /// All of it.
    Full,
    /// The range of this output dimension, scaled where the sizes differ.
    Same(usize),
    /// The places under the windows of this output dimension.
    Window {
        /// The output dimension.
        dim: usize,
        /// Length of the window.
        kernel: u64,
        /// Step of the window.
        stride: u64,
        /// Zeros before the first place.
        padding: u64,
    },
    /// Always these places.
    Fixed {
        /// The first.
        from: u64,
        /// The one after the last.
        to: u64,
    },
    /// The range of an output dimension in which the input begins at a place, as in a concatenation.
    Shifted {
        /// The output dimension.
        dim: usize,
        /// Where the input begins in it.
        by: u64,
    },
    /// The range of the dimension that is summed over.
    Contracted,
}

/// The weights of an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weights {
    /// Place of the parameter group.
    pub group: usize,
    /// The output dimension that cuts them, if one does.
    pub cut_by: Option<usize>,
    /// Whether splitting the dimension that is summed over cuts them too.
    pub cut_by_contracted: bool,
}

/// Weights that one or more operators use: steps of an unrolled network share theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterGroup {
    /// Its name.
    pub name: String,
    /// How many numbers it holds.
    pub elements: u64,
    /// The operators that use it.
    pub operators: Vec<usize>,
}

impl OperatorGraph {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Examples of a step.
    pub fn batch(&self) -> u64 {
        self.batch
    }

    /// The operators in their order.
    pub fn operators(&self) -> &[Operator] {
        &self.operators
    }

    /// The parameter groups.
    pub fn groups(&self) -> &[ParameterGroup] {
        &self.groups
    }

    /// How many parameters all groups have.
    pub fn parameters(&self) -> u64 {
        self.groups.iter().map(|group| group.elements).sum()
    }

    /// Operations of a step forward and backward.
    pub fn flops(&self) -> f64 {
        self.operators.iter().map(|it| it.forward_flops() * (1.0 + it.backward)).sum()
    }

    /// The same graph for another batch.
    ///
    /// # Errors
    /// When the batch is no number of examples.
    pub fn with_batch(&self, batch: u64) -> Result<Self, PlanError> {
        if !(1..=1 << 24).contains(&batch) {
            return Err(PlanError::Batch { batch });
        }
        let mut own = self.clone();
        own.batch = batch;
        for operator in &mut own.operators {
            for dim in operator.dims.iter_mut().filter(|dim| dim.role == Role::Sample) {
                dim.size = batch;
            }
        }
        Ok(own)
    }
}

impl Operator {
    /// Numbers of the whole output.
    pub fn outputs(&self) -> u64 {
        self.dims.iter().map(|dim| dim.size).product()
    }

    /// Operations of the whole operator forward.
    pub fn forward_flops(&self) -> f64 {
        self.outputs() as f64 * self.flops_per_output
    }

    /// All dimensions that can have a degree: those of the output, then the one summed over.
    pub fn split_dims(&self) -> impl Iterator<Item = &Dimension> {
        self.dims.iter().chain(&self.contracted)
    }
}
