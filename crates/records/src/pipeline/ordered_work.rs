//! Work on many threads whose results come out in the order of the jobs.
//!
//! Each worker takes the next job, and no job is begun that is more than a window ahead of the
//! result handed out last, so memory stays bounded whatever the speed of the two sides.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Results in the order of their jobs; ends the threads when it is dropped.
pub(crate) struct Ordered<Job, Out> {
    shared: Arc<Shared<Job, Out>>,
    threads: Vec<JoinHandle<()>>,
    waited: Duration,
}

struct Shared<Job, Out> {
    state: Mutex<State<Job, Out>>,
    /// Workers wait here for room in the window.
    room: Condvar,
    /// The consumer waits here for its next result.
    ready: Condvar,
    window: u64,
}

struct State<Job, Out> {
    jobs: Box<dyn Iterator<Item = Job> + Send>,
    taken: u64,
    delivered: u64,
    done: BTreeMap<u64, Out>,
    /// No further job will be begun.
    ended: bool,
    panicked: bool,
}

impl<Job: Send + 'static, Out: Send + 'static> Ordered<Job, Out> {
    /// Starts one thread a worker on the jobs, at most `window` ahead of the consumer.
    ///
    /// # Panics
    /// When there is no worker or no window.
    pub(crate) fn start<W>(
        workers: Vec<W>,
        window: usize,
        jobs: impl Iterator<Item = Job> + Send + 'static,
    ) -> Self
    where
        W: FnMut(Job) -> Out + Send + 'static,
    {
        assert!(window > 0 && !workers.is_empty(), "nothing would ever be done");
        let state = State {
            jobs: Box::new(jobs),
            taken: 0,
            delivered: 0,
            done: BTreeMap::new(),
            ended: false,
            panicked: false,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            room: Condvar::new(),
            ready: Condvar::new(),
            window: window as u64,
        });
        let begin = |worker: W| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.work(worker))
        };
        Self { threads: workers.into_iter().map(begin).collect(), shared, waited: Duration::ZERO }
    }

    /// How long the consumer has waited for results so far.
    pub(crate) fn waited(&self) -> Duration {
        self.waited
    }
}

impl<Job, Out> Iterator for Ordered<Job, Out> {
    type Item = Out;

    fn next(&mut self) -> Option<Out> {
        let mut state = self.shared.lock();
        let mut since = None;
        loop {
            assert!(!state.panicked, "a worker has panicked");
            let wanted = state.delivered;
            if let Some(out) = state.done.remove(&wanted) {
                state.delivered += 1;
                self.shared.room.notify_all();
                self.waited += since.map_or(Duration::ZERO, |since: Instant| since.elapsed());
                return Some(out);
            }
            if state.ended && state.delivered == state.taken {
                return None;
            }
            since.get_or_insert_with(Instant::now);
            state = self.shared.ready.wait(state).expect("nobody panics while holding the lock");
        }
    }
}

impl<Job, Out> Drop for Ordered<Job, Out> {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.room.notify_all();
        for thread in self.threads.drain(..) {
            // A panic of a worker has been passed on by `next`.
            let _ = thread.join();
        }
    }
}

impl<Job, Out> Shared<Job, Out> {
    fn lock(&self) -> MutexGuard<'_, State<Job, Out>> {
        // A job iterator that panics poisons the lock; the flag below tells the consumer.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn work(&self, mut worker: impl FnMut(Job) -> Out) {
        let alarm = Alarm(self);
        while let Some((number, job)) = self.take() {
            let out = worker(job);
            self.lock().done.insert(number, out);
            self.ready.notify_one();
        }
        std::mem::forget(alarm);
    }

    fn take(&self) -> Option<(u64, Job)> {
        let mut state = self.lock();
        while !state.ended && state.taken >= state.delivered + self.window {
            state = self.room.wait(state).expect("nobody panics while holding the lock");
        }
        if state.ended {
            return None;
        }
        match state.jobs.next() {
            Some(job) => {
                state.taken += 1;
                Some((state.taken - 1, job))
            }
            None => {
                state.ended = true;
                self.ready.notify_one();
                self.room.notify_all();
                None
            }
        }
    }
}

/// Tells the consumer that its worker has panicked, instead of letting it wait for ever.
struct Alarm<'a, Job, Out>(&'a Shared<Job, Out>);

impl<Job, Out> Drop for Alarm<'_, Job, Out> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        (state.panicked, state.ended) = (true, true);
        self.0.ready.notify_all();
        self.0.room.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn results_come_in_the_order_of_the_jobs(
            jobs in 0..200_usize, threads in 1..5_usize, window in 1..9_usize, consumed in 0..300_usize,
        ) {
            let workers = vec![|job: usize| job * job; threads];
            let ordered = Ordered::start(workers, window, 0..jobs);
            let found: Vec<usize> = ordered.take(consumed).collect();
            let expected: Vec<usize> = (0..jobs.min(consumed)).map(|job| job * job).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn no_job_is_begun_beyond_the_window() {
        let begun = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&begun);
        let work = move |_: u32| counter.fetch_add(1, Ordering::SeqCst);
        let mut ordered = Ordered::start(vec![work.clone(), work], 3, 0..100);
        for delivered in 1..=100 {
            ordered.next().unwrap();
            assert!(begun.load(Ordering::SeqCst) <= delivered + 3);
        }
    }

    #[test]
    #[should_panic(expected = "a worker has panicked")]
    fn a_panic_of_a_worker_reaches_the_consumer() {
        Ordered::start(vec![|job: u32| assert!(job < 5)], 2, 0..10).for_each(drop);
    }
}
