//! An application of Spark for one verb, and what is told of it.

use std::path::Path;

use serde::Serialize;
use trainwright_engine::EngineError;
use trainwright_engine::spark::{Application, SparkDriver, SparkOptions};
use trainwright_study::{ClusterTask, SparkSpec};

use crate::Error;

/// Partitions for each core, unless the user says otherwise: enough that a slow one holds nobody up.
const PARTITIONS_PER_CORE: u32 = 3;

/// Seconds without another executor after which those that are there count as all.
const SETTLED_SECONDS: f64 = 1.5;

/// How a verb uses a cluster.
#[derive(Debug, Clone)]
pub struct SparkRequest<'a> {
    /// The cluster.
    pub spark: SparkSpec,
    /// Partitions to spread tasks over; two to four for each core where absent.
    pub partitions: Option<u32>,
    /// This program, which executors run.
    pub program: &'a Path,
}

/// What a cluster did for a verb.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ClusterReply {
    /// The application.
    #[serde(flatten)]
    pub application: Application,
    /// Tasks that could run at once.
    pub slots: u32,
    /// Partitions that the work was spread over, or ranks of a gang.
    pub partitions: u32,
    /// Attempts at them: where, when, and what their processes used.
    pub tasks: Vec<ClusterTask>,
}

/// A verb's reply with what the cluster did for it.
#[derive(Debug, Clone, Serialize)]
pub struct OnCluster<T> {
    /// The verb's reply.
    #[serde(flatten)]
    pub reply: T,
    /// What the cluster did.
    pub cluster: ClusterReply,
}

/// A cluster and the settings that suit a kind of work.
pub(crate) struct ClusterUse<'a> {
    pub(crate) spark: &'a SparkSpec,
    pub(crate) program: &'a Path,
    /// Settings that the user's own take the place of.
    pub(crate) suited: &'a [(&'a str, &'a str)],
}

impl ClusterUse<'_> {
    /// Starts the application; `tell` hears of it, and `goes_on` may give it up.
    ///
    /// # Errors
    /// When Spark is not there, the cluster gives no executor, or the user has stopped it.
    pub(crate) fn start(
        &self,
        goes_on: &dyn Fn() -> bool,
        tell: &mut dyn FnMut(String),
    ) -> Result<SparkDriver, Error> {
        let SparkSpec { master, conf } = self.spark;
        let suited = self.suited.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let options = SparkOptions {
            master: master.clone(),
            conf: conf.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            suited: suited.collect(),
            program: self.program.to_owned(),
        };
        tell(format!("starting Spark on {master}"));
        let driver = SparkDriver::start(&options, goes_on).map_err(|error| match error {
            EngineError::StartGivenUp => Error::GivenUp,
            other => other.into(),
        })?;
        let Application { id, version, ui } = driver.application();
        let pages = ui.as_ref().map_or_else(String::new, |ui| format!(", pages at {ui}"));
        tell(format!("Spark {version} runs {id}{pages}"));
        Ok(driver)
    }
}

/// Slots of a cluster, and the partitions that so many tasks are spread over.
pub(crate) fn spread(
    driver: &SparkDriver,
    asked: Option<u32>,
    tasks: usize,
) -> Result<(u32, u32), Error> {
    let slots = driver.slots_within(u32::MAX, SETTLED_SECONDS)?.max(1);
    let wanted = asked.unwrap_or_else(|| slots.saturating_mul(PARTITIONS_PER_CORE));
    Ok((slots, wanted.clamp(1, u32::try_from(tasks.max(1)).unwrap_or(u32::MAX))))
}

/// An absolute path, for executors whose working folder is another; addresses stay as they are.
pub(crate) fn seen_from_anywhere(path: &Path) -> std::path::PathBuf {
    if trainwright_records::is_remote(path) {
        return path.to_owned();
    }
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
