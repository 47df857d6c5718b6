//! Worker processes share each batch and stay equal, here or on several machines.
//!
//! The process that is asked to train is rank 0. It starts the others itself, or waits until they
//! join; each gets the job from it.

mod started;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use trainwright_comm::{CommError, Coordinator, Group, JoinOptions, Secret, join};
use trainwright_networks::processor_kind;
use trainwright_records::pictures::PixelLimit;
use trainwright_study::{JobSpec, Strategy};

use super::parameter_server;
use super::rank::{follow, lead, opened};
use crate::checkpoints::last_checkpoint;
use crate::error::TrainError;
use crate::events::TrainOutcome;
use crate::train::{Listener, TrainOptions};
use started::StartedWorkers;

/// Most bytes of a job as JSON.
const LONGEST_JOB: usize = 1 << 20;

/// Where workers meet that are started on this machine.
const HERE: &str = "127.0.0.1:0";

/// Heart-beats that may be missed before the patience is over.
const HEARTBEATS: u32 = 10;

/// How the workers of a job come to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Workers {
    /// They are started here, by the words `worker --join ADDRESS --secret-file FILE` to this
    /// program.
    Started {
        /// The program.
        program: PathBuf,
    },
    /// They are started elsewhere and join.
    Joining {
        /// Address to listen on, such as `10.0.0.1:7000`.
        listen: String,
        /// File with the secret that all workers share.
        secret: PathBuf,
    },
    /// They are started elsewhere and have been told where rank 0 listens already.
    Gathering(Meeting),
}

/// A listener that is open, and the secret of those that come.
#[derive(Debug, Clone)]
pub struct Meeting {
    listener: Arc<TcpListener>,
    secret: Secret,
}

impl Meeting {
    /// A meeting at a listener.
    ///
    /// # Errors
    /// When the secret is too short.
    pub fn new(listener: TcpListener, secret: &[u8]) -> Result<Self, TrainError> {
        Ok(Self { listener: Arc::new(listener), secret: Secret::new(secret)? })
    }
}

impl PartialEq for Meeting {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.listener, &other.listener)
    }
}

impl Eq for Meeting {}

/// What a worker needs to join a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkRequest {
    /// Where rank 0 listens.
    pub join: String,
    /// File with the secret that all workers share.
    pub secret: PathBuf,
    /// The rank it wants to be; the next free one where `None`.
    pub rank: Option<usize>,
    /// Most pixels that a picture file may have; what the environment says where `None`.
    pub max_pixels: Option<PixelLimit>,
    /// How long another rank may be silent before it counts as lost; ten seconds where `None`.
    pub patience: Option<Duration>,
}

/// What rank 0 tells a worker when it has joined.
#[derive(Serialize, Deserialize)]
struct Assignment {
    job: JobSpec,
    /// Where rank 0 keeps the job.
    checkpoint: Option<PathBuf>,
}

/// Trains a job as rank 0 of its workers.
///
/// # Errors
/// When its data cannot be read, its network not be built, or a worker is missing or lost.
pub(crate) fn train(
    job: &JobSpec,
    options: &TrainOptions,
    on_event: Listener<'_>,
) -> Result<TrainOutcome, TrainError> {
    // What is wrong with the job is told before anything is started.
    let (pictures, load_s) = opened(job, options.max_pixels)?;
    let (mut group, started) = gathered(job.workers as usize, options)?;
    if let Some(group) = &mut group {
        hand_job(group, job, options)?;
    }
    let outcome = lead(group, job, options, (&pictures, load_s), on_event);
    let folder = options.checkpoint.as_ref().map(|own| own.folder.as_path());
    let outcome = outcome.map_err(|error| explained(error, folder));
    match &outcome {
        Ok(_) => started.wait(),
        // Those that still run would only wait for their own time to be up.
        Err(_) => started.end(),
    }
    outcome
}

/// Joins a job and works for it until its end.
///
/// # Errors
/// When it is refused, its data cannot be read, or another rank is lost.
pub fn work(request: &WorkRequest) -> Result<(), TrainError> {
    work_knowing(secret_in(&request.secret)?, request)
}

