//! The memory and threads of a network's steps, and the steps themselves.

use crate::arithmetic::matrix::Writing;
use crate::arithmetic::numbers::Numbers;
use crate::layers::layer::{Backward, Forward, Gradients, Mode, Rooms};
use crate::losses::loss::BatchScore;
use crate::network::gradient_sink::{GradientSink, LearnedInto};
use crate::network::{Batch, Network, Node, StepOptions};
use crate::threads::parts::{Cut, Parts};
use crate::threads::team::Team;

/// Buffers for batches up to a size, so that steps do not allocate theirs, and the threads that
/// fill them.
///
/// It belongs to the network that made it, as frozen as it was then.
#[derive(Debug)]
pub struct Workspace {
    pub(crate) rooms: Rooms,
    pub(crate) capacity: usize,
    pub(crate) slots: Vec<Numbers>,
    pub(crate) value_slots: Vec<usize>,
    pub(crate) gradient_slots: Vec<Option<usize>>,
    pub(crate) stash_slots: Vec<usize>,
    pub(crate) fixed: Vec<Numbers>,
    pub(crate) scores: Vec<BatchScore>,
    /// Whether the gradients of each value have been written in this step.
    pub(crate) written: Vec<bool>,
}

/// What all layers of a step share.
struct Step<'a> {
    network: &'a Network,
    parameters: &'a [f32],
    inputs: &'a [f32],
    examples: usize,
    mode: Mode,
}

impl Workspace {
    /// The threads, for what else there is to do in a step.
    pub fn team(&mut self) -> &mut Team {
        &mut self.rooms.team
    }

    /// Memory of the buffers, in bytes.
    pub fn bytes(&self) -> usize {
        let numbers: usize = self.slots.iter().chain(&self.fixed).map(|it| it.len()).sum();
        (numbers + self.rooms.numbers()) * size_of::<f32>()
    }

    pub(crate) fn score(
        &mut self,
        network: &Network,
        parameters: &[f32],
        state: &[f32],
        batch: Batch<'_>,
    ) -> BatchScore {
        let examples = batch.labels.len();
        let step = Step { network, parameters, inputs: batch.inputs, examples, mode: Mode::Score };
        self.forward(&step, state, None);
        self.losses(&step, batch.labels, None)
    }

    pub(crate) fn probabilities(
        &mut self,
        network: &Network,
        parameters: &[f32],
        state: &[f32],
        inputs: &[f32],
    ) -> &[f32] {
        let examples = inputs.len() / network.sizes[0];
        let step = Step { network, parameters, inputs, examples, mode: Mode::Score };
        self.forward(&step, state, None);
        let last = network.sizes.len() - 1;
        let slot = self.value_slots[last];
        let logits = &mut self.slots[slot][..examples * network.sizes[last]];
        network.loss.probabilities(logits, network.sizes[last]);
        logits
    }

    pub(crate) fn learn(
        &mut self,
        network: &Network,
        parameters: &[f32],
        state: &[f32],
        batch: Batch<'_>,
        options: StepOptions,
        learned: LearnedInto<'_>,
    ) -> BatchScore {
        let LearnedInto { gradients, statistics } = learned;
        assert_eq!(gradients.open().len(), network.parameter_count(), "one gradient a parameter");
        let examples = batch.labels.len();
        let mode = Mode::Train { seed: options.dropout_seed };
        let step = Step { network, parameters, inputs: batch.inputs, examples, mode };
        // What no layer tells of, as those that are frozen, stays as it is.
        statistics.copy_from_slice(state);
        self.forward(&step, state, Some(statistics));
        let score = self.losses(&step, batch.labels, Some(options));
        self.backward(&step, gradients);
        score
    }

    pub(crate) fn forward_pass(
        &mut self,
        network: &Network,
        parameters: &[f32],
        inputs: &[f32],
    ) -> &[f32] {
        let examples = inputs.len() / network.sizes[0];
        let mode = Mode::Train { seed: 0 };
        let step = Step { network, parameters, inputs, examples, mode };
        self.forward(&step, &[], Some(&mut []));
        let last = network.sizes.len() - 1;
        &self.slots[self.value_slots[last]][..examples * network.sizes[last]]
    }

    pub(crate) fn backward_pass(
        &mut self,
        network: &Network,
        parameters: &[f32],
        (inputs, output_gradients): (&[f32], &[f32]),
        gradients: &mut dyn GradientSink,
    ) -> &[f32] {
        let examples = inputs.len() / network.sizes[0];
        let mode = Mode::Train { seed: 0 };
        let step = Step { network, parameters, inputs, examples, mode };
        let last = network.sizes.len() - 1;
        let slot = self.gradient_slots[last].expect("the outputs have gradients");
        let length = examples * network.sizes[last];
        self.slots[slot][..length].copy_from_slice(output_gradients);
        self.backward(&step, gradients);
        match self.gradient_slots[0] {
            Some(slot) => &self.slots[slot][..examples * network.sizes[0]],
            None => &[],
        }
    }

