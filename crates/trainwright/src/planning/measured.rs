//! Times of parts of layers on this machine, with as many threads busy as there are devices; where
//! a layer is whole, so is the batch, and the other devices have nothing to do. Updates and exchanges
//! are measured beside them.
//!
//! A part is a layer with fewer outputs, inputs or examples, built and run as in training
//! (`part.rs`). The parts of all layers that are split alike run one after another as a step does
//! (`sequence.rs`), so that each finds in the caches what a step would leave there; everything is
//! measured in rounds, because a machine is not as fast at all times.

mod part;
mod sequence;

use std::collections::BTreeMap;
use std::sync::Arc;

use trainwright_networks::{Activation, LayerDescription, Network, NetworkDescription};
use trainwright_plan::{DEGREES, Machine, Operator, OperatorGraph, UpdateRates, pipeline_shares};
use trainwright_train::{ExchangeTime, exchange_time};

use crate::planning::updates::update_rates;
use part::{Cut, Inputs, Part};
use sequence::{Sequence, sequences};

/// An operator and the degrees by which it is split.
type Split = (usize, [u16; DEGREES]);

/// Nanoseconds forward and backward by operator and degrees.
pub(crate) type Times = BTreeMap<Split, (u64, u64)>;

/// What was measured of a network on this machine, in as many rounds as there were.
pub(crate) struct Measured {
    sequences: Vec<Sequence>,
    parameters: u64,
    optimizer_slots: u8,
    devices: usize,
    samples: BTreeMap<Split, Vec<(u64, u64)>>,
    updates: Vec<UpdateRates>,
    exchanges: Vec<ExchangeTime>,
}

impl Measured {
    /// Every part that a plan on so many devices could have of a network's dense layers, memories
    /// and whole layers; not measured yet.
    pub(crate) fn new(
        description: &NetworkDescription,
        graph: &OperatorGraph,
        (devices, optimizer_slots): (usize, u8),
        pictures: &Arc<[u8]>,
    ) -> Self {
        let parts = parts(description, graph, devices, pictures);
        Self {
            sequences: sequences(parts, devices, optimizer_slots),
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
        for (key, time) in self.sequences.iter().flat_map(Sequence::measure) {
            self.samples.entry(key).or_default().push(time);
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

fn parts(
    description: &NetworkDescription,
    graph: &OperatorGraph,
    devices: usize,
    pictures: &Arc<[u8]>,
) -> Vec<(Split, Part)> {
    let mut parts = Vec::new();
    let Ok(whole) = Network::new(description) else { return parts };
    let shapes = whole.operators();
    let layer_of = |operator: &Operator| {
        let mut layers = description.layers.iter().enumerate();
        let named = layers.find(|(place, own)| {
            own.name.clone().unwrap_or_else(|| place.to_string()) == operator.name
        });
        named.map(|(_, own)| &own.layer)
    };
    for (at, operator) in graph.operators().iter().enumerate() {
        let layer = layer_of(operator);
        let shapes = shapes.iter().find(|own| own.name == operator.name);
        let (Some(layer), Some(shapes)) = (layer, shapes) else { continue };
        let before = operator.inputs.first().map(|own| &graph.operators()[own.from]);
        let inputs = match before {
            None => Inputs::Pictures(pictures.clone()),
            Some(before) if layer_of(before).is_some_and(is_rectified) => Inputs::Rectified,
            Some(_) => Inputs::Full,
        };
        let has_sum = operator.contracted.is_some();
        for degrees in degrees_of(operator.dims.len(), has_sum, devices, graph.batch()) {
            let cut = Cut {
                examples: graph.batch() as usize / degrees[0] as usize,
                shares: degrees[0] as usize,
                outputs: degrees[operator.dims.len() - 1] as usize,
                inputs: degrees[operator.dims.len()] as usize,
            };
            let own = Part::new(layer, (&shapes.input_shape, inputs.clone()), cut);
            parts.extend(own.map(|own| ((at, degrees), own)));
        }
    }
    parts
}

/// Whether what a layer writes is never negative, so that much of it is 0.
fn is_rectified(layer: &LayerDescription) -> bool {
    match layer {
        LayerDescription::Dense { activation, .. }
        | LayerDescription::Convolution { activation, .. }
        | LayerDescription::Depthwise { activation, .. }
        | LayerDescription::BatchNorm { activation } => *activation != Activation::Linear,
        LayerDescription::Relu | LayerDescription::Relu6 => true,
        _ => false,
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planning::graphs::of_network;

    #[test]
    fn every_cut_of_a_dense_layer_is_measured() {
        let description: NetworkDescription = "mlp:64-32-16-4".parse().unwrap();
        let graph = of_network(&description, 8).unwrap();
        let mut measured = Measured::new(&description, &graph, (2, 0), &Arc::from([0, 7]));
        measured.round();
        let times = measured.times();
        // The first layer has no sum to cut: whole, by samples, by outputs; the others one more.
        // Pipelines have micro-batches of 2 and 1 examples too.
        assert_eq!(times.len(), 3 + 4 + 4 + 3 * 2);
        assert!(times.values().all(|(forward, backward)| *forward > 0 && *backward > 0));
        assert!(times.contains_key(&(1, [1, 1, 2, 1, 1])), "{times:?}");
    }
}
