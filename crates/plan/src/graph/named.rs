//! Graphs that a name gives.

use crate::error::PlanError;
use crate::graph::{OperatorGraph, convolutional, inception, recurrent, transformer};

/// The names, with the batch of the published measurements.
pub const NAMED_GRAPHS: [(&str, u64); 9] = [
    ("alexnet", 256),
    ("inception-v3", 64),
    ("resnet-101", 64),
    ("rnntc", 64),
    ("rnnlm", 64),
    ("nmt", 64),
    ("transformer", 64),
    ("lenet", 64),
    ("rnnlm-2", 64),
];

/// The graph of a name, for a batch or else for that of the published measurements.
///
/// ```
/// use trainwright_plan::named_graph;
///
/// let alexnet = named_graph("alexnet", None)?;
/// // 61 million parameters: Krizhevsky, "One weird trick", 2014, on a single tower.
/// assert_eq!(alexnet.parameters() / 1_000_000, 61);
/// # Ok::<(), trainwright_plan::PlanError>(())
/// ```
///
/// # Errors
/// When no graph has that name, or the batch is no number of examples.
pub fn named_graph(name: &str, batch: Option<u64>) -> Result<OperatorGraph, PlanError> {
    let Some(&(_, usual)) = NAMED_GRAPHS.iter().find(|(own, _)| *own == name) else {
        let known = NAMED_GRAPHS.map(|(own, _)| own).join(", ");
        return Err(PlanError::UnknownGraph { name: name.to_owned(), known });
    };
    let graph = match name {
        "alexnet" => convolutional::alexnet(usual),
        "inception-v3" => inception::inception_v3(usual),
        "resnet-101" => convolutional::resnet_101(usual),
        "rnntc" => recurrent::rnntc(usual),
        "rnnlm" => recurrent::rnnlm(usual, 40),
        "rnnlm-2" => recurrent::rnnlm_short(usual),
        "nmt" => recurrent::nmt(usual),
        "transformer" => transformer::transformer(usual),
        _ => convolutional::lenet(usual),
    };
    graph.with_batch(batch.unwrap_or(usual))
}
