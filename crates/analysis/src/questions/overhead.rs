//! Time as a cost a step plus the rest: `time = a * steps + c`, one line a strategy.
//!
//! With a fixed number of samples the rest `c` is what the samples themselves cost, and `a` what
//! every step adds whatever its batch: launch, synchronisation, a round trip. Plain least squares.

use serde::Serialize;
use trainwright_stats::StatsError;
use trainwright_study::Level;

use crate::csv_table::Table;
use crate::csv_table::columns::{distinct, levels, numbers};
use crate::error::AnalysisError;
use crate::findings::{Finding, info, sort, warning};
use crate::questions::curve::Curve;
use crate::wording::{brief, list, percent};

/// Share of the time above which a part is called the whole story.
const NEARLY_ALL: f64 = 0.9;

/// What to fit.
#[derive(Debug, Clone)]
pub struct OverheadOptions {
    /// Column of the times.
    pub column: String,
    /// Column with the number of steps.
    pub steps: String,
    /// Column that names the strategy; one line for all rows where absent.
    pub by: Option<String>,
    /// Samples that every run handles, for rates.
    pub samples: Option<f64>,
    /// Unit of the times, for words.
    pub unit: Option<String>,
    /// One less the confidence of intervals.
    pub alpha: f64,
}

/// The line of every strategy.
#[derive(Debug, Clone, Serialize)]
pub struct Overhead {
    /// Column of the times.
    pub response: String,
    /// Column with the number of steps.
    pub steps: String,
    /// Column that names the strategies.
    pub by: Option<String>,
    /// One less the confidence of intervals.
    pub alpha: f64,
    /// One line a strategy, by name.
    pub lines: Vec<OverheadLine>,
    /// What to keep in mind.
    pub findings: Vec<Finding>,
}

/// `time = per_step * steps + constant`.
#[derive(Debug, Clone, Serialize)]
pub struct OverheadLine {
    /// The strategy.
    pub group: Option<Level>,
    /// Number of measurements.
    pub n: usize,
    /// Time that each step adds.
    pub per_step: f64,
    /// Lower end of its interval; absent for two measurements.
    pub per_step_low: Option<f64>,
    /// Upper end.
    pub per_step_high: Option<f64>,
    /// Time beside the steps.
    pub constant: f64,
    /// Lower end of its interval.
    pub constant_low: Option<f64>,
    /// Upper end.
    pub constant_high: Option<f64>,
    /// Share of the variation that the line explains.
    pub r2: Option<f64>,
    /// Largest miss as a share of the measurement.
    pub worst_miss: Option<f64>,
    /// Samples per unit of time if steps cost nothing.
    pub samples_per_time: Option<f64>,
    /// Time of one sample if steps cost nothing.
    pub time_per_sample: Option<f64>,
    /// Share of the time that steps take where there are most of them; absent where the line
    /// gives no time.
    pub share_at_most_steps: Option<f64>,
    /// The same where there are fewest.
    pub share_at_fewest_steps: Option<f64>,
    /// What that means.
    pub text: String,
}

