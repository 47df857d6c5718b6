//! Graphs, machines and plans as files: what is written is read, and nothing else is taken.

use proptest::prelude::*;
use trainwright_plan::{
    Constraints, MACHINE_NAMES, Machine, NAMED_GRAPHS, OperatorGraph, PLAN_SCHEMA, PlanFile,
    Problem, Training, data_parallel, expert, named_graph, named_machine, planned_operators,
};

use crate::lab::problem;

#[test]
fn graphs_and_machines_are_read_as_they_were_written() {
    for (name, _) in NAMED_GRAPHS {
        let graph = named_graph(name, None).unwrap();
        let again = OperatorGraph::from_json(&graph.to_json()).unwrap();
        // Groups are listed by name in a file.
        assert_eq!(again.operators().len(), graph.operators().len());
        assert_eq!(again.parameters(), graph.parameters(), "{name}");
        assert_eq!(OperatorGraph::from_json(&again.to_json()).unwrap(), again, "{name}");
        let cost = |graph: OperatorGraph| {
            let machine = named_machine("4-p100").unwrap();
            let own = Problem::new(graph, machine, Training::default(), Constraints::default());
            let own = own.unwrap();
            trainwright_plan::Evaluator::new(&own, &expert(&own), trainwright_plan::Mode::Bounded)
                .cost()
        };
        assert_eq!(cost(again), cost(graph), "{name}");
    }
    for name in MACHINE_NAMES {
        let machine = named_machine(name).unwrap();
        assert!(!machine.source.is_empty(), "{name}");
        assert_eq!(Machine::from_toml(&machine.to_toml()).unwrap(), machine);
    }
}

#[test]
fn a_plan_is_read_as_it_was_written() {
    let problem = problem("alexnet", 4, Training::default());
    let plan = expert(&problem);
    let file = PlanFile {
        schema: PLAN_SCHEMA.to_owned(),
        network: "alexnet".into(),
        batch: 256,
        machine: "m".into(),
        devices: 4,
        step_time_s: 0.5,
        memory_bytes_per_device: 7,
        training: Some(Training::default()),
        operators: planned_operators(&problem, &plan),
        pipeline: None,
    };
    let again = PlanFile::from_json(&file.to_json()).unwrap();
    assert_eq!(again, file);
    assert_eq!(again.plan(&problem).unwrap(), plan);
    assert_ne!(again.plan(&problem).unwrap(), data_parallel(&problem));
    let other = crate::lab::problem("lenet", 4, Training::default());
    let error = file.plan(&other).unwrap_err().to_string();
    assert!(error.contains("`alexnet` with 13 operators, not for `lenet`"), "{error}");
    let newer = file.to_json().replace("plan-file/1", "plan-file/2");
    assert!(PlanFile::from_json(&newer).unwrap_err().to_string().contains("plan-file/2"));
}

#[track_caller]
fn refuses(text: &str, words: &str) {
    let error = OperatorGraph::from_json(text).unwrap_err().to_string();
    assert!(error.contains(words), "{error}");
}

#[test]
fn what_is_no_graph_is_told_with_its_place() {
    refuses("{", "line 1");
    refuses(r#"{"name": "x", "operators": []}"#, "no operators");
    let one = |more: &str| {
        format!(
            r#"{{"name": "x", "batch": 4, "operators": [{{"name": "a", "kind": "dense", {more}}}]}}"#
        )
    };
    let dims = r#""dims": [{"name": "sample", "role": "sample"}]"#;
    OperatorGraph::from_json(&one(dims)).unwrap();
    refuses(&one(&format!(r#"{dims}, "speed": 1"#)), "speed");
    refuses(&one(r#""dims": []"#), "0 dimensions");
    refuses(&one(&format!(r#"{dims}, "flops_per_output": -1"#)), "`flops_per_output` is -1");
    refuses(&one(&format!(r#"{dims}, "weights": {{"group": "g"}}"#)), "`g` are no group");
    refuses(&one(&format!(r#"{dims}, "inputs": [{{"from": "b", "reads": []}}]"#)), "`b`");
    let machine = Machine::from_toml("name = \"m\"").unwrap_err().to_string();
    assert!(machine.contains("missing field"), "{machine}");
    let text = named_machine("4-k80").unwrap().to_toml().replace("nodes = 1", "nodes = 0");
    let error = Machine::from_toml(&text).unwrap_err().to_string();
    assert!(error.contains("`nodes` is 0"), "{error}");
}

/// A text with a few bytes replaced, which may break anything.
fn broken(text: String) -> impl Strategy<Value = String> {
    let length = text.len();
    let changes = prop::collection::vec((0..length, 0..6_usize), 1..4);
    let parts = ["0", "-1", "1e308", "\"", "}", "99999999999999999999"];
    changes.prop_map(move |changes| {
        let mut bytes = text.clone().into_bytes();
        for (place, part) in changes {
            let place = place.min(bytes.len() - 1);
            bytes.splice(place..=place, parts[part].bytes());
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// A file that was damaged is read or refused, and what was read can be planned.
    #[test]
    fn damaged_files_do_no_harm(
        graph in broken(named_graph("lenet", None).unwrap().to_json()),
        machine in broken(named_machine("4-k80").unwrap().to_toml()),
        any in "\\PC{0,200}",
    ) {
        let machine = Machine::from_toml(&machine);
        if let Ok(graph) = OperatorGraph::from_json(&graph) {
            let usual = named_machine("4-k80").unwrap();
            let small = |own: &Machine| own.devices() <= 16;
            let machine = machine.ok().filter(small).unwrap_or(usual);
            if let Ok(own) = Problem::new(graph, machine, Training::default(), Constraints::default()) {
                let plan = data_parallel(&own);
                trainwright_plan::Evaluator::new(&own, &plan, trainwright_plan::Mode::Bounded);
            }
        }
        prop_assert!(OperatorGraph::from_json(&any).is_err());
        prop_assert!(Machine::from_toml(&any).is_err());
        prop_assert!(PlanFile::from_json(&any).is_err());
    }
}
