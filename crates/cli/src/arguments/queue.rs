//! Arguments of `trainwright queue`.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct QueueArguments {
    /// Kind of queue.
    #[arg(value_enum)]
    pub kind: QueueKindArgument,
    /// Jobs that arrive in a unit of time.
    #[arg(long, value_name = "RATE")]
    pub arrival: f64,
    /// Jobs that one busy server ends in a unit of time.
    #[arg(long, value_name = "RATE")]
    pub service: f64,
    /// Servers [default: as many as the target needs].
    #[arg(long, value_name = "N")]
    pub servers: Option<u32>,
    /// Places, those in service included.
    #[arg(long, value_name = "N")]
    pub capacity: Option<u32>,
    /// Variance of the times between arrivals over their squared mean.
    #[arg(long, value_name = "SCV")]
    pub scv_arrival: Option<f64>,
    /// Variance of the service times over their squared mean.
    #[arg(long, value_name = "SCV")]
    pub scv_service: Option<f64>,
    /// Mean response to keep within; asks for servers and the largest rate.
    #[arg(long, value_name = "TIME")]
    pub target_response: Option<f64>,
    /// Fraction of the jobs that must keep within the target, instead of the mean.
    #[arg(long, value_name = "FRACTION", requires = "target_response")]
    pub quantile: Option<f64>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum QueueKindArgument {
    /// Poisson arrivals, exponential service, one server.
    Mm1,
    /// Poisson arrivals, exponential service, several servers.
    Mmc,
    /// The same with a limited number of places.
    Mmck,
    /// Poisson arrivals, any service, one server.
    Mg1,
    /// Any arrivals, any service, several servers: an approximation.
    Ggc,
}