/// Fits a line of time over steps to every strategy of a table. Rows without a time are left out.
///
/// # Errors
/// A column that is missing or not numeric, or a strategy with fewer than two numbers of steps.
pub fn overhead_of_table(
    table: &Table,
    options: &OverheadOptions,
) -> Result<Overhead, AnalysisError> {
    if !(options.alpha > 0.0 && options.alpha < 1.0) {
        return Err(AnalysisError::Alpha { alpha: options.alpha });
    }
    let (times, steps) = (numbers(table, &options.column)?, numbers(table, &options.steps)?);
    let groups = match &options.by {
        Some(by) => levels(table, by)?.into_iter().map(Some).collect(),
        None => vec![None; table.rows()],
    };
    let mut names: Vec<Option<Level>> =
        distinct(&groups.iter().flatten().cloned().collect::<Vec<_>>())
            .into_iter()
            .map(Some)
            .collect();
    if options.by.is_none() {
        names.push(None);
    }
    let mut lines = Vec::with_capacity(names.len());
    let mut single = Vec::new();
    for name in names {
        let same = |other: &Option<Level>| match (&name, other) {
            (Some(a), Some(b)) => a.same_as(b),
            _ => true,
        };
        let rows = (0..table.rows()).filter(|&row| same(&groups[row]));
        let with_time = rows.filter_map(|row| Some((row, times[row]?)));
        let point = |(row, time): (usize, f64)| {
            let (line, column) = (table.line(row), options.steps.clone());
            Ok((steps[row].ok_or(AnalysisError::EmptyFactor { line, column })?, time))
        };
        let points = with_time.map(point).collect::<Result<Vec<_>, AnalysisError>>()?;
        let line = fit(options, name, &points)?;
        if line.n == distinct_steps(&points) {
            single.push(title(&line, options));
        }
        lines.push(line);
    }
    let mut findings = findings(&lines, options);
    if !single.is_empty() {
        let text = format!(
            "{}: every setting was measured once, so whether the line misses more than noise does \
             cannot be told; repeat the settings",
            list(&single)
        );
        findings.push(warning("no-replication", text));
    }
    sort(&mut findings);
    Ok(Overhead {
        response: options.column.clone(),
        steps: options.steps.clone(),
        by: options.by.clone(),
        alpha: options.alpha,
        lines,
        findings,
    })
}

fn distinct_steps(points: &[(f64, f64)]) -> usize {
    let mut steps: Vec<f64> = points.iter().map(|p| p.0).collect();
    steps.sort_by(f64::total_cmp);
    steps.dedup();
    steps.len()
}

fn fit(
    options: &OverheadOptions,
    group: Option<Level>,
    points: &[(f64, f64)],
) -> Result<OverheadLine, AnalysisError> {
    if distinct_steps(points) < 2 {
        return Err(AnalysisError::NoLine {
            group: group.map_or_else(|| "the table".to_owned(), |g| format!("`{g}`")),
            steps: options.steps.clone(),
            found: distinct_steps(points),
        });
    }
    let stats = |source| AnalysisError::Stats { response: options.column.clone(), source };
    let (steps, times): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    let undefined = |reason| stats(StatsError::Undefined { what: "the cost of a step", reason });
    let most = steps.iter().fold(f64::NEG_INFINITY, |m, s| m.max(*s));
    let fewest = steps.iter().fold(f64::INFINITY, |m, s| m.min(*s));
    // About their middle, numbers of steps that differ little are still told apart.
    let (middle, half) = (0.5 * most + 0.5 * fewest, 0.5 * most - 0.5 * fewest);
    let from_middle = steps.iter().map(|own| (own - middle) / half).collect();
    let curve = Curve::fit(vec![vec![1.0; times.len()], from_middle], &times)
        .map_err(stats)?
        .ok_or_else(|| undefined("the numbers of steps are too close to tell them apart"))?;
    let (of_step, of_rest) = ([0.0, 1.0 / half], [1.0, -middle / half]);
    let (per_step, constant) = (curve.combine(&of_step).value, curve.combine(&of_rest).value);
    if !(per_step.is_finite() && constant.is_finite()) {
        return Err(undefined("it is no number that can be computed; change the units"));
    }
    let end = |weights: [f64; 2], at: usize| curve.interval(&weights, options.alpha).map(|i| i[at]);
    let share = |steps: f64| {
        Some(per_step * steps / (per_step * steps + constant)).filter(|own| own.is_finite())
    };
    let rate = |of: fn(f64, f64) -> f64| {
        let samples = options.samples.filter(|_| constant > 0.0)?;
        Some(of(samples, constant)).filter(|own| own.is_finite())
    };
    let mut line = OverheadLine {
        group,
        n: times.len(),
        per_step,
        per_step_low: end(of_step, 0),
        per_step_high: end(of_step, 1),
        constant,
        constant_low: end(of_rest, 0),
        constant_high: end(of_rest, 1),
        r2: curve.r2,
        worst_miss: curve.worst_miss(&times),
        samples_per_time: rate(|samples, time| samples / time),
        time_per_sample: rate(|samples, time| time / samples),
        share_at_most_steps: share(most),
        share_at_fewest_steps: share(fewest),
        text: String::new(),
    };
    line.text = in_words(&line, options);
    Ok(line)
}

