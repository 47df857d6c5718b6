//! The step model against steps played one by one, accounts with one fault each, and the tables of
//! a published report.

use proptest::prelude::*;
use trainwright_random::Random;

use super::*;

const GIGABIT: f64 = 125e6;

/// A training of ranks that compute for a second each, with nothing wrong.
fn clean(ranks: usize) -> TrainingAccount {
    let rank = |rank| RankAccount {
        rank,
        compute_s: 1.0,
        update_s: 0.01,
        cpu_s: Some(1.0),
        run_queue_s: Some(0.0),
        ..RankAccount::default()
    };
    TrainingAccount {
        training_s: 1.01,
        steps: 100,
        ranks: (0..ranks).map(rank).collect(),
        threads: 1,
        pace: Pace::Together,
        link: Link::Network { bytes_per_s: Some(GIGABIT), round_trip_s: Some(1e-4) },
        machine: MachineUse { cores: Some(2), cores_in_use: Some(1.9), ..MachineUse::default() },
    }
}

/// The same with something added to every rank's account, and to the time.
fn with(ranks: usize, seconds: f64, add: impl Fn(&mut RankAccount)) -> TrainingAccount {
    let mut account = clean(ranks);
    account.ranks.iter_mut().for_each(add);
    account.training_s += seconds;
    account
}

#[track_caller]
fn check(account: &TrainingAccount, resource: Resource, shrinks_by: f64) -> Attribution {
    let found = attribute(account).unwrap();
    assert_eq!(found.resource(), Some(resource), "{found:#?}");
    let saved = found.shrinks_by(resource).unwrap();
    assert!((saved - shrinks_by).abs() < 0.02, "{saved} where {shrinks_by} is right: {found:#?}");
    found
}

#[test]
fn ranks_that_only_compute_are_bound_by_the_processor() {
    let found = check(&clean(4), Resource::Processor, 1.0);
    assert!(found.text.starts_with("the processor binds: a step would take"), "{}", found.text);
    assert_eq!((found.covered, found.slow_rank), (Some(1.0), None));
    assert_eq!(found.step_s, Some(0.0101));
}

#[test]
fn a_link_that_is_full_is_bandwidth() {
    let bytes = (2.0 * GIGABIT) as u64;
    let account = with(2, 4.0, |rank| {
        rank.communication_s = 4.0;
        (rank.bytes_sent, rank.messages) = (bytes, 200);
    });
    let found = check(&account, Resource::NetworkBandwidth, 4.0 / 5.01);
    assert!(found.text.contains("of the bandwidth is in use"), "{}", found.text);
}

#[test]
fn messages_that_wait_for_each_other_are_latency() {
    let mut account = with(2, 2.0, |rank| {
        rank.communication_s = 2.0;
        (rank.bytes_sent, rank.messages) = (1_000_000, 400);
    });
    account.link = Link::Network { bytes_per_s: Some(GIGABIT), round_trip_s: Some(5e-3) };
    let found = check(&account, Resource::NetworkLatency, 2.0 / 3.01);
    assert!(found.text.contains("4 messages a step, 0.5 % of the bandwidth"), "{}", found.text);
}

#[test]
fn meeting_over_a_far_link_is_latency_and_no_straggler() {
    let mut account = with(2, 1.0, |rank| {
        rank.barrier_wait_s = 0.5;
        rank.communication_s = 0.5;
        rank.messages = 300;
    });
    account.link = Link::Network { bytes_per_s: Some(GIGABIT), round_trip_s: Some(5e-3) };
    let found = attribute(&account).unwrap();
    assert_eq!(found.shrinks_by(Resource::Stragglers), None, "{found:#?}");
    let saved = found.shrinks_by(Resource::NetworkLatency).unwrap();
    assert!((saved - 1.0 / 2.01).abs() < 0.01, "{found:#?}");
}

