//! Simulated times and bytes that follow from a formula, to the nanosecond.

use trainwright_plan::{
    Change, Constraints, Device, Dimension, Evaluator, GraphBuilder, Input, Link, Machine, Mode,
    Operator, Overlap, PipelineOrder, Plan, Planned, Problem, Read, Role, Served, Sharding,
    SharedBy, Stages, Sums, Training, UpdateRates, Work, best_pipeline, data_parallel, expert,
    named_graph, one_device, pipeline, what_if,
};
use trainwright_random::Random;

use crate::lab::{problem, random_plan};

/// Devices that do one operation a nanosecond, with links of a byte a nanosecond and 100 ns.
fn machine(devices: u32) -> Machine {
    let link = Link { bytes_per_s: 1e9, latency_s: 100e-9, shared_by: SharedBy::Device };
    Machine {
        name: "round".into(),
        source: "made up".into(),
        nodes: 1,
        devices_per_node: devices,
        price_per_node_hour: None,
        device: Device {
            name: "round".into(),
            flops_per_s: 1e9,
            efficiency: [].into(),
            memory_bytes: 1 << 50,
            memory_bytes_per_s: 1e18,
            launch_s: 0.0,
            updates: None,
            measured: vec![],
        },
        inside: link,
        between: link,
    }
}

/// Dense layers of the same size, one after another.
fn layers(count: usize, width: u64, batch: u64) -> trainwright_plan::OperatorGraph {
    let mut own = GraphBuilder::new("layers", batch);
    let mut at = own.first_dense("0", width, width);
    for number in 1..count {
        at = own.dense(&number.to_string(), at, width);
    }
    own.finish()
}

fn made(graph: trainwright_plan::OperatorGraph, devices: u32, training: Training) -> Problem {
    Problem::new(graph, machine(devices), training, Constraints::default()).unwrap()
}

#[test]
fn one_device_takes_the_sum_of_its_tasks() {
    for name in ["alexnet", "nmt", "transformer"] {
        let problem = problem(name, 4, Training::default());
        let own = Evaluator::new(&problem, &one_device(&problem), Mode::Bounded);
        let served = own.served();
        let sum: u64 = served.iter().map(|task| task.end_ns - task.start_ns).sum();
        assert_eq!(own.cost(), sum, "{name}");
        assert!(served.iter().all(|task| task.resource == 0), "nothing is sent");
    }
}

#[test]
fn data_parallel_without_overlap_is_layers_then_rings() {
    let (width, batch) = (64_u64, 32_u64);
    for devices in [2_u64, 4, 8] {
        let training = Training { overlap: Overlap::After, ..Training::default() };
        let problem = made(layers(1, width, batch), devices as u32, training);
        let own = Evaluator::new(&problem, &data_parallel(&problem), Mode::Bounded);
        // Forward and backward of one layer whose inputs need no gradients.
        let computed = 2 * (2 * width * width * batch / devices);
        let bytes = 4 * width * (width + 1);
        let ring = 2 * (devices - 1) * (100 + bytes.div_ceil(devices));
        // The update reads and writes five numbers a parameter at 10^9 bytes a nanosecond.
        assert_eq!(own.cost(), computed + ring + 1, "{devices} devices");
    }
}

#[test]
fn ways_to_add_up_take_what_their_formulas_say() {
    let (devices, width) = (4_u64, 64_u64);
    let bytes = 4 * width * (width + 1);
    let message = |bytes: u64| 100 + bytes;
    let computed = 2 * (2 * width * width * 32 / devices);
    for (sums, expected) in [
        (Sums::Ring, 2 * 3 * message(bytes / 4) + 1),
        (Sums::Tree, 2 * 2 * message(bytes) + 1),
        (Sums::Sharded, 2 * 3 * message(bytes / 4) + 1),
        // Three workers send through the server's port, and get the new weights through it.
        (Sums::Server, 2 * 3 * message(bytes) + 1),
    ] {
        let training = Training { sums, ..Training::default() };
        let problem = made(layers(1, width, 32), devices as u32, training);
        let own = Evaluator::new(&problem, &data_parallel(&problem), Mode::Bounded);
        assert_eq!(own.cost(), computed + expected, "{sums:?}");
    }
}

