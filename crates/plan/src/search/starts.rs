//! Plans to begin with: those that people use.

use crate::graph::{Input, Read};
use crate::pipeline::Stages;
use crate::plan::{Plan, Split};
use crate::problem::{DEGREES, Problem};

/// A plan with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// What it is called.
    pub name: String,
    /// The plan.
    pub plan: Plan,
}

/// All starts of a problem, data parallel first; `mesh` and `stages` are the best that are known.
pub fn starts(problem: &Problem, mesh: Option<Plan>, stages: Option<&Stages>) -> Vec<Start> {
    let named = |name: &str, plan: Plan| Start { name: name.to_owned(), plan };
    let mut found = vec![
        named("data parallel", data_parallel(problem)),
        named("expert", expert(problem)),
        named("one device", one_device(problem)),
    ];
    found.extend(mesh.map(|plan| named("mesh layout", plan)));
    found.extend(stages.map(|stages| named("pipeline stages", pipelined(problem, stages))));
    let mut unlike: Vec<Start> = Vec::new();
    for start in found {
        if !unlike.iter().any(|other| other.plan == start.plan) {
            unlike.push(start);
        }
    }
    unlike
}

/// Every operator split by samples over all devices, or as far as it can be.
pub fn data_parallel(problem: &Problem) -> Plan {
    each(problem, |problem, at| {
        let wanted = |own: &[u16; DEGREES]| own[1..].iter().all(|&degree| degree == 1);
        problem.in_order(at, most_parts(problem, at, &wanted), 0)
    })
}

/// What an expert does: convolutions and what has no weights by samples, dense layers, memories and
/// tables by their outputs (Krizhevsky 2014, "One weird trick"). What computes number by number is
/// split as what it reads.
pub fn expert(problem: &Problem) -> Plan {
    let mut plan = Plan { splits: Vec::new() };
    for at in 0..problem.graph().operators().len() {
        let split = as_read(problem, at, &plan).unwrap_or_else(|| expert_split(problem, at));
        plan.splits.push(split);
    }
    plan
}

/// The split of what an operator reads, where it computes number by number and may be split so.
fn as_read(problem: &Problem, at: usize, plan: &Plan) -> Option<Split> {
    let operator = &problem.graph().operators()[at];
    let same = |(dim, read): (usize, &Read)| *read == Read::Same(dim);
    let by_number = |input: &Input| {
        input.reads.len() == operator.dims.len() && input.reads.iter().enumerate().all(same)
    };
    if operator.weights.is_some() || !operator.inputs.iter().all(by_number) {
        return None;
    }
    let from = operator.inputs.first()?.from;
    let split = &plan.splits[from];
    let mut degrees = problem.choices(from)[split.choice as usize].degrees;
    // What it reads may add up partial sums; then every part has whole numbers.
    degrees[operator.dims.len()..].fill(1);
    let choice = problem.choice_with(at, &degrees)?;
    let is_pinned = problem.constraints.pinned(&operator.name).is_some();
    let same_parts = problem.choices(at)[choice as usize].parts() == split.devices.len();
    (same_parts && !is_pinned).then(|| Split { choice, devices: split.devices.clone() })
}

fn expert_split(problem: &Problem, at: usize) -> Split {
    let operator = &problem.graph().operators()[at];
    let by_outputs = matches!(operator.kind.as_str(), "dense" | "lstm" | "embedding" | "attention")
        && operator.weights.is_some();
    let cut = operator.weights.as_ref().and_then(|it| it.cut_by).filter(|_| by_outputs);
    let dim = cut.unwrap_or(0);
    let wanted =
        |own: &[u16; DEGREES]| own.iter().enumerate().all(|(at, &degree)| at == dim || degree == 1);
    problem.in_order(at, most_parts(problem, at, &wanted), 0)
}

/// Everything on the first device.
pub fn one_device(problem: &Problem) -> Plan {
    each(problem, |problem, at| {
        let wanted = |own: &[u16; DEGREES]| own.iter().all(|&degree| degree == 1);
        problem.in_order(at, most_parts(problem, at, &wanted), 0)
    })
}

/// Stages on devices of their own, each split by samples.
pub fn pipelined(problem: &Problem, stages: &Stages) -> Plan {
    let width = problem.devices() / stages.count();
    each(problem, |problem, at| {
        let wanted = |own: &[u16; DEGREES]| {
            own[0] as usize <= width && own[1..].iter().all(|&degree| degree == 1)
        };
        problem.in_order(at, most_parts(problem, at, &wanted), stages.of(at) * width)
    })
}

fn each(problem: &Problem, split: impl Fn(&Problem, usize) -> Split) -> Plan {
    let operators = problem.graph().operators().len();
    Plan { splits: (0..operators).map(|at| split(problem, at)).collect() }
}

/// The choice with the most parts among those wanted; the first one where none is.
fn most_parts(problem: &Problem, at: usize, wanted: &dyn Fn(&[u16; DEGREES]) -> bool) -> u16 {
    let choices = problem.choices(at).iter().enumerate();
    let fitting = choices.filter(|(_, own)| wanted(&own.degrees));
    fitting.max_by_key(|(_, own)| own.parts()).map_or(0, |(number, _)| number as u16)
}
