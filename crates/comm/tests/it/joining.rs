//! Who may join, and what becomes of those who may not.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use trainwright_comm::{CommError, Coordinator, Group, JoinOptions, Refusal, Secret, join};

use crate::lab::options;

/// A coordinator that gathers in a thread, and its address.
fn gathering(
    size: usize,
    options: JoinOptions,
) -> (thread::JoinHandle<Result<Group, CommError>>, String) {
    let coordinator = Coordinator::listen("127.0.0.1:0", options).unwrap();
    let address = coordinator.address().to_string();
    (thread::spawn(move || coordinator.gather(size)), address)
}

/// Ranks that join at once; all must get in.
fn joined(address: &str, wanted: &[Option<usize>]) -> Vec<Group> {
    thread::scope(|scope| {
        let join = |rank| move || join(address, rank, options()).unwrap();
        let ranks: Vec<_> = wanted.iter().map(|rank| scope.spawn(join(*rank))).collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

fn refusal(result: Result<Group, CommError>) -> Refusal {
    match result {
        Err(CommError::Refused { refusal, .. }) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn ranks_get_what_they_want_and_the_others_what_is_left() {
    let (first, address) = gathering(4, options());
    let ranks = joined(&address, &[None, Some(3), Some(1)]);
    let found: Vec<usize> = ranks.iter().map(Group::rank).collect();
    assert_eq!(found, [2, 3, 1]);
    assert_eq!(first.join().unwrap().unwrap().rank(), 0);
}

#[test]
fn another_secret_is_refused_by_both_sides_and_the_group_forms_without_it() {
    let (first, address) = gathering(2, options());
    let stranger = JoinOptions { secret: Secret::random().unwrap(), ..options() };
    assert_eq!(refusal(join(&address, Some(1), stranger)), Refusal::Secret);
    joined(&address, &[Some(1)]);
    assert!(first.join().unwrap().is_ok());
}

#[test]
fn a_false_coordinator_that_does_not_know_the_secret_gets_no_member() {
    // It answers the hello with a nonce, and the proof with the same proof.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let echo = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut frame = [0; 64];
        stream.read_exact(&mut frame).unwrap();
        frame[6] = 6;
        stream.write_all(&frame).unwrap();
        stream.read_exact(&mut frame).unwrap();
        stream.write_all(&frame).unwrap();
        // It must be told nothing further.
        stream.read(&mut frame).unwrap()
    });
    assert_eq!(refusal(join(&address, None, options())), Refusal::Secret);
    assert_eq!(echo.join().unwrap(), 0);
}

#[test]
fn another_job_is_refused_with_both_fingerprints() {
    let of = |job: &str| JoinOptions { fingerprint: job.to_owned(), ..options() };
    let (first, address) = gathering(2, of("zen3 abc"));
    let told = refusal(join(&address, None, of("zen4 abc")));
    let [group, joiner] = ["zen3 abc", "zen4 abc"].map(str::to_owned);
    assert_eq!(told, Refusal::Fingerprint { group, joiner });
    join(&address, None, of("zen3 abc")).unwrap();
    assert!(first.join().unwrap().is_ok());
}

#[test]
fn wrong_ranks_are_refused() {
    let (first, address) = gathering(3, options());
    let told = |rank| refusal(join(&address, Some(rank), options()));
    assert_eq!(told(7), Refusal::NoSuchRank { rank: 7, size: 3 });
    assert_eq!(told(0), Refusal::RankTaken { rank: 0 });
    joined(&address, &[Some(1), Some(2)]);
    assert!(first.join().unwrap().is_ok());
}

#[test]
fn the_ranks_that_do_not_come_are_named() {
    let hurried = JoinOptions { gathering: Duration::from_millis(300), ..options() };
    let (first, address) = gathering(4, hurried);
    let other = thread::spawn(move || join(&address, Some(2), options()));
    match first.join().unwrap() {
        Err(CommError::Missing { ranks, size: 4, .. }) => assert_eq!(ranks, [1, 3]),
        other => panic!("{other:?}"),
    }
    assert!(other.join().unwrap().is_err(), "rank 2 hears of it");
}

#[test]
fn a_joiner_that_dies_makes_room_for_another() {
    let (first, address) = gathering(3, options());
    let hurried = JoinOptions { gathering: Duration::from_millis(200), ..options() };
    assert!(join(&address, Some(1), hurried).is_err(), "rank 2 never came");
    joined(&address, &[Some(1), Some(2)]);
    assert!(first.join().unwrap().is_ok());
}

#[test]
fn no_coordinator_is_told_after_the_time_for_gathering() {
    let address = {
        let coordinator = Coordinator::listen("127.0.0.1:0", options()).unwrap();
        coordinator.address().to_string()
    };
    let hurried = JoinOptions { gathering: Duration::from_millis(200), ..options() };
    assert!(matches!(join(&address, None, hurried), Err(CommError::NoAnswer { .. })));
}

#[test]
fn strangers_and_slow_callers_hold_nobody_up() {
    let (first, address) = gathering(3, options());
    let call = |bytes: &[u8]| {
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.write_all(bytes).unwrap();
        stream
    };
    // A browser, a scanner, one that begins well and stops, one that claims a long message.
    let mut hello = vec![b'T', b'W', b'c', b'm', 1, 0, 5, 0];
    hello.extend([0; 16]);
    let long = [&hello[..], &[255; 8]].concat();
    let strangers = [
        call(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        call(&[0xff; 4096]),
        call(&hello),
        call(&long),
        call(b""),
    ];
    let start = Instant::now();
    joined(&address, &[Some(1), Some(2)]);
    assert!(first.join().unwrap().is_ok());
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
    drop(strangers);
}

#[test]
fn hundreds_of_silent_callers_delay_a_rank_by_their_time_for_manners_only() {
    let (first, address) = gathering(2, options());
    let silent: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(&address).unwrap()).collect();
    let start = Instant::now();
    joined(&address, &[Some(1)]);
    assert!(first.join().unwrap().is_ok());
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
    drop(silent);
}
