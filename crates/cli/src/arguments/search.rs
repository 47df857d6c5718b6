//! Arguments of `search`, `ask` and `tell`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;

use super::{Acceptable, ClusterArguments, StudyArguments};

#[derive(Debug, Args)]
pub(crate) struct SearchArguments {
    #[command(flatten)]
    pub common: StudyArguments,
    /// Run nothing: tell what the trials so far have found.
    #[arg(long)]
    pub explain: bool,
    /// Do not flush each finished trial to disk; for studies of very short trials.
    #[arg(long)]
    pub no_flush: bool,
    /// Accept a change of the study although trials have run; the analysis tells of it.
    #[arg(long, value_name = "WHAT")]
    pub accept: Vec<Acceptable>,
    /// Write the report here at the end.
    #[arg(long, value_name = "HTML")]
    pub report: Option<PathBuf>,
    /// Trials at the same time [default: what the study says].
    #[arg(long, value_name = "N")]
    pub slots: Option<NonZeroU32>,
    #[command(flatten)]
    pub cluster: ClusterArguments,
}

#[derive(Debug, Args)]
pub(crate) struct AskArguments {
    #[command(flatten)]
    pub common: StudyArguments,
    /// Trials to ask for, which run side by side.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub count: u32,
}

#[derive(Debug, Args)]
pub(crate) struct TellArguments {
    #[command(flatten)]
    pub common: StudyArguments,
    /// Number of the trial.
    #[arg(long, value_name = "N")]
    pub trial: u32,
    /// A metric and its value, such as `loss=0.25`; once for each metric.
    #[arg(long = "value", value_name = "METRIC=VALUE", value_parser = metric_and_value)]
    pub values: Vec<(String, f64)>,
    /// The trial failed, and why.
    #[arg(long, value_name = "REASON")]
    pub failed: Option<String>,
    /// Seconds that the trial took.
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub seconds: Option<f64>,
}

fn metric_and_value(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| "write a metric and its value, such as loss=0.25".to_owned())?;
    let number = value.trim().parse().map_err(|_| format!("`{value}` is no number"))?;
    Ok((name.trim().to_owned(), number))
}

fn seconds(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| format!("`{text}` is no number"))?;
    if number.is_finite() && number >= 0.0 {
        Ok(number)
    } else {
        Err("seconds are 0 or more".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_a_name_and_a_number() {
        assert_eq!(metric_and_value("loss = 0.25"), Ok(("loss".to_owned(), 0.25)));
        assert!(metric_and_value("loss").is_err() && metric_and_value("loss=low").is_err());
        assert!(metric_and_value("loss=nan").is_ok_and(|(_, value)| value.is_nan()));
        assert!(seconds("-1").is_err() && seconds("inf").is_err());
        assert_eq!(seconds("2.5"), Ok(2.5));
    }
}