#[test]
fn a_pipeline_of_equal_stages_takes_its_formula() {
    let stages_count = 4;
    let mut own = GraphBuilder::new("equal", 64);
    for number in 0..stages_count {
        let reads = vec![Read::Same(0)];
        let inputs = if number == 0 { vec![] } else { vec![Input { from: number - 1, reads }] };
        own.add(Operator {
            name: number.to_string(),
            kind: "equal".into(),
            dims: vec![Dimension { name: "sample".into(), size: 64, role: Role::Sample }],
            contracted: None,
            inputs,
            flops_per_output: 1e4,
            backward: 2.0,
            kept_per_output: 4.0,
            read_per_output: 0.0,
            weights: None,
        });
    }
    let mut machine = machine(4);
    machine.inside = Link { bytes_per_s: 1e20, latency_s: 0.0, shared_by: SharedBy::Pair };
    let problem =
        Problem::new(own.finish(), machine, Training::default(), Constraints::default()).unwrap();
    let stages = Stages { begins: vec![0, 1, 2, 3] };
    for micro in [1_u64, 4, 8] {
        for order in [PipelineOrder::Gpipe, PipelineOrder::OneForwardOneBackward] {
            let own = pipeline(&problem, &stages, micro, order);
            // A message takes a nanosecond: three on the way there and three on the way back.
            let stage = 3 * 10_000 * 64 / micro;
            let expected = (micro + 3) * stage + 6;
            let slack = if order == PipelineOrder::Gpipe { 0 } else { 2 * micro };
            let path: u64 = own.critical_path().parts.iter().map(|part| part.ns).sum();
            assert_eq!(path, own.cost, "the path goes from the beginning to the end");
            let found = own.cost;
            assert!(
                found >= expected && found <= expected + slack,
                "{order:?} {micro}: {found} {expected}"
            );
        }
    }
}

/// What goes into a part is what it needs, without what is there; gradients take the same way back.
#[test]
fn a_pipeline_is_asked_what_if_too() {
    let graph = named_graph("alexnet", None).unwrap();
    let problem =
        Problem::new(graph, machine(4), Training::default(), Constraints::default()).unwrap();
    let own = best_pipeline(&problem).unwrap();
    let changes = what_if(&problem, Planned::Stages(&own), (1, 10), &|_, _| None).unwrap();
    let of = |wanted: Change| changes.iter().find(|own| own.change == wanted).unwrap();
    let faster = of(Change::DevicesTwiceAsFast).speed_up;
    assert!((1.2..=2.0).contains(&faster), "{faster}");
    assert!(of(Change::TwiceTheBatch).step_time_s * 1e9 > own.cost as f64);
    // Twice the devices have a pipeline of their own.
    assert!(of(Change::TwiceTheNodes).step_time_s > 0.0);
}

#[test]
fn bytes_are_conserved() {
    let mut random = Random::new(4);
    for name in ["lenet", "alexnet", "rnnlm", "transformer"] {
        let problem = problem(name, 4, Training::default());
        for _ in 0..5 {
            let plan = random_plan(&problem, &mut random);
            let own = Evaluator::new(&problem, &plan, Mode::Bounded);
            let served = own.served();
            let count = |work: Work| served.iter().filter(|task| task.work == work).count();
            assert_eq!(count(Work::MoveForward), count(Work::MoveBackward), "{name}");
        }
        let own = Evaluator::new(&problem, &data_parallel(&problem), Mode::Bounded);
        let moved = own.served().iter().any(|task| task.work == Work::MoveForward);
        assert!(!moved || name == "lenet", "{name}: samples stay where they are");
    }
}