#[test]
fn exchange_that_the_measured_link_does_not_explain_is_not_put_on_it() {
    let account = with(2, 2.0, |rank| {
        rank.communication_s = 2.0;
        (rank.bytes_sent, rank.messages) = (1_000_000, 400);
    });
    check(&account, Resource::Exchange, 0.65);
    // Between threads there is no network at all.
    let threads = TrainingAccount { link: Link::Memory, ..account };
    assert_eq!(attribute(&threads).unwrap().shrinks_by(Resource::NetworkLatency), None);
}

#[test]
fn waiting_for_examples_is_the_disk_only_where_the_disk_is_busy() {
    let mut account = with(1, 3.0, |rank| rank.input_wait_s = 3.0);
    let input = check(&account, Resource::Input, 3.0 / 4.01);
    assert!(input.text.contains("1.9 of 2 cores in use"), "{}", input.text);
    // Examples come no faster if computing does, because whoever makes them never rests.
    assert!(input.shrinks_by(Resource::Processor).unwrap() < 0.01, "{input:#?}");
    account.machine.disk_read_bytes = Some(3_000_000_000);
    account.machine.disk_bytes_per_s = Some(1e9);
    check(&account, Resource::Disk, 3.0 / 4.01);
    account.machine.disk_read_bytes = Some(1_000_000);
    check(&account, Resource::Input, 3.0 / 4.01);
}

#[test]
fn a_rank_that_is_stopped_is_a_straggler_and_is_named() {
    let mut account = clean(3);
    account.training_s = 4.01;
    account.ranks[1].compute_s = 4.0;
    for rank in [0, 2] {
        account.ranks[rank].barrier_wait_s = 3.0;
    }
    let found = check(&account, Resource::Stragglers, 3.0 / 4.01);
    assert_eq!(found.slow_rank, Some(SlowRank { rank: 1, times: 4.0 }));
    // It was not the processor that took so long.
    assert!(found.shrinks_by(Resource::Processor).unwrap() < 0.27, "{found:#?}");
}

#[test]
fn a_hog_on_the_cores_is_told_apart_from_a_slow_rank() {
    let mut account = clean(2);
    account.training_s = 3.01;
    (account.ranks[1].compute_s, account.ranks[1].run_queue_s) = (3.0, Some(2.0));
    account.ranks[0].barrier_wait_s = 2.0;
    let found = check(&account, Resource::Processor, 1.0);
    assert!(found.shrinks_by(Resource::SharedCores).unwrap() > 0.65, "{found:#?}");
    let told: Vec<&str> = found.findings().iter().map(|own| own.id).collect();
    assert_eq!(told, ["bottleneck", "shared-cores"]);
    // The machine's sum does as well where ranks have no figure of their own.
    for rank in &mut account.ranks {
        (rank.run_queue_s, rank.cpu_s) = (None, None);
    }
    account.machine.run_queue_s = Some(2.0);
    let found = attribute(&account).unwrap();
    assert!(found.shrinks_by(Resource::SharedCores).unwrap() > 0.65, "{found:#?}");
}

#[test]
fn gradients_that_queue_at_one_server_are_the_servers() {
    let mut account = with(4, 5.0, |rank| rank.server_queue_s = 5.0);
    account.pace = Pace::Alone;
    check(&account, Resource::Server, 5.0 / 6.01);
}

#[test]
fn exchange_that_hides_behind_computing_leaves_a_training_balanced() {
    // Both take about as long: neither alone would save much.
    let account = with(2, 0.05, |rank| {
        rank.hidden_communication_s = 0.97;
        rank.communication_s = 0.05;
        rank.update_s = 0.01;
    });
    let found = attribute(&account).unwrap();
    assert_eq!(found.binding, Binding::Balanced, "{found:#?}");
    assert!(found.text.starts_with("balanced: no resource alone"), "{}", found.text);
}

