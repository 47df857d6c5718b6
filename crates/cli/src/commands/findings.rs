//! `trainwright findings`.

use serde_json::json;
use trainwright::Error;
use trainwright_analysis::{CatalogueEntry, catalogue, catalogue_entry};

use crate::arguments::FindingsArguments;
use crate::output::{plain_table, print, print_json};

pub(crate) fn findings(arguments: &FindingsArguments) -> anyhow::Result<u8> {
    match &arguments.id {
        Some(id) => {
            let entry = catalogue_entry(id).ok_or_else(|| {
                Error::Request(format!(
                    "there is no finding `{id}`; `trainwright findings` lists them"
                ))
            })?;
            if arguments.json {
                print_json("findings", entry)?;
            } else {
                print(&explained(entry))?;
            }
        }
        None if arguments.json => print_json("findings", &json!({ "groups": catalogue() }))?,
        None => print(&listed())?,
    }
    Ok(0)
}

fn explained(entry: &CatalogueEntry) -> String {
    let CatalogueEntry { id, severity, says, remedy, reference } = entry;
    format!("{id} ({})\n{says}\nWhat to do: {remedy}\nRead: {reference}\n", severity.word())
}

fn listed() -> String {
    let group = |group: &trainwright_analysis::CatalogueGroup| {
        let mut table = plain_table();
        for entry in group.entries {
            table.add_row([entry.id, entry.severity.word()]);
        }
        format!("{}\n{table}\n", group.title)
    };
    let groups: Vec<String> = catalogue().iter().map(group).collect();
    groups.join("\n") + "\nEach is explained by `trainwright findings ID`.\n"
}
