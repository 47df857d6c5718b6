//! Batches out of a pipeline, whatever sizes the trainer asks for.

use trainwright_networks::Batch;
use trainwright_records::RecordsError;
use trainwright_records::pipeline::{Batch as Chunk, Epoch, Images, PictureUse, Pipeline};

use crate::error::TrainError;

/// A pipeline, and what it has been told to make.
pub(super) struct Stream<'a> {
    pipeline: &'a Pipeline,
    classes: usize,
    shape: [usize; 3],
    numbers: Numbers,
    running: Option<Running>,
    inputs: Vec<f32>,
    labels: Vec<u32>,
}

/// What numbers a network takes for pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// From 0 to 1.
    UpToOne,
    /// From 0 to 255: a table of rows is looked up by them.
    Bytes,
}

struct Running {
    epoch: Epoch,
    wanted: PictureUse,
    /// Pictures that are made or to be made, and how many were handed out.
    foretold: Vec<u32>,
    given: usize,
    /// The chunk under way and its pictures that were handed out.
    chunk: Option<Chunk>,
    used: usize,
}

impl<'a> Stream<'a> {
    /// A stream of pictures that have this shape when they come out.
    pub(super) fn new(
        pipeline: &'a Pipeline,
        classes: usize,
        shape: [usize; 3],
        numbers: Numbers,
    ) -> Self {
        let (inputs, labels) = (Vec::new(), Vec::new());
        Self { pipeline, classes, shape, numbers, running: None, inputs, labels }
    }

    pub(super) fn foretell(
        &mut self,
        now: &[u32],
        next: &[u32],
        wanted: PictureUse,
    ) -> Result<(), TrainError> {
        let goes_on = self.running.as_ref().is_some_and(|running| {
            let rest = &running.foretold[running.given..];
            running.wanted == wanted
                && rest.len() == now.len() + next.len()
                && rest.starts_with(now)
                && rest.ends_with(next)
        });
        if !goes_on {
            // The old stream ends before another starts its threads.
            self.running = None;
            let foretold = [now, next].concat();
            let epoch = self.pipeline.batches(&foretold, wanted)?;
            let (given, chunk, used) = (0, None, 0);
            self.running = Some(Running { epoch, wanted, foretold, given, chunk, used });
        }
        Ok(())
    }

    pub(super) fn batch(&mut self, chosen: &[u32]) -> Result<Batch<'_>, TrainError> {
        let running = self.running.as_mut().expect("batches are foretold");
        assert!(running.foretold[running.given..].starts_with(chosen), "they come as foretold");
        running.given += chosen.len();
        self.inputs.clear();
        self.labels.clear();
        while self.labels.len() < chosen.len() {
            let missing = chosen.len() - self.labels.len();
            let shape = running.take(missing, &mut self.inputs, &mut self.labels)?;
            if shape != self.shape {
                let (expected, found) = (self.shape, shape);
                return Err(RecordsError::BatchShape { expected, found }.into());
            }
        }
        if let Some(&label) = self.labels.iter().find(|&&label| label as usize >= self.classes) {
            let (label, classes) = (label.into(), self.classes);
            return Err(RecordsError::ClassRange { label, classes }.into());
        }
        if self.numbers == Numbers::Bytes {
            self.inputs.iter_mut().for_each(|input| *input = (*input * 255.0).round());
        }
        Ok(Batch { inputs: &self.inputs, labels: &self.labels })
    }
}

impl Running {
    /// Moves at most `most` pictures of the chunk under way, or of the next; gives their shape.
    fn take(
        &mut self,
        most: usize,
        inputs: &mut Vec<f32>,
        labels: &mut Vec<u32>,
    ) -> Result<[usize; 3], TrainError> {
        if self.chunk.is_none() {
            let chunk = self.epoch.next().expect("there are as many pictures as were foretold")?;
            (self.chunk, self.used) = (Some(chunk), 0);
        }
        let chunk = self.chunk.as_mut().expect("it was filled above");
        let Images::F32(pixels) = &mut chunk.images else {
            unreachable!("the pipeline was asked for floats")
        };
        let (shape, count) = (chunk.shape, chunk.labels.len());
        let size = shape.iter().product::<usize>();
        let taken = most.min(count - self.used);
        if taken == count && inputs.is_empty() {
            // The usual case: a chunk is a batch, and changes places with the last one.
            std::mem::swap(inputs, pixels);
        } else {
            inputs.extend_from_slice(&pixels[self.used * size..(self.used + taken) * size]);
        }
        for &label in &chunk.labels[self.used..self.used + taken] {
            let class = u32::try_from(label)
                .map_err(|_| RecordsError::ClassRange { label, classes: u32::MAX as usize })?;
            labels.push(class);
        }
        self.used += taken;
        if self.used == count
            && let Some(chunk) = self.chunk.take()
        {
            self.epoch.recycle(chunk);
        }
        Ok(shape)
    }
}
