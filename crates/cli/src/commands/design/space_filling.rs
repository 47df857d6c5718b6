//! Points that fill the unit cube.

use serde_json::json;
use trainwright_design::{SpaceFilling, Spread, latin_hypercube as hypercube, sobol as sequence};
use trainwright_study::Seed;

use super::{allow_only, decimal_table, factors, letters, refused, runs};
use crate::arguments::DesignArguments;
use crate::output::{print, print_json, tell};

/// Points up to which the measures are quick to compute; the time grows with the square.
const MOST_MEASURED: usize = 4096;

pub(super) fn latin_hypercube(arguments: &DesignArguments) -> anyhow::Result<()> {
    let allowed = ["--factors", "--runs", "--seed", "--maximin"];
    allow_only(arguments, "Latin hypercube", &allowed)?;
    let spread = if arguments.maximin { Spread::Maximin } else { Spread::Plain };
    let seed = Seed::new(arguments.seed.unwrap_or(0));
    let points = hypercube(factors(arguments)?, runs(arguments)? as usize, seed, spread)
        .map_err(|error| refused(&error))?;
    show(arguments, &points)
}

pub(super) fn sobol(arguments: &DesignArguments) -> anyhow::Result<()> {
    allow_only(arguments, "Sobol", &["--factors", "--runs"])?;
    let runs = runs(arguments)?;
    let points = sequence(factors(arguments)?, runs as usize).map_err(|error| refused(&error))?;
    if !runs.is_power_of_two() {
        tell(&format!("note: {runs} is not a power of two, so the points are not quite balanced"));
    }
    show(arguments, &points)
}

fn show(arguments: &DesignArguments, points: &[Vec<f64>]) -> anyhow::Result<()> {
    let measured = (points.len() <= MOST_MEASURED)
        .then(|| SpaceFilling::of(points))
        .transpose()
        .map_err(|error| refused(&error))?;
    let letters = letters(points[0].len());
    if arguments.json {
        let design = json!({ "factors": letters, "rows": points, "space_filling": measured });
        return print_json("design", &design);
    }
    let mut text = decimal_table(&letters, points);
    text.push_str(&measured.map(|measured| measures_text(&measured)).unwrap_or_default());
    print(&text)
}

fn measures_text(measured: &SpaceFilling) -> String {
    let lines = [
        ("closest points apart", measured.minimum_distance),
        ("largest correlation", measured.largest_correlation),
        ("centred discrepancy", Some(measured.centred_discrepancy)),
        ("wrap-around discrepancy", Some(measured.wrap_around_discrepancy)),
        ("star discrepancy", Some(measured.star_discrepancy)),
    ];
    let known = lines.iter().filter_map(|&(name, value)| Some((name, value?)));
    std::iter::once("\n".to_owned())
        .chain(known.map(|(name, value)| format!("{name:<24}{}\n", short(value))))
        .collect()
}

/// Four decimals, or three digits where decimals would show nothing; many factors need that.
fn short(value: f64) -> String {
    if value.abs() < 0.001 { format!("{value:.2e}") } else { format!("{value:.4}") }
}
