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
        (later, next): (usize, &dyn Fn() -> Vec<u32>),
        wanted: PictureUse,
    ) -> Result<(), TrainError> {
        let goes_on = self.running.as_ref().is_some_and(|running| {
            running.wanted == wanted && continues(&running.foretold[running.given..], now, later)
        });
        if !goes_on {
            // The old stream ends before another starts its threads.
            self.running = None;
            let foretold = [now, &next()].concat();
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

/// Whether what is left of a stream begins with `now` and goes on as long as is wanted.
///
/// What comes after `now` is not compared: every step compares its own pictures, so that none is
/// ever handed out that was not asked for, and an epoch costs its length instead of the square.
fn continues<T: PartialEq>(rest: &[T], now: &[T], later: usize) -> bool {
    rest.len() == now.len() + later && rest.starts_with(now)
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        static COMPARED: Cell<usize> = const { Cell::new(0) };
    }

    #[derive(Clone, Copy)]
    struct Counted(u32);

    impl PartialEq for Counted {
        fn eq(&self, other: &Self) -> bool {
            COMPARED.set(COMPARED.get() + 1);
            self.0 == other.0
        }
    }

    #[test]
    fn an_epoch_compares_each_of_its_pictures_once() {
        for (examples, batch) in [(1000, 32), (64_000, 32), (64_000, 256)] {
            let order: Vec<Counted> = (0..examples).map(Counted).collect();
            COMPARED.set(0);
            let mut given = 0;
            while given < order.len() {
                let (now, next) = order[given..].split_at(batch.min(order.len() - given));
                assert!(continues(&order[given..], now, next.len()));
                given += now.len();
            }
            assert_eq!(COMPARED.get(), order.len(), "{examples} pictures by {batch}");
        }
    }

    #[test]
    fn other_pictures_or_another_length_begin_anew() {
        let rest = [5, 3, 8, 1];
        assert!(continues(&rest, &[5, 3], 2) && continues(&rest, &rest, 0));
        assert!(!continues(&rest, &[5, 8], 2), "another picture");
        assert!(!continues(&rest, &[5, 3], 1), "the epoch would end before");
        assert!(!continues(&rest, &[5, 3, 8, 1, 0], 0), "the epoch would go on");
        assert!(!continues::<u32>(&[], &[5], 0) && continues::<u32>(&[], &[], 0));
    }
}
