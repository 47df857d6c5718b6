//! Long short-term memory over the steps of a sequence, forwards or both ways.
//!
//! Each direction of some examples is one part of the work, from the first step to the last: one
//! product for the inputs of all steps, one a step for the memory, and a loop over the gates.

use std::ops::Range;

use rand_pcg::Pcg64;

use super::{gates, rectifier};
use crate::arithmetic::kernels;
use crate::arithmetic::matrix::{Matrix, Writing, multiply};
use crate::layers::layer::{Backward, Forward, Layer, Needs};
use crate::network::description::Returns;
use crate::network::initial_weights::{fill_uniform, glorot_limit};
use crate::network::tensors::{Layout, TensorKind};
use crate::threads::parts::{Cut, Parts};

/// In which order the steps are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Directions {
    /// From the first to the last.
    Forward,
    /// That, and from the last to the first by a memory of its own.
    Both,
}

/// The memory of Hochreiter and Schmidhuber (1997) with forget gates (Gers et al. 2000). The
/// outputs after the last step read, or those of every step, of one direction or of both side by
/// side, are the layer's.
#[derive(Debug, Clone)]
pub(crate) struct Lstm {
    steps: usize,
    inputs: usize,
    units: usize,
    returns: Returns,
    /// Where the numbers of each direction lie.
    cells: Vec<Cell>,
}

/// Weights of the inputs, weights of the memory and biases, one after another; in each the gates
/// are input, forget, candidate, output.
#[derive(Debug, Clone)]
struct Cell {
    inputs: Range<usize>,
    memory: Range<usize>,
    biases: Range<usize>,
}

/// What a part keeps of its examples, by step and then by example.
struct Kept<'a> {
    inputs: &'a mut [f32],
    gates: &'a mut [f32],
    cells: &'a mut [f32],
    bounded: &'a mut [f32],
    outputs: &'a mut [f32],
}

/// Most numbers of the partial gradients of all parts.
const MOST_PARTIALS: usize = 1 << 21;

impl Lstm {
    /// A layer whose parameters come next in the layout.
    pub(crate) fn new(
        name: &str,
        (steps, inputs): (usize, usize),
        units: usize,
        (directions, returns): (Directions, Returns),
        layout: &mut Layout,
    ) -> Self {
        let suffixes: &[&str] = match directions {
            Directions::Forward => &[""],
            Directions::Both => &["", "_reverse"],
        };
        let mut cell = |suffix: &&str| {
            let mut add = |what: &str, kind, shape: &[usize]| {
                layout.add(format!("{name}.{what}_l0{suffix}"), kind, shape)
            };
            Cell {
                inputs: add("weight_ih", TensorKind::Dense, &[inputs, 4 * units]),
                memory: add("weight_hh", TensorKind::Dense, &[units, 4 * units]),
                biases: add("bias", TensorKind::MemoryBias, &[4 * units]),
            }
        };
        let cells = suffixes.iter().map(&mut cell).collect();
        Self { steps, inputs, units, returns, cells }
    }

    /// Numbers that one direction keeps of one example.
    fn kept(&self) -> usize {
        self.steps * (self.inputs + 7 * self.units)
    }

    /// Numbers of a part's gradients.
    fn partial(&self) -> usize {
        (self.inputs + self.units + 1) * 4 * self.units
    }

    fn most_groups(&self) -> usize {
        (MOST_PARTIALS / self.partial() / self.cells.len()).clamp(1, 8)
    }

    /// Examples of a part.
    fn group(&self, examples: usize) -> usize {
        examples.div_ceil(self.most_groups()).max(64)
    }

