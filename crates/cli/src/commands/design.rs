//! `trainwright design`.

mod optimal;
mod response_surface;
mod space_filling;
mod two_level;

use serde_json::json;
use trainwright::Error;
use trainwright_design::{DesignError, full_factorial, two_level_factorial};

use crate::arguments::{DesignArguments, DesignKindArgument};
use crate::output::{plain_table, print, print_json};

pub(crate) fn design(arguments: &DesignArguments) -> anyhow::Result<u8> {
    match arguments.kind {
        DesignKindArgument::Full => full(arguments)?,
        DesignKindArgument::Fractional => two_level::fractional(arguments)?,
        DesignKindArgument::PlackettBurman => two_level::plackett_burman(arguments)?,
        DesignKindArgument::CentralComposite => response_surface::central_composite(arguments)?,
        DesignKindArgument::BoxBehnken => response_surface::box_behnken(arguments)?,
        DesignKindArgument::LatinHypercube => space_filling::latin_hypercube(arguments)?,
        DesignKindArgument::Sobol => space_filling::sobol(arguments)?,
        DesignKindArgument::Foldover => two_level::foldover(arguments)?,
        DesignKindArgument::Mixed => optimal::mixed(arguments)?,
        DesignKindArgument::DOptimal => optimal::d_optimal(arguments)?,
        DesignKindArgument::Augment => optimal::augment(arguments)?,
    }
    Ok(0)
}

fn full(arguments: &DesignArguments) -> anyhow::Result<()> {
    allow_only(arguments, "full", &["--factors", "--levels", "--blocks", "--block-generators"])?;
    let two_level = arguments.levels.is_empty();
    if two_level::block_spec(arguments).is_some() {
        return two_level::full_in_blocks(arguments);
    }
    if arguments.levels.contains(&0) {
        return Err(Error::Request("every factor needs at least one level".into()).into());
    }
    let rows = match (arguments.factors, two_level) {
        (Some(factors), true) => two_level_factorial(factors),
        (None, false) => full_factorial(&arguments.levels),
        _ => return Err(missing("either --factors 3 or --levels 2,2,3").into()),
    };
    let rows = rows.map_err(|error| refused(&error))?;
    let letters: Vec<String> = letters(rows[0].len());
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

/// Refuses options that this kind of design would have to ignore.
fn allow_only(arguments: &DesignArguments, kind: &str, allowed: &[&str]) -> Result<(), Error> {
    let given = [
        ("--factors", arguments.factors.is_some()),
        ("--runs", arguments.runs.is_some()),
        ("--generators", !arguments.generators.is_empty()),
        ("--levels", !arguments.levels.is_empty()),
        ("--face", arguments.face.is_some()),
        ("--alpha", arguments.alpha.is_some()),
        ("--center", !arguments.center.is_empty()),
        ("--seed", arguments.seed.is_some()),
        ("--maximin", arguments.maximin),
        ("--blocks", arguments.blocks.is_some()),
        ("--block-generators", !arguments.block_generators.is_empty()),
        ("--on", arguments.on.is_some()),
        ("--model", arguments.model.is_some()),
        ("--starts", arguments.starts.is_some()),
        ("--data", arguments.data.is_some()),
        ("--columns", !arguments.columns.is_empty()),
        ("--add", arguments.add.is_some()),
    ];
    match given.iter().find(|(option, given)| *given && !allowed.contains(option)) {
        Some((option, _)) => Err(Error::Request(format!(
            "{option} does not apply to a {kind} design, which takes {}",
            allowed.join(", ")
        ))),
        None => Ok(()),
    }
}

fn factors(arguments: &DesignArguments) -> Result<usize, Error> {
    arguments.factors.ok_or_else(|| missing("--factors, such as --factors 6"))
}

fn runs(arguments: &DesignArguments) -> Result<u32, Error> {
    arguments.runs.ok_or_else(|| missing("--runs, such as --runs 16"))
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

fn table<T: ToString>(header: &[String], rows: &[Vec<T>]) -> String {
    let mut table = plain_table();
    table.set_header(std::iter::once("row").chain(header.iter().map(String::as_str)));
    for (number, row) in (1..).zip(rows) {
        let number: i32 = number;
        table.add_row(std::iter::once(number.to_string()).chain(row.iter().map(T::to_string)));
    }
    format!("{table}\n")
}

/// A table of coordinates, which JSON gives in full.
fn decimal_table(header: &[String], rows: &[Vec<f64>]) -> String {
    let shown = |row: &Vec<f64>| row.iter().map(|value| format!("{value:.4}")).collect();
    table(header, &rows.iter().map(shown).collect::<Vec<Vec<String>>>())
}
