//! Where a step's time goes: the chain of tasks that ends last.

use serde::Serialize;

use crate::pipeline::Pipeline;
use crate::simulator::{Evaluator, Work};

/// The tasks, one after another, that make the step as long as it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CriticalPath {
    /// Nanoseconds of the path in each kind of work, the longest first.
    pub parts: Vec<CriticalPart>,
    /// Operators and groups on the path with the most time, the longest first.
    pub longest: Vec<CriticalPart>,
    /// How many tasks it has.
    pub tasks: usize,
}

/// Time of the path that something takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CriticalPart {
    /// Kind of work, or operator.
    pub name: String,
    /// Its nanoseconds.
    pub ns: u64,
}

/// A task of a schedule, as the path needs it.
struct Step {
    work: &'static str,
    of: String,
    resource: usize,
    ready_ns: u64,
    start_ns: u64,
    end_ns: u64,
}

impl Evaluator<'_> {
    /// The critical path: from the task that ends last back to the beginning, always to what the
    /// task waited for last: its device or link, or another task.
    pub fn critical_path(&self) -> CriticalPath {
        let step = |task: crate::simulator::Served| Step {
            work: kind_name(task.work),
            of: task.of,
            resource: task.resource as usize,
            ready_ns: task.ready_ns,
            start_ns: task.start_ns,
            end_ns: task.end_ns,
        };
        path(&self.served().into_iter().map(step).collect::<Vec<_>>())
    }
}

impl Pipeline {
    /// The critical path, as for plans of operators; its tasks are those of stages.
    pub fn critical_path(&self) -> CriticalPath {
        let tasks = self.served.iter().filter(|task| task.end_ns > task.start_ns);
        let mut steps: Vec<Step> = tasks
            .map(|task| {
                let (what, rest) = task.name.split_once(' ').unwrap_or((&task.name, ""));
                let place = rest.trim_start_matches("from ");
                let stage = place.split('.').next().unwrap_or_default();
                let work = match what {
                    "forward" => "forward",
                    "backward" => "backward",
                    "sum" => "sums of gradients",
                    "update" => "updates",
                    "hand-out" => "handing out weights",
                    _ => "messages",
                };
                Step {
                    work,
                    of: format!("stage {stage}"),
                    resource: task.resource,
                    ready_ns: task.ready_ns,
                    start_ns: task.start_ns,
                    end_ns: task.end_ns,
                }
            })
            .collect();
        steps.sort_by_key(|step| (step.start_ns, step.end_ns));
        path(&steps)
    }
}

/// The critical path of tasks in the order in which they were served.
fn path(served: &[Step]) -> CriticalPath {
    let mut path: Vec<&Step> = Vec::new();
    let mut at = (0..served.len()).max_by_key(|&at| (served[at].end_ns, at));
    while let Some(place) = at {
        path.push(&served[place]);
        at = before(served, place);
    }
    let mut parts: Vec<CriticalPart> = Vec::new();
    let mut longest: Vec<CriticalPart> = Vec::new();
    for task in &path {
        let ns = task.end_ns - task.start_ns;
        add(&mut parts, task.work, ns);
        add(&mut longest, &task.of, ns);
    }
    for list in [&mut parts, &mut longest] {
        list.sort_by(|a, b| b.ns.cmp(&a.ns).then_with(|| a.name.cmp(&b.name)));
    }
    longest.truncate(5);
    CriticalPath { parts, longest, tasks: path.len() }
}

/// A task that ended when this one began, and lets it begin: the one before it on its resource
/// where it waited for that, else one that it needed.
fn before(served: &[Step], place: usize) -> Option<usize> {
    let task = &served[place];
    if task.start_ns == 0 {
        return None;
    }
    let waited_for_resource = task.start_ns > task.ready_ns;
    let earlier = || (0..place).rev();
    if waited_for_resource {
        return earlier().find(|&at| {
            served[at].resource == task.resource && served[at].end_ns == task.start_ns
        });
    }
    let ended = |at: &usize| served[*at].end_ns == task.ready_ns;
    let related = |at: &usize| served[*at].of == task.of || served[*at].resource == task.resource;
    earlier().filter(ended).find(related).or_else(|| earlier().find(ended))
}

fn add(list: &mut Vec<CriticalPart>, name: &str, ns: u64) {
    match list.iter_mut().find(|own| own.name == name) {
        Some(own) => own.ns += ns,
        None => list.push(CriticalPart { name: name.to_owned(), ns }),
    }
}

fn kind_name(work: Work) -> &'static str {
    match work {
        Work::Forward => "forward",
        Work::Backward => "backward",
        Work::MoveForward | Work::MoveBackward => "messages",
        Work::Sum => "sums of gradients",
        Work::Update => "updates",
        Work::HandOut => "handing out weights",
    }
}
