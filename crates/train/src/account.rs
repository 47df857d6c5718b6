//! Keeps account of what a rank does with its time.

use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};
use trainwright_probe::{ThreadClock, ThreadTime};

use crate::events::{Activity, RankTimes, Span};

/// Steps at the beginning that are kept whole.
const FIRST_STEPS: u64 = 64;

/// Most spans of later steps; when there are more, every other step of them is forgotten.
const MOST_LATER: usize = 4096;

/// Of later steps, every so many are looked at for the cores that computing had.
const CORES_EVERY: u64 = 8;

/// What a rank did with its time so far.
pub(crate) struct Account {
    start: Instant,
    /// The same moment in seconds after 1970, by which processes compare their clocks.
    began: f64,
    step: u64,
    pub(crate) times: RankTimes,
    spans: Vec<Span>,
    /// Spans of steps after the first ones, of which every so many are kept.
    later: usize,
    every: u64,
    /// The clock of the rank's thread, from its first step on.
    clock: Option<ThreadClock>,
    cores: Cores,
}

/// Computing that was looked at: by the wall's clock, and with and without a core.
#[derive(Default)]
struct Cores {
    wall_s: f64,
    cpu_s: f64,
    run_queue_s: Option<f64>,
}

/// An account on its way to rank 0.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Told {
    pub(crate) began: f64,
    pub(crate) times: RankTimes,
    pub(crate) spans: Vec<Span>,
}

