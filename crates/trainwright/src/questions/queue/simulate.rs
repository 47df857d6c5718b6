//! The event simulation of a queue beside its closed form.

use serde::Serialize;
use trainwright_queueing::{
    ClassMeans, Interval, PriorityDraft, PriorityQueue, PrioritySimulation, QueueDraft, QueueKind,
    QueueingError, Simulated, SimulatedClass, SimulationRequest, Times, simulate, simulate_classes,
};

use crate::Error;

/// Batches that a simulation is cut into for its intervals.
const BATCHES: u32 = 40;

/// How much is simulated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimulationLength {
    /// Jobs, besides a twentieth before anything is counted; where absent, as many as intervals of
    /// quantiles need to keep their word.
    pub jobs: Option<u32>,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// Decides every random number.
    pub seed: u64,
}

/// A simulated figure beside its closed form.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Agreement {
    /// Which figure.
    pub figure: &'static str,
    /// What the simulation saw.
    pub simulated: Interval,
    /// What the closed form says; `None` where there is none.
    pub closed_form: Option<f64>,
    /// Whether the closed form lies in the interval.
    pub within: Option<bool>,
}

/// A simulated queue.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueueSimulated {
    /// The queue's name.
    pub queue: String,
    /// Jobs that arrive in a unit of time.
    pub arrival_rate: f64,
    /// Jobs that one busy server ends in a unit of time.
    pub service_rate: f64,
    /// Servers.
    pub servers: u32,
    /// Jobs simulated.
    pub jobs: u32,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// Decides every random number.
    pub seed: u64,
    /// Whether the closed form is an approximation.
    pub approximate: bool,
    /// Every figure, beside its closed form.
    pub figures: Vec<Agreement>,
}

/// A simulated queue with classes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassesSimulated {
    /// The queue's name.
    pub queue: String,
    /// Servers.
    pub servers: u32,
    /// Jobs simulated.
    pub jobs: u32,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// Decides every random number.
    pub seed: u64,
    /// Figures of each class, the most urgent first.
    pub classes: Vec<Vec<Agreement>>,
}

/// Simulates a queue and compares it with its closed form.
///
/// # Errors
/// A number is missing, out of range or foreign to the queue, or the queue would grow for ever.
pub fn simulate_queue(
    draft: &QueueDraft,
    length: &SimulationLength,
) -> Result<QueueSimulated, Error> {
    let answer = draft.answer()?;
    let jobs = length.jobs.unwrap_or_else(|| enough_jobs(answer.steady_state.utilisation));
    let (mean_gap, mean_service) = (1.0 / answer.arrival_rate, 1.0 / answer.service_rate);
    let (scv_arrival, scv_service) = match answer.kind {
        QueueKind::Mgc { scv_service } => (1.0, scv_service),
        QueueKind::Ggc { scv_arrival, scv_service } => (scv_arrival, scv_service),
        _ => (1.0, 1.0),
    };
    let request = SimulationRequest {
        arrivals: Times::with_scv(mean_gap, scv_arrival)?,
        service: Times::with_scv(mean_service, scv_service)?,
        servers: answer.servers,
        capacity: draft.capacity,
        population: draft.population,
        warm_up: jobs / 20,
        batch: batch(jobs)?,
        batches: BATCHES,
        confidence: length.confidence,
        seed: length.seed,
    };
    let seen = simulate(&request)?;
    let approximate = matches!(answer.kind, QueueKind::Ggc { .. });
    Ok(QueueSimulated {
        figures: figures(&answer, &seen),
        queue: answer.queue,
        arrival_rate: answer.arrival_rate,
        service_rate: answer.service_rate,
        servers: answer.servers,
        jobs,
        confidence: length.confidence,
        seed: length.seed,
        approximate,
    })
}

