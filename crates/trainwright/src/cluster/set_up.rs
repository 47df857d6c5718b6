//! The verb `engine setup`: installs what an engine needs.

use serde::Serialize;
use trainwright_engine::spark::{Setup, set_up_spark};

use crate::Error;

/// What was installed.
#[derive(Debug, Clone, Serialize)]
pub struct SetUpReply {
    /// The engine.
    pub engine: &'static str,
    /// What is there now.
    #[serde(flatten)]
    pub setup: Setup,
}

/// Installs pyspark in a virtual environment of the user's data folder, unless it is there.
///
/// # Errors
/// When Python or Java is missing, or pyspark cannot be fetched.
pub fn set_up() -> Result<SetUpReply, Error> {
    Ok(SetUpReply { engine: "spark", setup: set_up_spark()? })
}
