//! What a layer is: a forward and a backward step over a batch, on memory that others own.

use std::sync::Mutex;

use rand_pcg::Pcg64;

use crate::arithmetic::matrix::Writing;
use crate::arithmetic::numbers::Numbers;
use crate::threads::team::Team;

/// One layer of a network, forward and backward.
///
/// A layer knows where its parameters and state lie in the flat vectors. It shares its work among
/// the threads of a team in parts that depend on shapes alone, and adds up parts in their order,
/// so that the number of threads changes no bit.
pub(crate) trait Layer: std::fmt::Debug + Send + Sync {
    /// What memory the layer wants.
    fn needs(&self) -> Needs;

    /// Writes initial parameters and state.
    fn initialise(&self, _parameters: &mut [f32], _state: &mut [f32], _random: &mut Pcg64) {}

    /// Computes the outputs of a batch.
    fn forward(&self, pass: Forward<'_>);

    /// Computes gradients of parameters and inputs from those of the outputs.
    fn backward(&self, pass: Backward<'_>);
}

/// Memory that a layer wants, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    /// Whether the backward step reads the layer's inputs.
    pub(crate) input: bool,
    /// Whether the backward step reads the layer's outputs.
    pub(crate) output: bool,
    /// Kept for each example from the forward to the backward step.
    pub(crate) stash: usize,
    /// Kept for the whole batch from the forward to the backward step.
    pub(crate) fixed: usize,
    /// For each thread, with any content.
    pub(crate) scratch: usize,
    /// Shared by the threads during one step, with any content.
    pub(crate) partials: usize,
    /// As `partials`, in double precision.
    pub(crate) sums: usize,
}

/// Whether a step learns or only applies a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Learn; random choices of the step come from this seed.
    Train { seed: u64 },
    /// Learn, but the layer is frozen.
    Frozen,
    /// Apply.
    Score,
}

/// What a forward step works on.
pub(crate) struct Forward<'a> {
    pub(crate) parameters: &'a [f32],
    /// The flat vector of state, as it was before the step.
    pub(crate) state: &'a [f32],
    /// What the batch says of each number of the state; only while learning.
    pub(crate) statistics: Option<&'a mut [f32]>,
    pub(crate) input: &'a [f32],
    /// The second input of a layer that has two.
    pub(crate) other: Option<&'a [f32]>,
    pub(crate) output: &'a mut [f32],
    pub(crate) stash: &'a mut [f32],
    pub(crate) fixed: &'a mut [f32],
    pub(crate) examples: usize,
    pub(crate) mode: Mode,
    pub(crate) rooms: &'a mut Rooms,
}

/// What a backward step works on.
pub(crate) struct Backward<'a> {
    pub(crate) parameters: &'a [f32],
    /// Gradients of all parameters of the network; `None` when the layer is frozen.
    pub(crate) gradients: Option<&'a mut [f32]>,
    /// Empty unless the layer needs it.
    pub(crate) input: &'a [f32],
    /// Empty unless the layer needs it.
    pub(crate) output: &'a [f32],
    /// The step may leave anything here.
    pub(crate) output_gradients: &'a mut [f32],
    /// `None` where nothing before the layer learns.
    pub(crate) input_gradients: Option<Gradients<'a>>,
    pub(crate) other_gradients: Option<Gradients<'a>>,
    pub(crate) stash: &'a mut [f32],
    pub(crate) fixed: &'a mut [f32],
    pub(crate) examples: usize,
    pub(crate) mode: Mode,
    pub(crate) rooms: &'a mut Rooms,
}

/// Gradients of a value that the backward step writes or, where another layer has written its
/// own before, adds to.
pub(crate) struct Gradients<'a> {
    pub(crate) values: &'a mut [f32],
    pub(crate) into: Writing,
}

/// The threads of a network's steps and the memory they use for a moment.
#[derive(Debug)]
pub(crate) struct Rooms {
    pub(crate) team: Team,
    scratch: Vec<Mutex<Numbers>>,
    pub(crate) partials: Numbers,
    pub(crate) sums: Vec<f64>,
}

impl Rooms {
    /// Room for the largest need of any layer.
    pub(crate) fn new(team: Team, needs: impl Iterator<Item = Needs>) -> Self {
        let (mut scratch, mut partials, mut sums) = (0, 0, 0);
        for need in needs {
            scratch = scratch.max(need.scratch);
            partials = partials.max(need.partials);
            sums = sums.max(need.sums);
        }
        let scratch = (0..team.threads()).map(|_| Mutex::new(Numbers::zeros(scratch))).collect();
        Self { team, scratch, partials: Numbers::zeros(partials), sums: vec![0.0; sums] }
    }

