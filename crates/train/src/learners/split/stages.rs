//! A step of a pipeline: each stage works on micro-batches in turn.

use trainwright_comm::{LeafTree, TreeSum};
use trainwright_networks::{BatchScore, Network};
use trainwright_study::StageOrder;

use super::circle::{Circle, share};
use super::grid::Examples;
use super::segment::Segment;
use super::wire::Wire;
use crate::error::TrainError;

/// The layers of one stage.
pub(super) struct Stage {
    pub(super) segment: Segment,
    pub(super) number: usize,
    pub(super) stages: usize,
    pub(super) micro_batches: usize,
    pub(super) order: StageOrder,
    /// Ranks of the stages before and after, with the same examples.
    pub(super) before: Option<usize>,
    pub(super) after: Option<usize>,
    /// Ranks of this stage.
    pub(super) column: Circle,
    pub(super) sum: Option<TreeSum>,
}

/// Tags of messages between stages.
const BETWEEN: u64 = 0x52;

/// Micro-batches that a stage keeps at once.
pub(super) fn in_flight(order: StageOrder, stages: usize, number: usize, micro: usize) -> usize {
    match order {
        StageOrder::Gpipe => micro,
        StageOrder::OneForwardOneBackward => micro.min(stages - number),
    }
}

/// What a step is made of, for one stage.
struct Step<'a> {
    wire: &'a mut Wire,
    whole: &'a Network,
    examples: &'a Examples<'a>,
    micro: usize,
    score: BatchScore,
    /// Gradients of logits, at the last stage, for micro-batches that went forward.
    logits: Vec<Vec<f32>>,
}

impl Stage {
    /// Computes the gradients of all micro-batches and adds them up.
    pub(super) fn learn(
        &mut self,
        wire: &mut Wire,
        whole: &Network,
        examples: &Examples<'_>,
    ) -> Result<BatchScore, TrainError> {
        let count = examples.labels.len();
        let micro = self.micro_batches.min(count).max(1);
        if self.sum.as_ref().is_none_or(|sum| sum.tree().leaves() != micro) {
            let length = self.segment.gradients.len();
            self.sum = Some(TreeSum::new(LeafTree::new(micro), 0, 1, length));
        }
        if let Some(sum) = &mut self.sum {
            sum.clear();
        }
        let logits = vec![Vec::new(); micro];
        let mut step = Step { wire, whole, examples, micro, score: BatchScore::default(), logits };
        match self.order {
            StageOrder::Gpipe => self.all_then_all(&mut step)?,
            StageOrder::OneForwardOneBackward => self.one_by_one(&mut step)?,
        }
        let score = step.score;
        if let Some(sum) = &self.sum {
            self.segment.gradients.copy_from_slice(sum.nodes()[0]);
        }
        self.column.sum(wire, &mut self.segment.gradients)?;
        Ok(score)
    }

    fn all_then_all(&mut self, step: &mut Step<'_>) -> Result<(), TrainError> {
        for batch in 0..step.micro {
            let input = self.input(step, batch)?;
            let output = self.forward(step, batch, input);
            self.send_on(step, output)?;
        }
        for batch in 0..step.micro {
            let gradients = self.gradients(step, batch)?;
            let back = self.backward(step, batch, gradients);
            self.send_back(step, back)?;
        }
        Ok(())
    }

