//! What runs add up to, and how commands compare.

use serde::Serialize;
use trainwright_analysis::wording::{brief, p_value};
use trainwright_analysis::{CompareOptions, LevelComparison, Table, Verdict, compare_table};
use trainwright_stats::{StudentT, holm, mann_whitney, sample};
use trainwright_study::Direction;

use super::BenchReply;
use super::commands::{BenchMetric, ReadyCommand};
use super::rounds::{Run, ShellStart};
use crate::Error;

/// What one command did.
#[derive(Debug, Clone, Serialize)]
pub struct BenchResult {
    /// How it is named in sentences.
    pub name: String,
    /// The command.
    pub command: String,
    /// Values of its parameters.
    pub parameters: Vec<(String, String)>,
    /// Runs that count.
    pub runs: usize,
    /// Runs that failed and count all the same, or have no value.
    pub failed: usize,
    /// Mean of what is compared; absent without a value.
    pub mean: Option<f64>,
    /// Standard deviation; absent for a single value.
    pub sd: Option<f64>,
    /// Lower end of the mean's 95 % interval by Student's t.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// Median.
    pub median: Option<f64>,
    /// Smallest value.
    pub min: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
    /// Mean seconds from start to exit, less the shell's start.
    pub wall_s: Option<f64>,
    /// Mean CPU seconds in user mode, less those of the shell's start.
    pub user_s: Option<f64>,
    /// Mean CPU seconds in kernel mode, less those of the shell's start.
    pub system_s: Option<f64>,
    /// Largest memory that was seen; absent where every run was too short to look.
    pub peak_memory_bytes: Option<u64>,
    /// What is compared, of every run in the order of the rounds.
    pub values: Vec<f64>,
    /// Seconds of every run, less the shell's start.
    pub times_s: Vec<f64>,
    /// CPU seconds of every run in user mode, less those of the shell's start.
    pub user_times_s: Vec<f64>,
    /// CPU seconds of every run in kernel mode, less those of the shell's start.
    pub system_times_s: Vec<f64>,
    /// Memory of every run, where it was seen.
    pub memory_bytes: Vec<Option<u64>>,
    /// Exit code of every run; none where a signal ended it.
    pub exit_codes: Vec<Option<i32>>,
}

/// A command against the baseline by ranks, which outliers hardly move.
#[derive(Debug, Clone, Serialize)]
pub struct RankTest {
    /// The command.
    pub name: String,
    /// Chance that a run of it has a larger value than one of the baseline.
    pub probability: f64,
    /// p-value by Mann and Whitney's test.
    pub p: f64,
    /// The same, adjusted for the number of commands by Holm's method.
    pub p_adjusted: f64,
}

impl BenchResult {
    /// What runs of a command add up to; with a metric, a run that did not print it has no value,
    /// and its time does not stand in for one.
    pub(super) fn of(
        command: &ReadyCommand,
        runs: &[Run],
        shell: Option<&ShellStart>,
        metric: Option<&BenchMetric>,
    ) -> Self {
        let shell = shell.filter(|_| command.through_shell);
        let off =
            |own: f64, start: fn(&ShellStart) -> f64| (own - shell.map_or(0.0, start)).max(0.0);
        let times: Vec<f64> = runs.iter().map(|run| off(run.wall_s, |own| own.wall_s)).collect();
        let values: Vec<f64> = match metric {
            Some(_) => runs.iter().filter_map(|run| run.metric).collect(),
            None => times.clone(),
        };
        let mean = |values: &[f64]| sample::mean(values).ok();
        let all = |of: fn(&Run) -> f64| mean(&runs.iter().map(of).collect::<Vec<_>>());
        let interval = interval(&values);
        Self {
            name: command.label.clone(),
            command: command.text.clone(),
            parameters: command.parameters.clone(),
            runs: runs.len(),
            failed: runs.iter().filter(|run| run.failed).count(),
            mean: mean(&values),
            sd: sample::variance(&values).ok().map(f64::sqrt),
            ci_low: interval.map(|ends| ends[0]),
            ci_high: interval.map(|ends| ends[1]),
            median: sample::median(&values).ok(),
            min: values.iter().copied().min_by(f64::total_cmp),
            max: values.iter().copied().max_by(f64::total_cmp),
            wall_s: mean(&times),
            user_s: all(|run| run.user_s).map(|own| off(own, |start| start.user_s)),
            system_s: all(|run| run.system_s).map(|own| off(own, |start| start.system_s)),
            peak_memory_bytes: runs.iter().filter_map(|run| run.peak_memory_bytes).max(),
            values,
            times_s: times,
            user_times_s: runs.iter().map(|run| off(run.user_s, |own| own.user_s)).collect(),
            system_times_s: runs.iter().map(|run| off(run.system_s, |own| own.system_s)).collect(),
            memory_bytes: runs.iter().map(|run| run.peak_memory_bytes).collect(),
            exit_codes: runs.iter().map(|run| run.exit_code).collect(),
        }
    }
}

