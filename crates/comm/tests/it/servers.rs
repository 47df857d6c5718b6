//! Leader, workers and servers, on threads and over sockets.
//!
//! The vector has four numbers, two to a server. Gradients are computed slowly and obviously, so
//! that what the servers end with can be computed again without any of them.

mod failures;
mod lab;

use trainwright_comm::{Consistency, JoinOptions, Leader};

use crate::lab::{bits, options};
use lab::{Cast, Pace, RATE, cast, gradient, plans, run_workers, stretch};

/// The numbers after so many steps of one that does everything, whose steps have so many parts.
fn alone(steps: u64, parts: usize) -> Vec<f32> {
    let mut values = lab::beginning();
    for step in 0..steps {
        let shares: Vec<Vec<f32>> = (0..parts).map(|part| gradient(&values, step, part)).collect();
        for at in 0..values.len() {
            let nodes: Vec<&[f32]> = shares.iter().map(|share| &share[at..=at]).collect();
            let mut sum = [0.0];
            trainwright_comm::LeafTree::new(parts).add_up(parts, &nodes, &mut sum);
            values[at] -= RATE * sum[0];
        }
    }
    values
}

/// Trains so many steps in two stretches, and gives the numbers and the leader.
fn train(cast: Cast, steps: u64) -> (Vec<f32>, Leader) {
    let Cast { mut leader, workers, .. } = cast;
    let threads = run_workers(workers, &Pace::free());
    let parts = leader.parts();
    for (first, count) in [(0, steps / 2), (steps / 2, steps - steps / 2)] {
        let ran = leader.run(&stretch(first, &plans(count, parts))).unwrap();
        assert_eq!(ran.finished.len() as u64, count);
        assert_eq!(ran.void, None);
    }
    let values = leader.store().unwrap().concat();
    // What is left to be asked for comes before the end.
    let told = leader.account_of_workers();
    assert_eq!(told.len(), threads.len());
    (values, leader)
}

/// Runs on threads, then over sockets.
fn on_both(workers: usize, rule: Consistency, check: impl Fn(Cast)) {
    let over: [Option<&JoinOptions>; 2] = [None, Some(&options())];
    over.into_iter().for_each(|over| check(cast(workers, 2, rule, over)));
}

#[test]
fn one_asynchronous_worker_learns_what_one_that_does_everything_learns() {
    on_both(1, Consistency::Async, |cast| {
        let (values, mut leader) = train(cast, 40);
        assert_eq!(bits(&values), bits(&alone(40, 1)));
        for account in leader.account_of_servers().unwrap() {
            assert_eq!(account.staleness.counts().collect::<Vec<_>>(), [(0, 40)]);
            assert_eq!(account.dropped, 0);
            assert!(account.sent > 0 && account.received > 0);
        }
        leader.end().unwrap();
    });
}

#[test]
fn synchronous_workers_add_up_their_shares_in_the_fixed_order() {
    for workers in [1, 2, 3, 5] {
        on_both(workers, Consistency::Sync { backup: 0 }, |cast| {
            let (values, mut leader) = train(cast, 12);
            assert_eq!(bits(&values), bits(&alone(12, workers)), "{workers} workers");
            for account in leader.account_of_servers().unwrap() {
                let expected = 12 * workers as u64;
                assert_eq!(account.staleness.counts().collect::<Vec<_>>(), [(0, expected)]);
            }
            leader.end().unwrap();
        });
    }
}

#[test]
fn no_slack_is_synchronous_bit_for_bit() {
    on_both(3, Consistency::Bounded { slack: 0 }, |cast| {
        let (values, mut leader) = train(cast, 12);
        assert_eq!(bits(&values), bits(&alone(12, 3)));
        leader.end().unwrap();
    });
}

#[test]
fn bounded_gradients_are_no_staler_than_the_slack() {
    for slack in [1, 3] {
        on_both(3, Consistency::Bounded { slack }, |cast| {
            let (_, mut leader) = train(cast, 60);
            for account in leader.account_of_servers().unwrap() {
                assert_eq!(account.staleness.total(), 180);
                assert!(account.staleness.largest() <= Some(slack), "{:?}", account.staleness);
            }
            leader.end().unwrap();
        });
    }
}

