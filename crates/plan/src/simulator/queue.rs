//! A heap of queue entries, smallest first, with four children a node.

/// The queue of tasks that are ready.
#[derive(Debug, Clone, Default)]
pub(super) struct Queue {
    entries: Vec<u128>,
}

impl Queue {
    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    pub(super) fn entries(&self) -> &[u128] {
        &self.entries
    }

    /// Takes a copy of another queue's entries.
    pub(super) fn restore(&mut self, entries: &[u128]) {
        self.entries.clear();
        self.entries.extend_from_slice(entries);
    }

    pub(super) fn push(&mut self, entry: u128) {
        let entries = &mut self.entries;
        let mut at = entries.len();
        entries.push(entry);
        while at > 0 {
            let above = (at - 1) / 4;
            if entries[above] <= entry {
                break;
            }
            entries[at] = entries[above];
            at = above;
        }
        entries[at] = entry;
    }

    /// The smallest entry, which stays.
    pub(super) fn first(&self) -> Option<u128> {
        self.entries.first().copied()
    }

    /// Takes the smallest entry away.
    pub(super) fn pop(&mut self) -> Option<u128> {
        let last = self.entries.pop()?;
        if self.entries.is_empty() {
            return Some(last);
        }
        Some(self.replace_first(last))
    }

    /// Puts another entry in the place of the smallest, and gives that.
    ///
    /// # Panics
    /// When there is none.
    pub(super) fn replace_first(&mut self, last: u128) -> u128 {
        let entries = &mut self.entries;
        let first = entries[0];
        let count = entries.len();
        let mut at = 0;
        loop {
            let below = 4 * at + 1;
            if below >= count {
                break;
            }
            let least_at = below + least_of(&entries[below..(below + 4).min(count)]);
            let least = entries[least_at];
            if least >= last {
                break;
            }
            entries[at] = least;
            at = least_at;
        }
        entries[at] = last;
        first
    }
}

/// The place of the smallest of one to four; of four without a branch, which none could foretell.
fn least_of(entries: &[u128]) -> usize {
    if let &[first, second, third, fourth] = entries {
        let left = usize::from(second < first);
        let right = 2 + usize::from(fourth < third);
        let is_right = third.min(fourth) < first.min(second);
        return if is_right { right } else { left };
    }
    let mut least = 0;
    for at in 1..entries.len() {
        least = if entries[at] < entries[least] { at } else { least };
    }
    least
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn entries_come_out_in_order(
            entries in prop::collection::vec(any::<u128>(), 0..200),
            takes in prop::collection::vec(0..3_u8, 0..200),
        ) {
            let mut queue = Queue::default();
            let mut sorted: Vec<u128> = Vec::new();
            for (entry, take) in entries.into_iter().zip(takes.into_iter().chain(std::iter::repeat(0))) {
                prop_assert_eq!(queue.first(), sorted.last().copied());
                if take == 2 && !sorted.is_empty() {
                    prop_assert_eq!(Some(queue.replace_first(entry)), sorted.pop());
                } else {
                    queue.push(entry);
                }
                sorted.push(entry);
                sorted.sort_unstable_by(|a, b| b.cmp(a));
                if take == 1 {
                    prop_assert_eq!(queue.pop(), sorted.pop());
                }
            }
            while let Some(expected) = sorted.pop() {
                prop_assert_eq!(queue.pop(), Some(expected));
            }
            prop_assert_eq!(queue.pop(), None);
        }
    }
}
