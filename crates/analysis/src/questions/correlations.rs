//! Correlations of a response with each parameter, with intervals, and whether a line describes
//! them at all.

use serde::Serialize;
use trainwright_stats::{Normal, StatsError, bonferroni, holm, lack_of_fit, pearson, spearman};

use crate::csv_table::columns::numbers;
use crate::csv_table::{Column, Table};
use crate::error::AnalysisError;
use crate::findings::{Finding, sort, warning};
use crate::questions::curve::Curve;
use crate::wording::{list, p_value, percent};

/// Largest p-value called evidence.
const ALPHA: f64 = 0.05;

/// Most columns among which products are looked for.
const MOST_COLUMNS: usize = 16;

/// Correlations of a response.
#[derive(Debug, Clone, Serialize)]
pub struct Correlations {
    /// What is correlated.
    pub response: String,
    /// How p-values are adjusted for the number of columns.
    pub adjustment: &'static str,
    /// One row a column.
    pub rows: Vec<CorrelationRow>,
    /// Columns left out, with the reason.
    pub left_out: Vec<LeftOut>,
    /// What to keep in mind.
    pub findings: Vec<Finding>,
}

/// A column that has no correlation.
#[derive(Debug, Clone, Serialize)]
pub struct LeftOut {
    /// The column.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// Correlation of the response with one column; intervals hold with 95 % confidence.
#[derive(Debug, Clone, Serialize)]
pub struct CorrelationRow {
    /// The column.
    pub name: String,
    /// Rows with both values.
    pub n: usize,
    /// Pearson's correlation.
    pub r: f64,
    /// Lower end of its interval, by Fisher's transformation.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// Its p-value.
    pub p: Option<f64>,
    /// The same, adjusted for the number of columns by Holm's method.
    pub p_adjusted: Option<f64>,
    /// Share of the variation that the straight line explains.
    pub r2: f64,
    /// Spearman's correlation of ranks.
    pub rho: Option<f64>,
    /// Lower end of its interval (Bonett and Wright, Psychometrika 65, 2000).
    pub rho_low: Option<f64>,
    /// Upper end.
    pub rho_high: Option<f64>,
    /// Its p-value.
    pub rho_p: Option<f64>,
    /// The same, adjusted.
    pub rho_p_adjusted: Option<f64>,
    /// Share of the variation that a parabola explains; absent below three different values.
    pub r2_quadratic: Option<f64>,
    /// p-value of its square.
    pub curvature_p: Option<f64>,
    /// p-value of the line's lack of fit against repeats; absent without repeats.
    pub lack_of_fit_p: Option<f64>,
    /// The correlation in words.
    pub text: String,
}

/// Correlates a column with others, or with all numeric ones where none are named.
///
/// # Errors
/// A column that is missing or not numeric, or a response that never varies.
pub fn correlations_of_table(
    table: &Table,
    response: &str,
    with: &[String],
) -> Result<Correlations, AnalysisError> {
    let y = numbers(table, response)?;
    let names: Vec<String> = if with.is_empty() {
        let numeric =
            |name: &&str| *name != response && matches!(table.column(name), Ok(Column::Numeric(_)));
        table.names().filter(numeric).map(str::to_owned).collect()
    } else {
        with.to_vec()
    };
    let (mut rows, mut left_out) = (Vec::new(), Vec::new());
    for name in &names {
        let pairs: Vec<(f64, f64)> =
            numbers(table, name)?.iter().zip(y).filter_map(|(x, y)| Some(((*x)?, (*y)?))).collect();
        match correlate(name, &pairs) {
            Ok(row) => rows.push(row),
            Err(source) if rules_out(&source) => {
                left_out.push(LeftOut { name: name.clone(), reason: source.to_string() });
            }
            Err(source) => {
                return Err(AnalysisError::Stats { response: response.to_owned(), source });
            }
        }
    }
    if rows.is_empty() {
        return Err(AnalysisError::NoCorrelations { response: response.to_owned() });
    }
    adjust_all(&mut rows);
    for row in &mut rows {
        row.text = in_words(row);
    }
    let mut findings: Vec<Finding> = inadequate(&rows, response).into_iter().collect();
    findings.extend(products(table, &names, response));
    sort(&mut findings);
    let response = response.to_owned();
    Ok(Correlations { response, adjustment: "holm", rows, left_out, findings })
}

/// Whether an error means that this column has no correlation, rather than that all fails.
fn rules_out(error: &StatsError) -> bool {
    matches!(
        error,
        StatsError::Constant { .. } | StatsError::TooFew { .. } | StatsError::Undefined { .. }
    )
}

fn correlate(name: &str, pairs: &[(f64, f64)]) -> Result<CorrelationRow, StatsError> {
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let line = pearson(&x, &y)?;
    let ranks = spearman(&x, &y).ok();
    let rho_ends = ranks.and_then(|found| rank_interval(found.rho, x.len()));
    let parabola = parabola(&x, &y)?;
    Ok(CorrelationRow {
        name: name.to_owned(),
        n: x.len(),
        r: line.r,
        ci_low: line.interval.map(|i| i[0]),
        ci_high: line.interval.map(|i| i[1]),
        p: line.p,
        p_adjusted: None,
        r2: line.r * line.r,
        rho: ranks.map(|found| found.rho),
        rho_low: rho_ends.map(|i| i[0]),
        rho_high: rho_ends.map(|i| i[1]),
        rho_p: ranks.map(|found| found.p),
        rho_p_adjusted: None,
        r2_quadratic: parabola.as_ref().and_then(|curve| curve.r2),
        curvature_p: parabola.as_ref().and_then(|curve| curve.p(&[0.0, 0.0, 1.0])),
        lack_of_fit_p: line_lack_of_fit(&x, &y)?,
        text: String::new(),
    })
}

fn rank_interval(rho: f64, n: usize) -> Option<[f64; 2]> {
    if n < 4 || rho.abs() >= 1.0 {
        return None;
    }
    let error = ((1.0 + 0.5 * rho * rho) / (n as f64 - 3.0)).sqrt();
    let half = Normal.quantile(0.975).ok()? * error;
    Some([(rho.atanh() - half).tanh(), (rho.atanh() + half).tanh()])
}

/// A parabola in units of the column's own spread, which keeps its terms apart.
fn parabola(x: &[f64], y: &[f64]) -> Result<Option<Curve>, StatsError> {
    let low = x.iter().fold(f64::INFINITY, |m, v| m.min(*v));
    let high = x.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
    let z: Vec<f64> = x.iter().map(|v| (2.0 * v - low - high) / (high - low)).collect();
    let squares = z.iter().map(|v| v * v).collect();
    Curve::fit(vec![vec![1.0; x.len()], z, squares], y)
}

fn line_lack_of_fit(x: &[f64], y: &[f64]) -> Result<Option<f64>, StatsError> {
    let Some(line) = Curve::fit(vec![vec![1.0; x.len()], x.to_vec()], y)? else { return Ok(None) };
    let mut values = x.to_vec();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let cells: Vec<usize> = x.iter().map(|v| values.partition_point(|own| own < v)).collect();
    let squares: f64 = line.fitted.iter().zip(y).map(|(f, y)| (y - f).powi(2)).sum();
    Ok(lack_of_fit(y, &cells, squares, line.df).ok().and_then(|found| found.p))
}

fn adjust_all(rows: &mut [CorrelationRow]) {
    let line = holm(&rows.iter().map(|row| row.p).collect::<Vec<_>>());
    let ranks = holm(&rows.iter().map(|row| row.rho_p).collect::<Vec<_>>());
    for (row, (line, ranks)) in rows.iter_mut().zip(line.into_iter().zip(ranks)) {
        row.p_adjusted = line;
        row.rho_p_adjusted = ranks;
    }
}

fn in_words(row: &CorrelationRow) -> String {
    let interval = match row.ci_low.zip(row.ci_high) {
        Some((low, high)) => format!(" ({low:.2} to {high:.2})"),
        None => String::new(),
    };
    let verdict = match row.p_adjusted {
        Some(p) if p < ALPHA => {
            let way = if row.r < 0.0 { "falls" } else { "rises" };
            format!("{way} with it, adjusted {}", p_value(p))
        }
        Some(p) => format!("no evidence of a linear relation, adjusted {}", p_value(p)),
        None => "too few rows, or a perfect line, to test".to_owned(),
    };
    let share = percent(100.0 * row.r2);
    format!("{}: r = {:.3}{interval}, a line explains {share}: {verdict}", row.name, row.r)
}

/// Columns that a straight line does not describe.
fn inadequate(rows: &[CorrelationRow], response: &str) -> Option<Finding> {
    // Every test that could be made counts, so that clean lines are called bent at the level only.
    let tests = rows.iter().flat_map(|row| [row.curvature_p, row.lack_of_fit_p]).flatten().count();
    let surely = |p: Option<f64>| p.is_some_and(|p| bonferroni(p, tests) < ALPHA);
    let bent: Vec<String> = rows
        .iter()
        .filter_map(|row| {
            let share = percent(100.0 * row.r2);
            let reason = match row.r2_quadratic {
                Some(curve) if surely(row.curvature_p) => {
                    format!("a line explains {share}, a parabola {}", percent(100.0 * curve))
                }
                _ if surely(row.lack_of_fit_p) => {
                    format!("a line explains {share} and misses the means of repeats")
                }
                _ => return None,
            };
            Some(format!("{} ({reason})", row.name))
        })
        .collect();
    if bent.is_empty() {
        return None;
    }
    let text = format!(
        "a straight line does not describe how {response} depends on {}; r says little there, so fit a \
         curve, or other columns with it",
        list(&bent)
    );
    Some(warning("linear-fit-inadequate", text))
}

/// Columns that are the product of others.
fn products(table: &Table, names: &[String], response: &str) -> Option<Finding> {
    let columns: Vec<(&str, &[Option<f64>])> = names
        .iter()
        .take(MOST_COLUMNS)
        .filter_map(|name| Some((name.as_str(), numbers(table, name).ok()?)))
        .filter(|(_, cells)| varies(cells))
        .collect();
    let found: Vec<String> = (0..columns.len())
        .filter_map(|own| {
            let others: Vec<usize> = (0..columns.len()).filter(|&k| k != own).collect();
            let parts = subsets(&others).find(|parts| is_product(&columns, own, parts))?;
            let parts: Vec<&str> = parts.iter().map(|&k| columns[k].0).collect();
            Some(format!("{} is {}", columns[own].0, parts.join(" x ")))
        })
        .collect();
    if found.is_empty() {
        return None;
    }
    let text = format!(
        "{}: what {response} has to do with the one it has to do with the others, so these correlations \
         are not separate facts",
        list(&found)
    );
    Some(warning("data-size-is-product", text))
}

fn varies(cells: &[Option<f64>]) -> bool {
    let mut values = cells.iter().flatten();
    let first = values.next();
    values.any(|v| Some(v) != first)
}

/// Pairs, threes and fours of the columns.
fn subsets(columns: &[usize]) -> impl Iterator<Item = Vec<usize>> + '_ {
    let chosen = move |mask: usize| {
        (0..columns.len()).filter(|bit| mask >> bit & 1 == 1).map(|bit| columns[bit]).collect()
    };
    (1..1usize << columns.len()).filter(|mask| (2..=4).contains(&mask.count_ones())).map(chosen)
}

fn is_product(columns: &[(&str, &[Option<f64>])], own: usize, parts: &[usize]) -> bool {
    let (_, cells) = columns[own];
    cells.iter().enumerate().all(|(row, cell)| {
        let product = parts.iter().try_fold(1.0, |all, &k| Some(all * columns[k].1[row]?));
        match (cell, product) {
            (Some(cell), Some(product)) => (cell - product).abs() <= 1e-9 * cell.abs(),
            _ => true,
        }
    })
}
