//! How long ranks on threads take to exchange numbers, measured.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use trainwright_comm::Group;

use super::circle::{BLOCK, Circle};
use super::wire::Wire;

/// Repetitions of a measurement; the middle one counts.
const REPETITIONS: usize = 15;

/// Time after which ranks that have just begun have a core each, where there are enough.
const WARM: Duration = Duration::from_millis(30);

/// Fewest and most blocks that are added up in turn.
const BLOCKS: (usize, usize) = (4, 256);

/// What an exchange between two ranks on threads costs, as sums of gradients make it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExchangeTime {
    /// Seconds of one without bytes.
    pub latency_s: f64,
    /// Bytes that go to the other rank in a second, while as many come from it.
    pub bytes_per_s: f64,
}

/// Measures exchanges of ranks on threads that add up so many gradients, so that a repetition finds
/// caches as cold as a step does; none where a rank is alone.
pub fn exchange_time(ranks: usize, gradients: u64) -> Option<ExchangeTime> {
    if ranks < 2 {
        return None;
    }
    let wanted = usize::try_from(gradients).unwrap_or(usize::MAX).div_ceil(BLOCK);
    let blocks = wanted.clamp(BLOCKS.0, BLOCKS.1);
    let numbers = BLOCK * blocks;
    let short = sum_time(ranks, ranks).as_secs_f64();
    let long = sum_time(ranks, numbers).as_secs_f64();
    // A sum is made of two rounds, in each of which every two ranks exchange a piece.
    let rounds = 2.0 * (ranks - 1) as f64;
    let latency_s = short / rounds;
    let bytes = rounds * (4 * numbers / ranks) as f64;
    let waits = rounds * latency_s * blocks as f64;
    // Short of a third of the time for bytes, the latency was not a latency.
    let moving = (long - waits).max(long / 3.0);
    Some(ExchangeTime { latency_s, bytes_per_s: bytes / moving })
}

/// The middle time of a sum of so many numbers over all ranks.
fn sum_time(ranks: usize, numbers: usize) -> Duration {
    let (begin, is_cold, first) = (Barrier::new(ranks), AtomicBool::new(true), Instant::now());
    let run = |group: Group| {
        let circle = Circle { ranks: (0..ranks).collect(), place: group.rank() };
        let mut wire = Wire::new(group);
        let (weights, mut values) = (vec![1.0; numbers], vec![1.0; numbers]);
        let mut times = Vec::with_capacity(REPETITIONS);
        loop {
            if circle.place == 0 {
                is_cold.store(first.elapsed() < WARM, Ordering::Relaxed);
            }
            begin.wait();
            // No rank begins the next sum before all have read this.
            if !is_cold.load(Ordering::Relaxed) || circle.sum(&mut wire, &mut values).is_err() {
                break;
            }
        }
        for _ in 0..REPETITIONS {
            begin.wait();
            let started = Instant::now();
            if circle.sum(&mut wire, &mut values).is_err() {
                break;
            }
            times.push(started.elapsed());
            // A backward pass reads weights and writes gradients, those of the first layer last.
            for (own, weights) in values.chunks_mut(BLOCK).zip(weights.chunks(BLOCK)).rev() {
                own.copy_from_slice(weights);
            }
        }
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or_default()
    };
    let times = std::thread::scope(|scope| {
        let ranks: Vec<_> =
            Group::threads(ranks).into_iter().map(|group| scope.spawn(|| run(group))).collect();
        ranks.into_iter().map(|rank| rank.join().unwrap_or_default()).max()
    });
    times.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanges_take_time_and_a_rank_alone_has_none() {
        let found = exchange_time(2, 1000).unwrap();
        assert!(found.latency_s > 0.0 && found.bytes_per_s > 0.0, "{found:?}");
        assert_eq!(exchange_time(1, 1000), None);
    }
}
