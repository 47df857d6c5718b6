//! A small simulator of listed tasks: for pipelines, whose tasks no plan of operators has.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A task that waits for others and then for its resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListedTask {
    pub(crate) name: String,
    pub(crate) resource: usize,
    /// Nanoseconds; none takes no time and waits for no resource.
    pub(crate) duration: u64,
    /// Places of the tasks that come before it.
    pub(crate) waits: Vec<usize>,
}

/// When a task was ready and ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ListedTimes {
    pub(crate) ready: u64,
    pub(crate) end: u64,
}

/// Serves tasks by (ready, place in the list), as the simulator of plans does by its keys.
pub(crate) fn serve(tasks: &[ListedTask]) -> Vec<ListedTimes> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); tasks.len()];
    let mut waits: Vec<usize> = tasks.iter().map(|task| task.waits.len()).collect();
    for (place, task) in tasks.iter().enumerate() {
        task.waits.iter().for_each(|&before| after[before].push(place));
    }
    let resources = tasks.iter().map(|task| task.resource + 1).max().unwrap_or(0);
    let (mut free, mut times) = (vec![0; resources], vec![ListedTimes::default(); tasks.len()]);
    let mut queue: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    let first = waits.iter().enumerate().filter(|(_, waits)| **waits == 0);
    queue.extend(first.map(|(place, _)| Reverse((0, place))));
    while let Some(Reverse((ready, place))) = queue.pop() {
        let task = &tasks[place];
        let end = match task.duration {
            0 => ready,
            _ => {
                free[task.resource] = ready.max(free[task.resource]) + task.duration;
                free[task.resource]
            }
        };
        times[place] = ListedTimes { ready, end };
        for &next in &after[place] {
            times[next].ready = times[next].ready.max(end);
            waits[next] -= 1;
            if waits[next] == 0 {
                queue.push(Reverse((times[next].ready, next)));
            }
        }
    }
    times
}
