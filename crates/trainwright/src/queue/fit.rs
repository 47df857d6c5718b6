//! From measured service times to the queue they make.

use std::fs::File;
use std::path::Path;

use serde::Serialize;
use trainwright_analysis::{Column, Finding, Severity, Table};
use trainwright_queueing::{
    ExponentialCheck, QueueKind, ServiceFit, SteadyState, checked_rate, exponential_check,
    fit_service,
};
use trainwright_study::{Level, Study, TrialState, seconds_per};

use super::findings::{ALPHA, not_exponential, unstable};
use crate::{Error, Results};

/// Times below which intervals and checks say little.
const FEW: usize = 30;

/// Measured times and what is asked of them.
#[derive(Debug, Clone)]
pub struct FitRequest<'a> {
    /// Where the times are.
    pub source: FitSource<'a>,
    /// Values that rows or trials must have, by column or factor.
    pub conditions: &'a [(String, String)],
    /// Arrivals a second to judge the queue at.
    pub arrival_rate: Option<f64>,
    /// Servers.
    pub servers: u32,
    /// Decides resamples.
    pub seed: u64,
}

/// Where measured times are.
#[derive(Debug, Clone)]
pub enum FitSource<'a> {
    /// Columns of a table.
    Table {
        /// CSV file with a header.
        data: &'a Path,
        /// Column of the service times.
        column: &'a str,
        /// Unit of the times.
        unit: Option<&'a str>,
        /// Column of the times between arrivals.
        interarrival: Option<&'a str>,
    },
    /// Finished trials of a study.
    Study {
        /// The study.
        study: &'a Study,
        /// Its store, where the user named one.
        store: Option<&'a Path>,
        /// The metric that is the service time.
        metric: &'a str,
    },
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
/// A metric or column that is not a time or has no unit, a file that cannot be read, too few
/// times, or one that is not positive.
pub fn fit_queue(request: &FitRequest<'_>) -> Result<FitReply, Error> {
    let times = match &request.source {
        FitSource::Table { data, column, unit, interarrival } => {
            let per = seconds_in(column, *unit)?;
            of_table(data, [Some(*column), *interarrival], request.conditions, per)?
        }
        FitSource::Study { study, store, metric } => {
            of_study(study, *store, metric, request.conditions)?
        }
    };
    let summed = |times: &[f64]| -> Result<TimesFit, Error> {
        let (fit, exponential) =
            (fit_service(times, request.seed)?, exponential_check(times, request.seed)?);
        Ok(TimesFit { fit, exponential })
    };
    let service = summed(&times.service)?;
    let interarrival = times.interarrival.as_deref().map(summed).transpose()?;
    let given = request.arrival_rate.map(|rate| checked_rate("arrival rate", rate)).transpose()?;
    let arrival_rate = given.or(interarrival.as_ref().map(|own| own.fit.rate));
    let utilisation =
        arrival_rate.map(|rate| rate * service.fit.mean.estimate / f64::from(request.servers));
    let scv_arrival = interarrival.as_ref().map_or(1.0, |own| own.fit.scv.estimate);
    let is_poisson = interarrival.as_ref().is_none_or(TimesFit::could_be_exponential);
    let (recommended, reason) = recommend(&service, is_poisson, request.servers);
    let stable_at = arrival_rate.filter(|_| utilisation.is_some_and(|own| own < 1.0));
    let state = |kind: QueueKind| -> Result<Option<SteadyState>, Error> {
        let Some(rate) = stable_at else { return Ok(None) };
        Ok(Some(kind.queue(rate, service.fit.rate, request.servers)?.steady_state()))
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
        .map(|own| unstable(own, request.servers))
        .into_iter()
        .chain(not_exponential(&service.fit, &service.exponential))
        .collect();
    findings.extend(times.mixed);
    if service.fit.count < FEW {
        findings.push(few(service.fit.count));
    }
    Ok(FitReply {
        steady_state: state(kind)?,
        if_exponential: state(QueueKind::Mmc)?,
        service,
        interarrival,
        arrival_rate,
        servers: request.servers,
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
        self.exponential.p >= ALPHA && self.fit.exponential_is_plausible()
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

/// Times in seconds.
struct MeasuredTimes {
    service: Vec<f64>,
    interarrival: Option<Vec<f64>>,
    left_out: usize,
    mixed: Option<Finding>,
}

/// Seconds in the unit of a column.
fn seconds_in(column: &str, unit: Option<&str>) -> Result<f64, Error> {
    let refused = |reason: String| {
        Error::Request(format!(
            "column `{column}` cannot be a service time: {reason}; service times need a unit of \
             time (us, ms, s, min or h)"
        ))
    };
    let unit = unit.ok_or_else(|| refused("it has no unit; say it with --unit".to_owned()))?;
    seconds_per(unit).ok_or_else(|| refused(format!("`{unit}` is no unit of time")))
}

fn of_table(
    path: &Path,
    columns: [Option<&str>; 2],
    conditions: &[(String, String)],
    seconds: f64,
) -> Result<MeasuredTimes, Error> {
    let fault = |message: String| Error::Statistics { file: path.to_owned(), message };
    let file = File::open(path).map_err(|source| Error::Input { path: path.to_owned(), source })?;
    let named: Vec<String> = conditions.iter().map(|(name, _)| name.clone()).collect();
    let table = Table::from_csv(file, &named).map_err(|error| fault(error.to_string()))?;
    let mut kept = vec![true; table.rows()];
    for (name, value) in conditions {
        let column = table.column(name).map_err(|error| fault(error.to_string()))?;
        let Column::Categorical(cells) = column else {
            unreachable!("columns of conditions are read as text");
        };
        let wanted = Level::parse(value);
        for (keep, cell) in kept.iter_mut().zip(cells) {
            *keep &= cell.as_deref().is_some_and(|cell| Level::parse(cell).same_as(&wanted));
        }
    }
    let mut left_out = 0;
    let mut read = |name: &str| -> Result<Vec<f64>, Error> {
        let column = table.column(name).map_err(|error| fault(error.to_string()))?;
        let Column::Numeric(cells) = column else {
            return Err(fault(format!("column `{name}` holds texts, not times")));
        };
        let chosen = || cells.iter().zip(&kept).filter(|(_, keep)| **keep).map(|(cell, _)| *cell);
        left_out += chosen().filter(Option::is_none).count();
        let times: Vec<f64> = chosen().flatten().map(|time| time * seconds).collect();
        if times.is_empty() {
            return Err(fault(format!("no row with these conditions has a value in `{name}`")));
        }
        Ok(times)
    };
    let [service, interarrival] = columns;
    Ok(MeasuredTimes {
        service: read(service.unwrap_or_default())?,
        interarrival: interarrival.map(&mut read).transpose()?,
        left_out,
        mixed: None,
    })
}

fn of_study(
    study: &Study,
    store: Option<&Path>,
    metric: &str,
    conditions: &[(String, String)],
) -> Result<MeasuredTimes, Error> {
    let refused = |reason: String| {
        Error::Request(format!("metric `{metric}` cannot be a service time: {reason}"))
    };
    let known = study.metric(metric).ok_or_else(|| {
        let names: Vec<String> =
            study.metrics.iter().map(|own| format!("`{}`", own.name)).collect();
        refused(format!("the study has no such metric; it has {}", names.join(", ")))
    })?;
    let seconds = match known.unit.as_deref() {
        None => return Err(refused("it has no unit, and service needs one of time".to_owned())),
        Some(unit) => seconds_per(unit).ok_or_else(|| {
            refused(format!("its unit is `{unit}`, which is no unit of time; a queue needs times"))
        })?,
    };
    for (name, _) in conditions {
        study.factor(name).ok_or_else(|| refused(format!("the study has no factor `{name}`")))?;
    }
    let results = Results::read(study, store)?;
    let (mut service, mut rows, mut left_out) = (Vec::new(), Vec::new(), 0);
    for trial in &results.trials {
        let fits = |(name, value): &(String, String)| {
            trial.configuration.get(name).is_some_and(|own| own.same_as(&Level::parse(value)))
        };
        if trial.state != TrialState::Finished || !conditions.iter().all(fits) {
            continue;
        }
        match trial.measurements.iter().find(|own| own.metric == metric) {
            Some(own) => service.push(own.value * seconds),
            None => left_out += 1,
        }
        rows.push(trial.configuration.to_string());
    }
    rows.sort_unstable();
    rows.dedup();
    let mixed = (rows.len() > 1).then(|| Finding::new("queue-mixed-configurations", Severity::Warning, format!(
            "the times come from {} configurations, so their variation is that of a mixed stream of \
             jobs; choose one with --where FACTOR=LEVEL",
            rows.len()
        )));
    if service.is_empty() {
        return Err(refused("no finished trial with these conditions has it".to_owned()));
    }
    Ok(MeasuredTimes { service, interarrival: None, left_out, mixed })
}
