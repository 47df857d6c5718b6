//! What a table of training runs tells by the names of its columns.
//!
//! A column is known by its name, whatever its case and whatever unit ends it: `Batch_Size`,
//! `step_time_ms`, `time_s`. A check is made where all its columns are there, and is silent
//! otherwise. `runs.rs` finds columns and units.

mod runs;

use std::collections::BTreeMap;

use trainwright_study::{Observation, Study};

use super::{Finding, info, serious, warning};
use crate::csv_table::Table;
use crate::wording::{brief, list, percent};
use runs::{Role, Runs};

/// An epoch this far from one pass over the data, either way, is told.
const PASS_TOLERANCE: f64 = 1.5;

/// Share of the time outside the steps above which it is told.
const OUTSIDE: f64 = 0.2;

/// Share of a link below which bandwidth does not bind.
const IDLE_LINK: f64 = 0.2;

/// Link assumed where no column tells: one gigabit a second.
const USUAL_LINK_BITS_PER_S: f64 = 1e9;

/// Totals that differ by more than this need an explanation ...
const TOTALS_DIFFER: f64 = 1.5;

/// ... and figures per step within this are the same.
const PER_STEP_ALIKE: f64 = 1.25;

/// Loss of accuracy, as a fraction, that counts as a collapse.
const COLLAPSE: f64 = 0.05;

/// Findings of a table, whatever equation is fitted to it.
pub(crate) fn of_table(table: &Table) -> Vec<Finding> {
    findings(&Runs::of_table(table))
}

/// Findings of a study's finished trials.
pub(crate) fn of_study(study: &Study, finished: &[&Observation]) -> Vec<Finding> {
    findings(&Runs::of_study(study, finished))
}

fn findings(runs: &Runs) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(epoch_is_not_a_pass(runs));
    found.extend(no_validation_split(runs));
    found.extend(batch_at_unscaled_rate(runs));
    found.extend(evaluation_inside_the_time(runs));
    found.extend(network_not_the_limit(runs));
    found.extend(bytes_per_step_alike(runs));
    found
}

fn epoch_is_not_a_pass(runs: &Runs) -> Option<Finding> {
    let columns = runs.together([Role::Steps, Role::Batch, Role::Epochs, Role::Examples]);
    let passes =
        columns.map(|[steps, batch, epochs, examples]| steps * batch / (epochs * examples));
    let worst = passes
        .filter(|p| p.is_finite() && *p > 0.0)
        .max_by(|a, b| a.ln().abs().total_cmp(&b.ln().abs()))?;
    if worst.ln().abs() <= PASS_TOLERANCE.ln() {
        return None;
    }
    let text = format!(
        "an epoch is about {} passes over the data, not one: steps x batch is that many times epochs \
         x examples{}",
        brief(worst),
        if worst > 1.0 { "; were the steps of an epoch not divided by the batch?" } else { "" }
    );
    Some(serious("epoch-is-not-a-pass", text))
}

fn no_validation_split(runs: &Runs) -> Option<Finding> {
    let judged: Vec<&str> = runs
        .names()
        .filter(|name| ["accuracy", "loss", "error"].iter().any(|word| name.contains(word)))
        .collect();
    let has = |word: &str| judged.iter().find(|name| name.contains(word));
    let (test, train) = (has("test")?, has("train")?);
    if judged.iter().any(|name| name.contains("val")) {
        return None;
    }
    let text = format!(
        "there are {train} and {test} but no validation figure: whoever chooses a configuration by \
         {test} has no untouched data left to say how good it is"
    );
    Some(info("no-validation-split", text))
}

