//! Every finding there is: identifier, severity, what it says, what to do, where to read.
//!
//! This is the only list. `docs/findings.md` is printed from it, and tests compare it with the
//! page and with the findings made anywhere in the program. One file a group: `fits.rs` for
//! equations, `studies.rs` for designs and trials, `comparisons.rs` for ratios, scaling,
//! correlations and surfaces, `training.rs` for what tables of training runs tell,
//! `queues.rs` for capacity. `field_reports.rs` lists mistakes that people made, with what names
//! each.

mod comparisons;
mod field_reports;
mod fits;
mod queues;
mod rates;
mod studies;
mod training;

use serde::Serialize;

use crate::findings::Severity;
pub use rates::{FalseAlarms, FindingRate, Found, finding_rate};

/// A finding of the catalogue.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct CatalogueEntry {
    /// Stable identifier.
    pub id: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// What the finding says.
    pub says: &'static str,
    /// What a reader should do.
    pub remedy: &'static str,
    /// Where to read about it.
    pub reference: &'static str,
}

/// A group of findings with its heading.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct CatalogueGroup {
    /// Heading.
    pub title: &'static str,
    /// The findings in it.
    pub entries: &'static [CatalogueEntry],
}

const GROUPS: [CatalogueGroup; 5] = [
    CatalogueGroup { title: "Fitted equations", entries: fits::ENTRIES },
    CatalogueGroup { title: "Designs and trials", entries: studies::ENTRIES },
    CatalogueGroup {
        title: "Comparisons, scaling, correlations, surfaces",
        entries: comparisons::ENTRIES,
    },
    CatalogueGroup { title: "Training runs", entries: training::ENTRIES },
    CatalogueGroup { title: "Queues and load tests", entries: queues::ENTRIES },
];

/// All findings, by group.
pub fn catalogue() -> &'static [CatalogueGroup] {
    &GROUPS
}

/// The finding of an identifier.
///
/// ```
/// use trainwright_analysis::{Severity, catalogue_entry};
///
/// let entry = catalogue_entry("missing-cells").expect("it is listed");
/// assert_eq!(entry.severity, Severity::Serious);
/// ```
pub fn catalogue_entry(id: &str) -> Option<&'static CatalogueEntry> {
    GROUPS.iter().flat_map(|group| group.entries).find(|entry| entry.id == id)
}

/// The catalogue as the page `docs/findings.md`.
pub fn catalogue_page() -> String {
    let mut page = "# Findings\n\n\
        What the program says without being asked. Identifiers are stable: `--json` has them, and \
        `trainwright findings ID` explains one. *Serious* means that a conclusion drawn without it \
        would be wrong, *warning* that figures need care, *note* that it is worth knowing.\n\n\
        *How often* tells two rates. The first is a limit on clean data (normal, independent noise \
        about straight lines, every row run), which was held, up to two standard errors of the count, in 2,000 simulated studies of every \
        kind. The second is of 2,000 simulated studies with the fault named, rounded down. \
        The assumptions of an equation (normality, spread, independence, missing terms, single \
        observations) share its alpha: each is called contradicted by a p-value below a fifth of \
        it, 0.01 for 0.05. The limit for any warning at all is one clean study in ten; the largest \
        share seen in a kind was 5.5 %.\n\n\
        This page is printed by `cargo run --release -p trainwright-analysis --example \
        findings_page`; a test compares the two.\n"
        .to_owned();
    for group in &GROUPS {
        page.push_str(&format!("\n## {}\n", group.title));
        for entry in group.entries {
            page.push_str(&format!(
                "\n### {}\n\n*{}*. {}\n\n- What to do: {}\n- Read: {}\n",
                entry.id,
                entry.severity.name(),
                entry.says,
                entry.remedy,
                entry.reference
            ));
            if let Some(rate) = finding_rate(entry.id) {
                page.push_str(&format!("- How often: {}\n", rate.in_words()));
            }
        }
    }
    page.push_str(
        "\n## Mistakes of five field reports\n\nWhat people who ran such experiments by hand got \
         wrong, and the findings that name it.\n\n| report | mistake | findings |\n|---|---|---|\n",
    );
    for own in field_reports::MISTAKES {
        let ids: Vec<String> = own.ids.iter().map(|id| format!("`{id}`")).collect();
        page.push_str(&format!("| {} | {} | {} |\n", own.report, own.mistake, ids.join(", ")));
    }
    page
}

const fn entry(
    id: &'static str,
    severity: Severity,
    says: &'static str,
    remedy: &'static str,
    reference: &'static str,
) -> CatalogueEntry {
    CatalogueEntry { id, severity, says, remedy, reference }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finding_has_a_rate_and_every_rate_a_finding() {
        let entries = || GROUPS.iter().flat_map(|group| group.entries);
        for entry in entries() {
            assert!(finding_rate(entry.id).is_some(), "add `{}` to catalogue/rates.rs", entry.id);
        }
        assert_eq!(rates::RATES.len(), entries().count(), "a rate has no finding, or stands twice");
    }

    #[test]
    fn every_mistake_is_named_by_findings_of_the_catalogue() {
        for own in field_reports::MISTAKES {
            assert!(!own.ids.is_empty(), "{}", own.mistake);
            for id in own.ids {
                assert!(catalogue_entry(id).is_some(), "{id}");
            }
        }
    }
}
