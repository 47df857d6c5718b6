//! Workers and servers that are slow, gone, or talk nonsense.

use std::time::{Duration, Instant};

use trainwright_comm::{CommError, Consistency, Line, Loss, Message, Words};

use super::lab::{Cast, Pace, cast, plans, run_workers, stretch, work};
use crate::lab::options;

#[test]
fn of_workers_with_a_backup_a_slow_one_holds_nobody_up_and_only_its_pushes_are_dropped() {
    let Cast { mut leader, workers, .. } = cast(3, 2, Consistency::Sync { backup: 1 }, None);
    let (pace, go) = Pace::slow(0);
    let threads = run_workers(workers, &pace);
    // The slow worker has not pushed once, and 20 steps are made.
    let ran = leader.run(&stretch(0, &plans(20, 2))).unwrap();
    assert_eq!(ran.finished.len(), 20);
    // Now it pushes its gradients of version 0: they come too late.
    go.send(()).unwrap();
    let accounts = leader.account_of_workers();
    assert_eq!(accounts.len(), 3, "a slow worker is alive");
    let dropped = leader.dropped();
    for account in leader.account_of_servers().unwrap() {
        let counts: Vec<(u64, u64)> = account.staleness.counts().collect();
        assert_eq!((counts, account.dropped), (vec![(0, 40)], dropped));
    }
    leader.end().unwrap();
    drop(go);
    let pushes: Vec<u64> = threads.into_iter().map(|own| own.join().unwrap()).collect();
    assert_eq!((pushes[0], pushes.iter().sum::<u64>()), (1, 40 + dropped));
}

#[test]
fn backups_replace_the_dead_and_no_more_than_there_are() {
    let Cast { mut leader, mut workers, .. } = cast(3, 2, Consistency::Sync { backup: 1 }, None);
    drop(workers.pop());
    let last = workers.pop().unwrap();
    let _threads = run_workers(workers, &Pace::free());
    let other = std::thread::spawn(move || {
        let (pace, go) = Pace::slow(0);
        // Leave for eight pushes; then it is gone.
        (0..8).for_each(|_| go.send(()).unwrap());
        drop(go);
        work(0, last, &pace)
    });
    let ran = leader.run(&stretch(0, &plans(5, 2))).unwrap();
    assert_eq!(ran.finished.len(), 5);
    assert_eq!(leader.lost().len(), 1);
    // The one that is left may make some steps alone before the other one has pushed and gone.
    let next = |first| leader.run(&stretch(first, &plans(20, 2))).err();
    let error = (5..).step_by(20).find_map(next).unwrap();
    assert!(matches!(error, CommError::PeerLost { rank: 2, why: Loss::Left }), "{error}");
    other.join().unwrap().unwrap();
}

#[test]
fn without_backup_a_lost_worker_is_named() {
    let options = options();
    for over in [None, Some(&options)] {
        let Cast { mut leader, mut workers, .. } =
            cast(3, 2, Consistency::Sync { backup: 0 }, over);
        let gone = workers.remove(1);
        let _threads = run_workers(workers, &Pace::free());
        drop(gone);
        let start = Instant::now();
        let error = leader.run(&stretch(0, &plans(5, 3))).unwrap_err();
        assert!(matches!(error, CommError::PeerLost { rank: 2, why: Loss::Left }), "{error}");
        assert!(start.elapsed() < Duration::from_secs(15));
    }
}

