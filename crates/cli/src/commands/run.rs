//! `trainwright run`.

use std::path::Path;
use std::{env, io};

use anyhow::Context;
use serde_json::json;
use trainwright::{Accepted, Error, RetryFailed, RunEnd, RunRequest};
use trainwright_analysis::StudyOptions;
use trainwright_store::Durability;
use trainwright_study::TrialState;

use super::{load, report::write_report, status::counts};
use crate::arguments::{Acceptable, RunArguments};
use crate::interrupt::Interrupt;
use crate::output::{print, print_json, stdout_colour};
use crate::progress::Progress;

pub(crate) fn run(arguments: &RunArguments) -> anyhow::Result<u8> {
    let study = load(&arguments.common.study)?;
    let store = arguments.common.store.as_deref();
    let request = RunRequest {
        store,
        durability: if arguments.no_flush { Durability::Unflushed } else { Durability::Flushed },
        retry_failed: if arguments.retry_failed { RetryFailed::Yes } else { RetryFailed::No },
        accepted: Accepted { command: arguments.accept.contains(&Acceptable::Command) },
        replay: arguments.replay.as_deref(),
        program: env::current_exe().context("cannot find this program's own file")?,
    };
    if let Some(path) = &arguments.report {
        check_folder_of(path)?;
    }
    let interrupt = Interrupt::listen()?;
    let mut progress = Progress::new(study.run.slots);
    let end = trainwright::run(&study, &request, &|| interrupt.wish(), &mut |event| {
        progress.hear(&event);
    });
    progress.finish();
    let end = end?;
    let results = trainwright::Results::read(&study, store)?;
    if let Some(path) = &arguments.report {
        write_report(&study, &results, path)?;
    }
    let analysis = trainwright::analyze(&study, &results, &StudyOptions::default());
    if arguments.common.json {
        let analysis = analysis.as_ref().map_err(ToString::to_string);
        let value = json!({
            "study": study.name,
            "end": end,
            "trials": counts(&results),
            "analysis": analysis.as_ref().ok(),
            "analysis_refused": analysis.as_ref().err(),
            "report": arguments.report,
        });
        print_json("run", &value)?;
    } else {
        print(&trainwright::verdict(&study, &results, &analysis, stdout_colour()))?;
        if let Some(path) = &arguments.report {
            print(&format!("Report: {}\n", path.display()))?;
        }
    }
    Ok(match end {
        RunEnd::Interrupted => 130,
        _ if results.count(TrialState::Failed) > 0 => 1,
        RunEnd::NoMetric => 1,
        RunEnd::Complete | RunEnd::BudgetSpent => 0,
    })
}

/// A report that cannot be written is told before the hours it is about.
pub(super) fn check_folder_of(path: &Path) -> Result<(), Error> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_none_or(Path::is_dir) {
        return Ok(());
    }
    let source = io::Error::new(io::ErrorKind::NotFound, "its folder is not there");
    Err(Error::Folder { path: path.to_owned(), source })
}
