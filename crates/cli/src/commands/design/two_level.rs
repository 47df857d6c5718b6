//! Fractions and screening designs of two-level factors.

use trainwright_design::{AliasesListed, PlackettBurman, TwoLevelFraction};

use super::{allow_only, factors, letters, missing, refused, runs, table};
use crate::arguments::DesignArguments;
use crate::output::{print, print_json};

pub(super) fn fractional(arguments: &DesignArguments) -> anyhow::Result<()> {
    allow_only(arguments, "fractional", &["--factors", "--runs", "--generators"])?;
    let factors = factors(arguments)?;
    let fraction = match (arguments.runs, arguments.generators.as_slice()) {
        (Some(runs), []) => TwoLevelFraction::with_runs(factors, runs),
        (None, words @ [_, ..]) => TwoLevelFraction::from_generators(factors, words),
        _ => return Err(missing("either --runs 32 or --generators F=ABCDE").into()),
    };
    let fraction = fraction.map_err(|error| refused(&error))?;
    if arguments.json { print_json("design", &fraction) } else { print(&fraction_text(&fraction)) }
}

pub(super) fn plackett_burman(arguments: &DesignArguments) -> anyhow::Result<()> {
    allow_only(arguments, "Plackett-Burman", &["--factors", "--runs"])?;
    let design = PlackettBurman::with_runs(factors(arguments)?, runs(arguments)?)
        .map_err(|error| refused(&error))?;
    if arguments.json { print_json("design", &design) } else { print(&screening_text(&design)) }
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

fn screening_text(design: &PlackettBurman) -> String {
    let mut text = table(&letters(design.factors().len()), design.rows());
    text.push('\n');
    for &factor in design.factors() {
        let own: Vec<f64> = design
            .aliases()
            .iter()
            .filter(|alias| alias.effect == factor)
            .map(|alias| alias.share.abs())
            .collect();
        let line = match own.iter().copied().max_by(f64::total_cmp) {
            Some(most) => format!(
                "{factor} contains parts of {} two-factor interactions, each at most {most:.3} of \
                 it\n",
                own.len()
            ),
            None => format!("{factor} contains no two-factor interaction\n"),
        };
        text.push_str(&line);
    }
    text
}
