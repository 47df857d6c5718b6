//! A network that falls apart: a proxy that holds back the bytes between a rank and rank 0.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use trainwright_comm::{CommError, Coordinator, Group, JoinOptions, join};

use crate::lab::options;

/// Passes bytes on to an address, both ways, until it is blocked; connections stay open.
struct Proxy {
    address: String,
    blocked: Arc<AtomicBool>,
}

impl Proxy {
    fn before(target: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let blocked = Arc::new(AtomicBool::new(false));
        let flag = blocked.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let near = stream.unwrap();
                let far = TcpStream::connect(&target).unwrap();
                let pairs = [(near.try_clone().unwrap(), far.try_clone().unwrap()), (far, near)];
                for (from, to) in pairs {
                    let flag = flag.clone();
                    thread::spawn(move || pass_on(from, to, &flag));
                }
            }
        });
        Self { address, blocked }
    }

    fn block(&self) {
        self.blocked.store(true, Ordering::SeqCst);
    }
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, blocked: &AtomicBool) {
    let mut bytes = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        while blocked.load(Ordering::SeqCst) {
            thread::park_timeout(Duration::from_millis(20));
        }
        if to.write_all(&bytes[..read]).is_err() {
            return;
        }
    }
}

fn quick() -> JoinOptions {
    JoinOptions {
        heartbeat: Duration::from_millis(20),
        patience: Duration::from_millis(400),
        ..options()
    }
}

/// Rank 0, rank 1 and rank 2; those of `behind` reach rank 0 through the proxy.
fn group(behind: &[usize]) -> (Proxy, Vec<Group>) {
    let coordinator = Coordinator::listen("127.0.0.1:0", quick()).unwrap();
    let direct = coordinator.address().to_string();
    let proxy = Proxy::before(direct.clone());
    let others: Vec<_> = (1..3)
        .map(|rank| {
            let address = if behind.contains(&rank) { &proxy.address } else { &direct };
            let address = address.clone();
            thread::spawn(move || join(&address, Some(rank), quick()).unwrap())
        })
        .collect();
    let mut ranks = vec![coordinator.gather(3).unwrap()];
    ranks.extend(others.into_iter().map(|other| other.join().unwrap()));
    (proxy, ranks)
}

/// Adds up until the group comes apart, then meets the others again; the size of the new group.
fn go_on(mut group: Group) -> Result<(usize, usize), CommError> {
    while group.barrier().is_ok() {}
    let mut group = group.regroup()?;
    group.barrier()?;
    Ok((group.rank(), group.size()))
}

fn ends(ranks: Vec<Group>, proxy: &Proxy) -> Vec<Result<(usize, usize), CommError>> {
    let running: Vec<_> =
        ranks.into_iter().map(|rank| thread::spawn(move || go_on(rank))).collect();
    proxy.block();
    running.into_iter().map(|rank| rank.join().unwrap()).collect()
}

#[test]
fn ranks_cut_off_from_rank_0_end_and_never_form_a_second_group() {
    let (proxy, ranks) = group(&[1, 2]);
    let ends = ends(ranks, &proxy);
    // Rank 0 waits for one that may come, and goes on alone.
    assert_eq!(ends[0].as_ref().ok(), Some(&(0, 1)));
    for end in &ends[1..] {
        assert!(matches!(end, Err(CommError::NoCoordinator)), "{end:?}");
    }
}

#[test]
fn of_two_ranks_that_lose_each_other_the_one_with_rank_0_goes_on() {
    let (proxy, ranks) = group(&[2]);
    let ends = ends(ranks, &proxy);
    assert_eq!(ends[0].as_ref().ok(), Some(&(0, 2)), "{:?}", ends[0]);
    assert_eq!(ends[1].as_ref().ok(), Some(&(1, 2)), "{:?}", ends[1]);
    assert!(
        matches!(ends[2], Err(CommError::NoCoordinator | CommError::GivenUp { .. })),
        "{:?}",
        ends[2]
    );
}
