//! A network: layers between values, over one flat vector of parameters and one of gradients.
//!
//! `description.rs` says what a network consists of and `families.rs` which ones have short names;
//! `build.rs` makes the layers, `workspace.rs` runs the steps.

pub(crate) mod build;
pub(crate) mod description;
mod families;
pub(crate) mod gradient_sink;
pub(crate) mod initial_weights;
mod memory;
pub(crate) mod operator;
mod passes;
mod slots;
pub(crate) mod tensors;
pub(crate) mod workspace;

use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;

use crate::arithmetic::numbers::Numbers;
use crate::error::NetworksError;
use crate::layers::layer::{Layer, Rooms};
use crate::layers::normalised::fold;
use crate::losses::loss::{BatchScore, Loss};
use crate::network::description::{LayerDescription, NetworkDescription};
use crate::network::gradient_sink::{GradientVector, LearnedInto};
use crate::network::operator::Operator;
use crate::network::slots::{Lifetime, SlotPlan};
use crate::network::tensors::TensorInfo;
use crate::network::workspace::Workspace;
use crate::threads::team::Team;

/// The shape of a network; its parameters and state live in flat vectors outside.
///
/// ```
/// use trainwright_networks::{Batch, Learned, Network, NetworkDescription, StepOptions};
///
/// let network = Network::new(&"mlp:2-8-3".parse::<NetworkDescription>()?)?;
/// let (parameters, mut state) = (network.initial_parameters(7), network.initial_state());
/// let mut gradients = vec![0.0; network.parameter_count()];
/// let mut statistics = state.clone();
/// let mut workspace = network.workspace(2, 1)?;
/// let batch = Batch { inputs: &[0.0, 1.0, 1.0, 0.0], labels: &[0, 2] };
/// let options = StepOptions::default();
/// let learned = Learned { gradients: &mut gradients, statistics: &mut statistics };
/// let score = network.gradients(&parameters, &state, batch, options, learned, &mut workspace);
/// assert_eq!(score.examples, 2);
/// network.fold_statistics(&mut state, &statistics);
/// # Ok::<(), trainwright_networks::NetworksError>(())
/// ```
#[derive(Debug)]
pub struct Network {
    pub(crate) description: NetworkDescription,
    pub(crate) nodes: Vec<Node>,
    /// Numbers an example has in each value; value 0 is the network's input, and the last holds
    /// the logits.
    pub(crate) sizes: Vec<usize>,
    pub(crate) tensors: Vec<TensorInfo>,
    pub(crate) state_tensors: Vec<TensorInfo>,
    pub(crate) operators: Vec<Operator>,
    pub(crate) loss: Loss,
    /// Whether backward steps compute the gradients of the inputs too.
    pub(crate) input_gradients: bool,
}

/// A layer between values.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) layer: Box<dyn Layer>,
    pub(crate) input: usize,
    pub(crate) other: Option<usize>,
    pub(crate) output: usize,
    /// Its tensors, by their places among those of the network.
    pub(crate) tensors: std::ops::Range<usize>,
    pub(crate) frozen: bool,
}

/// Examples and their classes.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// One row an example.
    pub inputs: &'a [f32],
    /// The class of each example.
    pub labels: &'a [u32],
}

/// What may differ from step to step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StepOptions {
    /// Share of each label's weight that is spread over all classes (Szegedy et al. 2016,
    /// section 7), from 0 to below 1.
    pub label_smoothing: f32,
    /// Decides which neurons a dropout layer leaves out; must differ from step to step.
    pub dropout_seed: u64,
    /// Examples of the batch whose mean loss is learned from; `None` where it has no others than
    /// those given.
    pub of_examples: Option<usize>,
}

/// What a training step computes besides the score.
#[derive(Debug)]
pub struct Learned<'a> {
    /// Gradients of the loss, one a parameter.
    pub gradients: &'a mut [f32],
    /// What the examples say of each number of the state.
    pub statistics: &'a mut [f32],
}

impl Network {
    /// Length of the flat vectors of parameters and gradients.
    pub fn parameter_count(&self) -> usize {
        self.tensors.last().map_or(0, |tensor| tensor.range.end)
    }

    /// Length of the flat vector of state that steps change but gradients do not.
    pub fn state_count(&self) -> usize {
        self.state_tensors.last().map_or(0, |tensor| tensor.range.end)
    }