#[test]
fn columns_after_columns_move_what_is_missing() {
    // Two layers cut by outputs in 4: each part needs the three quarters that others have.
    let (width, batch) = (64_u64, 32_u64);
    let problem = made(layers(2, width, batch), 4, Training::default());
    let own = Evaluator::new(&problem, &expert(&problem), Mode::Bounded);
    let messages: Vec<u64> = own
        .served()
        .iter()
        .filter(|task| task.work == Work::MoveForward)
        .map(|task| task.end_ns - task.start_ns)
        .collect();
    assert_eq!(messages.len(), 4 * 3);
    // A quarter of the first layer's output, at a byte a nanosecond after 100.
    assert!(messages.iter().all(|&ns| ns == 100 + 4 * batch * width / 4));
}

#[test]
fn a_step_is_never_shorter_than_its_work_nor_longer_than_all_of_it() {
    let mut random = Random::new(9);
    for name in ["lenet", "alexnet", "rnntc", "nmt"] {
        for devices in [2, 8] {
            let problem = problem(name, devices, Training::default());
            for _ in 0..10 {
                let plan: Plan = random_plan(&problem, &mut random);
                let own = Evaluator::new(&problem, &plan, Mode::Bounded);
                let most = own.work().iter().max().unwrap();
                let all: u64 = own.work().iter().sum();
                assert!(own.cost() >= *most && own.cost() <= all, "{name}");
                let path: u64 = own.critical_path().parts.iter().map(|part| part.ns).sum();
                assert_eq!(path, own.cost(), "the critical path is the step");
            }
        }
    }
}

#[test]
fn published_sizes_of_networks() {
    // Parameters of torchvision's models: alexnet 61.1 M, resnet101 44.5 M, inception_v3 without
    // its auxiliary head 23.8 M. Batch norm counts here as one bias a filter.
    for (name, millions) in [("alexnet", 61.1), ("resnet-101", 44.5), ("inception-v3", 23.8)] {
        let found = named_graph(name, None).unwrap().parameters() as f64 / 1e6;
        assert!((found - millions).abs() < 0.2, "{name}: {found}");
    }
    // 0.71, 7.8 and 5.7 billion multiplications and additions an example forward.
    for (name, billions) in [("alexnet", 0.714), ("resnet-101", 7.80), ("inception-v3", 5.71)] {
        let graph = named_graph(name, Some(1)).unwrap();
        let all: f64 = graph.operators().iter().map(|it| it.forward_flops()).sum();
        let found = all / 2e9;
        assert!((found / billions - 1.0).abs() < 0.03, "{name}: {found}");
    }
}

#[test]
fn updates_take_the_time_of_what_the_others_do() {
    let graph = named_graph("alexnet", Some(8)).unwrap();
    let bytes = 4 * graph.parameters();
    let step = |devices: u32, training: Training| {
        let mut machine = machine(devices);
        machine.device.updates = Some(UpdateRates {
            alone_bytes_per_s: 1e9,
            copies_bytes_per_s: 5e8,
            shares_bytes_per_s: 2e9,
        });
        let constraints = Constraints::default();
        let problem = Problem::new(graph.clone(), machine, training, constraints).unwrap();
        let evaluator = Evaluator::new(&problem, &data_parallel(&problem), Mode::Rebuild);
        let served = evaluator.served();
        let of_device = |task: &&Served| task.work == Work::Update && task.resource == 0;
        served.iter().filter(of_device).map(|it| it.end_ns - it.start_ns).sum::<u64>()
    };
    let plain = Training { optimizer_slots: 1, ..Training::default() };
    // Five numbers for each parameter: weight twice, gradient, momentum twice.
    let all = (5 * bytes) as f64;
    let near = |found: u64, ns: f64| (found as f64 / ns - 1.0).abs() < 1e-6;
    assert!(near(step(1, plain), all));
    assert!(near(step(2, plain), all * 2.0));
    let sharded = Training { sharding: Sharding::Optimizer, ..plain };
    assert!(near(step(2, sharded), all / 2.0 / 2.0));
}
