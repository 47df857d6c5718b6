//! What a trial leaves in its folder: outputs as they grow, curves before its end, files.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

use serde::Serialize;
use trainwright_engine::open_regular;
use trainwright_study::Series;

use crate::studies::status::LogName;
use crate::{Error, Place};

/// Bytes of an output that a page shows, from its end.
const MOST_OUTPUT: u64 = 64 * 1024;

/// Bytes of metrics that are read of a running trial, from its end.
const MOST_METRICS: u64 = 4 * 1024 * 1024;

/// Files that are listed.
const MOST_FILES: usize = 500;

/// Folders below a trial's that are looked into.
const DEPTH: usize = 6;

/// The end of an output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutputTail {
    /// Its last part; what is no text is replaced.
    pub text: String,
    /// Bytes in all.
    pub bytes: u64,
    /// Bytes before the part that is shown.
    pub left_out: u64,
}

/// A file that a trial left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrialFile {
    /// Its path below the trial's folder.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}

/// The end of what a trial has written so far; empty where it has written nothing.
///
/// # Errors
/// The file cannot be read.
pub fn output_tail(place: &Place, trial: u32, name: LogName) -> Result<OutputTail, Error> {
    let path = place.trial(trial).join(name.word());
    let none = OutputTail { text: String::new(), bytes: 0, left_out: 0 };
    if !path.exists() {
        return Ok(none);
    }
    let (bytes, end) = end_of(&path, MOST_OUTPUT)?;
    let left_out = bytes - end.len() as u64;
    Ok(OutputTail { text: String::from_utf8_lossy(&end).into_owned(), bytes, left_out })
}

/// The curves that a running trial has written to its metrics so far.
///
/// # Errors
/// The file cannot be read.
pub fn live_curves(place: &Place, trial: u32) -> Result<Vec<Series>, Error> {
    let path = place.trial(trial).join("metrics.jsonl");
    if !path.exists() {
        return Ok(Vec::new());
    }
    let (_, end) = end_of(&path, MOST_METRICS)?;
    let mut curves: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for line in String::from_utf8_lossy(&end).lines() {
        let Ok(serde_json::Value::Object(line)) = serde_json::from_str(line) else { continue };
        let step = line.get("step").and_then(serde_json::Value::as_f64);
        for (name, value) in line.iter().filter(|(name, _)| *name != "step") {
            let Some(value) = value.as_f64() else { continue };
            let points = curves.entry(name.clone()).or_default();
            points.push((step.unwrap_or(points.len() as f64 + 1.0), value));
        }
    }
    let series = |(name, points): (String, Vec<(f64, f64)>)| Series {
        name: format!("metric.{name}"),
        axis: "step".to_owned(),
        unit: String::new(),
        at: points.iter().map(|own| own.0).collect(),
        values: points.iter().map(|own| own.1).collect(),
    };
    Ok(curves.into_iter().filter(|(_, own)| own.len() > 1).map(series).collect())
}

/// The files below a trial's folder, by path; links are not followed.
pub fn trial_files(place: &Place, trial: u32) -> Vec<TrialFile> {
    let (folder, mut found) = (place.trial(trial), Vec::new());
    below(&folder, &folder, DEPTH, &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn below(root: &Path, folder: &Path, depth: usize, found: &mut Vec<TrialFile>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if found.len() >= MOST_FILES {
            return;
        }
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        if kind.is_dir() && depth > 0 {
            below(root, &path, depth - 1, found);
        } else if kind.is_file()
            && let (Ok(own), Ok(meta)) = (path.strip_prefix(root), entry.metadata())
        {
            found.push(TrialFile { path: own.to_owned(), bytes: meta.len() });
        }
    }
}

/// Opens a file that a trial left; only files really below its folder.
///
/// # Errors
/// The path leads elsewhere, or the file cannot be read.
pub fn open_trial_file(place: &Place, trial: u32, path: &Path) -> Result<File, Error> {
    let elsewhere = || Error::Request(format!("`{}` is no file of trial {trial}", path.display()));
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

/// The length of a file and its last bytes.
fn end_of(path: &Path, most: u64) -> Result<(u64, Vec<u8>), Error> {
    let failed = |source| Error::Input { path: path.to_owned(), source };
    let mut file = open_regular(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most))).map_err(failed)?;
    let mut end = Vec::new();
    file.take(most).read_to_end(&mut end).map_err(failed)?;
    Ok((length.max(end.len() as u64), end))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn place(folder: &Path) -> Place {
        let place = Place { store: folder.join("t.db"), trials: folder.join("t.trials/s") };
        fs::create_dir_all(place.trial(1).join("deep")).unwrap();
        place
    }

    #[test]
    fn only_files_really_below_the_folder_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        fs::write(folder.path().join("secret"), "x").unwrap();
        fs::write(place.trial(1).join("deep/own"), "mine").unwrap();
        symlink(folder.path().join("secret"), place.trial(1).join("link")).unwrap();
        symlink("deep/own", place.trial(1).join("inner")).unwrap();
        let open = |path: &str| open_trial_file(&place, 1, Path::new(path));
        let mut text = String::new();
        open("deep/own").unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "mine");
        assert!(open("inner").is_ok());
        for path in ["../../../secret", "link", "/etc/passwd", "deep/../../x", "deep", "none", ""] {
            assert!(open(path).is_err(), "{path}");
        }
        let names: Vec<PathBuf> = trial_files(&place, 1).into_iter().map(|own| own.path).collect();
        assert_eq!(names, [PathBuf::from("deep/own")]);
    }

    #[test]
    fn a_long_output_is_shown_from_its_end_and_none_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        assert_eq!(output_tail(&place, 1, LogName::Stdout).unwrap().bytes, 0);
        let text = "x".repeat(MOST_OUTPUT as usize) + "end";
        fs::write(place.trial(1).join("stdout"), &text).unwrap();
        let tail = output_tail(&place, 1, LogName::Stdout).unwrap();
        assert_eq!((tail.bytes, tail.left_out), (text.len() as u64, 3));
        assert!(tail.text.ends_with("end"));
    }

    #[test]
    fn curves_are_read_while_a_trial_writes_them() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        let text =
            "{\"loss\":1,\"step\":5}\nnoise\n{\"loss\":0.5,\"step\":10,\"note\":\"x\"}\n{\"lo";
        fs::write(place.trial(1).join("metrics.jsonl"), text).unwrap();
        let curves = live_curves(&place, 1).unwrap();
        assert_eq!(curves.len(), 1);
        assert_eq!(
            (curves[0].name.as_str(), curves[0].at.as_slice()),
            ("metric.loss", [5.0, 10.0].as_slice())
        );
    }
}
