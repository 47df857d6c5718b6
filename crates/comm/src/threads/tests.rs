//! Lent memory comes back, whatever readers do.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

use super::*;

const LIMIT: Duration = Duration::from_secs(20);

fn two() -> [ThreadTransport; 2] {
    ThreadTransport::ranks(2, LIMIT).try_into().expect("two ranks")
}

/// Panics without a message on the screen.
fn panic_quietly() {
    resume_unwind(Box::new(()));
}

#[test]
fn a_reader_that_panics_gives_the_message_back() {
    let [mut sender, mut reader] = two();
    let reading = thread::spawn(move || {
        let source = [Source { from: 0, parts: 1 }];
        reader.combine(Tag(1), &[], &source, 4096, &mut |_, _| panic_quietly())
    });
    let message = vec![7; 4096];
    let sent = sender.exchange(Tag(1), &[Outgoing { to: 1, parts: &[&message] }], &mut []);
    // The message was read, so that this may succeed; the loss is known afterwards at the latest.
    assert!(reading.join().is_err());
    assert!(matches!(sender.check(), Err(CommError::PeerLost { rank: 1, why: Loss::Panicked })));
    drop((sent, message));
}

#[test]
fn a_message_that_nobody_reads_is_taken_back_when_the_reader_goes() {
    let [mut sender, reader] = two();
    let gone = thread::spawn(move || drop(reader));
    let sent = sender.exchange(Tag(1), &[Outgoing { to: 1, parts: &[&[1]] }], &mut []);
    assert!(matches!(sent, Err(CommError::PeerLost { rank: 1, why: Loss::Left })), "{sent:?}");
    gone.join().unwrap();
}

#[test]
fn a_rank_that_panics_amid_the_vectors_of_all_waits_until_the_others_are_done() {
    for _ in 0..50 {
        let [mut first, mut second] = two();
        let panicking = thread::spawn(move || {
            let mut values = vec![1.0_f32; 20_000];
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                let mut work = |_: &mut [&mut [f32]]| panic_quietly();
                first.put_together(Tag(1), &mut values, 0..10_000, &mut work)
            }));
            // Its own vector is its own again: the other rank has written all of its piece.
            assert!(panicked.is_err());
            assert!(values[10_000..].iter().all(|value| *value == 2.0));
        });
        let mut values = vec![1.0_f32; 20_000];
        let mut work = |pieces: &mut [&mut [f32]]| {
            for piece in pieces {
                piece.fill(2.0);
            }
        };
        let done = second.put_together(Tag(1), &mut values, 10_000..20_000, &mut work);
        assert!(done.unwrap().is_ok(), "this rank has done its part");
        panicking.join().unwrap();
    }
}

#[test]
fn pieces_that_overlap_are_refused_before_anything_is_touched() {
    let touched = thread::scope(|scope| {
        let ranks = two().map(|mut rank| {
            scope.spawn(move || {
                let mut touched = false;
                let mut work = |_: &mut [&mut [f32]]| touched = true;
                let done = rank.put_together(Tag(1), &mut [0.0; 10], 3..7, &mut work);
                assert!(done.unwrap().is_err());
                touched
            })
        });
        ranks.map(|rank| rank.join().unwrap())
    });
    assert_eq!(touched, [false, false]);
}

#[test]
fn a_rank_that_never_comes_is_named_after_the_limit() {
    let mut ranks = ThreadTransport::ranks(3, Duration::from_millis(30));
    let mut values = [0.0; 4];
    let done = ranks[1].put_together(Tag(1), &mut values, 0..4, &mut |_| {});
    let error = done.unwrap().unwrap_err();
    assert!(matches!(error, CommError::PeerLost { rank: 0, why: Loss::TimedOut }), "{error}");
}
