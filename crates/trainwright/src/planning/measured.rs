//! Times of parts of layers on this machine, with as many threads busy as there are devices; where
//! a layer is whole, so is the batch, and the other devices have nothing to do. Updates and exchanges
//! are measured beside them.
//!
//! A part is a layer with fewer outputs, inputs or examples, built and run as in training. Buffers
//! are used in turn, so that a repetition finds caches as cold as a step does; all parts are measured
//! in rounds, because a machine is not as fast at all times.

use std::collections::BTreeMap;
use std::sync::{Barrier, Mutex};
use std::time::Instant;

use trainwright_networks::{
    LayerDescription, NamedLayer, Network, NetworkDescription, Numbers, Team, Workspace, scale_rows,
};
use trainwright_plan::{DEGREES, Machine, OperatorGraph, UpdateRates, pipeline_shares};
use trainwright_train::{ExchangeTime, exchange_time};

use crate::planning::updates::update_rates;

/// Repetitions of a part in a round; the middle one of all rounds counts.
const REPETITIONS: usize = 6;

/// Buffers that are used in turn.
const BUFFERS: usize = 3;

/// An operator and the degrees by which it is split.
type Split = (usize, [u16; DEGREES]);

/// Nanoseconds forward and backward by operator and degrees.
pub(crate) type Times = BTreeMap<Split, (u64, u64)>;

/// What was measured of a network on this machine, in as many rounds as there were.
pub(crate) struct Measured<'a> {
    parts: Vec<(Split, Part<'a>, Network, usize)>,
    parameters: u64,
    optimizer_slots: u8,
    devices: usize,
    samples: BTreeMap<Split, Vec<(u64, u64)>>,
    updates: Vec<UpdateRates>,
    exchanges: Vec<ExchangeTime>,
}

impl<'a> Measured<'a> {
    /// Every part that a plan on so many devices could have of a network's dense layers, memories
    /// and whole layers; not measured yet.
    pub(crate) fn new(
        description: &'a NetworkDescription,
        graph: &OperatorGraph,
        (devices, optimizer_slots): (usize, u8),
    ) -> Self {
        Self {
            parts: parts(description, graph, devices),
            parameters: graph.parameters(),
            optimizer_slots,
            devices,
            samples: BTreeMap::new(),
            updates: Vec::new(),
            exchanges: Vec::new(),
        }
    }

    /// Measures everything once more.
    pub(crate) fn round(&mut self) {
        for (key, part, network, busy) in &self.parts {
            self.samples.entry(*key).or_default().extend(part.measure(network, *busy));
        }
        let (slots, devices) = (self.optimizer_slots, self.devices);
        self.updates.extend(update_rates(self.parameters, slots, devices));
        self.exchanges.extend(exchange_time(devices, self.parameters));
    }

    /// The middle times of all rounds.
    pub(crate) fn times(&self) -> Times {
        let middles = self.samples.iter().filter_map(|(key, own)| Some((*key, middle(own)?)));
        middles.collect()
    }

    /// Puts the middle rates of updates and exchanges into the machine.
    pub(crate) fn put_into(&self, machine: &mut Machine) {
        let update = |of: fn(&UpdateRates) -> f64| middle_of(self.updates.iter().map(of));
        let alone = update(|own| own.alone_bytes_per_s);
        let copies = update(|own| own.copies_bytes_per_s);
        let shares = update(|own| own.shares_bytes_per_s);
        if let (Some(alone_bytes_per_s), Some(copies_bytes_per_s), Some(shares_bytes_per_s)) =
            (alone, copies, shares)
        {
            machine.device.memory_bytes_per_s = copies_bytes_per_s;
            let own = UpdateRates { alone_bytes_per_s, copies_bytes_per_s, shares_bytes_per_s };
            machine.device.updates = Some(own);
        }
        let latency = middle_of(self.exchanges.iter().map(|own| own.latency_s));
        let rate = middle_of(self.exchanges.iter().map(|own| own.bytes_per_s));
        if let (Some(latency_s), Some(bytes_per_s)) = (latency, rate) {
            (machine.inside.latency_s, machine.inside.bytes_per_s) = (latency_s, bytes_per_s);
        }
    }
}

/// The middle value; none of nothing.
fn middle_of(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn parts<'a>(
    description: &'a NetworkDescription,
    graph: &OperatorGraph,
    devices: usize,
) -> Vec<(Split, Part<'a>, Network, usize)> {
    let mut parts = Vec::new();
    let Ok(whole) = Network::new(description) else { return parts };
    let shapes = whole.operators();
    for (at, operator) in graph.operators().iter().enumerate() {
        let layer = description
            .layers
            .iter()
            .enumerate()
            .find(|(place, own)| {
                own.name.clone().unwrap_or_else(|| place.to_string()) == operator.name
            })
            .map(|(_, own)| &own.layer);
        let shapes = shapes.iter().find(|own| own.name == operator.name);
        let (Some(layer), Some(shapes)) = (layer, shapes) else { continue };
        let has_sum = operator.contracted.is_some();
        for degrees in degrees_of(operator.dims.len(), has_sum, devices, graph.batch()) {
            let part = Part {
                layer,
                input: shapes.input_shape.clone(),
                is_first: operator.inputs.is_empty(),
                examples: graph.batch() as usize / degrees[0] as usize,
                outputs: degrees[operator.dims.len() - 1] as usize,
                inputs: degrees[operator.dims.len()] as usize,
            };
            let busy = if degrees == [1; DEGREES] { 1 } else { devices };
            if let Some(network) = part.network() {
                parts.push(((at, degrees), part, network, busy));
            }
        }
    }
    parts
}