    fn take_apart<'a>(&self, kept: &'a mut [f32], examples: usize) -> Kept<'a> {
        let rows = self.steps * examples;
        let (inputs, rest) = kept.split_at_mut(rows * self.inputs);
        let (gates, rest) = rest.split_at_mut(rows * 4 * self.units);
        let (cells, rest) = rest.split_at_mut(rows * self.units);
        let (bounded, outputs) = rest.split_at_mut(rows * self.units);
        Kept { inputs, gates, cells, bounded, outputs }
    }

    /// The step that a direction reads at a moment.
    fn step(&self, direction: usize, moment: usize) -> usize {
        if direction == 0 { moment } else { self.steps - 1 - moment }
    }

    fn forward_part(
        &self,
        direction: usize,
        parameters: &[f32],
        input: &[f32],
        kept: &mut Kept<'_>,
    ) {
        let (cell, units) = (&self.cells[direction], self.units);
        let examples = input.len() / (self.steps * self.inputs);
        for (moment, rows) in kept.inputs.chunks_exact_mut(examples * self.inputs).enumerate() {
            let start = self.step(direction, moment) * self.inputs;
            let examples = input.chunks_exact(self.steps * self.inputs);
            for (row, example) in rows.chunks_exact_mut(self.inputs).zip(examples) {
                row.copy_from_slice(&example[start..start + self.inputs]);
            }
        }
        let biases = &parameters[cell.biases.clone()];
        for row in kept.gates.chunks_exact_mut(4 * units) {
            row.copy_from_slice(biases);
        }
        let rows = self.steps * examples;
        let weights = Matrix::new(&parameters[cell.inputs.clone()], self.inputs, 4 * units);
        multiply(Matrix::new(kept.inputs, rows, self.inputs), weights, kept.gates, Writing::Add);
        let memory = Matrix::new(&parameters[cell.memory.clone()], units, 4 * units);
        let size = examples * units;
        for moment in 0..self.steps {
            let now = moment * size..(moment + 1) * size;
            let gates = &mut kept.gates[4 * now.start..4 * now.end];
            let (cells_before, cells) = kept.cells[..now.end].split_at_mut(now.start);
            let (outputs_before, outputs) = kept.outputs[..now.end].split_at_mut(now.start);
            let cells_before = cells_before.rchunks_exact(size).next();
            if let Some(before) = outputs_before.rchunks_exact(size).next() {
                multiply(Matrix::new(before, examples, units), memory, gates, Writing::Add);
            }
            let bounded = &mut kept.bounded[now];
            let step = gates::Step { units, cells, bounded, outputs };
            gates::forward(gates, cells_before.unwrap_or_default(), step);
        }
    }

    /// Where the layer's output of a direction at a moment lies, if it goes on.
    fn place(&self, example: usize, direction: usize, moment: usize) -> Option<Range<usize>> {
        let row = match self.returns {
            Returns::Sequence => example * self.steps + self.step(direction, moment),
            Returns::Last if moment + 1 == self.steps => example,
            Returns::Last => return None,
        };
        let start = (row * self.cells.len() + direction) * self.units;
        Some(start..start + self.units)
    }

    /// Replaces the gates of all steps by their gradients and writes those of the parameters.
    fn backward_part(
        &self,
        direction: usize,
        parameters: &[f32],
        kept: &mut Kept<'_>,
        (at_output, at_cell): (&mut [f32], &mut [f32]),
        (gradients, first): (&[f32], usize),
        partial: Option<&mut [f32]>,
    ) {
        let (cell, units) = (&self.cells[direction], self.units);
        let (size, examples) = (at_output.len(), at_output.len() / units);
        let memory = Matrix::new(&parameters[cell.memory.clone()], units, 4 * units).transposed();
        at_output.fill(0.0);
        at_cell.fill(0.0);
        for moment in (0..self.steps).rev() {
            for (example, row) in (first..).zip(at_output.chunks_exact_mut(units)) {
                if let Some(place) = self.place(example, direction, moment) {
                    rectifier::add(row, &gradients[place]);
                }
            }
            let now = moment * size..(moment + 1) * size;
            let gates = &mut kept.gates[4 * now.start..4 * now.end];
            let before = match moment {
                0 => &[][..],
                _ => &kept.cells[now.start - size..now.start],
            };
            gates::backward(gates, (before, &kept.bounded[now]), (at_output, at_cell), units);
            if moment > 0 {
                let gates = Matrix::new(gates, examples, 4 * units);
                multiply(gates, memory, at_output, Writing::Replace);
            }
        }
        let Some(partial) = partial else { return };
        let rows = self.steps * examples;
        let (of_inputs, rest) = partial.split_at_mut(self.inputs * 4 * units);
        let (of_memory, of_biases) = rest.split_at_mut(units * 4 * units);
        let gates = Matrix::new(kept.gates, rows, 4 * units);
        let inputs = Matrix::new(kept.inputs, rows, self.inputs).transposed();
        multiply(inputs, gates, of_inputs, Writing::Replace);
        kernels::column_sums(kept.gates, of_biases);
        if self.steps == 1 {
            of_memory.fill(0.0);
            return;
        }
        let later = rows - examples;
        let outputs = Matrix::new(&kept.outputs[..later * units], later, units).transposed();
        let gates = Matrix::new(&kept.gates[4 * size..], later, 4 * units);
        multiply(outputs, gates, of_memory, Writing::Replace);
    }

    /// Adds up the partial gradients of the groups of examples, in their order.
    fn reduce(&self, partials: &[f32], gradients: &mut [f32]) {
        for (direction, cell) in self.cells.iter().enumerate() {
            let own = &mut gradients[cell.inputs.start..cell.biases.end];
            own.fill(0.0);
            let parts = partials.chunks_exact(self.partial());
            for part in parts.skip(direction).step_by(self.cells.len()) {
                rectifier::add(own, part);
            }
        }
    }
}