    /// The tensors of the parameters, in their order.
    pub fn tensors(&self) -> &[TensorInfo] {
        &self.tensors
    }

    /// The tensors of the state, in their order.
    pub fn state_tensors(&self) -> &[TensorInfo] {
        &self.state_tensors
    }

    /// What it consists of.
    pub fn description(&self) -> &NetworkDescription {
        &self.description
    }

    /// The name from its description.
    pub fn name(&self) -> &str {
        &self.description.name
    }

    /// What the network computes, operator by operator.
    pub fn operators(&self) -> &[Operator] {
        &self.operators
    }

    /// Dimensions of one example.
    pub fn input_shape(&self) -> &[usize] {
        &self.description.input
    }

    /// Rows of the table that the inputs are numbers of, where the network begins with one.
    pub fn input_rows(&self) -> Option<usize> {
        self.description.layers.iter().find_map(|named| match named.layer {
            LayerDescription::Embedding { rows, .. } => Some(rows),
            _ => None,
        })
    }

    /// Whether a network that begins with a table has a row for each of these inputs.
    ///
    /// # Errors
    /// The first input that is not the number of a row.
    pub fn check_inputs(&self, inputs: &[f32]) -> Result<(), NetworksError> {
        let Some(rows) = self.input_rows() else { return Ok(()) };
        let is_row = |input: f32| input >= 0.0 && input < rows as f32 && input.fract() == 0.0;
        match inputs.iter().find(|&&input| !is_row(input)) {
            Some(input) => Err(NetworksError::NoSuchRow { input: input.to_string(), rows }),
            None => Ok(()),
        }
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        self.loss.classes(self.outputs())
    }

    /// How many logits there are.
    pub(crate) fn outputs(&self) -> usize {
        *self.sizes.last().expect("a network has values")
    }

    /// Random parameters for a seed.
    pub fn initial_parameters(&self, seed: u64) -> Vec<f32> {
        self.initial(seed).0
    }

    /// State before the first step; it does not depend on chance.
    pub fn initial_state(&self) -> Vec<f32> {
        self.initial(0).1
    }

    fn initial(&self, seed: u64) -> (Vec<f32>, Vec<f32>) {
        let mut parameters = vec![0.0; self.parameter_count()];
        let mut state = vec![0.0; self.state_count()];
        let mut random = Pcg64::seed_from_u64(seed);
        for node in &self.nodes {
            node.layer.initialise(&mut parameters, &mut state, &mut random);
        }
        (parameters, state)
    }

    /// Stops the learning of the layers whose name starts with `prefix`, and tells how many they
    /// are. Their gradients become 0, and their batch norm uses its running statistics.
    ///
    /// # Errors
    /// When no layer has such a name.
    pub fn freeze(&mut self, prefix: &str) -> Result<usize, NetworksError> {
        let mut count = 0;
        for node in self.nodes.iter_mut().filter(|node| node.name.starts_with(prefix)) {
            node.frozen = true;
            count += 1;
            self.tensors[node.tensors.clone()].iter_mut().for_each(|it| it.trainable = false);
        }
        match count {
            0 => Err(NetworksError::NoSuchLayer {
                prefix: prefix.to_owned(),
                layers: self.nodes.iter().map(|node| node.name.clone()).collect(),
            }),
            _ => Ok(count),
        }
    }

    /// Buffers for batches of up to `capacity` examples, filled by `threads` threads.
    ///
    /// The thread count changes the time, not a bit of the results.
    ///
    /// # Errors
    /// When the system does not give that many threads.
    pub fn workspace(&self, capacity: usize, threads: usize) -> Result<Workspace, NetworksError> {
        let team = Team::new(threads)?;
        let (lifetimes, values, gradients, stashes) = self.lifetimes();
        let plan = SlotPlan::new(&lifetimes);
        let slot = |buffer: &usize| plan.slot_of[*buffer];
        Ok(Workspace {
            rooms: Rooms::new(team, self.nodes.iter().map(|node| node.layer.needs())),
            capacity,
            slots: plan.sizes.iter().map(|size| Numbers::zeros(size * capacity)).collect(),
            value_slots: values.iter().map(slot).collect(),
            gradient_slots: gradients.iter().map(|buffer| buffer.as_ref().map(slot)).collect(),
            stash_slots: stashes.iter().map(slot).collect(),
            fixed: self.nodes.iter().map(|node| Numbers::zeros(node.layer.needs().fixed)).collect(),
            scores: vec![BatchScore::default(); capacity],
            written: vec![false; self.sizes.len()],
        })
    }

