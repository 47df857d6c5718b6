//! A few threads that share the parts of a step.
//!
//! Between the phases of a training step lie microseconds, so helpers wait by spinning, then by
//! yielding, and are parked only when the pause is long. A helper that the machine keeps from
//! running is not waited for: the others do its parts. What a part computes never depends on who
//! computes it, so that neither chance nor the number of threads reaches the results.

use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use crate::error::NetworksError;

/// Rounds of waiting that spin; the next ones yield, and after those the helper is parked.
const SPINS: u32 = 2_000;
const YIELDS: u32 = 4_000;

/// Bit of [`Shared::gate`] that is set while helpers may join; the lower bits count those inside.
const OPEN: usize = 1 << (usize::BITS - 1);

/// Threads for the parts of training steps; the calling thread is one of them.
///
/// ```
/// use trainwright_networks::{Adam, Optimizer, Team};
///
/// let (mut team, mut adam) = (Team::new(2)?, Adam::new(3));
/// adam.step(&mut [0.0; 3], &[1.0, 2.0, 3.0], 0.1, &mut team);
/// # Ok::<(), trainwright_networks::NetworksError>(())
/// ```
#[derive(Debug)]
pub struct Team {
    shared: Arc<Shared>,
    helpers: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    /// Counts the calls of [`Team::run`] that want helpers.
    round: AtomicUsize,
    gate: AtomicUsize,
    /// Written by the caller while the gate is closed and empty, read by helpers inside.
    task: UnsafeCell<Option<Task>>,
    next_part: AtomicUsize,
    panicked: AtomicBool,
    ending: AtomicBool,
}

/// What is done for each part, given also the number of the thread that does it.
type Work<'a> = dyn Fn(usize, usize) + Sync + 'a;

#[derive(Clone, Copy)]
struct Task {
    parts: usize,
    work: *const Work<'static>,
}

impl std::fmt::Debug for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Task").field("parts", &self.parts).finish_non_exhaustive()
    }
}

// SAFETY: `task` is the only field that is not safe to share. The caller of `run` writes it while
// the gate is closed and no helper is inside; helpers read it after they have entered through the
// open gate, whose atomic operations order the two.
unsafe impl Sync for Shared {}
// SAFETY: as above; the pointer in `task` is to something `Sync`.
unsafe impl Send for Shared {}

impl Team {
    /// A team of `threads` threads; 0 and 1 are the calling thread alone.
    ///
    /// # Errors
    /// When the system does not give that many threads.
    pub fn new(threads: usize) -> Result<Self, NetworksError> {
        let shared = Arc::new(Shared {
            round: AtomicUsize::new(0),
            gate: AtomicUsize::new(0),
            task: UnsafeCell::new(None),
            next_part: AtomicUsize::new(0),
            panicked: AtomicBool::new(false),
            ending: AtomicBool::new(false),
        });
        // The helpers join the team one by one, so that an error ends those already started.
        let mut team = Self { shared, helpers: Vec::new() };
        for started in 1..threads {
            let shared = Arc::clone(&team.shared);
            let helper = std::thread::Builder::new().spawn(move || shared.help(started));
            team.helpers.push(helper.map_err(|error| NetworksError::Threads {
                wanted: threads,
                started,
                reason: error.kind(),
            })?);
        }
        Ok(team)
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.helpers.len() + 1
    }

    /// Calls `work` once for each part, from any of the threads, and returns when all are done.
    ///
    /// # Panics
    /// When `work` panics.
    pub(crate) fn run(&mut self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        self.run_numbered(parts, &|part, _| work(part));
    }

    /// As [`Self::run`], but `work` is also told which thread calls it, from 0, so that it can
    /// use memory of that thread.
    ///
    /// # Panics
    /// When `work` panics.
    pub(crate) fn run_numbered(&mut self, parts: usize, work: &Work<'_>) {
        if self.helpers.is_empty() || parts < 2 {
            (0..parts).for_each(|part| work(part, 0));
            return;
        }
        let shared = &*self.shared;
        // SAFETY: the lifetime of `work` is forgotten, but no helper uses it after `closing`
        // below is dropped, which happens before this function returns or unwinds. The gate is
        // closed and empty here, because the last `run` left it so and `self` is borrowed
        // mutably, so that nobody reads the task.
        unsafe {
            let work = std::mem::transmute::<*const Work<'_>, *const Work<'static>>(work);
            *shared.task.get() = Some(Task { parts, work });
        }
        shared.next_part.store(0, Ordering::Relaxed);
        shared.gate.store(OPEN, Ordering::Release);
        let closing = Closing(shared);
        shared.round.fetch_add(1, Ordering::Release);
        self.helpers.iter().for_each(|helper| helper.thread().unpark());
        shared.do_parts(0, parts, work);
        drop(closing);
        assert!(!shared.panicked.load(Ordering::Relaxed), "a helper panicked; see its message");
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.shared.ending.store(true, Ordering::Release);
        for helper in self.helpers.drain(..) {
            helper.thread().unpark();
            // A helper catches the panics of its work, and its own loop has none.
            let _ = helper.join();
        }
    }
}

