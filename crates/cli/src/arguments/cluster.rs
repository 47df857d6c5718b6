//! Arguments that say what runs a verb: this machine, or a Spark cluster.

use clap::{Args, Subcommand, ValueEnum};
use trainwright::Error;
use trainwright_study::{EngineSpec, SparkSpec};

/// Where the work is done.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct ClusterArguments {
    /// What does the work: this machine, or a Spark cluster.
    #[arg(long, value_enum)]
    pub engine: Option<EngineArgument>,
    /// The Spark cluster, as spark-submit names it: spark://host:7077, local[2],
    /// local-cluster[2,1,1024], yarn, k8s://https://host:443.
    #[arg(long, value_name = "MASTER")]
    pub master: Option<String>,
    /// A setting of Spark, such as spark.executor.memory=2g; once for each.
    #[arg(long = "conf", value_name = "NAME=VALUE", value_parser = setting)]
    pub conf: Vec<(String, String)>,
}

/// What does the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineArgument {
    /// This machine.
    Local,
    /// A Spark cluster.
    Spark,
}

impl ClusterArguments {
    /// What was asked for instead of what a study says; nothing where nothing was.
    pub(crate) fn instead_of(&self, study: &EngineSpec) -> Result<Option<EngineSpec>, Error> {
        let known = match study {
            EngineSpec::Spark(spark) => Some(spark),
            EngineSpec::Local => None,
        };
        let any = self.master.is_some() || !self.conf.is_empty();
        match self.engine {
            None if any && known.is_none() => {
                let message = "--master and --conf are for a cluster: add --engine spark";
                Err(Error::Request(message.to_owned()))
            }
            Some(EngineArgument::Local) if any => {
                let message = "--master and --conf are for --engine spark, not for local";
                Err(Error::Request(message.to_owned()))
            }
            None if !any => Ok(None),
            Some(EngineArgument::Local) => Ok(Some(EngineSpec::Local)),
            None | Some(EngineArgument::Spark) => {
                let mut spark = known.cloned().unwrap_or_default();
                spark.master = self.master.clone().unwrap_or(spark.master);
                spark.conf.extend(self.conf.iter().cloned());
                if spark.master.is_empty() {
                    let message = "--engine spark needs --master, such as --master \
                                   spark://host:7077 or --master 'local[2]'";
                    return Err(Error::Request(message.to_owned()));
                }
                Ok(Some(EngineSpec::Spark(spark)))
            }
        }
    }

    /// The cluster that was asked for; nothing for this machine.
    pub(crate) fn spark(&self) -> Result<Option<SparkSpec>, Error> {
        match self.instead_of(&EngineSpec::Local)? {
            Some(EngineSpec::Spark(spark)) => Ok(Some(spark)),
            Some(EngineSpec::Local) | None => Ok(None),
        }
    }
}

fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.to_owned()))
        }
        _ => Err("write a name and a value, such as spark.executor.memory=2g".to_owned()),
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum EngineVerb {
    /// Install what an engine needs, in the user's data folder.
    ///
    /// For Spark: a Python virtual environment with pyspark of a fixed version. Java is not
    /// installed; where it is missing, the message says how to get it.
    #[command(after_help = "Example:\n  trainwright engine setup spark")]
    Setup(SetupArguments),
}

#[derive(Debug, Args)]
pub(crate) struct SetupArguments {
    /// The engine.
    #[arg(value_parser = ["spark"])]
    pub engine: String,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(engine: Option<EngineArgument>, master: Option<&str>) -> ClusterArguments {
        ClusterArguments { engine, master: master.map(str::to_owned), conf: Vec::new() }
    }

    #[test]
    fn a_setting_is_a_name_and_a_value() {
        let pair = |a: &str, b: &str| Ok((a.to_owned(), b.to_owned()));
        assert_eq!(setting("a.b=c=d"), pair("a.b", "c=d"));
        assert!(setting("a.b").is_err() && setting("=c").is_err());
    }

    #[test]
    fn a_cluster_needs_a_name_and_this_machine_has_none() {
        let spark = Some(EngineArgument::Spark);
        assert!(asked(spark, None).spark().is_err());
        assert_eq!(asked(spark, Some("yarn")).spark().unwrap().unwrap().master, "yarn");
        assert!(asked(None, Some("yarn")).spark().is_err());
        assert!(asked(Some(EngineArgument::Local), Some("yarn")).spark().is_err());
        assert_eq!(asked(None, None).spark().unwrap(), None);
    }

    #[test]
    fn what_is_asked_for_takes_the_place_of_what_the_study_says() {
        let study = EngineSpec::Spark(SparkSpec {
            master: "spark://a:1".to_owned(),
            conf: [("x".to_owned(), "1".to_owned())].into(),
        });
        assert_eq!(asked(None, None).instead_of(&study).unwrap(), None);
        let local = asked(Some(EngineArgument::Local), None).instead_of(&study).unwrap();
        assert_eq!(local, Some(EngineSpec::Local));
        let Some(EngineSpec::Spark(other)) =
            asked(None, Some("local[2]")).instead_of(&study).unwrap()
        else {
            panic!()
        };
        assert_eq!((other.master.as_str(), other.conf.len()), ("local[2]", 1));
        let same = asked(Some(EngineArgument::Spark), None).instead_of(&study).unwrap();
        assert_eq!(same, Some(study));
    }
}
