//! Whose file it is, by what is in it.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use trainwright_store::MlflowRun;

use super::wandb_table;
use crate::Error;

/// How every SQLite file begins.
const SQLITE: &[u8] = b"SQLite format 3\0";
/// Bytes of a file that are looked at.
const LOOKED_AT: u64 = 1 << 16;

/// What programs other than this one leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignKind {
    /// A table with a header.
    Csv,
    /// An SQLite file of Optuna.
    Optuna,
    /// An SQLite file of MLflow.
    MlflowSqlite,
    /// A folder of MLflow, such as `mlruns`.
    MlflowFolder,
    /// A JSON file of hyperfine.
    Hyperfine,
    /// A folder of TensorBoard event files, a run a folder.
    Tensorboard,
    /// A table of runs, as W&B exports it.
    WandbRuns,
    /// A sweep of W&B, before it ran.
    WandbSweep,
}

impl ForeignKind {
    /// The kind of a file or folder.
    ///
    /// # Errors
    /// It cannot be read, or is a folder of another kind.
    pub fn of(path: &Path) -> Result<Self, Error> {
        let unreadable = |source| Error::Input { path: path.to_owned(), source };
        if path.is_dir() {
            return folder_kind(path).ok_or_else(|| Error::Import {
                file: path.to_owned(),
                message: "the folder has neither runs of MLflow (meta.yaml) nor event files of \
                          TensorBoard"
                    .to_owned(),
            });
        }
        let mut begin = Vec::new();
        let file = File::open(path).map_err(unreadable)?;
        file.take(LOOKED_AT).read_to_end(&mut begin).map_err(unreadable)?;
        if begin.starts_with(SQLITE) {
            let mlflow = MlflowRun::is_store(path);
            return Ok(if mlflow { Self::MlflowSqlite } else { Self::Optuna });
        }
        let text = String::from_utf8_lossy(&begin);
        let ending = path.extension().and_then(|own| own.to_str()).unwrap_or_default();
        Ok(match ending.to_ascii_lowercase().as_str() {
            "yaml" | "yml" => Self::WandbSweep,
            _ if text.trim_start().starts_with('{') => Self::Hyperfine,
            _ if wandb_table::is_header(text.lines().next().unwrap_or_default()) => Self::WandbRuns,
            _ => Self::Csv,
        })
    }

    /// The kind, in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Csv => "a table",
            Self::Optuna => "a storage of Optuna",
            Self::MlflowSqlite | Self::MlflowFolder => "a store of MLflow",
            Self::Hyperfine => "timings of hyperfine",
            Self::Tensorboard => "event files of TensorBoard",
            Self::WandbRuns => "a table of runs of W&B",
            Self::WandbSweep => "a sweep of W&B",
        }
    }
}

fn folder_kind(path: &Path) -> Option<ForeignKind> {
    let mut below: Vec<_> = fs::read_dir(path).ok()?.filter_map(Result::ok).collect();
    below.sort_by_key(fs::DirEntry::file_name);
    let has_meta = |folder: &Path| folder.join("meta.yaml").is_file();
    if has_meta(path) || below.iter().any(|own| has_meta(&own.path())) {
        return Some(ForeignKind::MlflowFolder);
    }
    has_events(path, 0).then_some(ForeignKind::Tensorboard)
}

/// Whether an event file lies in a folder or a few below it.
fn has_events(folder: &Path, depth: usize) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.filter_map(Result::ok).any(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => depth < 8 && has_events(&entry.path(), depth + 1),
        _ => entry.file_name().to_string_lossy().contains("tfevents"),
    })
}
