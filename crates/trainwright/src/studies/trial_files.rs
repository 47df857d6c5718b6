//! Files that a trial left in its folder, beside what the engine keeps there.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use serde::Serialize;
use trainwright_engine::open_regular;
use trainwright_study::{Study, TrialState};

use crate::{Error, Place, Results};

/// What the engine and the trial protocol keep in a trial's folder.
const OWN_NAMES: [&str; 8] = [
    "stdout",
    "stderr",
    "prepare",
    "params.json",
    "job.json",
    "metrics.jsonl",
    "stop",
    "used.json",
];
/// Files that are listed; a trial may leave any number.
const MOST_FILES: usize = 1000;
/// Folders below the trial's own that are looked into.
const DEEPEST: usize = 8;

/// Files that a trial left.
#[derive(Debug, Clone, Serialize)]
pub struct FilesReply {
    /// The trial's number.
    pub trial: u32,
    /// How it stands.
    pub state: TrialState,
    /// Its folder.
    pub folder: PathBuf,
    /// The files, by name.
    pub files: Vec<TrialFile>,
    /// Whether there are more than are listed.
    pub more: bool,
}

/// One file that a trial left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrialFile {
    /// Its path below the trial's folder.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// Lists the files that a trial left.
///
/// # Errors
/// There is no such trial.
pub fn trial_files(study: &Study, results: &Results, number: u32) -> Result<FilesReply, Error> {
    let trial = results.trial(study, number)?;
    let folder = results.place.trial(trial.number);
    let (files, more) = files_in(&folder);
    Ok(FilesReply { trial: trial.number, state: trial.state, folder, files, more })
}

/// Reads one file that a trial left.
///
/// # Errors
/// There is no such trial or file, its name leads elsewhere, or it cannot be read.
pub fn trial_file(
    study: &Study,
    results: &Results,
    number: u32,
    name: &str,
) -> Result<Vec<u8>, Error> {
    let trial = results.trial(study, number)?;
    let mut file = open_trial_file(&results.place, trial.number, Path::new(name))?;
    let mut bytes = Vec::new();
    let path = results.place.trial(trial.number).join(name);
    file.read_to_end(&mut bytes).map_err(|source| Error::Input { path, source })?;
    Ok(bytes)
}

/// Opens a file that a trial left; only files really below its folder.
///
/// # Errors
/// The path leads elsewhere, or the file cannot be read.
pub fn open_trial_file(place: &Place, trial: u32, path: &Path) -> Result<File, Error> {
    let elsewhere = || {
        Error::Request(format!("`{}` is no file in the folder of trial {trial}", path.display()))
    };
    if path.components().any(|part| !matches!(part, Component::Normal(_))) {
        return Err(elsewhere());
    }
    let folder = place.trial(trial).canonicalize().map_err(|_| elsewhere())?;
    // A link may lead anywhere, so the file is asked where it really is.
    let real = folder.join(path).canonicalize().map_err(|_| elsewhere())?;
    if !real.starts_with(&folder) {
        return Err(elsewhere());
    }
    open_regular(&real).map_err(|_| elsewhere())
}

/// Files below a folder, by name; links are passed over. The second part says whether there are
/// more.
pub fn files_in(folder: &Path) -> (Vec<TrialFile>, bool) {
    let mut found = Vec::new();
    let more = gather(folder, folder, 0, &mut found);
    found.sort_by(|a, b| a.name.cmp(&b.name));
    (found, more)
}

fn gather(root: &Path, folder: &Path, depth: usize, found: &mut Vec<TrialFile>) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    let mut more = false;
    for entry in entries.flatten() {
        let path = entry.path();
        let (Ok(kind), Ok(name)) = (entry.file_type(), path.strip_prefix(root)) else { continue };
        let name = name.to_string_lossy().into_owned();
        if kind.is_dir() {
            more |= depth >= DEEPEST || gather(root, &path, depth + 1, found);
        } else if kind.is_file() && !OWN_NAMES.contains(&name.as_str()) {
            if found.len() >= MOST_FILES {
                return true;
            }
            let bytes = entry.metadata().map_or(0, |own| own.len());
            found.push(TrialFile { name, bytes });
        }
    }
    more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_trial_left_is_listed_without_what_the_engine_keeps_and_without_links() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("out")).unwrap();
        for (name, text) in [("stdout", "x"), ("model.bin", "abc"), ("out/curve.csv", "1,2")] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link")).unwrap();
        let (files, more) = files_in(folder.path());
        let names: Vec<(&str, u64)> =
            files.iter().map(|own| (own.name.as_str(), own.bytes)).collect();
        assert_eq!((names, more), (vec![("model.bin", 3), ("out/curve.csv", 3)], false));
        assert_eq!(files_in(Path::new("/no-such-folder")), (Vec::new(), false));
    }

    #[test]
    fn only_files_really_below_the_folder_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let place =
            Place { store: folder.path().join("t.db"), trials: folder.path().join("t.trials/s") };
        fs::create_dir_all(place.trial(1).join("deep")).unwrap();
        fs::write(folder.path().join("secret"), "x").unwrap();
        fs::write(place.trial(1).join("deep/own"), "mine").unwrap();
        std::os::unix::fs::symlink(folder.path().join("secret"), place.trial(1).join("link"))
            .unwrap();
        std::os::unix::fs::symlink("deep/own", place.trial(1).join("inner")).unwrap();
        let open = |path: &str| open_trial_file(&place, 1, Path::new(path));
        let mut text = String::new();
        open("deep/own").unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "mine");
        assert!(open("inner").is_ok());
        for path in ["../../../secret", "link", "/etc/passwd", "deep/../../x", "deep", "none", ""] {
            assert!(open(path).is_err(), "{path}");
        }
        let names: Vec<String> =
            files_in(&place.trial(1)).0.into_iter().map(|own| own.name).collect();
        assert_eq!(names, ["deep/own"]);
    }
}
