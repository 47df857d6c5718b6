//! Times of parts of layers on this machine, with as many threads busy as there are devices; where
//! a layer is whole, so is the batch, and the other devices have nothing to do.
//!
//! A part is a layer with fewer outputs, inputs or examples, built and run as in training. Buffers
//! are used in turn, so that a repetition finds caches as cold as a step does.

use std::collections::BTreeMap;
use std::sync::{Barrier, Mutex};
use std::time::Instant;

use trainwright_networks::{LayerDescription, NamedLayer, Network, NetworkDescription, Workspace};
use trainwright_plan::{DEGREES, OperatorGraph, pipeline_shares};

/// Repetitions of a measurement; the middle one counts.
const REPETITIONS: usize = 15;

/// Buffers that are used in turn.
const BUFFERS: usize = 3;

/// Nanoseconds forward and backward by operator and degrees.
pub(crate) type Times = BTreeMap<(usize, [u16; DEGREES]), (u64, u64)>;

/// Measures every part that a plan on so many devices could have of a network's dense layers,
/// memories and whole layers.
pub(crate) fn measured_times(
    description: &NetworkDescription,
    graph: &OperatorGraph,
    devices: usize,
    tell: &mut dyn FnMut(&str),
) -> Times {
    let mut times = Times::new();
    let Ok(network) = Network::new(description) else { return times };
    tell("measuring the layers of the network on this machine");
    for (at, operator) in graph.operators().iter().enumerate() {
        let layer = description
            .layers
            .iter()
            .enumerate()
            .find(|(place, own)| {
                own.name.clone().unwrap_or_else(|| place.to_string()) == operator.name
            })
            .map(|(_, own)| &own.layer);
        let shapes = network.operators().iter().find(|own| own.name == operator.name);
        let (Some(layer), Some(shapes)) = (layer, shapes) else { continue };
        let has_sum = operator.contracted.is_some();
        for degrees in degrees_of(operator.dims.len(), has_sum, devices, graph.batch()) {
            let part = Part {
                layer,
                input: &shapes.input_shape,
                is_first: operator.inputs.is_empty(),
                examples: graph.batch() as usize / degrees[0] as usize,
                outputs: degrees[operator.dims.len() - 1] as usize,
                inputs: degrees[operator.dims.len()] as usize,
            };
            let busy = if degrees == [1; DEGREES] { 1 } else { devices };
            if let Some(found) = part.measure(busy) {
                times.insert((at, degrees), found);
            }
        }
    }
    times
}

/// Degrees of samples, outputs and what is summed over, whose product divides the devices, and the
/// shares of a batch that pipelines use.
fn degrees_of(dims: usize, has_sum: bool, devices: usize, batch: u64) -> Vec<[u16; DEGREES]> {
    let divisors: Vec<usize> = (1..=devices).filter(|own| devices.is_multiple_of(*own)).collect();
    let mut found = Vec::new();
    for &samples in &divisors {
        for &outputs in &divisors {
            for &sums in divisors.iter().filter(|own| has_sum || **own == 1) {
                let mut degrees = [1; DEGREES];
                degrees[0] = samples as u16;
                degrees[dims - 1] = if dims > 1 { outputs as u16 } else { samples as u16 };
                degrees[dims] = sums as u16;
                let parts = samples * outputs * sums;
                if devices.is_multiple_of(parts) && !found.contains(&degrees) {
                    found.push(degrees);
                }
            }
        }
    }
    let shares = pipeline_shares(devices, batch).into_iter().map(|share| {
        let mut degrees = [1; DEGREES];
        degrees[0] = share as u16;
        degrees
    });
    for degrees in shares {
        if !found.contains(&degrees) {
            found.push(degrees);
        }
    }
    found
}

/// A part of a layer.
struct Part<'a> {
    layer: &'a LayerDescription,
    input: &'a [usize],
    is_first: bool,
    examples: usize,
    outputs: usize,
    inputs: usize,
}

