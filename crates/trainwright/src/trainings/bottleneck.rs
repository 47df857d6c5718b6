//! What bound a training: the accounts of its ranks, what the machine did meanwhile, and what it
//! can do.

use std::fs;
use std::path::Path;
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use trainwright_analysis::{Link, MachineUse, Pace, RankAccount, TrainingAccount};
use trainwright_probe::{machine, parse_io};
use trainwright_study::{Capacities, Consistency, JobSpec, ReadFrom, Strategy};
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
    fn until_now(&self, cores: u32, capacities: Option<&Capacities>) -> MachineUse {
        let wall = self.begun.elapsed().as_secs_f64();
        let disk = capacities.and_then(|own| own.disk.as_ref());
        let disk = disk.filter(|own| own.read_from == ReadFrom::Storage);
        MachineUse {
            run_queue_s: None,
            disk_read_bytes: disk_read_bytes()
                .zip(self.disk_read_bytes)
                .map(|(now, then)| now - then),
            disk_bytes_per_s: disk.map(|own| own.read_bytes_per_s.high),
            cores_in_use: cpu_s().zip(self.cpu_s).map(|(now, then)| (now - then) / wall),
            cores: Some(cores).filter(|cores| *cores > 0),
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
    let here = machine(Path::new("/"));
    let capacities = kept_capacities(&here);
    let between = link(job, workers, capacities.as_ref());
    Some(account_of(job, done, between, before.until_now(here.cores, capacities.as_ref())))
}

/// The same for ranks on other machines, of which, as of what is between them, nothing was measured.
pub(crate) fn account_elsewhere(job: &JobSpec, done: &Done) -> Option<TrainingAccount> {
    let machine = MachineUse::default();
    (!done.ranks.is_empty()).then(|| account_of(job, done, link(job, None, None), machine))
}

fn account_of(job: &JobSpec, done: &Done, link: Link, machine: MachineUse) -> TrainingAccount {
    TrainingAccount {
        training_s: done.time_s,
        steps: done.steps,
        ranks: rank_accounts(job, &done.ranks, done.time_s, link),
        threads: job.threads,
        pace: pace(job),
        link,
        machine,
    }
}

/// Whether ranks wait for each other.
fn pace(job: &JobSpec) -> Pace {
    match (job.strategy, job.consistency) {
        (Strategy::ParameterServer, Consistency::Async | Consistency::Bounded) => Pace::Alone,
        _ => Pace::Together,
    }
}

/// What is between the ranks: what the link can do at its best, so that no time is blamed on it
/// that it need not take. Of a link to other machines nothing was measured.
fn link(job: &JobSpec, workers: Option<&Workers>, capacities: Option<&Capacities>) -> Link {
    match job.strategy {
        Strategy::OneDevice | Strategy::Mirrored => Link::Memory,
        Strategy::LocalSgd if job.workers < 2 => Link::Memory,
        Strategy::MultiWorker | Strategy::ParameterServer | Strategy::LocalSgd => {
            let here = capacities.filter(|_| !matches!(workers, Some(Workers::Joining { .. })));
            Link::Network {
                bytes_per_s: here.map(|own| own.loopback_bytes_per_s.high),
                round_trip_s: here.map(|own| own.round_trip_s.low),
            }
        }
    }
}

/// The accounts of those that compute: all ranks, or the workers of parameter servers, who also
/// wait for servers where those do not tell it themselves.
fn rank_accounts(
    job: &JobSpec,
    ranks: &[RankTimes],
    training_s: f64,
    between: Link,
) -> Vec<RankAccount> {
    if job.strategy != Strategy::ParameterServer {
        return together(ranks);
    }
    // Rank 0 leads, workers come after it, servers last; of workers some may be lost.
    let first_server = 1 + job.workers as usize;
    let (computing, servers): (Vec<_>, Vec<_>) =
        ranks.iter().skip(1).partition(|own| own.rank < first_server);
    let most =
        |of: &dyn Fn(&RankTimes) -> f64| servers.iter().map(|own| of(own)).fold(0.0, f64::max);
    let busy = (most(&|own| own.wall_s - own.idle_s) / training_s).clamp(0.0, 1.0);
    let link_s = link_s(ranks, between);
    // Where workers wait for all shares, they wait for the update of the step as well.
    let updates = if pace(job) == Pace::Together { most(&|own| own.update_s) } else { 0.0 };
    let apart = apart_s(ranks);
    let worker = |own: &&RankTimes| {
        let mut account = waiting_in_steps(own, apart);
        let updates = updates.min(account.barrier_wait_s);
        account.barrier_wait_s -= updates;
        // What the link does not explain of an exchange is the servers' as far as they worked.
        let served = busy * (account.communication_s - link_s).max(0.0);
        account.communication_s -= served;
        account.server_queue_s += updates + served;
        account
    };
    computing.iter().map(worker).collect()
}

/// The time that the link needs for what all ranks sent; none where it was not measured.
fn link_s(ranks: &[RankTimes], between: Link) -> f64 {
    let Link::Network { bytes_per_s, round_trip_s } = between else { return 0.0 };
    let sent: u64 = ranks.iter().map(|own| own.bytes_sent).sum();
    let messages = ranks.iter().map(|own| own.messages).max().unwrap_or(0);
    let bytes = bytes_per_s.map_or(0.0, |speed| sent as f64 / speed);
    bytes + round_trip_s.map_or(0.0, |trip| messages as f64 * trip)
}

/// The accounts of ranks that follow the first one's orders. Who waits for an order while the first
/// is not busy with what is no part of training waits for it within a step.
fn together(ranks: &[RankTimes]) -> Vec<RankAccount> {
    ranks.iter().map(|own| waiting_in_steps(own, apart_s(ranks))).collect()
}

/// What the first rank did that is no part of training.
fn apart_s(ranks: &[RankTimes]) -> f64 {
    ranks.first().map_or(0.0, |own| own.evaluation_s + own.checkpoint_s + own.telling_s)
}

/// The account of a rank, with the idle time that the first rank did not spend apart as waiting.
fn waiting_in_steps(own: &RankTimes, apart_s: f64) -> RankAccount {
    let waits = (own.idle_s - apart_s).max(0.0);
    RankAccount { barrier_wait_s: own.barrier_wait_s + waits, ..rank_account(own) }
}

fn rank_account(own: &RankTimes) -> RankAccount {
    RankAccount {
        rank: own.rank,
        compute_s: own.compute_s,
        input_wait_s: own.input_wait_s,
        barrier_wait_s: own.barrier_wait_s,
        communication_s: own.communication_s,
        hidden_communication_s: own.hidden_communication_s,
        server_queue_s: own.server_queue_s,
        update_s: own.update_s,
        bytes_sent: own.bytes_sent,
        bytes_received: own.bytes_received,
        messages: own.messages,
        cpu_s: own.cpu_s,
        run_queue_s: own.run_queue_s,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(text: &str) -> JobSpec {
        serde_json::from_str(&format!(
            r#"{{"network":"mlp","data":"fashion-mnist-sample","seed":1,{text}}}"#
        ))
        .unwrap()
    }

    #[test]
    fn ranks_of_one_process_have_no_network_between_them() {
        assert_eq!(link(&job(r#""strategy":"mirrored","replicas":2"#), None, None), Link::Memory);
        let local = job(r#""strategy":"local-sgd","replicas":2"#);
        assert_eq!(link(&local, None, None), Link::Memory);
        let workers = job(r#""strategy":"multi-worker","workers":2"#);
        let unknown = Link::Network { bytes_per_s: None, round_trip_s: None };
        assert_eq!(link(&workers, None, None), unknown);
    }

    #[test]
    fn an_exchange_that_the_link_does_not_explain_is_the_servers_while_they_work() {
        let servers = |consistency: &str| {
            let keys = r#""strategy":"parameter-server","workers":2,"servers":1"#;
            job(&format!(r#"{keys},"consistency":"{consistency}""#))
        };
        let worker = |rank, communication_s, bytes_sent| RankTimes {
            rank,
            communication_s,
            bytes_sent,
            barrier_wait_s: 0.75,
            server_queue_s: 0.25,
            ..RankTimes::default()
        };
        // Busy in half of a training of eight seconds.
        let server =
            RankTimes { rank: 3, wall_s: 9.0, idle_s: 5.0, update_s: 0.5, ..RankTimes::default() };
        let ranks = [RankTimes::default(), worker(1, 5.0, 60), worker(2, 1.0, 40), server];
        let between = Link::Network { bytes_per_s: Some(100.0), round_trip_s: None };
        let told = |consistency| -> Vec<[f64; 3]> {
            let found = rank_accounts(&servers(consistency), &ranks, 8.0, between);
            let parts =
                |own: &RankAccount| [own.communication_s, own.server_queue_s, own.barrier_wait_s];
            found.iter().map(parts).collect()
        };
        assert_eq!(told("async"), [[3.0, 2.25, 0.75], [1.0, 0.25, 0.75]]);
        assert_eq!(told("sync"), [[3.0, 2.75, 0.25], [1.0, 0.75, 0.25]], "updates are waited for");
        let device = job(r#""strategy":"one-device""#);
        let alone = rank_accounts(&device, &ranks[1..2], 8.0, between);
        assert_eq!(alone[0].communication_s, 5.0);
    }

    #[test]
    fn who_waits_for_orders_waits_for_the_first_rank_unless_that_scores() {
        let mirrored = job(r#""strategy":"mirrored","replicas":2"#);
        let first = RankTimes { evaluation_s: 1.0, telling_s: 0.5, ..RankTimes::default() };
        let barrier = |idle_s| {
            let second =
                RankTimes { rank: 1, idle_s, barrier_wait_s: 0.25, ..RankTimes::default() };
            let ranks = [first.clone(), second];
            rank_accounts(&mirrored, &ranks, 8.0, Link::Memory)[1].barrier_wait_s
        };
        assert_eq!([barrier(0.0), barrier(1.5), barrier(3.5)], [0.25, 0.25, 2.25]);
    }

    #[test]
    fn asynchronous_workers_do_not_wait_for_each_other() {
        let servers = |consistency: &str| {
            job(&format!(
                r#""strategy":"parameter-server","workers":2,"servers":1,"consistency":"{consistency}""#
            ))
        };
        assert_eq!(pace(&servers("sync")), Pace::Together);
        assert_eq!(pace(&servers("async")), Pace::Alone);
        assert_eq!(pace(&job(r#""strategy":"one-device""#)), Pace::Together);
    }
}
