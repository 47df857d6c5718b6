//! The leader: it deals shares out to workers, and tells servers what makes up a step.
//!
//! A thread for each worker hears what it has done and hands it its next shares; what they share is
//! the dealer, under one lock. The leader's own thread talks to the servers.

mod attending;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::dealer::{Complete, Consistency, Dealer, Share, Steps};
use super::log::Applied;
use super::server::{ServerAccount, read_squares};
use super::words::{kind, put_take, read_log};
use crate::error::{CommError, Loss};
use crate::lines::{Line, Message, Words};
use attending::Floor;

/// How often the leader looks whether the servers live while nothing else happens.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// The leader of workers and servers.
pub struct Leader {
    shared: Arc<Shared>,
    servers: Vec<Line>,
    consistency: Consistency,
    workers: usize,
    answer: Message,
    most: usize,
    logs: bool,
}

struct Shared {
    floor: Mutex<Floor>,
    changed: Condvar,
}

/// Steps that the leader has computed.
#[derive(Debug, Clone, Copy)]
pub struct Stretch<'a> {
    /// The number of the first step.
    pub first: u64,
    /// What is known of each.
    pub steps: &'a [StepPlan],
    /// Whether an update needs the norm of the gradients of all servers.
    pub norms: bool,
    /// Steps that a worker gets at a time where nothing waits for it.
    pub lease: usize,
}

/// A step as the leader plans it.
#[derive(Debug, Clone, PartialEq)]
pub struct StepPlan {
    /// What the workers must know of it; as many words for each step.
    pub words: Vec<u32>,
    /// The learning rate.
    pub rate: f64,
    /// How many micro-batches it has.
    pub leaves: usize,
    /// Examples: steps with as many may stand in for each other.
    pub examples: usize,
}

/// What came of a stretch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ran {
    /// The steps, in the order of their updates.
    pub finished: Vec<Finished>,
    /// What the worker said whose gradients were no numbers; the stretch ended there.
    pub void: Option<Vec<u32>>,
}

/// A step that was applied.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// Its number.
    pub step: u64,
    /// What the workers said of its shares, in their order.
    pub told: Vec<Vec<u32>>,
    /// The squared norm of its gradients, where it was asked for.
    pub squared: Option<f64>,
}

impl Leader {
    /// Leads these workers and servers; messages have at most so many bytes.
    ///
    /// # Errors
    /// Where the system gives no thread.
    pub fn new(
        workers: Vec<Line>,
        servers: Vec<Line>,
        consistency: Consistency,
        most: usize,
    ) -> Result<Self, CommError> {
        let count = workers.len();
        let dealer = Dealer::new(consistency, count);
        let floor = Mutex::new(Floor::new(dealer, &workers));
        let shared = Arc::new(Shared { floor, changed: Condvar::new() });
        for (worker, line) in workers.into_iter().enumerate() {
            let shared = shared.clone();
            let attend = move || shared.attend(worker, line, most);
            let started = thread::Builder::new().name("comm leader".to_owned()).spawn(attend);
            started.map_err(|source| CommError::Socket {
                what: "start a thread for",
                address: format!("worker {worker}"),
                source,
            })?;
        }
        let answer = Message::default();
        Ok(Self { shared, servers, consistency, workers: count, answer, most, logs: false })
    }

    /// Has the servers keep what they apply, for [`Self::log`].
    pub fn keep_log(&mut self) {
        self.logs = true;
    }

    /// Waits until all servers serve and every worker has come to work or cannot; what became of
    /// those is told by the next [`Self::run`].
    ///
    /// # Errors
    /// Where a server is lost.
    pub fn wait_for_all(&mut self) -> Result<(), CommError> {
        self.account_of_servers()?;
        let shared = self.shared.clone();
        let mut floor = shared.lock();
        while floor.over.is_none() && floor.is_waiting_for_workers() {
            let waited = shared.changed.wait_timeout(floor, LOOK_EVERY);
            floor = waited.unwrap_or_else(PoisonError::into_inner).0;
            self.servers.iter().try_for_each(Line::check)?;
        }
        Ok(())
    }

    /// How many parts a step has that begins now.
    pub fn parts(&self) -> usize {
        self.shared.lock().dealer.parts()
    }

