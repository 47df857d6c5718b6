//! Links of README, docs and examples lead somewhere, and the site lists every page.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Markdown files at the top, and in docs, examples and bench.
fn pages() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left: Vec<PathBuf> =
        ["docs", "examples", "bench"].map(|name| root().join(name)).to_vec();
    let top = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    found.extend(top.filter(|path| is_page(path)));
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let hidden = path.file_name().unwrap().to_string_lossy().starts_with('.');
            if path.is_dir() && !hidden {
                left.push(path);
            } else if is_page(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "md")
}

/// Targets of `[text](target)` outside code.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("code");
        let parts = plain.split("](").skip(1);
        found.extend(parts.filter_map(|part| Some(part.split_once(')')?.0.to_owned())));
    }
    found
}

/// Headings as a site names them: letters and digits in lower case, dashes for blanks.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

/// Why a link of a page leads nowhere.
fn fault(page: &Path, link: &str) -> Option<String> {
    if ["http://", "https://", "mailto:"].iter().any(|own| link.starts_with(own)) {
        return None;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = match file {
        "" => page.to_owned(),
        file => page.parent().unwrap().join(file),
    };
    if !target.exists() {
        return Some(format!("{}: {link} is not there", page.display()));
    }
    let known =
        || is_page(&target) && anchors(&fs::read_to_string(&target).unwrap()).contains(anchor);
    (!anchor.is_empty() && !known())
        .then(|| format!("{}: {link} has no such heading", page.display()))
}

#[test]
fn every_link_of_a_page_leads_somewhere() {
    let pages = pages();
    assert!(pages.len() > 30, "{pages:?}");
    let mut faults = Vec::new();
    for page in &pages {
        for link in links(&fs::read_to_string(page).unwrap()) {
            faults.extend(fault(page, &link));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn the_site_lists_every_page_of_the_docs_once() {
    let docs = root().join("docs");
    let listed: Vec<PathBuf> = links(&fs::read_to_string(docs.join("SUMMARY.md")).unwrap())
        .iter()
        .map(|link| docs.join(link))
        .collect();
    let known: BTreeSet<&PathBuf> = listed.iter().collect();
    assert_eq!(known.len(), listed.len(), "a page is listed twice");
    let all = pages().into_iter();
    let own = all.filter(|path| path.starts_with(&docs) && !path.ends_with("SUMMARY.md"));
    let missing: Vec<PathBuf> = own.filter(|path| !known.contains(path)).collect();
    assert!(missing.is_empty(), "add to docs/SUMMARY.md: {missing:#?}");
}

#[test]
fn a_dead_link_is_found_and_code_is_not_one() {
    let text = "# A b\n[x](gone.md) `[y](z)` [a](#a-b) [c](#c)\n```\n[d](e)\n```\n";
    assert_eq!(links(text), ["gone.md", "#a-b", "#c"]);
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.md");
    fs::write(&page, text).unwrap();
    assert!(fault(&page, "gone.md").unwrap().ends_with("gone.md is not there"));
    assert_eq!(fault(&page, "#a-b"), None);
    assert!(fault(&page, "#c").unwrap().ends_with("has no such heading"));
    assert_eq!(fault(&page, "https://example.org"), None);
}
