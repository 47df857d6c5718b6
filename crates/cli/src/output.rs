//! Printing results.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt;

use anyhow::Context;
use serde::Serialize;
use trainwright::terminal::{Colour, visible, wrapped};

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

/// Prints a text; a reader that has gone away is no error.
pub(crate) fn print(text: &(impl AsRef<[u8]> + ?Sized)) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(text.as_ref()).and_then(|()| stdout.flush());
    match written {
        Err(error) if is_closed(&error, stdout.as_fd()) => Ok(()),
        other => other.context("cannot write to the standard output"),
    }
}

/// Whether nobody reads any more: a closed pipe, or a terminal that is gone.
fn is_closed(error: &io::Error, output: BorrowedFd<'_>) -> bool {
    // A terminal that was closed gives the error that a failing disk gives, so the file decides.
    let is_device = || {
        let file = output.try_clone_to_owned().map(File::from);
        file.and_then(|file| file.metadata()).is_ok_and(|own| own.file_type().is_char_device())
    };
    error.kind() == io::ErrorKind::BrokenPipe
        || (error.raw_os_error() == Some(IO_ERROR) && is_device())
}

/// `EIO`, errno(3).
const IO_ERROR: i32 = 5;

/// Tells something on the standard error; nobody listening is no reason to end a study. Messages
/// may hold what a trial printed, so control characters are shown by name.
pub(crate) fn tell(text: &str) {
    let text = visible(text);
    let terminal = std::io::stderr().is_terminal().then(|| width_of(std::io::stderr())).flatten();
    tell_styled(&terminal.map_or(text.clone(), |width| wrapped(&text, width)));
}

/// Columns of a terminal; nothing for a file or a pipe, whose lines are not broken.
fn width_of(output: impl AsFd) -> Option<usize> {
    terminal_size::terminal_size_of(output).map(|(width, _)| usize::from(width.0))
}

/// The same for a text with colours of our own.
pub(crate) fn tell_styled(text: &str) {
    let _ = io::stderr().lock().write_all(format!("{text}\n").as_bytes());
}

/// Prints a reply: as JSON where the user asked for it, else in words.
pub(crate) fn show<R: Serialize>(
    verb: &str,
    json: bool,
    reply: &R,
    words: impl FnOnce(&R) -> String,
) -> anyhow::Result<()> {
    if json { print(&trainwright::to_json(verb, reply)) } else { print_words(&words(reply)) }
}

/// Prints sentences and tables, no line wider than the terminal. Lines in a file or a pipe stay
/// whole, so that programs find them as they are.
pub(crate) fn print_words(text: &str) -> anyhow::Result<()> {
    match width_of(std::io::stdout()) {
        Some(width) => print(&wrapped(text, width)),
        None => print(text),
    }
}
