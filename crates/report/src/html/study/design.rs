//! What was planned and what it can tell apart.

use std::fmt::Write;

use trainwright_analysis::planned_power;
use trainwright_analysis::wording::count;
use trainwright_design::{AliasesListed, Choice, Construction, Design, TwoLevelFraction};
use trainwright_study::{Factor, FactorKind, RunOrder, Scale, TrialState};

use crate::charts::{Charts, alias_graph, power_curve};
use crate::escape::escape;
use crate::html::{facts, folded, note, paragraph, sentence};
use crate::input::ReportInput;
use crate::table::{Cell, Sorting, Table};

/// Rows of the design that are listed.
const MOST_ROWS: usize = 200;

/// Aliases of one effect that are listed.
const MOST_ALIASES: usize = 8;

/// Type, factors, alias structure and missing cells.
pub(in crate::html) fn section(input: &ReportInput<'_>, charts: &mut Charts) -> String {
    let (study, design) = (input.study, input.design);
    let rows = design.rows().len();
    let planned = rows as u64 * u64::from(study.design.replications);
    let order = match study.design.order {
        RunOrder::Randomized => "randomized",
        RunOrder::Blocked => "one replicate after the other, each shuffled",
        RunOrder::Standard => "as listed, not shuffled",
    };
    let mut out = facts(&[
        ("type", kind(design.kind()).to_owned()),
        ("rows", rows.to_string()),
        ("replications", study.design.replications.to_string()),
        ("trials planned", planned.to_string()),
        ("run order", order.to_owned()),
        ("seed", study.seed.value().to_string()),
    ]);
    out += &factors(&study.factors, design);
    if let Some(fraction) = design.fraction() {
        out += &aliasing(design, fraction);
        if let Some(chart) = alias_graph(design, fraction) {
            out += &format!(
                "<figure><figcaption><b>Alias graph.</b> A line joins effects that this fraction \
                 cannot tell apart.</figcaption>{}</figure>\n",
                charts.place("alias-graph", chart)
            );
        }
    }
    out += &power(input, charts);
    out += &design.notes().iter().map(|own| note(&sentence(&own.to_string()))).collect::<String>();
    out += &missing_cells(input);
    out += &rows_table(design);
    out
}

fn power(input: &ReportInput<'_>, charts: &mut Charts) -> String {
    let (study, design) = (input.study, input.design);
    // A study whose terms do not fit its factors has been refused elsewhere, with the reason.
    let Ok(Some(planned)) = planned_power(study, design) else { return String::new() };
    let chart = power_curve(&planned, study.design.replications, study.analysis.alpha);
    chart.map_or_else(String::new, |chart| {
        format!(
            "<figure><figcaption><b>Power.</b> How often an effect of a given size is called \
             evidence, allowing for the number of terms by Holm's method as the verdict does, if \
             all trials finish.</figcaption>{}</figure>\n",
            charts.place("power-curve", chart)
        )
    })
}

fn kind(kind: Construction) -> &'static str {
    match kind {
        Construction::OneFactor => "one factor at a time",
        Construction::Full => "full factorial: every combination",
        Construction::Fractional => "fractional factorial, two levels",
        Construction::PlackettBurman => "Plackett-Burman screening, two levels",
        Construction::CentralComposite => "central composite",
        Construction::BoxBehnken => "Box-Behnken, three levels",
        Construction::LatinHypercube => "Latin hypercube",
        Construction::Sobol => "Sobol points",
        Construction::DOptimal => "D-optimal",
        Construction::Mixed => "orthogonal array",
        Construction::Table => "table of the study file",
        _ => "other",
    }
}

fn factors(factors: &[Factor], design: &Design) -> String {
    let mut table = Table::new(
        "Factors and levels",
        Sorting::Fixed,
        &["letter", "factor", "levels", "kind", "scale", "only when"],
    );
    for (index, factor) in factors.iter().enumerate() {
        let letter = design.fraction().and_then(|own| own.factors().get(index).copied());
        let levels: Vec<String> = factor.levels.iter().map(ToString::to_string).collect();
        let when = factor.when.as_ref().map(ToString::to_string);
        table.push(vec![
            letter.map_or_else(Cell::missing, |letter| Cell::text(&letter.to_string())),
            Cell::text(&factor.name),
            Cell::text(&levels.join(", ")),
            Cell::text(match factor.kind {
                FactorKind::Hyper => "hyper-parameter",
                FactorKind::System => "system",
            }),
            Cell::text(match factor.scale {
                Scale::Linear => "linear",
                Scale::Log => "log",
                Scale::Log2 => "log2",
            }),
            Cell::text(when.as_deref().unwrap_or("always")),
        ]);
    }
    table.html()
}

fn aliasing(design: &Design, fraction: &TwoLevelFraction) -> String {
    let generators: Vec<String> =
        fraction.generators().iter().map(|own| generator(design, own)).collect();
    let chosen = match fraction.choice() {
        Choice::Given => "given by the study",
        Choice::MinimumAberration => "chosen: no fraction of this size has less aberration",
        Choice::BestFound => "chosen: the best of those tried",
    };
    let relation = fraction.defining_relation();
    let shown = relation.iter().take(16).map(String::as_str).collect::<Vec<_>>().join(" = ");
    let more = relation.len().saturating_sub(16);
    let more = if more > 0 { format!(" and {}", count(more, "more word")) } else { String::new() };
    let relation =
        if relation.is_empty() { "none".to_owned() } else { format!("I = {shown}{more}") };
    let mut out = facts(&[
        ("generators", format!("{}<br>{chosen}", generators.join("<br>"))),
        ("defining relation", format!("<code>{relation}</code>")),
        ("resolution", resolution(fraction.resolution())),
        (
            "clear two-factor interactions",
            format!(
                "{} of {}",
                fraction.clear_two_factor(),
                design.factors().len() * design.factors().len().saturating_sub(1) / 2
            ),
        ),
    ]);
    out += &folded("Aliases of every main effect and two-factor interaction", &{
        alias_table(design, fraction)
    });
    out
}

