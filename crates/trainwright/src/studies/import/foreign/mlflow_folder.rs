//! Runs of MLflow in a folder: one a folder below that of its experiment, each parameter and metric
//! a file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use trainwright_store::MlflowRun;

use super::yaml;

/// Bytes of a file that are read; what is larger is no parameter.
const LARGEST: u64 = 64 << 20;
/// The number that stands for a finished run in `meta.yaml`.
const FINISHED: u64 = 3;

/// Reads the runs of an experiment, oldest first; without a name those of the only experiment that
/// has any.
pub(super) fn read(folder: &Path, which: Option<&str>) -> Result<Vec<MlflowRun>, String> {
    // The folder of one experiment will do.
    let experiments =
        if folder.join("meta.yaml").is_file() { vec![folder.to_owned()] } else { folders(folder)? };
    let mut found = Vec::new();
    for experiment in experiments {
        let Some(meta) = meta(&experiment)? else { continue };
        let runs: Vec<PathBuf> = folders(&experiment)?
            .into_iter()
            .filter(|run| run.join("meta.yaml").is_file() && run.join("params").is_dir())
            .collect();
        if !runs.is_empty() && meta["lifecycle_stage"] != "deleted" {
            found.push((meta["name"].as_str().unwrap_or_default().to_owned(), runs));
        }
    }
    let names: Vec<String> = found.iter().map(|(name, _)| name.clone()).collect();
    found.retain(|(name, _)| which.is_none_or(|which| which == name));
    let [(_, folders)] = found.as_slice() else {
        return Err(match names.is_empty() {
            true => "it has no runs".to_owned(),
            false => format!("name one of its experiments: {}", names.join(", ")),
        });
    };
    let mut runs = Vec::new();
    for folder in folders {
        let Some(meta) = meta(folder)? else { continue };
        if meta["lifecycle_stage"] != "deleted" {
            runs.push((meta["start_time"].as_i64(), folder, run(folder, &meta)?));
        }
    }
    runs.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
    Ok(runs.into_iter().map(|(_, _, run)| run).collect())
}

fn run(folder: &Path, meta: &Value) -> Result<MlflowRun, String> {
    let mut run = MlflowRun {
        name: meta["run_name"].as_str().unwrap_or_default().to_owned(),
        // Versions before 1 wrote a word.
        finished: meta["status"] == FINISHED || meta["status"] == "FINISHED",
        ..MlflowRun::default()
    };
    for (name, path) in files(&folder.join("params"))? {
        run.parameters.insert(name, text(&path)?.trim_end_matches('\n').to_owned());
    }
    for (name, path) in files(&folder.join("metrics"))? {
        let text = text(&path)?;
        let Some((number, line)) =
            (1..).zip(text.lines()).filter(|(_, own)| !own.is_empty()).last()
        else {
            continue;
        };
        // Time, value and, since version 1, step.
        let value = line.split(' ').nth(1).and_then(|own| own.parse::<f64>().ok());
        let value = value.ok_or_else(|| {
            format!("{}, line {number}: `{line}` is no time, value and step", path.display())
        })?;
        run.metrics.insert(name, value);
    }
    Ok(run)
}

/// The description of an experiment or run; nothing where there is none.
fn meta(folder: &Path) -> Result<Option<Value>, String> {
    let path = folder.join("meta.yaml");
    if !path.is_file() {
        return Ok(None);
    }
    let meta =
        yaml::parse(&text(&path)?).map_err(|error| format!("{}: {error}", path.display()))?;
    match meta {
        Value::Object(_) => Ok(Some(meta)),
        _ => Err(format!("{} is no table of keys", path.display())),
    }
}

fn text(path: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    if fs::metadata(path).map_err(failed)?.len() > LARGEST {
        return Err(format!("{} has more than {} MB", path.display(), LARGEST >> 20));
    }
    fs::read_to_string(path).map_err(failed)
}

/// The folders below one, by name.
fn folders(folder: &Path) -> Result<Vec<PathBuf>, String> {
    Ok(entries(folder)?.into_iter().filter(|path| path.is_dir()).collect())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut paths = entries
        .map(|entry| entry.map(|own| own.path()).map_err(failed))
        .collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    Ok(paths)
}

/// Files below a folder by their names, of which folders are a part: `val/acc`.
fn files(folder: &Path) -> Result<BTreeMap<String, PathBuf>, String> {
    let mut found = BTreeMap::new();
    let mut left = if folder.is_dir() { vec![folder.to_owned()] } else { Vec::new() };
    while let Some(next) = left.pop() {
        for path in entries(&next)? {
            // Not through links, which may lead in a circle.
            let kind =
                path.symlink_metadata().map_err(|error| format!("{}: {error}", path.display()))?;
            if kind.is_dir() {
                left.push(path);
            } else if kind.is_file()
                && let Ok(name) = path.strip_prefix(folder)
            {
                found.insert(name.to_string_lossy().into_owned(), path.clone());
            }
        }
    }
    Ok(found)
}
