//! `trainwright check`.

mod confounded;

use std::env;

use anyhow::Context;
use serde_json::{Value, json};
use trainwright::{HoursFrom, Preview};
use trainwright_analysis::PlannedPower;
use trainwright_design::{Design, Kind};
use trainwright_study::Study;

use super::load;
use crate::arguments::StudyArguments;
use crate::output::{plain_table, print, print_json};

pub(crate) fn check(arguments: &StudyArguments) -> anyhow::Result<u8> {
    let study = load(&arguments.study)?;
    let program = env::current_exe().context("cannot find this program's own file")?;
    let preview = trainwright::check(&study, arguments.store.as_deref(), &program)?;
    if arguments.json {
        print_json("check", &as_json(&study, &preview))?;
    } else {
        print(&as_text(&study, &preview))?;
    }
    Ok(0)
}

fn as_json(study: &Study, preview: &Preview) -> Value {
    json!({
        "study": study.name,
        "design": preview.design,
        "confounding": preview.confounding,
        "replications": study.design.replications,
        "trials": preview.trials,
        "warmup": preview.warmup,
        "first_command": preview.first_command,
        "power": preview.power,
        "hours": preview.hours,
        "price": preview.price,
        "notes": preview.design.notes().iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

/// Most rows of the run table that are printed.
const MOST_ROWS: usize = 64;

fn as_text(study: &Study, preview: &Preview) -> String {
    if preview.design.kind() == Kind::Open {
        return format!(
            "{}: no [design], so no trials are planned: they come with `trainwright import`, or \
             from a search\n",
            study.name
        );
    }
    let rows = preview.design.rows().len();
    let mut text = format!(
        "{}: {} trials = {rows} rows x {} replications",
        study.name,
        preview.trials.len(),
        study.design.replications
    );
    let mut put = |line: String| {
        text.push('\n');
        text.push_str(&line);
    };
    if preview.warmup > 0 {
        put(format!("{} warm-up trials come first and do not count", preview.warmup));
    }
    match preview.hours {
        _ if study.task.is_none() => {
            put("nothing to run: results come with `trainwright import`".to_owned());
        }
        Some(estimate) => {
            let from = match estimate.from {
                HoursFrom::FinishedTrials => "by the trials that have run",
                HoursFrom::Timeout => "at most, if every trial takes its timeout",
            };
            put(format!("takes {} {from}", duration(estimate.hours)));
        }
        None => put("time: unknown until the first trial has run".to_owned()),
    }
    if let Some(price) = preview.price {
        put(format!("price: {price:.2} in the currency of price_per_hour"));
    }
    if let Some(command) = &preview.first_command {
        put(format!("first command: {}", command.join(" ")));
    }
    put(power(preview.power.as_ref()));
    for note in preview.design.notes() {
        put(format!("note: {note}"));
    }
    put(confounded::text(&preview.design, preview.confounding.as_ref()));
    put(row_table(&preview.design));
    text
}

fn power(power: Option<&PlannedPower>) -> String {
    let Some(power) = power else {
        return "power: not worked out, the terms are too many".to_owned();
    };
    let chance = 100.0 * power.power;
    match (power.smallest_effect, power.df_residual) {
        (Some(effect), df) => format!(
            "power: an effect of {effect:.2} residual standard deviations, low to high, is found \
             with {chance:.0} % probability ({df} degrees of freedom for the noise)"
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
    let mut table = plain_table();
    let block = design.blocks().map(|_| "block");
    let names = design.factors().iter().map(String::as_str);
    table.set_header(std::iter::once("row").chain(block).chain(names));
    for (number, row) in (1..).zip(design.rows()).take(MOST_ROWS) {
        let number: u32 = number;
        let block = design.blocks().and_then(|blocks| blocks.of_row(number));
        let cells = design.factors().iter().map(|name| match row.get(name) {
            Some(level) => level.to_string(),
            None => "-".to_owned(),
        });
        let block = block.map(|block| block.to_string());
        table.add_row(std::iter::once(number.to_string()).chain(block).chain(cells));
    }
    let more = design.rows().len().saturating_sub(MOST_ROWS);
    let more = if more > 0 { format!("... {more} more rows\n") } else { String::new() };
    format!("\n{table}\n{more}")
}