    /// Forward until the pipeline is full, then one backward for each forward, then the rest. What
    /// goes on and what comes back meet in one exchange, so that no two stages wait for each other.
    fn one_by_one(&mut self, step: &mut Step<'_>) -> Result<(), TrainError> {
        let warm = (self.stages - 1 - self.number).min(step.micro);
        for batch in 0..warm {
            let input = self.input(step, batch)?;
            let output = self.forward(step, batch, input);
            self.send_on(step, output)?;
        }
        let steady = step.micro - warm;
        let mut input = if steady > 0 { Some(self.input(step, warm)?) } else { None };
        for batch in 0..steady {
            let ahead = warm + batch;
            let own = input.take().expect("the last round has fetched it");
            let output = self.forward(step, ahead, own);
            let gradients = match self.after {
                Some(after) => {
                    let length = self.numbers_out(step, batch);
                    let gradients = step.wire.trade(after, BETWEEN, &output, length)?;
                    step.wire.give_back(output);
                    gradients
                }
                None => std::mem::take(&mut step.logits[batch]),
            };
            let back = self.backward(step, batch, gradients);
            let next = ahead + 1;
            if batch + 1 == steady {
                self.send_back(step, back)?;
            } else if let Some(before) = self.before {
                let length = self.numbers_in(step, next);
                input = Some(step.wire.trade(before, BETWEEN, &back, length)?);
                step.wire.give_back(back);
            } else {
                input = Some(self.input(step, next)?);
            }
        }
        for batch in steady..step.micro {
            let gradients = self.gradients(step, batch)?;
            let back = self.backward(step, batch, gradients);
            self.send_back(step, back)?;
        }
        Ok(())
    }

    /// Memory of the sums of gradients, in bytes.
    pub(super) fn sum_bytes(&self) -> usize {
        self.sum.as_ref().map_or(0, TreeSum::bytes)
    }

    /// Examples of a micro-batch.
    fn examples_of(&self, step: &Step<'_>, batch: usize) -> std::ops::Range<usize> {
        share(step.examples.labels.len(), step.micro, batch)
    }

    fn numbers_in(&self, step: &Step<'_>, batch: usize) -> usize {
        self.examples_of(step, batch).len() * self.segment.widths.0
    }

    fn numbers_out(&self, step: &Step<'_>, batch: usize) -> usize {
        self.examples_of(step, batch).len() * self.segment.widths.1
    }

    fn input(&self, step: &mut Step<'_>, batch: usize) -> Result<Vec<f32>, TrainError> {
        let length = self.numbers_in(step, batch);
        match self.before {
            Some(before) => Ok(step.wire.receive(before, BETWEEN, length)?),
            None => {
                let range = self.examples_of(step, batch);
                let width = self.segment.widths.0;
                Ok(step.wire.copy_of(&step.examples.inputs[range.start * width..range.end * width]))
            }
        }
    }

    fn gradients(&self, step: &mut Step<'_>, batch: usize) -> Result<Vec<f32>, TrainError> {
        match self.after {
            Some(after) => {
                let length = self.numbers_out(step, batch);
                Ok(step.wire.receive(after, BETWEEN, length)?)
            }
            None => Ok(std::mem::take(&mut step.logits[batch])),
        }
    }

    fn forward(&mut self, step: &mut Step<'_>, batch: usize, input: Vec<f32>) -> Vec<f32> {
        let space = batch % self.segment.workspaces.len();
        let mut output = self.segment.forward(space, input, step.wire);
        if self.after.is_none() {
            let labels = &step.examples.labels[self.examples_of(step, batch)];
            let Examples { of, label_smoothing, .. } = *step.examples;
            step.score.add(step.whole.loss_gradients(&mut output, labels, of, label_smoothing));
            step.logits[batch] = std::mem::take(&mut output);
        }
        output
    }

    fn backward(&mut self, step: &mut Step<'_>, batch: usize, gradients: Vec<f32>) -> Vec<f32> {
        let space = batch % self.segment.workspaces.len();
        let sum = self.sum.as_mut().expect("a step begins with a sum");
        let wire = &mut *step.wire;
        let back = sum.add_leaf(|into| self.segment.backward(space, &gradients, into, wire));
        wire.give_back(gradients);
        back
    }

    fn send_on(&self, step: &mut Step<'_>, output: Vec<f32>) -> Result<(), TrainError> {
        if let Some(after) = self.after {
            step.wire.send(after, BETWEEN, &output)?;
        }
        step.wire.give_back(output);
        Ok(())
    }

    fn send_back(&self, step: &mut Step<'_>, gradients: Vec<f32>) -> Result<(), TrainError> {
        if let Some(before) = self.before {
            step.wire.send(before, BETWEEN, &gradients)?;
        }
        step.wire.give_back(gradients);
        Ok(())
    }
}