impl Layer for Lstm {
    fn needs(&self) -> Needs {
        let directions = self.cells.len();
        Needs {
            stash: directions * (self.kept() + 2 * self.units),
            partials: directions * self.most_groups() * self.partial(),
            ..Needs::default()
        }
    }

    fn initialise(&self, parameters: &mut [f32], _state: &mut [f32], random: &mut Pcg64) {
        for cell in &self.cells {
            let limit = glorot_limit(self.inputs, 4 * self.units);
            fill_uniform(&mut parameters[cell.inputs.clone()], limit, random);
            // PyTorch's range for the memory.
            let limit = 1.0 / (self.units as f32).sqrt();
            fill_uniform(&mut parameters[cell.memory.clone()], limit, random);
            let biases = &mut parameters[cell.biases.clone()];
            biases.fill(0.0);
            // A memory that forgets at first learns late (Jozefowicz et al. 2015).
            biases[self.units..2 * self.units].fill(1.0);
        }
    }

    fn forward(&self, pass: Forward<'_>) {
        let (units, directions) = (self.units, self.cells.len());
        let group = self.group(pass.examples);
        let groups = pass.examples.div_ceil(group);
        let size = self.kept() + 2 * units;
        let mut halves = pass.stash.chunks_exact_mut(pass.examples * size);
        let stashes = [(); 2]
            .map(|()| Parts::new(halves.next().unwrap_or_default(), Cut::Every(group * size)));
        let members = |group_number: usize| {
            group_number * group..pass.examples.min((group_number + 1) * group)
        };
        pass.rooms.team.run(groups * directions, &|part| {
            let (group, direction) = (part / directions, part % directions);
            let examples = members(group);
            let row = self.steps * self.inputs;
            let input = &pass.input[examples.start * row..examples.end * row];
            let own = &mut stashes[direction].take(group)[..examples.len() * self.kept()];
            let mut kept = self.take_apart(own, examples.len());
            self.forward_part(direction, pass.parameters, input, &mut kept);
        });
        for (direction, half) in pass.stash.chunks_exact(pass.examples * size).enumerate() {
            for group in 0..groups {
                let examples = members(group);
                let last = &half[examples.start * size..][..examples.len() * self.kept()];
                let outputs = &last[last.len() - self.steps * examples.len() * units..];
                let moments = outputs.chunks_exact(examples.len() * units).enumerate();
                for (moment, outputs) in moments {
                    for (example, output) in examples.clone().zip(outputs.chunks_exact(units)) {
                        if let Some(place) = self.place(example, direction, moment) {
                            pass.output[place].copy_from_slice(output);
                        }
                    }
                }
            }
        }
    }

