//! Who computes what next, and which gradients make up an update.
//!
//! The dealer is asked and told, and never waits. Three consistencies share its books: shares that
//! are open, dealt out, and taken.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What an update waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consistency {
    /// For a share of every worker; of n + `backup` workers, for the first n.
    Sync {
        /// Workers beyond those whose shares make up a step.
        backup: usize,
    },
    /// For a share of every worker, while a worker may be up to `slack` steps ahead of the slowest.
    Bounded {
        /// Steps that a worker may be ahead.
        slack: u64,
    },
    /// For nothing: each batch of a worker is an update.
    Async,
}

/// A part of a step, computed by one worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Share {
    /// The step, counted from the beginning of the job.
    pub step: u64,
    /// Which of the step's parts.
    pub part: u32,
}

/// A step whose gradients are all there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Complete {
    pub(super) step: u64,
    /// The shares that make it up, in order, and who computed each.
    pub(super) takes: Vec<(Share, usize)>,
}

/// Steps to be dealt out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Steps {
    pub(super) first: u64,
    pub(super) count: u64,
    /// How many of them, from the first on, have as many examples as it: their shares may stand in
    /// for each other.
    pub(super) alike: u64,
}

/// The books of a stretch of steps.
#[derive(Debug)]
pub(super) struct Dealer {
    rule: Consistency,
    live: Vec<bool>,
    /// The worker of each part; parts of workers that are lost go to whoever asks.
    seats: Vec<usize>,
    steps: Steps,
    /// Updates so far: the step that is due.
    version: u64,
    /// Steps that were found complete.
    completed: u64,
    open: BTreeSet<Share>,
    out: BTreeMap<Share, Vec<usize>>,
    taken: BTreeMap<Share, usize>,
    complete: VecDeque<Complete>,
    /// The version for which each worker was last given a share.
    served: Vec<Option<u64>>,
    /// Workers that steps were made without: at the end of a stretch nobody waits for them.
    late: Vec<bool>,
    dropped: u64,
}

impl Dealer {
    /// For so many workers.
    pub(super) fn new(rule: Consistency, workers: usize) -> Self {
        let steps = Steps { first: 0, count: 0, alike: 0 };
        Self {
            rule,
            live: vec![true; workers],
            seats: Vec::new(),
            steps,
            version: 0,
            completed: 0,
            open: BTreeSet::new(),
            out: BTreeMap::new(),
            taken: BTreeMap::new(),
            complete: VecDeque::new(),
            served: vec![None; workers],
            late: vec![false; workers],
            dropped: 0,
        }
    }

    /// How many parts a step has that begins now.
    pub(super) fn parts(&self) -> usize {
        let live = self.live.iter().filter(|live| **live).count();
        match self.rule {
            Consistency::Async => 1,
            Consistency::Sync { backup } => self.live.len() - backup,
            Consistency::Bounded { .. } => live,
        }
    }

    /// How many parts the steps of this stretch have.
    pub(super) fn parts_of_stretch(&self) -> usize {
        self.seats.len()
    }

    /// Opens the shares of a stretch; the last one is over.
    pub(super) fn begin(&mut self, steps: Steps) {
        let live = (0..self.live.len()).filter(|worker| self.live[*worker]);
        self.seats = live.take(self.parts()).collect();
        let parts = self.parts() as u32;
        let all = (steps.first..steps.first + steps.count)
            .flat_map(|step| (0..parts).map(move |part| Share { step, part }));
        self.open = all.collect();
        self.out.clear();
        self.taken.clear();
        self.complete.clear();
        (self.steps, self.version, self.completed) = (steps, steps.first, steps.first);
        self.served.fill(None);
    }

    /// Whether every step of the stretch is done.
    pub(super) fn is_over(&self) -> bool {
        self.version == self.steps.first + self.steps.count
    }