fn title(line: &OverheadLine, options: &OverheadOptions) -> String {
    match &line.group {
        Some(group) => group.to_string(),
        None => options.column.clone(),
    }
}

/// Whether steps cost nothing that can be told from noise.
fn is_flat(line: &OverheadLine) -> bool {
    line.per_step <= 0.0 || line.per_step_low.is_some_and(|low| low <= 0.0)
}

fn in_words(line: &OverheadLine, options: &OverheadOptions) -> String {
    let rest = quantity(line.constant, options);
    let rate = match (line.samples_per_time, options.unit.as_deref()) {
        (Some(rate), Some(unit)) => {
            format!(" ({} samples/{unit} if steps were free)", brief(rate))
        }
        (Some(rate), None) => {
            format!(" ({} samples a unit of time if steps were free)", brief(rate))
        }
        _ => String::new(),
    };
    let step = quantity(line.per_step, options);
    let meaning = if is_flat(line) {
        "the number of steps makes no difference that can be told from noise, so neither does a \
         bigger batch"
            .to_owned()
    } else if line.constant <= 0.0 {
        "steps cost all of the time: a bigger batch is faster only through fewer steps".to_owned()
    } else {
        format!(
            "steps take {} of the time at most steps and {} at fewest; a bigger batch is faster only \
             through fewer steps, and never below {rest}",
            share_in_words(line.share_at_most_steps),
            share_in_words(line.share_at_fewest_steps)
        )
    };
    format!("{}: {step} a step and {rest} beside the steps{rate}: {meaning}", title(line, options))
}

fn share_in_words(share: Option<f64>) -> String {
    share.map_or_else(|| "an unknown share".to_owned(), |share| percent(100.0 * share))
}

/// A time with its unit; seconds below one are given in milliseconds.
fn quantity(time: f64, options: &OverheadOptions) -> String {
    match options.unit.as_deref() {
        Some("s") if time.abs() < 1.0 => format!("{} ms", brief(1000.0 * time)),
        Some(unit) => format!("{} {unit}", brief(time)),
        None => brief(time),
    }
}

fn findings(lines: &[OverheadLine], options: &OverheadOptions) -> Vec<Finding> {
    let named = |keep: &dyn Fn(&OverheadLine) -> bool| -> Vec<String> {
        lines.iter().filter(|line| keep(line)).map(|line| title(line, options)).collect()
    };
    let mut found = Vec::new();
    let steps =
        named(&|line| !is_flat(line) && line.share_at_most_steps.is_some_and(|own| own > 0.5));
    if !steps.is_empty() {
        let text = format!(
            "{}: most of the time at the smallest batch is a fixed cost a step, not work on samples; \
             what a bigger batch saves is steps",
            list(&steps)
        );
        found.push(info("step-overhead", text));
    }
    let samples = named(&|line| {
        let few = |share: f64| share < 1.0 - NEARLY_ALL;
        line.constant > 0.0 && (is_flat(line) || line.share_at_fewest_steps.is_some_and(few))
    });
    if !samples.is_empty() {
        let text = format!(
            "{}: with the fewest steps measured, more than {} of the time is spent on the samples \
             themselves (reading, parsing, computing), so a still bigger batch gains next to nothing",
            list(&samples),
            percent(100.0 * NEARLY_ALL)
        );
        found.push(info("per-sample-cost-dominates", text));
    }
    found
}
