//! Adding up finished buckets while the backward pass computes the next ones.

use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::buckets::Buckets;
use crate::error::CommError;
use crate::group::Group;

/// How long the sums of a step took, and how much of it the backward pass hid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OverlapTimes {
    /// Time of sums that ran beside the backward pass.
    pub hidden: Duration,
    /// Time in which nothing was left to do but wait for sums.
    pub exposed: Duration,
}

/// A vector that a backward pass fills from its end to its start, handing over what is finished.
#[derive(Debug)]
pub struct Unfinished<'a> {
    buckets: &'a Buckets,
    /// Buckets handed over.
    handed: usize,
    rest: &'a mut [f32],
    finished: Sender<&'a mut [f32]>,
}

impl Unfinished<'_> {
    /// What was not handed over: the start of the vector, to be filled.
    pub fn values(&mut self) -> &mut [f32] {
        self.rest
    }

    /// Hands over all buckets that begin at `start` or later: every number from there on is final.
    pub fn finished_from(&mut self, start: usize) {
        while let Some(bucket) = self.buckets.ranges().get(self.handed)
            && bucket.start >= start
        {
            let rest = std::mem::take(&mut self.rest);
            let (rest, bucket) = rest.split_at_mut(bucket.start);
            self.rest = rest;
            self.handed += 1;
            // Where a sum has failed nobody takes buckets any more, and the error is told at the end.
            let _ = self.finished.send(bucket);
        }
    }
}

impl Group {
    /// Runs `backward` in this thread while another one lets `reduce` add up bucket after bucket,
    /// in their fixed order; returns when all are added up. What `backward` has not handed over
    /// when it returns counts as finished then.
    ///
    /// # Errors
    /// Where `reduce` fails; further buckets are then left as they are.
    ///
    /// # Panics
    /// Where `values` is not as long as the buckets say.
    pub fn overlapped<R>(
        &mut self,
        buckets: &Buckets,
        values: &mut [f32],
        reduce: impl FnMut(&mut Self, &mut [f32]) -> Result<(), CommError> + Send,
        backward: impl FnOnce(&mut Unfinished<'_>) -> R,
    ) -> Result<(R, OverlapTimes), CommError> {
        assert_eq!(values.len(), buckets.length(), "the vector is not the one that was cut");
        thread::scope(|scope| {
            let (finished, taken) = channel();
            let sums = scope.spawn(move || add_up(self, &taken, reduce));
            let mut unfinished = Unfinished { buckets, handed: 0, rest: values, finished };
            let given = backward(&mut unfinished);
            let end = Instant::now();
            unfinished.finished_from(0);
            drop(unfinished);
            let sums = match sums.join() {
                Ok(sums) => sums?,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            let before =
                |sum: Range<Instant>| sum.end.min(end).saturating_duration_since(sum.start);
            let hidden = sums.into_iter().map(before).sum();
            Ok((given, OverlapTimes { hidden, exposed: end.elapsed() }))
        })
    }
}

/// Adds up buckets as they come; from when to when it did.
fn add_up(
    group: &mut Group,
    taken: &Receiver<&mut [f32]>,
    mut reduce: impl FnMut(&mut Group, &mut [f32]) -> Result<(), CommError>,
) -> Result<Vec<Range<Instant>>, CommError> {
    let mut sums = Vec::new();
    for bucket in taken {
        let start = Instant::now();
        reduce(group, bucket)?;
        sums.push(start..Instant::now());
    }
    Ok(sums)
}
