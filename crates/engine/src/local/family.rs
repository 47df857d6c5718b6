//! All processes of one trial: how they start, and how none outlives it.
//!
//! A trial's process leads a session of its own, without a terminal. What it starts may leave the
//! session and lose its parents; as this process is a subreaper, the kernel then makes it our
//! child. So everything that a trial left is below us, and is known by its session, by the
//! variable that names the trial's folder, by its output, by having been seen below a member, or
//! where this process has no other children, by being older than all trials that are under way.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::wait::{Id, WaitPidFlag, waitid};

use trainwright_probe::{ProcessStat, process_stats};

use super::note::TrialNote;
use super::process::{Process, reap_quietly};
use super::start::Program;
use crate::output::{STDERR, STDOUT};
use crate::render::FOLDER_VARIABLE;

/// Killed processes are gone in no time; a kernel that is stuck is not waited for longer.
const FAREWELL: Duration = Duration::from_secs(2);

/// Sessions of all trials that this process has under way, whichever engine runs them.
///
/// It is held while a process starts and while the dead are collected, so that no new trial is
/// taken for an orphan of another one.
static SESSIONS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn sessions() -> MutexGuard<'static, BTreeSet<u32>> {
    // A set is right after every step, so a panic elsewhere leaves it usable.
    SESSIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The processes of one trial; they end with it.
#[derive(Debug)]
pub(super) struct Family<'a> {
    folder: PathBuf,
    note: TrialNote<'a>,
    children: Children,
    sessions: BTreeSet<u32>,
    /// Start times of members by process number.
    members: BTreeMap<u32, u64>,
}

impl<'a> Family<'a> {
    /// The family of the trial with this folder, an absolute path.
    pub(super) fn new(folder: &Path, note: TrialNote<'a>, children: Children) -> Self {
        Self {
            folder: folder.to_owned(),
            note,
            children,
            sessions: BTreeSet::new(),
            members: BTreeMap::new(),
        }
    }

    /// Starts a process that leads a session of its own and is noted; gives its number.
    pub(super) fn start(&mut self, program: &Program<'_>) -> std::io::Result<u32> {
        let mut all = sessions();
        let leader = program.start(self.note.next_line())?;
        all.insert(leader);
        self.sessions.insert(leader);
        Ok(leader)
    }

    /// Counts processes, as they were seen below a member, to the family.
    pub(super) fn know(&mut self, seen: BTreeMap<u32, u64>) {
        self.members.extend(seen);
    }

    /// Kills whatever is left once the leaders have been reaped, and waits for its end.
    pub(super) fn end(&mut self) {
        let begun = Instant::now();
        while has_children() {
            let living = self.collect();
            if living.is_empty() {
                break;
            }
            if begun.elapsed() > FAREWELL {
                tracing::warn!(processes = living.len(), "processes survive being killed");
                return;
            }
            let handles: Vec<Process> = living.iter().filter_map(Process::kill).collect();
            for handle in handles {
                handle.wait_alone(FAREWELL.saturating_sub(begun.elapsed()));
            }
        }
        self.note.end();
    }

    /// Reaps members that have died, and gives those that live.
    fn collect(&mut self) -> Vec<ProcessStat> {
        let own = std::process::id();
        let all = sessions();
        // Without a process table there is nothing that we could end.
        let processes = process_stats().unwrap_or_default();
        let adopted = self.children.adopted(&processes, own, &all);
        reap_dead(adopted.iter());
        reap_dead(processes.iter().filter(|process| process.parent == own && self.knows(process)));
        let left = adopted.iter().filter(|orphan| is_older_than_others(orphan, &processes, &all));
        self.know(left.map(|orphan| (orphan.pid, orphan.start_ticks)).collect());
        let mut living = self.living(&below(&processes, &BTreeSet::from([own])), &all);
        living.retain(|process| !all.contains(&process.pid));
        living
    }

    fn knows(&self, process: &ProcessStat) -> bool {
        self.members.get(&process.pid) == Some(&process.start_ticks)
    }

    /// Reaps what trials left to us and what has died since, while they are under way.
    pub(super) fn reap_orphans(&self) {
        let Some(dead) = dead_child().filter(|_| self.children == Children::OfTrials) else {
            return;
        };
        let all = sessions();
        // To read the whole table takes longer than a short trial, whose slot reaps its leader.
        if !all.contains(&dead) {
            let processes = process_stats().unwrap_or_default();
            reap_dead(self.children.adopted(&processes, std::process::id(), &all).iter());
        }
    }

    /// The members among processes, and what is below them.
    fn living(&mut self, processes: &[ProcessStat], all: &BTreeSet<u32>) -> Vec<ProcessStat> {
        for process in processes {
            let other_trial = all.contains(&process.session);
            let belongs = self.sessions.contains(&process.session)
                || self.knows(process)
                || (!other_trial && is_marked(process.pid, &self.folder));
            if belongs {
                self.members.insert(process.pid, process.start_ticks);
            }
        }
        let is_member = |process: &&ProcessStat| self.knows(process);
        let roots = processes.iter().filter(is_member).map(|process| process.pid).collect();
        let mut family = below(processes, &roots);
        family.extend(processes.iter().filter(is_member).copied());
        self.members.extend(family.iter().map(|member| (member.pid, member.start_ticks)));
        family.retain(|member| member.state != 'Z');
        family
    }
}

impl Drop for Family<'_> {
    fn drop(&mut self) {
        self.end();
        let mut all = sessions();
        self.sessions.iter().for_each(|session| {
            all.remove(session);
        });
    }
}

/// Whether this process has children at all, which is cheaper to ask than who they are.
fn has_children() -> bool {
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    waitid(Id::All, flags) != Err(Errno::ECHILD)
}

