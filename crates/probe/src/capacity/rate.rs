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
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn the_rate_is_that_of_all_threads_together() {
        let made = AtomicU32::new(0);
        let make = || -> Box<dyn FnMut() -> f64> {
            made.fetch_add(1, Ordering::Relaxed);
            let begun = Instant::now();
            let mut told = 0.0;
            // Work that comes to exactly its own time: one unit a second and thread.
            Box::new(move || {
                let now = begun.elapsed().as_secs_f64();
                let own = now - told;
                told = now;
                own
            })
        };
        let rate = rate_per_s(3, Duration::from_millis(20), &make);
        assert_eq!(made.load(Ordering::Relaxed), 3);
        // The first call of each loop also counts the wait for the others, so it can be above.
        assert!(rate >= 2.99, "{rate}");
    }
}