/// Closes the gate when dropped and waits until the last helper has left.
struct Closing<'a>(&'a Shared);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.gate.fetch_and(!OPEN, Ordering::AcqRel);
        let mut waited = 0;
        while self.0.gate.load(Ordering::Acquire) != 0 {
            pause(&mut waited);
        }
    }
}

impl Shared {
    /// What a helper does all its life.
    fn help(&self, number: usize) {
        let mut seen = 0;
        while let Some(round) = self.next_round(seen) {
            seen = round;
            let join = |gate: usize| (gate & OPEN != 0).then_some(gate + 1);
            if self.gate.fetch_update(Ordering::AcqRel, Ordering::Relaxed, join).is_err() {
                continue;
            }
            // SAFETY: this helper is inside the gate, so that the task is written and stays.
            let task = unsafe { (*self.task.get()).expect("an open gate has a task") };
            let work = AssertUnwindSafe(|| {
                // SAFETY: `run` keeps the work alive until this helper has left the gate.
                self.do_parts(number, task.parts, unsafe { &*task.work });
            });
            if catch_unwind(work).is_err() {
                self.panicked.store(true, Ordering::Relaxed);
            }
            self.gate.fetch_sub(1, Ordering::Release);
        }
    }

    /// Waits for a round other than `seen`; `None` when the team ends.
    fn next_round(&self, seen: usize) -> Option<usize> {
        let mut waited = 0;
        loop {
            if self.ending.load(Ordering::Acquire) {
                return None;
            }
            let round = self.round.load(Ordering::Acquire);
            if round != seen {
                return Some(round);
            }
            if waited < SPINS + YIELDS {
                pause(&mut waited);
            } else {
                std::thread::park();
            }
        }
    }

    fn do_parts(&self, number: usize, parts: usize, work: &Work<'_>) {
        loop {
            let part = self.next_part.fetch_add(1, Ordering::Relaxed);
            if part >= parts {
                break;
            }
            work(part, number);
        }
    }
}

/// Spins at first and yields later.
fn pause(waited: &mut u32) {
    *waited = waited.saturating_add(1);
    if *waited < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_done_once_in_every_round() {
        for threads in [0, 1, 2, 3, 8] {
            let mut team = Team::new(threads).unwrap();
            for round in 0..2_000 {
                let parts = round % 7;
                let counts: Vec<AtomicUsize> = (0..parts).map(|_| AtomicUsize::new(0)).collect();
                team.run(parts, &|part| {
                    counts[part].fetch_add(1, Ordering::Relaxed);
                });
                assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 1));
            }
        }
    }

    #[test]
    fn no_two_threads_have_the_same_number_at_once() {
        let mut team = Team::new(4).unwrap();
        let busy: Vec<AtomicBool> = (0..4).map(|_| AtomicBool::new(false)).collect();
        for _ in 0..200 {
            team.run_numbered(64, &|_, number| {
                assert!(!busy[number].swap(true, Ordering::AcqRel));
                std::hint::spin_loop();
                busy[number].store(false, Ordering::Release);
            });
        }
    }

    #[test]
    fn helpers_that_were_parked_come_back() {
        let mut team = Team::new(3).unwrap();
        let shared = Arc::clone(&team.shared);
        for _ in 0..20 {
            // Parts that wait for each other need two threads; a parked helper must wake for it.
            let arrived = AtomicUsize::new(0);
            team.run(2, &|_| {
                arrived.fetch_add(1, Ordering::AcqRel);
                while arrived.load(Ordering::Acquire) < 2 {
                    std::thread::yield_now();
                }
            });
            assert_eq!(shared.gate.load(Ordering::Acquire), 0);
            // Long enough for helpers to be parked on most machines; right in either case.
            (0..20_000).for_each(|_| std::thread::yield_now());
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_team_ends() {
        for culprit in 0..4 {
            let outcome = catch_unwind(|| {
                Team::new(2).unwrap().run(4, &|part| assert_ne!(part, culprit, "meant to fail"));
            });
            assert!(outcome.is_err());
        }
    }
}
