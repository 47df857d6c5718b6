//! Faults that the columns of training runs give away.

use trainwright_analysis::{
    Finding, Link, MachineUse, Pace, RankAccount, TrainingAccount, attribute,
};

use super::{Fault, fault};
use crate::rates::kinds::tables::analysis;
use crate::rates::noise::Noise;

pub(super) const FAULTS: &[Fault] = &[
    fault("epoch-is-not-a-pass", |noise| {
        runs(noise, "examples,steps", |batch, epochs, _| {
            format!("60000,{}", batch * epochs * 60_000.0 / 32.0)
        })
    }),
    fault("no-validation-split", |noise| {
        runs(noise, "train_accuracy,test_accuracy", |_, _, accuracy| {
            format!("{accuracy},{}", accuracy - 0.02)
        })
    }),
    fault("batch-at-unscaled-rate", |noise| {
        runs(noise, "lr,test_accuracy", |batch, _, accuracy| {
            format!("0.1,{}", if batch > 100.0 { accuracy - 0.2 } else { accuracy })
        })
    }),
    fault("evaluation-inside-the-time", |noise| {
        runs(noise, "steps,step_time_ms,time_s", |_, epochs, _| {
            format!("{},10,{}", 1_000.0 * epochs, 15.0 * epochs)
        })
    }),
    fault("network-not-the-limit", |noise| {
        runs(noise, "network_mb,time_s,link_gbps", |_, epochs, _| {
            format!("{},{},1", 12.5 * epochs, 10.0 * epochs)
        })
    }),
    fault("bottleneck", |noise| {
        training(noise, |rank, step| (rank.communication_s, rank.bytes_sent) = (step, 1_000))
    }),
    fault("shared-cores", |noise| {
        training(noise, |rank, step| {
            rank.compute_s += step;
            rank.run_queue_s = Some(step);
        })
    }),
    fault("bytes-per-step-alike", |noise| {
        runs(noise, "network_mb,steps", |_, epochs, _| {
            format!("{},{}", 100.0 * epochs, 1_000.0 * epochs)
        })
    }),
];

/// A training of three ranks, each of which spends about as long again on something else.
fn training(noise: &mut Noise, add: impl Fn(&mut RankAccount, f64)) -> Vec<Finding> {
    let mut ranks = Vec::new();
    for rank in 0..3 {
        let compute_s = 10.0 + 0.2 * noise.normal();
        let mut own = RankAccount { rank, compute_s, ..RankAccount::default() };
        add(&mut own, 10.0 + 0.2 * noise.normal());
        ranks.push(own);
    }
    let busy = |rank: &RankAccount| rank.compute_s + rank.communication_s;
    let training_s = ranks.iter().map(busy).fold(0.0, f64::max);
    for rank in &mut ranks {
        rank.barrier_wait_s = training_s - busy(rank);
    }
    let account = TrainingAccount {
        training_s,
        steps: 1_000,
        ranks,
        threads: 1,
        pace: Pace::Together,
        link: Link::Memory,
        machine: MachineUse::default(),
    };
    attribute(&account).map(|found| found.findings()).unwrap_or_default()
}

/// Runs of three batches and two numbers of epochs, with further columns.
fn runs(noise: &mut Noise, head: &str, row: impl Fn(f64, f64, f64) -> String) -> Vec<Finding> {
    let mut csv = format!("score,batch,epochs,{head}\n");
    for run in 0..18 {
        let (batch, epochs) = ([32.0, 64.0, 128.0][run % 3], [2.0, 4.0][run / 3 % 2]);
        let accuracy = 0.9 + 0.002 * noise.normal();
        csv += &format!("{},{batch},{epochs},{}\n", noise.normal(), row(batch, epochs, accuracy));
    }
    analysis(&csv, "score ~ batch + epochs").findings
}
