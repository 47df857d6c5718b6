//! Measured service times, read from a table or a study, and the queue they make.

use std::path::Path;

use trainwright_analysis::{Column, MeasuredTimes, Table, fit_times};
pub use trainwright_analysis::{FitReply, TimesFit};
use trainwright_study::{Level, Study, TrialState, seconds_per};

use crate::whole_file::WholeFile;
use crate::{Error, Results};

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

/// Says which queue measured times make.
///
/// # Errors
/// A metric or column that is not a time or has no unit, a file that cannot be read, too few
/// times, or one that is not positive.
pub fn fit_queue(request: &FitRequest<'_>) -> Result<FitReply, Error> {
    let times = match &request.source {
        FitSource::Table { data, column, unit, interarrival } => {
            let per = seconds_in(column, *unit)?;
            of_table(data, [Some(*column), *interarrival], request, per)?
        }
        FitSource::Study { study, store, metric } => of_study(study, *store, metric, request)?,
    };
    Ok(fit_times(&times)?)
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
    request: &FitRequest<'_>,
    seconds: f64,
) -> Result<MeasuredTimes, Error> {
    let fault = |message: String| Error::Statistics { file: path.to_owned(), message };
    let file = WholeFile::open(path)?;
    let named: Vec<String> = request.conditions.iter().map(|(name, _)| name.clone()).collect();
    let table = Table::from_csv(file, &named).map_err(|error| fault(error.to_string()))?;
    let mut kept = vec![true; table.rows()];
    for (name, value) in request.conditions {
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
        configurations: 1,
        arrival_rate: request.arrival_rate,
        servers: request.servers,
        seed: request.seed,
    })
}

fn of_study(
    study: &Study,
    store: Option<&Path>,
    metric: &str,
    request: &FitRequest<'_>,
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
    for (name, _) in request.conditions {
        study.factor(name).ok_or_else(|| refused(format!("the study has no factor `{name}`")))?;
    }
    let results = Results::read(study, store)?;
    let (mut service, mut rows, mut left_out) = (Vec::new(), Vec::new(), 0);
    for trial in &results.trials {
        let fits = |(name, value): &(String, String)| {
            trial.configuration.get(name).is_some_and(|own| own.same_as(&Level::parse(value)))
        };
        if trial.state != TrialState::Finished || !request.conditions.iter().all(fits) {
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
    if service.is_empty() {
        return Err(refused("no finished trial with these conditions has it".to_owned()));
    }
    Ok(MeasuredTimes {
        service,
        interarrival: None,
        left_out,
        configurations: rows.len(),
        arrival_rate: request.arrival_rate,
        servers: request.servers,
        seed: request.seed,
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn table(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("times.csv");
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    fn read(text: &str, conditions: &[(&str, &str)]) -> Result<MeasuredTimes, String> {
        let (_folder, path) = table(text);
        let conditions: Vec<(String, String)> = conditions
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let source =
            FitSource::Table { data: &path, column: "t", unit: Some("ms"), interarrival: None };
        let request =
            FitRequest { source, conditions: &conditions, arrival_rate: None, servers: 1, seed: 1 };
        let shown = path.display().to_string();
        of_table(&path, [Some("t"), None], &request, 1e-3)
            .map_err(|error| error.to_string().replace(&shown, "times.csv"))
    }

    #[test]
    fn a_time_needs_a_unit_of_time() {
        assert_eq!(seconds_in("t", Some("ms")).unwrap(), 1e-3);
        assert_eq!(seconds_in("t", Some("h")).unwrap(), 3600.0);
        let words = |unit| seconds_in("t", unit).unwrap_err().to_string();
        assert_eq!(
            words(None),
            "column `t` cannot be a service time: it has no unit; say it with --unit; service \
             times need a unit of time (us, ms, s, min or h)"
        );
        assert!(words(Some("MB")).contains("`MB` is no unit of time"));
    }

    #[test]
    fn rows_are_chosen_by_conditions_whatever_way_a_number_is_written() {
        let text = "gpu,kind,t\n1,a,100\n1.0,a,200\n2,a,300\n1,b,400\n";
        assert_eq!(read(text, &[("gpu", "1")]).unwrap().service, [0.1, 0.2, 0.4]);
        assert_eq!(read(text, &[("gpu", "1"), ("kind", "b")]).unwrap().service, [0.4]);
        assert_eq!(
            read(text, &[("gpu", "7")]).unwrap_err(),
            "cannot test times.csv: no row with these conditions has a value in `t`"
        );
        assert!(read(text, &[("cpu", "1")]).unwrap_err().contains("`cpu`"));
    }

    #[test]
    fn cells_without_a_time_are_counted_among_the_chosen_rows_only() {
        let own = read("gpu,t\n1,100\n1,\n2,\n1,300\n", &[("gpu", "1")]).unwrap();
        assert_eq!((own.service.len(), own.left_out), (2, 1));
    }

    #[test]
    fn texts_are_no_times() {
        assert_eq!(
            read("t\nfast\nslow\n", &[]).unwrap_err(),
            "cannot test times.csv: column `t` holds texts, not times"
        );
    }

    #[test]
    fn a_study_is_asked_for_a_metric_that_is_a_time() {
        let text = "schema = 1\n[study]\nname = \"s\"\n[factors.a]\nlevels = [1, 2]\n\
            [metrics.t]\nunit = \"s\"\nobjective = \"minimize\"\n[metrics.n]\n[metrics.size]\n\
            unit = \"MB\"\n";
        let study = Study::from_text(text).unwrap();
        let words = |metric: &str, conditions: &[(String, String)]| {
            let source = FitSource::Study { study: &study, store: None, metric };
            let request =
                FitRequest { source, conditions, arrival_rate: None, servers: 1, seed: 1 };
            fit_queue(&request).unwrap_err().to_string()
        };
        assert_eq!(
            words("q", &[]),
            "metric `q` cannot be a service time: the study has no such metric; it has `t`, `n`, \
             `size`"
        );
        assert!(words("n", &[]).ends_with("it has no unit, and service needs one of time"));
        assert!(words("size", &[]).contains("its unit is `MB`, which is no unit of time"));
        let condition = [("b".to_owned(), "1".to_owned())];
        assert!(words("t", &condition).ends_with("the study has no factor `b`"));
    }
}
