//! Plans to begin with: those that people use.

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
/// tables by their outputs (Krizhevsky 2014, "One weird trick").
pub fn expert(problem: &Problem) -> Plan {
    each(problem, |problem, at| {
        let operator = &problem.graph().operators()[at];
        let by_outputs =
            matches!(operator.kind.as_str(), "dense" | "lstm" | "embedding" | "attention")
                && operator.weights.is_some();
        let cut = operator.weights.as_ref().and_then(|it| it.cut_by).filter(|_| by_outputs);
        let dim = cut.unwrap_or(0);
        let wanted = |own: &[u16; DEGREES]| {
            own.iter().enumerate().all(|(at, &degree)| at == dim || degree == 1)
        };
        problem.in_order(at, most_parts(problem, at, &wanted), 0)
    })
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
