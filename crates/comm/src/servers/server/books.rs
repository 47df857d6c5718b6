//! What a server has, and what was pushed to it.

use std::collections::HashSet;
use std::time::Instant;

use super::account::Running;
use super::desk::Desk;
use super::{Gradients, Owner, Push};
use crate::lines::Message;
use crate::servers::dealer::Share;
use crate::servers::log::{Applied, AppliedPush};

/// When a push is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Applies {
    /// At once, and each step once.
    AtOnce,
    /// When the leader says so; what was computed from an older version is late.
    ByVersion,
    /// When the leader says so; what belongs to an older step is late.
    ByStep,
}

/// What a server has.
pub(super) struct Books<O> {
    pub(super) owner: O,
    pub(super) version: u64,
    pub(super) ended: bool,
    pub(super) account: Running,
    /// Updates since the leader last asked, where it wants to know.
    pub(super) log: Vec<Applied>,
    logs: bool,
    applies: Applies,
    /// The first step of the stretch, and those that were applied at once.
    first: u64,
    applied: HashSet<u64>,
    held: Vec<Held>,
    /// The step that was added up, until it is applied.
    summed: Vec<AppliedPush>,
    /// Messages whose memory is used again.
    spare: Vec<Message>,
}

/// A push that waits for the leader's word.
struct Held {
    worker: u32,
    share: Share,
    pulled: u64,
    message: Message,
}

/// A push that has come.
pub(super) struct Came<'a> {
    pub(super) worker: u32,
    pub(super) message: &'a mut Message,
}

impl<O: Owner> Books<O> {
    pub(super) fn new(owner: O) -> Self {
        Self {
            owner,
            version: 0,
            ended: false,
            account: Running::default(),
            log: Vec::new(),
            logs: false,
            applies: Applies::AtOnce,
            first: 0,
            applied: HashSet::new(),
            held: Vec::new(),
            summed: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// A stretch begins: its first step, when pushes are applied, and whether updates are logged.
    pub(super) fn begin(&mut self, numbers: [u64; 6]) -> Option<()> {
        let [first, applies, logs, ..] = numbers;
        self.applies = match applies {
            0 => Applies::AtOnce,
            1 => Applies::ByVersion,
            2 => Applies::ByStep,
            _ => return None,
        };
        (self.first, self.version, self.logs) = (first, first, logs != 0);
        self.applied.clear();
        self.account.dropped += self.held.len() as u64;
        self.held.clear();
        self.summed.clear();
        Some(())
    }

    /// Tells the account; between two stretches what is held will never be applied.
    pub(super) fn put_account(&self, desk: &Desk, reply: &mut Message) {
        self.account.put(desk.until_now(), reply);
        reply.numbers[2] += self.held.len() as u64;
    }

    /// Applies or holds a push; whether it was not dropped. None where it is no push.
    pub(super) fn take_in(&mut self, push: Came<'_>) -> Option<bool> {
        let Came { worker, message } = push;
        let [step, parts, pulled, rate, leaves, _] = message.numbers;
        let share = Share { step, part: parts as u32 };
        let own = read(message)?;
        let sound = own.part < own.parts && leaves <= u64::from(u32::MAX) && pulled <= self.version;
        if !sound || !self.owner.admits(&own) {
            return None;
        }
        let late = match self.applies {
            Applies::AtOnce => step < self.first || self.applied.contains(&step),
            Applies::ByVersion => pulled < self.version,
            Applies::ByStep => step < self.version,
        };
        if late {
            self.account.dropped += 1;
            return Some(false);
        }
        if self.applies == Applies::AtOnce {
            let start = Instant::now();
            self.applied.insert(step);
            self.owner.sum(&Gradients { leaves: own.leaves, pushes: vec![own] });
            self.summed.push(AppliedPush { share, pulled, worker });
            self.update(f64::from_bits(rate), None);
            self.account.update += start.elapsed();
        } else {
            let message = std::mem::replace(message, self.spare.pop().unwrap_or_default());
            self.held.push(Held { worker, share, pulled, message });
        }
        Some(true)
    }

    /// Adds up the gradients of a step from the shares that make it up. None where one is missing.
    pub(super) fn sum(&mut self, leaves: u64, takes: &[(Share, u32)]) -> Option<()> {
        let mut taken = Vec::with_capacity(takes.len());
        for (share, worker) in takes {
            let is_it = |held: &Held| held.share == *share && held.worker == *worker;
            let at = self.held.iter().position(is_it)?;
            taken.push(self.held.swap_remove(at));
        }
        let pushes: Option<Vec<Push<'_>>> = taken.iter().map(|held| read(&held.message)).collect();
        self.owner.sum(&Gradients { leaves: leaves as usize, pushes: pushes? });
        self.summed = taken
            .iter()
            .map(|held| AppliedPush { share: held.share, pulled: held.pulled, worker: held.worker })
            .collect();
        self.spare.extend(taken.into_iter().map(|held| held.message));
        Some(())
    }

    /// Applies what was added up.
    pub(super) fn update(&mut self, rate: f64, norm: Option<f64>) {
        self.owner.update(rate, norm);
        let pushes = std::mem::take(&mut self.summed);
        for push in &pushes {
            self.account.staleness.add(self.version - push.pulled);
        }
        if self.logs {
            self.log.push(Applied { pushes });
        }
        self.version += 1;
        let (version, applies) = (self.version, self.applies);
        let is_late = |held: &Held| match applies {
            Applies::AtOnce => false,
            Applies::ByVersion => held.pulled < version,
            Applies::ByStep => held.share.step < version,
        };
        let before = self.held.len();
        self.held.retain(|held| !is_late(held));
        self.account.dropped += (before - self.held.len()) as u64;
    }
}

/// A push as its owner sees it.
fn read(message: &Message) -> Option<Push<'_>> {
    let [_, parts, _, _, leaves, _] = message.numbers;
    let (part, parts) = ((parts as u32) as usize, (parts >> 32) as usize);
    let leaves = usize::try_from(leaves).ok().filter(|leaves| *leaves > 0)?;
    Some(Push { part, parts, leaves, rows: &message.rows, values: &message.values })
}

#[cfg(test)]
mod tests;
