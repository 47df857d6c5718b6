//! Arguments of `trainwright plan`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use trainwright::plans::{Overlap, Sharding, Strategy, Sums};

use crate::quantities::Span;

#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    /// Network such as mobilenet-v2 or mlp:784-128-10, a TOML file of one, a graph by name
    /// (alexnet, inception-v3, resnet-101, rnntc, rnnlm, nmt, transformer, lenet) or a JSON file
    /// of a graph.
    pub network: String,
    /// Machine: here, 4-k80, 8-k80, 16-k80, 64-k80, 10x1-k80, 4-p100, 2x4-p100, 16-p100, 8-a100,
    /// 8-h100, or a TOML file.
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: String,
    /// Examples of a step [default: 64, or that of the published measurements].
    #[arg(long)]
    pub batch: Option<u64>,
    /// Dimensions of one example of a network, such as 64x64x3.
    #[arg(long)]
    pub input: Option<String>,
    /// How many classes a network has.
    #[arg(long)]
    pub classes: Option<usize>,
    /// Examples of an epoch, for its time and cost.
    #[arg(long, value_name = "COUNT")]
    pub examples: Option<u64>,
    /// Numbers that the optimiser keeps for a parameter: 0 for SGD, 1 for momentum, 2 for Adam.
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u8).range(0..=8))]
    pub optimizer_slots: u8,
    /// How gradients of copies are added up.
    #[arg(long, value_enum, default_value_t = SumsArgument::Ring)]
    pub sums: SumsArgument,
    /// Add up gradients after the whole backward pass instead of beside it.
    #[arg(long)]
    pub no_overlap: bool,
    /// What copies of weights need not all hold (ZeRO 1, 2, 3), in every strategy.
    #[arg(long, value_enum, default_value_t = ShardingArgument::None)]
    pub sharding: ShardingArgument,
    /// Compute the forward pass again in the backward pass instead of keeping it.
    #[arg(long)]
    pub recompute: bool,
    /// GiB of memory of a device, where it is other than the machine's.
    #[arg(long, value_name = "GIB")]
    pub memory: Option<f64>,
    /// Keep an operator on devices, one part on each, such as fc6=0,1; a name may end with *.
    #[arg(long, value_name = "OPERATOR=DEVICES")]
    pub pin: Vec<String>,
    /// Never split a dimension, such as height or conv1.height.
    #[arg(long, value_name = "DIMENSION")]
    pub forbid: Vec<String>,
    /// The most parts of an operator.
    #[arg(long, value_name = "PARTS")]
    pub max_degree: Option<u64>,
    /// Take this strategy instead of the best.
    #[arg(long, value_enum)]
    pub strategy: Option<StrategyArgument>,
    /// Seed of the search.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Proposals of the search; the same number and seed give the same plan [default: as many as
    /// take seconds].
    #[arg(long, value_name = "COUNT")]
    pub proposals: Option<u64>,
    /// End the search after this time, such as 10s, with the best plan so far.
    #[arg(long, value_name = "TIME")]
    pub time_limit: Option<Span>,
    /// Threads of the search [default: one a core]; they change the time, not the plan.
    #[arg(long)]
    pub threads: Option<usize>,
    /// Write the plan to a JSON file.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write one step task by task, for Perfetto or chrome://tracing.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Write a page with the table, the timeline and the device map.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// With --machine here: train each strategy for seconds, and show planned beside measured times.
    #[arg(long)]
    pub measure: bool,
    /// Data set for --measure.
    #[arg(
        long,
        value_name = "NAME|FOLDER",
        default_value = "fashion-mnist-sample",
        requires = "measure"
    )]
    pub data: String,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SumsArgument {
    /// Around a ring.
    Ring,
    /// Up and down a tree.
    Tree,
    /// Each copy owns a piece.
    Sharded,
    /// One copy serves all.
    Server,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShardingArgument {
    /// Every copy holds all.
    None,
    /// The optimiser's numbers are cut.
    Optimizer,
    /// And the gradients.
    Gradients,
    /// And the weights.
    Weights,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StrategyArgument {
    /// Everything on one device.
    OneDevice,
    /// Samples over all devices.
    DataParallel,
    /// The same with weights cut.
    Sharded,
    /// Weights cut by outputs.
    Tensor,
    /// Stages of layers.
    Pipeline,
    /// One layout for all operators.
    Mesh,
    /// Each operator by itself.
    Hybrid,
}

impl SumsArgument {
    pub(crate) fn noun(self) -> Sums {
        match self {
            Self::Ring => Sums::Ring,
            Self::Tree => Sums::Tree,
            Self::Sharded => Sums::Sharded,
            Self::Server => Sums::Server,
        }
    }
}

impl ShardingArgument {
    pub(crate) fn noun(self) -> Sharding {
        match self {
            Self::None => Sharding::None,
            Self::Optimizer => Sharding::Optimizer,
            Self::Gradients => Sharding::Gradients,
            Self::Weights => Sharding::Weights,
        }
    }
}

impl StrategyArgument {
    pub(crate) fn noun(self) -> Strategy {
        match self {
            Self::OneDevice => Strategy::OneDevice,
            Self::DataParallel => Strategy::DataParallel,
            Self::Sharded => Strategy::Sharded,
            Self::Tensor => Strategy::Tensor,
            Self::Pipeline => Strategy::Pipeline,
            Self::Mesh => Strategy::Mesh,
            Self::Hybrid => Strategy::Hybrid,
        }
    }
}

impl PlanArguments {
    pub(crate) fn overlap(&self) -> Overlap {
        if self.no_overlap { Overlap::After } else { Overlap::Beside }
    }
}
