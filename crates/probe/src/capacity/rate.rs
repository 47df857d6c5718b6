//! Work on threads, and what it comes to in a second.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use super::Product;

/// Work a second of some threads together: each does its own for at least `slot`.
pub(super) fn rate_per_s(threads: usize, slot: Duration, make: Product<'_>) -> f64 {
    let begin = Barrier::new(threads);
    let one = || {
        let mut work = make();
        // Touches memory for the first time, which is no work of its own.
        work();
        begin.wait();
        let begun = Instant::now();
        let mut done = 0.0;
        loop {
            done += work();
            let elapsed = begun.elapsed();
            if elapsed >= slot {
                return done / elapsed.as_secs_f64();
            }
        }
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(one)).collect();
        let own = one();
        others
            .into_iter()
            .fold(own, |sum, other| sum + other.join().expect("the work does not panic"))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn the_rate_is_that_of_all_threads_together() {
        let (made, calls) = (AtomicU32::new(0), Arc::new(AtomicU32::new(0)));
        let make = || -> Box<dyn FnMut() -> f64> {
            made.fetch_add(1, Ordering::Relaxed);
            let calls = Arc::clone(&calls);
            Box::new(move || {
                calls.fetch_add(1, Ordering::Relaxed);
                thread::sleep(Duration::from_millis(1));
                1.0
            })
        };
        let slot = Duration::from_millis(20);
        let begun = Instant::now();
        let rate = rate_per_s(3, slot, &make);
        let wall = begun.elapsed();
        assert_eq!(made.load(Ordering::Relaxed), 3);
        // The first call of each is not counted; each worked for no less than the slot and no more
        // than all of it took.
        let done = f64::from(calls.load(Ordering::Relaxed) - 3);
        assert!(rate >= done / wall.as_secs_f64(), "{rate} of {done}");
        assert!(rate <= done / slot.as_secs_f64(), "{rate} of {done}");
    }
}
