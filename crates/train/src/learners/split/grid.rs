//! A step on a grid of ranks: columns share the examples, rows the layers that are cut.

use trainwright_networks::{BatchScore, Network};

use super::circle::Circle;
use super::segment::{Segment, SegmentCut};
use super::wire::Wire;
use crate::error::TrainError;

/// The layers of a rank on a grid.
pub(super) struct Grid {
    pub(super) segments: Vec<Segment>,
    /// Ranks with the same examples.
    pub(super) row: Circle,
    /// Ranks with the same layers.
    pub(super) column: Circle,
}

/// Examples of a rank in one step.
pub(super) struct Examples<'a> {
    pub(super) inputs: &'a [f32],
    pub(super) labels: &'a [u32],
    /// Examples of the whole step.
    pub(super) of: usize,
    pub(super) label_smoothing: f32,
}

impl Grid {
    /// Whether a segment hands its columns on as they are, to one that is cut by inputs.
    fn leaves_columns(&self, at: usize) -> bool {
        let next = self.segments.get(at + 1).map(|segment| segment.cut);
        self.segments[at].cut == SegmentCut::Outputs && next == Some(SegmentCut::Inputs)
    }

    fn gets_columns(&self, at: usize) -> bool {
        at > 0 && self.leaves_columns(at - 1)
    }

    /// Computes gradients and adds them up over the ranks that share the examples.
    pub(super) fn learn(
        &mut self,
        wire: &mut Wire,
        whole: &Network,
        examples: &Examples<'_>,
    ) -> Result<BatchScore, TrainError> {
        let inputs = wire.copy_of(examples.inputs);
        let mut values = self.forward(wire, inputs)?;
        let Examples { labels, of, label_smoothing, .. } = *examples;
        let score = match labels.is_empty() {
            true => BatchScore::default(),
            false => whole.loss_gradients(&mut values, labels, of, label_smoothing),
        };
        self.backward(wire, values)?;
        for segment in &mut self.segments {
            if segment.cut == SegmentCut::Samples {
                self.row.sum(wire, &mut segment.gradients)?;
            }
            self.column.sum(wire, &mut segment.gradients)?;
        }
        Ok(score)
    }

    fn forward(&mut self, wire: &mut Wire, inputs: Vec<f32>) -> Result<Vec<f32>, TrainError> {
        let mut values = inputs;
        for at in 0..self.segments.len() {
            let (leaves, gets) = (self.leaves_columns(at), self.gets_columns(at));
            let Self { segments, row, .. } = self;
            let segment = &mut segments[at];
            let rows = values.len() / segment.widths.0;
            match segment.cut {
                SegmentCut::Inputs if !gets => {
                    values = row.own_columns(wire, values, segment.widths.0);
                }
                SegmentCut::Samples => values = row.own_rows(wire, values, segment.widths.0),
                _ => {}
            }
            values = segment.forward(0, values, wire);
            match segment.cut {
                own if own.gives_columns() && !leaves => {
                    values = row.columns(wire, values, segment.widths.1)?;
                }
                SegmentCut::Inputs => row.sum(wire, &mut values)?,
                SegmentCut::Samples => {
                    values = row.rows(wire, values, (rows, segment.widths.1))?;
                }
                _ => {}
            }
        }
        Ok(values)
    }

    fn backward(&mut self, wire: &mut Wire, gradients: Vec<f32>) -> Result<(), TrainError> {
        let mut values = gradients;
        for at in (0..self.segments.len()).rev() {
            let (leaves, gets) = (self.leaves_columns(at), self.gets_columns(at));
            let Self { segments, row, .. } = self;
            let segment = &mut segments[at];
            let rows = values.len() / segment.widths.1;
            let is_cut = segment.cut.gives_columns();
            if is_cut && !leaves {
                values = row.own_columns(wire, values, segment.widths.1);
            } else if segment.cut == SegmentCut::Samples {
                values = row.own_rows(wire, values, segment.widths.1);
            }
            let mut own = std::mem::take(&mut segment.gradients);
            let back = segment.backward(0, &values, &mut own, wire);
            wire.give_back(std::mem::replace(&mut values, back));
            segment.gradients = own;
            if at == 0 {
                wire.give_back(values);
                break;
            }
            match segment.cut {
                _ if is_cut => row.sum(wire, &mut values)?,
                SegmentCut::Inputs if !gets => {
                    values = row.columns(wire, values, segment.widths.0)?;
                }
                SegmentCut::Samples => {
                    values = row.rows(wire, values, (rows, segment.widths.0))?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}
