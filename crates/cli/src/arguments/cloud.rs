//! Arguments of `trainwright cloud`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use trainwright::clouds::{Method, Objective};

use crate::arguments::name_and_value;
use crate::quantities::Span;

#[derive(Debug, Subcommand)]
pub(crate) enum CloudVerb {
    /// Show a catalogue of machine types and check it.
    #[command(after_help = "Examples:\n  trainwright cloud catalog\n  \
        trainwright cloud catalog examples/cloud/aws-us-east-1-2017.csv\n\n\
        A catalogue is a CSV file with lines `# date: ...` and `# source: ...` and the columns \
        vm_type, vcpus, memory_gib, price_usd_per_hour and, where known, cpu_ghz, generation, \
        local_disk_gb, network_gbps, gpus; or JSON with date, source and machines.")]
    Catalog(CatalogArguments),
    /// Choose machines for a job from a handful of runs: says what to run next, and when to stop.
    #[command(after_help = "Examples:\n  \
        trainwright cloud recommend machines.json --nodes 1,2,4,8 --objective cost --max-time 2h\n  \
        trainwright cloud recommend fast.json --catalog examples/cloud/aws-us-east-1-2017.csv \
        --objective time --command 'sh examples/cloud/job.sh {vm_type} {nodes}'\n  \
        trainwright cloud recommend small.json --catalog examples/cloud/aws-us-east-1-2017.csv \
        --study examples/cloud/study.toml\n\n\
        The search is kept in the file: with --command or --study it runs by itself, each run in a \
        folder of its own; without, run what it says and tell the result with `trainwright cloud \
        tell`. A metric elapsed_s counts as the time of a run, else its wall time does. Where the \
        first three runs fail, or nothing can be expected to keep within the limits, it stops. \
        A search goes on as it was begun: other options for the same file are refused.")]
    Recommend(Box<RecommendArguments>),
    /// Tell a search what a run by hand gave, and hear what to run next.
    #[command(after_help = "Examples:\n  \
        trainwright cloud recommend machines.json --nodes 1,2,4\n  \
        trainwright cloud tell machines.json --vm-type c6i.large --nodes 4 --time 12m\n  \
        trainwright cloud tell machines.json --vm-type m6i.large --nodes 4 --time 90s --failed\n  \
        trainwright cloud tell machines.json --runs last-month.csv\n\n\
        A table of runs has the columns vm_type, elapsed_s and, where known, nodes, completed (1 or \
        0) and low-level metrics; one with a column workload for several jobs needs --workload.")]
    Tell(CloudTellArguments),
    /// Play methods against recorded runs: how soon do they find a good configuration?
    #[command(after_help = "Examples:\n  \
        trainwright cloud replay --runs examples/cloud/runs.csv --objective cost\n  \
        trainwright cloud replay --runs examples/cloud/runs.csv --history examples/cloud/runs.csv \
        --objective time --method default,cherrypick,random --seeds 5 --report methods.html\n\n\
        Groups that are tested are left out of the history. A replay goes on after the method has \
        stopped until it comes within 5 % of the optimum.")]
    Replay(ReplayArguments),
    /// Which runs on small parts of the input to make, so that Ernest's law is known best for a budget.
    #[command(after_help = "Example:\n  \
        trainwright cloud experiments --parts 4..32 --of 256 --nodes 1..8 --cores 2 --budget 20\n\n\
        The design is A-optimal: the sum of the variances of the law's terms is smallest. Make the \
        runs of the table, then `trainwright cloud foretell`.")]
    Experiments(ExperimentsArguments),
    /// What Ernest's law, fitted to runs, says of other numbers of nodes.
    #[command(after_help = "Example:\n  trainwright cloud foretell parts.csv --nodes 8,16,32\n\n\
        The table has the columns nodes, elapsed_s and, where not all runs used the whole input, \
        share. A time beyond the nodes or shares of the runs is marked: such predictions may be far \
        off.")]
    Foretell(ForetellArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ExperimentsArguments {
    /// Fewest and most parts of the input that a run may use.
    #[arg(long, value_name = "LOW..HIGH", value_parser = from_to)]
    pub parts: (u32, u32),
    /// Parts of the whole input.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub of: u32,
    /// Fewest and most machines of a run.
    #[arg(long, value_name = "LOW..HIGH", value_parser = from_to)]
    pub nodes: (u32, u32),
    /// Cores of a machine; each needs a part of its own.
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..))]
    pub cores: u32,
    /// What all runs may cost together, in runs of the smallest part on one machine.
    #[arg(long, value_name = "RUNS")]
    pub budget: f64,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Two whole numbers above 0, the second not below the first.
