//! Values by level, out of a table or a study.

use std::collections::BTreeMap;

use trainwright_study::{
    Configuration, DesignKind, Direction, Factor, Level, Observation, Study, TrialState,
};

use super::{Comparison, Groups, compare};
use crate::csv_table::Table;
use crate::csv_table::columns::{Places, distinct, levels, numbers};
use crate::error::AnalysisError;
use crate::findings::{sort, warning};
use crate::wording::count;

/// What to compare.
#[derive(Debug, Clone)]
pub struct CompareOptions {
    /// Column or metric of the values.
    pub column: String,
    /// Column or factor whose levels are compared.
    pub by: String,
    /// The level to compare with; the first one if not given.
    pub baseline: Option<String>,
    /// Column whose equal values pair rows of different levels.
    pub paired: Option<String>,
    /// Which end of the values is good, if that should be said.
    pub objective: Option<Direction>,
    /// Largest p-value called evidence.
    pub alpha: f64,
}

/// Compares the levels of a column with a baseline.
///
/// Rows without a value are left out, and a finding says so; with pairs, so are those that lack
/// a partner at some level.
///
/// # Errors
/// A column that is missing or of the wrong kind, one level only, a baseline that is no level, or
/// a pair with two values at one level.
///
/// ```
/// use trainwright_analysis::{CompareOptions, Table, compare_table};
///
/// let csv = "time,cores\n10,1\n11,1\n12,1\n5,2\n6,2\n5.5,2\n";
/// let table = Table::from_csv(csv.as_bytes(), &[])?;
/// let options = CompareOptions {
///     column: "time".into(), by: "cores".into(), baseline: None, paired: None,
///     objective: None, alpha: 0.05,
/// };
/// let found = compare_table(&table, &options)?;
/// assert!(found.levels[0].text.starts_with("2 cores: 50.0 % of 1 core, 95 % interval"));
/// # Ok::<(), trainwright_analysis::AnalysisError>(())
/// ```
pub fn compare_table(table: &Table, options: &CompareOptions) -> Result<Comparison, AnalysisError> {
    let values = numbers(table, &options.column)?;
    let at = levels(table, &options.by)?;
    let known = distinct(&at);
    let rows: Vec<(usize, f64)> =
        values.iter().enumerate().filter_map(|(row, v)| Some((row, (*v)?))).collect();
    let mut groups = Groups {
        response: options.column.clone(),
        by: options.by.clone(),
        values: vec![Vec::new(); known.len()],
        baseline: baseline_of(&known, options.baseline.as_deref(), &options.by)?,
        levels: known,
        paired: options.paired.clone(),
        objective: options.objective,
    };
    let mut left_out = table.rows() - rows.len();
    match &options.paired {
        None => {
            let places = Places::new(&groups.levels);
            for (row, value) in rows {
                groups.values[places.of(&at[row])].push(value);
            }
        }
        Some(pair) => left_out += pair_up(table, pair, &rows, &at, &mut groups)?,
    }
    let mut found = compare(&filled(groups)?, options.alpha)?;
    if left_out > 0 {
        let text = format!(
            "{} of {} {} left out: no value of {}{}",
            count(left_out, "row"),
            table.rows(),
            if left_out == 1 { "is" } else { "are" },
            options.column,
            if options.paired.is_some() { ", or no partner at another level" } else { "" }
        );
        found.findings.push(warning("missing-response", text));
        sort(&mut found.findings);
    }
    Ok(found)
}

/// Puts values of the same pair at the same place of every level; gives the rows left out.
fn pair_up(
    table: &Table,
    pair: &str,
    rows: &[(usize, f64)],
    at: &[Level],
    groups: &mut Groups,
) -> Result<usize, AnalysisError> {
    let names = levels(table, pair)?;
    let places = Places::new(&groups.levels);
    let mut pairs: BTreeMap<String, Vec<Option<f64>>> = BTreeMap::new();
    for &(row, value) in rows {
        let cells =
            pairs.entry(names[row].to_string()).or_insert_with(|| vec![None; groups.levels.len()]);
        let level = places.of(&at[row]);
        if cells[level].replace(value).is_some() {
            return Err(AnalysisError::PairTwice {
                line: table.line(row),
                pair: format!("{pair} {}", names[row]),
                level: format!("{} {}", groups.by, at[row]),
            });
        }
    }
    let whole: Vec<Vec<f64>> =
        pairs.into_values().filter_map(|cells| cells.into_iter().collect()).collect();
    for cells in &whole {
        groups.values.iter_mut().zip(cells).for_each(|(values, v)| values.push(*v));
    }
    Ok(rows.len() - whole.len() * groups.levels.len())
}