/// The middle times forward and backward; none where nothing was measured.
fn middle(samples: &[(u64, u64)]) -> Option<(u64, u64)> {
    let of = |pass: fn(&(u64, u64)) -> u64| {
        let mut values: Vec<u64> = samples.iter().map(pass).collect();
        values.sort_unstable();
        values.get(values.len() / 2).map(|own| (*own).max(1))
    };
    Some((of(|it| it.0)?, of(|it| it.1)?))
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
    input: Vec<usize>,
    is_first: bool,
    examples: usize,
    outputs: usize,
    inputs: usize,
}

impl Part<'_> {
    /// The part as a network; none where the layer cannot be cut so.
    fn network(&self) -> Option<Network> {
        let mut layer = self.layer.clone();
        let mut input = self.input.clone();
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

    /// Nanoseconds forward and backward of each repetition, with so many devices at the same work.
    fn measure(&self, network: &Network, devices: usize) -> Vec<(u64, u64)> {
        if self.examples == 0 {
            return Vec::new();
        }
        let (begin, all) = (Barrier::new(devices), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..devices {
                scope.spawn(|| {
                    let found = self.repeat(network, &begin);
                    all.lock().expect("nobody panics with it").extend(found);
                });
            }
        });
        all.into_inner().expect("nobody panics with it")
    }

    /// Does the part's work again and again. The first layer also gathers its examples; a layer that
    /// is cut hands its numbers over in buffers of their own.
    fn repeat(&self, network: &Network, begin: &Barrier) -> Vec<(u64, u64)> {
        let initial = network.initial_parameters(1);
        let parameters: Vec<Numbers> = (0..BUFFERS).map(|_| numbers(&initial)).collect();
        let spaces = (0..BUFFERS).map(|_| network.workspace(self.examples, 1));
        let mut spaces: Vec<Workspace> = spaces.filter_map(Result::ok).collect();
        let mut gathering = self.gathering(network);
        let slopes = vec![0.01; self.examples * network.output_count()];
        let mut gradients: Vec<Numbers> = (0..BUFFERS).map(|_| numbers(&initial)).collect();
        let mut handed = Vec::new();
        begin.wait();
        let mut found = Vec::new();
        if spaces.len() < BUFFERS {
            return found;
        }
        for round in 0..BUFFERS + REPETITIONS {
            let at = round % BUFFERS;
            let started = Instant::now();
            gathering.gather(spaces[at].team());
            let outputs = network.forward(&parameters[at], &gathering.inputs, &mut spaces[at]);
            self.hand_over(outputs, &mut handed);
            let forward = started.elapsed();
            let started = Instant::now();
            let values = (&gathering.inputs[..], &slopes[..]);
            let back =
                network.backward(&parameters[at], values, &mut gradients[at], &mut spaces[at]);
            self.hand_over(back, &mut handed);
            let backward = started.elapsed();
            // The first use of each buffer touches memory for the first time.
            if round >= BUFFERS {
                found.push((forward.as_nanos() as u64, backward.as_nanos() as u64));
            }
        }
        found
    }

    fn hand_over(&self, values: &[f32], into: &mut Vec<f32>) {
        if self.outputs * self.inputs > 1 {
            into.clear();
            into.extend_from_slice(values);
        }
    }

    fn gathering(&self, network: &Network) -> Gathering {
        let width: usize = network.input_shape().iter().product();
        let rows = network.input_rows();
        let value = |at: usize| match rows {
            Some(rows) => (at % rows.max(1)) as f32,
            None => (at % 7) as f32 / 7.0,
        };
        let inputs: Vec<f32> = (0..self.examples * width).map(value).collect();
        let gathers = self.is_first && rows.is_none();
        let bytes = if gathers { vec![7; inputs.len()] } else { Vec::new() };
        Gathering {
            width,
            bytes,
            batch: Numbers::zeros(if gathers { inputs.len() } else { 0 }),
            inputs,
        }
    }
}

fn numbers(values: &[f32]) -> Numbers {
    let mut own = Numbers::zeros(values.len());
    own.copy_from_slice(values);
    own
}

/// Examples of a part on their way from the pictures.
struct Gathering {
    width: usize,
    /// Pixels; none where the part reads another.
    bytes: Vec<u8>,
    batch: Numbers,
    inputs: Vec<f32>,
}

impl Gathering {
    fn gather(&mut self, team: &mut Team) {
        if !self.bytes.is_empty() {
            let rows: Vec<&[u8]> = self.bytes.chunks_exact(self.width).collect();
            scale_rows(&rows, 1.0 / 255.0, &mut self.batch, team);
            self.inputs.copy_from_slice(&self.batch);
        }
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
        let mut measured = Measured::new(&description, &graph, (2, 0));
        measured.round();
        let times = measured.times();
        // The first layer has no sum to cut: whole, by samples, by outputs; the others one more.
        // Pipelines have micro-batches of 2 and 1 examples too.
        assert_eq!(times.len(), 3 + 4 + 4 + 3 * 2);
        assert!(times.values().all(|(forward, backward)| *forward > 0 && *backward > 0));
        assert!(times.contains_key(&(1, [1, 1, 2, 1, 1])), "{times:?}");
    }
}
