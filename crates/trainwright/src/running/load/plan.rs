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
    for (name, _) in set {
        study.factor(name).ok_or_else(|| {
            let known: Vec<String> =
                study.factors.iter().map(|own| format!("`{}`", own.name)).collect();
            Error::Request(format!(
                "there is no factor `{name}`; the study has {}",
                known.join(", ")
            ))
        })?;
    }
    if study.design.kind == DesignKind::Open {
        return Ok((None, chosen(study, set)?));
    }
    for (name, value) in set {
        if !design.rows().iter().any(|row| has(row, name, value)) {
            return Err(Error::Request(format!(
                "no row of the design has {name}={value}; choose levels that the design has"
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STUDY: &str = "schema = 1\n[study]\nname = \"s\"\n[factors.a]\nlevels = [1, 2]\n\
        [factors.b]\nlevels = [\"x\", \"y\"]\n[design]\ntype = \"full\"\n[run]\n\
        command = [\"go\", \"{a}\", \"{b}\"]\n[metrics.t]\nfrom = \"stdout\"\n";

    fn study(text: &str) -> Study {
        Study::from_text(text).unwrap()
    }

    fn set(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn moments_of(text: &str) -> Result<Vec<f64>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.csv");
        fs::write(&path, text).unwrap();
        let shown = path.display().to_string();
        read_moments(&path).map_err(|error| error.to_string().replace(&shown, "m.csv"))
    }

    #[test]
    fn the_first_row_that_has_the_levels_runs() {
        let study = study(STUDY);
        let (row, first) = configuration(&study, &[]).unwrap();
        assert_eq!((row, first.to_string()), (Some(1), "a=1 b=x".to_owned()));
        let (row, chosen) = configuration(&study, &set(&[("a", "2.0"), ("b", "y")])).unwrap();
        assert_eq!((row, chosen.to_string()), (Some(4), "a=2 b=y".to_owned()));
    }

    #[test]
    fn levels_that_no_row_has_are_refused() {
        let study = study(STUDY);
        let words =
            |pairs: &[(&str, &str)]| configuration(&study, &set(pairs)).unwrap_err().to_string();
        assert_eq!(words(&[("c", "1")]), "there is no factor `c`; the study has `a`, `b`");
        assert_eq!(
            words(&[("a", "3")]),
            "no row of the design has a=3; choose levels that the design has"
        );
        assert_eq!(words(&[("a", "1"), ("a", "2")]), "no row of the design has a=1 a=2 together");
    }

    #[test]
    fn without_a_design_the_first_levels_run_unless_others_are_set() {
        let open = study(&STUDY.replace("[design]\ntype = \"full\"\n", ""));
        let (row, own) = configuration(&open, &set(&[("b", "y")])).unwrap();
        assert_eq!((row, own.to_string()), (None, "a=1 b=y".to_owned()));
        let error = configuration(&open, &set(&[("b", "z")])).unwrap_err();
        assert_eq!(error.to_string(), "say which level `b` has: --set b=LEVEL");
    }

    #[test]
    fn a_factor_that_is_not_there_is_refused_without_a_design_too() {
        let open = study(&STUDY.replace("[design]\ntype = \"full\"\n", ""));
        let error = configuration(&open, &set(&[("c", "1")])).unwrap_err();
        assert_eq!(error.to_string(), "there is no factor `c`; the study has `a`, `b`");
    }

    #[test]
    fn a_file_of_moments_may_have_a_header_notes_and_further_columns() {
        let text = "moment,who\n# morning\n0,a\n\n1.5,b\n1.5,c\n 7 ,d\n";
        assert_eq!(moments_of(text).unwrap(), [0.0, 1.5, 1.5, 7.0]);
    }

    #[test]
    fn moments_that_go_back_or_are_none_are_told_with_their_line() {
        assert_eq!(
            moments_of("1\n2\n1.5\n").unwrap_err(),
            "m.csv, line 3: `1.5` is not a moment after those before it, in seconds"
        );
        assert!(moments_of("-1\n").unwrap_err().contains("line 1: `-1` is not a moment"));
        assert!(moments_of("inf\n").unwrap_err().contains("`inf` is not a moment"));
        assert_eq!(
            moments_of("0\nlater\n").unwrap_err(),
            "m.csv, line 2: `later` is not a number of seconds"
        );
        assert_eq!(moments_of("at\n").unwrap_err(), "m.csv, line 1: there is no moment of arrival");
    }

    #[test]
    fn the_number_of_jobs_is_asked_for_and_bounded() {
        let poisson = LoadArrivals::Poisson { rate_per_s: 2.0 };
        let words = |jobs| arrivals(&poisson, jobs, Seed::new(1)).unwrap_err().to_string();
        assert_eq!(words(None), "say how many jobs arrive: --jobs N");
        assert_eq!(words(Some(0)), "the number of jobs is 0; it must be 1 to 1000000");
        assert!(words(Some(1_000_001)).starts_with("the number of jobs is 1000001;"));
    }

    #[test]
    fn a_file_cannot_give_more_jobs_than_it_lists() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.csv");
        fs::write(&path, "1\n2\n3\n").unwrap();
        let file = LoadArrivals::File(&path);
        let given = |jobs| arrivals(&file, jobs, Seed::new(1)).map(|(_, moments)| moments);
        assert_eq!(given(None).unwrap(), [1.0, 2.0, 3.0]);
        assert_eq!(given(Some(2)).unwrap(), [1.0, 2.0]);
        assert_eq!(
            given(Some(4)).unwrap_err().to_string(),
            "4 jobs are asked for, but the file lists 3"
        );
        assert_eq!((file.word(), file.rate()), ("file", None));
    }

    proptest! {
        #[test]
        fn arrivals_never_go_back_and_repeat_for_a_seed(rate_per_s in 0.01_f64..100.0, jobs in 1_u32..200, seed: u64) {
            let poisson = LoadArrivals::Poisson { rate_per_s };
            let (_, moments) = arrivals(&poisson, Some(jobs), Seed::new(seed)).unwrap();
            prop_assert_eq!(moments.len(), jobs as usize);
            prop_assert!(moments.is_sorted() && moments[0] >= 0.0);
            let (_, again) = arrivals(&poisson, Some(jobs), Seed::new(seed)).unwrap();
            prop_assert_eq!(moments, again);
        }
    }
}
