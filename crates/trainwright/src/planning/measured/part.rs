//! A part of a layer, and what a device needs to run it.

use std::sync::Arc;
use std::time::Instant;

use trainwright_networks::{
    LayerDescription, NamedLayer, Network, NetworkDescription, Numbers, Optimizer, Team, Workspace,
    scale_rows,
};
use trainwright_study::Seed;

use crate::planning::updates::optimizer;

/// Bytes of a number.
const NUMBER: u64 = 4;

/// Examples of a part, and into how many examples, outputs and inputs are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) examples: usize,
    pub(super) shares: usize,
    pub(super) outputs: usize,
    pub(super) inputs: usize,
}

/// What a part reads. Products with 0 are left out in training where many numbers are 0, so that
/// as many must be here.
#[derive(Debug, Clone)]
pub(super) enum Inputs {
    /// Pixels of pictures, taken over and over.
    Pictures(Arc<[u8]>),
    /// What a ReLU left: half of the numbers, without a pattern.
    Rectified,
    /// Numbers that are not 0.
    Full,
}

/// A part of a layer as a network.
pub(super) struct Part {
    network: Network,
    inputs: Inputs,
    cut: Cut,
}

impl Part {
    /// The part of a layer that reads examples of a shape; none where the layer cannot be cut so.
    pub(super) fn new(
        layer: &LayerDescription,
        (input, inputs): (&[usize], Inputs),
        cut: Cut,
    ) -> Option<Self> {
        let (mut layer, mut input) = (layer.clone(), input.to_vec());
        match &mut layer {
            _ if cut.examples == 0 => return None,
            LayerDescription::Dense { outputs, .. } => {
                *outputs /= cut.outputs;
                input = vec![input.iter().product::<usize>() / cut.inputs];
            }
            LayerDescription::Lstm { bidirectional, .. } if *bidirectional && cut.outputs == 2 => {
                *bidirectional = false;
            }
            LayerDescription::Add { .. } => return None,
            _ if cut.outputs * cut.inputs > 1 => return None,
            _ => {}
        }
        let named = |name: &str, layer| NamedLayer { name: Some(name.to_owned()), layer };
        let layers = vec![named("part", layer), named("end", LayerDescription::Flatten)];
        let (name, loss) = ("part".to_owned(), Default::default());
        let mut network = Network::new(&NetworkDescription { name, input, loss, layers }).ok()?;
        if network.state_count() > 0 {
            return None;
        }
        if !matches!(inputs, Inputs::Pictures(_)) {
            network.want_input_gradients();
        }
        Some(Self { network, inputs, cut })
    }

    pub(super) fn cut(&self) -> Cut {
        self.cut
    }

    /// How many parameters it has.
    pub(super) fn parameters(&self) -> u64 {
        self.network.parameter_count() as u64
    }

    /// Bytes that a step of it goes through.
    pub(super) fn bytes(&self, optimizer_slots: u8) -> u64 {
        let numbers =
            self.network.input_shape().iter().product::<usize>() + self.network.output_count();
        let numbers = (self.cut.examples * numbers) as u64;
        let kept = self.parameters() * (2 + u64::from(optimizer_slots));
        self.network.workspace_bytes(self.cut.examples, 1) + NUMBER * (numbers + kept)
    }

    /// The part with the buffers of one device; none where there is no memory for them.
    pub(super) fn ready(&self, optimizer_slots: u8) -> Option<ReadyPart<'_>> {
        let initial = self.network.initial_parameters(1);
        let mut parameters = Numbers::zeros(initial.len());
        parameters.copy_from_slice(&initial);
        Some(ReadyPart {
            part: self,
            parameters,
            gradients: Numbers::zeros(initial.len()),
            optimizer: optimizer(initial.len(), optimizer_slots),
            space: self.network.workspace(self.cut.examples, 1).ok()?,
            gathering: self.gathering(),
            slopes: vec![0.01; self.cut.examples * self.network.output_count()],
            handed: Vec::new(),
        })
    }

    fn gathering(&self) -> Gathering {
        let width: usize = self.network.input_shape().iter().product();
        let count = self.cut.examples * width;
        let rows = self.network.input_rows();
        let arriving: Vec<f32> = match (&self.inputs, rows) {
            (_, Some(rows)) => (0..count).map(|at| (at % rows.max(1)) as f32).collect(),
            (Inputs::Rectified, _) => {
                Seed::new(1).shuffled((0..count).map(|at| 0.5 * (at % 2) as f32).collect())
            }
            _ => vec![0.5; count],
        };
        let bytes: Vec<u8> = match &self.inputs {
            Inputs::Pictures(pixels) if rows.is_none() => {
                pixels.iter().copied().cycle().take(count).collect()
            }
            _ => Vec::new(),
        };
        let batch = Numbers::zeros(bytes.len());
        Gathering { width, bytes, batch, inputs: arriving.clone(), arriving }
    }

    fn is_cut(&self) -> bool {
        self.cut.outputs * self.cut.inputs > 1
    }
}

/// A part with the buffers of one device.
pub(super) struct ReadyPart<'p> {
    part: &'p Part,
    parameters: Numbers,
    gradients: Numbers,
    optimizer: Box<dyn Optimizer>,
    space: Workspace,
    gathering: Gathering,
    slopes: Vec<f32>,
    handed: Vec<f32>,
}

impl ReadyPart<'_> {
    /// Nanoseconds of a forward pass. The first layer gathers its examples in it; a layer that is
    /// cut hands its numbers over in buffers of their own.
    pub(super) fn forward(&mut self) -> u64 {
        let Self { part, parameters, space, gathering, handed, .. } = self;
        gathering.arrive();
        let started = Instant::now();
        gathering.gather(space.team());
        let outputs = part.network.forward(parameters, &gathering.inputs, space);
        hand_over(part, outputs, handed);
        started.elapsed().as_nanos() as u64
    }

    /// The same backward.
    pub(super) fn backward(&mut self) -> u64 {
        let Self { part, parameters, gradients, space, gathering, slopes, handed, .. } = self;
        // The layer after this one has just written them.
        slopes.fill(0.01);
        let started = Instant::now();
        let values = (&gathering.inputs[..], &slopes[..]);
        let back = part.network.backward(parameters, values, gradients, space);
        hand_over(part, back, handed);
        started.elapsed().as_nanos() as u64
    }

    /// Updates the parameters by so little that they stay as they are.
    pub(super) fn update(&mut self) {
        let Self { parameters, gradients, optimizer, space, .. } = self;
        optimizer.step(parameters, gradients, 1e-12, space.team());
    }
}

fn hand_over(part: &Part, values: &[f32], into: &mut Vec<f32>) {
    if part.is_cut() {
        into.clear();
        into.extend_from_slice(values);
    }
}

/// Examples of a part on their way from the pictures, or from the layer before.
struct Gathering {
    width: usize,
    /// Pixels; none where the part reads another.
    bytes: Vec<u8>,
    batch: Numbers,
    inputs: Vec<f32>,
    /// What the layer before writes.
    arriving: Vec<f32>,
}

impl Gathering {
    /// What the layer before has just written.
    fn arrive(&mut self) {
        if self.bytes.is_empty() {
            self.inputs.copy_from_slice(&self.arriving);
        }
    }

    fn gather(&mut self, team: &mut Team) {
        if !self.bytes.is_empty() {
            let rows: Vec<&[u8]> = self.bytes.chunks_exact(self.width).collect();
            scale_rows(&rows, 1.0 / 255.0, &mut self.batch, team);
            self.inputs.copy_from_slice(&self.batch);
        }
    }
}
