//! Looking again and again before sleeping, as long as nobody else needs the processor.
//!
//! A rank that is woken from sleep is late by tens of microseconds, so a rank that can have a core
//! for itself looks around for a while first. Where other programs want the core, that does harm:
//! whoever spins uses its share of the processor up and must stand back, for milliseconds, just
//! when what it waits for has come, while whoever sleeps is let in at once.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// Between two looks lies a microsecond or so; after longer than this the processor was another's.
const TAKEN_AWAY: Duration = Duration::from_millis(2);

/// How long a rank then sleeps at once when it waits: shortly at first, since ranks that have just
/// begun may share a core for a moment, and twice as long each time that it happens again.
const SHORTEST_REST: Duration = Duration::from_millis(10);
const LONGEST_REST: Duration = Duration::from_secs(1);

/// How long a rank looks before it sleeps.
#[derive(Debug)]
pub(crate) struct Spin {
    most: Duration,
    /// The end of the last rest and its length.
    rest: Cell<Option<(Instant, Duration)>>,
}

impl Spin {
    /// Looks for so long.
    pub(crate) fn new(most: Duration) -> Self {
        Self { most, rest: Cell::new(None) }
    }

    /// Begins to wait.
    pub(crate) fn looks(&self, now: Instant) -> Looks<'_> {
        let rests = self.rest.get().is_some_and(|(end, _)| now < end);
        let most = if rests { Duration::ZERO } else { self.most };
        Looks { spin: self, end: now + most, last: now }
    }

    fn lost(&self, now: Instant) {
        let again = self.rest.get().filter(|(end, _)| now < *end + LONGEST_REST);
        let rest = again.map_or(SHORTEST_REST, |(_, last)| (2 * last).min(LONGEST_REST));
        self.rest.set(Some((now + rest, rest)));
    }
}

/// The looks of one wait.
#[derive(Debug)]
pub(crate) struct Looks<'a> {
    spin: &'a Spin,
    end: Instant,
    last: Instant,
}

impl Looks<'_> {
    /// Whether to look once more, instead of sleeping.
    pub(crate) fn again(&mut self, now: Instant) -> bool {
        let was_looking = self.last < self.end;
        if was_looking && now.saturating_duration_since(self.last) > TAKEN_AWAY {
            self.spin.lost(now);
            self.end = now;
        }
        self.last = now;
        now < self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Duration = Duration::from_micros(1);

    #[test]
    fn whoever_has_the_processor_looks_for_the_whole_time() {
        let spin = Spin::new(STEP * 5);
        let start = Instant::now();
        for wait in [start, start + STEP * 9] {
            let mut looks = spin.looks(wait);
            let seen = (1..=6).take_while(|at| looks.again(wait + STEP * *at)).count();
            assert_eq!(seen, 4);
        }
    }

    /// Loses the processor while looking from `at` on; gives when it has it back.
    fn loses(spin: &Spin, at: Instant) -> Instant {
        let mut looks = spin.looks(at);
        assert!(looks.again(at + STEP));
        let back = at + STEP + TAKEN_AWAY * 2;
        assert!(!looks.again(back), "the time of looking is over");
        back
    }

    fn sleeps_at_once(spin: &Spin, at: Instant) -> bool {
        !spin.looks(at).again(at + STEP)
    }

    #[test]
    fn whoever_loses_the_processor_sleeps_at_once_for_a_moment() {
        let spin = Spin::new(STEP * 500);
        let back = loses(&spin, Instant::now());
        assert!(sleeps_at_once(&spin, back + SHORTEST_REST / 2));
        assert!(!sleeps_at_once(&spin, back + SHORTEST_REST));
    }

    #[test]
    fn whoever_loses_it_again_and_again_rests_ever_longer() {
        let spin = Spin::new(STEP * 500);
        let mut at = Instant::now();
        for times in 0..12 {
            let rest = (SHORTEST_REST * (1 << times)).min(LONGEST_REST);
            let back = loses(&spin, at);
            assert!(sleeps_at_once(&spin, back + rest - STEP));
            at = back + rest;
        }
        let back = loses(&spin, at + LONGEST_REST * 3);
        assert!(!sleeps_at_once(&spin, back + SHORTEST_REST), "it was long ago");
    }

    #[test]
    fn the_time_asleep_does_not_count() {
        let spin = Spin::new(STEP * 5);
        let start = Instant::now();
        let mut looks = spin.looks(start);
        assert!(!looks.again(start + STEP * 5));
        assert!(!looks.again(start + TAKEN_AWAY * 3), "it slept");
        let next = start + TAKEN_AWAY * 4;
        assert!(spin.looks(next).again(next + STEP));
    }
}
