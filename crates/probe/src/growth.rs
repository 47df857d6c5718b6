//! What a process tree used between two looks at it, although its members come and go.

use std::collections::BTreeMap;

use crate::{ProcessIo, ProcessStat};

/// One member of the tree at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) stat: ProcessStat,
    pub(crate) resident_bytes: u64,
    /// Absent where the kernel does not let us look, as for a set-user-id program.
    pub(crate) io: Option<ProcessIo>,
    /// Time that its threads were ready and had no core, in nanoseconds; threads that have ended
    /// count no more. Absent where the kernel keeps no such account.
    pub(crate) run_queue_ns: Option<u64>,
}

/// The members of a tree at one moment, by process id.
pub(crate) type Tree = BTreeMap<u32, Member>;

/// What a tree used between two moments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Growth {
    pub(crate) user_ticks: u64,
    pub(crate) system_ticks: u64,
    pub(crate) read_bytes: u64,
    pub(crate) write_bytes: u64,
    pub(crate) run_queue_ns: u64,
}

/// A counter of one process: what it did itself and what its reaped children did in all.
#[derive(Clone, Copy, Default)]
struct Counter {
    own: u64,
    reaped: u64,
}

/// The pids of a tree: the group and the session `root` and `known` members with everything below
/// them.
///
/// `known` holds start times of earlier members, so that a process that has left the group and
/// lost its parent still counts, and a later process with its number does not.
pub(crate) fn members(
    processes: &[ProcessStat],
    root: u32,
    known: &BTreeMap<u32, u64>,
) -> Vec<ProcessStat> {
    let belongs = |process: &ProcessStat| {
        process.pid == root
            || process.group == root
            || process.session == root
            || known.get(&process.pid) == Some(&process.start_ticks)
    };
    let mut inside: BTreeMap<u32, ProcessStat> =
        processes.iter().filter(|p| belongs(p)).map(|&p| (p.pid, p)).collect();
    loop {
        let before = inside.len();
        for process in processes {
            if inside.contains_key(&process.parent) {
                inside.insert(process.pid, *process);
            }
        }
        if inside.len() == before {
            return inside.into_values().collect();
        }
    }
}

/// What the tree used between `before` and `after`.
///
/// When a process reaps a child, all that the child ever used is added to the parent's account.
/// The part already seen while the child lived is taken off again, so nothing counts twice and
/// nothing is negative. What an unreaped child did after its last sighting is lost.
pub(crate) fn growth(before: &Tree, after: &Tree) -> Growth {
    let user = |m: &Member| Counter { own: m.stat.user_ticks, reaped: m.stat.reaped_user_ticks };
    let system =
        |m: &Member| Counter { own: m.stat.system_ticks, reaped: m.stat.reaped_system_ticks };
    // The kernel keeps storage bytes of a process and of its reaped children in one number.
    let read = |m: &Member| Counter { own: 0, reaped: m.io.map_or(0, |io| io.read_bytes) };
    let write = |m: &Member| Counter { own: 0, reaped: m.io.map_or(0, |io| io.write_bytes) };
    // No parent inherits this account.
    let waited = |m: &Member| Counter { own: m.run_queue_ns.unwrap_or(0), reaped: 0 };
    Growth {
        user_ticks: counter_growth(before, after, user),
        system_ticks: counter_growth(before, after, system),
        read_bytes: counter_growth(before, after, read),
        write_bytes: counter_growth(before, after, write),
        run_queue_ns: counter_growth(before, after, waited),
    }
}

fn counter_growth(before: &Tree, after: &Tree, counter: impl Fn(&Member) -> Counter) -> u64 {
    let mut seen_of_vanished: BTreeMap<u32, u64> = BTreeMap::new();
    for member in before.values().filter(|member| !lives_on(member, after)) {
        if let Some(heir) = living_ancestor(member, before, after) {
            let Counter { own, reaped } = counter(member);
            *seen_of_vanished.entry(heir).or_default() += own + reaped;
        }
    }
    let mut total = 0;
    for (pid, member) in after {
        let now = counter(member);
        let then = before
            .get(pid)
            .filter(|old| old.stat.start_ticks == member.stat.start_ticks)
            .map_or(Counter::default(), &counter);
        let inherited = seen_of_vanished.get(pid).copied().unwrap_or(0);
        total += now.own.saturating_sub(then.own);
        total += now.reaped.saturating_sub(then.reaped).saturating_sub(inherited);
    }
    total
}

fn lives_on(member: &Member, after: &Tree) -> bool {
    after.get(&member.stat.pid).is_some_and(|now| now.stat.start_ticks == member.stat.start_ticks)
}

