//! What the leader's threads do for the workers.

use std::sync::PoisonError;
use std::time::Duration;

use super::super::dealer::{Dealer, Share, Steps};
use super::super::words::{kind, put_lease, read_done, text_of_words};
use super::{Shared, StepPlan, Stretch, Told};
use crate::error::{CommError, Loss};
use crate::lines::{Line, Message, Words};

/// How often a thread looks whether its worker lives while it has nothing for it.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What the leader's threads share.
pub(super) struct Floor {
    pub(super) dealer: Dealer,
    /// Stretches begun so far.
    stretches: u64,
    first: u64,
    plans: Vec<StepPlan>,
    lease: usize,
    /// Whether shares are dealt out now.
    dealing: bool,
    told: Told,
    pub(super) void: Option<Vec<u32>>,
    /// Why the stretch cannot go on.
    pub(super) over: Option<CommError>,
    pub(super) lost: Vec<(usize, String)>,
    asking: Vec<bool>,
    pub(super) accounts: Vec<Option<Vec<u32>>>,
    pub(super) ending: bool,
    /// Workers that were heard of.
    came: Vec<bool>,
    ranks: Vec<usize>,
}

/// What a worker gets next.
enum Next {
    Lease { version: u64, shares: Vec<Share> },
    Tell,
    End,
}

impl Floor {
    pub(super) fn new(dealer: Dealer, workers: &[Line]) -> Self {
        Self {
            dealer,
            stretches: 0,
            first: 0,
            plans: Vec::new(),
            lease: 1,
            dealing: false,
            told: Told::new(),
            void: None,
            over: None,
            lost: Vec::new(),
            asking: vec![false; workers.len()],
            accounts: workers.iter().map(|_| None).collect(),
            ending: false,
            came: vec![false; workers.len()],
            ranks: workers.iter().map(Line::peer).collect(),
        }
    }

    /// Opens a stretch.
    pub(super) fn begin(&mut self, steps: Steps, stretch: &Stretch<'_>) {
        self.dealer.begin(steps);
        self.stretches += 1;
        self.first = stretch.first;
        self.plans = stretch.steps.to_vec();
        self.lease = stretch.lease;
        self.told.clear();
        self.dealing = true;
    }

    /// Closes it: nothing is dealt out until the next.
    pub(super) fn rest(&mut self) {
        self.dealing = false;
    }

    /// What the workers said of these shares.
    pub(super) fn told_of(&mut self, takes: &[(Share, usize)]) -> Vec<Vec<u32>> {
        takes.iter().map(|take| self.told.remove(take).unwrap_or_default()).collect()
    }

    pub(super) fn ask_all(&mut self) {
        for worker in 0..self.asking.len() {
            self.asking[worker] = self.dealer.is_live(worker);
        }
    }

    pub(super) fn is_asking(&self) -> bool {
        self.asking.iter().any(|asking| *asking)
    }

    /// Whether a worker that lives has not come yet.
    pub(super) fn is_waiting_for_workers(&self) -> bool {
        (0..self.came.len()).any(|worker| !self.came[worker] && self.dealer.is_live(worker))
    }

    fn next(&mut self, worker: usize, waited: bool) -> Option<Next> {
        if self.ending {
            return Some(Next::End);
        }
        if self.asking[worker] {
            return Some(Next::Tell);
        }
        if !self.dealing {
            return None;
        }
        let version = self.dealer.version();
        let shares = self.dealer.deal(worker, self.lease, waited);
        (!shares.is_empty()).then_some(Next::Lease { version, shares })
    }

    /// Takes in what a worker says; none where it is nonsense.
    fn hear(&mut self, worker: usize, message: &Message) -> Option<()> {
        self.came[worker] = true;
        match message.kind {
            kind::DONE => {
                for done in read_done(message)? {
                    if done.void {
                        // Nothing was pushed, and nothing goes on from here.
                        self.void = Some(done.words);
                        self.dealing = false;
                    } else if self.dealer.done(worker, done.share, done.version) {
                        self.told.insert((done.share, worker), done.words);
                    }
                }
            }
            kind::TOLD => {
                self.asking[worker] = false;
                self.accounts[worker] = Some(message.rows.clone());
            }
            _ => return None,
        }
        Some(())
    }

    /// A worker cannot go on, because of another rank or by itself.
    fn fail(&mut self, worker: usize, message: &Message) {
        let why = text_of_words(&message.rows).unwrap_or_default();
        match usize::try_from(message.numbers[0]) {
            Ok(rank) if message.numbers[0] != u64::MAX && !self.ranks.contains(&rank) => {
                self.over.get_or_insert(CommError::PeerLost { rank, why: Loss::Closed });
            }
            _ => {
                let rank = self.ranks[worker];
                self.over.get_or_insert(CommError::Failed { rank, why });
            }
        }
    }

    fn lose(&mut self, worker: usize, error: CommError) {
        self.asking[worker] = false;
        if !self.dealer.is_live(worker) || self.ending {
            return;
        }
        self.lost.push((self.ranks[worker], error.to_string()));
        if !self.dealer.lose(worker) {
            self.over.get_or_insert(error);
        }
    }
}

impl Shared {
    /// Hears a worker and hands it shares until one of both ends.
    pub(super) fn attend(&self, worker: usize, mut line: Line, most: usize) {
        let gone = self.converse(worker, &mut line, most);
        if let Err(error) = gone {
            self.lock().lose(worker, error);
        }
        self.changed.notify_all();
    }

    fn converse(&self, worker: usize, line: &mut Line, most: usize) -> Result<(), CommError> {
        let mut message = Message::default();
        loop {
            line.receive(&mut message, most)?;
            if message.kind == kind::FAILED {
                self.lock().fail(worker, &message);
                self.changed.notify_all();
                return line.send(&Words { kind: kind::END, ..Words::default() });
            }
            let heard = self.lock().hear(worker, &message);
            self.changed.notify_all();
            heard.ok_or(CommError::PeerLost { rank: line.peer(), why: Loss::Nonsense })?;
            match self.wait_for(worker, line)? {
                Next::Lease { version, shares } => self.hand_out(line, version, &shares)?,
                Next::Tell => line.send(&Words { kind: kind::TELL, ..Words::default() })?,
                Next::End => return line.send(&Words { kind: kind::END, ..Words::default() }),
            }
        }
    }

    /// Waits until there is something for a worker.
    fn wait_for(&self, worker: usize, line: &Line) -> Result<Next, CommError> {
        let (mut floor, mut waited) = (self.lock(), false);
        loop {
            if let Some(next) = floor.next(worker, waited) {
                return Ok(next);
            }
            let woken = self.changed.wait_timeout(floor, LOOK_EVERY);
            let (held, time) = woken.unwrap_or_else(PoisonError::into_inner);
            (floor, waited) = (held, time.timed_out());
            line.check()?;
        }
    }

    fn hand_out(&self, line: &mut Line, version: u64, shares: &[Share]) -> Result<(), CommError> {
        let (mut rows, mut each) = (Vec::new(), 0);
        let stretch = {
            let floor = self.lock();
            let parts = floor.dealer.parts_of_stretch() as u32;
            for share in shares {
                let plan = &floor.plans[(share.step - floor.first) as usize];
                each = plan.words.len();
                put_lease(&mut rows, *share, parts, &plan.words);
            }
            floor.stretches
        };
        let numbers = [shares.len() as u64, each as u64, version, stretch, 0, 0];
        line.send(&Words { kind: kind::LEASE, numbers, rows: &rows, ..Words::default() })
    }
}
