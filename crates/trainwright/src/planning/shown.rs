//! What a page and a trace show of a plan: what is busy, when, and the critical path.

use std::collections::BTreeMap;

use trainwright_plan::{
    CriticalPath, Evaluator, Mode, Pipeline, Plan, Problem, Work, chrome_trace, pipeline_trace,
};

use crate::planning::reply::BusyResource;

/// A device or link by name, and when it was busy: with which kind of work, from and to when.
pub(crate) type DeviceSpans = (String, Vec<(usize, f64, f64)>);

/// What a page and a trace show of the chosen plan.
pub(crate) struct Shown {
    pub(crate) critical_path: Option<CriticalPath>,
    pub(crate) busy: Vec<BusyResource>,
    pub(crate) trace: String,
    pub(crate) spans: Vec<DeviceSpans>,
}

/// What is shown of a plan of operators, or of a pipeline.
pub(crate) fn shown(problem: &Problem, plan: Option<&Plan>, pipeline: Option<&Pipeline>) -> Shown {
    match (plan, pipeline) {
        (Some(plan), _) => shown_plan(problem, plan),
        (None, Some(own)) => shown_pipeline(problem, own),
        (None, None) => {
            Shown { critical_path: None, busy: Vec::new(), trace: String::new(), spans: Vec::new() }
        }
    }
}

fn shown_plan(problem: &Problem, plan: &Plan) -> Shown {
    let own = Evaluator::new(problem, plan, Mode::Bounded);
    let cost = own.cost() as f64;
    let mut busy: Vec<BusyResource> = own
        .work()
        .iter()
        .enumerate()
        .filter(|(_, work)| **work > 0)
        .map(|(at, &work)| BusyResource {
            name: problem.resource_name(at),
            share: work as f64 / cost,
        })
        .collect();
    busy.sort_by(|a, b| b.share.total_cmp(&a.share));
    let mut spans: Vec<DeviceSpans> =
        (0..problem.resources()).map(|at| (problem.resource_name(at), Vec::new())).collect();
    for task in own.served() {
        let span = (task.work as usize, task.start_ns as f64 / 1e9, task.end_ns as f64 / 1e9);
        spans[task.resource as usize].1.push(span);
    }
    spans.retain(|(_, own)| !own.is_empty());
    Shown {
        critical_path: Some(own.critical_path()),
        busy,
        trace: chrome_trace(problem, &own),
        spans,
    }
}

fn shown_pipeline(problem: &Problem, own: &Pipeline) -> Shown {
    let mut work: BTreeMap<usize, u64> = BTreeMap::new();
    let mut spans: BTreeMap<usize, Vec<(usize, f64, f64)>> = BTreeMap::new();
    for task in own.served.iter().filter(|task| task.end_ns > task.start_ns) {
        *work.entry(task.resource).or_default() += task.end_ns - task.start_ns;
        let span = (activity(&task.name), task.start_ns as f64 / 1e9, task.end_ns as f64 / 1e9);
        spans.entry(task.resource).or_default().push(span);
    }
    let name = |at: usize| own.resource_name(problem, at);
    let share = |(at, work): (usize, u64)| BusyResource {
        name: name(at),
        share: work as f64 / own.cost.max(1) as f64,
    };
    let mut busy: Vec<BusyResource> = work.into_iter().map(share).collect();
    busy.sort_by(|a, b| b.share.total_cmp(&a.share));
    Shown {
        critical_path: Some(own.critical_path()),
        busy,
        trace: pipeline_trace(problem, own),
        spans: spans.into_iter().map(|(at, spans)| (name(at), spans)).collect(),
    }
}

/// The kind of work of a pipeline's task, as `trainwright_plan::Work` numbers them.
fn activity(task: &str) -> usize {
    let work = match task.split(' ').next() {
        Some("forward") => Work::Forward,
        Some("backward") => Work::Backward,
        Some("to") => Work::MoveForward,
        Some("back") => Work::MoveBackward,
        Some("sum") => Work::Sum,
        Some("hand-out") => Work::HandOut,
        _ => Work::Update,
    };
    work as usize
}