#[test]
fn what_a_lost_worker_had_is_computed_by_the_others() {
    let options = options();
    for over in [None, Some(&options)] {
        for rule in [Consistency::Async, Consistency::Bounded { slack: 1 }] {
            let Cast { mut leader, mut workers, .. } = cast(3, 2, rule, over);
            let parts = leader.parts();
            let last = workers.pop().unwrap();
            let _threads = run_workers(workers, &Pace::free());
            let mortal = std::thread::spawn(move || {
                let (pace, go) = Pace::slow(0);
                (0..4).for_each(|_| go.send(()).unwrap());
                drop(go);
                // It goes while it has a share that it has pulled for.
                work(0, last, &pace)
            });
            leader.keep_log();
            let ran = leader.run(&stretch(0, &plans(60, parts))).unwrap();
            assert_eq!(ran.finished.len(), 60);
            mortal.join().unwrap().unwrap();
            for log in leader.log().unwrap() {
                let mut shares: Vec<_> =
                    log.iter().flat_map(|own| &own.pushes).map(|push| push.share).collect();
                shares.sort_unstable();
                let all = shares.len();
                shares.dedup();
                assert_eq!((shares.len(), all), (60 * parts, 60 * parts), "{rule:?}");
            }
            leader.end().unwrap();
        }
    }
}

#[test]
fn nonsense_from_a_worker_ends_its_own_line_and_no_other() {
    let options = options();
    let Cast { mut leader, workers, .. } = cast(1, 2, Consistency::Async, Some(&options));
    let _threads = run_workers(workers, &Pace::free());
    leader.run(&stretch(0, &plans(3, 1))).unwrap();
    // A server whose worker claims rows that are not there, a push of another length, or a kind
    // that there is not, answers no more; the others are served on.
    let nonsense = [
        Words { kind: 1, next: &[7], ..Words::default() },
        Words { kind: 2, values: &[1.0], ..Words::default() },
        Words { kind: 99, ..Words::default() },
    ];
    for words in nonsense {
        let (mut near, far) = Line::pair(1, 9);
        let (mut leads, led) = Line::pair(0, 9);
        let piece = super::lab::new_piece();
        let server = std::thread::spawn(move || {
            trainwright_comm::Server::new(piece).serve(led, vec![far], 1 << 12)
        });
        near.send(&words).unwrap();
        assert!(near.receive(&mut Message::default(), 1000).is_err(), "{words:?}");
        // It still obeys its leader.
        leads.send(&Words { kind: 7, ..Words::default() }).unwrap();
        let mut stored = Message::default();
        leads.receive(&mut stored, 1000).unwrap();
        assert_eq!(stored.values.len(), 2);
        leads.send(&Words { kind: 12, ..Words::default() }).unwrap();
        server.join().unwrap().unwrap();
    }
    leader.run(&stretch(3, &plans(3, 1))).unwrap();
    leader.end().unwrap();
}

#[test]
fn a_server_that_is_gone_is_named_to_the_leader() {
    let options = options();
    for over in [None, Some(&options)] {
        let Cast { mut leader, workers, .. } = cast(2, 1, Consistency::Async, over);
        // A second server that leaves at once: nobody serves the second half.
        let _threads = run_workers(workers, &Pace::free());
        leader.run(&stretch(0, &plans(3, 1))).unwrap();
        leader.end().unwrap();
        let error = leader.run(&stretch(3, &plans(3, 1))).unwrap_err();
        assert!(matches!(error, CommError::PeerLost { rank: 3, .. }), "{error}");
    }
}

#[test]
fn a_message_longer_than_the_limit_is_refused_before_memory_is_asked_for() {
    let options = options();
    let mut lines: Vec<Vec<Option<Line>>> = {
        let groups = crate::lab::sockets(2, &options);
        let splitting: Vec<_> = groups
            .into_iter()
            .map(|group| std::thread::spawn(move || group.into_lines().unwrap()))
            .collect();
        splitting.into_iter().map(|own| own.join().unwrap()).collect()
    };
    let mut far = lines.pop().unwrap().remove(0).unwrap();
    let mut near = lines.pop().unwrap().remove(1).unwrap();
    near.send(&Words { values: &[0.0; 100], ..Words::default() }).unwrap();
    let error = far.receive(&mut Message::default(), 300).unwrap_err();
    assert!(matches!(error, CommError::TooLarge { rank: 0, bytes: 400, limit: 300 }), "{error}");
}
