//! Servers own the parameters; workers pull them and push gradients.
//!
//! Rank 0 leads: it runs the loop, scores and keeps the job, and computes no gradients. The ranks
//! after it are workers, the last ones servers: processes that it starts, processes that join, or,
//! where no way to come is given, threads of this process. What waits for what is the job's
//! consistency; see `trainwright_comm`.
//!
//! `leading.rs` is the learner that the loop drives, `working.rs` what a worker does, `roles.rs` who
//! is what, `restarting.rs` what becomes of a job whose server is lost; `recording.rs` and
//! `replaying.rs` are for runs that can be computed again.

mod leading;
mod recording;
mod replaying;
mod restarting;
mod roles;
mod step_words;
mod working;

use std::path::Path;
use std::thread;
use std::time::Instant;

use trainwright_comm::{Consistency as Rule, Group, Leader, Line, Owner, Server, Worker};
use trainwright_records::pictures::PixelLimit;
use trainwright_study::{Consistency, JobSpec, NetworkName};

use super::multi_worker::{gathered, hand_job};
use super::rank::{largest_batch, opened};
use crate::checkpoints::keeper::goes_on;
use crate::error::TrainError;
use crate::events::TrainOutcome;
use crate::input::Pictures;
use crate::learners::dense::DenseLearner;
use crate::learners::dense::served::{DensePiece, DensePupil};
use crate::learners::served::{Pupil, Served};
use crate::learners::sparse::served::{OwnedRows, SparsePupil};
use crate::learners::sparse::{SparseLearner, SparseSplits};
use crate::train::{Listener, TrainOptions, run};
use leading::ServedLearner;
use replaying::ReplayedLearner;
use restarting::{Next, Restarts};
use roles::{Cast, Role, role_of};

/// Most bytes of a message that are not numbers of the model.
const MESSAGE_BYTES: usize = 1 << 24;

/// How many times the numbers of the model a message may hold: nodes of a tree, and what an
/// optimiser remembers.
const MESSAGE_VECTORS: usize = 64;

/// What a job learns from, whatever its network.
enum Material {
    Pictures(Pictures),
    Sparse(SparseSplits),
}

/// Trains a job as the leader of its workers and servers.
///
/// # Errors
/// When its data cannot be read, its network not be built, or more is lost than it can do without.
pub(crate) fn train(
    job: &JobSpec,
    options: &TrainOptions,
    on_event: Listener<'_>,
) -> Result<TrainOutcome, TrainError> {
    let (material, load_s) = Material::open(job, options.max_pixels)?;
    let mut again = Restarts::new(job, options);
    let mut options = options.clone();
    loop {
        let begins = JobSpec {
            // The checkpoint has all that pretrained weights would be changed into.
            weights: job.weights.clone().filter(|_| !goes_on(options.checkpoint.as_ref())),
            ..job.clone()
        };
        let outcome = match &material {
            Material::Pictures(pictures) => {
                let largest = largest_batch(job, pictures);
                let inner = DenseLearner::new(&begins, pictures, largest)?;
                lead(job, &options, &material, inner, load_s, on_event)
            }
            Material::Sparse(splits) => {
                let inner = SparseLearner::new(&begins, splits)?;
                lead(job, &options, &material, inner, load_s, on_event)
            }
        };
        options = match again.after(outcome, on_event) {
            Next::Over(outcome) => return outcome,
            Next::Again(options) => options,
        };
    }
}

/// Works for a job as one of its workers or servers, after the leader has handed out the job.
///
/// # Errors
/// When its data cannot be read, or the leader is lost.
pub(super) fn follow(
    group: Group,
    job: &JobSpec,
    limit: Option<PixelLimit>,
) -> Result<(), TrainError> {
    let rank = group.rank();
    // Connected first: signs of life go on while the data is read, however long that takes.
    let lines = group.into_lines()?;
    let (material, _) = Material::open(job, limit)?;
    take_part(job, &material, rank, lines)
}

/// Runs the loop over an inner learner whose parameters are with servers.
fn lead<L: Served>(
    job: &JobSpec,
    options: &TrainOptions,
    material: &Material,
    inner: L,
    load_s: f64,
    on_event: Listener<'_>,
) -> Result<TrainOutcome, TrainError> {
    if let Some(path) = &options.replay {
        return replay(job, options, (material, path), inner, load_s, on_event);
    }
    let lead = |lines: Vec<Option<Line>>, on_event: Listener<'_>| {
        let Cast { workers, servers, .. } = Cast::of_leader(job, lines);
        let mut leader = Leader::new(workers, servers, rule_of(job), material.longest(job))?;
        // Reading data is no part of training, here as anywhere.
        let came = leader.wait_for_all().map_err(TrainError::from);
        came.map_err(|error| roles::explained(job, error, options))?;
        let mut learner = ServedLearner::new(job, inner, leader, options.record.as_deref())?;
        let outcome = run(job, options, &mut learner, load_s, on_event);
        // Whoever still works is sent home, whatever came of it.
        let ended = learner.end();
        let outcome = outcome.map_err(|error| roles::explained(job, error, options))?;
        ended?;
        Ok(outcome)
    };
    match &options.workers {
        None => on_threads(job, material, |lines| lead(lines, on_event)),
        Some(_) => {
            let (group, started) = gathered(roles::ranks(job), options)?;
            let mut group = group.expect("a job with servers has several ranks");
            hand_job(&mut group, job, options)?;
            let outcome = group.into_lines().map_err(TrainError::from);
            let outcome = outcome.and_then(|lines| lead(lines, on_event));
            // One that was given up may never end by itself.
            started.end_soon();
            outcome
        }
    }
}

