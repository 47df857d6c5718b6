//! Arguments of the verbs that answer one question about a table of results.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use trainwright_study::Direction;

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// Study file, or several to put side by side; or use --data, --column and --by.
    #[arg(value_name = "STUDY", required_unless_present = "data", conflicts_with = "data")]
    pub studies: Vec<PathBuf>,
    /// Table of results with a header.
    #[arg(long, value_name = "CSV", requires = "column", requires = "by")]
    pub data: Option<PathBuf>,
    /// Column of the values; of a study, the metric [default: its response].
    #[arg(long, value_name = "NAME")]
    pub column: Option<String>,
    /// Column whose levels are compared; of a study, the factor [default: all].
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// Level to compare with [default: the study's baseline, else the first].
    #[arg(long, value_name = "LEVEL", allow_hyphen_values = true, requires = "by")]
    pub baseline: Option<String>,
    /// Column whose equal values pair rows of different levels, such as the seed.
    #[arg(long, value_name = "NAME", requires = "data")]
    pub paired: Option<String>,
    /// Which end of the values is good, so that differences are called better or worse; a study
    /// says so itself.
    #[arg(long, value_enum, requires = "data")]
    pub objective: Option<ObjectiveArgument>,
    /// Largest p-value called evidence [default: the study's, else 0.05].
    #[arg(long, requires = "data")]
    pub alpha: Option<f64>,
    /// Store of the trials [default: trainwright.db beside the study].
    #[arg(long, value_name = "FILE", conflicts_with = "data")]
    pub store: Option<PathBuf>,
    /// Write a page that shows several studies side by side.
    #[arg(long, value_name = "HTML", conflicts_with = "data")]
    pub report: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ScalingArguments {
    /// Table of results with a header.
    #[arg(long, value_name = "CSV")]
    pub data: PathBuf,
    /// Column of the times.
    #[arg(long, value_name = "NAME")]
    pub column: String,
    /// Column with the number of workers.
    #[arg(long, value_name = "NAME")]
    pub workers: String,
    /// Column with the size of the problem, if it changes.
    #[arg(long, value_name = "NAME")]
    pub size: Option<String>,
    /// Numbers of workers to predict the time for.
    #[arg(long, value_name = "N,N,..", value_delimiter = ',')]
    pub predict: Vec<f64>,
    /// Size to predict for [default: the largest measured].
    #[arg(long, value_name = "SIZE", requires = "size", requires = "predict")]
    pub predict_size: Option<f64>,
    /// One less the confidence of intervals.
    #[arg(long, default_value_t = 0.05)]
    pub alpha: f64,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OverheadArguments {
    /// Table of results with a header.
    #[arg(long, value_name = "CSV")]
    pub data: PathBuf,
    /// Column of the times.
    #[arg(long, value_name = "NAME")]
    pub column: String,
    /// Column with the number of steps.
    #[arg(long, value_name = "NAME")]
    pub steps: String,
    /// Column that names the strategy; a line is fitted to each.
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// Samples that every run handles, for rates.
    #[arg(long, value_name = "NUMBER")]
    pub samples: Option<f64>,
    /// Unit of the times, for words.
    #[arg(long)]
    pub unit: Option<String>,
    /// One less the confidence of intervals.
    #[arg(long, default_value_t = 0.05)]
    pub alpha: f64,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CorrelateArguments {
    /// Table of results with a header.
    #[arg(long, value_name = "CSV")]
    pub data: PathBuf,
    /// Column of the response.
    #[arg(long, value_name = "NAME")]
    pub column: String,
    /// Columns to correlate it with [default: all that hold numbers].
    #[arg(long, value_name = "NAME,NAME,..", value_delimiter = ',')]
    pub with: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SurfaceArguments {
    /// Study file; or use --data, --column and --factors.
    #[arg(required_unless_present = "data", conflicts_with = "data")]
    pub study: Option<PathBuf>,
    /// Table of results with a header.
    #[arg(long, value_name = "CSV", requires = "column", requires = "factors")]
    pub data: Option<PathBuf>,
    /// Column of the response.
    #[arg(long, value_name = "NAME", requires = "data")]
    pub column: Option<String>,
    /// Columns of the factors.
    #[arg(long, value_name = "NAME,NAME,..", value_delimiter = ',', requires = "data")]
    pub factors: Vec<String>,
    /// Which end of the response is good; a study says so itself.
    #[arg(long, value_enum, requires = "data")]
    pub objective: Option<ObjectiveArgument>,
    /// One less the confidence of intervals.
    #[arg(long, default_value_t = 0.05, requires = "data")]
    pub alpha: f64,
    /// Store of the trials [default: trainwright.db beside the study].
    #[arg(long, value_name = "FILE", conflicts_with = "data")]
    pub store: Option<PathBuf>,
    /// Write a page with contour plots too.
    #[arg(long, value_name = "HTML")]
    pub report: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ObjectiveArgument {
    Minimize,
    Maximize,
}

impl From<ObjectiveArgument> for Direction {
    fn from(own: ObjectiveArgument) -> Self {
        match own {
            ObjectiveArgument::Minimize => Self::Minimize,
            ObjectiveArgument::Maximize => Self::Maximize,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct FindingsArguments {
    /// Identifier of a finding [default: list them all].
    pub id: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
