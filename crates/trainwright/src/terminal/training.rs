//! Events of a training in words.

use trainwright_analysis::wording::bytes;
use trainwright_report::terminal::TextTable;
use trainwright_study::Scaling;
use trainwright_train::{
    DivergedBy, Done, Ended, EpochEnd, RankLost, RankTimes, Restarted, TrainEvent,
};

use crate::{PlannedStepTime, Trained};

/// One event in one line; single steps are told nothing of.
pub fn train_event(event: &TrainEvent) -> Option<String> {
    Some(match event {
        TrainEvent::Step(_) | TrainEvent::DamagedCheckpoint(_) => return None,
        TrainEvent::Epoch(epoch) => epoch_line(epoch),
        TrainEvent::Done(done) => done_line(done),
        TrainEvent::Diverged(at) => {
            let what = match at.by {
                DivergedBy::NotFinite => "is not finite",
                DivergedBy::Exploded => "has exploded",
            };
            format!("diverged: the loss {what} at step {} with learning rate {}", at.step, at.lr)
        }
        TrainEvent::Stopped(at) => format!("stopped after {} steps", at.steps),
        TrainEvent::RankLost(lost) => lost_line(lost),
        TrainEvent::Restarted(again) => restarted_line(again),
    })
}

/// The end of a training in words, with what bound it.
pub fn trained(own: &Trained) -> String {
    let event = train_event(&own.outcome.clone().into()).unwrap_or_default();
    let bound = own.bottleneck.as_ref().map(|own| format!("\nwhat binds: {}", own.text));
    let planned = own.planned.as_ref().map(|own| {
        let memory = own.measured_memory_bytes.map(|measured| {
            format!(
                "\nmemory of the fullest rank: {} measured, {} planned ({:+.0} %){}",
                bytes(measured),
                bytes(own.predicted_memory_bytes),
                100.0 * (own.predicted_memory_bytes as f64 / measured as f64 - 1.0),
                other_optimizer(own)
            )
        });
        format!(
            "\na step: {:.3} ms measured, {:.3} ms planned ({:+.0} %){}",
            1e3 * own.measured_s,
            1e3 * own.predicted_s,
            100.0 * (own.predicted_s / own.measured_s - 1.0),
            memory.unwrap_or_default()
        )
    });
    format!("{event}{}{}\n", bound.unwrap_or_default(), planned.unwrap_or_default())
}

/// That a plan is for another optimiser, where it is.
fn other_optimizer(own: &PlannedStepTime) -> String {
    match own.predicted_optimizer_slots {
        Some(planned) if planned != own.optimizer_slots => format!(
            "; it was planned for an optimiser with {planned} numbers a parameter, but this one has {}: see plan --optimizer-slots",
            own.optimizer_slots
        ),
        _ => String::new(),
    }
}

fn epoch_line(epoch: &EpochEnd) -> String {
    let auc = epoch.test_auc.map(|auc| format!(", AUC {auc:.4}")).unwrap_or_default();
    let noise = epoch.noise_scale.map(|scale| format!("; noise scale {scale:.0}"));
    format!(
        "epoch {}: train loss {:.4}, accuracy {:.4}; test loss {:.4}, accuracy \
         {:.4}{auc}; {:.2} s; rate {:.3e}, batch {}{}",
        epoch.epoch,
        epoch.train_loss,
        epoch.train_accuracy,
        epoch.test_loss,
        epoch.test_accuracy,
        epoch.seconds,
        epoch.lr,
        epoch.batch,
        noise.unwrap_or_default()
    )
}

fn lost_line(lost: &RankLost) -> String {
    let left = match lost.ranks {
        1 => "one worker".to_owned(),
        count => format!("{count} workers"),
    };
    format!("{}; going on with {left} after step {}", lost.why, lost.step)
}

fn restarted_line(again: &Restarted) -> String {
    let from = match &again.checkpoint {
        Some(path) => format!("going on from {}", path.display()),
        None => "beginning again, for nothing was kept yet".to_owned(),
    };
    format!("{}; all ranks are started again, {from}", again.why)
}

/// How batch and rate followed the number of replicas, where that was chosen.
fn scaling(done: &Done) -> String {
    match done.scaling {
        Scaling::Global => String::new(),
        Scaling::PerReplica => {
            format!(" (batch of each of {} replicas, rate scaled to it)", done.replicas)
        }
    }
}

fn done_line(done: &Done) -> String {
    let why = match done.ended {
        Ended::Epochs => String::new(),
        Ended::EarlyStopping => format!(" (stopped early after {} epochs)", done.epochs),
        Ended::TimeLimit => format!(" (time was up in epoch {})", done.epochs),
    };
    let waited = done
        .input_wait_share
        .map(|share| format!("; waited for pictures {:.1} % of the time", 100.0 * share));
    format!(
        "done: test accuracy {:.4} after {} steps in {:.2} s, {:.0} examples/s{}{why}{}{}",
        done.test_accuracy,
        done.steps,
        done.time_s,
        done.examples_per_s,
        waited.unwrap_or_default(),
        scaling(done),
        rank_table(&done.ranks)
    )
}

/// Columns of the table of ranks, and which of them tells the time at servers.
const COLUMNS: usize = 14;
const AT_SERVERS: usize = 4;