/// A child of this process that has ended and was not reaped, if there is any.
fn dead_child() -> Option<u32> {
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    let pid = waitid(Id::All, flags).ok()?.pid()?;
    u32::try_from(pid.as_raw()).ok()
}

fn reap_dead<'a>(processes: impl Iterator<Item = &'a ProcessStat>) {
    processes.filter(|process| process.state == 'Z').for_each(|dead| reap_quietly(dead.pid));
}

/// Whose the children of this process are that are in sessions of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Children {
    /// All come from trials: this process is the program itself, whose other children stay in its
    /// session.
    OfTrials,
    /// Some may be those of the program that this engine is a part of, which waits for them itself.
    OfOthersToo,
}

impl Children {
    /// Whose they are in a process that starts `program` for the jobs of a study.
    pub(super) fn of_this_process(program: &Path) -> Self {
        let own = std::env::current_exe().and_then(fs::canonicalize);
        match (own, fs::canonicalize(program)) {
            (Ok(own), Ok(program)) if own == program => Self::OfTrials,
            _ => Self::OfOthersToo,
        }
    }

    /// Processes that trials left to us: nobody else waits for these.
    fn adopted(
        self,
        processes: &[ProcessStat],
        own: u32,
        leaders: &BTreeSet<u32>,
    ) -> Vec<ProcessStat> {
        let ours = processes.iter().find(|process| process.pid == own);
        let Some(ours) = ours.filter(|_| self == Self::OfTrials) else { return Vec::new() };
        let adopted = processes.iter().filter(|process| {
            process.parent == own
                && process.session != ours.session
                && !leaders.contains(&process.pid)
        });
        adopted.copied().collect()
    }
}

/// Whether a process began before all trials that are under way, of which `leaders` are the first
/// processes: it comes from one that has ended.
fn is_older_than_others(
    process: &ProcessStat,
    processes: &[ProcessStat],
    leaders: &BTreeSet<u32>,
) -> bool {
    let mut others = processes.iter().filter(|other| leaders.contains(&other.pid));
    others.all(|other| process.start_ticks < other.start_ticks)
}

/// The processes below some, without those themselves.
pub(super) fn below(processes: &[ProcessStat], roots: &BTreeSet<u32>) -> Vec<ProcessStat> {
    let mut found = BTreeMap::new();
    loop {
        let before = found.len();
        for process in processes {
            let parent = &process.parent;
            if (roots.contains(parent) || found.contains_key(parent))
                && !roots.contains(&process.pid)
            {
                found.insert(process.pid, *process);
            }
        }
        if found.len() == before {
            return found.into_values().collect();
        }
    }
}

/// Whether a process says that it belongs to the trial with this folder: by the variable that
/// names it, or where it dropped its environment, by its output, which goes to a file in there.
pub(super) fn is_marked(pid: u32, folder: &Path) -> bool {
    // Processes of others cannot be read, and are not ours.
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    folder_in(&environment) == Some(folder)
        || [1, 2].into_iter().any(|descriptor| {
            let target = fs::read_link(format!("/proc/{pid}/fd/{descriptor}"));
            target.is_ok_and(|file| [STDOUT, STDERR].iter().any(|name| file == folder.join(name)))
        })
}

fn folder_in(environment: &[u8]) -> Option<&Path> {
    let mut variables = environment.split(|&byte| byte == 0);
    let name = FOLDER_VARIABLE.as_bytes();
    let value = variables.find_map(|pair| pair.strip_prefix(name)?.strip_prefix(b"="))?;
    Some(Path::new(OsStr::from_bytes(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process below us, in a session of its own.
    fn process(pid: u32, start_ticks: u64) -> ProcessStat {
        ProcessStat {
            pid,
            state: 'S',
            parent: 10,
            group: pid,
            session: pid,
            terminal: 0,
            user_ticks: 0,
            system_ticks: 0,
            reaped_user_ticks: 0,
            reaped_system_ticks: 0,
            start_ticks,
        }
    }

    #[test]
    fn an_orphan_belongs_to_no_trial_that_began_after_it() {
        let leaders = BTreeSet::from([20, 30]);
        let all = [process(20, 500), process(30, 700), process(40, 100)];
        let is_older = |start| is_older_than_others(&process(41, start), &all, &leaders);
        assert!(is_older(499));
        // In the same tick nobody knows which was first.
        assert!(!is_older(500) && !is_older(600) && !is_older(800));
        assert!(is_older_than_others(&process(41, 800), &all, &BTreeSet::new()));
    }

    #[test]
    fn what_is_adopted_has_left_our_session_and_leads_no_trial() {
        let ours = ProcessStat { pid: 10, parent: 1, ..process(10, 1) };
        let tool = ProcessStat { session: 10, ..process(15, 5) };
        let all = [ours, tool, process(20, 6), process(40, 7)];
        let adopted = |children: Children| -> Vec<u32> {
            let found = children.adopted(&all, 10, &BTreeSet::from([20]));
            found.iter().map(|process| process.pid).collect()
        };
        assert_eq!(adopted(Children::OfTrials), [40]);
        assert!(adopted(Children::OfOthersToo).is_empty());
    }

    #[test]
    fn the_folder_is_found_among_other_variables() {
        let environment = b"A=1\0TRAINWRIGHT_DIRS=/no\0TRAINWRIGHT_DIR=/s/trials/3\0B=2\0";
        assert_eq!(folder_in(environment), Some(Path::new("/s/trials/3")));
        assert_eq!(folder_in(b"A=TRAINWRIGHT_DIR=/x\0"), None);
    }
}
