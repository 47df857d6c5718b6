//! Why a job could not be trained; a job that diverges or is stopped is no error.

use trainwright_networks::NetworksError;
use trainwright_records::RecordsError;
use trainwright_study::JobError;

/// Why a job could not be trained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message documents its variant")]
pub enum TrainError {
    #[error(transparent)]
    Job(#[from] JobError),
    #[error(transparent)]
    Data(#[from] RecordsError),
    #[error(transparent)]
    Network(#[from] NetworksError),
}
