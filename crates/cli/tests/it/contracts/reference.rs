//! The reference of the site is what the program says of itself.
//!
//! Pages in `docs/reference` are written by `scripts/reference.sh`; these tests tell when one is
//! stale.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::contracts::documented::verbs;
use crate::program::{End, Lab};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares a page with what it should be, or writes it where that was asked for.
#[track_caller]
fn check(name: &str, expected: &str) {
    let path = root().join("docs/reference").join(name);
    if std::env::var_os("TRAINWRIGHT_PRINT_REFERENCE").is_some() {
        fs::write(&path, expected).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    let stale = found.lines().zip(expected.lines()).find(|(own, other)| own != other);
    assert!(
        found == expected,
        "docs/reference/{name} is stale; `bash scripts/reference.sh` writes it: {stale:?}"
    );
}

#[test]
fn the_reference_of_commands_is_their_help() {
    let lab = Lab::new();
    let help = |words: &[&str]| {
        let mut command = lab.command(&[words, &["--help"]].concat());
        command.env("COLUMNS", "100");
        End::of(command).stdout
    };
    let mut page = "# Commands\n\nWritten from `--help` by `scripts/reference.sh`.\n".to_owned();
    let mut left: Vec<Vec<String>> =
        verbs(&help(&[])).into_iter().rev().map(|verb| vec![verb]).collect();
    let mut put = |heading: &str, text: &str| {
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        write!(page, "\n{heading}\n\n```text\n{}\n```\n", lines.join("\n")).unwrap();
    };
    put("## trainwright", &help(&[]));
    while let Some(verb) = left.pop() {
        let words: Vec<&str> = verb.iter().map(String::as_str).collect();
        let text = help(&words);
        put(&format!("## trainwright {}", verb.join(" ")), &text);
        let below = verbs(&text).into_iter().rev();
        left.extend(below.map(|own| [verb.clone(), vec![own]].concat()));
    }
    check("commands.md", &page);
}

#[test]
fn the_reference_of_the_study_file_is_its_schema() {
    let lab = Lab::new();
    let schema: Value = serde_json::from_str(&lab.expect(0, &["schema"]).stdout).unwrap();
    let mut page = "# The study file\n\nWritten from `trainwright schema` by \
                    `scripts/reference.sh`. A key that is needed has a star.\n"
        .to_owned();
    put_table(&mut page, "Tables of the file", &schema);
    for (name, table) in schema["$defs"].as_object().unwrap() {
        if table["properties"].is_object() {
            put_table(&mut page, name.trim_end_matches("Draft"), table);
        } else {
            put_choices(&mut page, name.trim_end_matches("Draft"), table);
        }
    }
    check("study-file.md", &page);
}

fn put_table(page: &mut String, name: &str, table: &Value) {
    write!(page, "\n## {name}\n\n").unwrap();
    put_description(page, table);
    page.push_str("| key | takes | meaning |\n|---|---|---|\n");
    let needed: Vec<&str> =
        table["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (key, own) in table["properties"].as_object().into_iter().flatten() {
        let star = if needed.contains(&key.as_str()) { " *" } else { "" };
        let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
        let about = cell(own["description"].as_str().unwrap_or_default());
        writeln!(page, "| `{key}`{star} | {} | {about} |", cell(&takes(own))).unwrap();
    }
}

fn put_choices(page: &mut String, name: &str, table: &Value) {
    let choices = ["oneOf", "anyOf"].iter().find_map(|key| table[*key].as_array());
    let words = table["enum"].as_array().into_iter().flatten().map(|own| (own, table));
    let consts = choices.into_iter().flatten().map(|own| (&own["const"], own));
    let named: Vec<(&str, &Value)> =
        words.chain(consts).filter_map(|(word, own)| Some((word.as_str()?, own))).collect();
    if named.is_empty() {
        return;
    }
    write!(page, "\n## {name}\n\n").unwrap();
    put_description(page, table);
    for (word, own) in named {
        let about = own["description"].as_str().filter(|_| own != table).unwrap_or_default();
        writeln!(page, "- `{word}` {}", about.replace('\n', " ")).unwrap();
    }
}

fn put_description(page: &mut String, table: &Value) {
    if let Some(about) = table["description"].as_str() {
        write!(page, "{}\n\n", about.replace('\n', " ")).unwrap();
    }
}

/// What a key takes, in a word or two.
fn takes(own: &Value) -> String {
    if let Some(name) = own["$ref"].as_str() {
        let name = name.rsplit('/').next().unwrap_or_default().trim_end_matches("Draft");
        return match name.strip_prefix("Map_of_") {
            Some(table) => format!("a table {table} a name"),
            None => name.to_owned(),
        };
    }
    if let Some(choices) = own["anyOf"].as_array() {
        let words: Vec<String> = choices.iter().map(takes).filter(|own| !own.is_empty()).collect();
        return words.join(" or ");
    }
    let kinds: Vec<&str> = match &own["type"] {
        Value::String(kind) => vec![kind.as_str()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let word = |kind: &&str| match *kind {
        "array" => format!("list of {}", takes(&own["items"])),
        "object" if own["additionalProperties"].is_object() => {
            format!("table of {}", takes(&own["additionalProperties"]))
        }
        "string" => "text".to_owned(),
        "object" => "table".to_owned(),
        other => other.to_owned(),
    };
    kinds.iter().filter(|kind| **kind != "null").map(word).collect::<Vec<_>>().join(" or ")
}

/// Type stubs of the Python package, where the checkout has it.
fn stubs() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![root().join("crates/python"), root().join("python")];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() && !name.starts_with('.') && name != "target" && !name.contains("venv")
            {
                left.push(path);
            } else if name.ends_with(".pyi") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn the_reference_of_python_is_its_stubs() {
    let stubs = stubs();
    if stubs.is_empty() {
        println!("SKIPPED: this checkout has no Python stubs to make a reference of");
        return;
    }
    let mut page =
        "# Python\n\nWritten from the type stubs by `scripts/reference.sh`.\n".to_owned();
    for path in stubs {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        write!(page, "\n## {name}\n\n```python\n{}\n```\n", text.trim_end()).unwrap();
    }
    check("python.md", &page);
}
