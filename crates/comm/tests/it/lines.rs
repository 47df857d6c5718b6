//! Lines between threads and between processes, held to the same claims.

use trainwright_comm::{CommError, Group, Line, Loss, Message, Words};

use crate::lab::{options, sockets};

/// Both ends of a line, over each of the two carriers.
fn over_both(claim: impl Fn(Line, Line)) {
    let (here, there) = Line::pair(0, 1);
    claim(here, there);
    let mut lines = std::thread::scope(|scope| {
        let ranks: Vec<_> = sockets(2, &options())
            .into_iter()
            .map(|group| scope.spawn(move || group.into_lines().unwrap()))
            .collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(lines[0][0].is_none() && lines[1][1].is_none(), "no rank has a line to itself");
    let there = lines[1][0].take().unwrap();
    let here = lines[0][1].take().unwrap();
    claim(here, there);
}

const ROWS: [u32; 3] = [0, u32::MAX, 7];
const NEXT: [u32; 1] = [9];

fn words(values: &[f32]) -> Words<'_> {
    Words { kind: 5, numbers: [1, 2, 3, 4, 5, u64::MAX], rows: &ROWS, values, next: &NEXT }
}

#[test]
fn messages_arrive_whole_in_order_and_bit_by_bit() {
    over_both(|mut here, mut there| {
        let values = [1.5, f32::NEG_INFINITY, -0.0, f32::from_bits(0x7fc0_1234)];
        for length in [4, 0, 2] {
            here.send(&words(&values[..length])).unwrap();
        }
        // Memory that held more before is no part of what comes next.
        let mut heard = Message { values: vec![9.0; 50], ..Message::default() };
        for length in [4, 0, 2] {
            there.receive(&mut heard, 1000).unwrap();
            assert_eq!((heard.kind, heard.numbers[5]), (5, u64::MAX));
            assert_eq!((&heard.rows[..], &heard.next[..]), (&ROWS[..], &NEXT[..]));
            assert_eq!(crate::lab::bits(&heard.values), crate::lab::bits(&values[..length]));
        }
        assert_eq!((here.peer(), there.peer()), (1, 0));
        assert_eq!((here.traffic().messages, there.traffic().messages), (3, 0));
        assert_eq!(here.traffic().sent, there.traffic().received);
        assert!(here.check().is_ok() && there.check().is_ok());
    });
}

#[test]
fn the_limit_is_one_of_the_parts_and_is_kept_to_the_byte() {
    over_both(|mut here, mut there| {
        let values = [0.5; 10];
        // Three rows, ten values and one further row, of four bytes each.
        for _ in 0..2 {
            here.send(&words(&values)).unwrap();
        }
        let mut heard = Message::default();
        there.receive(&mut heard, 56).unwrap();
        let refused = there.receive(&mut heard, 55).unwrap_err();
        assert!(
            matches!(refused, CommError::TooLarge { rank: 0, bytes: 56, limit: 55 }),
            "{refused}"
        );
    });
}

#[test]
fn an_end_that_is_gone_is_named_after_all_that_it_sent_was_heard() {
    over_both(|mut here, mut there| {
        there.send(&words(&[2.5])).unwrap();
        drop(there);
        let mut heard = Message::default();
        // Between processes the end of the connection may be noticed before the message is read.
        let lost = match here.receive(&mut heard, 1000) {
            Ok(()) => {
                assert_eq!(heard.values, [2.5]);
                here.receive(&mut heard, 1000).unwrap_err()
            }
            Err(lost) => lost,
        };
        assert!(matches!(lost, CommError::PeerLost { rank: 1, .. }), "{lost}");
        assert!(matches!(here.send(&words(&[])), Err(CommError::PeerLost { rank: 1, .. })));
    });
}

#[test]
fn lines_of_many_threads_connect_every_two_of_them() {
    let mut lines = Line::threads(4);
    for (rank, own) in lines.iter().enumerate() {
        let peers: Vec<Option<usize>> =
            own.iter().map(|line| line.as_ref().map(Line::peer)).collect();
        let expected: Vec<Option<usize>> = (0..4).map(|to| (to != rank).then_some(to)).collect();
        assert_eq!(peers, expected, "rank {rank}");
    }
    for (from, to) in [(0, 3), (3, 0), (1, 2)] {
        let number = (10 * from + to) as u64;
        let words = Words { numbers: [number, 0, 0, 0, 0, 0], ..Words::default() };
        lines[from][to].as_mut().unwrap().send(&words).unwrap();
        let mut heard = Message::default();
        lines[to][from].as_mut().unwrap().receive(&mut heard, 0).unwrap();
        assert_eq!(heard.numbers[0], number);
    }
}

#[test]
fn threads_of_a_group_have_no_lines_and_cannot_form_again() {
    for group in Group::threads(1) {
        assert!(matches!(group.into_lines(), Err(CommError::CannotRegroup(_))));
    }
    let mut groups = Group::threads(2);
    drop(groups.pop());
    let told = groups.pop().unwrap().regroup().unwrap_err().to_string();
    assert_eq!(told, "this group cannot form again: its ranks are threads");
    assert_eq!(Loss::Left.to_string(), "it left the group while others still needed it");
}
