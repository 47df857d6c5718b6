//! Layers that a rank computes at one go, with its pieces of their parameters.

use trainwright_networks::{
    Activation, LayerDescription, NamedLayer, Network, NetworkDescription, Numbers, Returns,
    TensorInfo, Workspace,
};
use trainwright_study::{Cut, CutLayer, JobSpec};

use super::circle::share;
use super::refused;
use super::wire::Wire;
use crate::error::TrainError;
use crate::learners::dense::updater::Updater;

/// How a segment's layer is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SegmentCut {
    /// Not at all.
    Whole,
    /// By outputs.
    Outputs,
    /// By inputs: outputs are partial sums.
    Inputs,
    /// A memory of two directions: one each.
    Directions,
    /// By examples.
    Samples,
}

impl SegmentCut {
    /// Whether each rank has some columns of the outputs.
    pub(super) fn gives_columns(self) -> bool {
        matches!(self, Self::Outputs | Self::Directions)
    }
}

/// Some layers one after another.
pub(super) struct Segment {
    pub(super) cut: SegmentCut,
    pub(super) network: Network,
    pub(super) parameters: Numbers,
    pub(super) gradients: Numbers,
    pub(super) updater: Updater,
    pub(super) workspaces: Vec<Workspace>,
    /// Inputs of the examples in each workspace.
    pub(super) inputs: Vec<Vec<f32>>,
    /// Numbers of an example's whole input and output.
    pub(super) widths: (usize, usize),
    /// Steps and numbers of a step, where the input is read backwards.
    pub(super) reversed: Option<(usize, usize)>,
    place: (usize, usize),
}

/// Layers before they are built.
pub(super) struct SegmentPlan {
    pub(super) cut: SegmentCut,
    layers: Vec<NamedLayer>,
    input: Vec<usize>,
    /// Numbers of an example's whole input and output.
    pub(super) widths: (usize, usize),
}

/// Place of a rank among those that share a layer, how many examples it has at once, and how often.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    pub(super) place: usize,
    pub(super) places: usize,
    pub(super) examples: usize,
    pub(super) workspaces: usize,
}

/// Layers of a network in their order, cut as asked for; a layer of `begins` begins a segment.
///
/// # Errors
/// When a layer is not there or cannot be cut so.
pub(super) fn plan(
    network: &Network,
    cuts: &[CutLayer],
    places: usize,
    begins: &[String],
) -> Result<Vec<SegmentPlan>, TrainError> {
    let description = network.description();
    let drops = |named: &NamedLayer| matches!(named.layer, LayerDescription::Dropout { .. });
    if description.layers.iter().any(drops) {
        return Err(refused("dropout cannot be split over ranks yet"));
    }
    let name = |at: usize, named: &NamedLayer| named.name.clone().unwrap_or_else(|| at.to_string());
    let mut found: Vec<SegmentPlan> = Vec::new();
    let mut shape = description.input.clone();
    let mut known = 0;
    for (at, named) in description.layers.iter().enumerate() {
        let name = name(at, named);
        let before = shape.clone();
        match network.operators().iter().find(|operator| operator.name == name) {
            Some(operator) => shape = operator.output_shape.clone(),
            None if matches!(named.layer, LayerDescription::Flatten) => {
                shape = vec![shape.iter().product()];
            }
            None => {}
        }
        let layer = NamedLayer { name: Some(name.clone()), layer: named.layer.clone() };
        let width = |shape: &[usize]| shape.iter().product::<usize>();
        let widths = (width(&before), width(&shape));
        let cut = cuts.iter().find(|own| own.name == name).map(|own| own.cut);
        known += usize::from(cut.is_some());
        let last = found.last_mut().filter(|_| !begins.contains(&name));
        let joins = last.as_ref().is_some_and(|last| last.is_joined_by(&layer.layer, cut));
        match (last, cut.filter(|_| places > 1)) {
            (Some(last), _) if joins => {
                last.layers.push(layer);
                last.widths.1 = widths.1;
            }
            (_, Some(cut)) if cut == Cut::Samples || !is_by_number(&layer.layer) => {
                found.extend(cut_layer(layer, cut, (before, widths), places)?);
            }
            _ => {
                let cut = SegmentCut::Whole;
                found.push(SegmentPlan { cut, layers: vec![layer], input: before, widths });
            }
        }
    }
    if known < cuts.len() {
        return Err(refused("it cuts a layer that the network does not have"));
    }
    // What only changes the shape computes nothing.
    found.retain(|own| {
        !own.layers.iter().all(|named| matches!(named.layer, LayerDescription::Flatten))
    });
    Ok(found)
}

