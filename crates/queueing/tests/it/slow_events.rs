//! Queues that the simulation of the crate does not know, simulated event by event.

use trainwright_queueing::{Discipline, FiniteQueue, PriorityClass, PriorityQueue};
use trainwright_random::Random;

/// Clocks that ring after exponential times.
struct Dice(Random);

impl Dice {
    fn time(&mut self, rate: f64) -> f64 {
        self.0.exponential() / rate
    }

    /// Which of several exponential clocks rings first, and when.
    fn race(&mut self, rates: &[f64]) -> (usize, f64) {
        let rings = rates.iter().map(|&rate| if rate > 0.0 { self.time(rate) } else { f64::MAX });
        rings.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap()
    }
}

/// Mean jobs waiting of each class, whose means follow by Little's law.
fn waiting(rates: &[f64], service: f64, servers: u32) -> Vec<f64> {
    let mut dice = Dice(Random::new(5));
    let (mut busy, mut now) = (0u32, 0.0);
    let mut queue = vec![0u32; rates.len()];
    let mut areas = vec![0.0; rates.len()];
    for _ in 0..2_000_000 {
        let mut clocks = rates.to_vec();
        clocks.push(f64::from(busy) * service);
        let (which, time) = dice.race(&clocks);
        now += time;
        for (area, jobs) in areas.iter_mut().zip(&queue) {
            *area += time * f64::from(*jobs);
        }
        if which < rates.len() {
            if busy < servers { busy += 1 } else { queue[which] += 1 }
        } else {
            match queue.iter_mut().find(|jobs| **jobs > 0) {
                Some(jobs) => *jobs -= 1,
                None => busy -= 1,
            }
        }
    }
    areas.iter().map(|area| area / now).collect()
}

#[test]
fn urgent_jobs_wait_as_cobham_says() {
    for (rates, servers) in [(vec![0.3, 0.4], 1), (vec![0.8, 0.6, 0.9], 3)] {
        let class =
            |rate: &f64| PriorityClass { arrival_rate: *rate, service_rate: 1.0, scv_service: 1.0 };
        let classes = rates.iter().map(class).collect();
        let queue = PriorityQueue::new(classes, servers, Discipline::NonPreemptive).unwrap();
        let expected = queue.classes();
        for (found, class) in waiting(&rates, 1.0, servers).iter().zip(expected) {
            // Two million events leave a standard error of about 1 %.
            assert!((found / class.mean_queue - 1.0).abs() < 0.04, "{found} {class:?}");
        }
    }
}

#[test]
fn a_finite_population_queues_as_predicted() {
    let (rate, service, servers, population) = (0.3, 1.0, 2u32, 9u32);
    let mut dice = Dice(Random::new(6));
    let (mut jobs, mut now, mut area) = (0u32, 0.0, 0.0);
    let (mut arrivals, mut delayed) = (0u32, 0u32);
    for _ in 0..1_000_000 {
        let up = f64::from(population - jobs) * rate;
        let (which, time) = dice.race(&[up, f64::from(jobs.min(servers)) * service]);
        now += time;
        area += time * f64::from(jobs);
        if which == 0 {
            arrivals += 1;
            delayed += u32::from(jobs >= servers);
            jobs += 1;
        } else {
            jobs -= 1;
        }
    }
    let state =
        FiniteQueue::with_population(rate, service, servers, population).unwrap().steady_state();
    assert!((area / now / state.mean_jobs - 1.0).abs() < 0.01);
    assert!((f64::from(arrivals) / now / state.throughput - 1.0).abs() < 0.01);
    let p_wait = f64::from(delayed) / f64::from(arrivals);
    assert!((p_wait / state.p_wait.unwrap() - 1.0).abs() < 0.01);
}