fn batch_at_unscaled_rate(runs: &Runs) -> Option<Finding> {
    let accuracy = runs.names().filter(|name| name.contains("accuracy")).collect::<Vec<_>>();
    let collapse = accuracy.iter().filter_map(|name| worst_collapse(runs, name));
    let (name, fall) = collapse.max_by(|a, b| a.1.size.total_cmp(&b.1.size))?;
    let epochs =
        if runs.role(Role::Epochs).is_some() { "at the same number of epochs " } else { "" };
    let (with_rate, advice) = match runs.role(Role::Rate) {
        Some(_) => (
            " with the learning rate as it was",
            ", and the rate must grow with it before the two can be compared",
        ),
        None => (
            "",
            "; the learning rate is not among the columns, so whether it grew with the batch cannot be \
             seen",
        ),
    };
    let text = format!(
        "{name} falls from {} at batch {} to {} at batch {}{}{with_rate}: {epochs}a larger batch makes \
         fewer updates{advice}",
        brief(fall.from.1),
        brief(fall.from.0),
        brief(fall.to.1),
        brief(fall.to.0),
        fall.group
    );
    Some(warning("batch-at-unscaled-rate", text))
}

/// A fall of accuracy from one batch to a larger one.
struct Fall {
    from: (f64, f64),
    to: (f64, f64),
    size: f64,
    group: String,
}

/// The largest loss of accuracy at a larger batch and the same rate, among runs alike otherwise.
fn worst_collapse<'r>(runs: &'r Runs, name: &'r str) -> Option<(&'r str, Fall)> {
    let (batch, accuracy) = (runs.role(Role::Batch)?, runs.column(name)?);
    let (rate, epochs) = (runs.role(Role::Rate), runs.role(Role::Epochs));
    // Whoever varies the rate studies it, and the equation says what it does.
    let rates: Vec<f64> = rate.iter().flat_map(|column| column.iter().flatten()).copied().collect();
    if rates.iter().any(|r| *r != rates[0]) {
        return None;
    }
    let scale = if accuracy.iter().flatten().any(|a| a.abs() > 1.5) { 100.0 } else { 1.0 };
    let mut groups: BTreeMap<(String, u64), BTreeMap<u64, Vec<f64>>> = BTreeMap::new();
    for row in 0..runs.rows() {
        if let (Some(b), Some(a)) = (batch[row], accuracy[row]) {
            let epochs = epochs.as_ref().and_then(|column| column[row]).unwrap_or(0.0);
            let group = groups.entry((runs.texts(row), epochs.to_bits())).or_default();
            group.entry(b.to_bits()).or_default().push(a);
        }
    }
    let falls = groups.into_iter().flat_map(|((texts, _), by_batch)| {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let means: Vec<(f64, f64)> =
            by_batch.iter().map(|(b, values)| (f64::from_bits(*b), mean(values))).collect();
        let pairs = means.clone().into_iter().flat_map(move |from| {
            means.clone().into_iter().filter(move |to| to.0 > from.0).map(move |to| (from, to))
        });
        let group = if texts.is_empty() { texts } else { format!(" ({texts})") };
        pairs.map(move |(from, to)| {
            let size = (from.1 - to.1) / scale;
            Fall { from, to, size, group: group.clone() }
        })
    });
    let worst = falls.max_by(|a, b| a.size.total_cmp(&b.size))?;
    (worst.size >= COLLAPSE).then_some((name, worst))
}

fn evaluation_inside_the_time(runs: &Runs) -> Option<Finding> {
    let rows = runs.together([Role::Steps, Role::StepSeconds, Role::Seconds]);
    let shares: Vec<f64> = rows
        .filter(|[_, _, total]| *total > 0.0)
        .map(|[steps, step, total]| 1.0 - steps * step / total)
        .filter(|outside| *outside > OUTSIDE)
        .collect();
    if shares.is_empty() {
        return None;
    }
    let most = shares.iter().fold(0.0f64, |m, s| m.max(*s));
    let least = shares.iter().fold(1.0f64, |m, s| m.min(*s));
    let range = if shares.len() == 1 {
        percent(100.0 * most)
    } else {
        format!("{} to {}", percent(100.0 * least), percent(100.0 * most))
    };
    let text = format!(
        "steps x time of a step leave {range} of the time unexplained: something else \
         than steps was timed, such as evaluation, checkpoints or start-up, and times that include it \
         do not compare training"
    );
    Some(warning("evaluation-inside-the-time", text))
}