/// Whether a layer computes number by number: it is cut as what comes before it.
fn is_by_number(layer: &LayerDescription) -> bool {
    matches!(layer, LayerDescription::Relu | LayerDescription::Relu6)
}

impl SegmentPlan {
    /// Whether a layer that comes next is computed at the same go.
    fn is_joined_by(&self, layer: &LayerDescription, cut: Option<Cut>) -> bool {
        match self.cut {
            SegmentCut::Whole => cut.is_none(),
            SegmentCut::Samples => {
                cut == Some(Cut::Samples) || matches!(layer, LayerDescription::Flatten)
            }
            SegmentCut::Outputs | SegmentCut::Directions => is_by_number(layer),
            SegmentCut::Inputs => false,
        }
    }
}

fn cut_layer(
    named: NamedLayer,
    cut: Cut,
    (input, widths): (Vec<usize>, (usize, usize)),
    places: usize,
) -> Result<Vec<SegmentPlan>, TrainError> {
    let name = named.name.clone().unwrap_or_default();
    let one = |cut, layer: NamedLayer| SegmentPlan {
        cut,
        layers: vec![layer],
        input: input.clone(),
        widths,
    };
    let few = match cut {
        Cut::Outputs => (widths.1 < places).then_some((widths.1, "outputs")),
        Cut::Inputs => (widths.0 < places).then_some((widths.0, "inputs")),
        Cut::Samples => None,
    };
    if let Some((count, what)) = few {
        return Err(refused(format!(
            "layer `{name}` has {count} {what}, too few to be cut over {places} ranks"
        )));
    }
    match (&named.layer, cut) {
        (_, Cut::Samples) => Ok(vec![one(SegmentCut::Samples, named)]),
        (LayerDescription::Dense { .. }, Cut::Outputs) => Ok(vec![one(SegmentCut::Outputs, named)]),
        (&LayerDescription::Dense { outputs, activation }, Cut::Inputs) => {
            let linear = LayerDescription::Dense { outputs, activation: Activation::Linear };
            let mut found = vec![one(
                SegmentCut::Inputs,
                NamedLayer { name: Some(name.clone()), layer: linear },
            )];
            let after = match activation {
                Activation::Linear => None,
                Activation::Relu => Some(LayerDescription::Relu),
                Activation::Relu6 => Some(LayerDescription::Relu6),
            };
            found.extend(after.map(|layer| SegmentPlan {
                cut: SegmentCut::Whole,
                layers: vec![NamedLayer { name: Some(format!("{name}.activation")), layer }],
                input: vec![outputs],
                widths: (outputs, outputs),
            }));
            Ok(found)
        }
        (
            LayerDescription::Lstm { bidirectional: true, returns: Returns::Last, .. },
            Cut::Outputs,
        ) if places == 2 => Ok(vec![one(SegmentCut::Directions, named)]),
        _ => Err(refused(format!(
            "layer `{name}` cannot be cut so: dense layers are cut by outputs or inputs, memories of \
             two directions by outputs in two"
        ))),
    }
}