/// The same with a secret that is known, whatever file the request names.
///
/// # Errors
/// As for [`work`].
pub fn work_with_secret(secret: &[u8], request: &WorkRequest) -> Result<(), TrainError> {
    work_knowing(Secret::new(secret)?, request)
}

fn work_knowing(secret: Secret, request: &WorkRequest) -> Result<(), TrainError> {
    let mut group = join(&request.join, request.rank, join_options(secret, request.patience))?;
    let mut text = Vec::new();
    group.broadcast_bytes(&mut text, 0, LONGEST_JOB)?;
    let Assignment { job, checkpoint } =
        serde_json::from_slice(&text).map_err(|_| TrainError::UnknownOrder)?;
    if job.strategy == Strategy::ParameterServer {
        return parameter_server::follow(group, &job, request.max_pixels);
    }
    let (pictures, _) = opened(&job, request.max_pixels)?;
    follow(group, &job, &pictures).map_err(|error| explained(error, checkpoint.as_deref()))
}

/// Gives the job to all that have come.
///
/// # Errors
/// When one is lost.
pub(super) fn hand_job(
    group: &mut Group,
    job: &JobSpec,
    options: &TrainOptions,
) -> Result<(), TrainError> {
    let checkpoint = options.checkpoint.as_ref().map(|own| own.folder.clone());
    let assignment = Assignment { job: job.clone(), checkpoint };
    let mut text = serde_json::to_vec(&assignment).expect("it is made of texts and numbers");
    Ok(group.broadcast_bytes(&mut text, 0, LONGEST_JOB)?)
}

/// Processes that a job takes: one, or as many as its strategy spreads it over.
pub fn processes(job: &JobSpec) -> u32 {
    match job.strategy {
        Strategy::OneDevice | Strategy::Mirrored => 1,
        Strategy::MultiWorker | Strategy::LocalSgd => job.workers,
        Strategy::ParameterServer => 1 + job.workers + job.servers,
    }
}

/// Rank 0 of a group of so many; none for a single one.
///
/// # Errors
/// When one does not come.
pub(super) fn gathered(
    count: usize,
    options: &TrainOptions,
) -> Result<(Option<Group>, StartedWorkers), TrainError> {
    let patience = options.patience;
    if count == 1 {
        return Ok((None, StartedWorkers::none()));
    }
    match &options.workers {
        None => Err(TrainError::NoWorkers),
        Some(Workers::Joining { listen, secret }) => {
            let coordinator =
                Coordinator::listen(listen, join_options(secret_in(secret)?, patience))?;
            Ok((Some(coordinator.gather(count)?), StartedWorkers::none()))
        }
        Some(Workers::Gathering(meeting)) => {
            let cloned = meeting.listener.try_clone().map_err(TrainError::Meeting)?;
            let options = join_options(meeting.secret.clone(), patience);
            Ok((Some(Coordinator::over(cloned, options)?.gather(count)?), StartedWorkers::none()))
        }
        Some(Workers::Started { program }) => {
            let secret = Secret::random()?;
            let coordinator = Coordinator::listen(HERE, join_options(secret.clone(), patience))?;
            let address = coordinator.address().to_string();
            let started = StartedWorkers::start(program, count - 1, (&address, &secret), patience)?;
            match coordinator.gather(count) {
                Ok(group) => Ok((Some(group), started)),
                Err(error) => Err(started.why_missing().unwrap_or(error.into())),
            }
        }
    }
}

fn join_options(secret: Secret, patience: Option<Duration>) -> JoinOptions {
    let fingerprint = format!("trainwright {}, {}", env!("CARGO_PKG_VERSION"), processor_kind());
    let usual = JoinOptions::new(secret);
    let patience = patience.unwrap_or(usual.patience);
    let heartbeat = usual.heartbeat.min(patience / HEARTBEATS);
    JoinOptions { fingerprint, patience, heartbeat, ..usual }
}

fn secret_in(path: &Path) -> Result<Secret, CommError> {
    Secret::from_file(path)
}

/// A lost worker is told with the checkpoint from which the job can go on.
fn explained(error: TrainError, folder: Option<&Path>) -> TrainError {
    let TrainError::Together(error) = error else { return error };
    TrainError::Lost { error, checkpoint: folder.and_then(last_checkpoint) }
}