#[test]
fn asynchronous_workers_have_every_gradient_applied_once() {
    on_both(4, Consistency::Async, |mut cast| {
        cast.leader.keep_log();
        let (_, mut leader) = train(cast, 200);
        for log in leader.log().unwrap() {
            let mut steps: Vec<u64> =
                log.iter().flat_map(|own| &own.pushes).map(|push| push.share.step).collect();
            steps.sort_unstable();
            assert_eq!(steps, (0..200).collect::<Vec<_>>());
            for (version, applied) in log.iter().enumerate() {
                assert!(applied.pushes.iter().all(|push| push.pulled <= version as u64));
            }
        }
        for account in leader.account_of_servers().unwrap() {
            assert_eq!((account.staleness.total(), account.dropped), (200, 0));
        }
        leader.end().unwrap();
    });
}

#[test]
fn a_recorded_run_can_be_computed_again_to_the_bit() {
    on_both(3, Consistency::Async, |mut cast| {
        cast.leader.keep_log();
        let (values, mut leader) = train(cast, 90);
        let logs = leader.log().unwrap();
        leader.end().unwrap();
        // Every version of every server's numbers, as far as the log has come.
        let mut versions: Vec<Vec<Vec<f32>>> =
            lab::beginning().chunks(2).map(|own| vec![own.to_vec()]).collect();
        while versions.iter().any(|own| own.len() <= 90) {
            for server in 0..2 {
                let version = versions[server].len() - 1;
                let Some(applied) = logs[server].get(version) else { continue };
                let step = applied.pushes[0].share.step;
                let pulled = |of: usize| {
                    let mut pushes = logs[of].iter().flat_map(|own| &own.pushes);
                    pushes.find(|push| push.share.step == step).unwrap().pulled as usize
                };
                let seen: Option<Vec<f32>> = (0..2)
                    .map(|of| versions[of].get(pulled(of)).cloned())
                    .collect::<Option<Vec<_>>>()
                    .map(|pieces| pieces.concat());
                let Some(seen) = seen else { continue };
                let gradient = gradient(&seen, step, 0);
                let before = &versions[server][version];
                let after = before.iter().zip(&gradient[2 * server..]);
                let after = after.map(|(value, own)| value - RATE * own).collect();
                versions[server].push(after);
            }
        }
        let replayed: Vec<f32> = versions.iter().flat_map(|own| own[90].clone()).collect();
        assert_eq!(bits(&replayed), bits(&values));
    });
}

#[test]
fn gradients_that_are_no_numbers_end_the_stretch_and_change_nothing() {
    for rule in [Consistency::Async, Consistency::Sync { backup: 0 }] {
        on_both(1, rule, |cast| {
            let Cast { mut leader, workers, .. } = cast;
            let _threads = run_workers(workers, &Pace::free());
            let mut plans = plans(6, 1);
            plans[4].words = vec![lab::VOID];
            let ran = leader.run(&stretch(0, &plans)).unwrap();
            assert_eq!(ran.finished.len(), 4);
            assert_eq!(ran.void, Some(trainwright_comm::words_of_text("no")));
            assert_eq!(bits(&leader.store().unwrap().concat()), bits(&alone(4, 1)));
            leader.end().unwrap();
        });
    }
}

#[test]
fn a_norm_is_that_of_the_gradients_of_all_servers() {
    on_both(2, Consistency::Sync { backup: 0 }, |cast| {
        let Cast { mut leader, workers, .. } = cast;
        let _threads = run_workers(workers, &Pace::free());
        let plans = plans(1, 2);
        let whole = trainwright_comm::Stretch { norms: true, ..stretch(0, &plans) };
        let ran = leader.run(&whole).unwrap();
        let shares = [0, 1].map(|part| gradient(&lab::beginning(), 0, part));
        let squared: f64 = shares[0]
            .iter()
            .zip(&shares[1])
            .map(|(one, other)| f64::from(one + other) * f64::from(one + other))
            .sum();
        assert_eq!(ran.finished[0].squared, Some(squared));
        // The owners of the lab clip to a norm of 1.
        let values = leader.store().unwrap().concat();
        let moved = lab::beginning().iter().zip(&values).map(|(a, b)| (a - b).powi(2)).sum::<f32>();
        assert!((moved.sqrt() - RATE).abs() < 1e-5, "{}", moved.sqrt());
        leader.end().unwrap();
    });
}
