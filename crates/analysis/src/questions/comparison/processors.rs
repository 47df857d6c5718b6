//! Work on many items, shared out to all processors.

use std::num::NonZero;
use std::thread;

/// Items from which a second thread is worth its start.
const MANY: usize = 1000;

/// What becomes of each item, in their order, whatever the number of processors.
pub(super) fn on_all_processors<I: Sync, T: Send>(
    items: &[I],
    work: impl Fn(&I) -> T + Sync,
) -> Vec<T> {
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let part = items.len().div_ceil(workers).max(MANY);
    if items.len() <= part {
        return items.iter().map(work).collect();
    }
    let work = &work;
    thread::scope(|scope| {
        let parts: Vec<_> = items
            .chunks(part)
            .map(|part| scope.spawn(move || part.iter().map(work).collect::<Vec<T>>()))
            .collect();
        parts.into_iter().flat_map(|part| part.join().expect("the work does not panic")).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_worked_on_once_and_in_order() {
        for count in [0, 1, MANY, MANY + 1, 10 * MANY + 7] {
            let items: Vec<usize> = (0..count).collect();
            let squares = on_all_processors(&items, |item| item * item);
            let expected: Vec<usize> = items.iter().map(|item| item * item).collect();
            assert_eq!(squares, expected);
        }
    }
}
