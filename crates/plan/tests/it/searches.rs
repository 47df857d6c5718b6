//! Searches: the same in every mode, as good as trying everything, and locally optimal.

use trainwright_plan::{
    COOLING, Chain, ChainOptions, Constraints, Evaluation, Evaluator, Mode, MoveShares, Pin,
    Problem, SearchOptions, Sharding, Training, data_parallel, expert, named_graph, named_machine,
    optimum, search, starts,
};

use crate::lab::{SIX, machine, problem};

fn options(seed: u64, proposals: u64) -> SearchOptions<'static> {
    SearchOptions {
        seed,
        proposals,
        polish_proposals: u64::MAX,
        chains_per_start: 2,
        threads: 2,
        stop: &|| false,
    }
}

#[test]
fn a_chain_is_the_same_in_every_mode_of_evaluation() {
    for graph in SIX {
        let problem = problem(graph, 4, Training::default());
        let start = data_parallel(&problem);
        let ends = [Mode::Rebuild, Mode::InPlace, Mode::Rewind, Mode::Bounded].map(|mode| {
            let options = ChainOptions {
                seed: 5,
                proposals: 150,
                cooling: COOLING,
                moves: MoveShares::MIXED,
                mode,
            };
            Chain::new(&problem, &start, options).run(&|| false)
        });
        for end in &ends[1..] {
            assert_eq!(end, &ends[0], "{graph}");
        }
        assert!(ends[0].accepted > 0, "{graph}");
    }
}

#[test]
fn a_search_does_not_depend_on_threads_and_repeats_by_seed() {
    let problem = problem("alexnet", 4, Training::default());
    let starts = starts(&problem, None, None);
    let first = search(&problem, &starts, &options(3, 2000)).unwrap();
    let alone = SearchOptions { threads: 1, ..options(3, 2000) };
    assert_eq!(search(&problem, &starts, &alone).unwrap(), first);
    let other = search(&problem, &starts, &options(4, 2000)).unwrap();
    assert_ne!(other.history, first.history);
}

/// A small problem whose every plan can be tried.
fn small(graph: &str, devices: u32, forbid: &[&str]) -> Problem {
    let mut machine = named_machine("4-p100").unwrap();
    machine.devices_per_node = devices;
    // A slow device, so that splitting pays.
    machine.device.flops_per_s = 2e11;
    let constraints = Constraints {
        forbid: forbid.iter().map(|&name| name.to_owned()).collect(),
        ..Constraints::default()
    };
    Problem::new(named_graph(graph, None).unwrap(), machine, Training::default(), constraints)
        .unwrap()
}

fn finds_the_optimum(problem: &Problem, name: &str, proposals: u64) {
    let best = optimum(problem, &data_parallel(problem), 1e12).unwrap();
    let starts = starts(problem, None, None);
    let found = (0..10).filter(|&seed| {
        search(problem, &starts, &options(seed, proposals)).unwrap().cost <= best.cost
    });
    let count = found.count();
    assert!(count >= 9, "{name}: {count} of 10 seeds reach {best:?}");
}

#[test]
fn small_problems_are_solved_as_by_trying_everything() {
    finds_the_optimum(&small("lenet", 2, &["height", "width"]), "lenet on 2", 6000);
    finds_the_optimum(&small("rnnlm-2", 2, &[]), "rnnlm-2 on 2", 6000);
}

#[test]
#[ignore = "long: tries everything on four devices; part of `just full`"]
fn so_are_those_on_four_devices() {
    finds_the_optimum(&small("lenet", 4, &["height", "width"]), "lenet on 4", 60_000);
    finds_the_optimum(&small("rnnlm-2", 4, &["word"]), "rnnlm-2 on 4", 60_000);
}

#[test]
fn the_plan_that_is_found_is_locally_optimal_and_better_than_its_starts() {
    for graph in ["alexnet", "rnnlm"] {
        let problem = problem(graph, 4, Training::default());
        let found = search(&problem, &starts(&problem, None, None), &options(1, 1500)).unwrap();
        assert!(found.locally_optimal);
        let cost =
            |plan: &trainwright_plan::Plan| Evaluator::new(&problem, plan, Mode::Bounded).cost();
        assert!(found.cost <= cost(&data_parallel(&problem)), "{graph}");
        assert!(found.cost <= cost(&expert(&problem)), "{graph}");
        let mut own = Evaluator::new(&problem, &found.plan, Mode::InPlace);
        for operator in 0..problem.graph().operators().len() {
            for choice in 0..problem.choices(operator).len() {
                for first in 0..problem.devices() {
                    let split = problem.in_order(operator, choice as u16, first);
                    let parts = problem.choices(operator)[choice].parts();
                    if first % parts != 0 {
                        continue;
                    }
                    let evaluation = own.propose(&[(operator, split)], found.cost - 1);
                    assert!(!matches!(evaluation, Evaluation::Cost(_)), "{graph} {operator}");
                    own.undo();
                }
            }
        }
    }
}

