//! Ends processes that a runner left behind when it died.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use trainwright_probe::{ProcessStat, process_stats};

use super::family::{below, is_marked};
use super::note::noted_processes;
use super::process::Process;
use crate::output::trial_folder;

/// A process that does not end even when killed hangs in the kernel; it is not waited for longer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Kills what is left of trials whose folders lie in `trials` and waits for its end; gives how many
/// processes there were.
///
/// A leftover is a process that is noted by number and start time, a member of the
/// session that such a process led, one that started later and says itself that it belongs to
/// that trial, or one below these. Ourselves, what we descend from, our own session, and whoever has
/// a terminal, which no trial has, are never touched. The caller makes sure that no other runner
/// works on the study.
pub(crate) fn end_leftovers(trials: &Path) -> usize {
    end_noted(&noted_trials(trials, None))
}

/// The same for one trial that another engine ran beside others.
pub(super) fn end_leftovers_of(trials: &Path, trial: u32) -> usize {
    end_noted(&noted_trials(trials, Some(trial)))
}

fn end_noted(noted: &[Noted]) -> usize {
    if noted.is_empty() {
        return 0;
    }
    let begun = Instant::now();
    let mut ended = BTreeSet::new();
    loop {
        // Without a process table there is nothing that we could end.
        let processes = process_stats().unwrap_or_default();
        let left = leftovers(&processes, noted, std::process::id(), &is_marked);
        if left.is_empty() {
            return ended.len();
        }
        if begun.elapsed() > PATIENCE {
            tracing::warn!(processes = left.len(), "leftover processes survive being killed");
            return ended.len();
        }
        let handles: Vec<Process> = left.iter().filter_map(Process::kill).collect();
        ended.extend(left.iter().map(|process| process.pid));
        for handle in handles {
            handle.wait_alone(PATIENCE.saturating_sub(begun.elapsed()));
        }
    }
}

/// A trial's folder and a process that it notes.
type Noted = (PathBuf, ProcessStat);

fn noted_trials(trials: &Path, alone_for: Option<u32>) -> Vec<Noted> {
    // Trials are given canonical paths; a folder that is not there has no trials.
    let Ok(trials) = fs::canonicalize(trials) else { return Vec::new() };
    let noted = noted_processes(&trials, alone_for).into_iter();
    noted.map(|(trial, process)| (trial_folder(&trials, trial), process)).collect()
}

/// Living processes of noted trials, as seen by the process `own`.
fn leftovers(
    processes: &[ProcessStat],
    noted: &[Noted],
    own: u32,
    is_marked: &dyn Fn(u32, &Path) -> bool,
) -> Vec<ProcessStat> {
    let by_pid: BTreeMap<u32, &ProcessStat> =
        processes.iter().map(|process| (process.pid, process)).collect();
    let spared = untouchable(&by_pid, own);
    let mut roots = BTreeSet::new();
    for (folder, leader) in noted {
        let now = by_pid.get(&leader.pid);
        let lives = now.is_some_and(|now| now.start_ticks == leader.start_ticks);
        let later = |process: &&ProcessStat| {
            process.start_ticks >= leader.start_ticks && process.terminal == 0
        };
        let marked: BTreeSet<u32> = processes
            .iter()
            .filter(later)
            .filter(|process| !spared.contains(&process.pid) && is_marked(process.pid, folder))
            .map(|process| process.pid)
            .collect();
        let in_session = |process: &&ProcessStat| process.session == leader.pid;
        // The kernel gives a number to no other process while it still names a session, so with
        // the leader gone, the session is its own where a member says so.
        let told = processes.iter().filter(in_session).any(|member| marked.contains(&member.pid));
        if lives || (now.is_none() && told) {
            let members = processes.iter().filter(later).filter(in_session);
            roots.extend(members.map(|process| process.pid));
        }
        roots.extend(marked);
    }
    let mut left = below(processes, &roots);
    left.extend(roots.iter().filter_map(|pid| by_pid.get(pid).copied().copied()));
    left.retain(|process| !spared.contains(&process.pid) && process.state != 'Z');
    left
}

/// The process itself, all that it descends from, and everything in its session.
fn untouchable(by_pid: &BTreeMap<u32, &ProcessStat>, own: u32) -> BTreeSet<u32> {
    let mut line = BTreeSet::from([0, 1]);
    let mut ancestor = own;
    // The table was read process by process, so it might show a circle.
    while line.insert(ancestor) {
        ancestor = by_pid.get(&ancestor).map_or(0, |process| process.parent);
    }
    let session = by_pid.get(&own).map(|process| process.session);
    let beside = by_pid.values().filter(|process| Some(process.session) == session);
    line.extend(beside.map(|process| process.pid));
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process that started at ten times its number.
    fn process(pid: u32, parent: u32, session: u32) -> ProcessStat {
        ProcessStat {
            pid,
            state: 'S',
            parent,
            group: session,
            session,
            terminal: 0,
            user_ticks: 0,
            system_ticks: 0,
            reaped_user_ticks: 0,
            reaped_system_ticks: 0,
            start_ticks: u64::from(pid) * 10,
        }
    }

    /// Which processes end, when 50 is the noted leader, 90 is the runner and `marked` bear the
    /// trial's mark.
    #[track_caller]
    fn check(processes: &[ProcessStat], marked: &[u32], expected: &[u32]) {
        let mut all = vec![process(1, 0, 1), process(80, 1, 80), process(90, 80, 80)];
        all.extend_from_slice(processes);
        let noted = [(PathBuf::from("/t/1"), process(50, 40, 50))];
        let is_marked = |pid: u32, _: &Path| marked.contains(&pid);
        let mut left: Vec<u32> =
            leftovers(&all, &noted, 90, &is_marked).iter().map(|process| process.pid).collect();
        left.sort_unstable();
        assert_eq!(left, expected);
    }

    #[test]
    fn the_noted_process_ends_with_its_session_and_what_is_below() {
        check(&[process(50, 1, 50), process(51, 50, 50), process(52, 51, 52)], &[], &[50, 51, 52]);
    }

    #[test]
    fn a_later_process_of_the_same_number_is_not_touched() {
        let reused = ProcessStat { start_ticks: 700, ..process(50, 1, 50) };
        check(&[reused, process(71, 50, 50)], &[], &[]);
    }

    #[test]
    fn a_session_without_its_leader_needs_a_member_that_says_whose_it_is() {
        let members = [process(51, 1, 50), process(52, 1, 50)];
        check(&members, &[], &[]);
        check(&members, &[52], &[51, 52]);
    }

    #[test]
    fn a_process_that_left_the_session_is_known_by_its_mark() {
        check(&[process(60, 1, 60), process(61, 60, 60)], &[60], &[60, 61]);
        check(&[process(45, 1, 45)], &[45], &[]);
    }

    #[test]
    fn ancestors_their_session_and_terminals_are_never_touched() {
        let shell = ProcessStat { terminal: 34816, ..process(70, 1, 70) };
        check(&[shell, process(85, 80, 80)], &[70, 80, 85, 90], &[]);
    }
}
