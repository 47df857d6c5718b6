//! The verb `exclude`: leaves a trial out of the analysis, and keeps why.

use std::path::Path;

use serde::Serialize;
use trainwright_store::Durability;
use trainwright_study::Study;

use crate::{Error, Results};

/// A trial that is left out, or counts again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExcludeReply {
    /// The study's name.
    pub study: String,
    /// The trial's number.
    pub trial: u32,
    /// Why it is left out; nothing where it counts again.
    pub reason: Option<String>,
    /// How many trials are left out now.
    pub excluded: usize,
}

/// Leaves a trial out of the analysis from now on; without a reason it counts again.
///
/// The trial and all that it measured stay in the store. A runner may go on meanwhile.
///
/// # Errors
/// There is no such trial, the reason is empty, or the store cannot be written.
pub fn exclude(
    study: &Study,
    store: Option<&Path>,
    number: u32,
    reason: Option<&str>,
) -> Result<ExcludeReply, Error> {
    let reason = reason.map(str::trim);
    if reason == Some("") {
        return Err(Error::Request(
            "an exclusion needs a reason, such as --reason \"the disk was full\"".to_owned(),
        ));
    }
    let results = Results::read(study, store)?;
    results.trial(study, number)?;
    let place = results.place.clone();
    drop(results);
    let mut store = place.open(Durability::Flushed)?;
    let none = || Error::NoResults { study: study.name.clone(), store: place.store.clone() };
    let id = store.study(&study.name)?.ok_or_else(none)?.id;
    store.exclude(id, number, reason)?;
    let excluded = store.trials(id)?.iter().filter(|trial| trial.excluded.is_some()).count();
    let reason = reason.map(str::to_owned);
    Ok(ExcludeReply { study: study.name.clone(), trial: number, reason, excluded })
}