fn from_to(text: &str) -> Result<(u32, u32), String> {
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|own| *own > 0);
    let both = text.split_once("..").and_then(|(low, high)| Some((number(low)?, number(high)?)));
    both.filter(|(low, high)| low <= high)
        .ok_or_else(|| "write it as 1..8, the smaller number first".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct ForetellArguments {
    /// Table of runs.
    pub runs: PathBuf,
    /// Numbers of nodes to foretell.
    #[arg(long, value_name = "N", value_delimiter = ',', required = true)]
    pub nodes: Vec<u32>,
    /// Share of the input to foretell.
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    pub share: f64,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CatalogArguments {
    /// Catalogue [default: the small one that comes with the program].
    pub file: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CloudObjective {
    /// How long a run takes.
    Time,
    /// What a run costs.
    Cost,
}

impl CloudObjective {
    pub(crate) fn noun(self) -> Objective {
        match self {
            Self::Time => Objective::Time,
            Self::Cost => Objective::Cost,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct RecommendArguments {
    /// File of the search; made where it is not there, else the search goes on as it was begun.
    pub file: PathBuf,
    /// Catalogue [default: the small one that comes with the program].
    #[arg(long, value_name = "FILE")]
    pub catalog: Option<PathBuf>,
    /// Numbers of nodes to choose from; those of the study with --study [default: 1].
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub nodes: Option<Vec<u32>>,
    /// What shall be small [default: cost].
    #[arg(long, value_enum)]
    pub objective: Option<CloudObjective>,
    /// Longest time that a run may take, such as 2h.
    #[arg(long, value_name = "TIME")]
    pub max_time: Option<Span>,
    /// Highest cost of a run in US dollars.
    #[arg(long, value_name = "USD")]
    pub max_cost: Option<f64>,
    /// Table of runs of other workloads on the same machines, to learn from.
    #[arg(long, value_name = "CSV")]
    pub history: Option<PathBuf>,
    /// Method [default: default].
    #[arg(long, value_name = "NAME", value_parser = method)]
    pub method: Option<Method>,
    /// Command line to run, with {vm_type} and {nodes} in it.
    #[arg(long, value_name = "COMMAND")]
    pub command: Option<String>,
    /// A run of the command that takes longer is ended and has failed.
    #[arg(long, value_name = "TIME", requires = "command")]
    pub timeout: Option<Span>,
    /// Study whose command runs; its factors are vm_type and nodes.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "nodes"])]
    pub study: Option<PathBuf>,
    /// The most runs of the command or the study this time.
    #[arg(long, value_name = "N")]
    pub max_runs: Option<usize>,
    /// Name so many runs, to be made side by side by hand.
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with_all = ["command", "study"],
        value_parser = clap::value_parser!(u32).range(1..))]
    pub count: u32,
    /// Decides everything random [default: 1].
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CloudTellArguments {
    /// File of the search.
    pub file: PathBuf,
    /// Machine type that ran.
    #[arg(long, value_name = "TYPE", required_unless_present = "runs")]
    pub vm_type: Option<String>,
    /// How many machines.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub nodes: u32,
    /// How long it took, such as 12m or 90 seconds as 90; of a failed run until it failed.
    #[arg(long, value_name = "TIME")]
    pub time: Option<Span>,
    /// The run failed: it is paid for, and never the best.
    #[arg(long)]
    pub failed: bool,
    /// Runs from a table instead.
    #[arg(long, value_name = "CSV",
        conflicts_with_all = ["vm_type", "nodes", "time", "failed", "metric"])]
    pub runs: Option<PathBuf>,
    /// Only this workload of the table.
    #[arg(long, value_name = "NAME", requires = "runs")]
    pub workload: Option<String>,
    /// The configuration may have run before: one more measurement of it.
    #[arg(long)]
    pub again: bool,
    /// Low-level metric of the run, such as cpu_user_pct=80; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub metric: Vec<(String, String)>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// Table of recorded runs.
    #[arg(long, value_name = "CSV")]
    pub runs: PathBuf,
    /// Table of runs of other workloads to learn from; may be the same.
    #[arg(long, value_name = "CSV")]
    pub history: Option<PathBuf>,
    /// Methods, or all.
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "default")]
    pub method: Vec<String>,
    /// What shall be small.
    #[arg(long, value_enum, default_value = "time")]
    pub objective: CloudObjective,
    /// Only this workload.
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,
    /// How many seeds each workload is replayed with.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub seeds: u64,
    /// Leave out workloads of which a run failed.
    #[arg(long)]
    pub complete_only: bool,
    /// Write a page that compares the methods here.
    #[arg(long, value_name = "HTML")]
    pub report: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

fn method(name: &str) -> Result<Method, String> {
    Method::named(name).map_err(|error| error.to_string())
}
