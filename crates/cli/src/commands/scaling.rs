//! `trainwright scaling` and `trainwright overhead`.

use trainwright_analysis::{Overhead, OverheadOptions, Scaling, ScalingOptions};
use trainwright_report::{figure, findings_text};

use crate::arguments::{OverheadArguments, ScalingArguments};
use crate::output::{plain_table, print, print_json, stdout_colour};

pub(crate) fn scaling(arguments: &ScalingArguments) -> anyhow::Result<u8> {
    let found = trainwright::scaling(
        &arguments.data,
        &ScalingOptions {
            column: arguments.column.clone(),
            workers: arguments.workers.clone(),
            size: arguments.size.clone(),
            predict: arguments.predict.clone(),
            predict_size: arguments.predict_size,
            alpha: arguments.alpha,
        },
    )?;
    if arguments.json {
        print_json("scaling", &found)?;
    } else {
        print(&scaling_text(&found))?;
    }
    Ok(0)
}

pub(crate) fn overhead(arguments: &OverheadArguments) -> anyhow::Result<u8> {
    let found = trainwright::overhead(
        &arguments.data,
        &OverheadOptions {
            column: arguments.column.clone(),
            steps: arguments.steps.clone(),
            by: arguments.by.clone(),
            samples: arguments.samples,
            unit: arguments.unit.clone(),
            alpha: arguments.alpha,
        },
    )?;
    if arguments.json {
        print_json("overhead", &found)?;
    } else {
        print(&overhead_text(&found))?;
    }
    Ok(0)
}

fn scaling_text(found: &Scaling) -> String {
    let mut rows = plain_table();
    rows.set_header([&found.workers, "n", "mean time", "speed-up", "efficiency"]);
    for row in &found.rows {
        rows.add_row([
            figure(row.workers),
            row.n.to_string(),
            figure(row.mean),
            with_ends(row.speed_up, row.speed_up_low, row.speed_up_high, 1.0),
            with_ends(row.efficiency, row.efficiency_low, row.efficiency_high, 100.0) + " %",
        ]);
    }
    let fits: Vec<String> = found.fits.iter().map(|fit| format!("  {}\n", fit.text)).collect();
    format!(
        "{} by {}\n{rows}\n\nLaws\n{}{}{}",
        found.response,
        found.workers,
        fits.concat(),
        predictions_text(found),
        findings_text(&found.findings, stdout_colour())
    )
}

fn predictions_text(found: &Scaling) -> String {
    let mut table = plain_table();
    table.set_header([found.workers.as_str(), "law", "time of one run"]);
    let mut any = false;
    for fit in &found.fits {
        for own in &fit.predictions {
            any = true;
            let time = own
                .time
                .map_or_else(|| "none".to_owned(), |t| with_ends(t, own.low, own.high, 1.0));
            table.add_row([figure(own.workers), fit.law.name().to_owned(), time]);
        }
    }
    if any { format!("\nPredicted\n{table}\n") } else { String::new() }
}

fn overhead_text(found: &Overhead) -> String {
    let mut table = plain_table();
    let by = found.by.as_deref().unwrap_or("");
    table.set_header([by, "n", "time a step", "time beside", "explained", "worst miss"]);
    for line in &found.lines {
        let percent = |share: Option<f64>| {
            share.map_or_else(String::new, |share| format!("{} %", figure(100.0 * share)))
        };
        table.add_row([
            line.group.as_ref().map(ToString::to_string).unwrap_or_default(),
            line.n.to_string(),
            with_ends(line.per_step, line.per_step_low, line.per_step_high, 1.0),
            with_ends(line.constant, line.constant_low, line.constant_high, 1.0),
            percent(line.r2),
            percent(line.worst_miss),
        ]);
    }
    let sentences: Vec<String> =
        found.lines.iter().map(|line| format!("  {}\n", line.text)).collect();
    format!(
        "{} = a x {} + c\n{table}\n\n{}{}",
        found.response,
        found.steps,
        sentences.concat(),
        findings_text(&found.findings, stdout_colour())
    )
}

/// A value with its interval, if it has one.
fn with_ends(value: f64, low: Option<f64>, high: Option<f64>, unit: f64) -> String {
    let value = figure(unit * value);
    match low.zip(high) {
        Some((low, high)) => format!("{value} ({} to {})", figure(unit * low), figure(unit * high)),
        None => value,
    }
}