#[test]
fn time_that_is_not_accounted_for_gives_no_verdict() {
    let account = TrainingAccount { training_s: 15.0, ..clean(2) };
    let found = attribute(&account).unwrap();
    assert_eq!(found.binding, Binding::NotAccounted);
    assert!(found.text.contains("only 6.7 %"), "{}", found.text);
    assert_eq!(attribute(&TrainingAccount { training_s: 0.0, ..clean(1) }), None);
    assert_eq!(attribute(&TrainingAccount { ranks: vec![], ..clean(1) }), None);
}

/// The table of the report on synchronous and asynchronous servers (2017): mean CPU, bytes each
/// way, and seconds, of 10,000 synchronous and 30,000 asynchronous steps.
const REPORT: [(&str, f64, u64, f64, u64); 2] =
    [("sync", 1.29, 92_000_000, 60.0, 10_000), ("async", 0.58, 248_000_000, 75.0, 30_000)];

#[test]
fn the_reports_own_figures_do_not_blame_the_bandwidth() {
    for (name, cores, bytes, seconds, steps) in REPORT {
        let account = UsageAccount {
            wall_s: seconds,
            cpu_s: cores * seconds,
            received_bytes: Some(bytes),
            sent_bytes: Some(bytes),
            link_bytes_per_s: Some(GIGABIT),
            ..UsageAccount::default()
        };
        let found = attribute_usage(&account, None).unwrap();
        assert_eq!(found.resource(), Some(Resource::Processor), "{name}: {found:#?}");
        assert!(found.bandwidth_use.unwrap() < 0.03, "{name}: {found:#?}");
        // And as accounts of five ranks, of which all that is not computing is exchange.
        let computing = (cores * seconds / 5.0).min(0.9 * seconds);
        let rank = |rank| RankAccount {
            rank,
            compute_s: computing,
            communication_s: seconds - computing,
            bytes_sent: bytes / 5,
            bytes_received: bytes / 5,
            messages: 2 * steps,
            ..RankAccount::default()
        };
        let training = TrainingAccount {
            training_s: seconds,
            steps,
            ranks: (0..5).map(rank).collect(),
            threads: 1,
            pace: if name == "sync" { Pace::Together } else { Pace::Alone },
            link: Link::Network { bytes_per_s: Some(GIGABIT), round_trip_s: Some(5e-4) },
            machine: MachineUse::default(),
        };
        let found = attribute(&training).unwrap();
        assert_ne!(found.resource(), Some(Resource::NetworkBandwidth), "{name}: {found:#?}");
        assert!(found.shrinks_by(Resource::NetworkBandwidth).unwrap() < BINDS, "{name}");
        assert!(!found.text.contains("bandwidth of the network binds"), "{}", found.text);
    }
}

#[test]
fn a_program_of_which_only_its_use_is_known_gets_bounds() {
    let waiting = UsageAccount { wall_s: 10.0, cpu_s: 1.0, ..UsageAccount::default() };
    let found = attribute_usage(&waiting, None).unwrap();
    assert_eq!(found.resource(), Some(Resource::Waiting));
    assert!(found.at_most && found.text.contains("0.1 cores in use"), "{}", found.text);
    let busy = UsageAccount { cpu_s: 19.0, run_queue_s: Some(19.0), ..waiting };
    let found = attribute_usage(&busy, None).unwrap();
    assert_eq!(found.resource(), Some(Resource::Processor));
    assert!((found.shrinks_by(Resource::SharedCores).unwrap() - 0.5).abs() < 1e-12);
    let gpu = UsageAccount { gpu_share: Some(0.8), ..waiting };
    assert_eq!(attribute_usage(&gpu, None).unwrap().resource(), Some(Resource::Gpu));
    assert_eq!(attribute_usage(&UsageAccount::default(), None), None);
}