    /// The version that gradients dealt out now are computed from, at least.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// Gradients that were computed and never used.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(super) fn is_live(&self, worker: usize) -> bool {
        self.live[worker]
    }

    /// Shares for a worker that has none, at most so many; none where it must wait. One that has
    /// waited for long may compute what another seems to be stuck with.
    pub(super) fn deal(&mut self, worker: usize, most: usize, waited: bool) -> Vec<Share> {
        if !self.live[worker] {
            return Vec::new();
        }
        let dealt: Vec<Share> = match self.rule {
            Consistency::Async => self.open.iter().take(most.max(1)).copied().collect(),
            Consistency::Sync { backup: 1.. } => {
                self.stand_in(worker, waited).into_iter().collect()
            }
            Consistency::Sync { backup: 0 } => self.own(worker, 0).into_iter().collect(),
            Consistency::Bounded { slack } => self.own(worker, slack).into_iter().collect(),
        };
        for share in &dealt {
            self.open.remove(share);
            self.out.entry(*share).or_default().push(worker);
            self.served[worker] = Some(self.version);
        }
        dealt
    }

    /// The first share of a step within reach that is the worker's own, or that nobody else has.
    fn own(&self, worker: usize, slack: u64) -> Option<Share> {
        let beyond = Share { step: self.version.saturating_add(slack).saturating_add(1), part: 0 };
        let seat = |share: &&Share| self.seats[share.part as usize];
        let mut near = self.open.range(..beyond);
        near.find(|share| seat(share) == worker || !self.live[seat(share)]).copied()
    }

    /// A share for one of more workers than a step has parts: any that is open, of this step or a
    /// later one of the same size; at the end one that another worker is at.
    fn stand_in(&self, worker: usize, waited: bool) -> Option<Share> {
        let missing = self.seats.len() - self.taken.len();
        if missing == 0 {
            return None;
        }
        let again = self.served[worker] == Some(self.version);
        let at_work = self.out.keys().filter(|share| !self.taken.contains_key(share)).count();
        let first = self.open.first().copied().filter(|share| self.is_alike(share));
        match first {
            Some(share) if !again || at_work < missing => Some(share),
            Some(_) => None,
            None => {
                // Who has nothing to do yet helps at once, others where someone seems to be stuck.
                let stuck = |who: &[usize]| who.iter().all(|own| self.late[*own]);
                let others = self.out.iter().filter(|(share, who)| {
                    !self.taken.contains_key(share)
                        && !who.contains(&worker)
                        && (!again || waited || stuck(who))
                });
                others.min_by_key(|(share, who)| (who.len(), **share)).map(|own| *own.0)
            }
        }
    }

    /// Whether a share has the size of those of the step that is due.
    fn is_alike(&self, share: &Share) -> bool {
        let alike = self.steps.first + self.steps.alike;
        share.step == self.version || (share.step < alike && self.version < alike)
    }

    /// A worker has pushed the gradients of a share, computed from this version of all servers;
    /// none where the servers had different ones. Whether they count.
    pub(super) fn done(&mut self, worker: usize, share: Share, version: Option<u64>) -> bool {
        let dealt = match self.out.get_mut(&share) {
            Some(who) => match who.iter().position(|own| *own == worker) {
                Some(at) => {
                    who.remove(at);
                    true
                }
                None => false,
            },
            None => false,
        };
        let fresh = !matches!(self.rule, Consistency::Sync { backup: 1.. })
            || (version == Some(self.version) && self.taken.len() < self.seats.len());
        if !dealt || !fresh || self.taken.contains_key(&share) {
            self.dropped += 1;
            return false;
        }
        self.late[worker] = false;
        match self.rule {
            Consistency::Async => {
                self.out.remove(&share);
                self.find(vec![(share, worker)]);
            }
            Consistency::Sync { backup: 1.. } => {
                self.taken.insert(share, worker);
                if self.taken.len() == self.seats.len() {
                    self.find(self.taken.iter().map(|own| (*own.0, *own.1)).collect());
                }
            }
            Consistency::Sync { backup: 0 } | Consistency::Bounded { .. } => {
                self.out.remove(&share);
                self.taken.insert(share, worker);
                self.find_whole_steps();
            }
        }
        true
    }

    /// Steps all of whose shares are there, in their order.
    fn find_whole_steps(&mut self) {
        loop {
            let step = self.completed;
            let of_step = Share { step, part: 0 }..Share { step: step + 1, part: 0 };
            let takes: Vec<(Share, usize)> =
                self.taken.range(of_step).map(|own| (*own.0, *own.1)).collect();
            if takes.len() < self.seats.len() {
                return;
            }
            self.find(takes);
        }
    }

    fn find(&mut self, takes: Vec<(Share, usize)>) {
        let step = match self.rule {
            Consistency::Async => takes[0].0.step,
            _ => self.completed,
        };
        self.completed += 1;
        self.complete.push_back(Complete { step, takes });
    }

    /// The next step that is complete.
    pub(super) fn next_complete(&mut self) -> Option<Complete> {
        self.complete.pop_front()
    }

    /// The step that [`Self::next_complete`] gave is applied, or applied itself.
    pub(super) fn applied(&mut self) {
        self.version += 1;
        match self.rule {
            Consistency::Async => {}
            Consistency::Bounded { .. } | Consistency::Sync { backup: 0 } => {
                self.taken = self.taken.split_off(&Share { step: self.version, part: 0 });
            }
            Consistency::Sync { .. } => {
                let taken = std::mem::take(&mut self.taken);
                let out = std::mem::take(&mut self.out);
                // Whoever is late computes for nothing, and others begin anew.
                for who in out.values() {
                    who.iter().for_each(|worker| self.late[*worker] = true);
                }
                self.open.extend(out.into_keys().filter(|share| !taken.contains_key(share)));
            }
        }
    }

    /// A worker is lost; what it had is dealt out again. Whether those that are left can go on.
    pub(super) fn lose(&mut self, worker: usize) -> bool {
        self.live[worker] = false;
        let mut nobody = Vec::new();
        for (share, who) in &mut self.out {
            who.retain(|own| *own != worker);
            if who.is_empty() && !self.taken.contains_key(share) {
                nobody.push(*share);
            }
        }
        for share in nobody {
            self.out.remove(&share);
            self.open.insert(share);
        }
        let live = self.live.iter().filter(|live| **live).count();
        match self.rule {
            Consistency::Sync { backup } => live >= self.live.len() - backup,
            Consistency::Bounded { .. } | Consistency::Async => live > 0,
        }
    }
}

#[cfg(test)]
mod tests;
