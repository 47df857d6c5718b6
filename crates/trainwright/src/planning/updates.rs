//! How fast this machine updates parameters.

use std::sync::Barrier;
use std::time::Instant;

use trainwright_networks::{Adam, Numbers, Optimizer, Sgd, Team, Trained};
use trainwright_plan::UpdateRates;

/// Repetitions of a measurement; the middle one counts.
const REPETITIONS: usize = 9;

/// Most parameters that are updated: so many are in no cache.
const MOST: usize = 1 << 24;

/// How fast devices update the parameters of a network; none where it cannot be measured.
pub(crate) fn update_rates(
    parameters: u64,
    optimizer_slots: u8,
    devices: usize,
) -> Option<UpdateRates> {
    let all = usize::try_from(parameters).unwrap_or(MOST).clamp(1, MOST);
    let share = all.div_ceil(devices);
    Some(UpdateRates {
        alone_bytes_per_s: bytes_per_s(all, optimizer_slots, 1)?,
        copies_bytes_per_s: bytes_per_s(all, optimizer_slots, devices)?,
        shares_bytes_per_s: bytes_per_s(share, optimizer_slots, devices)?,
    })
}

/// Bytes a second of each of so many devices that update so many parameters at a time.
fn bytes_per_s(count: usize, optimizer_slots: u8, devices: usize) -> Option<f64> {
    let begin = Barrier::new(devices);
    let mut times: Vec<f64> = std::thread::scope(|scope| {
        let run = || scope.spawn(|| repeat(count, optimizer_slots, &begin));
        let all: Vec<_> = (0..devices).map(|_| run()).collect();
        all.into_iter().flat_map(|own| own.join().unwrap_or_default()).collect()
    });
    times.sort_by(f64::total_cmp);
    let middle = *times.get(times.len() / 2)?;
    // Weights are read and written, gradients read, each number of the optimiser read and written.
    let numbers = 3.0 + 2.0 * f64::from(optimizer_slots);
    (middle > 0.0).then(|| 4.0 * count as f64 * numbers / middle)
}

/// An optimiser of so many parameters that keeps so many numbers for each.
pub(crate) fn optimizer(count: usize, slots: u8) -> Box<dyn Optimizer> {
    let trained = Trained::ranges(count, std::slice::from_ref(&(0..count)));
    match slots {
        0 => Box::new(Sgd::new(trained)),
        1 => Box::new(Sgd::with_momentum(trained, 0.9)),
        _ => Box::new(Adam::new(trained)),
    }
}

/// Seconds of updates one after another.
fn repeat(count: usize, optimizer_slots: u8, begin: &Barrier) -> Vec<f64> {
    let mut optimizer = optimizer(count, optimizer_slots);
    let (mut parameters, mut gradients) = (Numbers::zeros(count), Numbers::zeros(count));
    begin.wait();
    let Ok(mut team) = Team::new(1) else { return Vec::new() };
    let mut found = Vec::new();
    for _ in 0..REPETITIONS {
        gradients.fill(0.01);
        let started = Instant::now();
        optimizer.step(&mut parameters, &gradients, 1e-3, &mut team);
        found.push(started.elapsed().as_secs_f64());
    }
    // The first touches memory for the first time.
    found.split_off(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_take_time_for_every_optimiser() {
        for slots in 0..3 {
            let found = update_rates(1000, slots, 2).unwrap();
            let rates =
                [found.alone_bytes_per_s, found.copies_bytes_per_s, found.shares_bytes_per_s];
            assert!(rates.iter().all(|rate| *rate > 0.0 && rate.is_finite()), "{slots}: {found:?}");
        }
    }
}
