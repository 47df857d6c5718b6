//! What a load test runs, and when.

use std::fs;
use std::path::Path;

use trainwright_queueing::ArrivalPlan;
use trainwright_study::{Configuration, DesignKind, Level, Seed, Study};

use crate::Error;
use crate::studies::planned::design_of;

/// Jobs that a test may have.
const MOST_JOBS: usize = 1_000_000;

/// When jobs arrive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LoadArrivals<'a> {
    /// Exponential times between arrivals.
    Poisson {
        /// Jobs a second.
        rate_per_s: f64,
    },
    /// Equal times between arrivals.
    Deterministic {
        /// Jobs a second.
        rate_per_s: f64,
    },
    /// Moments in seconds since the beginning, one a line.
    File(&'a Path),
}

impl LoadArrivals<'_> {
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Poisson { .. } => "poisson",
            Self::Deterministic { .. } => "deterministic",
            Self::File(_) => "file",
        }
    }

    pub(super) fn rate(&self) -> Option<f64> {
        match self {
            Self::Poisson { rate_per_s } | Self::Deterministic { rate_per_s } => Some(*rate_per_s),
            Self::File(_) => None,
        }
    }
}

/// The first row of the design that has these levels, and its number; without a design the first
/// level of every factor that is not set.
pub(super) fn configuration(
    study: &Study,
    set: &[(String, String)],
) -> Result<(Option<u32>, Configuration), Error> {
    let design = design_of(study)?;
    if study.design.kind == DesignKind::Open {
        return Ok((None, chosen(study, set)?));
    }
    for (name, value) in set {
        let factor = study.factor(name).ok_or_else(|| {
            let known: Vec<String> =
                study.factors.iter().map(|own| format!("`{}`", own.name)).collect();
            Error::Request(format!(
                "there is no factor `{name}`; the study has {}",
                known.join(", ")
            ))
        })?;
        if !design.rows().iter().any(|row| has(row, name, value)) {
            return Err(Error::Request(format!(
                "no row of the design has {}={value}; choose levels that the design has",
                factor.name
            )));
        }
    }
    let fits = |row: &Configuration| set.iter().all(|(name, value)| has(row, name, value));
    let found = (1..).zip(design.rows()).find(|(_, row)| fits(row));
    found.map(|(number, row)| (Some(number), row.clone())).ok_or_else(|| {
        let wanted: Vec<String> =
            set.iter().map(|(name, value)| format!("{name}={value}")).collect();
        Error::Request(format!("no row of the design has {} together", wanted.join(" ")))
    })
}

/// The levels that are set, and the first level of all other factors.
fn chosen(study: &Study, set: &[(String, String)]) -> Result<Configuration, Error> {
    let mut pairs = Vec::new();
    for factor in &study.factors {
        let asked = set.iter().find(|(name, _)| *name == factor.name);
        let level = match asked {
            None => factor.levels.first().cloned(),
            Some((_, value)) => factor.value(&Level::parse(value)),
        };
        let level = level.ok_or_else(|| {
            Error::Request(format!("say which level `{0}` has: --set {0}=LEVEL", factor.name))
        })?;
        pairs.push((factor.name.clone(), level));
    }
    Ok(Configuration::new(pairs))
}

fn has(row: &Configuration, name: &str, value: &str) -> bool {
    row.get(name).is_some_and(|own| own.same_as(&Level::parse(value)))
}

/// The plan of arrivals and its moments.
pub(super) fn arrivals(
    asked: &LoadArrivals<'_>,
    jobs: Option<u32>,
    seed: Seed,
) -> Result<(ArrivalPlan, Vec<f64>), Error> {
    let plan = match *asked {
        LoadArrivals::Poisson { rate_per_s } => ArrivalPlan::Poisson { rate: rate_per_s },
        LoadArrivals::Deterministic { rate_per_s } => {
            ArrivalPlan::Deterministic { rate: rate_per_s }
        }
        LoadArrivals::File(path) => ArrivalPlan::Given { moments: read_moments(path)? },
    };
    let jobs = match (jobs, &plan) {
        (Some(jobs), _) => jobs as usize,
        (None, ArrivalPlan::Given { moments }) => moments.len(),
        (None, _) => return Err(Error::Request("say how many jobs arrive: --jobs N".to_owned())),
    };
    if !(1..=MOST_JOBS).contains(&jobs) {
        return Err(Error::Request(format!(
            "the number of jobs is {jobs}; it must be 1 to {MOST_JOBS}"
        )));
    }
    let moments = plan.moments(jobs, seed.derive(1).value())?;
    if moments.len() < jobs {
        let listed = moments.len();
        return Err(Error::Request(format!(
            "{jobs} jobs are asked for, but the file lists {listed}"
        )));
    }
    Ok((plan, moments))
}

/// Moments from a file: the first column of each line; a header, empty lines and `#` are passed
/// over.
fn read_moments(path: &Path) -> Result<Vec<f64>, Error> {
    let text = fs::read_to_string(path)
        .map_err(|source| Error::Input { path: path.to_owned(), source })?;
    let fault = |line: usize, what: &str| {
        Error::Request(format!("{}, line {line}: {what}", path.display()))
    };
    let mut moments: Vec<f64> = Vec::new();
    for (line, own) in (1..).zip(text.lines()) {
        let cell = own.split(',').next().unwrap_or_default().trim();
        if cell.is_empty() || cell.starts_with('#') {
            continue;
        }
        match cell.parse::<f64>() {
            Ok(at) if at.is_finite() && at >= moments.last().copied().unwrap_or(0.0) => {
                moments.push(at);
            }
            Ok(_) => {
                let what = format!("`{cell}` is not a moment after those before it, in seconds");
                return Err(fault(line, &what));
            }
            Err(_) if line == 1 => {}
            Err(_) => return Err(fault(line, &format!("`{cell}` is not a number of seconds"))),
        }
    }
    if moments.is_empty() {
        return Err(fault(1, "there is no moment of arrival"));
    }
    Ok(moments)
}