    /// When each buffer of a step is needed, and which buffers hold values, gradients of values
    /// and what layers keep. The moments are the forward steps, then the backward steps.
    fn lifetimes(&self) -> (Vec<Lifetime>, Vec<usize>, Vec<Option<usize>>, Vec<usize>) {
        let count = self.nodes.len();
        let (loss, backward) = (count, |node: usize| 2 * count - node);
        let mut lifetimes = Vec::new();
        let mut add = |size, first, last| {
            lifetimes.push(Lifetime { size, first, last });
            lifetimes.len() - 1
        };
        let learns = self.values_that_learn();
        let (mut values, mut gradients) = (Vec::new(), Vec::new());
        for (value, &size) in self.sizes.iter().enumerate() {
            let producer = self.nodes.iter().position(|node| node.output == value);
            let first = producer.unwrap_or(0);
            let mut last = if value + 1 == self.sizes.len() { loss } else { first };
            let mut first_gradient = last;
            for (index, node) in self.nodes.iter().enumerate() {
                if node.input == value || node.other == Some(value) {
                    last = last.max(if node.layer.needs().input { backward(index) } else { index });
                    first_gradient = backward(index);
                }
            }
            if producer.is_some_and(|index| self.nodes[index].layer.needs().output) {
                last = last.max(backward(first));
            }
            // The network's input lies with the caller.
            values.push(add(if value == 0 { 0 } else { size }, first, last));
            let wanted = learns[value] || value + 1 == self.sizes.len();
            let end = producer.map_or(2 * count, backward);
            // The earliest moment is that of the last layer that reads the value.
            gradients.push(wanted.then(|| add(size, first_gradient.min(end), end)));
        }
        let stashes = self.nodes.iter().enumerate();
        let stashes =
            stashes.map(|(index, node)| add(node.layer.needs().stash, index, backward(index)));
        let stashes = stashes.collect();
        (lifetimes, values, gradients, stashes)
    }

    /// Whether any layer before each value learns, so that its gradients are needed.
    pub(crate) fn values_that_learn(&self) -> Vec<bool> {
        let mut learns = vec![false; self.sizes.len()];
        learns[0] = self.input_gradients;
        for node in &self.nodes {
            let own = !node.frozen && !node.tensors.is_empty();
            let before = learns[node.input] || node.other.is_some_and(|value| learns[value]);
            learns[node.output] = own || before;
        }
        learns
    }

    /// Scores a batch as the finished network would, with dropout off and running statistics.
    ///
    /// # Panics
    /// When the slices do not fit the shape, the workspace is too small or a label is no class.
    pub fn score(
        &self,
        parameters: &[f32],
        state: &[f32],
        batch: Batch<'_>,
        workspace: &mut Workspace,
    ) -> BatchScore {
        workspace.score(self, parameters, state, batch)
    }

