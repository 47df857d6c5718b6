//! Operator graphs: of names, of JSON files, and of our own networks.

use std::collections::BTreeMap;
use std::path::Path;

use trainwright_networks::{LayerDescription, Network, NetworkDescription, Operator};
use trainwright_plan::{
    Dimension, GraphBuilder, Input, NAMED_GRAPHS, OperatorGraph, Read, Role, Weights, named_graph,
};

use crate::Error;
use crate::trainings::network::{NetworkRequest, description};

/// A graph, and the network that it is of where that can be trained here.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) graph: OperatorGraph,
    pub(crate) network: Option<NetworkDescription>,
}

/// The graph of a name, a JSON file or a network.
///
/// # Errors
/// The file cannot be read, or what it says is no graph or network.
pub(crate) fn graph(request: &NetworkRequest, batch: Option<u64>) -> Result<Graph, Error> {
    let text = &request.description;
    if NAMED_GRAPHS.iter().any(|(name, _)| name == text) {
        return Ok(Graph { graph: named_graph(text, batch)?, network: None });
    }
    let path = Path::new(text);
    if path.extension().is_some_and(|extension| extension == "json") {
        let json = std::fs::read_to_string(path)
            .map_err(|source| Error::Input { path: path.to_owned(), source })?;
        let graph = OperatorGraph::from_json(&json).map_err(|source| Error::PlanFile {
            path: path.to_owned(),
            source: Box::new(source),
        })?;
        let batch = batch.unwrap_or(graph.batch());
        return Ok(Graph { graph: graph.with_batch(batch)?, network: None });
    }
    let network = description(request).map_err(|error| with_names(error, text))?;
    let graph = of_network(&network, batch.unwrap_or(64))?;
    Ok(Graph { graph, network: Some(network) })
}

/// The same refusal, with the graphs that there are besides.
fn with_names(error: Error, text: &str) -> Error {
    match error {
        Error::Request(reason) if reason.contains(&format!("`{text}`")) => {
            let names = NAMED_GRAPHS.map(|(name, _)| name).join(", ");
            Error::Request(format!("{reason}; for plans there are also {names}, or a JSON file"))
        }
        other => other,
    }
}

/// The graph of one of our networks: an operator a layer.
///
/// # Errors
/// The network cannot be built, or the batch is none.
pub(crate) fn of_network(
    description: &NetworkDescription,
    batch: u64,
) -> Result<OperatorGraph, Error> {
    let network = Network::new(description).map_err(|error| Error::Request(error.to_string()))?;
    let layers: BTreeMap<String, &LayerDescription> = description
        .layers
        .iter()
        .enumerate()
        .map(|(at, named)| (named.name.clone().unwrap_or_else(|| at.to_string()), &named.layer))
        .collect();
    let mut builder = GraphBuilder::new(&description.name, batch);
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for operator in network.operators() {
        let made = converted(&builder, batch, operator, layers[&operator.name], &places);
        let made = with_weights(&mut builder, made, operator);
        places.insert(&operator.name, builder.add(made));
    }
    Ok(builder.finish().with_batch(batch)?)
}

fn with_weights(
    builder: &mut GraphBuilder,
    mut made: trainwright_plan::Operator,
    operator: &Operator,
) -> trainwright_plan::Operator {
    if operator.parameters > 0 {
        let group = builder.group(&operator.name, operator.parameters as u64);
        let is_cut = |dim: &Dimension| matches!(dim.role, Role::Parameter | Role::Direction);
        let cut_by = made.dims.iter().position(is_cut);
        let cut_by_contracted = made.contracted.is_some();
        made.weights = Some(Weights { group, cut_by, cut_by_contracted });
    }
    made
}

/// Names of the dimensions of an output; channels take turns, see `GraphBuilder`.
fn dims_of(operator: &Operator, batch: u64, channel: &str) -> Vec<Dimension> {
    let dimension = |name: &str, size: usize, role| Dimension {
        name: name.to_owned(),
        size: size as u64,
        role,
    };
    let mut dims = vec![dimension("sample", batch as usize, Role::Sample)];
    match *operator.output_shape.as_slice() {
        [height, width, channels] => dims.extend([
            dimension("height", height, Role::Attribute),
            dimension("width", width, Role::Attribute),
            dimension(channel, channels, Role::Attribute),
        ]),
        [steps, width] => dims.extend([
            dimension("length", steps, Role::Whole),
            dimension(channel, width, Role::Attribute),
        ]),
        _ => dims.push(dimension(channel, operator.output_shape.iter().product(), Role::Attribute)),
    }
    dims
}

