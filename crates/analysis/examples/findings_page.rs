//! Prints the page `docs/findings.md`.

use std::io::{self, Write};

use trainwright_analysis::catalogue_page;

fn main() -> io::Result<()> {
    io::stdout().write_all(catalogue_page().as_bytes())
}