    fn forward(&mut self, step: &Step<'_>, state: &[f32], mut statistics: Option<&mut [f32]>) {
        let Step { network, parameters, inputs, examples, mode } = *step;
        assert_eq!(parameters.len(), network.parameter_count(), "the network's own parameters");
        assert_eq!(state.len(), network.state_count(), "the network's own state");
        let fits = examples > 0 && examples <= self.capacity;
        assert!(fits, "{examples} examples do not fit the workspace");
        assert_eq!(inputs.len(), examples * network.sizes[0], "one row of inputs an example");
        for (index, node) in network.nodes.iter().enumerate() {
            let mut output = self.take(self.value_slots[node.output]);
            let mut stash = self.take(self.stash_slots[index]);
            let value = |value: usize| match value {
                0 => inputs,
                _ => &self.slots[self.value_slots[value]][..examples * network.sizes[value]],
            };
            node.layer.forward(Forward {
                parameters,
                input: value(node.input),
                other: node.other.map(value),
                output: &mut output[..examples * network.sizes[node.output]],
                stash: &mut stash[..examples * node.layer.needs().stash],
                fixed: &mut self.fixed[index],
                examples,
                mode: mode_of(node, mode),
                state,
                statistics: statistics.as_deref_mut(),
                rooms: &mut self.rooms,
            });
            self.slots[self.value_slots[node.output]] = output;
            self.slots[self.stash_slots[index]] = stash;
        }
    }

    /// Scores the logits and, while learning, writes their gradients.
    fn losses(
        &mut self,
        step: &Step<'_>,
        labels: &[u32],
        learning: Option<StepOptions>,
    ) -> BatchScore {
        let Step { network, examples, .. } = *step;
        let last = network.sizes.len() - 1;
        let classes = network.sizes[last];
        let gradient_slot = self.gradient_slots[last].expect("the logits have gradients");
        let mut gradients = self.take(gradient_slot);
        let logits = &self.slots[self.value_slots[last]][..examples * classes];
        let stretch = examples.div_ceil(4).max(1280_usize.div_ceil(classes));
        let count = examples.div_ceil(stretch);
        let scores = Parts::new(&mut self.scores[..count], Cut::Every(1));
        let rows = Parts::new(&mut gradients[..examples * classes], Cut::Every(stretch * classes));
        self.rooms.team.run(count, &|part| {
            let range = part * stretch..examples.min((part + 1) * stretch);
            let (labels, own) = (&labels[range.clone()], rows.take(part));
            own.copy_from_slice(&logits[range.start * classes..range.end * classes]);
            scores.take(part)[0] = match learning {
                Some(StepOptions { label_smoothing, of_examples, .. }) => {
                    let of = of_examples.unwrap_or(examples);
                    network.loss.learn(own, labels, of, label_smoothing)
                }
                None => network.loss.score(own, labels),
            };
        });
        let mut total = BatchScore::default();
        self.scores[..count].iter().for_each(|&score| total.add(score));
        self.slots[gradient_slot] = gradients;
        total
    }

    fn backward(&mut self, step: &Step<'_>, gradients: &mut dyn GradientSink) {
        let network = step.network;
        self.written.fill(false);
        self.written[network.sizes.len() - 1] = true;
        for (index, node) in network.nodes.iter().enumerate().rev() {
            if node.frozen {
                for tensor in &network.tensors[node.tensors.clone()] {
                    gradients.open()[tensor.range.clone()].fill(0.0);
                }
            }
            // Where nothing before a value learns, nobody wrote its gradients.
            if self.written[node.output] {
                self.backward_node(step, index, gradients.open());
            }
            // Tensors lie in the order of layers.
            if let Some(first) = network.tensors[node.tensors.clone()].first() {
                gradients.final_from(first.range.start);
            }
        }
    }

    fn backward_node(&mut self, step: &Step<'_>, index: usize, gradients: &mut [f32]) {
        let Step { network, parameters, inputs, examples, mode } = *step;
        let node = &network.nodes[index];
        let (needs, length) = (node.layer.needs(), |value: usize| examples * network.sizes[value]);
        let output_slot = self.gradient_slots[node.output].expect("its gradients are written");
        let mut output_gradients = self.take(output_slot);
        let mut stash = self.take(self.stash_slots[index]);
        let mut at_input = self.take_target(Some(node.input));
        let mut at_other = self.take_target(node.other);
        let kept = |value: usize, is_kept: bool| match value {
            _ if !is_kept => &[],
            0 => inputs,
            _ => &self.slots[self.value_slots[value]][..length(value)],
        };
        node.layer.backward(Backward {
            parameters,
            gradients: (!node.frozen).then_some(gradients),
            input: kept(node.input, needs.input),
            output: kept(node.output, needs.output),
            output_gradients: &mut output_gradients[..length(node.output)],
            input_gradients: at_input.as_mut().map(|target| target.lend(length(node.input))),
            other_gradients: at_other.as_mut().map(|target| target.lend(length(node.input))),
            stash: &mut stash[..examples * needs.stash],
            fixed: &mut self.fixed[index],
            examples,
            mode: mode_of(node, mode),
            rooms: &mut self.rooms,
        });
        self.slots[output_slot] = output_gradients;
        self.slots[self.stash_slots[index]] = stash;
        for target in [at_input, at_other].into_iter().flatten() {
            self.slots[target.slot] = target.values;
        }
    }

    /// Takes the gradients of a value that a layer reads, unless nobody needs them.
    fn take_target(&mut self, value: Option<usize>) -> Option<Target> {
        let value = value?;
        let slot = self.gradient_slots[value]?;
        let into = if self.written[value] { Writing::Add } else { Writing::Replace };
        self.written[value] = true;
        Some(Target { slot, into, values: self.take(slot) })
    }

    fn take(&mut self, slot: usize) -> Numbers {
        std::mem::take(&mut self.slots[slot])
    }
}

/// Gradients that a backward step writes to, out of their slot.
struct Target {
    slot: usize,
    into: Writing,
    values: Numbers,
}

impl Target {
    fn lend(&mut self, length: usize) -> Gradients<'_> {
        Gradients { values: &mut self.values[..length], into: self.into }
    }
}

/// The mode in which a layer takes part in a step.
fn mode_of(node: &Node, mode: Mode) -> Mode {
    match mode {
        Mode::Train { .. } if node.frozen => Mode::Frozen,
        _ => mode,
    }
}
