//! The catalogue is complete, and its page is true.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use trainwright_analysis::{Severity, catalogue, catalogue_entry, catalogue_page};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Source files of all crates, without those of the catalogue itself.
fn sources() -> Vec<String> {
    fn walk(folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                if path.file_name().unwrap() != "catalogue" {
                    walk(&path, found);
                }
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(fs::read_to_string(&path).unwrap());
            }
        }
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        walk(&entry.unwrap().path().join("src"), &mut found);
    }
    found
}

/// Identifiers of findings made by `info(..)`, `warning(..)` and `serious(..)`.
fn made(source: &str) -> Vec<(Severity, String)> {
    let mut found = Vec::new();
    for (word, severity) in [
        ("info(", Severity::Info),
        ("warning(", Severity::Warning),
        ("serious(", Severity::Serious),
    ] {
        for (at, _) in source.match_indices(word) {
            let rest = source[at + word.len()..].trim_start();
            let id = rest.strip_prefix('"').and_then(|rest| rest.split_once('"')).map(|(id, _)| id);
            let is_id = |id: &&str| {
                !id.is_empty() && id.chars().all(|c| c.is_ascii_lowercase() || c == '-')
            };
            found.extend(id.filter(is_id).map(|id| (severity, id.to_owned())));
        }
    }
    found
}

#[test]
fn every_finding_is_in_the_catalogue_with_its_severity() {
    let mut seen = 0;
    for (severity, id) in sources().iter().flat_map(|source| made(source)) {
        let entry = catalogue_entry(&id)
            .unwrap_or_else(|| panic!("add `{id}` to crates/analysis/src/findings/catalogue/"));
        assert_eq!(entry.severity, severity, "{id}");
        seen += 1;
    }
    assert!(seen > 30, "{seen}");
}

#[test]
fn every_entry_is_made_somewhere_and_once_listed() {
    let sources = sources();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in catalogue().iter().flat_map(|group| group.entries) {
        *counts.entry(entry.id).or_default() += 1;
        let literal = format!("\"{}\"", entry.id);
        assert!(sources.iter().any(|s| s.contains(&literal)), "{} is never made", entry.id);
        assert!(entry.says.ends_with('.') && entry.remedy.ends_with('.'), "{}", entry.id);
        assert!(!entry.reference.is_empty(), "{}", entry.id);
    }
    assert!(counts.values().all(|n| *n == 1), "{counts:?}");
}

#[test]
fn the_page_is_the_catalogue() {
    let page = fs::read_to_string(root().join("docs/findings.md")).unwrap();
    assert!(
        page == catalogue_page(),
        "print docs/findings.md again: cargo run --release -p trainwright-analysis --example findings_page"
    );
}