    /// How many single-precision numbers all of it would hold.
    pub(crate) fn numbers(&self) -> usize {
        let scratch = |memory: &Mutex<Numbers>| memory.lock().map_or(0, |memory| memory.len());
        let scratch = self.scratch.iter().map(scratch).sum::<usize>();
        scratch + self.partials.len() + 2 * self.sums.len()
    }

    /// The four kinds of room apart.
    pub(crate) fn split(&mut self) -> (&mut Team, Scratch<'_>, &mut [f32], &mut [f64]) {
        (&mut self.team, Scratch(&self.scratch), &mut self.partials, &mut self.sums)
    }
}

/// The private memory of each thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scratch<'a>(&'a [Mutex<Numbers>]);

impl Scratch<'_> {
    /// Lends a thread its memory.
    pub(crate) fn lend<T>(self, worker: usize, work: impl FnOnce(&mut [f32]) -> T) -> T {
        // A thread that panicked while it held the memory ends the whole step, so what it left
        // there is never read.
        let mut memory = match self.0[worker].lock() {
            Ok(memory) => memory,
            Err(poisoned) => poisoned.into_inner(),
        };
        work(&mut memory)
    }
}

/// Most parts that a layer's work over a batch is cut into.
pub(crate) const MOST_PARTS: usize = 16;

/// How many examples are worked on at a time by a layer with that many positions an example: a
/// sixteenth of the batch, or enough for products to be large, or a quarter.
pub(crate) fn examples_per_part(examples: usize, positions: usize) -> usize {
    let large_enough = 128_usize.div_ceil(positions);
    examples.div_ceil(MOST_PARTS).max(large_enough.min(examples.div_ceil(4)))
}

/// A layer by itself, as the tests of layers run it.
#[cfg(test)]
pub(crate) mod alone {
    use super::*;

    /// A layer and what it works on.
    pub(crate) struct Alone<'a> {
        pub(crate) layer: &'a dyn Layer,
        pub(crate) parameters: &'a [f32],
        pub(crate) input: &'a [f32],
        pub(crate) other: Option<&'a [f32]>,
        pub(crate) examples: usize,
        pub(crate) mode: Mode,
        pub(crate) threads: usize,
    }

    /// All rows and columns, row by row.
    pub(crate) fn pairs(rows: usize, columns: usize) -> impl Iterator<Item = (usize, usize)> {
        (0..rows).flat_map(move |row| (0..columns).map(move |column| (row, column)))
    }

    /// What a forward and a backward step gave; what nobody wrote is NaN.
    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct Outcome {
        pub(crate) output: Vec<f32>,
        pub(crate) gradients: Vec<f32>,
        pub(crate) at_input: Vec<f32>,
        pub(crate) at_other: Vec<f32>,
    }

    impl Alone<'_> {
        /// Takes both steps; gradients of inputs are written, or added to ones.
        pub(crate) fn run(&self, at_output: &[f32], into: Writing) -> Outcome {
            let Self { layer, parameters, input, other, examples, mode, threads } = *self;
            let needs = layer.needs();
            let mut rooms = Rooms::new(Team::new(threads).unwrap(), [needs].into_iter());
            let nothing = |count: usize| vec![f32::NAN; count];
            let (mut stash, mut fixed) = (nothing(examples * needs.stash), nothing(needs.fixed));
            let mut output = nothing(at_output.len());
            layer.forward(Forward {
                parameters,
                state: &[],
                statistics: None,
                input,
                other,
                output: &mut output,
                stash: &mut stash,
                fixed: &mut fixed,
                examples,
                mode,
                rooms: &mut rooms,
            });
            let begun = |count: usize| match into {
                Writing::Replace => nothing(count),
                Writing::Add => vec![1.0; count],
            };
            let mut gradients = nothing(parameters.len());
            let mut at_input = begun(input.len());
            let mut at_other = begun(other.map_or(0, <[f32]>::len));
            layer.backward(Backward {
                parameters,
                gradients: Some(&mut gradients),
                input: if needs.input { input } else { &[] },
                output: if needs.output { &output } else { &[] },
                output_gradients: &mut at_output.to_vec(),
                input_gradients: Some(Gradients { values: &mut at_input, into }),
                other_gradients: other.map(|_| Gradients { values: &mut at_other, into }),
                stash: &mut stash,
                fixed: &mut fixed,
                examples,
                mode,
                rooms: &mut rooms,
            });
            Outcome { output, gradients, at_input, at_other }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_at_most_sixteen_and_cover_the_batch() {
        for examples in 1..300 {
            for positions in [1, 4, 16, 49, 200, 5000] {
                let part = examples_per_part(examples, positions);
                assert!(part >= 1 && examples.div_ceil(part) <= MOST_PARTS);
            }
        }
        assert_eq!(examples_per_part(32, 4096), 2);
        assert_eq!(examples_per_part(32, 16), 8);
        assert_eq!(examples_per_part(1, 1), 1);
    }
}
