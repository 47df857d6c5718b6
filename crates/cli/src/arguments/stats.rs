//! Arguments of `trainwright stats`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use trainwright::{AdjustmentMethod, Location, StatsTest};

#[derive(Debug, Args)]
pub(crate) struct StatsArguments {
    /// Test.
    #[arg(value_parser = test_parser())]
    pub test: StatsTest,
    /// Table with a header.
    #[arg(long, value_name = "CSV")]
    pub data: PathBuf,
    /// Column of the values.
    #[arg(long, value_name = "NAME")]
    pub column: Option<String>,
    /// Column that names the groups.
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// Column to compare with, row by row: correlations and paired tests.
    #[arg(long, value_name = "NAME")]
    pub with: Option<String>,
    /// Equation of a Box-Cox power, such as 'cost ~ lr*batch'.
    #[arg(long)]
    pub formula: Option<String>,
    /// How p-adjust allows for the number of tests [default: holm].
    #[arg(long, value_parser = method_parser())]
    pub method: Option<AdjustmentMethod>,
    /// What a bootstrap compares [default: mean].
    #[arg(long, value_enum)]
    pub statistic: Option<StatisticArgument>,
    /// Bootstrap the ratio instead of the difference.
    #[arg(long)]
    pub ratio: bool,
    /// Seed of the bootstrap [default: 1].
    #[arg(long)]
    pub seed: Option<u64>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatisticArgument {
    Mean,
    Median,
}

impl From<StatisticArgument> for Location {
    fn from(argument: StatisticArgument) -> Self {
        match argument {
            StatisticArgument::Mean => Self::Mean,
            StatisticArgument::Median => Self::Median,
        }
    }
}

fn test_parser() -> impl TypedValueParser<Value = StatsTest> {
    PossibleValuesParser::new(StatsTest::names()).try_map(|name| name.parse::<StatsTest>())
}

fn method_parser() -> impl TypedValueParser<Value = AdjustmentMethod> {
    let names = PossibleValuesParser::new(AdjustmentMethod::names());
    names.try_map(|name| name.parse::<AdjustmentMethod>())
}
