//! What a trial ran on.

use serde::{Deserialize, Serialize};

/// The machine and the code a trial ran on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Host name.
    pub host: String,
    /// Processor, as the kernel calls it.
    pub cpu: String,
    /// Logical cores that the runner may use.
    pub cores: u32,
    /// Memory of the machine.
    pub memory_bytes: u64,
    /// Operating system and kernel release.
    pub system: String,
    /// Version of this program.
    pub trainwright: String,
    /// Commit of the study's folder, if it is a git checkout.
    pub git_commit: Option<String>,
    /// Whether that folder had uncommitted changes.
    pub git_dirty: Option<bool>,
}
