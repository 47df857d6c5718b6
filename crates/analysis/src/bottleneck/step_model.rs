//! A step played again with one resource at no cost.
//!
//! A rank's step is input and computing, then the barrier, then exchange, server and update. Where
//! ranks go together, the slowest sets the time before the barrier; how far single steps scatter
//! about it is taken to shrink with it. Three things bound what free computing would save:
//! exchange that computing hides comes to light, examples that are made as fast as they can be
//! come no faster, and a rank that was stopped stays stopped.

use super::account::{Link, Pace, RankAccount, TrainingAccount};
use super::{Attribution, Idealised, Resource, SlowRank, judged, words};

/// Share of the time spent waiting for examples above which whoever makes them never rests.
const INPUT_NEVER_RESTS: f64 = 0.02;

/// Share of the exchange that round trips must explain to be called its cause ...
const LATENCY_EXPLAINS: f64 = 0.5;

/// ... while less than this share of the bandwidth is in use.
const LINK_IDLE: f64 = 0.2;

/// Share of what the disk can do above which waiting for examples is waiting for the disk.
const DISK_BUSY: f64 = 0.5;

/// A rank this many times slower than the middle one is named.
const SLOW: f64 = 1.2;

/// Says which resource binds a training whose ranks kept accounts.
///
/// Nothing where there is no rank or no time.
pub fn attribute(account: &TrainingAccount) -> Option<Attribution> {
    let model = StepModel::of(account)?;
    let mut idealised: Vec<Idealised> = model
        .savings()
        .into_iter()
        .map(|(resource, seconds)| {
            let shrinks_by = (seconds / account.training_s).clamp(0.0, 1.0);
            Idealised { resource, shrinks_by }
        })
        .collect();
    let covered = model.covered();
    let binding = judged(&mut idealised, Some(covered));
    let steps = account.steps as f64;
    let mut attribution = Attribution {
        binding,
        at_most: false,
        idealised,
        covered: Some(covered),
        step_s: (account.steps > 0).then(|| account.training_s / steps),
        bandwidth_use: model.bandwidth_use(),
        slow_rank: model.slow_rank(),
        text: String::new(),
    };
    attribution.text = words::of_training(&attribution, account);
    Some(attribution)
}

struct StepModel<'a> {
    account: &'a TrainingAccount,
    /// Time that each rank waited for a core while it computed.
    queued_s: Vec<f64>,
    /// Time at the barrier that the meeting itself takes, however equal ranks are: a round trip a
    /// step, as far as all of them wait.
    meeting_s: f64,
}

impl<'a> StepModel<'a> {
    fn of(account: &'a TrainingAccount) -> Option<Self> {
        let positive = account.training_s > 0.0 && account.training_s.is_finite();
        let (queued_s, meeting_s) = (queued(account), meeting_s(account));
        (positive && !account.ranks.is_empty()).then_some(Self { account, queued_s, meeting_s })
    }

    /// Seconds that each resource would save if it were free.
    fn savings(&self) -> Vec<(Resource, f64)> {
        let ranks = &self.account.ranks;
        let mean = |of: &dyn Fn(&RankAccount) -> f64| {
            ranks.iter().map(of).sum::<f64>() / ranks.len() as f64
        };
        let computing: Vec<f64> =
            self.stopped().iter().zip(ranks).map(|(s, r)| r.compute_s - s).collect();
        let inputs: Vec<f64> = ranks.iter().map(|rank| rank.input_wait_s).collect();
        let [bandwidth, latency, rest] =
            self.exchange(mean(&|rank| rank.communication_s) + self.meeting_s);
        let input = if self.disk_is_busy() { Resource::Disk } else { Resource::Input };
        vec![
            (Resource::Processor, self.before_barrier(&computing, true) + mean(&|r| r.update_s)),
            (Resource::SharedCores, self.before_barrier(&self.queued_s, false)),
            (Resource::NetworkBandwidth, bandwidth),
            (Resource::NetworkLatency, latency),
            (Resource::Exchange, rest),
            (input, self.before_barrier(&inputs, false)),
            (Resource::Stragglers, self.waiting_for_the_slowest()),
            (Resource::Server, mean(&|rank| rank.server_queue_s)),
        ]
    }

    /// What is saved before the barrier where each rank saves so much.
    fn before_barrier(&self, saved_s: &[f64], computing: bool) -> f64 {
        let ranks = &self.account.ranks;
        let left = |(rank, saved): (&RankAccount, &f64)| {
            let before = rank.before_barrier_s();
            let left = (before - saved).max(0.0);
            match computing {
                true => left.max(self.least_without_computing(rank)).min(before),
                false => left,
            }
        };
        let left: Vec<f64> = ranks.iter().zip(saved_s).map(left).collect();
        let before: Vec<f64> = ranks.iter().map(RankAccount::before_barrier_s).collect();
        match self.account.pace {
            Pace::Alone => {
                let saved: f64 = before.iter().zip(&left).map(|(before, left)| before - left).sum();
                saved / ranks.len() as f64
            }
            Pace::Together => {
                let (most, least) = (largest(&before), largest(&left));
                if most > 0.0 { self.common_s() * (1.0 - least / most) } else { 0.0 }
            }
        }
    }

    /// What the time before the barrier cannot fall below, however fast computing is.
    fn least_without_computing(&self, rank: &RankAccount) -> f64 {
        let never_rests = rank.input_wait_s > INPUT_NEVER_RESTS * self.account.training_s;
        let input = if never_rests { rank.before_barrier_s() } else { 0.0 };
        input.max(rank.hidden_communication_s)
    }

