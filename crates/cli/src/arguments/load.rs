//! Arguments of `trainwright load`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{StudyArguments, name_and_value};
use crate::quantities::{Rate, Span};

#[derive(Debug, Args)]
pub(crate) struct LoadArguments {
    #[command(flatten)]
    pub common: StudyArguments,
    /// Jobs that arrive, such as 40/h or 2/s; a plain number is a second's.
    #[arg(long, required_unless_present = "arrivals_file")]
    pub rate: Option<Rate>,
    /// Jobs in all [default: as many as the file of arrivals lists].
    #[arg(long, value_name = "N", required_unless_present = "arrivals_file")]
    pub jobs: Option<u32>,
    /// Jobs at the same time [default: those of the study].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub slots: Option<u32>,
    /// How jobs arrive.
    #[arg(long, value_enum, default_value_t = ArrivalsArgument::Poisson)]
    pub arrivals: ArrivalsArgument,
    /// Moments of arrival in seconds since the beginning, one a line.
    #[arg(long, value_name = "FILE", conflicts_with = "rate")]
    pub arrivals_file: Option<PathBuf>,
    /// Time after which the test ends, such as 30m.
    #[arg(long, value_name = "TIME")]
    pub max_time: Option<Span>,
    /// Jobs at the beginning that do not count in means.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub warmup_jobs: u32,
    /// Run the first row of the design that has this level [default: the first row].
    #[arg(long, value_name = "FACTOR=LEVEL", value_parser = name_and_value)]
    pub set: Vec<(String, String)>,
    /// Seed of the arrivals and the jobs [default: that of the study].
    #[arg(long)]
    pub seed: Option<u64>,
    /// Write a page with charts here.
    #[arg(long, value_name = "HTML")]
    pub report: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalsArgument {
    /// Exponential times between arrivals.
    Poisson,
    /// Equal times between arrivals.
    Deterministic,
    /// As the file of --arrivals-file says.
    File,
}
