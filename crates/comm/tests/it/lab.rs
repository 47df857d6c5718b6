//! Ranks to try things with.

use std::thread;

use trainwright_comm::Group;

/// Runs `work` on every rank at once, and gives the results in the order of ranks.
pub fn on_each<R: Send>(groups: Vec<Group>, work: impl Fn(&mut Group) -> R + Sync) -> Vec<R> {
    thread::scope(|scope| {
        let work = &work;
        let start = |mut group: Group| scope.spawn(move || work(&mut group));
        let ranks: Vec<_> = groups.into_iter().map(start).collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

/// The bits of numbers, for comparisons in which -0.0 is not 0.0.
pub fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}
