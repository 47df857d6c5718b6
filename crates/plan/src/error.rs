//! Why a plan cannot be made.

/// Why a graph, a machine or a request for a plan is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message documents its variant")]
pub enum PlanError {
    #[error("the graph does not read: {reason}")]
    GraphText { reason: String },
    #[error("operator `{operator}`: {reason}")]
    Operator { operator: String, reason: String },
    #[error("the graph `{graph}` has no operators; it needs at least one")]
    EmptyGraph { graph: String },
    #[error("`{name}` names no graph; there are {known}")]
    UnknownGraph { name: String, known: String },
    #[error("the machine does not read: {reason}")]
    MachineText { reason: String },
    #[error("machine `{machine}`: `{key}` is {value}, but {wants}")]
    Machine { machine: String, key: String, value: String, wants: String },
    #[error("`{name}` names no machine; there are {known}, or a TOML file")]
    UnknownMachine { name: String, known: String },
    #[error("the batch is {batch}, but a step needs from 1 to 16777216 examples")]
    Batch { batch: u64 },
    #[error("constraint `{constraint}`: {reason}")]
    Constraint { constraint: String, reason: String },
    #[error(
        "no plan fits: the best needs {needed} bytes on a device that has {capacity}; try sharding, recomputation, more devices or a smaller batch"
    )]
    NothingFits { needed: u64, capacity: u64 },
    #[error("the layout rule `{rule}` does not read; rules look like batch:rows or hidden:columns")]
    LayoutText { rule: String },
    #[error(
        "the tensor dimension `{dimension}` maps to multiple mesh dimensions: {first} and {second}"
    )]
    MapsToMultiple { dimension: String, first: String, second: String },
    #[error(
        "Two Tensor Dimensions may not map to the same Mesh Dimension: `{first}` and `{second}` of `{operator}` both map to `{mesh}`"
    )]
    SameMeshDimension { first: String, second: String, operator: String, mesh: String },
    #[error(
        "the tensor dimension `{dimension}` has size {size} in `{operator}`, which is not divisible by the {parts} devices of mesh dimension `{mesh}`"
    )]
    NotDivisible { dimension: String, size: u64, operator: String, parts: u64, mesh: String },
    #[error("the tensor dimension `{dimension}` of `{operator}` cannot be split")]
    Unsplittable { dimension: String, operator: String },
    #[error("the plan file does not read: {reason}")]
    PlanText { reason: String },
    #[error(
        "the plan is for the graph `{plan}` with {operators} operators, not for `{graph}` with {own}"
    )]
    OtherGraph { plan: String, operators: usize, graph: String, own: usize },
    #[error("the task graph of this plan needs more than {limit} tasks; use fewer devices")]
    TooManyTasks { limit: usize },
}