/// Steps of ranks that go together, one by one: seconds of all, and each rank's account.
fn played(computing: &[Vec<f64>], exchange: f64, update: f64) -> (f64, Vec<RankAccount>) {
    let ranks = computing[0].len();
    let mut accounts = vec![RankAccount::default(); ranks];
    let mut all = 0.0;
    for step in computing {
        let slowest = step.iter().fold(0.0f64, |most, own| most.max(*own));
        all += slowest + exchange + update;
        for (rank, (account, own)) in accounts.iter_mut().zip(step).enumerate() {
            account.rank = rank;
            account.compute_s += own;
            account.barrier_wait_s += slowest - own;
            account.communication_s += exchange;
            account.update_s += update;
        }
    }
    (all, accounts)
}

proptest! {
    #[test]
    fn savings_agree_with_steps_played_again(
        seed: u64, ranks in 1usize..6, exchange in 0.0f64..2.0, slow in 1.0f64..4.0,
        jitter in 0.0f64..0.2,
    ) {
        let mut random = Random::for_purpose(7, &[seed]);
        // One rank is slower than the others, and every step scatters a little.
        let computing: Vec<Vec<f64>> = (0..200)
            .map(|_| {
                let own = |rank| (if rank == 0 { slow } else { 1.0 }) * (1.0 + jitter * random.unit());
                (0..ranks).map(own).collect()
            })
            .collect();
        let (all, accounts) = played(&computing, exchange, 0.05);
        let account = TrainingAccount {
            training_s: all, steps: 200, ranks: accounts, link: Link::Memory, ..clean(1)
        };
        let found = attribute(&account).unwrap();
        let saved = |resource| found.shrinks_by(resource).unwrap_or(0.0);
        let again = |computing: &[Vec<f64>], exchange, update| 1.0 - played(computing, exchange, update).0 / all;
        let none = vec![vec![0.0; ranks]; 200];
        prop_assert!((saved(Resource::Processor) - again(&none, exchange, 0.0)).abs() < 1e-9);
        prop_assert!((saved(Resource::Exchange) - again(&computing, 0.0, 0.05)).abs() < 1e-9);
        // Every rank like the middle one in every step, up to how steps scatter about their mean.
        let even = if ranks > 1 { 1.0 + 0.5 * jitter } else { slow * (1.0 + 0.5 * jitter) };
        let level = vec![vec![even; ranks]; 200];
        let straggling = again(&level, exchange, 0.05).max(0.0);
        prop_assert!((saved(Resource::Stragglers) - straggling).abs() < 0.03, "{found:?}");
        prop_assert!((found.covered.unwrap() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn every_account_gives_shares_and_never_a_verdict_below_a_tenth(
        numbers in prop::collection::vec(prop::array::uniform8(0.0f64..10.0), 1..5),
        training_s in 0.1f64..60.0, alone: bool, messages in 0u64..10_000,
    ) {
        let ranks = numbers.iter().enumerate().map(|(rank, own)| RankAccount {
            rank,
            compute_s: own[0],
            input_wait_s: own[1],
            barrier_wait_s: own[2],
            communication_s: own[3],
            hidden_communication_s: own[4],
            server_queue_s: own[5],
            update_s: own[6],
            bytes_sent: (own[7] * 1e9) as u64,
            bytes_received: 0,
            messages,
            cpu_s: Some(own[7]),
            run_queue_s: None,
        }).collect();
        let pace = if alone { Pace::Alone } else { Pace::Together };
        let machine = MachineUse { run_queue_s: Some(numbers[0][7]), ..MachineUse::default() };
        let found = attribute(&TrainingAccount { training_s, ranks, pace, machine, ..clean(1) }).unwrap();
        for own in &found.idealised {
            prop_assert!(own.shrinks_by > 0.0 && own.shrinks_by <= 1.0, "{own:?}");
        }
        prop_assert!(found.idealised.is_sorted_by(|a, b| a.shrinks_by >= b.shrinks_by));
        if let Binding::Binds { shrinks_by, .. } = found.binding {
            prop_assert!(shrinks_by >= BINDS);
        }
        prop_assert!(!found.text.is_empty());
    }
}
