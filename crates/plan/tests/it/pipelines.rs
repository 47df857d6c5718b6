//! Pipelines keep to what the user rules out, share links, and add up what stages share.

use trainwright_plan::{
    Change, Constraints, Dimension, GraphBuilder, Input, Link, Machine, Operator, Pin,
    PipelineOrder, Planned, Problem, Read, Role, Sharding, SharedBy, Stages, Sums, Training,
    Weights, best_pipeline, named_graph, named_machine, pipeline, what_if,
};

fn constrained(constraints: Constraints) -> Problem {
    let graph = named_graph("alexnet", Some(192)).unwrap();
    let machine = named_machine("16-p100").unwrap();
    Problem::new(graph, machine, Training::default(), constraints).unwrap()
}

#[test]
fn constraints_are_kept() {
    let forbid = vec!["sample".to_owned()];
    let width = |constraints: Constraints| {
        best_pipeline(&constrained(constraints)).map(|own| 16 / own.stages.count())
    };
    let none = Constraints::default();
    assert!(width(none.clone()) > Some(1), "without constraints stages are wide");
    // AlexNet has 13 operators: 16 stages of one device are too many.
    assert_eq!(width(Constraints { forbid, ..none.clone() }), None);
    assert_eq!(width(Constraints { max_degree: Some(2), ..none.clone() }), Some(2));
    let pin = |operator: &str, devices: &[u16]| Pin {
        operator: operator.into(),
        devices: devices.to_vec(),
    };
    let pins = vec![pin("conv1", &[0, 1]), pin("conv3", &[2, 3])];
    let own = best_pipeline(&constrained(Constraints { pins, ..none.clone() })).unwrap();
    let names = constrained(none.clone());
    let at =
        |name: &str| names.graph().operators().iter().position(|own| own.name == name).unwrap();
    assert_eq!(own.stages.count(), 8);
    assert_eq!((own.stages.of(at("conv1")), own.stages.of(at("conv3"))), (0, 1));
    let pins = vec![pin("conv1", &[0, 1]), pin("fc8", &[5])];
    assert_eq!(width(Constraints { pins, ..none }), None, "stages are as wide as each other");
}

#[test]
fn another_number_of_nodes_keeps_constraints_but_pins_of_devices_that_are_gone() {
    let pins = vec![
        Pin { operator: "conv1".into(), devices: vec![0] },
        Pin { operator: "conv2".into(), devices: vec![15] },
    ];
    let constraints = Constraints { pins, max_degree: Some(1), ..Constraints::default() };
    let problem = constrained(constraints);
    let plan = trainwright_plan::one_device(&problem);
    let found = what_if(&problem, Planned::Operators(&plan), (1, 50), &|_, _| None).unwrap();
    let of = |wanted: Change| found.iter().find(|own| own.change == wanted).unwrap();
    assert_eq!(of(Change::HalfTheNodes).unpinned, ["conv2"]);
    assert!(of(Change::TwiceTheNodes).unpinned.is_empty());
    // Operators that stay whole run one after another: more devices hardly help.
    assert!(of(Change::TwiceTheNodes).speed_up < 1.5, "{found:?}");
}

/// Links of a byte a nanosecond without latency; nodes share theirs.
fn machine(nodes: u32, devices_per_node: u32) -> Machine {
    let mut own = named_machine("4-p100").unwrap();
    (own.nodes, own.devices_per_node) = (nodes, devices_per_node);
    own.device.flops_per_s = 1e12;
    own.device.memory_bytes_per_s = 1e18;
    own.device.launch_s = 0.0;
    own.device.efficiency = [].into();
    own.inside = Link { bytes_per_s: 1e15, latency_s: 0.0, shared_by: SharedBy::Device };
    own.between = Link { bytes_per_s: 1e9, latency_s: 0.0, shared_by: SharedBy::Node };
    own
}

/// Two layers of 1000 numbers; whether they share their weights.
fn two_layers(is_shared: bool) -> trainwright_plan::OperatorGraph {
    let mut own = GraphBuilder::new("two", 64);
    let groups = [own.group("first", 1000), own.group("second", 1000)];
    for number in 0..2 {
        let reads = vec![Read::Same(0), Read::Full];
        let inputs = if number == 0 { vec![] } else { vec![Input { from: 0, reads }] };
        let group = groups[if is_shared { 0 } else { number }];
        let dim = |name: &str, size, role| Dimension { name: name.into(), size, role };
        own.add(Operator {
            name: number.to_string(),
            kind: "other".into(),
            dims: vec![dim("sample", 64, Role::Sample), dim("channel", 1000, Role::Parameter)],
            contracted: None,
            flops_per_output: 1e3,
            backward: 2.0,
            kept_per_output: 4.0,
            read_per_output: 0.0,
            weights: Some(Weights { group, cut_by: Some(1), cut_by_contracted: false }),
            inputs,
        });
    }
    own.finish()
}

fn two_stages(is_shared: bool, machine: Machine, training: Training) -> u64 {
    let problem =
        Problem::new(two_layers(is_shared), machine, training, Constraints::default()).unwrap();
    pipeline(&problem, &Stages { begins: vec![0, 1] }, 1, PipelineOrder::Gpipe).cost
}

#[test]
fn replicas_take_turns_on_a_link_that_they_share() {
    // Four replicas send 16 examples of 1000 numbers each through the port of their node, there and
    // back: 64 us for all, beside two layers forward and backward.
    let found = two_stages(false, machine(2, 4), Training::default());
    let messages = 2 * 4 * 64 * 1000;
    let computed = 2 * 3 * 64 * 1000 / 4;
    assert!(found >= messages + computed, "{found}");
    assert!(found < messages + computed + 200, "{found}");
}

#[test]
fn weights_of_several_stages_are_added_up_between_them() {
    let own = two_stages(false, machine(2, 1), Training::default());
    let shared = two_stages(true, machine(2, 1), Training::default());
    // Two devices add up 4000 bytes around a ring: two rounds of 2000 through each port.
    assert_eq!(shared, own + 4000);
}

#[test]
fn the_way_to_add_up_and_sharding_count() {
    let of = |sums, sharding| {
        let training = Training { sums, sharding, ..Training::default() };
        let mut machine = machine(2, 2);
        machine.inside.bytes_per_s = 1e9;
        two_stages(false, machine, training)
    };
    let ring = of(Sums::Ring, Sharding::None);
    let tree = of(Sums::Tree, Sharding::None);
    let fetched = of(Sums::Ring, Sharding::Weights);
    // 4000 bytes of two copies: two rounds of halves, two of all, or three of halves.
    assert_eq!((tree - ring, fetched - ring), (4000, 2000));
}

#[test]
fn links_are_told_by_name() {
    let problem =
        Problem::new(two_layers(false), machine(2, 1), Training::default(), Constraints::default())
            .unwrap();
    let own = pipeline(&problem, &Stages { begins: vec![0, 1] }, 2, PipelineOrder::Gpipe);
    let mut names: Vec<String> =
        own.served.iter().map(|task| own.resource_name(&problem, task.resource)).collect();
    names.sort();
    names.dedup();
    assert_eq!(names, ["network of node 0", "network of node 1", "stage 0", "stage 1"]);
}