impl SegmentPlan {
    /// The segment on a rank.
    ///
    /// # Errors
    /// When its part of the layers cannot be built.
    pub(super) fn build(
        &self,
        job: &JobSpec,
        room: Room,
        is_first: bool,
    ) -> Result<Segment, TrainError> {
        let Room { place, places, workspaces, .. } = room;
        let (network, reversed) = self.network(room, is_first)?;
        let count = network.parameter_count();
        // Micro-batches that wait need buffers, not threads of their own.
        let threads = if workspaces == 1 { job.threads as usize } else { 1 };
        let examples = self.examples_of(room);
        let spaces = (0..workspaces).map(|_| network.workspace(examples, threads));
        Ok(Segment {
            cut: self.cut,
            parameters: Numbers::zeros(count),
            gradients: Numbers::zeros(count),
            updater: Updater::new(job, network.tensors(), 0..count),
            workspaces: spaces.collect::<Result<_, _>>()?,
            inputs: vec![Vec::new(); workspaces],
            widths: self.widths,
            reversed,
            network,
            place: (place, places),
        })
    }

    /// Examples that a rank has at once.
    pub(super) fn examples_of(&self, room: Room) -> usize {
        match self.cut {
            SegmentCut::Samples => room.examples.div_ceil(room.places).max(1),
            _ => room.examples,
        }
    }

    /// A rank's part of the layers as a network; steps and numbers of a step where the input is read
    /// backwards.
    pub(super) fn network(
        &self,
        Room { place, places, .. }: Room,
        is_first: bool,
    ) -> Result<(Network, Option<(usize, usize)>), TrainError> {
        let mut input = self.input.clone();
        let mut layers = self.layers.clone();
        let mut reversed = None;
        match (self.cut, &mut layers[0].layer) {
            (SegmentCut::Outputs, LayerDescription::Dense { outputs, .. }) => {
                *outputs = share(*outputs, places, place).len();
            }
            (SegmentCut::Inputs, _) => input = vec![share(self.widths.0, places, place).len()],
            (SegmentCut::Directions, LayerDescription::Lstm { bidirectional, .. }) => {
                *bidirectional = false;
                reversed = (place == 1).then(|| (input[0], input[1..].iter().product()));
            }
            _ => {}
        }
        // A network ends with one dimension.
        layers.push(NamedLayer { name: Some("end".into()), layer: LayerDescription::Flatten });
        let description =
            NetworkDescription { name: "segment".into(), input, loss: Default::default(), layers };
        let mut network = Network::new(&description)?;
        if network.state_count() > 0 {
            return Err(refused("batch norm cannot be split over ranks yet"));
        }
        if !is_first {
            network.want_input_gradients();
        }
        Ok((network, reversed))
    }
}

/// Which numbers of the whole vector a segment's parameters are, one after another.
pub(super) type Places = Vec<u32>;

/// Where another rank has the number and this one a zero in its place.
pub(super) const ELSEWHERE: u32 = u32::MAX;

impl Segment {
    /// Where the segment's parameters lie in the whole network's.
    pub(super) fn places_in(&self, whole: &Network) -> Places {
        let mut places = Vec::with_capacity(self.parameters.len());
        for own in self.network.tensors() {
            let name = match self.reversed {
                Some(_) => format!("{}_reverse", own.name),
                None => own.name.clone(),
            };
            let full = whole.tensors().iter().find(|tensor| tensor.name == name);
            let full = full.expect("a segment has layers of the network");
            self.tensor_places(own, full, &mut places);
        }
        places
    }

    fn tensor_places(&self, own: &TensorInfo, full: &TensorInfo, places: &mut Places) {
        let (place, count) = self.place;
        let start = full.range.start;
        match self.cut {
            SegmentCut::Outputs => {
                let width = *full.shape.last().expect("a tensor has dimensions");
                let columns = share(width, count, place);
                for row in 0..full.range.len() / width {
                    let first = start + row * width;
                    places.extend(columns.clone().map(|column| (first + column) as u32));
                }
            }
            SegmentCut::Inputs if full.shape.len() > 1 => {
                let (rows, width) = (full.shape[0], full.shape[1]);
                let rows = share(rows, count, place);
                let range = start + rows.start * width..start + rows.end * width;
                places.extend(range.map(|place| place as u32));
            }
            // The bias is added once.
            SegmentCut::Inputs if place > 0 => places.extend(own.range.clone().map(|_| ELSEWHERE)),
            _ => places.extend(full.range.clone().map(|place| place as u32)),
        }
    }

