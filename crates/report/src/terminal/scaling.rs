//! How time falls with workers, and what a step costs.

use trainwright_analysis::{Overhead, Scaling};

use super::{Colour, TextTable, findings_text};
use crate::figure::figure;

/// Speed-up and efficiency, the laws that were fitted, and what they predict.
pub fn scaling_text(found: &Scaling, colour: Colour) -> String {
    let head = [&found.workers, "n", "mean time", "speed-up", "efficiency"];
    let mut rows = TextTable::with_header(head);
    for row in &found.rows {
        rows.row([
            figure(row.workers),
            row.n.to_string(),
            figure(row.mean),
            with_ends(row.speed_up, row.speed_up_low, row.speed_up_high, 1.0),
            with_ends(row.efficiency, row.efficiency_low, row.efficiency_high, 100.0) + " %",
        ]);
    }
    let fits: String = found.fits.iter().map(|fit| format!("  {}\n", fit.text)).collect();
    format!(
        "{} by {}\n{rows}\nLaws\n{fits}{}{}",
        found.response,
        found.workers,
        predictions(found),
        findings_text(&found.findings, colour)
    )
}

fn predictions(found: &Scaling) -> String {
    let mut table = TextTable::with_header([found.workers.as_str(), "law", "time of one run"]);
    // What a law says that does not describe the times is no prediction.
    for fit in found.fits.iter().filter(|fit| fit.doubt.is_none()) {
        for own in &fit.predictions {
            let time = own
                .time
                .map_or_else(|| "none".to_owned(), |t| with_ends(t, own.low, own.high, 1.0));
            table.row([figure(own.workers), fit.law.name().to_owned(), time]);
        }
    }
    if table.is_empty() { String::new() } else { format!("\nPredicted\n{table}") }
}

/// What a step and everything beside it cost, for every strategy.
pub fn overhead_text(found: &Overhead, colour: Colour) -> String {
    let by = found.by.as_deref().unwrap_or("");
    let head = [by, "n", "time a step", "time beside", "explained", "worst miss"];
    let mut table = TextTable::with_header(head);
    for line in &found.lines {
        let percent = |share: Option<f64>| {
            share.map_or_else(String::new, |share| format!("{} %", figure(100.0 * share)))
        };
        table.row([
            line.group.as_ref().map(ToString::to_string).unwrap_or_default(),
            line.n.to_string(),
            with_ends(line.per_step, line.per_step_low, line.per_step_high, 1.0),
            with_ends(line.constant, line.constant_low, line.constant_high, 1.0),
            percent(line.r2),
            percent(line.worst_miss),
        ]);
    }
    let sentences: String = found.lines.iter().map(|line| format!("  {}\n", line.text)).collect();
    format!(
        "{} = a x {} + c\n{table}\n{sentences}{}",
        found.response,
        found.steps,
        findings_text(&found.findings, colour)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_shown_where_there_is_one() {
        assert_eq!(with_ends(0.5, Some(0.25), Some(0.75), 100.0), "50 (25 to 75)");
        assert_eq!(with_ends(2.0, None, Some(3.0), 1.0), "2");
    }
}