/// `F=ABCDE` with the same in factor names.
fn generator(design: &Design, letters: &str) -> String {
    let named = letters.split_once('=').and_then(|(left, right)| {
        let (left, right) = (design.name_effect(left)?, design.name_effect(right)?);
        Some(format!("{left} = {}", right.replace(':', " \u{d7} ")))
    });
    let named = named.map_or_else(String::new, |named| format!(": {}", escape(&named)));
    format!("<code>{}</code>{named}", escape(letters))
}

fn resolution(resolution: Option<u32>) -> String {
    let meaning = match resolution {
        None => return "all combinations run, so nothing is aliased".to_owned(),
        Some(3) => "main effects are aliased with two-factor interactions",
        Some(4) => {
            "main effects are clear of two-factor interactions, which are aliased with each other"
        }
        Some(5) => "main effects and two-factor interactions are clear of each other",
        Some(_) => {
            "main effects and two-factor interactions are aliased only with effects of at least \
             four factors"
        }
    };
    let number = resolution.map_or(0, |own| own);
    format!("{number}: {meaning}")
}

fn alias_table(design: &Design, fraction: &TwoLevelFraction) -> String {
    let mut table = Table::new("Aliases", Sorting::Fixed, &["effect", "cannot be told apart from"]);
    let named = |letters: &str| {
        let name = design.name_effect(letters).unwrap_or_default();
        format!("<code>{}</code> {}", escape(letters), escape(&name))
    };
    for (effect, aliases) in fraction.aliases() {
        let shown: Vec<String> = aliases.iter().take(MOST_ALIASES).map(|own| named(own)).collect();
        let mut text = shown.join("; ");
        if aliases.len() > MOST_ALIASES {
            let _ = write!(text, " and {} more", aliases.len() - MOST_ALIASES);
        }
        if aliases.is_empty() {
            text = "nothing".to_owned();
        }
        table.push(vec![Cell::markup(named(effect)), Cell::markup(text)]);
    }
    let remark = match fraction.aliases_listed() {
        AliasesListed::All => String::new(),
        AliasesListed::UpToTwoFactors => note(
            "Only aliases of one or two factors are listed; with this many generators the longer \
             ones are too many.",
        ),
    };
    table.html() + &remark
}

/// Rows with fewer finished trials than replications.
fn missing_cells(input: &ReportInput<'_>) -> String {
    let mut finished = vec![0u32; input.design.rows().len()];
    for trial in input.trials.iter().filter(|trial| trial.state == TrialState::Finished) {
        let place = trial.row.and_then(|row| finished.get_mut((row as usize).checked_sub(1)?));
        if let Some(number) = place {
            *number += 1;
        }
    }
    let wanted = input.study.design.replications;
    let short: Vec<(usize, u32)> =
        finished.into_iter().enumerate().filter(|(_, number)| *number < wanted).collect();
    if short.is_empty() {
        return paragraph("No cell is missing: every row has all its finished trials.");
    }
    let empty = short.iter().filter(|(_, number)| *number == 0).count();
    let mut table = Table::new(
        "Rows with missing trials",
        Sorting::ByHeader,
        &["row", "finished", "wanted", "configuration"],
    );
    for (index, number) in short.iter().take(MOST_ROWS) {
        let configuration = input.design.rows()[*index].to_string();
        table.push(vec![
            Cell::count(index + 1),
            Cell::count(*number as usize),
            Cell::count(wanted as usize),
            Cell::text(&configuration),
        ]);
    }
    let verb = if short.len() == 1 { "lacks" } else { "lack" };
    let rest = match empty {
        0 => "each has at least one".to_owned(),
        1 => "1 of them has none at all".to_owned(),
        _ => format!("{empty} of them have none at all"),
    };
    let words = format!("{} {verb} finished trials; {rest}.", count(short.len(), "row"));
    let cut = short.len().saturating_sub(MOST_ROWS);
    let cut =
        if cut > 0 { note(&format!("{cut} further rows are left out.")) } else { String::new() };
    note(&words) + &folded("Rows that lack trials", &(table.html() + &cut))
}

fn rows_table(design: &Design) -> String {
    let mut head = vec!["row"];
    head.extend(design.factors().iter().map(String::as_str));
    let mut table = Table::new("Rows of the design", Sorting::ByHeader, &head);
    for (index, row) in design.rows().iter().take(MOST_ROWS).enumerate() {
        let mut cells = vec![Cell::count(index + 1)];
        for factor in design.factors() {
            let level = row.get(factor).map(ToString::to_string);
            cells.push(level.map_or_else(Cell::missing, |level| Cell::text(&level)));
        }
        table.push(cells);
    }
    let cut = design.rows().len().saturating_sub(MOST_ROWS);
    let cut = if cut > 0 {
        note(&format!("The first {MOST_ROWS} rows; {cut} further rows are left out."))
    } else {
        String::new()
    };
    folded("All rows in standard order", &(table.html() + &cut))
}
