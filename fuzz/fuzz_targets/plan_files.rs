//! Graphs, machines and plans as files: any text is read or refused, and a graph on a machine becomes
//! a problem or an error.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trainwright_plan::{
    Constraints, Machine, OperatorGraph, PlanFile, Problem, Training, named_machine,
};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = Machine::from_toml(text);
    if let Ok(plan) = PlanFile::from_json(text) {
        let again = plan.to_json();
        assert_eq!(PlanFile::from_json(&again).expect("our own text is sound").to_json(), again);
    }
    if let Ok(graph) = OperatorGraph::from_json(text) {
        let machine = named_machine("4-p100").expect("it is ready");
        let _ = Problem::new(graph, machine, Training::default(), Constraints::default());
    }
});