/// Compares levels of a study's factors with their baselines.
///
/// In a one-factor design the other factors stand at their baseline; in any other design all
/// trials at a level count, and what other factors do adds to the spread.
///
/// # Errors
/// No finished trial, a factor or metric that the study lacks, or a baseline that is no level.
pub fn compare_study(
    study: &Study,
    observations: &[Observation],
    by: Option<&str>,
    column: Option<&str>,
    baseline: Option<&str>,
) -> Result<Vec<Comparison>, AnalysisError> {
    let finished: Vec<&Observation> =
        observations.iter().filter(|o| o.state == TrialState::Finished).collect();
    if finished.is_empty() {
        return Err(AnalysisError::NothingFinished { observed: observations.len() });
    }
    let metric = column.unwrap_or(&study.analysis.response);
    let unknown = |name: &str, known: Vec<&str>| AnalysisError::UnknownColumn {
        name: name.to_owned(),
        known: known.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", "),
    };
    if study.metric(metric).is_none() {
        return Err(unknown(metric, study.metrics.iter().map(|m| m.name.as_str()).collect()));
    }
    let factors: Vec<&Factor> = match by {
        None => study.factors.iter().collect(),
        Some(name) => {
            let known = || unknown(name, study.factors.iter().map(|f| f.name.as_str()).collect());
            vec![study.factor(name).ok_or_else(known)?]
        }
    };
    let compared = |factor: &&Factor| {
        let groups = groups_of(study, &finished, factor, metric, baseline)?;
        compare(&groups, study.analysis.alpha)
    };
    factors.iter().map(compared).collect()
}

/// The comparisons that a study's trials allow already; factors still without values to compare
/// are left out.
pub(crate) fn comparisons_so_far(
    study: &Study,
    observations: &[Observation],
) -> Result<Vec<Comparison>, AnalysisError> {
    let mut found = Vec::new();
    for factor in &study.factors {
        match compare_study(study, observations, Some(&factor.name), None, None) {
            Ok(comparisons) => found.extend(comparisons),
            Err(AnalysisError::EmptyBaseline { .. } | AnalysisError::OneLevel { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

fn groups_of(
    study: &Study,
    finished: &[&Observation],
    factor: &Factor,
    metric: &str,
    baseline: Option<&str>,
) -> Result<Groups, AnalysisError> {
    // A factor with a range may have run at values between its declared levels.
    let observed = finished.iter().filter_map(|own| own.configuration.get(&factor.name));
    let known = distinct(&factor.levels.iter().chain(observed).cloned().collect::<Vec<_>>());
    let start = match &study.design.kind {
        DesignKind::OneFactor { baseline } => Some(baseline),
        _ => None,
    };
    let usual = start.and_then(|own| own.get(&factor.name)).unwrap_or(&factor.levels[0]);
    let baseline = baseline.map_or_else(|| usual.to_string(), str::to_owned);
    let mut groups = Groups {
        response: metric.to_owned(),
        by: factor.name.clone(),
        values: vec![Vec::new(); known.len()],
        baseline: baseline_of(&known, Some(&baseline), &factor.name)?,
        levels: known,
        paired: None,
        objective: study.metric(metric).and_then(|own| own.objective),
    };
    let places = Places::new(&groups.levels);
    for own in finished {
        let Some(level) = own.configuration.get(&factor.name) else { continue };
        if start.is_some_and(|start| !others_at_baseline(study, start, factor, own)) {
            continue;
        }
        let value = own.values.get(metric).ok_or_else(|| AnalysisError::MissingMetric {
            trial: own.trial,
            metric: metric.to_owned(),
        })?;
        groups.values[places.of(level)].push(*value);
    }
    filled(groups)
}

/// Whether every other factor stands at its baseline; one not named starts at its first level.
fn others_at_baseline(
    study: &Study,
    start: &Configuration,
    factor: &Factor,
    own: &Observation,
) -> bool {
    study.factors.iter().filter(|other| other.name != factor.name).all(|other| {
        let base = start.get(&other.name).unwrap_or(&other.levels[0]);
        own.configuration.get(&other.name).is_none_or(|level| level.same_as(base))
    })
}

fn baseline_of(levels: &[Level], baseline: Option<&str>, by: &str) -> Result<usize, AnalysisError> {
    let Some(text) = baseline else { return Ok(0) };
    let wanted = Level::parse(text);
    // A level may be a text that looks like a number.
    let by_value = levels.iter().position(|own| own.same_as(&wanted));
    let found = by_value.or_else(|| levels.iter().position(|own| own.to_string() == text));
    found.ok_or_else(|| {
        let known: Vec<String> = levels.iter().map(Level::to_string).collect();
        AnalysisError::UnknownBaseline {
            by: by.to_owned(),
            baseline: text.to_owned(),
            known: known.join(", "),
        }
    })
}

/// The groups that have values, if there are two and the baseline is one of them.
fn filled(groups: Groups) -> Result<Groups, AnalysisError> {
    let base = &groups.levels[groups.baseline];
    if groups.values[groups.baseline].is_empty() {
        return Err(AnalysisError::EmptyBaseline {
            by: groups.by.clone(),
            baseline: base.to_string(),
            response: groups.response.clone(),
        });
    }
    let empty = |values: &&Vec<f64>| values.is_empty();
    if groups.values.iter().filter(empty).count() + 1 >= groups.levels.len() {
        let (by, level) = (groups.by.clone(), base.to_string());
        return Err(AnalysisError::OneLevel { by, level });
    }
    let before = groups.values[..groups.baseline].iter().filter(empty).count();
    let filled = groups.levels.into_iter().zip(groups.values).filter(|(_, own)| !own.is_empty());
    let (levels, values) = filled.unzip();
    Ok(Groups { levels, values, baseline: groups.baseline - before, ..groups })
}