/// Simulates a queue with classes and compares it with its closed form, where it has one.
///
/// # Errors
/// A number is missing or out of range, or the queue would grow for ever.
pub fn simulate_priorities(
    draft: &PriorityDraft,
    length: &SimulationLength,
) -> Result<ClassesSimulated, Error> {
    let classes = draft.classes()?;
    let servers = draft.servers.unwrap_or(1);
    let jobs = length.jobs.unwrap_or(FEWEST_JOBS);
    let request = PrioritySimulation {
        classes: classes.clone(),
        servers,
        discipline: draft.discipline,
        warm_up: jobs / 20,
        batch: batch(jobs)?,
        batches: BATCHES,
        confidence: length.confidence,
        seed: length.seed,
    };
    let seen = simulate_classes(&request)?;
    let closed = match PriorityQueue::new(classes.clone(), servers, draft.discipline) {
        Ok(queue) => queue.classes().into_iter().map(Some).collect(),
        Err(QueueingError::UnequalClasses { .. }) => vec![None; classes.len()],
        Err(error) => return Err(error.into()),
    };
    let exponential = classes.iter().all(|class| class.scv_service == 1.0);
    let service = if exponential { "M" } else { "G" };
    Ok(ClassesSimulated {
        queue: format!("M/{service}/{servers} with {} classes", classes.len()),
        servers,
        jobs,
        confidence: length.confidence,
        seed: length.seed,
        classes: seen.iter().zip(closed).map(|(own, closed)| of_class(own, closed)).collect(),
    })
}

/// Jobs simulated at least where nobody says how many, and at most.
const FEWEST_JOBS: u32 = 1_000_000;
const MOST_JOBS: u32 = 10_000_000;

/// Jobs after which intervals of the 99th percentile keep their word: a busy queue forgets its past
/// in a time that grows as the square of 1 / (1 - utilisation); 4 million jobs are enough at 95 %.
fn enough_jobs(utilisation: f64) -> u32 {
    let jobs = 10_000.0 / (1.0 - utilisation).powi(2);
    jobs.clamp(f64::from(FEWEST_JOBS), f64::from(MOST_JOBS)) as u32
}

fn batch(jobs: u32) -> Result<u32, Error> {
    if jobs >= 100 * BATCHES {
        return Ok(jobs / BATCHES);
    }
    let (value, least) = (u64::from(jobs), u64::from(100 * BATCHES));
    let what = "jobs to simulate";
    Err(QueueingError::Count { what, value, least, most: u64::from(u32::MAX) }.into())
}

fn agreement(figure: &'static str, simulated: Interval, closed_form: Option<f64>) -> Agreement {
    // Figures that never vary have an interval without width.
    let slack = |value: f64| 1e-12 * value.abs();
    let within = closed_form.map(|value| {
        simulated.low - slack(value) <= value && value <= simulated.high + slack(value)
    });
    Agreement { figure, simulated, closed_form, within }
}

fn figures(answer: &trainwright_queueing::QueueAnswer, seen: &Simulated) -> Vec<Agreement> {
    let (state, quantiles) = (&answer.steady_state, &answer.quantiles);
    let [wait_p50, wait_p90, wait_p99] = seen.wait_quantiles;
    let [response_p50, response_p90, response_p99] = seen.response_quantiles;
    vec![
        agreement("utilisation", seen.utilisation, Some(state.utilisation)),
        agreement("p0", seen.p0, state.p0),
        agreement("p_wait", seen.p_wait, state.p_wait),
        agreement("p_block", seen.p_block, Some(state.p_block)),
        agreement("throughput", seen.throughput, Some(state.throughput)),
        agreement("mean_jobs", seen.mean_jobs, Some(state.mean_jobs)),
        agreement("mean_queue", seen.mean_queue, Some(state.mean_queue)),
        agreement("mean_wait", seen.mean_wait, Some(state.mean_wait)),
        agreement("mean_response", seen.mean_response, Some(state.mean_response)),
        agreement("wait_p50", wait_p50, quantiles.wait.p50),
        agreement("wait_p90", wait_p90, quantiles.wait.p90),
        agreement("wait_p99", wait_p99, quantiles.wait.p99),
        agreement("response_p50", response_p50, quantiles.response.p50),
        agreement("response_p90", response_p90, quantiles.response.p90),
        agreement("response_p99", response_p99, quantiles.response.p99),
    ]
}

