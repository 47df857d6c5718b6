//! What came out of a source, as it is told and as `dataset.json` keeps it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A finished set of shards.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prepared {
    /// Records over all parts.
    pub records: u64,
    /// Bytes over all shards.
    pub bytes: u64,
    /// Names of the classes in the order of their labels; none when labels are no classes.
    pub classes: Vec<String>,
    /// Parts in order; one with an empty name when there is no split.
    pub parts: Vec<PreparedPart>,
    /// Items that were left out.
    pub corrupt: Vec<CorruptItem>,
    /// Files of the source that are no pictures by their names, or no regular files.
    pub passed_over: Vec<String>,
    /// Shards that an earlier run finished, that were changed since, and that were made again.
    #[serde(skip)]
    pub remade: Vec<String>,
    /// Whether an earlier run made all of it, of which only the sizes were looked at now.
    #[serde(skip)]
    pub made_before: bool,
}

/// The shards of one part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PreparedPart {
    /// `train`, `validation`, `test`, or empty.
    pub name: String,
    /// Its shards in order.
    pub shards: Vec<PreparedShard>,
}

/// One shard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PreparedShard {
    /// Path below the folder.
    pub file: String,
    /// Records in it.
    pub records: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// An item that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CorruptItem {
    /// Its name in the source.
    pub name: String,
    /// What is wrong with it.
    pub problem: String,
}

impl fmt::Display for CorruptItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.problem)
    }
}
