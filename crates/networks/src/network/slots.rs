//! Which buffers of a training step may share memory: those that are never needed together.

/// A buffer that is wanted from one moment of a step to another, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lifetime {
    pub(crate) size: usize,
    pub(crate) first: usize,
    pub(crate) last: usize,
}

/// Where each buffer lies, and how large each slot must be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SlotPlan {
    pub(crate) slot_of: Vec<usize>,
    pub(crate) sizes: Vec<usize>,
}

impl SlotPlan {
    /// Gives each buffer a slot, in the order of their first moments: the smallest free slot that
    /// holds it, else the largest free one, which grows, else a new one.
    pub(crate) fn new(buffers: &[Lifetime]) -> Self {
        let mut order: Vec<usize> = (0..buffers.len()).collect();
        order.sort_by_key(|&index| buffers[index].first);
        let mut plan = Self { slot_of: vec![0; buffers.len()], sizes: Vec::new() };
        let mut busy_until: Vec<usize> = Vec::new();
        for index in order {
            let buffer = buffers[index];
            let free = (0..plan.sizes.len()).filter(|&slot| busy_until[slot] < buffer.first);
            let (holds, small): (Vec<usize>, Vec<usize>) =
                free.partition(|&slot| plan.sizes[slot] >= buffer.size);
            let tightest = holds.into_iter().min_by_key(|&slot| plan.sizes[slot]);
            let largest = small.into_iter().max_by_key(|&slot| plan.sizes[slot]);
            let slot = tightest.or(largest).unwrap_or_else(|| {
                plan.sizes.push(0);
                busy_until.push(0);
                plan.sizes.len() - 1
            });
            plan.sizes[slot] = plan.sizes[slot].max(buffer.size);
            busy_until[slot] = buffer.last;
            plan.slot_of[index] = slot;
        }
        plan
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn buffers_that_live_together_have_slots_of_their_own(
            raw in prop::collection::vec((1..100_usize, 0..50_usize, 0..20_usize), 0..40),
        ) {
            let buffers: Vec<Lifetime> = raw
                .into_iter()
                .map(|(size, first, length)| Lifetime { size, first, last: first + length })
                .collect();
            let plan = SlotPlan::new(&buffers);
            for (index, one) in buffers.iter().enumerate() {
                prop_assert!(plan.sizes[plan.slot_of[index]] >= one.size);
                for (other_index, other) in buffers.iter().enumerate().skip(index + 1) {
                    let together = one.first <= other.last && other.first <= one.last;
                    let shared = plan.slot_of[index] == plan.slot_of[other_index];
                    prop_assert!(!(together && shared));
                }
            }
        }
    }

    #[test]
    fn a_chain_needs_two_slots() {
        let chain: Vec<Lifetime> =
            (0..10).map(|at| Lifetime { size: 8, first: at, last: at + 1 }).collect();
        assert_eq!(SlotPlan::new(&chain).sizes, [8, 8]);
    }

    proptest! {
        #[test]
        fn slots_hold_the_busiest_moment_and_no_more_than_all_buffers(
            raw in prop::collection::vec((1..100_usize, 0..50_usize, 0..20_usize), 1..40),
        ) {
            let buffers: Vec<Lifetime> = raw
                .into_iter()
                .map(|(size, first, length)| Lifetime { size, first, last: first + length })
                .collect();
            let needed = |moment: usize| -> usize {
                let living = buffers.iter().filter(|it| it.first <= moment && moment <= it.last);
                living.map(|it| it.size).sum()
            };
            let busiest = (0..70).map(needed).max().unwrap();
            let planned: usize = SlotPlan::new(&buffers).sizes.iter().sum();
            let all: usize = buffers.iter().map(|it| it.size).sum();
            prop_assert!(busiest <= planned && planned <= all, "{busiest} {planned} {all}");
        }
    }

    #[test]
    fn the_tightest_free_slot_is_taken_and_else_the_largest_grows() {
        let buffer = |size, first, last| Lifetime { size, first, last };
        // Three slots of 10, 50 and 20; then 15 fits best into 20, and 60 lets 50 grow.
        let buffers = [
            buffer(10, 0, 0),
            buffer(50, 0, 0),
            buffer(20, 0, 0),
            buffer(15, 1, 2),
            buffer(60, 1, 2),
        ];
        let plan = SlotPlan::new(&buffers);
        assert_eq!((plan.slot_of, plan.sizes), (vec![0, 1, 2, 2, 1], vec![10, 60, 20]));
    }
}