fn of_class(seen: &SimulatedClass, closed: Option<ClassMeans>) -> Vec<Agreement> {
    let of = |value: fn(&ClassMeans) -> f64| closed.as_ref().map(value);
    vec![
        agreement("mean_jobs", seen.mean_jobs, of(|class| class.mean_jobs)),
        agreement("mean_queue", seen.mean_queue, of(|class| class.mean_queue)),
        agreement("mean_wait", seen.mean_wait, of(|class| class.mean_wait)),
        agreement("mean_response", seen.mean_response, of(|class| class.mean_response)),
    ]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use trainwright_queueing::{Discipline, QueueName};

    use super::*;

    fn draft() -> QueueDraft {
        QueueDraft {
            name: QueueName::Mmc,
            arrival_rate: Some(0.5),
            service_rate: Some(1.0),
            servers: Some(1),
            capacity: None,
            population: None,
            scv_arrival: None,
            scv_service: None,
            target: None,
        }
    }

    const SHORT: SimulationLength =
        SimulationLength { jobs: Some(4000), confidence: 0.999, seed: 5 };

    #[test]
    fn a_busy_queue_needs_more_jobs_within_limits() {
        assert_eq!(enough_jobs(0.0), 1_000_000);
        assert_eq!(enough_jobs(0.9), 1_000_000);
        // 10,000 / 0.05^2 in floats.
        assert!((3_999_999..=4_000_001).contains(&enough_jobs(0.95)));
        assert_eq!(enough_jobs(0.999), 10_000_000);
        assert_eq!(enough_jobs(1.0), 10_000_000);
    }

    #[test]
    fn too_few_jobs_for_forty_batches_are_refused() {
        let length = SimulationLength { jobs: Some(3999), ..SHORT };
        let error = simulate_queue(&draft(), &length).unwrap_err();
        let words = error.to_string();
        assert!(words.contains("jobs to simulate") && words.contains("3999"), "{words}");
        assert!(words.contains("4000"), "{words}");
        assert_eq!(batch(4000).unwrap(), 100);
    }

    #[test]
    fn an_end_of_the_interval_lies_within_it() {
        let seen = Interval { estimate: 1.0, low: 0.5, high: 1.5 };
        for (closed, within) in [(0.5, true), (1.5, true), (0.49, false), (1.51, false)] {
            assert_eq!(agreement("x", seen, Some(closed)).within, Some(within), "{closed}");
        }
        assert_eq!(agreement("x", seen, None).within, None);
        // A figure that never varied may differ by rounding.
        let point = Interval { estimate: 0.3, low: 0.3, high: 0.3 };
        assert_eq!(agreement("x", point, Some(0.1 + 0.2)).within, Some(true));
    }

    #[test]
    fn a_queue_with_room_for_one_blocks_as_erlang_says() {
        let full = QueueDraft { name: QueueName::Mmck, capacity: Some(1), ..draft() };
        let seen = simulate_queue(&full, &SHORT).unwrap();
        let block = seen.figures.iter().find(|own| own.figure == "p_block").unwrap();
        // Erlang's loss formula at an offered load of 1/2: 0.5 / (1 + 0.5).
        assert!((block.closed_form.unwrap() - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(block.within, Some(true), "{block:?}");
        assert!(!seen.approximate);
    }

    #[test]
    fn only_general_arrivals_are_an_approximation() {
        let general = QueueDraft {
            name: QueueName::Ggc,
            scv_arrival: Some(0.5),
            scv_service: Some(0.5),
            ..draft()
        };
        assert!(simulate_queue(&general, &SHORT).unwrap().approximate);
    }

    #[test]
    fn classes_without_a_closed_form_are_simulated_all_the_same() {
        let classes = |service_rates: Vec<f64>| PriorityDraft {
            arrival_rates: vec![0.4, 0.5],
            service_rates,
            scv_service: Vec::new(),
            servers: Some(2),
            discipline: Discipline::NonPreemptive,
            target: None,
        };
        let equal = simulate_priorities(&classes(vec![1.0]), &SHORT).unwrap();
        assert_eq!((equal.queue.as_str(), equal.classes.len()), ("M/M/2 with 2 classes", 2));
        assert!(equal.classes.concat().iter().all(|own| own.closed_form.is_some()));
        let unequal = simulate_priorities(&classes(vec![1.0, 2.0]), &SHORT).unwrap();
        assert!(unequal.classes.concat().iter().all(|own| own.closed_form.is_none()));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        /// Little's law holds in the closed forms beside which a simulation is put.
        #[test]
        fn jobs_present_are_throughput_times_their_stay(load in 0.05_f64..0.9, servers in 1_u32..4) {
            let own = QueueDraft {
                arrival_rate: Some(load * f64::from(servers)),
                servers: Some(servers),
                ..draft()
            };
            let seen = simulate_queue(&own, &SHORT).unwrap();
            let closed = |name: &str| {
                seen.figures.iter().find(|own| own.figure == name).unwrap().closed_form.unwrap()
            };
            let product = closed("throughput") * closed("mean_response");
            prop_assert!((closed("mean_jobs") - product).abs() < 1e-9 * product);
        }
    }
}
