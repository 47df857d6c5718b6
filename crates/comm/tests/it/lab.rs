//! Ranks to try things with.

use std::thread;
use std::time::Duration;

use trainwright_comm::{Coordinator, Group, JoinOptions, Secret, join};

/// Options of a test: quick, and with a secret of its own.
pub(crate) fn options() -> JoinOptions {
    JoinOptions {
        gathering: Duration::from_secs(10),
        ..JoinOptions::new(Secret::new(*b"a secret of tests").unwrap())
    }
}

/// Ranks in this process with real sockets between them.
pub(crate) fn sockets(size: usize, options: &JoinOptions) -> Vec<Group> {
    let coordinator = Coordinator::listen("127.0.0.1:0", options.clone()).unwrap();
    let address = coordinator.address().to_string();
    thread::scope(|scope| {
        let join = |rank| join(&address, Some(rank), options.clone()).unwrap();
        let others: Vec<_> = (1..size).map(|rank| scope.spawn(move || join(rank))).collect();
        let first = coordinator.gather(size).unwrap();
        let others = others.into_iter().map(|other| other.join().unwrap());
        std::iter::once(first).chain(others).collect()
    })
}

/// Runs `work` on every rank at once, and gives the results in the order of ranks.
pub(crate) fn on_each<R: Send>(
    groups: Vec<Group>,
    work: impl Fn(&mut Group) -> R + Sync,
) -> Vec<R> {
    thread::scope(|scope| {
        let work = &work;
        let start = |mut group: Group| scope.spawn(move || work(&mut group));
        let ranks: Vec<_> = groups.into_iter().map(start).collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

/// The bits of numbers, for comparisons in which -0.0 is not 0.0.
pub(crate) fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}
