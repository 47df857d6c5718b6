//! Parts that run one after another as in a step: all forward, all backward, all updated.

use std::sync::{Barrier, Mutex};

use super::Split;
use super::part::{Cut, Part, ReadyPart};

/// Repetitions in a round; the middle one of all rounds counts.
const REPETITIONS: usize = 6;

/// Bytes of a sequence after which another begins: of so many nothing is left in a cache anyway.
const MOST_BYTES: u64 = 1 << 29;

/// Parts of layers that are split alike, in the order of the layers.
pub(super) struct Sequence {
    parts: Vec<(Split, Part)>,
    /// Threads that run it at the same time.
    busy: usize,
    /// Whether each of them has some of the parts, as stages of a pipeline do.
    is_staged: bool,
    optimizer_slots: u8,
}

/// The sequences of all parts, as steps on so many devices have them.
pub(super) fn sequences(
    parts: Vec<(Split, Part)>,
    devices: usize,
    optimizer_slots: u8,
) -> Vec<Sequence> {
    let mut open: Vec<(Cut, u64, Sequence)> = Vec::new();
    let mut found = Vec::new();
    for (split, part) in parts {
        let (cut, bytes) = (part.cut(), part.bytes(optimizer_slots));
        let mut begun = open.iter_mut().find(|own| own.0 == cut);
        if let Some((_, all, own)) = &mut begun
            && *all + bytes <= MOST_BYTES
        {
            *all += bytes;
            own.parts.push((split, part));
            continue;
        }
        let is_staged = cut.outputs * cut.inputs == 1 && !devices.is_multiple_of(cut.shares);
        let busy = if cut.shares * cut.outputs * cut.inputs == 1 { 1 } else { devices };
        let new = Sequence { parts: vec![(split, part)], busy, is_staged, optimizer_slots };
        match begun {
            Some((_, all, own)) => {
                *all = bytes;
                found.push(std::mem::replace(own, new));
            }
            None => open.push((cut, bytes, new)),
        }
    }
    found.extend(open.into_iter().map(|(_, _, own)| own));
    found
}

impl Sequence {
    /// Nanoseconds of each part forward and backward, once for each repetition on each thread that
    /// has it.
    pub(super) fn measure(&self) -> Vec<(Split, (u64, u64))> {
        let (begin, all) = (Barrier::new(self.busy), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for thread in 0..self.busy {
                let (begin, all) = (&begin, &all);
                scope.spawn(move || {
                    let found = self.repeat(thread, begin);
                    all.lock().expect("nobody panics with it").extend(found);
                });
            }
        });
        all.into_inner().expect("nobody panics with it")
    }

    /// The parts of a thread: stages have about as many parameters each.
    fn parts_of(&self, thread: usize) -> impl Iterator<Item = &(Split, Part)> {
        let all: u64 = self.parts.iter().map(|(_, part)| 1 + part.parameters()).sum();
        let mut before = 0;
        self.parts.iter().filter(move |(_, part)| {
            let own = 1 + part.parameters();
            let stage = (2 * before + own) * self.busy as u64 / (2 * all);
            before += own;
            !self.is_staged || stage == thread as u64
        })
    }

    fn repeat(&self, thread: usize, begin: &Barrier) -> Vec<(Split, (u64, u64))> {
        let slots = self.optimizer_slots;
        let parts: Option<Vec<(Split, ReadyPart<'_>)>> =
            self.parts_of(thread).map(|(split, part)| Some((*split, part.ready(slots)?))).collect();
        begin.wait();
        let mut found = Vec::new();
        let Some(mut parts) = parts else { return found };
        for repetition in 0..=REPETITIONS {
            let forward: Vec<u64> = parts.iter_mut().map(|(_, part)| part.forward()).collect();
            for ((split, part), forward) in parts.iter_mut().zip(forward).rev() {
                let backward = part.backward();
                // The first touches memory for the first time.
                if repetition > 0 {
                    found.push((*split, (forward, backward)));
                }
            }
            parts.iter_mut().for_each(|(_, part)| part.update());
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use trainwright_networks::LayerDescription;
    use trainwright_plan::DEGREES;

    use super::super::part::Inputs;
    use super::*;

    fn part(outputs: usize, shares: usize) -> Part {
        let layer = LayerDescription::Dense { outputs, activation: Default::default() };
        let cut = Cut { examples: 8 / shares, shares, outputs: 1, inputs: 1 };
        Part::new(&layer, (&[16], Inputs::Rectified), cut).unwrap()
    }

    fn split(operator: usize, shares: usize) -> Split {
        let mut degrees = [1; DEGREES];
        degrees[0] = shares as u16;
        (operator, degrees)
    }

    #[test]
    fn parts_that_are_split_alike_run_together() {
        let parts = [(0, 1), (0, 2), (1, 1), (1, 2), (2, 1), (2, 2)]
            .map(|(operator, shares)| (split(operator, shares), part(16, shares)));
        let found = sequences(parts.into(), 2, 1);
        let places = |own: &Sequence| own.parts.iter().map(|(it, _)| it.0).collect::<Vec<_>>();
        assert_eq!(found.iter().map(places).collect::<Vec<_>>(), [[0, 1, 2], [0, 1, 2]]);
        assert_eq!(found.iter().map(|own| own.busy).collect::<Vec<_>>(), [1, 2]);
        let times = found[1].measure();
        assert_eq!(times.len(), 2 * 3 * REPETITIONS);
        assert!(times.iter().all(|(_, (forward, backward))| *forward > 0 && *backward > 0));
    }

    #[test]
    fn stages_have_parts_of_their_own() {
        let parts = [(0, 16), (1, 8), (2, 8), (3, 16)]
            .map(|(operator, outputs)| (split(operator, 4), part(outputs, 4)));
        let found = sequences(parts.into(), 2, 0);
        let own = &found[0];
        let places = |thread| own.parts_of(thread).map(|(it, _)| it.0).collect::<Vec<_>>();
        assert!(own.is_staged);
        assert_eq!([places(0), places(1)], [[0, 1], [2, 3]]);
        assert_eq!(own.measure().len(), 4 * REPETITIONS, "each on one thread");
    }

    #[test]
    fn what_no_cache_holds_is_cut() {
        // Eight million parameters with gradients are 64 million bytes.
        let wide = || {
            let layer =
                LayerDescription::Dense { outputs: 1 << 12, activation: Default::default() };
            let cut = Cut { examples: 1, shares: 1, outputs: 1, inputs: 1 };
            Part::new(&layer, (&[1 << 11], Inputs::Full), cut).unwrap()
        };
        let parts = (0..9).map(|operator| (split(operator, 1), wide())).collect();
        let lengths: Vec<usize> =
            sequences(parts, 1, 0).iter().map(|own| own.parts.len()).collect();
        assert_eq!(lengths, [7, 2]);
    }
}
