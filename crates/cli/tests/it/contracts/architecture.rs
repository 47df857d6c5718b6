//! The arrows between crates are those of ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

type Arrows = BTreeMap<String, BTreeSet<String>>;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Rows `| crate | holds | may use |` of the table.
fn allowed(text: &str) -> Arrows {
    let rows = text.lines().skip_while(|line| !line.starts_with("| crate |")).skip(2);
    rows.take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let uses = cells[2].split(", ").filter(|name| *name != "-").map(str::to_owned);
            (cells[0].to_owned(), uses.collect())
        })
        .collect()
}

fn present() -> Arrows {
    let mut arrows = Arrows::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let text = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let manifest: toml::Table = text.parse().unwrap();
        let names = ["dependencies", "dev-dependencies", "build-dependencies"];
        let uses = names
            .iter()
            .filter_map(|kind| manifest.get(*kind)?.as_table())
            .flat_map(|table| table.keys())
            .filter_map(|name| match name.as_str() {
                "trainwright" => Some("trainwright".to_owned()),
                other => other.strip_prefix("trainwright-").map(str::to_owned),
            });
        let own = folder.file_name().unwrap().to_str().unwrap().to_owned();
        arrows.insert(own, uses.collect());
    }
    arrows
}

fn forbidden(allowed: &Arrows, present: &Arrows) -> Vec<String> {
    let mut faults = Vec::new();
    for (name, uses) in present {
        match allowed.get(name) {
            None => faults.push(format!("`{name}` is not in the table")),
            Some(may) => {
                faults.extend(uses.difference(may).map(|to| format!("{name} -> {to}")));
            }
        }
    }
    faults.extend(
        allowed.keys().filter(|name| !present.contains_key(*name)).map(|n| format!("no `{n}`")),
    );
    faults
}

#[test]
fn manifests_keep_to_the_table() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (allowed, present) = (allowed(&text), present());
    assert!(allowed.len() >= 13, "the table was not found");
    assert_eq!(forbidden(&allowed, &present), Vec::<String>::new());
}

#[test]
fn a_forbidden_arrow_is_found() {
    let text = "| crate | holds | may use |\n|---|---|---|\n| a | x | - |\n| b | y | a |\n";
    let mut present = allowed(text);
    assert!(forbidden(&allowed(text), &present).is_empty());
    present.get_mut("a").unwrap().insert("b".to_owned());
    assert_eq!(forbidden(&allowed(text), &present), ["a -> b"]);
}
