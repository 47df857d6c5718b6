//! Arguments of the verb bench.

use std::path::PathBuf;

use clap::Args;

use super::tables::ObjectiveArgument;
use crate::quantities::Span;

#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    /// Commands, each one text for the shell.
    #[arg(value_name = "COMMAND", required_unless_present = "words")]
    pub commands: Vec<String>,
    /// Commands as words, run without a shell; `--` stands between them.
    #[arg(last = true, value_name = "WORDS", conflicts_with = "commands")]
    pub words: Vec<String>,
    /// Rounds whose results count for nothing.
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    pub warmup: u32,
    /// Run every command exactly this often [default: 10 times and for 3 seconds each].
    #[arg(short, long, value_name = "N", conflicts_with_all = ["min_runs", "max_runs"],
        value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: Option<u32>,
    /// Run every command at least this often.
    #[arg(short, long, value_name = "N", default_value_t = 10,
        value_parser = clap::value_parser!(u32).range(1..))]
    pub min_runs: u32,
    /// Run every command at most this often.
    #[arg(short = 'M', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_runs: Option<u32>,
    /// Begin no run after this time, such as 2m.
    #[arg(long, value_name = "TIME")]
    pub max_time: Option<Span>,
    /// Run this before every run; once for all commands, or once for each.
    #[arg(short, long, value_name = "COMMAND")]
    pub prepare: Vec<String>,
    /// Run this once for each command before the first round.
    #[arg(short, long, value_name = "COMMAND")]
    pub setup: Option<String>,
    /// Run this once for each command after the last round.
    #[arg(short, long, value_name = "COMMAND")]
    pub cleanup: Option<String>,
    /// Try every value, separated by commas, for {NAME} in the commands.
    #[arg(short = 'L', long, num_args = 2, value_names = ["NAME", "VALUES"],
        action = clap::ArgAction::Append)]
    pub parameter_list: Vec<String>,
    /// Try every number from one to another for {NAME} in the commands.
    #[arg(short = 'P', long, num_args = 3, value_names = ["NAME", "FROM", "TO"],
        allow_negative_numbers = true)]
    pub parameter_scan: Option<Vec<String>>,
    /// Step of --parameter-scan [default: 1].
    #[arg(short = 'D', long, value_name = "STEP", requires = "parameter_scan")]
    pub parameter_step_size: Option<String>,
    /// Shell with its arguments, or none; its own start is measured and taken off.
    #[arg(short = 'S', long, value_name = "SHELL", default_value = "sh")]
    pub shell: String,
    /// Split commands into words and run them without a shell.
    #[arg(short = 'N', conflicts_with = "shell")]
    pub no_shell: bool,
    /// Time commands that fail, too.
    #[arg(short, long)]
    pub ignore_failure: bool,
    /// Name of a command, in their order.
    #[arg(short = 'n', long, value_name = "NAME")]
    pub command_name: Vec<String>,
    /// Compare a number that commands print: a key of ::metric lines, or NAME=PATTERN with a group
    /// (?<value>...).
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,
    /// Unit of the metric, for words.
    #[arg(long, value_name = "UNIT", requires = "metric")]
    pub unit: Option<String>,
    /// Which end of the metric is good.
    #[arg(long, value_enum, requires = "metric")]
    pub objective: Option<ObjectiveArgument>,
    /// Number of the command that the others are compared with.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub baseline: usize,
    /// Largest p-value called evidence.
    #[arg(long, default_value_t = 0.05)]
    pub alpha: f64,
    /// Decides the order of every round.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Write what hyperfine's scripts read.
    #[arg(long, value_name = "FILE")]
    pub export_json: Option<PathBuf>,
    /// Write one row a command.
    #[arg(long, value_name = "FILE")]
    pub export_csv: Option<PathBuf>,
    /// Write a table for a document.
    #[arg(long, value_name = "FILE")]
    pub export_markdown: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