    /// Workers that are lost, in the order of their losses, and why.
    pub fn lost(&self) -> Vec<(usize, String)> {
        self.shared.lock().lost.clone()
    }

    /// Gradients that were computed and never used.
    pub fn dropped(&self) -> u64 {
        self.shared.lock().dealer.dropped()
    }

    /// Has a stretch of steps computed and applied.
    ///
    /// # Errors
    /// Where a server is lost, or more workers than the consistency can do without.
    pub fn run(&mut self, stretch: &Stretch<'_>) -> Result<Ran, CommError> {
        let applies = match self.consistency {
            Consistency::Async => 0,
            Consistency::Sync { backup: 1.. } => 1,
            Consistency::Sync { backup: 0 } | Consistency::Bounded { .. } => 2,
        };
        let numbers = [stretch.first, applies, u64::from(self.logs), 0, 0, 0];
        self.order(&Words { kind: kind::BEGIN, numbers, ..Words::default() }, |_| ())?;
        let size = |plan: &StepPlan| plan.examples;
        let first = stretch.steps.first().map(size);
        let alike = stretch.steps.iter().take_while(|plan| Some(plan.examples) == first).count();
        let steps =
            Steps { first: stretch.first, count: stretch.steps.len() as u64, alike: alike as u64 };
        self.shared.lock().begin(steps, stretch);
        self.shared.changed.notify_all();
        let ran = self.see_to_its_end(stretch);
        self.shared.lock().rest();
        ran
    }

    fn see_to_its_end(&mut self, stretch: &Stretch<'_>) -> Result<Ran, CommError> {
        let mut ran = Ran::default();
        let shared = self.shared.clone();
        let mut floor = shared.lock();
        loop {
            while let Some(complete) = floor.dealer.next_complete() {
                drop(floor);
                let squared = self.apply(stretch, &complete)?;
                floor = shared.lock();
                floor.dealer.applied();
                shared.changed.notify_all();
                let told = floor.told_of(&complete.takes);
                ran.finished.push(Finished { step: complete.step, told, squared });
            }
            if let Some(void) = floor.void.take() {
                ran.void = Some(void);
                return Ok(ran);
            }
            if floor.dealer.is_over() {
                return Ok(ran);
            }
            if let Some(error) = floor.over.take() {
                drop(floor);
                // That a server is gone says more than that workers could not go on without it.
                self.servers.iter().try_for_each(Line::check)?;
                return Err(error);
            }
            let waited = shared.changed.wait_timeout(floor, LOOK_EVERY);
            let (held, time) = waited.unwrap_or_else(PoisonError::into_inner);
            floor = held;
            if time.timed_out() {
                self.servers.iter().try_for_each(Line::check)?;
            }
        }
    }

    /// Tells the servers what a step is made of; the squared norm of its gradients if asked for.
    fn apply(
        &mut self,
        stretch: &Stretch<'_>,
        complete: &Complete,
    ) -> Result<Option<f64>, CommError> {
        if self.consistency == Consistency::Async {
            return Ok(None);
        }
        let plan = &stretch.steps[(complete.step - stretch.first) as usize];
        let leaves = match self.consistency {
            // Shares of several steps may be mixed: each is one leaf.
            Consistency::Sync { backup: 1.. } => complete.takes.len(),
            _ => plan.leaves,
        };
        let mut rows = Vec::new();
        for (share, worker) in &complete.takes {
            put_take(&mut rows, *share, *worker as u32);
        }
        let only_sum = u64::from(stretch.norms);
        let rate = plan.rate.to_bits();
        let numbers = [complete.takes.len() as u64, leaves as u64, rate, only_sum, 0, 0];
        let words = Words { kind: kind::SUM, numbers, rows: &rows, ..Words::default() };
        let mut squares = Vec::new();
        self.order(&words, |answer| squares.extend(read_squares(&answer.rows)))?;
        if !stretch.norms {
            return Ok(None);
        }
        // In the order of pieces, as one that owns them all would add them up.
        let squared: f64 = squares.iter().sum();
        let numbers = [rate, squared.sqrt().to_bits(), 0, 0, 0, 0];
        self.order(&Words { kind: kind::UPDATE, numbers, ..Words::default() }, |_| ())?;
        Ok(Some(squared))
    }

