//! How the layers of a job's network are split over ranks, as a plan says.

use serde::{Deserialize, Serialize};

/// Layers split over the ranks of a job: a grid of ranks, or stages of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobSplit {
    /// Ranks that share the examples of a step.
    pub data: u32,
    /// Ranks that share each layer which is cut.
    #[serde(default = "one")]
    pub tensor: u32,
    /// Layers that are cut, and how.
    #[serde(default)]
    pub layers: Vec<CutLayer>,
    /// Stages, where layers are dealt out instead of cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<JobPipeline>,
}

/// A layer that is cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CutLayer {
    /// Its name.
    pub name: String,
    /// How it is cut.
    pub cut: Cut,
}

/// How the weights of a layer are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// By outputs: each rank computes some of them.
    Outputs,
    /// By inputs: each rank adds up some of them.
    Inputs,
    /// Not at all: each rank has some of the examples.
    Samples,
}

/// Stages of layers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobPipeline {
    /// The layers that begin stages; the first is the network's first.
    pub begins: Vec<String>,
    /// Parts of a batch.
    pub micro_batches: u32,
    /// The order of work.
    pub order: StageOrder,
}

/// In which order a stage works on micro-batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StageOrder {
    /// All forward, then all backward.
    Gpipe,
    /// One forward, one backward.
    OneForwardOneBackward,
}

fn one() -> u32 {
    1
}

impl JobSplit {
    /// How many ranks it takes.
    pub fn ranks(&self) -> u32 {
        let stages = self.pipeline.as_ref().map_or(1, |own| own.begins.len() as u32);
        self.data * self.tensor * stages
    }
}
