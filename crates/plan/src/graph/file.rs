//! Graphs as JSON: a draft that is checked once.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::PlanError;
use crate::graph::{
    Dimension, Input, MOST_DIMENSIONS, Operator, OperatorGraph, ParameterGroup, Read, Role, Weights,
};

/// Sizes beyond this are no sizes of a network, and would break arithmetic.
const LARGEST: u64 = 1 << 40;

/// A graph as it is written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GraphDraft {
    name: String,
    #[serde(default = "one")]
    batch: u64,
    #[serde(default)]
    groups: BTreeMap<String, u64>,
    operators: Vec<OperatorDraft>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OperatorDraft {
    name: String,
    kind: String,
    dims: Vec<DimensionDraft>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    contracted: Option<DimensionDraft>,
    #[serde(default)]
    inputs: Vec<InputDraft>,
    #[serde(default)]
    flops_per_output: f64,
    #[serde(default = "unit")]
    backward: f64,
    #[serde(default = "number_bytes")]
    kept_per_output: f64,
    #[serde(default)]
    read_per_output: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weights: Option<WeightsDraft>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DimensionDraft {
    name: String,
    /// Left out for the samples, whose number is the batch.
    #[serde(default)]
    size: u64,
    role: Role,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct InputDraft {
    from: String,
    reads: Vec<Read>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WeightsDraft {
    group: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cut_by: Option<String>,
    #[serde(default)]
    cut_by_contracted: bool,
}

fn one() -> u64 {
    1
}

fn unit() -> f64 {
    1.0
}

fn number_bytes() -> f64 {
    4.0
}

impl OperatorGraph {
    /// The graph of a JSON text.
    ///
    /// # Errors
    /// When it is no JSON of a graph, or its operators do not fit together.
    pub fn from_json(text: &str) -> Result<Self, PlanError> {
        let draft: GraphDraft = serde_json::from_str(text)
            .map_err(|error| PlanError::GraphText { reason: error.to_string() })?;
        draft.check()
    }

    /// The same graph as JSON.
    pub fn to_json(&self) -> String {
        let draft = GraphDraft {
            name: self.name.clone(),
            batch: self.batch,
            groups: self.groups.iter().map(|it| (it.name.clone(), it.elements)).collect(),
            operators: self.operators.iter().map(|it| self.operator_draft(it)).collect(),
        };
        serde_json::to_string_pretty(&draft).expect("names and finite numbers become JSON") + "\n"
    }

    fn operator_draft(&self, own: &Operator) -> OperatorDraft {
        let dimension = |dim: &Dimension| DimensionDraft {
            name: dim.name.clone(),
            size: if dim.role == Role::Sample { 0 } else { dim.size },
            role: dim.role,
        };
        let input = |input: &Input| InputDraft {
            from: self.operators[input.from].name.clone(),
            reads: input.reads.clone(),
        };
        let weights = |weights: &Weights| WeightsDraft {
            group: self.groups[weights.group].name.clone(),
            cut_by: weights.cut_by.map(|dim| own.dims[dim].name.clone()),
            cut_by_contracted: weights.cut_by_contracted,
        };
        OperatorDraft {
            name: own.name.clone(),
            kind: own.kind.clone(),
            dims: own.dims.iter().map(dimension).collect(),
            contracted: own.contracted.as_ref().map(dimension),
            inputs: own.inputs.iter().map(input).collect(),
            flops_per_output: own.flops_per_output,
            backward: own.backward,
            kept_per_output: own.kept_per_output,
            read_per_output: own.read_per_output,
            weights: own.weights.as_ref().map(weights),
        }
    }
}

impl GraphDraft {
    fn check(self) -> Result<OperatorGraph, PlanError> {
        if self.operators.is_empty() {
            return Err(PlanError::EmptyGraph { graph: self.name });
        }
        if !(1..=1 << 24).contains(&self.batch) {
            return Err(PlanError::Batch { batch: self.batch });
        }
        let mut groups = Vec::new();
        for (name, elements) in self.groups {
            if !(1..=LARGEST).contains(&elements) {
                let reason =
                    format!("the group `{name}` has {elements} numbers, not 1 to {LARGEST}");
                return Err(PlanError::GraphText { reason });
            }
            groups.push(ParameterGroup { name, elements, operators: Vec::new() });
        }
        let mut graph =
            OperatorGraph { name: self.name, batch: self.batch, operators: Vec::new(), groups };
        for draft in self.operators {
            let operator = draft.check(&graph)?;
            if let Some(weights) = &operator.weights {
                let place = graph.operators.len();
                graph.groups[weights.group].operators.push(place);
            }
            graph.operators.push(operator);
        }
        graph.groups_are_used()?;
        Ok(graph)
    }
}

impl OperatorGraph {
    fn groups_are_used(&self) -> Result<(), PlanError> {
        match self.groups.iter().find(|group| group.operators.is_empty()) {
            Some(group) => {
                let reason = format!("no operator uses the group `{}`", group.name);
                Err(PlanError::GraphText { reason })
            }
            None => Ok(()),
        }
    }
}

impl OperatorDraft {
    fn check(self, graph: &OperatorGraph) -> Result<Operator, PlanError> {
        let name = self.name.clone();
        let refused = |reason: String| PlanError::Operator { operator: name.clone(), reason };
        if graph.operators.iter().any(|other| other.name == self.name) {
            return Err(refused("another operator has this name".into()));
        }
        if self.dims.is_empty() || self.dims.len() > MOST_DIMENSIONS {
            let count = self.dims.len();
            return Err(refused(format!("it has {count} dimensions, not 1 to {MOST_DIMENSIONS}")));
        }
        let dims = self
            .dims
            .into_iter()
            .map(|dim| checked_dimension(dim, graph.batch))
            .collect::<Result<Vec<_>, _>>()
            .map_err(refused)?;
        let volume = dims.iter().try_fold(1_u64, |all, dim| all.checked_mul(dim.size));
        if volume.is_none_or(|volume| volume > LARGEST) {
            return Err(refused(format!("its output has more than {LARGEST} numbers")));
        }
        let contracted = self.contracted.map(|dim| checked_dimension(dim, graph.batch));
        let contracted = contracted.transpose().map_err(refused)?;
        for (key, value) in [
            ("flops_per_output", self.flops_per_output),
            ("backward", self.backward),
            ("kept_per_output", self.kept_per_output),
            ("read_per_output", self.read_per_output),
        ] {
            if !(0.0..=1e12).contains(&value) {
                return Err(refused(format!("`{key}` is {value}, not from 0 to 1e12")));
            }
        }
        let inputs = self
            .inputs
            .into_iter()
            .map(|input| checked_input(input, (&dims, contracted.is_some()), graph))
            .collect::<Result<Vec<_>, _>>()
            .map_err(refused)?;
        let weights = self.weights.map(|own| checked_weights(own, &dims, &contracted, graph));
        Ok(Operator {
            name: self.name,
            kind: self.kind,
            inputs,
            weights: weights.transpose().map_err(refused)?,
            flops_per_output: self.flops_per_output,
            backward: self.backward,
            kept_per_output: self.kept_per_output,
            read_per_output: self.read_per_output,
            dims,
            contracted,
        })
    }
}

fn checked_dimension(draft: DimensionDraft, batch: u64) -> Result<Dimension, String> {
    let DimensionDraft { name, size, role } = draft;
    let size = if role == Role::Sample && size == 0 { batch } else { size };
    match size {
        _ if role == Role::Sample && size != batch => {
            Err(format!("the samples `{name}` are {size}, but the batch is {batch}"))
        }
        1..=LARGEST => Ok(Dimension { name, size, role }),
        _ => Err(format!("the dimension `{name}` has size {size}, not 1 to {LARGEST}")),
    }
}

fn checked_input(
    draft: InputDraft,
    (dims, has_contracted): (&[Dimension], bool),
    graph: &OperatorGraph,
) -> Result<Input, String> {
    let InputDraft { from: name, reads } = draft;
    let from = graph.operators.iter().position(|other| other.name == name);
    let from = from.ok_or_else(|| format!("it reads `{name}`, which is no operator before it"))?;
    let source = &graph.operators[from].dims;
    if reads.len() != source.len() {
        let (found, wanted) = (reads.len(), source.len());
        return Err(format!("it has {found} reads of `{name}`, which has {wanted} dimensions"));
    }
    for (read, dim) in reads.iter().zip(source) {
        let place = |at: usize| match dims.get(at) {
            Some(_) => Ok(()),
            None => Err(format!("a read of `{name}` names dimension {at}; it has {}", dims.len())),
        };
        match *read {
            Read::Full => {}
            Read::Same(at) => place(at)?,
            Read::Window { dim: at, kernel, stride, padding } => {
                place(at)?;
                let fits = |value: u64| (1..=LARGEST).contains(&value);
                if !fits(kernel) || !fits(stride) || padding > LARGEST {
                    return Err(format!("a window of `{name}` needs a kernel and stride above 0"));
                }
            }
            Read::Fixed { from, to } if from >= to || to > dim.size => {
                let size = dim.size;
                return Err(format!("it reads {from} to {to} of `{name}`, which has {size}"));
            }
            Read::Fixed { .. } => {}
            Read::Shifted { dim: at, by } => {
                place(at)?;
                if by.checked_add(dim.size).is_none_or(|end| end > dims[at].size) {
                    return Err(format!("`{name}` does not fit into its place {by} of the output"));
                }
            }
            Read::Contracted if has_contracted => {}
            Read::Contracted => return Err("it has no dimension that is summed over".into()),
        }
    }
    Ok(Input { from, reads })
}

fn checked_weights(
    draft: WeightsDraft,
    dims: &[Dimension],
    contracted: &Option<Dimension>,
    graph: &OperatorGraph,
) -> Result<Weights, String> {
    let WeightsDraft { group: name, cut_by, cut_by_contracted } = draft;
    let group = graph.groups.iter().position(|group| group.name == name);
    let group = group.ok_or_else(|| format!("its weights `{name}` are no group"))?;
    let cut_by = cut_by.map(|name| {
        let place = dims.iter().position(|dim| dim.name == name);
        place.ok_or_else(|| format!("its weights are cut by `{name}`, which is no dimension of it"))
    });
    if cut_by_contracted && contracted.is_none() {
        return Err("its weights are cut by a dimension summed over, which it lacks".into());
    }
    Ok(Weights { group, cut_by: cut_by.transpose()?, cut_by_contracted })
}
