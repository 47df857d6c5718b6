//! Fractions and screening designs of two-level factors.

use trainwright_design::{
    AliasesListed, Blocks, DesignError, PlackettBurman, Reversal, TwoLevelFraction,
};
use trainwright_study::BlockSpec;

use super::{allow_only, factors, letters, missing, refused, runs, table};
use crate::arguments::DesignArguments;
use crate::output::{print, print_json};

pub(super) fn fractional(arguments: &DesignArguments) -> anyhow::Result<()> {
    let allowed = ["--factors", "--runs", "--generators", "--blocks", "--block-generators"];
    allow_only(arguments, "fractional", &allowed)?;
    show_fraction(arguments, &fraction(arguments)?)
}

pub(super) fn foldover(arguments: &DesignArguments) -> anyhow::Result<()> {
    allow_only(arguments, "foldover", &["--factors", "--runs", "--generators", "--on"])?;
    let fraction = fraction(arguments)?;
    let reversal = match arguments.on {
        None => Reversal::EveryFactor,
        Some(letter) => {
            let place = fraction.factors().iter().position(|own| *own == letter);
            let unknown = || DesignError::FoldoverFactor { factor: letter.to_string() };
            Reversal::Factor(place.ok_or_else(unknown).map_err(|error| refused(&error))?)
        }
    };
    let folded = fraction.folded(reversal).map_err(|error| refused(&error))?;
    show_fraction(arguments, &folded)
}

/// A whole two-level factorial in blocks.
pub(super) fn full_in_blocks(arguments: &DesignArguments) -> anyhow::Result<()> {
    let factors = factors(arguments)?;
    let runs = 1u32.checked_shl(u32::try_from(factors).unwrap_or(u32::MAX)).unwrap_or(u32::MAX);
    let whole = TwoLevelFraction::with_runs(factors, runs).map_err(|error| refused(&error))?;
    show_fraction(arguments, &whole)
}

fn fraction(arguments: &DesignArguments) -> anyhow::Result<TwoLevelFraction> {
    let factors = factors(arguments)?;
    let fraction = match (arguments.runs, arguments.generators.as_slice()) {
        (Some(runs), []) => TwoLevelFraction::with_runs(factors, runs),
        (None, words @ [_, ..]) => TwoLevelFraction::from_generators(factors, words),
        _ => return Err(missing("either --runs 32 or --generators F=ABCDE").into()),
    };
    Ok(fraction.map_err(|error| refused(&error))?)
}

/// The blocks that are asked for.
pub(super) fn block_spec(arguments: &DesignArguments) -> Option<BlockSpec> {
    match (arguments.blocks, arguments.block_generators.as_slice()) {
        (_, words @ [_, ..]) => Some(BlockSpec::Generators(words.to_vec())),
        (Some(count), []) => Some(BlockSpec::Count(count)),
        (None, []) => None,
    }
}

fn show_fraction(arguments: &DesignArguments, fraction: &TwoLevelFraction) -> anyhow::Result<()> {
    let names = letters(fraction.factors().len());
    let blocks = block_spec(arguments)
        .map(|spec| Blocks::of_fraction(fraction, fraction.rows(), &spec, &names))
        .transpose()
        .map_err(|error| refused(&error))?;
    if arguments.json {
        let mut design = serde_json::to_value(fraction)?;
        if let Some(blocks) = &blocks {
            design["blocks"] = serde_json::to_value(blocks)?;
        }
        return print_json("design", &design);
    }
    let mut text = fraction_text(fraction);
    if let Some(blocks) = &blocks {
        let of_rows: Vec<String> = (1..=fraction.rows().len())
            .filter_map(|row| blocks.of_row(u32::try_from(row).ok()?))
            .map(|block| block.to_string())
            .collect();
        text.push_str(&format!(
            "{} blocks, told apart by {}; confounded with them: {}\nblock of each row: {}\n",
            blocks.count(),
            blocks.generators().join(", "),
            blocks.confounded().join(", "),
            of_rows.join(" ")
        ));
    }
    print(&text)
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
