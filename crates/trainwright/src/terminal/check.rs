//! A study before a minute is spent, in words.

use trainwright_analysis::PlannedPower;
use trainwright_analysis::wording::count;
use trainwright_design::{Design, Kind};
use trainwright_report::terminal::{TextTable, confounding_text};

use crate::{HoursFrom, Preview};

/// Most rows of the run table that are printed.
const MOST_ROWS: usize = 64;

/// Everything about a study before a minute is spent.
pub fn check(preview: &Preview) -> String {
    if preview.design.kind() == Kind::Open {
        return format!(
            "{}: no [design], so no trials are planned: they come with `trainwright import`, or \
             from a search\n",
            preview.study
        );
    }
    let rows = preview.design.rows().len();
    let mut text = format!(
        "{}: {} trials = {rows} rows x {} replications",
        preview.study,
        preview.trials.len(),
        preview.replications
    );
    let mut put = |line: String| {
        text.push('\n');
        text.push_str(&line);
    };
    for change in &preview.changes {
        put(format!("since its trials were planned, {}: {}", change.words, change.meaning.words()));
    }
    if preview.warmup > 0 {
        put(format!("{} warm-up trials come first and do not count", preview.warmup));
    }
    put(time(preview));
    if let Some(price) = preview.price {
        put(format!("price: {price:.2} in the currency of price_per_hour"));
    }
    if let Some(command) = &preview.first_command {
        put(format!("first command: {}", command.join(" ")));
    }
    put(power(preview.power.as_ref()));
    for note in &preview.notes {
        put(format!("note: {note}"));
    }
    put(confounding_text(&preview.design, preview.confounding.as_ref()));
    put(row_table(&preview.design));
    text
}

fn time(preview: &Preview) -> String {
    match preview.hours {
        _ if !preview.runs => "nothing to run: results come with `trainwright import`".to_owned(),
        Some(estimate) => {
            let from = match estimate.from {
                HoursFrom::FinishedTrials => "by the trials that have run",
                HoursFrom::Timeout => "at most, if every trial takes its timeout",
            };
            format!("takes {} {from}", duration(estimate.hours))
        }
        None => "time: unknown until the first trial has run".to_owned(),
    }
}

fn power(power: Option<&PlannedPower>) -> String {
    let Some(power) = power else {
        return "power: not worked out, the terms are too many".to_owned();
    };
    let chance = 100.0 * power.power;
    match (power.smallest_effect, power.df_smallest.unwrap_or(power.df_residual)) {
        (Some(effect), df) => format!(
            "power: an effect of {effect:.2} {}, {}, is found with {chance:.0} % \
             probability, allowing for {} by Holm's method ({df} degrees of freedom for the noise)",
            if df == power.df_residual {
                "residual standard deviations"
            } else {
                "standard deviations of the noise between whole plots"
            },
            power.meaning.unwrap_or("low to high"),
            count(power.tests, "term")
        ),
        (None, 0) => "power: none, no degrees of freedom are left to measure the noise; add \
                      replications or leave out terms"
            .to_owned(),
        (None, df) => format!("{df} degrees of freedom measure the noise"),
    }
}

fn duration(hours: f64) -> String {
    match hours * 3600.0 {
        s if s < 90.0 => format!("about {s:.0} s"),
        s if s < 5400.0 => format!("about {:.0} min", s / 60.0),
        s => format!("about {:.1} h", s / 3600.0),
    }
}

fn row_table(design: &Design) -> String {
    let block = design.blocks().map(|_| "block");
    let names = design.factors().iter().map(String::as_str);
    let mut table = TextTable::with_header(std::iter::once("row").chain(block).chain(names));
    for (number, row) in (1..).zip(design.rows()).take(MOST_ROWS) {
        let number: u32 = number;
        let block = design.blocks().and_then(|blocks| blocks.of_row(number));
        let cells = design.factors().iter().map(|name| match row.get(name) {
            Some(level) => level.to_string(),
            None => "-".to_owned(),
        });
        let block = block.map(|block| block.to_string());
        table.row(std::iter::once(number.to_string()).chain(block).chain(cells));
    }
    let more = design.rows().len().saturating_sub(MOST_ROWS);
    let more = if more > 0 { format!("... {more} more rows\n") } else { String::new() };
    format!("\n{table}{more}")
}
