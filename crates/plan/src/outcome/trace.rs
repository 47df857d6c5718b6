//! Schedules in the trace format of Chrome and Perfetto: one track a device or link.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::pipeline::Pipeline;
use crate::problem::Problem;
use crate::simulator::{Evaluator, Work};

/// The trace of a plan's step, as JSON.
pub fn chrome_trace(problem: &Problem, evaluator: &Evaluator<'_>) -> String {
    let mut events = Vec::new();
    let served = evaluator.served();
    let mut used: Vec<u32> = served.iter().map(|task| task.resource).collect();
    used.sort_unstable();
    used.dedup();
    for resource in used {
        events.push(track(resource as usize, &problem.resource_name(resource as usize)));
    }
    for task in served {
        let what = match task.work {
            Work::Forward => "forward",
            Work::Backward => "backward",
            Work::MoveForward => "to",
            Work::MoveBackward => "back to",
            Work::Sum => "sum",
            Work::Update => "update",
            Work::HandOut => "hand out",
        };
        let name = format!("{what} {} {}", task.of, task.part);
        events.push(span(&name, what, task.resource as usize, (task.start_ns, task.end_ns)));
    }
    finished(events)
}

/// The trace of a pipeline's step, as JSON.
pub fn pipeline_trace(problem: &Problem, pipeline: &Pipeline) -> String {
    let used: BTreeSet<usize> = pipeline.served.iter().map(|task| task.resource).collect();
    let name = |at: usize| pipeline.resource_name(problem, at);
    let mut events: Vec<Value> = used.into_iter().map(|at| track(at, &name(at))).collect();
    for task in pipeline.served.iter().filter(|task| task.end_ns > task.start_ns) {
        let kind = task.name.split(' ').next().unwrap_or_default();
        events.push(span(&task.name, kind, task.resource, (task.start_ns, task.end_ns)));
    }
    finished(events)
}

fn track(number: usize, name: &str) -> Value {
    json!({"ph": "M", "pid": 1, "tid": number, "name": "thread_name", "args": {"name": name}})
}

fn span(name: &str, category: &str, track: usize, (from, to): (u64, u64)) -> Value {
    json!({
        "ph": "X", "pid": 1, "tid": track, "name": name, "cat": category,
        "ts": from as f64 / 1e3, "dur": (to - from) as f64 / 1e3,
    })
}

fn finished(events: Vec<Value>) -> String {
    json!({"traceEvents": events, "displayTimeUnit": "ms"}).to_string() + "\n"
}
