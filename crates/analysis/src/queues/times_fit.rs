//! From measured service times to the queue they make.

use serde::Serialize;
use trainwright_queueing::{
    ExponentialCheck, QueueKind, QueueingError, ServiceFit, SteadyState, checked_rate,
    exponential_check, fit_service,
};

use super::answer_findings::{ALPHA, not_exponential, unstable};
use crate::findings::{Finding, Severity};

/// Times below which intervals and checks say little.
const FEW: usize = 30;

/// Measured times in seconds, and what is asked of them.
#[derive(Debug, Clone)]
pub struct MeasuredTimes {
    /// Service times.
    pub service: Vec<f64>,
    /// Times between arrivals, where they were measured.
    pub interarrival: Option<Vec<f64>>,
    /// Rows or trials without a time.
    pub left_out: usize,
    /// How many configurations the times come from.
    pub configurations: usize,
    /// Arrivals a second to judge the queue at.
    pub arrival_rate: Option<f64>,
    /// Servers.
    pub servers: u32,
    /// Decides resamples.
    pub seed: u64,
}

/// Measured times, summed up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TimesFit {
    /// Rate and variation, times in seconds.
    #[serde(flatten)]
    pub fit: ServiceFit,
    /// Whether they could be exponential.
    pub exponential: ExponentialCheck,
}

/// Which queue measured times make.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FitReply {
    /// Service times.
    pub service: TimesFit,
    /// Times between arrivals, where they were given.
    pub interarrival: Option<TimesFit>,
    /// Jobs that arrive in a second, as given or measured.
    pub arrival_rate: Option<f64>,
    /// Servers.
    pub servers: u32,
    /// Work that arrives for each server in a second.
    pub utilisation: Option<f64>,
    /// The kind of queue that fits, as the verb `queue` names it.
    pub recommended: &'static str,
    /// Why, in words.
    pub reason: String,
    /// What that queue does in the long run, where arrivals are known and it is stable.
    pub steady_state: Option<SteadyState>,
    /// What M/M/c would say.
    pub if_exponential: Option<SteadyState>,
    /// Rows or trials without a time.
    pub left_out: usize,
    /// What the figures mean.
    pub findings: Vec<Finding>,
}

/// Says which queue measured times make.
///
/// # Errors
/// Too few times, one that is not positive, or an arrival rate that no queue has.
pub fn fit_times(times: &MeasuredTimes) -> Result<FitReply, QueueingError> {
    let summed = |own: &[f64]| -> Result<TimesFit, QueueingError> {
        let (fit, exponential) =
            (fit_service(own, times.seed)?, exponential_check(own, times.seed)?);
        Ok(TimesFit { fit, exponential })
    };
    let service = summed(&times.service)?;
    let interarrival = times.interarrival.as_deref().map(summed).transpose()?;
    let given = times.arrival_rate.map(|rate| checked_rate("arrival rate", rate)).transpose()?;
    let arrival_rate = given.or(interarrival.as_ref().map(|own| own.fit.rate));
    let utilisation =
        arrival_rate.map(|rate| rate * service.fit.mean.estimate / f64::from(times.servers));
    let scv_arrival = interarrival.as_ref().map_or(1.0, |own| own.fit.scv.estimate);
    let is_poisson = interarrival.as_ref().is_none_or(TimesFit::could_be_exponential);
    let (recommended, reason) = recommend(&service, is_poisson, times.servers);
    let stable_at = arrival_rate.filter(|_| utilisation.is_some_and(|own| own < 1.0));
    let state = |kind: QueueKind| -> Result<Option<SteadyState>, QueueingError> {
        let Some(rate) = stable_at else { return Ok(None) };
        Ok(Some(kind.queue(rate, service.fit.rate, times.servers)?.steady_state()))
    };
    let scv_service = service.fit.scv.estimate;
    let kind = match recommended {
        "mm1" | "mmc" => QueueKind::Mmc,
        "mg1" => QueueKind::Mgc { scv_service },
        _ if is_poisson => QueueKind::Ggc { scv_arrival: 1.0, scv_service },
        _ => QueueKind::Ggc { scv_arrival, scv_service },
    };
    let mut findings: Vec<Finding> = utilisation
        .filter(|own| *own >= 1.0)
        .map(|own| unstable(own, times.servers))
        .into_iter()
        .chain(not_exponential(&service.fit, &service.exponential))
        .collect();
    findings.extend(mixed(times.configurations));
    if service.fit.count < FEW {
        findings.push(few(service.fit.count));
    }
    Ok(FitReply {
        steady_state: state(kind)?,
        if_exponential: state(QueueKind::Mmc)?,
        service,
        interarrival,
        arrival_rate,
        servers: times.servers,
        utilisation,
        recommended,
        reason,
        left_out: times.left_out,
        findings,
    })
}

impl TimesFit {
    /// Whether nothing speaks against exponential times.
    pub fn could_be_exponential(&self) -> bool {
        self.exponential.p >= ALPHA
    }
}

fn recommend(service: &TimesFit, poisson: bool, servers: u32) -> (&'static str, String) {
    let exponential = service.could_be_exponential();
    let kind = match (poisson, exponential, servers) {
        (true, true, 1) => "mm1",
        (true, true, _) => "mmc",
        (true, false, 1) => "mg1",
        _ => "ggc",
    };
    let arrivals = if poisson {
        "arrivals are taken to be Poisson"
    } else {
        "the times between arrivals are not exponential"
    };
    let services = if exponential {
        "nothing speaks against exponential service"
    } else {
        "service is not exponential"
    };
    (kind, format!("{arrivals}, and {services}"))
}

fn few(count: usize) -> Finding {
    Finding::new(
        "queue-few-times",
        Severity::Warning,
        format!(
            "{count} times say little about their variation, and nothing about rare long ones; \
             measure at least {FEW}"
        ),
    )
}

fn mixed(configurations: usize) -> Option<Finding> {
    let text = format!(
        "the times come from {configurations} configurations, so their variation is that of a mixed \
         stream of jobs; choose one with --where FACTOR=LEVEL"
    );
    (configurations > 1)
        .then(|| Finding::new("queue-mixed-configurations", Severity::Warning, text))
}
