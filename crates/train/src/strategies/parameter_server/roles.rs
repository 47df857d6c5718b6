//! Who is what among the ranks of a job with servers.

use trainwright_comm::{CommError, Line};
use trainwright_study::JobSpec;

use crate::checkpoints::last_checkpoint;
use crate::error::TrainError;
use crate::train::TrainOptions;

/// What a rank does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Computes gradients; counted from 0.
    Worker(usize),
    /// Owns a piece of the parameters; counted from 0.
    Server(usize),
}

/// The lines of a rank, by what is at their other ends.
pub(super) struct Cast<L> {
    pub(super) leader: L,
    pub(super) workers: Vec<Line>,
    pub(super) servers: Vec<Line>,
}

/// Ranks of a job: a leader, its workers, its servers.
pub(super) fn ranks(job: &JobSpec) -> usize {
    1 + (job.workers + job.servers) as usize
}

/// What a rank from 1 on does.
pub(super) fn role_of(job: &JobSpec, rank: usize) -> Role {
    let workers = job.workers as usize;
    if rank <= workers { Role::Worker(rank - 1) } else { Role::Server(rank - 1 - workers) }
}

impl Cast<()> {
    /// The lines of the leader.
    pub(super) fn of_leader(job: &JobSpec, lines: Vec<Option<Line>>) -> Self {
        let mut workers: Vec<Line> = lines.into_iter().flatten().collect();
        let servers = workers.split_off(job.workers as usize);
        Self { leader: (), workers, servers }
    }
}

impl Cast<Line> {
    /// The lines of a worker or server that it needs; the others end.
    ///
    /// # Errors
    /// When there is no line to the leader.
    pub(super) fn of_follower(
        job: &JobSpec,
        role: Role,
        lines: Vec<Option<Line>>,
    ) -> Result<Self, TrainError> {
        let (mut leader, mut workers, mut servers) = (None, Vec::new(), Vec::new());
        for (rank, line) in lines.into_iter().enumerate() {
            let Some(line) = line else { continue };
            match (rank, role) {
                (0, _) => leader = Some(line),
                (_, Role::Worker(_)) if matches!(role_of(job, rank), Role::Server(_)) => {
                    servers.push(line);
                }
                (_, Role::Server(_)) if matches!(role_of(job, rank), Role::Worker(_)) => {
                    workers.push(line);
                }
                _ => {}
            }
        }
        let leader = leader.ok_or(TrainError::UnknownOrder)?;
        Ok(Self { leader, workers, servers })
    }
}

/// A rank in words.
pub(super) fn in_words(job: &JobSpec, rank: usize) -> String {
    match (rank, role_of(job, rank.max(1))) {
        (0, _) => "the leader".to_owned(),
        (_, Role::Worker(worker)) => format!("worker {}", worker + 1),
        (_, Role::Server(server)) => format!("server {}", server + 1),
    }
}

/// A loss is told with what was lost, and with the checkpoint from which the job can go on.
pub(super) fn explained(job: &JobSpec, error: TrainError, options: &TrainOptions) -> TrainError {
    let TrainError::Together(error) = error else { return error };
    let folder = options.checkpoint.as_ref().map(|own| own.folder.as_path());
    let checkpoint = folder.and_then(last_checkpoint);
    match *error {
        CommError::PeerLost { rank, .. } | CommError::Failed { rank, .. } => {
            let who = in_words(job, rank);
            TrainError::LostRole { who, error, checkpoint }
        }
        _ => TrainError::Lost { error, checkpoint },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(workers: u32, servers: u32) -> JobSpec {
        let keys = serde_json::json!({
            "network": "mlp", "data": "d", "seed": 1, "strategy": "parameter-server",
            "workers": workers, "servers": servers,
        });
        serde_json::from_value(keys).unwrap()
    }

    #[test]
    fn workers_come_before_servers() {
        let job = job(2, 3);
        assert_eq!(ranks(&job), 6);
        let roles: Vec<String> = (0..6).map(|rank| in_words(&job, rank)).collect();
        let expected = ["the leader", "worker 1", "worker 2", "server 1", "server 2", "server 3"];
        assert_eq!(roles, expected);
    }

    #[test]
    fn each_keeps_the_lines_to_those_that_it_talks_to() {
        let job = job(2, 3);
        let mut lines = Line::threads(6);
        let peers = |lines: &[Line]| lines.iter().map(Line::peer).collect::<Vec<_>>();
        let server = lines.pop().unwrap();
        let cast = Cast::of_follower(&job, role_of(&job, 5), server).unwrap();
        assert_eq!((cast.leader.peer(), peers(&cast.workers)), (0, vec![1, 2]));
        assert!(cast.servers.is_empty());
        let worker = lines.remove(1);
        let cast = Cast::of_follower(&job, role_of(&job, 1), worker).unwrap();
        assert_eq!((cast.leader.peer(), peers(&cast.servers)), (0, vec![3, 4, 5]));
        let cast = Cast::of_leader(&job, lines.remove(0));
        assert_eq!((peers(&cast.workers), peers(&cast.servers)), (vec![1, 2], vec![3, 4, 5]));
    }
}