    /// Takes its parameters out of the whole network's.
    pub(super) fn take(&mut self, whole: &Network, parameters: &[f32]) {
        let places = self.places_in(whole);
        for (own, place) in self.parameters.iter_mut().zip(places) {
            *own = if place == ELSEWHERE { 0.0 } else { parameters[place as usize] };
        }
    }

    /// The outputs for some inputs.
    pub(super) fn forward(
        &mut self,
        workspace: usize,
        input: Vec<f32>,
        wire: &mut Wire,
    ) -> Vec<f32> {
        let Self { network, parameters, workspaces, inputs, reversed, .. } = self;
        // A rank may have none of a short batch's examples.
        if input.is_empty() {
            return input;
        }
        inputs[workspace] = match reversed {
            Some(steps) => {
                let turned = backwards(&input, *steps, wire);
                wire.give_back(input);
                turned
            }
            None => input,
        };
        let space = &mut workspaces[workspace];
        wire.copy_of(network.forward(parameters, &inputs[workspace], space))
    }

    /// Gradients of the parameters into `gradients`, and those of the inputs.
    pub(super) fn backward(
        &mut self,
        workspace: usize,
        output_gradients: &[f32],
        gradients: &mut [f32],
        wire: &mut Wire,
    ) -> Vec<f32> {
        let Self { network, parameters, workspaces, inputs, reversed, .. } = self;
        if output_gradients.is_empty() {
            gradients.fill(0.0);
            return Vec::new();
        }
        let values = (&inputs[workspace][..], output_gradients);
        let found = network.backward(parameters, values, gradients, &mut workspaces[workspace]);
        let back = match reversed {
            Some(steps) => backwards(found, *steps, wire),
            None => wire.copy_of(found),
        };
        wire.give_back(std::mem::take(&mut inputs[workspace]));
        back
    }

    /// Makes a step with its gradients.
    pub(super) fn update(&mut self, rate: f64, norm: Option<f64>) {
        let Self { updater, parameters, gradients, workspaces, .. } = self;
        updater.update(parameters, gradients, (rate, norm), workspaces[0].team());
    }

    /// Forgets gradients of what another rank of the row has.
    pub(super) fn clear_foreign(&mut self) {
        let Self { gradients, network, cut, place, .. } = self;
        if *cut == SegmentCut::Inputs && place.0 > 0 {
            let biases = network.tensors().iter().filter(|tensor| tensor.shape.len() == 1);
            biases.for_each(|tensor| gradients[tensor.range.clone()].fill(0.0));
        }
    }

    /// The squared length of its gradients; of what all ranks of a row have, the first counts it.
    pub(super) fn squared(&mut self) -> f64 {
        if matches!(self.cut, SegmentCut::Whole | SegmentCut::Samples) && self.place.0 > 0 {
            return 0.0;
        }
        let Self { updater, gradients, workspaces, .. } = self;
        updater.squares(gradients, workspaces[0].team()).iter().sum()
    }

    /// Memory in bytes of parameters, gradients, the optimiser's numbers, buffers and inputs.
    pub(super) fn bytes(&mut self) -> usize {
        let slots = self.updater.optimizer().memory().slots;
        let numbers = self.parameters.len()
            + self.gradients.len()
            + slots.iter().map(|(_, values)| values.len()).sum::<usize>()
            + self.inputs.iter().map(Vec::len).sum::<usize>();
        let buffers = self.workspaces.iter().map(Workspace::bytes).sum::<usize>();
        numbers * size_of::<f32>() + buffers
    }
}

/// Rows of each example in the opposite order.
fn backwards(values: &[f32], (steps, width): (usize, usize), wire: &mut Wire) -> Vec<f32> {
    let mut turned = wire.buffer(values.len());
    let examples = values.chunks_exact(steps * width);
    let rows = examples.flat_map(|own| own.chunks_exact(width).rev());
    turned.chunks_exact_mut(width).zip(rows).for_each(|(into, row)| into.copy_from_slice(row));
    turned
}