/// The nearest ancestor that is still there, to whose account a vanished process went.
fn living_ancestor(member: &Member, before: &Tree, after: &Tree) -> Option<u32> {
    let mut parent = before.get(&member.stat.parent)?;
    // Bounded, because the files were read one after the other and might show a circle.
    for _ in 0..before.len() {
        if lives_on(parent, after) {
            return Some(parent.stat.pid);
        }
        parent = before.get(&parent.stat.parent)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn process(pid: u32, parent: u32, group: u32) -> ProcessStat {
        ProcessStat {
            pid,
            state: 'S',
            parent,
            group,
            session: 1,
            terminal: 0,
            user_ticks: 0,
            system_ticks: 0,
            reaped_user_ticks: 0,
            reaped_system_ticks: 0,
            start_ticks: u64::from(pid) * 10,
        }
    }

    fn member(pid: u32, parent: u32, user: u64, reaped: u64) -> (u32, Member) {
        let mut stat = process(pid, parent, 1);
        (stat.user_ticks, stat.reaped_user_ticks) = (user, reaped);
        (pid, Member { stat, resident_bytes: 0, io: None, run_queue_ns: None })
    }

    #[track_caller]
    fn check(before: &[(u32, Member)], after: &[(u32, Member)], expected: u64) {
        let before = before.iter().copied().collect();
        let after = after.iter().copied().collect();
        assert_eq!(growth(&before, &after).user_ticks, expected);
    }

    #[test]
    fn members_are_the_group_and_everything_below() {
        let all = [
            process(1, 0, 1),
            process(10, 1, 10),  // the root
            process(11, 10, 10), // its child
            process(12, 11, 12), // a grandchild in its own group
            process(13, 1, 10),  // in the group, parent gone
            process(14, 13, 14), // below that one
            process(20, 1, 20),  // a stranger
            process(30, 1, 30),  // seen earlier, since left
            process(31, 1, 31),  // same number as one seen earlier, another process
        ];
        let known = BTreeMap::from([(30, 300), (31, 5)]);
        let found: Vec<u32> = members(&all, 10, &known).iter().map(|p| p.pid).collect();
        assert_eq!(found, [10, 11, 12, 13, 14, 30]);
    }

    #[test]
    fn a_new_child_counts_from_zero() {
        check(&[], &[member(1, 0, 5, 0)], 5);
        check(&[member(1, 0, 5, 0)], &[member(1, 0, 6, 0), member(2, 1, 3, 0)], 4);
    }

    #[test]
    fn a_reaped_child_counts_once() {
        let before = [member(1, 0, 5, 0), member(2, 1, 30, 0)];
        check(&before, &[member(1, 0, 5, 32)], 2);
        // A child that came and went unseen is wholly new.
        check(&[member(1, 0, 5, 0)], &[member(1, 0, 5, 7)], 7);
        // A grandchild's account went through its vanished parent.
        let before = [member(1, 0, 0, 0), member(2, 1, 10, 0), member(3, 2, 20, 0)];
        check(&before, &[member(1, 0, 0, 33)], 3);
    }

    #[test]
    fn an_unreaped_child_makes_nothing_negative() {
        check(&[member(1, 0, 5, 0), member(2, 1, 30, 0)], &[member(1, 0, 6, 0)], 1);
        check(&[member(1, 0, 5, 0)], &[], 0);
    }

    #[test]
    fn waiting_for_a_core_counts_while_a_process_lives() {
        let waiting = |pid: u32, run_queue_ns: u64| {
            let (pid, member) = member(pid, 1, 0, 0);
            (pid, Member { run_queue_ns: Some(run_queue_ns), ..member })
        };
        let before = Tree::from([waiting(1, 50), waiting(2, 30)]);
        // A thread of the first has ended and took its part along; the second is gone.
        assert_eq!(growth(&before, &Tree::from([waiting(1, 40)])).run_queue_ns, 0);
        let after = Tree::from([waiting(1, 70), waiting(2, 31), waiting(3, 5)]);
        assert_eq!(growth(&before, &after).run_queue_ns, 20 + 1 + 5);
    }

    #[test]
    fn a_reused_number_is_another_process() {
        let (pid, mut reused) = member(2, 1, 4, 0);
        reused.stat.start_ticks = 999;
        let before = [member(1, 0, 0, 0), member(2, 1, 30, 0)];
        check(&before, &[member(1, 0, 0, 30), (pid, reused)], 4);
    }

    /// A toy kernel: processes work, fork and are reaped; it knows the true total.
    #[derive(Default)]
    struct Kernel {
        tree: Tree,
        next: u32,
        truth: u64,
    }

    impl Kernel {
        fn step(&mut self, action: u8, chosen: usize) {
            let pids: Vec<u32> = self.tree.keys().copied().collect();
            let pid = pids[chosen % pids.len()];
            match action {
                0 => {
                    self.next += 1;
                    let (child, member) = member(self.next, pid, 0, 0);
                    self.tree.insert(child, member);
                }
                1 if pid != 1 && !self.tree.values().any(|m| m.stat.parent == pid) => {
                    let gone = self.tree.remove(&pid).unwrap().stat;
                    let parent = self.tree.get_mut(&gone.parent).unwrap();
                    parent.stat.reaped_user_ticks += gone.user_ticks + gone.reaped_user_ticks;
                }
                _ => {
                    self.tree.get_mut(&pid).unwrap().stat.user_ticks += 3;
                    self.truth += 3;
                }
            }
        }
    }

    proptest! {
        #[test]
        fn growth_sums_to_the_truth_when_every_child_is_reaped(
            steps in prop::collection::vec((0u8..4, 0usize..100, any::<bool>()), 0..120),
        ) {
            let mut kernel = Kernel { next: 1, ..Kernel::default() };
            kernel.tree.extend([member(1, 0, 0, 0)]);
            let (mut before, mut sum) = (Tree::new(), 0);
            for (action, chosen, look) in steps {
                kernel.step(action, chosen);
                if look {
                    sum += growth(&before, &kernel.tree).user_ticks;
                    before = kernel.tree.clone();
                }
            }
            sum += growth(&before, &kernel.tree).user_ticks;
            prop_assert_eq!(sum, kernel.truth);
        }
    }
}
