//! Printing results.

use std::io::{IsTerminal, Write};

use anyhow::Context;
use comfy_table::{Table, presets};
use serde::Serialize;
use serde_json::Value;
use trainwright_report::Colour;

/// Whether the standard error is a terminal that wants colour.
pub(crate) fn stderr_has_colour() -> bool {
    wants_colour(std::io::stderr().is_terminal())
}

/// The colour that the standard output wants.
pub(crate) fn stdout_colour() -> Colour {
    if wants_colour(std::io::stdout().is_terminal()) { Colour::Ansi } else { Colour::Never }
}

fn wants_colour(terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    terminal && !dumb && !set("NO_COLOR")
}

/// A table without frames, for plain text.
pub(crate) fn plain_table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table
}

/// Prints a text; a reader that has gone away is no error.
pub(crate) fn print(text: &(impl AsRef<[u8]> + ?Sized)) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(text.as_ref()).and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to the standard output"),
    }
}

/// Tells something on the standard error; nobody listening is no reason to end a study.
pub(crate) fn tell(text: &str) {
    let _ = std::io::stderr().lock().write_all(format!("{text}\n").as_bytes());
}

/// Prints one JSON object of a verb, with its schema's name first.
pub(crate) fn print_json(verb: &str, value: &impl Serialize) -> anyhow::Result<()> {
    let mut object = serde_json::Map::new();
    object.insert("schema".to_owned(), format!("trainwright/{verb}/1").into());
    match serde_json::to_value(value).context("cannot make JSON")? {
        Value::Object(fields) => object.extend(fields),
        other => {
            object.insert("value".to_owned(), other);
        }
    }
    let text = serde_json::to_string_pretty(&Value::Object(object)).context("cannot make JSON")?;
    print(&format!("{text}\n"))
}
