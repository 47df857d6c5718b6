//! `trainwright import`.

use trainwright::terminal;

use crate::arguments::ImportArguments;
use crate::commands::load;
use crate::output::show;

pub(crate) fn import(arguments: &ImportArguments) -> anyhow::Result<u8> {
    let study = load(&arguments.study)?;
    let columns = arguments.column.iter().cloned().collect();
    let store = arguments.store.as_deref();
    let source = arguments.origin.source(&arguments.results);
    let imported = trainwright::import(&study, source, &columns, store)?;
    show("import", arguments.json, &imported, |imported| {
        let next = arguments.study.display();
        format!("{}Next: trainwright analyze {next}\n", terminal::imported(imported))
    })?;
    Ok(0)
}