fn converted(
    builder: &GraphBuilder,
    batch: u64,
    operator: &Operator,
    layer: &LayerDescription,
    places: &BTreeMap<&str, usize>,
) -> trainwright_plan::Operator {
    let sources: Vec<usize> =
        operator.inputs.iter().filter_map(|name| places.get(name.as_str()).copied()).collect();
    let before = sources.first().map(|&at| builder.dims(at).last().expect("it has dimensions"));
    let keeps = matches!(
        layer,
        LayerDescription::Depthwise { .. }
            | LayerDescription::BatchNorm { .. }
            | LayerDescription::MaxPool { .. }
            | LayerDescription::AveragePool { .. }
            | LayerDescription::Relu
            | LayerDescription::Relu6
            | LayerDescription::Flatten
            | LayerDescription::Dropout { .. }
            | LayerDescription::Add { .. }
    );
    let channel = match before {
        Some(dim) if keeps => dim.name.clone(),
        Some(dim) if dim.name == "channel" => "hidden".to_owned(),
        _ => "channel".to_owned(),
    };
    let mut dims = dims_of(operator, batch, &channel);
    let last = dims.len() - 1;
    let has_weights = operator.parameters > 0;
    if has_weights {
        dims[last].role = weights_role(layer);
    }
    let contracted = match (layer, before) {
        (LayerDescription::Dense { .. }, Some(dim)) => Some(Dimension {
            name: dim.name.clone(),
            size: operator.input_shape.iter().product::<usize>() as u64,
            role: Role::Parameter,
        }),
        _ => None,
    };
    let inputs = sources
        .iter()
        .map(|&from| Input { from, reads: reads(builder.dims(from), &dims, layer) })
        .collect::<Vec<_>>();
    let outputs = operator.output_shape.iter().product::<usize>() as f64;
    let read: usize = operator.input_shape.iter().product();
    trainwright_plan::Operator {
        name: operator.name.clone(),
        kind: kind(layer).to_owned(),
        contracted,
        flops_per_output: operator.flops as f64 / outputs,
        backward: if has_weights && !inputs.is_empty() { 2.0 } else { 1.0 },
        kept_per_output: operator.activation_bytes as f64 / outputs,
        read_per_output: if inputs.is_empty() { read as f64 / outputs } else { 0.0 },
        weights: None,
        inputs,
        dims,
    }
}

/// How the outputs of a layer with weights may be cut.
fn weights_role(layer: &LayerDescription) -> Role {
    match layer {
        // Every hidden unit of a step reads all of the step before.
        LayerDescription::Lstm { bidirectional: false, .. } => Role::Whole,
        LayerDescription::Lstm { bidirectional: true, .. } => Role::Direction,
        _ => Role::Parameter,
    }
}

fn kind(layer: &LayerDescription) -> &'static str {
    match layer {
        LayerDescription::Dense { .. } => "dense",
        LayerDescription::Convolution { .. } => "convolution",
        LayerDescription::Depthwise { .. } => "depthwise",
        LayerDescription::Lstm { .. } => "lstm",
        LayerDescription::Embedding { .. } => "embedding",
        LayerDescription::MaxPool { .. } | LayerDescription::AveragePool { .. } => "pool",
        LayerDescription::BatchNorm { .. } => "batch-norm",
        LayerDescription::Relu | LayerDescription::Relu6 => "rectifier",
        LayerDescription::Flatten => "flatten",
        LayerDescription::Dropout { .. } => "dropout",
        LayerDescription::Add { .. } => "add",
    }
}

/// What a layer reads of each dimension of an input.
fn reads(source: &[Dimension], own: &[Dimension], layer: &LayerDescription) -> Vec<Read> {
    let (last, own_last) = (source.len() - 1, own.len() - 1);
    let window = |kernel: usize, stride: usize, padding: usize| {
        let at = |dim| Read::Window {
            dim,
            kernel: kernel as u64,
            stride: stride as u64,
            padding: padding as u64,
        };
        [at(1), at(2)]
    };
    let mut reads = vec![Read::Same(0)];
    let middle = |read: Read| vec![read; last.saturating_sub(1)];
    match *layer {
        LayerDescription::Dense { .. } => {
            reads.extend(middle(Read::Full));
            reads.push(Read::Contracted);
        }
        LayerDescription::Convolution { kernel, stride, padding, .. } if source.len() == 4 => {
            reads.extend(window(kernel, stride, padding));
            reads.push(Read::Full);
        }
        LayerDescription::Depthwise { kernel, stride, padding, .. } if source.len() == 4 => {
            reads.extend(window(kernel, stride, padding));
            reads.push(Read::Same(own_last));
        }
        LayerDescription::MaxPool { size } | LayerDescription::AveragePool { size: Some(size) }
            if source.len() == 4 =>
        {
            reads.extend(window(size, size, 0));
            reads.push(Read::Same(own_last));
        }
        _ if source.len() == own.len()
            && source[1..].iter().zip(&own[1..]).all(|(a, b)| a.size == b.size)
            && !matches!(layer, LayerDescription::Lstm { .. }) =>
        {
            reads.extend((1..source.len()).map(Read::Same));
        }
        LayerDescription::Flatten | LayerDescription::AveragePool { .. } => {
            reads.extend(middle(Read::Full));
            reads.push(Read::Same(own_last));
        }
        _ => reads.extend(vec![Read::Full; last]),
    }
    reads
}