#[test]
fn memory_is_a_hard_limit() {
    let graph = named_graph("alexnet", None).unwrap();
    let mut machine = machine(4);
    let usual =
        Problem::new(graph.clone(), machine.clone(), Training::default(), Constraints::default())
            .unwrap();
    let own = Evaluator::new(&usual, &data_parallel(&usual), Mode::Bounded);
    let needed = *own.memory().iter().max().unwrap();
    machine.device.memory_bytes = needed * 3 / 4;
    let tight =
        Problem::new(graph.clone(), machine.clone(), Training::default(), Constraints::default())
            .unwrap();
    assert!(!Evaluator::new(&tight, &data_parallel(&tight), Mode::Bounded).fits());
    let found = search(&tight, &starts(&tight, None, None), &options(2, 3000)).unwrap();
    let own = Evaluator::new(&tight, &found.plan, Mode::Bounded);
    assert!(own.fits(), "{:?} of {}", own.memory(), machine.device.memory_bytes);
    // Cut weights, gradients and optimiser need less on each device.
    let sharded = Training { sharding: Sharding::Weights, ..Training::default() };
    let cut = Problem::new(graph, machine.clone(), sharded, Constraints::default()).unwrap();
    assert!(Evaluator::new(&cut, &data_parallel(&cut), Mode::Bounded).fits());
    machine.device.memory_bytes = 1000;
    let none = Problem::new(
        named_graph("alexnet", None).unwrap(),
        machine,
        Training::default(),
        Constraints::default(),
    )
    .unwrap();
    assert!(search(&none, &starts(&none, None, None), &options(2, 100)).is_none());
}

#[test]
fn constraints_are_kept() {
    let constraints = Constraints {
        pins: vec![Pin { operator: "fc*".into(), devices: vec![2] }],
        forbid: vec!["height".into(), "conv1.channel".into()],
        max_degree: Some(2),
    };
    let graph = named_graph("alexnet", None).unwrap();
    let problem = Problem::new(graph, machine(4), Training::default(), constraints).unwrap();
    let found = search(&problem, &starts(&problem, None, None), &options(1, 2000)).unwrap();
    for (at, split) in found.plan.splits.iter().enumerate() {
        let (operator, choice) =
            (&problem.graph().operators()[at], &problem.choices(at)[split.choice as usize]);
        assert!(choice.parts() <= 2, "{}", operator.name);
        if operator.name.starts_with("fc") {
            assert_eq!(split.devices, [2]);
        }
        for (dim, degree) in operator.dims.iter().zip(choice.degrees) {
            assert!(degree == 1 || dim.name != "height", "{}", operator.name);
            assert!(degree == 1 || operator.name != "conv1" || dim.name != "channel");
        }
    }
    let wrong = |constraints| {
        let graph = named_graph("alexnet", None).unwrap();
        Problem::new(graph, machine(4), Training::default(), constraints).unwrap_err().to_string()
    };
    let pin = |operator: &str, device| Constraints {
        pins: vec![Pin { operator: operator.into(), devices: vec![device] }],
        ..Constraints::default()
    };
    assert!(wrong(pin("fc9", 0)).contains("`fc9` is no operator of `alexnet`"));
    assert!(wrong(pin("fc6", 4)).contains("there is no device 4; they are 0 to 3"));
    let forbid = Constraints { forbid: vec!["depth".into()], ..Constraints::default() };
    assert!(wrong(forbid).contains("no operator has such a dimension"));
}

#[test]
fn a_polish_ends_after_so_many_proposals() {
    let problem = problem("alexnet", 4, Training::default());
    let of = |polish_proposals: u64| {
        let options = SearchOptions { polish_proposals, ..options(3, 100) };
        search(&problem, &starts(&problem, None, None), &options).unwrap()
    };
    let (short, whole) = (of(10), of(u64::MAX));
    assert!(!short.locally_optimal && whole.locally_optimal);
    // An operator's changes are tried together.
    assert!((10..500).contains(&short.polish_proposals), "{}", short.polish_proposals);
    assert!(whole.cost <= short.cost);
}

#[test]
fn a_plan_that_fits_is_found_where_no_start_does() {
    let graph = named_graph("alexnet", Some(256)).unwrap();
    let mut machine = named_machine("4-p100").unwrap();
    machine.device.memory_bytes = 360_000_000;
    let problem =
        Problem::new(graph, machine, Training::default(), Constraints::default()).unwrap();
    let starts = starts(&problem, None, None);
    let fits = |plan: &trainwright_plan::Plan| Evaluator::new(&problem, plan, Mode::Bounded).fits();
    assert!(starts.iter().all(|start| !fits(&start.plan)));
    let options = options(1, 20_000);
    let found = search(&problem, &starts, &options).unwrap();
    assert!(fits(&found.plan));
    assert_eq!(search(&problem, &starts, &options).unwrap(), found, "the same by seed");
}

#[test]
fn weights_in_use_are_whole_where_copies_share_them() {
    let graph = named_graph("alexnet", None).unwrap();
    let largest = 4 * graph.groups().iter().map(|group| group.elements).max().unwrap();
    let weights = 4 * graph.parameters();
    let sharded = Training { sharding: Sharding::Weights, ..Training::default() };
    let problem = Problem::new(graph, machine(4), sharded, Constraints::default()).unwrap();
    let own = Evaluator::new(&problem, &data_parallel(&problem), Mode::Bounded);
    let found = own.memory_parts(0)[0];
    let expected = weights / 4 + largest * 3 / 4;
    assert!(found.abs_diff(expected) < 1000, "{found} {expected}");
}

#[test]
fn a_pin_may_name_any_number_of_devices_that_divides_a_dimension() {
    let pinned = Pin { operator: "conv1".into(), devices: vec![0, 1, 2] };
    let constraints = Constraints { pins: vec![pinned], ..Constraints::default() };
    let graph = named_graph("alexnet", Some(192)).unwrap();
    let machine = named_machine("16-p100").unwrap();
    let problem = Problem::new(graph, machine, Training::default(), constraints).unwrap();
    let found = search(&problem, &starts(&problem, None, None), &options(1, 400)).unwrap();
    assert_eq!(found.plan.splits[0].devices, [0, 1, 2]);
}
