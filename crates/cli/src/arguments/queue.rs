//! Arguments of `trainwright queue`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use trainwright::queueing::Statistic;

use crate::quantities::{Rate, Span};

#[derive(Debug, Subcommand)]
pub(crate) enum QueueVerb {
    /// Poisson arrivals, exponential service, one server.
    #[command(after_help = "Examples:\n  trainwright queue mm1 --arrival 0.8 --service 1\n  \
        trainwright queue mm1 --service-time 12m --target-response 30m")]
    #[command(allow_negative_numbers = true)]
    Mm1(QuestionArguments),
    /// Poisson arrivals, exponential service, several servers.
    #[command(after_help = "Examples:\n  \
        trainwright queue mmc --arrival 3.2 --service 1 --servers 4\n  \
        trainwright queue mmc --arrival 40/h --service-time 4m --target-response 10m\n  \
        trainwright queue mmc --arrival 40/h --servers 6 --target-wait 1m --quantile p90")]
    #[command(allow_negative_numbers = true)]
    Mmc(QuestionArguments),
    /// The same with a limited number of places; others are turned away.
    #[command(after_help = "Example:\n  \
        trainwright queue mmck --arrival 5 --service 1 --servers 4 --capacity 12")]
    #[command(allow_negative_numbers = true)]
    Mmck(QuestionArguments),
    /// Poisson arrivals, any service, one server.
    #[command(after_help = "Example:\n  \
        trainwright queue mg1 --arrival 0.8 --service 1 --scv-service 2.9")]
    #[command(allow_negative_numbers = true)]
    Mg1(QuestionArguments),
    /// Any arrivals, any service, several servers: the approximation of Allen and Cunneen.
    #[command(after_help = "Example:\n  trainwright queue ggc --arrival 3.2 --service 1 \
        --scv-arrival 1 --scv-service 2.9 --target-response 2")]
    #[command(allow_negative_numbers = true)]
    Ggc(QuestionArguments),
    /// A fixed number of customers that come back, such as users or machines to repair.
    #[command(after_help = "Example:\n  trainwright queue finite --population 20 --arrival 2/h \
        --service-time 10m --servers 2")]
    #[command(allow_negative_numbers = true)]
    Finite(QuestionArguments),
    /// Classes of jobs, the most urgent first.
    #[command(after_help = "Examples:\n  \
        trainwright queue priority --arrival 2/h,6/h --service-time 5m\n  \
        trainwright queue priority --arrival 0.2,0.3 --service 1,2 --scv-service 1,3 --preemptive\n  \
        trainwright queue priority --arrival 2,3 --service 1 --target-response 2 --class 1")]
    #[command(allow_negative_numbers = true)]
    Priority(QuestionArguments),
    /// Simulate any of these queues, with intervals, beside its closed form.
    #[command(after_help = "Examples:\n  \
        trainwright queue simulate mmc --arrival 3.2 --service 1 --servers 4 --seed 7\n  \
        trainwright queue simulate ggc --arrival 3.2 --service 1 --servers 4 --scv-arrival 1 \
        --scv-service 2.9 --jobs 2000000\n  \
        trainwright queue simulate priority --arrival 0.2,0.3 --service 1,2")]
    #[command(allow_negative_numbers = true)]
    Simulate(SimulateArguments),
    /// Say from measured service times which queue they make.
    #[command(after_help = "Examples:\n  \
        trainwright queue fit --data runs.csv --column time --unit s\n  \
        trainwright queue fit --data runs.csv --column time --unit s --where nodes=4 --arrival 40/h\n  \
        trainwright queue fit --study study.toml --metric time")]
    #[command(allow_negative_numbers = true)]
    Fit(FitArguments),
}

