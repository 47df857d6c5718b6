//! Problems and random plans.

use trainwright_plan::{
    Constraints, Machine, Moves, Plan, Problem, Split, Training, named_graph, named_machine,
};
use trainwright_random::Random;

pub(crate) const SIX: [&str; 6] =
    ["alexnet", "inception-v3", "resnet-101", "rnntc", "rnnlm", "nmt"];

/// Machines of 2, 4, 8 and 16 devices, with every way to share links.
pub(crate) fn machine(devices: u32) -> Machine {
    let (nodes, name) = match devices {
        2 => (1, "4-k80"),
        4 => (2, "4-p100"),
        8 => (2, "4-k80"),
        _ => (4, "4-p100"),
    };
    let mut own = named_machine(name).unwrap();
    own.nodes = nodes;
    own.devices_per_node = devices / nodes;
    own
}

pub(crate) fn problem(graph: &str, devices: u32, training: Training) -> Problem {
    let graph = named_graph(graph, None).unwrap();
    Problem::new(graph, machine(devices), training, Constraints::default()).unwrap()
}

/// Every operator split by samples over all devices.
pub(crate) fn data_parallel(problem: &Problem) -> Plan {
    let devices = problem.devices() as u16;
    let split = |at: usize| {
        let choice = problem.choice_with(at, &[devices, 1, 1, 1, 1]).unwrap();
        problem.in_order(at, choice, 0)
    };
    Plan { splits: (0..problem.graph().operators().len()).map(split).collect() }
}

pub(crate) fn random_plan(problem: &Problem, random: &mut Random) -> Plan {
    let split = |at: usize, random: &mut Random| {
        let choice = random.index(problem.choices(at).len()) as u16;
        let parts = problem.choices(at)[choice as usize].parts();
        let devices = (0..parts).map(|_| random.below(problem.devices() as u64) as u16).collect();
        Split { choice, devices }
    };
    Plan { splits: (0..problem.graph().operators().len()).map(|at| split(at, random)).collect() }
}

/// Draws a change of a plan.
pub(crate) fn change(moves: &Moves<'_>, plan: &Plan, random: &mut Random) -> Vec<(usize, Split)> {
    let mut into = Vec::new();
    moves.draw(random, &|at| plan.splits[at].clone(), &mut into);
    into
}
