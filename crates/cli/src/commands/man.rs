//! `trainwright man`: manual pages from the definitions that `--help` comes from.

use std::fs;
use std::path::Path;

use clap::CommandFactory;
use trainwright::Error;

use crate::arguments::{Arguments, ManArguments};
use crate::output::tell;
use crate::pages::write_file;

pub(crate) fn man(arguments: &ManArguments) -> anyhow::Result<u8> {
    let folder = &arguments.folder;
    fs::create_dir_all(folder).map_err(|source| Error::Folder { path: folder.clone(), source })?;
    let mut command = Arguments::command();
    command.build();
    let pages = write_pages(&command, "trainwright", folder)?;
    tell(&format!("{pages} pages in {}", folder.display()));
    Ok(0)
}

/// Writes the page of a verb and of those below it; gives how many.
fn write_pages(command: &clap::Command, name: &str, folder: &Path) -> anyhow::Result<usize> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).title(name).render(&mut page)?;
    write_file(&folder.join(format!("{name}.1")), page)?;
    let mut pages = 1;
    let shown = |own: &&clap::Command| !own.is_hide_set() && own.get_name() != "help";
    for verb in command.get_subcommands().filter(shown) {
        pages += write_pages(verb, &format!("{name}-{}", verb.get_name()), folder)?;
    }
    Ok(pages)
}
