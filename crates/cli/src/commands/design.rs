//! `trainwright design`.

use serde::Serialize;
use serde_json::json;
use trainwright::Error;
use trainwright_design::{AliasesListed, DesignError, TwoLevelFraction, full_factorial};

use crate::arguments::{DesignArguments, DesignKindArgument};
use crate::output::{plain_table, print, print_json};

pub(crate) fn design(arguments: &DesignArguments) -> anyhow::Result<u8> {
    match arguments.kind {
        DesignKindArgument::Fractional => fractional(arguments)?,
        DesignKindArgument::Full => full(arguments)?,
    }
    Ok(0)
}

fn fractional(arguments: &DesignArguments) -> anyhow::Result<()> {
    let factors = arguments.factors.ok_or_else(|| missing("--factors, such as --factors 6"))?;
    if !arguments.levels.is_empty() {
        return Err(Error::Request("a fractional design has two levels a factor".into()).into());
    }
    let fraction = match (arguments.runs, arguments.generators.as_slice()) {
        (Some(runs), []) => TwoLevelFraction::with_runs(factors, runs),
        (None, words @ [_, ..]) => TwoLevelFraction::from_generators(factors, words),
        _ => return Err(missing("either --runs 32 or --generators F=ABCDE").into()),
    };
    let fraction = fraction.map_err(|error| refused(&error))?;
    if arguments.json { print_json("design", &fraction) } else { print(&fraction_text(&fraction)) }
}

fn full(arguments: &DesignArguments) -> anyhow::Result<()> {
    if arguments.runs.is_some() || !arguments.generators.is_empty() {
        let message = "a full design has no runs and no generators to choose";
        return Err(Error::Request(message.into()).into());
    }
    let two_level = arguments.levels.is_empty();
    let levels = match (arguments.factors, two_level) {
        (Some(factors), true) => vec![2; factors],
        (None, false) => arguments.levels.clone(),
        _ => return Err(missing("either --factors 3 or --levels 2,2,3").into()),
    };
    if levels.contains(&0) {
        return Err(Error::Request("every factor needs at least one level".into()).into());
    }
    let rows = full_factorial(&levels).map_err(|error| refused(&error))?;
    let letters: Vec<String> = letters(levels.len());
    // Two levels are written as signs, more as numbers from 0.
    let cell = |level: usize| if two_level { 2 * level as i64 - 1 } else { level as i64 };
    let rows: Vec<Vec<i64>> =
        rows.iter().map(|row| row.iter().map(|&level| cell(level)).collect()).collect();
    if arguments.json {
        print_json("design", &json!({ "factors": letters, "rows": rows }))
    } else {
        print(&table(&letters, &rows))
    }
}

fn missing(what: &str) -> Error {
    Error::Request(format!("this design needs {what}"))
}

fn refused(error: &DesignError) -> Error {
    let help = error.help().map(|help| format!("; {help}")).unwrap_or_default();
    Error::Request(format!("cannot build design: {error}{help}"))
}

/// A, B, C and so on without I, which stands for the identity.
fn letters(count: usize) -> Vec<String> {
    let single = ('A'..='Z').filter(|letter| *letter != 'I').map(String::from);
    single.chain((1..).map(|number| format!("X{number}"))).take(count).collect()
}

fn table<T: Serialize + ToString>(header: &[String], rows: &[Vec<T>]) -> String {
    let mut table = plain_table();
    table.set_header(std::iter::once("row").chain(header.iter().map(String::as_str)));
    for (number, row) in (1..).zip(rows) {
        let number: i32 = number;
        table.add_row(std::iter::once(number.to_string()).chain(row.iter().map(T::to_string)));
    }
    format!("{table}\n")
}

fn fraction_text(fraction: &TwoLevelFraction) -> String {
    let letters: Vec<String> = fraction.factors().iter().map(char::to_string).collect();
    let mut text = table(&letters, fraction.rows());
    let mut put = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    if !fraction.generators().is_empty() {
        put(format!("\ngenerators         {}", fraction.generators().join(", ")));
        put(format!("defining relation  I = {}", fraction.defining_relation().join(" = ")));
    }
    match fraction.resolution() {
        Some(resolution) => put(format!("resolution         {resolution}")),
        None => put("every combination runs: nothing is aliased".to_owned()),
    }
    put(format!("clear interactions {}", fraction.clear_two_factor()));
    let aliased = fraction.aliases().iter().filter(|(_, others)| !others.is_empty());
    for (effect, others) in aliased {
        put(format!("{effect} is aliased with {}", others.join(", ")));
    }
    if fraction.aliases_listed() == AliasesListed::UpToTwoFactors {
        put("aliases of three and more factors are left out".to_owned());
    }
    text
}