impl Account {
    /// Nothing so far.
    pub(crate) fn new() -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Self {
            start: Instant::now(),
            began: since.map_or(0.0, |since| since.as_secs_f64()),
            step: 0,
            times: RankTimes::default(),
            spans: Vec::new(),
            later: 0,
            every: 1,
            clock: None,
            cores: Cores::default(),
        }
    }

    /// A step begins.
    pub(crate) fn step(&mut self, step: u64) {
        self.step = step;
    }

    /// Does the work and counts its time.
    pub(crate) fn timed<T>(&mut self, activity: Activity, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.spent(activity, start, start.elapsed());
        result
    }

    /// Counts time that was spent from a moment on.
    pub(crate) fn spent(&mut self, activity: Activity, from: Instant, time: Duration) {
        let seconds = time.as_secs_f64();
        *self.total(activity) += seconds;
        let (step, later) = (self.step, self.step > FIRST_STEPS);
        if time.is_zero() || (later && !step.is_multiple_of(self.every)) {
            return;
        }
        let start_s = from.saturating_duration_since(self.start).as_secs_f64();
        self.spans.push(Span { step, activity, start_s, end_s: start_s + seconds });
        self.later += usize::from(later);
        if self.later > MOST_LATER {
            self.every *= 2;
            let every = self.every;
            self.spans.retain(|own| own.step <= FIRST_STEPS || own.step.is_multiple_of(every));
            self.later = self.spans.iter().filter(|own| own.step > FIRST_STEPS).count();
        }
    }

    /// The time of this thread, before it computes; nothing in steps that are not looked at.
    pub(crate) fn before_computing(&mut self) -> Option<ThreadTime> {
        let looked_at = self.step <= FIRST_STEPS || self.step.is_multiple_of(CORES_EVERY);
        looked_at.then(|| self.clock.get_or_insert_with(ThreadClock::here).now())
    }

    /// Counts the cores that computing had since then, which took so long.
    pub(crate) fn after_computing(&mut self, before: Option<ThreadTime>, wall: Duration) {
        let (Some(before), Some(clock)) = (before, &self.clock) else { return };
        let had = clock.now().since(&before);
        self.cores.wall_s += wall.as_secs_f64();
        self.cores.cpu_s += had.cpu_s;
        if let Some(waited) = had.run_queue_s {
            *self.cores.run_queue_s.get_or_insert(0.0) += waited;
        }
    }

    /// The account until now.
    pub(crate) fn told(&self) -> Told {
        let wall_s = self.start.elapsed().as_secs_f64();
        let Cores { wall_s: seen_s, cpu_s, run_queue_s } = self.cores;
        // Steps that were not looked at are taken to have been like those that were.
        let all =
            |seconds: f64| (seconds / seen_s * self.times.compute_s).min(self.times.compute_s);
        let seen = seen_s > 0.0;
        let times = RankTimes {
            wall_s,
            cpu_s: seen.then(|| all(cpu_s)),
            run_queue_s: run_queue_s.filter(|_| seen).map(all),
            ..self.times.clone()
        };
        Told { began: self.began, times, spans: self.spans.clone() }
    }

    fn total(&mut self, activity: Activity) -> &mut f64 {
        let times = &mut self.times;
        match activity {
            Activity::Compute => &mut times.compute_s,
            Activity::InputWait => &mut times.input_wait_s,
            Activity::BarrierWait => &mut times.barrier_wait_s,
            Activity::Communication => &mut times.communication_s,
            Activity::HiddenCommunication => &mut times.hidden_communication_s,
            Activity::ServerQueue => &mut times.server_queue_s,
            Activity::Update => &mut times.update_s,
            Activity::Evaluation => &mut times.evaluation_s,
            Activity::Checkpoint => &mut times.checkpoint_s,
            Activity::Idle => &mut times.idle_s,
            Activity::Telling => &mut times.telling_s,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: Duration = Duration::from_micros(10);

    #[test]
    fn time_is_added_where_it_belongs_and_is_a_span() {
        let mut account = Account::new();
        let start = account.start;
        account.step(3);
        account.spent(Activity::Compute, start, 2 * MOMENT);
        account.spent(Activity::Update, start + 2 * MOMENT, MOMENT);
        account.spent(Activity::Compute, start + 3 * MOMENT, MOMENT);
        account.spent(Activity::Idle, start, Duration::ZERO);
        let told = account.told();
        assert!((told.times.compute_s - 3e-5).abs() < 1e-12);
        assert!((told.times.accounted_s() - 4e-5).abs() < 1e-12);
        let spans: Vec<_> = told.spans.iter().map(|own| (own.step, own.activity)).collect();
        assert_eq!(spans, [(3, Activity::Compute), (3, Activity::Update), (3, Activity::Compute)]);
        assert!((told.spans[1].start_s - 2e-5).abs() < 1e-12, "{:?}", told.spans);
        assert!((told.spans[1].end_s - 3e-5).abs() < 1e-12);
    }

    #[test]
    fn cores_of_the_steps_looked_at_stand_for_all() {
        let mut account = Account::new();
        let start = account.start;
        assert_eq!(account.told().times.cpu_s, None);
        for step in [1, FIRST_STEPS + 1, FIRST_STEPS + 8] {
            account.step(step);
            let before = account.before_computing();
            assert_eq!(before.is_some(), step != FIRST_STEPS + 1);
            account.spent(Activity::Compute, start, MOMENT);
            account.after_computing(before, MOMENT);
        }
        let times = account.told().times;
        assert!((times.compute_s - 3e-5).abs() < 1e-12);
        let cpu = times.cpu_s.unwrap();
        assert!(cpu > 0.0 && cpu <= times.compute_s, "{times:?}");
    }

    #[test]
    fn the_first_steps_are_kept_and_later_ones_at_growing_distances() {
        let mut account = Account::new();
        let start = account.start;
        for step in 1..=100_000 {
            account.step(step);
            account.spent(Activity::Compute, start, MOMENT);
        }
        let steps: Vec<u64> = account.spans.iter().map(|own| own.step).collect();
        assert!(steps.len() <= FIRST_STEPS as usize + MOST_LATER);
        assert!(steps.len() > MOST_LATER / 2);
        assert_eq!(steps[..FIRST_STEPS as usize], (1..=FIRST_STEPS).collect::<Vec<_>>());
        let gaps: Vec<u64> =
            steps[FIRST_STEPS as usize..].windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.iter().all(|gap| *gap == account.every), "{gaps:?}");
        assert!((account.times.compute_s - 1.0).abs() < 1e-9, "nothing of the sum is forgotten");
    }
}