fn network_not_the_limit(runs: &Runs) -> Option<Finding> {
    let link =
        runs.role(Role::LinkBitsPerS).and_then(|column| column.iter().flatten().next().copied());
    let bits = link.unwrap_or(USUAL_LINK_BITS_PER_S);
    let shares: Vec<f64> = runs
        .together([Role::NetworkBytes, Role::Seconds])
        .filter(|[_, seconds]| *seconds > 0.0)
        .map(|[bytes, seconds]| 8.0 * bytes / seconds / bits)
        .collect();
    let most = shares.iter().fold(0.0f64, |m, s| m.max(*s));
    if shares.is_empty() || most >= IDLE_LINK {
        return None;
    }
    let least = shares.iter().fold(f64::INFINITY, |m, s| m.min(*s));
    let text = format!(
        "the network carried {} to {} of {} {} Gb/s link, so its bandwidth does not bind; if \
         communication does, it is by round trips or by waiting",
        percent(100.0 * least),
        percent(100.0 * most),
        if link.is_some() { "the" } else { "an assumed" },
        brief(bits / 1e9)
    );
    Some(info("network-not-the-limit", text))
}

fn bytes_per_step_alike(runs: &Runs) -> Option<Finding> {
    let rows: Vec<[f64; 2]> = runs
        .together([Role::NetworkBytes, Role::Steps])
        .filter(|[bytes, steps]| *bytes > 0.0 && *steps > 0.0)
        .collect();
    let spread = |of: &dyn Fn(&[f64; 2]) -> f64| {
        let least = rows.iter().map(of).fold(f64::INFINITY, f64::min);
        (least, rows.iter().map(of).fold(0.0f64, f64::max))
    };
    let ((fewest, most), (least, largest)) = (spread(&|r| r[0]), spread(&|r| r[0] / r[1]));
    if rows.len() < 2 || most < TOTALS_DIFFER * fewest || largest > PER_STEP_ALIKE * least {
        return None;
    }
    let kilobytes = list(&[least, largest].map(|b| format!("{} kB", brief(b / 1e3))));
    let text = format!(
        "runs differ in network bytes by a factor of {} because they made more steps: a step moves \
         between {kilobytes} in all of them",
        brief(most / fewest)
    );
    Some(info("bytes-per-step-alike", text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(csv: &str, id: &str) -> Option<String> {
        let found = of_table(&Table::from_csv(csv.as_bytes(), &[]).unwrap());
        found.into_iter().find(|own| own.id == id).map(|own| own.text)
    }

    #[test]
    fn a_learning_rate_is_spoken_of_only_where_there_is_one() {
        let id = "batch-at-unscaled-rate";
        let with = text("batch,lr,epochs,accuracy\n32,0.1,5,0.9\n512,0.1,5,0.6\n", id).unwrap();
        assert!(with.contains("with the learning rate as it was: at the same number of epochs"));
        let without = text("batch,accuracy\n32,0.9\n512,0.6\n", id).unwrap();
        assert!(!without.contains("as it was") && !without.contains("epochs"), "{without}");
        assert!(without.contains("the learning rate is not among the columns"), "{without}");
        assert_eq!(text("batch,lr,accuracy\n32,0.1,0.9\n512,1.6,0.6\n", id), None);
    }

    #[test]
    fn time_outside_the_steps_is_not_said_to_be_evaluation() {
        let csv = "steps,step_time_ms,time_s\n100,10,2\n100,10,1\n";
        let told = text(csv, "evaluation-inside-the-time").unwrap();
        assert!(told.contains("leave 50.0 % of the time") || told.contains("leave 50 %"), "{told}");
        assert!(told.contains("such as evaluation"), "{told}");
    }
}