    /// Everything that the servers keep, one after another.
    ///
    /// # Errors
    /// Where a server is lost.
    pub fn store(&mut self) -> Result<Vec<Vec<f32>>, CommError> {
        let mut stored = Vec::new();
        let words = Words { kind: kind::STORE, ..Words::default() };
        self.order(&words, |answer| stored.push(std::mem::take(&mut answer.values)))?;
        Ok(stored)
    }

    /// Gives each server everything that it keeps.
    ///
    /// # Errors
    /// Where a server is lost, or refuses it.
    pub fn load(&mut self, values: &[Vec<f32>]) -> Result<(), CommError> {
        for (line, values) in self.servers.iter_mut().zip(values) {
            line.send(&Words { kind: kind::LOAD, values, ..Words::default() })?;
        }
        self.hear(|_| ())
    }

    /// What the servers have applied since last asked.
    ///
    /// # Errors
    /// Where a server is lost.
    pub fn log(&mut self) -> Result<Vec<Vec<Applied>>, CommError> {
        let mut logs = Vec::new();
        let words = Words { kind: kind::LOG, ..Words::default() };
        self.order(&words, |answer| logs.push(read_log(&answer.rows)))?;
        let read = logs.into_iter().collect::<Option<Vec<_>>>();
        read.ok_or(CommError::PeerLost { rank: 0, why: Loss::Nonsense })
    }

    /// What the servers did with their time.
    ///
    /// # Errors
    /// Where a server is lost.
    pub fn account_of_servers(&mut self) -> Result<Vec<ServerAccount>, CommError> {
        let mut accounts = Vec::new();
        let words = Words { kind: kind::ACCOUNT, ..Words::default() };
        self.order(&words, |answer| accounts.push(ServerAccount::read(answer)))?;
        let read = accounts.into_iter().collect::<Option<Vec<_>>>();
        read.ok_or(CommError::PeerLost { rank: 0, why: Loss::Nonsense })
    }

    /// What the workers that live said of their time, each with its number.
    pub fn account_of_workers(&mut self) -> Vec<(usize, Vec<u32>)> {
        self.shared.ask_all();
        let mut floor = self.shared.lock();
        while floor.is_asking() {
            let waited = self.shared.changed.wait(floor);
            floor = waited.unwrap_or_else(PoisonError::into_inner);
        }
        (0..self.workers).filter_map(|own| Some((own, floor.accounts[own].take()?))).collect()
    }

    /// Sends everybody home.
    ///
    /// # Errors
    /// Where a server is lost.
    pub fn end(&mut self) -> Result<(), CommError> {
        self.shared.lock().ending = true;
        self.shared.changed.notify_all();
        let words = Words { kind: kind::END, ..Words::default() };
        self.servers.iter_mut().try_for_each(|line| line.send(&words))
    }

    /// Gives an order to every server, and hears all answers.
    fn order(
        &mut self,
        words: &Words<'_>,
        take: impl FnMut(&mut Message),
    ) -> Result<(), CommError> {
        self.servers.iter_mut().try_for_each(|line| line.send(words))?;
        self.hear(take)
    }

    fn hear(&mut self, mut take: impl FnMut(&mut Message)) -> Result<(), CommError> {
        for line in &mut self.servers {
            line.receive(&mut self.answer, self.most)?;
            if self.answer.kind != kind::KEPT {
                return Err(CommError::PeerLost { rank: line.peer(), why: Loss::Nonsense });
            }
            take(&mut self.answer);
        }
        Ok(())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Floor> {
        self.floor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask_all(&self) {
        self.lock().ask_all();
        self.changed.notify_all();
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        // Threads that wait for shares to deal out go home, and with them their workers.
        self.shared.lock().ending = true;
        self.shared.changed.notify_all();
    }
}

impl std::fmt::Debug for Leader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Leader({} workers, {} servers)", self.workers, self.servers.len())
    }
}

/// Shares with what their workers said.
type Told = std::collections::HashMap<(Share, usize), Vec<u32>>;
