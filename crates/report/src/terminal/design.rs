//! Designs as tables of rows, with what their rows cannot tell apart.

use trainwright_design::{AliasesListed, Blocks, PlackettBurman, SpaceFilling, TwoLevelFraction};

use super::TextTable;

/// Numbered rows under the names of their factors.
pub fn rows_text<T: ToString>(factors: &[String], rows: &[Vec<T>]) -> String {
    let names = std::iter::once("row").chain(factors.iter().map(String::as_str));
    let mut table = TextTable::with_header(names);
    for (number, row) in (1..).zip(rows) {
        let number: u32 = number;
        table.row(std::iter::once(number.to_string()).chain(row.iter().map(T::to_string)));
    }
    table.to_string()
}

/// Rows of coordinates with four decimals; JSON gives them in full.
pub fn decimal_rows_text(factors: &[String], rows: &[Vec<f64>]) -> String {
    let shown = |row: &Vec<f64>| row.iter().map(|value| format!("{value:.4}")).collect();
    rows_text(factors, &rows.iter().map(shown).collect::<Vec<Vec<String>>>())
}

/// Rows, generators, aliases and blocks of a two-level fraction.
pub fn fraction_text(fraction: &TwoLevelFraction, blocks: Option<&Blocks>) -> String {
    let letters: Vec<String> = fraction.factors().iter().map(char::to_string).collect();
    let mut text = rows_text(&letters, fraction.rows());
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
    text.push_str(&blocks.map(|own| blocks_text(own, fraction.rows().len())).unwrap_or_default());
    text
}

fn blocks_text(blocks: &Blocks, rows: usize) -> String {
    let of_rows: Vec<String> = (1..=rows)
        .filter_map(|row| blocks.of_row(u32::try_from(row).ok()?))
        .map(|block| block.to_string())
        .collect();
    format!(
        "{} blocks, told apart by {}; confounded with them: {}\nblock of each row: {}\n",
        blocks.count(),
        blocks.generators().join(", "),
        blocks.confounded().join(", "),
        of_rows.join(" ")
    )
}

/// Rows of a screening design, and how much of the interactions each effect contains.
pub fn screening_text(design: &PlackettBurman) -> String {
    let letters: Vec<String> = design.factors().iter().map(ToString::to_string).collect();
    let mut text = rows_text(&letters, design.rows());
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

/// How evenly points fill their space.
pub fn space_filling_text(measured: &SpaceFilling) -> String {
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
    if value != 0.0 && value.abs() < 0.001 { format!("{value:.2e}") } else { format!("{value:.4}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_that_are_zero_are_written_as_zero() {
        assert_eq!(short(0.0), "0.0000");
        assert_eq!(short(0.000_99), "9.90e-4");
        assert_eq!(short(0.001), "0.0010");
        assert_eq!(short(-0.25), "-0.2500");
    }

    #[test]
    fn coordinates_have_four_decimals_under_their_factors() {
        let names = ["x", "y"].map(ToOwned::to_owned);
        let text = decimal_rows_text(&names, &[vec![0.5, 1.0 / 3.0], vec![0.0, 1.0]]);
        assert_eq!(text, " row  x       y\n 1    0.5000  0.3333\n 2    0.0000  1.0000\n");
    }

    #[test]
    fn what_was_not_measured_has_no_line() {
        let measured = SpaceFilling::of(&[vec![0.25], vec![0.75]]).unwrap();
        let text = space_filling_text(&measured);
        assert!(!text.contains("largest correlation"), "one column has none: {text}");
        assert!(
            text.contains("closest points apart    0.5000") && text.starts_with('\n'),
            "{text}"
        );
    }
}