impl Part<'_> {
    /// The part as a network; none where the layer cannot be cut so.
    fn network(&self) -> Option<Network> {
        let mut layer = self.layer.clone();
        let mut input = self.input.to_vec();
        match &mut layer {
            LayerDescription::Dense { outputs, .. } => {
                *outputs /= self.outputs;
                input = vec![input.iter().product::<usize>() / self.inputs];
            }
            LayerDescription::Lstm { bidirectional, .. } if *bidirectional && self.outputs == 2 => {
                *bidirectional = false;
            }
            LayerDescription::Add { .. } => return None,
            _ if self.outputs * self.inputs > 1 => return None,
            _ => {}
        }
        let named = |name: &str, layer| NamedLayer { name: Some(name.to_owned()), layer };
        let layers = vec![named("part", layer), named("end", LayerDescription::Flatten)];
        let (name, loss) = ("part".to_owned(), Default::default());
        let mut network = Network::new(&NetworkDescription { name, input, loss, layers }).ok()?;
        if network.state_count() > 0 {
            return None;
        }
        if !self.is_first {
            network.want_input_gradients();
        }
        Some(network)
    }

    /// Nanoseconds forward and backward, with so many devices at the same work.
    fn measure(&self, devices: usize) -> Option<(u64, u64)> {
        let network = self.network()?;
        if self.examples == 0 {
            return None;
        }
        let (begin, all) = (Barrier::new(devices), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..devices {
                scope.spawn(|| {
                    let found = self.repeat(&network, &begin);
                    all.lock().expect("nobody panics with it").extend(found);
                });
            }
        });
        let all = all.into_inner().expect("nobody panics with it");
        let middle = |of: fn(&(u64, u64)) -> u64| {
            let mut values: Vec<u64> = all.iter().map(of).collect();
            values.sort_unstable();
            values.get(values.len() / 2).copied()
        };
        Some((middle(|it| it.0)?.max(1), middle(|it| it.1)?.max(1)))
    }

    fn repeat(&self, network: &Network, begin: &Barrier) -> Vec<(u64, u64)> {
        let parameters: Vec<Vec<f32>> =
            (0..BUFFERS).map(|at| network.initial_parameters(at as u64)).collect();
        let spaces = (0..BUFFERS).map(|_| network.workspace(self.examples, 1));
        let mut spaces: Vec<Workspace> = spaces.filter_map(Result::ok).collect();
        let width: usize = network.input_shape().iter().product();
        let rows = network.input_rows().unwrap_or(1);
        let value = |at: usize| if rows > 1 { (at % rows) as f32 } else { (at % 7) as f32 / 7.0 };
        let inputs: Vec<f32> = (0..self.examples * width).map(value).collect();
        let slopes = vec![0.01; self.examples * network.output_count()];
        let mut gradients = vec![vec![0.0; network.parameter_count()]; BUFFERS];
        begin.wait();
        let mut found = Vec::new();
        if spaces.len() < BUFFERS {
            return found;
        }
        for round in 0..REPETITIONS + 1 {
            let at = round % BUFFERS;
            let started = Instant::now();
            network.forward(&parameters[at], &inputs, &mut spaces[at]);
            let forward = started.elapsed();
            let started = Instant::now();
            let values = (&inputs[..], &slopes[..]);
            network.backward(&parameters[at], values, &mut gradients[at], &mut spaces[at]);
            let backward = started.elapsed();
            // The first round touches memory for the first time.
            if round > 0 {
                found.push((forward.as_nanos() as u64, backward.as_nanos() as u64));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planning::graphs::of_network;

    #[test]
    fn every_cut_of_a_dense_layer_is_measured() {
        let description: NetworkDescription = "mlp:64-32-16-4".parse().unwrap();
        let graph = of_network(&description, 8).unwrap();
        let times = measured_times(&description, &graph, 2, &mut |_| {});
        // The first layer has no sum to cut: whole, by samples, by outputs; the others one more.
        // Pipelines have micro-batches of 2 and 1 examples too.
        assert_eq!(times.len(), 3 + 4 + 4 + 3 * 2);
        assert!(times.values().all(|(forward, backward)| *forward > 0 && *backward > 0));
        assert!(times.contains_key(&(1, [1, 1, 2, 1, 1])), "{times:?}");
    }
}
