//! The findings that the program makes, listed and explained.

use trainwright_analysis::{CatalogueEntry, CatalogueGroup};

use super::TextTable;

/// Every finding with its severity, group by group.
pub fn catalogue_text(groups: &[CatalogueGroup]) -> String {
    let group = |group: &CatalogueGroup| {
        let mut table = TextTable::plain();
        for entry in group.entries {
            table.row([entry.id, entry.severity.name()]);
        }
        format!("{}\n{table}", group.title)
    };
    let groups: Vec<String> = groups.iter().map(group).collect();
    groups.join("\n") + "\nEach is explained by `trainwright findings ID`.\n"
}

/// One finding: what it says, what to do, where to read.
pub fn catalogue_entry_text(entry: &CatalogueEntry) -> String {
    let CatalogueEntry { id, severity, says, remedy, reference } = entry;
    format!("{id} ({})\n{says}\nWhat to do: {remedy}\nRead: {reference}\n", severity.name())
}

#[cfg(test)]
mod tests {
    use trainwright_analysis::{catalogue, catalogue_entry};

    use super::*;

    #[test]
    fn every_finding_is_listed_and_explained() {
        let listed = catalogue_text(catalogue());
        for entry in catalogue().iter().flat_map(|group| group.entries) {
            let line = listed.lines().find(|line| line.split_whitespace().next() == Some(entry.id));
            assert!(line.is_some_and(|line| line.ends_with(entry.severity.name())), "{}", entry.id);
            let explained = catalogue_entry_text(catalogue_entry(entry.id).unwrap());
            assert!(explained.contains("What to do: ") && explained.contains(entry.says));
        }
    }
}