    /// Time before the barrier until all have come, the same for all ranks but for rounding.
    fn common_s(&self) -> f64 {
        let ranks = &self.account.ranks;
        let until = |rank: &RankAccount| rank.before_barrier_s() + rank.barrier_wait_s;
        ranks.iter().map(until).sum::<f64>() / ranks.len() as f64 - self.meeting_s
    }

    /// What is saved if every rank is as fast as the middle one in every step.
    fn waiting_for_the_slowest(&self) -> f64 {
        match self.account.pace {
            Pace::Alone => 0.0,
            Pace::Together => (self.common_s() - self.middle_s()).max(0.0),
        }
    }

    /// The time before the barrier of the middle rank; of two, the faster.
    fn middle_s(&self) -> f64 {
        let mut before: Vec<f64> =
            self.account.ranks.iter().map(RankAccount::before_barrier_s).collect();
        before.sort_by(f64::total_cmp);
        before[(before.len() - 1) / 2]
    }

    fn slow_rank(&self) -> Option<SlowRank> {
        let slowest = |a: &&RankAccount, b: &&RankAccount| {
            a.before_barrier_s().total_cmp(&b.before_barrier_s())
        };
        let slow = self.account.ranks.iter().max_by(slowest)?;
        let times = slow.before_barrier_s() / self.middle_s();
        let told = self.account.pace == Pace::Together && times.is_finite() && times >= SLOW;
        told.then_some(SlowRank { rank: slow.rank, times })
    }

    /// Time of each rank's computing in which it neither ran nor was ready to: it was stopped.
    fn stopped(&self) -> Vec<f64> {
        // A thread that waits for others of its rank is not stopped, and looks the same.
        let alone = self.account.threads <= 1;
        let stopped = |(rank, queued): (&RankAccount, &f64)| match rank.cpu_s.filter(|_| alone) {
            Some(cpu) => (rank.compute_s - cpu - queued).clamp(0.0, rank.compute_s),
            None => 0.0,
        };
        self.account.ranks.iter().zip(&self.queued_s).map(stopped).collect()
    }

    /// Exchange as bytes, round trips and the rest.
    fn exchange(&self, exposed_s: f64) -> [f64; 3] {
        let Link::Network { bytes_per_s, round_trip_s } = self.account.link else {
            return [0.0, 0.0, exposed_s];
        };
        let ranks = &self.account.ranks;
        let sent: u64 = ranks.iter().map(|rank| rank.bytes_sent).sum();
        let messages = ranks.iter().map(|rank| rank.messages).max().unwrap_or(0);
        let bytes = bytes_per_s.map_or(0.0, |speed| sent as f64 / speed).min(exposed_s);
        let trips = round_trip_s.map_or(0.0, |trip| messages as f64 * trip).min(exposed_s);
        let idle = self.bandwidth_use().is_none_or(|used| used < LINK_IDLE);
        if trips > LATENCY_EXPLAINS * exposed_s && idle {
            let bytes = bytes.min(exposed_s - trips);
            return [bytes, trips, exposed_s - trips - bytes];
        }
        let both = bytes + trips;
        let scale = if both > exposed_s { exposed_s / both } else { 1.0 };
        [bytes * scale, trips * scale, exposed_s - both * scale]
    }

    /// Share of the link's bandwidth in use over the training time.
    fn bandwidth_use(&self) -> Option<f64> {
        let Link::Network { bytes_per_s: Some(speed), .. } = self.account.link else { return None };
        let sent: u64 = self.account.ranks.iter().map(|rank| rank.bytes_sent).sum();
        Some(sent as f64 / self.account.training_s / speed)
    }

    fn disk_is_busy(&self) -> bool {
        let machine = &self.account.machine;
        let read = machine.disk_read_bytes.zip(machine.disk_bytes_per_s);
        read.is_some_and(|(bytes, speed)| {
            bytes as f64 / self.account.training_s >= DISK_BUSY * speed
        })
    }

    /// Share of the time that ranks account for, at least.
    fn covered(&self) -> f64 {
        let least = self.account.ranks.iter().map(RankAccount::sum_s).fold(f64::INFINITY, f64::min);
        (least / self.account.training_s).min(1.0)
    }
}

/// Time that each rank waited for a core: its own figure, or else its part of the machine's, which
/// is taken off the slowest ranks first: without others on their cores they would be as fast.
fn queued(account: &TrainingAccount) -> Vec<f64> {
    let most = |rank: &RankAccount| rank.compute_s;
    let own: Option<Vec<f64>> =
        account.ranks.iter().map(|rank| Some(rank.run_queue_s?.min(most(rank)))).collect();
    if let Some(own) = own {
        return own;
    }
    let Some(all) = account.machine.run_queue_s else { return vec![0.0; account.ranks.len()] };
    let mut left = all / f64::from(account.threads.max(1));
    let mut computing: Vec<f64> = account.ranks.iter().map(most).collect();
    // Lower the highest to the next one until nothing is left; ranks are few.
    while left > 0.0 {
        let highest = largest(&computing);
        let next = computing.iter().filter(|own| **own < highest).fold(0.0f64, |m, v| m.max(*v));
        let count = computing.iter().filter(|own| **own >= highest).count() as f64;
        let step = (highest - next).min(left / count);
        if step <= 0.0 {
            break;
        }
        computing.iter_mut().filter(|own| **own >= highest).for_each(|own| *own -= step);
        left -= step * count;
    }
    account.ranks.iter().zip(computing).map(|(rank, left)| most(rank) - left).collect()
}

fn meeting_s(account: &TrainingAccount) -> f64 {
    let Link::Network { round_trip_s: Some(trip), .. } = account.link else { return 0.0 };
    let waits = account.ranks.iter().map(|rank| rank.barrier_wait_s);
    waits.fold(account.steps as f64 * trip, f64::min)
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0f64, |most, value| most.max(*value))
}
