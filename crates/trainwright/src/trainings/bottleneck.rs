//! What bound a training: the accounts of its ranks, what the machine did meanwhile, and what it
//! can do.

use std::fs;
use std::path::Path;
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use trainwright_analysis::{Link, MachineUse, Pace, RankAccount, TrainingAccount};
use trainwright_probe::{machine, parse_io};
use trainwright_study::{Capacities, JobSpec, ReadFrom, Strategy};
use trainwright_train::{Done, RankTimes, Workers};

use crate::questions::machine::kept_capacities;

/// The machine before a training.
pub(super) struct MachineBefore {
    begun: Instant,
    cpu_s: Option<f64>,
    disk_read_bytes: Option<u64>,
}

impl MachineBefore {
    pub(super) fn now() -> Self {
        Self { begun: Instant::now(), cpu_s: cpu_s(), disk_read_bytes: disk_read_bytes() }
    }

    /// What this process and those that it started did since then.
    fn until_now(&self, capacities: Option<&Capacities>) -> MachineUse {
        let wall = self.begun.elapsed().as_secs_f64();
        let disk = capacities.and_then(|own| own.disk.as_ref());
        let disk = disk.filter(|own| own.read_from == ReadFrom::Storage);
        MachineUse {
            run_queue_s: None,
            disk_read_bytes: disk_read_bytes().zip(self.disk_read_bytes).map(|(now, then)| now - then),
            disk_bytes_per_s: disk.map(|own| own.read_bytes_per_s.median),
            cores_in_use: cpu_s().zip(self.cpu_s).map(|(now, then)| (now - then) / wall),
            cores: Some(machine(Path::new("/")).cores).filter(|cores| *cores > 0),
        }
    }
}

/// CPU seconds of this process and of the children that it has waited for.
fn cpu_s() -> Option<f64> {
    let of = |who| {
        let usage = getrusage(who).ok()?;
        let microseconds = (usage.user_time() + usage.system_time()).num_microseconds();
        Some(microseconds as f64 * 1e-6)
    };
    Some(of(UsageWho::RUSAGE_SELF)? + of(UsageWho::RUSAGE_CHILDREN)?)
}

/// Bytes that this process and the children that it has waited for read from storage.
fn disk_read_bytes() -> Option<u64> {
    parse_io(&fs::read_to_string("/proc/self/io").ok()?).map(|io| io.read_bytes)
}

/// The account of a training that came to its end; nothing where its ranks kept none.
pub(super) fn account(
    job: &JobSpec,
    workers: Option<&Workers>,
    done: &Done,
    before: &MachineBefore,
) -> Option<TrainingAccount> {
    if done.ranks.is_empty() {
        return None;
    }
    let capacities = kept_capacities(&machine(Path::new("/")));
    Some(TrainingAccount {
        training_s: done.time_s,
        steps: done.steps,
        ranks: done.ranks.iter().map(rank_account).collect(),
        threads: job.threads,
        pace: Pace::Together,
        link: link(done.strategy, workers, capacities.as_ref()),
        machine: before.until_now(capacities.as_ref()),
    })
}

/// What is between the ranks. Of a link to other machines nothing was measured.
fn link(strategy: Strategy, workers: Option<&Workers>, capacities: Option<&Capacities>) -> Link {
    match strategy {
        Strategy::OneDevice | Strategy::Mirrored => Link::Memory,
        Strategy::MultiWorker => {
            let here = capacities.filter(|_| !matches!(workers, Some(Workers::Joining { .. })));
            Link::Network {
                bytes_per_s: here.map(|own| own.loopback_bytes_per_s.median),
                round_trip_s: here.map(|own| own.round_trip_s.median),
            }
        }
    }
}

fn rank_account(own: &RankTimes) -> RankAccount {
    RankAccount {
        rank: own.rank,
        compute_s: own.compute_s,
        input_wait_s: own.input_wait_s,
        barrier_wait_s: own.barrier_wait_s,
        communication_s: own.communication_s,
        update_s: own.update_s,
        bytes_sent: own.bytes_sent,
        bytes_received: own.bytes_received,
        ..RankAccount::default()
    }
}