/// Student's 95 % interval of a mean.
fn interval(values: &[f64]) -> Option<[f64; 2]> {
    let (mean, variance) = (sample::mean(values).ok()?, sample::variance(values).ok()?);
    let n = values.len() as f64;
    let half = StudentT::new(n - 1.0).ok()?.quantile(0.975).ok()? * (variance / n).sqrt();
    Some([mean - half, mean + half])
}

/// Compares every command with the baseline, and says what follows.
pub(super) fn compare(reply: &mut BenchReply, baseline: usize, alpha: f64) -> Result<(), Error> {
    let named = |result: &BenchResult| format!("`{}`", result.name);
    let with_values = reply.results.iter().filter(|own| !own.values.is_empty()).count();
    if with_values < 2 || reply.results[baseline].values.is_empty() {
        return Ok(());
    }
    let by = if reply.metric == "command" { "program" } else { "command" }.to_owned();
    let mut rows = csv::Writer::from_writer(Vec::new());
    let write = |rows: &mut csv::Writer<Vec<u8>>| -> Result<(), csv::Error> {
        rows.write_record([reply.metric.as_str(), by.as_str()])?;
        for result in &reply.results {
            for value in &result.values {
                rows.write_record([value.to_string(), named(result)])?;
            }
        }
        Ok(())
    };
    write(&mut rows).expect("writing to memory cannot fail");
    let rows = rows.into_inner().expect("writing to memory cannot fail");
    let table = Table::from_csv(rows.as_slice(), std::slice::from_ref(&by))?;
    let options = CompareOptions {
        column: reply.metric.clone(),
        by,
        baseline: Some(named(&reply.results[baseline])),
        paired: None,
        objective: reply.objective,
        alpha,
    };
    let comparison = compare_table(&table, &options)?;
    reply.verdict = first_sentence(reply, baseline).into_iter().collect();
    let unit = reply.unit.as_deref();
    reply.verdict.extend(comparison.levels.iter().map(|own| in_unit(own, unit)));
    reply.ranks = ranks(&reply.results, baseline);
    reply.comparison = Some(comparison);
    disagreements(reply, alpha);
    Ok(())
}

/// The sentence on a command, with a unit behind the difference where no ratio is told.
fn in_unit(own: &LevelComparison, unit: Option<&str>) -> String {
    let (None, Some(unit)) = (own.ratio, unit) else { return own.text.clone() };
    let sign = if own.difference > 0.0 { "+" } else { "" };
    let number = format!(": {sign}{}", brief(own.difference));
    own.text.replacen(&format!("{number} against "), &format!("{number} {unit} against "), 1)
}

/// Which command stands first by its mean, where there are more than two.
fn first_sentence(reply: &BenchReply, baseline: usize) -> Option<String> {
    if reply.results.len() < 3 {
        return None;
    }
    let (direction, word) = match (reply.objective?, reply.metric.as_str()) {
        (Direction::Minimize, "time") => (1.0, "fastest"),
        (Direction::Minimize, _) => (1.0, "lowest"),
        (Direction::Maximize, _) => (-1.0, "highest"),
    };
    let means = reply.results.iter().filter_map(|own| Some((own, own.mean?)));
    let best = means.min_by(|a, b| (direction * a.1).total_cmp(&(direction * b.1)))?.0;
    let base = &reply.results[baseline].name;
    Some(format!("`{}` has the {word} mean; all are compared with `{base}`", best.name))
}

fn ranks(results: &[BenchResult], baseline: usize) -> Vec<RankTest> {
    let base = &results[baseline].values;
    let others = results.iter().enumerate().filter(|(at, _)| *at != baseline);
    let tests: Vec<_> =
        others.filter_map(|(_, own)| Some((own, mann_whitney(&own.values, base).ok()?))).collect();
    let adjusted = holm(&tests.iter().map(|(_, test)| Some(test.p)).collect::<Vec<_>>());
    let test = |((own, test), adjusted): ((&BenchResult, _), Option<f64>)| {
        let test: trainwright_stats::MannWhitney = test;
        RankTest {
            name: own.name.clone(),
            probability: test.probability,
            p: test.p,
            p_adjusted: adjusted.unwrap_or(test.p),
        }
    };
    tests.into_iter().zip(adjusted).map(test).collect()
}

/// Says where means and ranks lead to different answers.
fn disagreements(reply: &mut BenchReply, alpha: f64) {
    let Some(comparison) = &reply.comparison else { return };
    let mut found = Vec::new();
    for rank in &reply.ranks {
        let level = format!("`{}`", rank.name);
        let own = comparison.levels.iter().find(|own| own.own.level.to_string() == level);
        let Some(own) = own else { continue };
        let by_means = matches!(own.verdict, Verdict::Higher | Verdict::Lower);
        if own.verdict != Verdict::NothingFollows && by_means != (rank.p_adjusted < alpha) {
            let told = if by_means { "none" } else { "one" };
            found.push(format!(
                "{level}: by ranks there is evidence of {told} ({}, Mann and Whitney): a few far \
                 values decide, so look at them, or run more",
                p_value(rank.p_adjusted)
            ));
        }
    }
    reply.verdict.extend(found);
}
