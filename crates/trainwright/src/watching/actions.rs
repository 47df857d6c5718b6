//! What a page may set going: another runner, more replications.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Serialize;
use trainwright_study::{SourceFile, Study};

use super::stores::{StudyFiles, or_here};
use crate::running::lock::Lock;
use crate::{Error, Place, write_file};

/// What was set going.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ActionReply {
    /// The study's name.
    pub study: String,
    /// The runner that was started, where one was.
    pub pid: Option<u32>,
    /// What was done, in words.
    pub text: String,
}

/// The file of a study beside its store.
///
/// # Errors
/// No file there is this study.
pub fn find_study_file(store: &Path, name: &str) -> Result<PathBuf, Error> {
    StudyFiles::beside(store).named(name).ok_or_else(|| {
        let folder = or_here(store.parent().unwrap_or(Path::new("")));
        Error::Request(format!(
            "the file of the study `{name}` is not in {}; run it from where it is",
            folder.display()
        ))
    })
}

/// Starts a runner of a study as a process of its own, which outlives this one.
///
/// # Errors
/// A runner works on it already, its file is not beside the store, or no process can be started.
pub fn start_runner(
    program: &Path,
    store: &Path,
    name: &str,
    arguments: &[&str],
) -> Result<ActionReply, Error> {
    let file = find_study_file(store, name)?;
    let study = Study::load(&file)?;
    let place = Place::of(&study, Some(store)).made()?;
    if let Some(pid) = Lock::holder(&place.trials) {
        return Err(Error::AlreadyRunning { study: study.name, pid: Some(pid) });
    }
    let log = place.trials.join("runner.log");
    let failed = |source| Error::Folder { path: log.clone(), source };
    let output = fs::File::create(&log).map_err(failed)?;
    let verb = if study.search.is_some() { "search" } else { "run" };
    let mut command = Command::new(program);
    command.arg(verb).arg(&file).arg("--store").arg(store).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(output);
    // A group of its own, so that Ctrl-C of the server does not end it.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().map_err(failed)?;
    let pid = child.id();
    // Waited for, so that no dead process is left behind.
    std::thread::spawn(move || child.wait());
    let text = format!("Started a runner of `{}` (process {pid}).", study.name);
    Ok(ActionReply { study: study.name, pid: Some(pid), text })
}

/// Writes a study's file with more replications; the next run makes their trials.
///
/// # Errors
/// Its file is not beside the store, has no [design], or cannot be written.
pub fn add_replications(store: &Path, name: &str, more: u32) -> Result<ActionReply, Error> {
    let path = find_study_file(store, name)?;
    let study = Study::load(&path)?;
    let wanted = study.design.replications.saturating_add(more);
    let text = with_replications(&study.source.text, wanted).ok_or_else(|| {
        Error::Request(format!(
            "{} has no [design] table with a line of its own for replications; change it there",
            path.display()
        ))
    })?;
    let changed = Study::from_source(SourceFile { path: path.clone(), text: text.clone() })?;
    if changed.design.replications != wanted {
        return Err(Error::Request(format!(
            "the replications of {} are not written where they can be changed",
            path.display()
        )));
    }
    write_file(&path, text.as_bytes())?;
    let text = format!("`{name}` has {wanted} replications now.");
    Ok(ActionReply { study: study.name, pid: None, text })
}

/// The text with another number of replications, in its [design] table.
fn with_replications(text: &str, number: u32) -> Option<String> {
    let mut out = Vec::new();
    let (mut in_design, mut done) = (false, false);
    for line in text.lines() {
        let bare = line.trim();
        if bare.starts_with('[') {
            in_design = bare.split('#').next().map(str::trim) == Some("[design]");
            out.push(line.to_owned());
            if in_design && !has_key(text) {
                out.push(format!("replications = {number}"));
                done = true;
            }
            continue;
        }
        let key = bare.split('=').next().map(str::trim);
        if in_design && key == Some("replications") {
            let comment = line.find('#').map_or("", |at| &line[at..]);
            out.push(format!("replications = {number} {comment}").trim_end().to_owned());
            done = true;
        } else {
            out.push(line.to_owned());
        }
    }
    done.then(|| out.join("\n") + "\n")
}

/// Whether the [design] table has the key.
fn has_key(text: &str) -> bool {
    let mut in_design = false;
    text.lines().any(|line| {
        let bare = line.trim();
        if bare.starts_with('[') {
            in_design = bare.split('#').next().map(str::trim) == Some("[design]");
        }
        in_design && bare.split('=').next().map(str::trim) == Some("replications")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replications_are_changed_where_they_stand_or_added() {
        let text = "[a]\nreplications = 9\n[design]\ntype = \"full\"\nreplications = 2 # few\n";
        assert_eq!(
            with_replications(text, 5).unwrap(),
            "[a]\nreplications = 9\n[design]\ntype = \"full\"\nreplications = 5 # few\n"
        );
        assert_eq!(
            with_replications("[design] # d\ntype = \"full\"\n[x]\n", 3).unwrap(),
            "[design] # d\nreplications = 3\ntype = \"full\"\n[x]\n"
        );
        assert_eq!(with_replications("design = { type = \"full\" }\n", 3), None);
    }
}