    fn backward(&self, pass: Backward<'_>) {
        let (units, directions) = (self.units, self.cells.len());
        let group = self.group(pass.examples);
        let groups = pass.examples.div_ceil(group);
        let size = self.kept() + 2 * units;
        let members = |group_number: usize| {
            group_number * group..pass.examples.min((group_number + 1) * group)
        };
        let (team, _, partials, _) = pass.rooms.split();
        let partials = &mut partials[..groups * directions * self.partial()];
        let has_target = pass.input_gradients.is_some();
        let learns = pass.gradients.is_some();
        {
            let mut halves = pass.stash.chunks_exact_mut(pass.examples * size);
            let stashes = [(); 2]
                .map(|()| Parts::new(halves.next().unwrap_or_default(), Cut::Every(group * size)));
            let partials = Parts::new(&mut *partials, Cut::Every(self.partial()));
            let at_output = &*pass.output_gradients;
            team.run(groups * directions, &|part| {
                let (group, direction) = (part / directions, part % directions);
                let examples = members(group);
                let count = examples.len();
                let (own, work) = stashes[direction].take(group).split_at_mut(count * self.kept());
                let work = work.split_at_mut(count * units);
                let mut kept = self.take_apart(own, count);
                let partial = learns.then(|| partials.take(part));
                let from = (at_output, examples.start);
                self.backward_part(direction, pass.parameters, &mut kept, work, from, partial);
                if has_target {
                    let weights = &pass.parameters[self.cells[direction].inputs.clone()];
                    let weights = Matrix::new(weights, self.inputs, 4 * units).transposed();
                    let gates = Matrix::new(kept.gates, self.steps * count, 4 * units);
                    multiply(gates, weights, kept.inputs, Writing::Replace);
                }
            });
        }
        if let Some(gradients) = pass.gradients {
            self.reduce(partials, gradients);
        }
        let Some(target) = pass.input_gradients else { return };
        if target.into == Writing::Replace {
            target.values.fill(0.0);
        }
        for (direction, half) in pass.stash.chunks_exact(pass.examples * size).enumerate() {
            for group in 0..groups {
                let examples = members(group);
                let rows = half[examples.start * size..].chunks_exact(self.inputs);
                let moments = 0..self.steps;
                let places =
                    moments.flat_map(|moment| examples.clone().map(move |it| (moment, it)));
                for ((moment, example), row) in places.zip(rows) {
                    let step = self.step(direction, moment);
                    let start = (example * self.steps + step) * self.inputs;
                    rectifier::add(&mut target.values[start..start + self.inputs], row);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Network, NetworkDescription};

    fn layer(directions: Directions) -> (Lstm, Vec<String>) {
        let mut layout = Layout::default();
        let own = Lstm::new("m", (5, 3), 2, (directions, Returns::default()), &mut layout);
        let names = layout.into_tensors().into_iter().map(|tensor| tensor.name).collect();
        (own, names)
    }

    #[test]
    fn tensors_have_the_names_of_pytorch() {
        let (_, names) = layer(Directions::Both);
        assert_eq!(names[..3], ["m.weight_ih_l0", "m.weight_hh_l0", "m.bias_l0"]);
        assert_eq!(names[3], "m.weight_ih_l0_reverse");
        assert_eq!((names.len(), layer(Directions::Forward).1.len()), (6, 3));
    }

    #[test]
    fn parts_have_at_least_64_examples_and_are_8_at_most() {
        let (own, _) = layer(Directions::Both);
        assert_eq!((own.group(1), own.group(64), own.group(512)), (64, 64, 64));
        assert_eq!(own.group(8000), 1000);
        // Large memories have fewer parts, so that their partial gradients stay bounded.
        let mut layout = Layout::default();
        let shape = (Directions::Both, Returns::default());
        let large = Lstm::new("m", (5, 1000), 1000, shape, &mut layout);
        assert_eq!(large.most_groups(), 1);
        assert_eq!(large.group(8000), 8000);
    }

    /// One unit over two steps, by hand: gates are input, forget, candidate, output.
    #[test]
    fn two_steps_are_those_of_the_equations() {
        let text = "name = \"m\"\ninput = [2, 1]\n[[layer]]\nkind = \"lstm\"\nname = \"m\"\nunits = 1\n\
            [[layer]]\nkind = \"dense\"\nname = \"d\"\noutputs = 2\n";
        let network = Network::new(&NetworkDescription::from_toml(text).unwrap()).unwrap();
        let mut parameters = vec![0.0; network.parameter_count()];
        let mut put = |name: &str, values: &[f32]| {
            let tensor = network.tensors().iter().find(|tensor| tensor.name == name).unwrap();
            parameters[tensor.range.clone()].copy_from_slice(values);
        };
        let (w, u, b) = ([0.5, -0.25, 1.0, 0.75], [0.1, 0.2, -0.3, 0.4], [0.0, 1.0, 0.1, -0.1]);
        put("m.weight_ih_l0", &w);
        put("m.weight_hh_l0", &u);
        put("m.bias_l0", &b);
        put("d.weight", &[0.0, 1.0]);
        let inputs = [0.8_f32, -0.6];
        let mut workspace = network.workspace(1, 1).unwrap();
        let found = network.probabilities(&parameters, &[], &inputs, &mut workspace)[1];
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        let (mut h, mut c) = (0.0_f64, 0.0_f64);
        for input in inputs {
            let gate = |k: usize| {
                f64::from(w[k]) * f64::from(input) + f64::from(u[k]) * h + f64::from(b[k])
            };
            let [i, f, g, o] =
                [sigmoid(gate(0)), sigmoid(gate(1)), gate(2).tanh(), sigmoid(gate(3))];
            c = f * c + i * g;
            h = o * c.tanh();
        }
        // Logits are 0 and h, so that the second probability is the sigmoid of h.
        assert!((f64::from(found) - sigmoid(h)).abs() < 1e-6, "{found} {}", sigmoid(h));
    }
}