    /// The probability of each class for each example of a batch, one row an example.
    ///
    /// # Panics
    /// When the slices do not fit the shape or the workspace is too small.
    pub fn probabilities<'w>(
        &self,
        parameters: &[f32],
        state: &[f32],
        inputs: &[f32],
        workspace: &'w mut Workspace,
    ) -> &'w [f32] {
        workspace.probabilities(self, parameters, state, inputs)
    }

    /// Scores a batch, or some examples of one, and writes what they teach; the state stays as it
    /// is until [`Self::fold_statistics`].
    ///
    /// The gradients of the parts of a batch add up to those of its mean loss.
    ///
    /// # Panics
    /// When the slices do not fit the shape, the workspace is too small or a label is no class.
    pub fn gradients(
        &self,
        parameters: &[f32],
        state: &[f32],
        batch: Batch<'_>,
        options: StepOptions,
        learned: Learned<'_>,
        workspace: &mut Workspace,
    ) -> BatchScore {
        let Learned { gradients, statistics } = learned;
        let learned = LearnedInto { gradients: &mut GradientVector(gradients), statistics };
        self.gradients_into(parameters, state, batch, options, learned, workspace)
    }

    /// The same into a sink that hears which gradients are final while others are computed.
    ///
    /// # Panics
    /// As for [`Self::gradients`].
    pub fn gradients_into(
        &self,
        parameters: &[f32],
        state: &[f32],
        batch: Batch<'_>,
        options: StepOptions,
        learned: LearnedInto<'_>,
        workspace: &mut Workspace,
    ) -> BatchScore {
        workspace.learn(self, parameters, state, batch, options, learned)
    }

    /// Takes the statistics of some examples into the state.
    pub fn fold_statistics(&self, state: &mut [f32], statistics: &[f32]) {
        fold(state, statistics);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> Network {
        Network::new(&NetworkDescription::from_toml(text).unwrap()).unwrap()
    }

    /// Two dense layers and a sum of the first with itself after a rectifier.
    fn residual() -> Network {
        network(
            "name = \"r\"\ninput = [3]\n[[layer]]\nkind = \"dense\"\nname = \"one\"\noutputs = 4\n\
             [[layer]]\nkind = \"relu\"\n[[layer]]\nkind = \"add\"\nwith = \"one\"\n[[layer]]\n\
             kind = \"dense\"\nname = \"two\"\noutputs = 2\n",
        )
    }

    #[test]
    fn a_frozen_layer_needs_no_gradients_before_it() {
        let mut own = residual();
        assert_eq!(own.values_that_learn(), [false, true, true, true, true]);
        assert_eq!(own.freeze("one").unwrap(), 1);
        assert_eq!(own.values_that_learn(), [false, false, false, false, true]);
        let frozen: Vec<bool> = own.tensors().iter().map(|tensor| !tensor.trainable).collect();
        assert_eq!(frozen, [true, true, false, false]);
    }

    #[test]
    fn freezing_what_is_not_there_names_what_is() {
        let error = residual().freeze("three").unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("no layer's name starts with `three`; the layers are one, "),
            "{error}"
        );
    }

    #[test]
    fn a_value_that_a_later_sum_reads_keeps_its_memory_until_then() {
        let own = residual();
        let (lifetimes, values, ..) = own.lifetimes();
        // Value 1 is the output of `one`, which the sum (node 2) reads.
        assert!(lifetimes[values[1]].last >= 2);
        assert_eq!(lifetimes[values[0]].size, 0, "the input lies with the caller");
    }

    #[test]
    fn a_seed_decides_parameters_and_nothing_of_the_state() {
        let own = network(
            "name = \"c\"\ninput = [4, 4, 1]\n[[layer]]\nkind = \"convolution\"\nfilters = 2\nkernel = 3\n\
             batch_norm = true\n[[layer]]\nkind = \"flatten\"\n[[layer]]\nkind = \"dense\"\noutputs = 2\n",
        );
        assert_eq!(own.initial_parameters(1), own.initial_parameters(1));
        assert_ne!(own.initial_parameters(1), own.initial_parameters(2));
        assert_eq!(own.initial_state(), [0.0, 0.0, 1.0, 1.0]);
    }

    #[test]
    fn probabilities_are_shares_of_one_for_every_example() {
        let own = residual();
        let parameters = own.initial_parameters(4);
        let mut workspace = own.workspace(3, 1).unwrap();
        let inputs = [1.0, 2.0, 3.0, -1.0, 0.0, 1.0, 50.0, -50.0, 9.0];
        let rows = own.probabilities(&parameters, &[], &inputs, &mut workspace);
        assert_eq!(rows.len(), 6);
        for row in rows.chunks(2) {
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-6 && row.iter().all(|p| *p >= 0.0));
        }
    }

    #[test]
    #[should_panic(expected = "4 examples do not fit the workspace")]
    fn more_examples_than_there_is_room_for_are_refused() {
        let own = residual();
        let mut workspace = own.workspace(3, 1).unwrap();
        own.probabilities(&own.initial_parameters(4), &[], &[0.0; 12], &mut workspace);
    }

    #[test]
    #[should_panic(expected = "the network's own parameters")]
    fn parameters_of_another_network_are_refused() {
        let own = residual();
        let mut workspace = own.workspace(1, 1).unwrap();
        own.probabilities(&[0.0; 3], &[], &[0.0; 3], &mut workspace);
    }
}