/// What each of several ranks did with its time; nothing for one.
fn rank_table(ranks: &[RankTimes]) -> String {
    if ranks.len() < 2 {
        return String::new();
    }
    let head = [
        "rank",
        "computed",
        "pictures",
        "waited",
        "at servers",
        "exchanged",
        "hidden",
        "updated",
        "scored",
        "kept",
        "idle",
        "sent",
        "received",
        "messages",
    ];
    // Only workers of servers wait at them.
    let waits = ranks.iter().any(|own| own.server_queue_s > 0.0);
    let shown = |at: &usize| waits || *at != AT_SERVERS;
    let with_servers = |row: [String; COLUMNS]| {
        let kept = row.into_iter().enumerate().filter(|(at, _)| shown(at));
        kept.map(|(_, text)| text).collect::<Vec<_>>()
    };
    let mut table = TextTable::with_header(with_servers(head.map(str::to_owned)));
    for own in ranks {
        let seconds = |time: f64| format!("{time:.2} s");
        let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
        table.row(with_servers([
            own.rank.to_string(),
            seconds(own.compute_s),
            seconds(own.input_wait_s),
            seconds(own.barrier_wait_s),
            seconds(own.server_queue_s),
            seconds(own.communication_s),
            seconds(own.hidden_communication_s),
            seconds(own.update_s),
            seconds(own.evaluation_s),
            seconds(own.checkpoint_s),
            seconds(own.idle_s),
            megabytes(own.bytes_sent),
            megabytes(own.bytes_received),
            own.messages.to_string(),
        ]));
    }
    let served = ranks.iter().filter(|own| !own.staleness.is_empty()).map(served_line);
    format!("\n{}{}", table.to_string().trim_end(), served.collect::<String>())
}

/// What a server applied, and how old the numbers were that it was computed from.
fn served_line(own: &RankTimes) -> String {
    let applied: u64 = own.staleness.iter().sum();
    let updates = (0..).zip(&own.staleness).map(|(stale, count): (u64, &u64)| stale * count);
    format!(
        "\nserver of rank {}: {applied} gradients applied, staleness {:.2} in the mean and at most {}; \
         {} dropped; pushes waited {:.2} s",
        own.rank,
        updates.sum::<u64>() as f64 / applied.max(1) as f64,
        own.staleness.len() - 1,
        own.dropped,
        own.pushes_waited_s,
    )
}

#[cfg(test)]
mod tests {
    use trainwright_train::{Diverged, Stopped};

    use super::*;

    #[test]
    fn an_end_without_a_result_says_how_far_it_came() {
        let by = DivergedBy::NotFinite;
        let (examples_per_s, measured) = (9.0, None);
        let diverged =
            Diverged { epoch: 1, step: 12, lr: 0.5, time_s: 1.0, examples_per_s, by, measured };
        assert_eq!(
            train_event(&TrainEvent::Diverged(diverged)).as_deref(),
            Some("diverged: the loss is not finite at step 12 with learning rate 0.5")
        );
        let stopped = TrainEvent::Stopped(Stopped { epochs: 0, steps: 7, time_s: 1.0 });
        assert_eq!(train_event(&stopped).as_deref(), Some("stopped after 7 steps"));
    }

    #[test]
    fn a_server_tells_how_stale_its_gradients_were() {
        let server = RankTimes {
            rank: 3,
            staleness: vec![2, 1, 0, 1],
            dropped: 5,
            pushes_waited_s: 0.25,
            ..RankTimes::default()
        };
        let table = rank_table(&[RankTimes::default(), server.clone()]);
        assert!(!table.contains("at servers"), "nobody waited: {table}");
        let worker = RankTimes { rank: 1, server_queue_s: 1.5, ..RankTimes::default() };
        assert!(rank_table(&[worker, server]).contains("at servers"));
        assert!(
            table.ends_with(
                "\nserver of rank 3: 4 gradients applied, staleness 1.00 in the mean and at most 3; \
                 5 dropped; pushes waited 0.25 s"
            ),
            "{table}"
        );
    }

    #[test]
    fn a_restart_is_told_with_the_checkpoint() {
        let again = |checkpoint: Option<&str>| {
            let why = "server 1: rank 3 is lost".to_owned();
            let checkpoint = checkpoint.map(Into::into);
            train_event(&TrainEvent::Restarted(Restarted { why, checkpoint, restarts: 1 })).unwrap()
        };
        assert_eq!(
            again(Some("kept/step-4")),
            "server 1: rank 3 is lost; all ranks are started again, going on from kept/step-4"
        );
        assert!(again(None).ends_with("beginning again, for nothing was kept yet"));
    }

    #[test]
    fn a_lost_rank_is_told_with_those_that_go_on() {
        let lost = |ranks| RankLost { why: "rank 2 is lost: it left".to_owned(), ranks, step: 9 };
        assert_eq!(
            train_event(&TrainEvent::RankLost(lost(2))).as_deref(),
            Some("rank 2 is lost: it left; going on with 2 workers after step 9")
        );
        let line = train_event(&TrainEvent::RankLost(lost(1))).unwrap();
        assert!(line.ends_with("going on with one worker after step 9"), "{line}");
    }
}
