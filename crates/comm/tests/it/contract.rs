//! What every transport must do, run over threads and over sockets.

use std::time::Duration;

use trainwright_comm::{Algorithm, CommError, Group, Loss, Order, Pieces};

use crate::lab::{on_each, options, sockets};

/// Runs a claim over both transports, for several numbers of ranks.
fn over_both(claim: impl Fn(&mut Group) + Sync) {
    for size in 1..=5 {
        on_each(Group::threads(size), &claim);
        on_each(sockets(size, &options()), &claim);
    }
}

#[test]
fn broadcast_reaches_every_rank_from_every_root() {
    over_both(|group| {
        for root in 0..group.size() {
            let mut values = vec![(group.rank() + 1) as f32; 3000];
            group.broadcast(&mut values, root).unwrap();
            assert_eq!(values, vec![(root + 1) as f32; 3000]);
            let mut bytes = vec![group.rank() as u8; group.rank() + 1];
            group.broadcast_bytes(&mut bytes, root, 10).unwrap();
            assert_eq!(bytes, vec![root as u8; root + 1]);
        }
    });
}

#[test]
fn a_broadcast_above_the_limit_is_refused_by_all() {
    over_both(|group| {
        let mut bytes = vec![0; 100];
        let refused = group.broadcast_bytes(&mut bytes, 0, 99).unwrap_err();
        assert!(matches!(refused, CommError::TooLarge { rank: 0, bytes: 100, limit: 99 }));
        // All have refused it, so that all are still in step.
        group.barrier().unwrap();
    });
}

#[test]
fn bytes_of_unequal_lengths_are_gathered_in_the_order_of_ranks() {
    over_both(|group| {
        let own = vec![group.rank() as u8; group.rank() * 1000];
        let all = group.all_gather_bytes(&own, 5000).unwrap();
        let expected: Vec<Vec<u8>> =
            (0..group.size()).map(|rank| vec![rank as u8; rank * 1000]).collect();
        assert_eq!(all, expected);
        let own = [group.rank() as f32, 0.5];
        let all = group.all_gather_equal(&own).unwrap();
        let expected: Vec<f32> = (0..group.size()).flat_map(|rank| [rank as f32, 0.5]).collect();
        assert_eq!(all, expected);
    });
}

#[test]
fn no_rank_passes_a_barrier_before_the_last_has_come() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    for size in [2, 3, 5] {
        for groups in [Group::threads(size), sockets(size, &options())] {
            let come = AtomicUsize::new(0);
            on_each(groups, |group| {
                for round in 1..=20 {
                    come.fetch_add(1, Ordering::SeqCst);
                    group.barrier().unwrap();
                    assert!(come.load(Ordering::SeqCst) >= round * size);
                }
            });
        }
    }
}

#[test]
fn a_rank_sends_to_another_and_a_third_waits_for_either() {
    over_both(|group| {
        let last = group.size() - 1;
        if group.size() < 3 {
            return;
        }
        if group.rank() == last {
            let mut missing: Vec<usize> = (0..last).collect();
            while !missing.is_empty() {
                let from = group.ready(&missing, Duration::from_secs(5)).unwrap().unwrap();
                let mut into = [0; 2];
                group.receive(from, 77, &mut into).unwrap();
                assert_eq!(into, [from as u8, 9]);
                missing.retain(|rank| *rank != from);
            }
            assert_eq!(group.ready(&[0], Duration::from_millis(5)).unwrap(), None);
        } else {
            group.send(last, 77, &[group.rank() as u8, 9]).unwrap();
        }
        group.barrier().unwrap();
    });
}

#[test]
fn large_messages_go_both_ways_at_once() {
    // More than sockets buffer: a rank that would send first and receive later would hang.
    over_both(|group| {
        let mut values = vec![group.rank() as f32; 3_000_000];
        group.all_reduce(&mut values, Algorithm::Sharded, Order::Fixed).unwrap();
        let sum = (0..group.size()).sum::<usize>() as f32;
        assert!(values.iter().all(|value| *value == sum));
    });
}

#[test]
fn bytes_and_messages_are_counted() {
    over_both(|group| {
        let (size, length) = (group.size(), 20_480_usize);
        let before = group.traffic();
        let mut values = vec![1.0; length];
        group.all_gather(&mut values, &Pieces::new(length, size, 1)).unwrap();
        let after = group.traffic();
        let own = Pieces::new(length, size, 1).range(group.rank()).len();
        assert_eq!(after.sent - before.sent, (4 * own * (size - 1)) as u64);
        assert_eq!(after.received - before.received, 4 * (length - own) as u64);
        assert_eq!(after.messages - before.messages, size as u64 - 1);
    });
}

#[test]
fn ranks_at_different_operations_notice() {
    for groups in [Group::threads(2), sockets(2, &options())] {
        let errors = on_each(groups, |group| {
            if group.rank() == 0 {
                // Over sockets the message is gone before it is refused, and the other's first
                // barrier may have come before that.
                let sent = group.send(1, 5, &[0; 4]);
                sent.and_then(|()| group.barrier()).and_then(|()| group.barrier()).unwrap_err()
            } else {
                group.barrier().unwrap_err()
            }
        });
        assert!(
            matches!(errors[1], CommError::OutOfStep { rank: 0, .. }),
            "the one that reads knows: {}",
            errors[1]
        );
    }
}

#[test]
fn vectors_of_different_lengths_are_told_with_both() {
    for groups in [Group::threads(2), sockets(2, &options())] {
        let errors = on_each(groups, |group| {
            let mut values = vec![0.0; if group.rank() == 0 { 4096 } else { 8192 }];
            group.all_reduce(&mut values, Algorithm::Sharded, Order::Fixed).unwrap_err()
        });
        let told = |error: &CommError| {
            matches!(error, CommError::WrongLength { .. } | CommError::PeerLost { .. })
        };
        assert!(errors.iter().all(told), "{errors:?}");
        assert!(errors.iter().any(|error| matches!(error, CommError::WrongLength { .. })));
    }
}

#[test]
fn a_rank_that_leaves_is_named_to_those_that_need_it() {
    for groups in [Group::threads(3), sockets(3, &options())] {
        let ends = on_each(groups, |group| {
            if group.rank() == 1 {
                // Goes at once: the closure's end drops the group in the thread's own loop.
                return None;
            }
            Some((group.barrier().unwrap_err(), group.barrier().unwrap_err()))
        });
        for (first, second) in ends.into_iter().flatten() {
            for error in [first, second] {
                assert!(
                    matches!(error, CommError::PeerLost { rank: 1, why: Loss::Left }),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn a_rank_that_panics_is_named() {
    for mut groups in [Group::threads(3), sockets(3, &options())] {
        let panicking = groups.remove(2);
        let panicked = std::thread::spawn(move || {
            let _group = panicking;
            // A panic without its message on the screen.
            std::panic::resume_unwind(Box::new(()));
        });
        for error in on_each(groups, |group| group.barrier().unwrap_err()) {
            assert!(matches!(error, CommError::PeerLost { rank: 2, .. }), "{error}");
        }
        assert!(panicked.join().is_err());
    }
}

#[test]
fn a_rank_that_does_not_exist_is_told_before_anything_is_sent() {
    over_both(|group| {
        let size = group.size();
        let error = group.send(size, 0, &[]).unwrap_err();
        assert!(matches!(error, CommError::NoSuchRank { rank, .. } if rank == size));
        assert!(group.receive(group.rank(), 0, &mut []).is_err(), "not even to itself");
        assert!(group.broadcast(&mut [0.0], size).is_err());
        group.barrier().unwrap();
    });
}