/// Computes a recorded run again, alone.
fn replay<L: Served>(
    job: &JobSpec,
    options: &TrainOptions,
    (material, path): (&Material, &Path),
    inner: L,
    load_s: f64,
    on_event: Listener<'_>,
) -> Result<TrainOutcome, TrainError> {
    let servers = job.servers as usize;
    match material {
        Material::Pictures(pictures) => {
            let piece = |server| DensePiece::new(job, pictures, server, servers);
            let owners = (0..servers).map(piece).collect::<Result<Vec<_>, _>>()?;
            let pupil = DensePupil::new(job, pictures, largest_batch(job, pictures), servers)?;
            let mut learner = ReplayedLearner::new(job, inner, pupil, owners, path)?;
            run(job, options, &mut learner, load_s, on_event)
        }
        Material::Sparse(splits) => {
            let piece = |server| OwnedRows::new(job, splits.rows(), server, servers);
            let owners = (0..servers).map(piece).collect();
            let pupil = SparsePupil::new(job, splits, servers)?;
            let mut learner = ReplayedLearner::new(job, inner, pupil, owners, path)?;
            run(job, options, &mut learner, load_s, on_event)
        }
    }
}

/// Leads in this thread, with workers and servers on others.
fn on_threads(
    job: &JobSpec,
    material: &Material,
    lead: impl FnOnce(Vec<Option<Line>>) -> Result<TrainOutcome, TrainError>,
) -> Result<TrainOutcome, TrainError> {
    let mut lines = Line::threads(roles::ranks(job)).into_iter();
    let of_leader = lines.next().expect("a job has a leader");
    thread::scope(|scope| {
        let others: Vec<_> = (1..)
            .zip(lines)
            .map(|(rank, lines)| scope.spawn(move || take_part(job, material, rank, lines)))
            .collect();
        let outcome = lead(of_leader);
        let mut cause = None;
        for (rank, other) in (1..).zip(others) {
            match other.join() {
                Ok(Err(error)) if !matches!(error, TrainError::Together(_)) => {
                    cause.get_or_insert(TrainError::Replica { rank, error: Box::new(error) });
                }
                Ok(_) => {}
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        match (outcome, cause) {
            // That a worker is lost says less than why.
            (Err(_), Some(cause)) => Err(cause),
            (outcome, _) => outcome,
        }
    })
}

/// Is the worker or server of a rank until the job ends.
fn take_part(
    job: &JobSpec,
    material: &Material,
    rank: usize,
    lines: Vec<Option<Line>>,
) -> Result<(), TrainError> {
    let (role, most) = (role_of(job, rank), material.longest(job));
    let Cast { leader, workers, servers } = Cast::of_follower(job, role, lines)?;
    // Parameters come from the leader.
    let job = &JobSpec { weights: None, ..job.clone() };
    let count = job.servers as usize;
    match (role, material) {
        (Role::Worker(_), Material::Pictures(pictures)) => {
            let worker = Worker::new(leader, servers, most);
            let largest = largest_batch(job, pictures);
            work(job, worker, rank, DensePupil::new(job, pictures, largest, count))
        }
        (Role::Worker(_), Material::Sparse(splits)) => {
            let worker = Worker::new(leader, servers, most);
            work(job, worker, rank, SparsePupil::new(job, splits, count))
        }
        (Role::Server(server), Material::Pictures(pictures)) => {
            serve(DensePiece::new(job, pictures, server, count)?, leader, workers, most)
        }
        (Role::Server(server), Material::Sparse(splits)) => {
            let rows = OwnedRows::new(job, splits.rows(), server, count);
            serve(rows, leader, workers, most)
        }
    }
}

fn work<P: Pupil>(
    job: &JobSpec,
    worker: Worker,
    rank: usize,
    pupil: Result<P, TrainError>,
) -> Result<(), TrainError> {
    match pupil {
        Ok(pupil) => working::work(job, worker, rank, pupil),
        Err(error) => {
            worker.fail(&error.to_string(), None);
            Err(error)
        }
    }
}

fn serve<O: Owner + 'static>(
    owner: O,
    leader: Line,
    workers: Vec<Line>,
    most: usize,
) -> Result<(), TrainError> {
    Ok(Server::new(owner).serve(leader, workers, most)?)
}

/// What an update waits for.
fn rule_of(job: &JobSpec) -> Rule {
    match job.consistency {
        Consistency::Sync => Rule::Sync { backup: job.backup as usize },
        Consistency::Async => Rule::Async,
        Consistency::Bounded => Rule::Bounded { slack: job.staleness.into() },
    }
}

impl Material {
    /// Opens what a job learns from, and tells the seconds that it took.
    fn open(job: &JobSpec, limit: Option<PixelLimit>) -> Result<(Self, f64), TrainError> {
        if job.network != NetworkName::Logistic {
            let (pictures, load_s) = opened(job, limit)?;
            return Ok((Self::Pictures(pictures), load_s));
        }
        let start = Instant::now();
        let splits = SparseSplits::load(job)?;
        Ok((Self::Sparse(splits), start.elapsed().as_secs_f64()))
    }

    /// Most bytes of a message of the job.
    fn longest(&self, job: &JobSpec) -> usize {
        let numbers = match self {
            Self::Pictures(pictures) => DenseLearner::numbers(job, pictures),
            Self::Sparse(splits) => splits.rows(),
        };
        numbers.saturating_mul(4 * MESSAGE_VECTORS).saturating_add(MESSAGE_BYTES)
    }
}
