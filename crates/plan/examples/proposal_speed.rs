//! How fast plans are evaluated and how good the search is, as one JSON object.
//!
//! `proposal_speed SECONDS [speeds|searches]`: six graphs on 4, 8 and 16 K80s. Every mode walks the same chain from
//! data parallel, once with proposals as FlexFlow makes them (one operator) and once as our searches
//! do (whole groups among them); the rebuilding mode makes the whole task graph and simulates all of
//! it for each proposal. Then searches on 16 devices, with the time that they took.

use std::time::Instant;

use serde_json::{Value, json};
use trainwright_plan::{
    Chain, ChainOptions, Constraints, Evaluator, Mode, MoveShares, Problem, SearchOptions,
    Training, best_layout, best_pipeline, data_parallel, expert, named_graph, named_machine,
    search, starts,
};

const SIX: [&str; 6] = ["alexnet", "inception-v3", "resnet-101", "rnntc", "rnnlm", "nmt"];

fn problem(graph: &str, machine: &str, devices: u32) -> Problem {
    let mut machine = named_machine(machine).expect("it is ready");
    machine.nodes = devices.div_ceil(4);
    machine.devices_per_node = devices.min(4);
    let graph = named_graph(graph, None).expect("it is ready");
    Problem::new(graph, machine, Training::default(), Constraints::default())
        .expect("it fits together")
}

/// Seconds of a chain, and its end.
fn walk(
    problem: &Problem,
    moves: MoveShares,
    mode: Mode,
    proposals: u64,
) -> (f64, trainwright_plan::ChainEnd) {
    let chain = Chain::new(
        problem,
        &data_parallel(problem),
        ChainOptions { seed: 7, proposals, cooling: (200.0, 200.0), moves, mode },
    );
    let begun = Instant::now();
    let end = chain.run(&|| false);
    (begun.elapsed().as_secs_f64(), end)
}

/// Proposals a second of each mode over the same chain, the best of three interleaved walks.
fn rates(problem: &Problem, moves: MoveShares, seconds: f64) -> Value {
    let (probe, _) = walk(problem, moves, Mode::Rebuild, 200);
    let proposals = ((200.0 * seconds / probe) as u64).clamp(500, 200_000);
    let modes = [Mode::Rebuild, Mode::InPlace, Mode::Rewind, Mode::Bounded];
    let mut best = [f64::INFINITY; 4];
    let mut history = None;
    let mut accepted = 0;
    for _ in 0..3 {
        for (at, mode) in modes.into_iter().enumerate() {
            let (spent, end) = walk(problem, moves, mode, proposals);
            best[at] = best[at].min(spent);
            assert_eq!(*history.get_or_insert(end.history), end.history, "one chain in all modes");
            accepted = end.accepted;
        }
    }
    let rate = |at: usize| proposals as f64 / best[at];
    json!({
        "proposals": proposals, "accepted_share": accepted as f64 / proposals as f64,
        "rebuild_per_s": rate(0), "in_place_per_s": rate(1), "rewind_per_s": rate(2),
        "bounded_per_s": rate(3), "bounded_over_rebuild": best[0] / best[3],
    })
}

fn speeds(name: &str, devices: u32, seconds: f64) -> Value {
    let problem = problem(name, "4-k80", devices);
    let one_operator = rates(&problem, MoveShares::ONE_OPERATOR, seconds);
    let mixed = rates(&problem, MoveShares::MIXED, seconds);
    let plan = data_parallel(&problem);
    let mut evaluator = Evaluator::new(&problem, &plan, Mode::Rebuild);
    let begun = Instant::now();
    let mut rounds = 0;
    while begun.elapsed().as_secs_f64() < seconds / 4.0 {
        evaluator.set(&plan);
        rounds += 1;
    }
    let tasks = evaluator.tasks();
    let tasks_per_s = (tasks * rounds) as f64 / begun.elapsed().as_secs_f64();
    json!({
        "graph": name, "devices": devices, "tasks": tasks,
        "one_operator": one_operator, "mixed": mixed,
        "tasks_per_s_build_and_simulate": tasks_per_s,
    })
}

fn quality(name: &str, machine: &str, proposals: u64) -> Value {
    let problem = problem(name, machine, 16);
    let begun = Instant::now();
    let cost = |plan| Evaluator::new(&problem, plan, Mode::Bounded).cost();
    let (data, expert) = (cost(&data_parallel(&problem)), cost(&expert(&problem)));
    let first_answer_s = begun.elapsed().as_secs_f64();
    let mesh = best_layout(&problem, &|| false).map(|own| own.plan);
    let stages = best_pipeline(&problem).map(|own| own.stages);
    let options = SearchOptions {
        seed: 1,
        proposals,
        polish_proposals: u64::MAX,
        chains_per_start: 2,
        threads: 2,
        stop: &|| begun.elapsed().as_secs_f64() > 10.0,
    };
    let starts = starts(&problem, mesh, stages.as_ref());
    let found = search(&problem, &starts, &options).expect("a start fits");
    let seconds = begun.elapsed().as_secs_f64();
    json!({
        "graph": name, "machine": machine, "devices": 16, "seconds": seconds,
        "first_answer_s": first_answer_s, "proposals": found.proposals,
        "data_parallel_ms": data as f64 / 1e6, "expert_ms": expert as f64 / 1e6,
        "found_ms": found.cost as f64 / 1e6,
        "over_data_parallel": data as f64 / found.cost as f64,
        "over_best_baseline": data.min(expert) as f64 / found.cost as f64,
        "from": found.from, "locally_optimal": found.locally_optimal,
    })
}

fn main() {
    let seconds: f64 = std::env::args().nth(1).map_or(1.0, |text| text.parse().expect("seconds"));
    let part = std::env::args().nth(2);
    let wants = |name: &str| part.as_deref().is_none_or(|part| part == name);
    let mut rows = Vec::new();
    for devices in [4, 8, 16].into_iter().filter(|_| wants("speeds")) {
        for name in SIX {
            rows.push(speeds(name, devices, seconds));
            eprintln!("{}", rows[rows.len() - 1]);
        }
    }
    let mut found = Vec::new();
    for name in SIX.into_iter().filter(|_| wants("searches")) {
        for machine in ["4-p100", "4-k80"] {
            found.push(quality(name, machine, 400_000));
            eprintln!("{}", found[found.len() - 1]);
        }
    }
    println!("{:#}", json!({"speeds": rows, "searches": found}));
}
