//! Arguments of the verb analyze.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct AnalyzeArguments {
    /// Study file; or use --data and --formula.
    #[arg(required_unless_present = "data", conflicts_with = "data")]
    pub study: Option<PathBuf>,
    /// Table of results with a header.
    #[arg(long, value_name = "CSV", requires = "formula")]
    pub data: Option<PathBuf>,
    /// Equation, such as 'cost ~ lr*batch + nodes'.
    #[arg(long, requires = "data")]
    pub formula: Option<String>,
    /// Types of the analysis of variance [default: 2; with --json all].
    #[arg(long = "type", value_delimiter = ',', value_name = "TYPE,..")]
    pub types: Vec<u8>,
    /// Show the tables of all three types.
    #[arg(long, conflicts_with = "types")]
    pub all: bool,
    /// Numeric columns to treat as categories.
    #[arg(long, value_delimiter = ',', requires = "data")]
    pub categorical: Vec<String>,
    /// How numbers enter the equation [default: raw with --data, coded for a study].
    #[arg(long, value_enum)]
    pub coding: Option<CodingArgument>,
    /// How categories become coefficients: against the first level, or against their mean.
    #[arg(long, value_enum, default_value_t = ContrastsArgument::Treatment, requires = "data")]
    pub contrasts: ContrastsArgument,
    /// Order in which a*b*c expands: as the formula reads, or by degree as R does.
    #[arg(long, value_enum, default_value_t = OrderArgument::Formula, requires = "data")]
    pub order: OrderArgument,
    /// Store of the trials [default: trainwright.db beside the study].
    #[arg(long, value_name = "FILE", conflicts_with = "data")]
    pub store: Option<PathBuf>,
    /// Write a page with plots too; for a study use the verb report.
    #[arg(long, value_name = "HTML", requires = "data")]
    pub report: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CodingArgument {
    Raw,
    Coded,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ContrastsArgument {
    Treatment,
    Sum,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderArgument {
    Formula,
    Degree,
}
