//! Any of the queues, and how to ask it. Read this first.

use crate::bisection;
use crate::error::QueueingError;
use crate::limits::count;
use crate::models::ggc::Ggc;
use crate::models::limited::FiniteQueue;
use crate::models::mg1::Mg1;
use crate::models::mmc::Mmc;
use crate::steady_state::{Quantiles, SteadyState, TimeQuantiles};

/// What a queue is, apart from its rates and servers.
///
/// ```
/// use trainwright_queueing::QueueKind;
///
/// let queue = QueueKind::Mmc.queue(3.2, 1.0, 4)?;
/// assert!((queue.steady_state().mean_wait - 0.7455405897).abs() < 1e-9);
/// # Ok::<(), trainwright_queueing::QueueingError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum QueueKind {
    /// Poisson arrivals, exponential service; one server is M/M/1.
    Mmc,
    /// The same with a limited number of places, those in service included.
    Mmck {
        /// Places.
        capacity: u32,
    },
    /// Poisson arrivals, any service: exact for one server, else the approximation of G/G/c.
    Mgc {
        /// Variance of service times over their squared mean.
        scv_service: f64,
    },
    /// Exponential service of a fixed number of customers that come back; the arrival rate is
    /// that of each customer while it is away.
    Finite {
        /// Customers in all.
        population: u32,
    },
    /// Any arrivals, any service, by an approximation.
    Ggc {
        /// Variance of the times between arrivals over their squared mean.
        scv_arrival: f64,
        /// Variance of service times over their squared mean.
        scv_service: f64,
    },
}

/// A checked queue.
#[derive(Debug, Clone, PartialEq)]
pub enum Queue {
    /// M/M/1 and M/M/c.
    Mmc(Mmc),
    /// M/M/c/K and M/M/c//N.
    Finite(FiniteQueue),
    /// M/G/1.
    Mg1(Mg1),
    /// G/G/c.
    Ggc(Ggc),
}

impl QueueKind {
    /// Most jobs that can be in the system at once; endless where `None`.
    pub(crate) fn places(self) -> Option<u32> {
        match self {
            Self::Mmck { capacity } => Some(capacity),
            Self::Finite { population } => Some(population),
            Self::Mmc | Self::Mgc { .. } | Self::Ggc { .. } => None,
        }
    }

    /// The queue of this kind with these rates; `service_rate` is that of one server.
    ///
    /// # Errors
    /// A number out of range, or arrivals that the servers cannot keep up with.
    pub fn queue(
        self,
        arrival_rate: f64,
        service_rate: f64,
        servers: u32,
    ) -> Result<Queue, QueueingError> {
        count("servers", servers)?;
        Ok(match self {
            Self::Mmc => Queue::Mmc(Mmc::new(arrival_rate, service_rate, servers)?),
            Self::Mmck { capacity } => Queue::Finite(FiniteQueue::with_places(
                arrival_rate,
                service_rate,
                servers,
                capacity,
            )?),
            Self::Finite { population } => Queue::Finite(FiniteQueue::with_population(
                arrival_rate,
                service_rate,
                servers,
                population,
            )?),
            Self::Mgc { scv_service } if servers == 1 => {
                Queue::Mg1(Mg1::new(arrival_rate, service_rate, scv_service)?)
            }
            Self::Mgc { scv_service } => {
                Queue::Ggc(Ggc::new(arrival_rate, service_rate, servers, [1.0, scv_service])?)
            }
            Self::Ggc { scv_arrival, scv_service } => {
                let scvs = [scv_arrival, scv_service];
                Queue::Ggc(Ggc::new(arrival_rate, service_rate, servers, scvs)?)
            }
        })
    }
}

impl Queue {
    /// Averages and probabilities in the long run.
    pub fn steady_state(&self) -> SteadyState {
        match self {
            Self::Mmc(queue) => queue.steady_state(),
            Self::Finite(queue) => queue.steady_state(),
            Self::Mg1(queue) => queue.steady_state(),
            Self::Ggc(queue) => queue.steady_state(),
        }
    }

    /// Quantiles of wait and response, where a closed form exists.
    pub fn quantiles(&self) -> Quantiles {
        match self {
            Self::Mmc(queue) => queue.quantiles(),
            Self::Finite(queue) => queue.quantiles(),
            Self::Mg1(_) | Self::Ggc(_) => {
                Quantiles { wait: TimeQuantiles::UNKNOWN, response: TimeQuantiles::UNKNOWN }
            }
        }
    }

    /// The response that a fraction of the jobs keeps within, where a closed form exists.
    pub fn response_within(&self, fraction: f64) -> Option<f64> {
        self.response_tail(0.0)?;
        let tail = |time| self.response_tail(time).expect("it has a tail at every time");
        Some(bisection::quantile(tail, 1.0 - fraction, self.steady_state().mean_response))
    }

    /// The wait that a fraction of the jobs keeps within, where a closed form exists.
    pub fn wait_within(&self, fraction: f64) -> Option<f64> {
        self.wait_tail(0.0)?;
        let tail = |time| self.wait_tail(time).expect("it has a tail at every time");
        Some(bisection::quantile(tail, 1.0 - fraction, self.steady_state().mean_response))
    }

    /// Probability of `jobs` jobs in the system, where a closed form exists.
    pub fn state_probability(&self, jobs: u64) -> Option<f64> {
        match self {
            Self::Mmc(queue) => Some(queue.state_probability(jobs)),
            Self::Finite(queue) => Some(queue.state_probability(jobs)),
            Self::Mg1(_) | Self::Ggc(_) => None,
        }
    }

    /// Probability that an accepted job waits longer than `time`, where a closed form exists.
    pub fn wait_tail(&self, time: f64) -> Option<f64> {
        match self {
            Self::Mmc(queue) => Some(queue.wait_tail(time)),
            Self::Finite(queue) => Some(queue.wait_tail(time)),
            Self::Mg1(_) | Self::Ggc(_) => None,
        }
    }

    /// Probability that an accepted job takes longer than `time`, where a closed form exists.
    pub fn response_tail(&self, time: f64) -> Option<f64> {
        match self {
            Self::Mmc(queue) => Some(queue.response_tail(time)),
            Self::Finite(queue) => Some(queue.response_tail(time)),
            Self::Mg1(_) | Self::Ggc(_) => None,
        }
    }
}