#[derive(Debug, Args)]
pub(crate) struct QuestionArguments {
    /// Jobs that arrive in a unit of time, such as 3.2 or 40/h; one for each class of `priority`,
    /// that of each customer of `finite` [default: the largest that the target allows].
    #[arg(long, value_name = "RATE", value_delimiter = ',')]
    pub arrival: Vec<Rate>,
    /// Jobs that one busy server ends in a unit of time, such as 1 or 5/h [default: the smallest
    /// that the target allows].
    #[arg(long, value_name = "RATE", value_delimiter = ',')]
    pub service: Vec<Rate>,
    /// Mean time of service instead of its rate, such as 12m.
    #[arg(long, value_name = "TIME", value_delimiter = ',', conflicts_with = "service")]
    pub service_time: Vec<Span>,
    /// Servers [default: as many as the target needs].
    #[arg(long, value_name = "N")]
    pub servers: Option<u32>,
    /// Places, those in service included.
    #[arg(long, value_name = "N")]
    pub capacity: Option<u32>,
    /// Customers in all.
    #[arg(long, value_name = "N")]
    pub population: Option<u32>,
    /// Variance of the times between arrivals over their squared mean.
    #[arg(long, value_name = "SCV")]
    pub scv_arrival: Option<f64>,
    /// Variance of the service times over their squared mean.
    #[arg(long, value_name = "SCV", value_delimiter = ',')]
    pub scv_service: Vec<f64>,
    /// Urgent jobs interrupt others, which go on later where they stopped.
    #[arg(long)]
    pub preemptive: bool,
    /// Response to keep within, such as 2 or 10m: asks for servers and rates.
    #[arg(long, value_name = "TIME", conflicts_with = "target_wait", group = "target")]
    pub target_response: Option<Span>,
    /// Wait to keep within.
    #[arg(long, value_name = "TIME", group = "target")]
    pub target_wait: Option<Span>,
    /// What must keep within the target: mean, p90, p99 or a fraction of the jobs such as 0.95
    /// [default: mean].
    #[arg(long, value_name = "WHICH", requires = "target", value_parser = statistic)]
    pub quantile: Option<Statistic>,
    /// Class that must keep within the target, from 1 [default: the least urgent].
    #[arg(long, value_name = "N", requires = "target")]
    pub class: Option<usize>,
    /// Write a page with the response curve here.
    #[arg(long, value_name = "HTML")]
    pub report: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

fn statistic(text: &str) -> Result<Statistic, String> {
    let number = |text: &str| text.parse::<f64>().map_err(|_| "write mean, p90 or 0.9".to_owned());
    Ok(match text.strip_prefix('p') {
        None if text == "mean" => Statistic::Mean,
        Some(percent) => Statistic::Quantile(number(percent)? / 100.0),
        None => Statistic::Quantile(number(text)?),
    })
}

#[derive(Debug, Args)]
pub(crate) struct SimulateArguments {
    /// Kind of queue.
    #[arg(value_enum)]
    pub kind: SimulatedKind,
    #[command(flatten)]
    pub question: QuestionArguments,
    /// Jobs to simulate [default: 1000000, and up to ten times as many where servers are busy more
    /// than nine tenths of the time, so that intervals of quantiles keep their word].
    #[arg(long)]
    pub jobs: Option<u32>,
    /// Confidence of the intervals.
    #[arg(long, default_value_t = 0.95)]
    pub confidence: f64,
    /// Seed of the random numbers.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SimulatedKind {
    Mm1,
    Mmc,
    Mmck,
    Mg1,
    Ggc,
    Finite,
    Priority,
}

#[derive(Debug, Args)]
pub(crate) struct FitArguments {
    /// Table of measured times with a header.
    #[arg(long, value_name = "CSV", required_unless_present = "study", conflicts_with = "study")]
    pub data: Option<PathBuf>,
    /// Column of the service times.
    #[arg(long, requires = "data")]
    pub column: Option<String>,
    /// Unit of the times: us, ms, s, min or h.
    #[arg(long, requires = "data")]
    pub unit: Option<String>,
    /// Column of the times between arrivals, in the same unit.
    #[arg(long, value_name = "COLUMN", requires = "data")]
    pub interarrival: Option<String>,
    /// Study whose finished trials are the measurements.
    #[arg(long)]
    pub study: Option<PathBuf>,
    /// Metric that is the service time.
    #[arg(long, requires = "study")]
    pub metric: Option<String>,
    /// Store of the trials [default: trainwright.db beside the study].
    #[arg(long, value_name = "FILE", requires = "study")]
    pub store: Option<PathBuf>,
    /// Only rows or trials where a column or factor has this value.
    #[arg(long = "where", value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub conditions: Vec<(String, String)>,
    /// Rate of arrivals to judge the queue at, such as 40/h.
    #[arg(long, value_name = "RATE")]
    pub arrival: Option<Rate>,
    /// Servers.
    #[arg(long, default_value_t = 1)]
    pub servers: u32,
    /// Seed of the bootstrap.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

pub(crate) fn name_and_value(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE, such as lr=0.01")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}
