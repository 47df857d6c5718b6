//! Mesh layouts: what is valid, in Mesh-TensorFlow's words, and what it counts.

use trainwright_plan::{
    GraphBuilder, Layout, Mesh, OperatorGraph, PlanError, Training, best_layout, counters, layouts,
    named_graph,
};

use crate::lab::problem;

/// The example of Mesh-TensorFlow's paper and code: pictures of 784 numbers, two hidden layers.
fn mnist() -> OperatorGraph {
    let mut own = GraphBuilder::new("mnist", 100);
    let first = own.first_dense("hidden1", 784, 1024);
    let second = own.dense("hidden2", first, 1024);
    own.dense("logits", second, 10);
    own.finish()
}

#[track_caller]
fn refuses(graph: &OperatorGraph, mesh: &Mesh, text: &str) -> String {
    let layout = Layout::parse(text, mesh);
    layout.and_then(|layout| layout.check(graph, mesh)).unwrap_err().to_string()
}

#[test]
fn refusals_are_those_of_mesh_tensorflow() {
    let (graph, mesh) = (mnist(), Mesh::of(&[2, 2]));
    let found = refuses(&graph, &mesh, "sample:rows;sample:columns");
    assert!(found.contains("maps to multiple mesh dimensions"), "{found}");
    let found = refuses(&graph, &mesh, "sample:rows;channel:rows");
    assert!(
        found.starts_with("Two Tensor Dimensions may not map to the same Mesh Dimension"),
        "{found}"
    );
    assert!(found.contains("`hidden1`"), "{found}");
    let odd = Mesh::of(&[3, 2]);
    let found = refuses(&graph, &odd, "sample:rows");
    assert!(found.contains("100") && found.contains("not divisible"), "{found}");
    let pictures = named_graph("lenet", None).unwrap();
    let found = refuses(&pictures, &mesh, "height:rows");
    assert!(found.contains("`height`") && found.contains("cannot be split"), "{found}");
    assert_eq!(
        Layout::parse("sample-rows", &mesh).unwrap_err(),
        PlanError::LayoutText { rule: "sample-rows".into() }
    );
    assert!(Layout::parse("sample:nowhere", &mesh).is_err());
    Layout::parse("sample:rows;channel:columns", &mesh).unwrap().check(&graph, &mesh).unwrap();
}

#[test]
fn counters_of_the_two_layer_example_on_two_by_two_are_those_by_hand() {
    let (graph, mesh) = (mnist(), Mesh::of(&[2, 2]));
    // Samples over rows; outputs of the first layer and of the logits over columns.
    let layout = Layout::parse("sample:rows;channel:columns", &mesh).unwrap();
    let found = counters(&graph, &mesh, &layout);
    // The first layer reads pictures, which are no operator: it has no dimension to sum over.
    // hidden2: 100/2 x 1024 x 1024/2, three products; logits: 100/2 x 10/2 x 1024, three.
    assert_eq!(found.einsum, 3 * 50 * 1024 * 512 + 3 * 50 * 5 * 1024);
    // Forward, hidden2 sums over its inputs along columns: 50 x 1024 numbers. The gradient of the
    // logits' inputs sums over outputs along columns: 50 x 1024. Weights sum over samples along
    // rows: 1024 x 512 and 5 x 1024.
    assert_eq!(found.all_reduce["columns"], 2 * 50 * 1024);
    assert_eq!(found.all_reduce["rows"], 1024 * 512 + 5 * 1024);
    assert_eq!(found.all_reduce.len(), 2);
}

#[test]
fn every_layout_that_is_listed_is_valid_and_none_is_listed_twice() {
    for name in ["lenet", "transformer", "nmt"] {
        let graph = named_graph(name, None).unwrap();
        let found = layouts(&graph, 8);
        assert!(!found.is_empty(), "{name}");
        for (at, (mesh, layout)) in found.iter().enumerate() {
            layout.check(&graph, mesh).unwrap();
            assert_eq!(mesh.dims.iter().map(|(_, size)| size).product::<u64>(), 8);
            assert!(!found[..at].contains(&(mesh.clone(), layout.clone())), "{name}");
        }
    }
}

/// All layouts of a small graph on four devices by listing every assignment.
#[test]
fn layouts_are_those_of_trying_every_assignment() {
    let graph = mnist();
    let names = ["sample", "channel", "hidden"];
    let mut expected = 0;
    for mesh in [Mesh::of(&[4]), Mesh::of(&[2, 2])] {
        let axes = mesh.dims.len();
        for code in 0..(axes + 1).pow(3) {
            let mut rest = code;
            let mut layout = Layout::default();
            for name in names {
                let at = rest % (axes + 1);
                rest /= axes + 1;
                if at > 0 {
                    layout.rules.insert(name.to_owned(), at - 1);
                }
            }
            let uses_all = (0..axes).all(|axis| layout.rules.values().any(|&at| at == axis));
            expected += usize::from(uses_all && layout.check(&graph, &mesh).is_ok());
        }
    }
    assert_eq!(layouts(&graph, 4).len(), expected);
    assert!(expected > 2);
}

#[test]
fn the_best_layout_beats_or_equals_all_that_can_be_planned() {
    let problem = problem("transformer", 4, Training::default());
    let best = best_layout(&problem, &|| false).unwrap();
    assert!(best.fits && best.cost > 0);
    assert!(best.layout.rules.len() > 1 || !best.layout.rules.contains_key("sample"));
}
