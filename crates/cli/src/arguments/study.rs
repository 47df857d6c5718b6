//! Arguments of the verbs on a study and its store.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use trainwright::{ForeignKind, ImportSource};

use super::ClusterArguments;

#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// File to write.
    #[arg(default_value = "study.toml")]
    pub path: PathBuf,
    /// Take factors and metrics from what `import` takes in, or from a sweep of W&B (YAML).
    #[arg(long, value_name = "PATH")]
    pub from: Option<PathBuf>,
    #[command(flatten)]
    pub origin: OriginArguments,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StudyArguments {
    /// Study file.
    pub study: PathBuf,
    /// Store of the trials [default: trainwright.db beside the study].
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub common: StudyArguments,
    /// Run failed trials again.
    #[arg(long)]
    pub retry_failed: bool,
    /// Do not flush each finished trial to disk; for studies of very short trials.
    #[arg(long)]
    pub no_flush: bool,
    /// Accept a change of the study although trials have run; the analysis tells of it.
    #[arg(long, value_name = "WHAT")]
    pub accept: Vec<Acceptable>,
    /// Take the trials recorded under the study's name in this store instead of running any.
    #[arg(long, value_name = "FILE")]
    pub replay: Option<PathBuf>,
    /// Write the report here at the end.
    #[arg(long, value_name = "HTML")]
    pub report: Option<PathBuf>,
    /// Trials at the same time [default: what the study says].
    #[arg(long, value_name = "N")]
    pub slots: Option<NonZeroU32>,
    #[command(flatten)]
    pub cluster: ClusterArguments,
}

/// A change of a study with trials that is refused unless it is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Acceptable {
    /// Another command, or other settings of the job.
    Command,
}

#[derive(Debug, Args)]
pub(crate) struct LogsArguments {
    /// Study file.
    pub study: PathBuf,
    /// Number of the trial.
    pub trial: u32,
    /// Show the standard error instead of the standard output.
    #[arg(long)]
    pub stderr: bool,
    /// List the files that the trial left in its folder.
    #[arg(long, conflicts_with_all = ["stderr", "file"])]
    pub files: bool,
    /// Show one file of the trial's folder.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["stderr", "json"])]
    pub file: Option<String>,
    /// Print every byte as the trial wrote it, on a terminal too; otherwise a terminal is shown
    /// control characters by name (\\e for the escape character), and a file or pipe gets them as
    /// they are.
    #[arg(long, conflicts_with = "json")]
    pub raw: bool,
    /// Store of the trials [default: trainwright.db beside the study].
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StopArguments {
    #[command(flatten)]
    pub common: StudyArguments,
    /// Kill running trials at once.
    #[arg(long)]
    pub now: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// Study file.
    pub study: PathBuf,
    /// Form of the table.
    #[arg(long, value_enum, default_value_t = ExportFormat::Csv)]
    pub format: ExportFormat,
    /// File to write [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Put an apostrophe before cells of a CSV table that a spreadsheet would take for formulas,
    /// such as =1+2; numbers stay as they are.
    #[arg(long)]
    pub spreadsheet_safe: bool,
    /// Add what each trial used of the machine: time, CPU, memory, disk, network, GPUs.
    #[arg(long)]
    pub usage: bool,
    /// Store of the trials [default: trainwright.db beside the study].
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    Csv,
    Json,
    /// In builds with the cargo feature `parquet`.
    Parquet,
    /// An SQLite file that MLflow opens; needs --output.
    Mlflow,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// Table of results with a header, SQLite file of Optuna or MLflow, folder of MLflow (mlruns)
    /// or TensorBoard, JSON of hyperfine, or table of runs of W&B.
    pub results: PathBuf,
    /// Study file.
    #[arg(long)]
    pub study: PathBuf,
    #[command(flatten)]
    pub origin: OriginArguments,
    /// Column of a factor or metric, where the names differ.
    #[arg(long, value_name = "NAME=COLUMN", value_parser = name_and_column)]
    pub column: Vec<(String, String)>,
    /// Store of the trials [default: trainwright.db beside the study].
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Which results of another program.
#[derive(Debug, Args)]
pub(crate) struct OriginArguments {
    /// Which of several studies of Optuna or experiments of MLflow.
    #[arg(long, value_name = "NAME", alias = "optuna-study")]
    pub which: Option<String>,
    /// Whose file it is, where its content does not say.
    #[arg(long, value_enum)]
    pub kind: Option<OriginKind>,
}

impl OriginArguments {
    /// The results at a path.
    pub(crate) fn source<'a>(&'a self, file: &'a Path) -> ImportSource<'a> {
        let kind = self.kind.map(|kind| match kind {
            OriginKind::Csv => ForeignKind::Csv,
            OriginKind::Optuna => ForeignKind::Optuna,
            OriginKind::Mlflow if file.is_dir() => ForeignKind::MlflowFolder,
            OriginKind::Mlflow => ForeignKind::MlflowSqlite,
            OriginKind::Hyperfine => ForeignKind::Hyperfine,
            OriginKind::Tensorboard => ForeignKind::Tensorboard,
            OriginKind::WandbRuns => ForeignKind::WandbRuns,
            OriginKind::WandbSweep => ForeignKind::WandbSweep,
        });
        ImportSource { file, which: self.which.as_deref(), kind }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OriginKind {
    Csv,
    Optuna,
    Mlflow,
    Hyperfine,
    Tensorboard,
    WandbRuns,
    WandbSweep,
}

fn name_and_column(text: &str) -> Result<(String, String), String> {
    let (name, column) = text.split_once('=').ok_or("write NAME=COLUMN, such as cost=seconds")?;
    Ok((name.trim().to_owned(), column.trim().to_owned()))
}

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    #[command(flatten)]
    pub common: StudyArguments,
    /// File to write.
    #[arg(short, long, value_name = "HTML", default_value = "report.html")]
    pub output: PathBuf,
}
