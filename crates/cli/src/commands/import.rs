//! `trainwright import`.

use serde_json::json;
use trainwright::Imported;

use super::load;
use crate::arguments::ImportArguments;
use crate::output::{print, print_json};

pub(crate) fn import(arguments: &ImportArguments) -> anyhow::Result<u8> {
    let study = load(&arguments.study)?;
    let columns = arguments.column.iter().cloned().collect();
    let store = arguments.store.as_deref();
    let imported = trainwright::import(&study, &arguments.csv, &columns, store)?;
    if arguments.json {
        print_json("import", &as_json(&imported))?;
    } else {
        print(&as_text(&imported))?;
        let study = arguments.study.display();
        print(&format!("Next: trainwright analyze {study}\n"))?;
    }
    Ok(0)
}

fn as_json(imported: &Imported) -> serde_json::Value {
    let missing: Vec<_> = imported
        .missing_rows
        .iter()
        .map(|(row, configuration)| json!({ "row": row, "configuration": configuration }))
        .collect();
    let short: Vec<_> = imported
        .short_rows
        .iter()
        .map(|(row, found, planned)| json!({ "row": row, "results": found, "planned": planned }))
        .collect();
    json!({
        "kept": imported.kept,
        "lines_without_response": imported.without_response,
        "outside_design": imported.outside_design,
        "missing_rows": missing,
        "short_rows": short,
    })
}

fn as_text(imported: &Imported) -> String {
    let mut text = format!("Kept {} results.\n", imported.kept);
    let mut put = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    if !imported.without_response.is_empty() {
        let lines = &imported.without_response;
        let shown: Vec<String> = lines.iter().take(5).map(u64::to_string).collect();
        let more = if lines.len() > 5 { ", ..." } else { "" };
        put(format!(
            "Left out {} lines without a value for the response: {}{more}",
            lines.len(),
            shown.join(", ")
        ));
    }
    for (row, configuration) in &imported.missing_rows {
        put(format!("Row {row} of the design has no result: {configuration}"));
    }
    for (row, found, planned) in &imported.short_rows {
        put(format!("Row {row} of the design has {found} of {planned} results"));
    }
    if let Some(first) = imported.outside_design.first() {
        put(format!(
            "{} results match no row of the design, such as {first}",
            imported.outside_design.len()
        ));
    }
    text
}
