//! Verbs that work on a table of results, or on the trials of a study.

use trainwright::analysis::{
    CompareOptions, OverheadOptions, ScalingOptions, SurfaceOptions, TableOptions, TermOrder,
};
use trainwright::{
    TableRequest, analyze_table, compare, compare_trials, correlate, overhead, scaling, surface,
    surface_of_trials, surface_report, table_report,
};

use crate::lab::{Lab, check_refusal, nowhere};

fn by_engine() -> CompareOptions {
    CompareOptions {
        column: "time".to_owned(),
        by: "engine".to_owned(),
        baseline: None,
        paired: None,
        objective: None,
        alpha: 0.05,
    }
}

const ENGINES: &str = "engine,time\nslow,10.1\nslow,9.9\nslow,10.0\nfast,5.1\nfast,4.9\nfast,5.0\n";

#[test]
fn levels_are_compared_with_the_first_or_the_named_one() {
    let lab = Lab::new();
    let table = lab.file("t.csv", ENGINES);
    let reply = compare(&table, &by_engine()).unwrap();
    let found = &reply.comparisons[0];
    assert_eq!((found.response.as_str(), found.by.as_str()), ("time", "engine"));
    assert_eq!(found.levels.len(), 1);
    let named = CompareOptions { baseline: Some("slow".to_owned()), ..by_engine() };
    let other = compare(&table, &named).unwrap();
    assert_ne!(found.baseline.level, other.comparisons[0].baseline.level);
}

#[test]
fn a_comparison_of_nothing_is_refused() {
    let lab = Lab::new();
    let table = lab.file("t.csv", ENGINES);
    let column = CompareOptions { column: "cost".to_owned(), ..by_engine() };
    check_refusal(compare(&table, &column), 2, &["t.csv", "cost"]);
    let baseline = CompareOptions { baseline: Some("none".to_owned()), ..by_engine() };
    check_refusal(compare(&table, &baseline), 2, &["none"]);
    let alone = lab.file("one.csv", "engine,time\nslow,1\nslow,2\n");
    check_refusal(compare(&alone, &by_engine()), 2, &["one.csv", "engine"]);
    check_refusal(compare(nowhere(), &by_engine()), 2, &["all.csv"]);
}

#[test]
fn trials_of_a_study_are_compared_by_every_factor_or_one() {
    let lab = Lab::new();
    let (study, results) = lab.sums();
    let all = compare_trials(&study, &results, None, None, None).unwrap();
    assert_eq!(all.comparisons.len(), 2);
    let one = compare_trials(&study, &results, Some("b"), Some("y"), Some("20")).unwrap();
    assert_eq!(one.comparisons[0].by, "b");
    check_refusal(compare_trials(&study, &results, Some("c"), None, None), 2, &["c"]);
    check_refusal(compare_trials(&study, &results, None, Some("z"), None), 2, &["z"]);
}

fn scaling_options() -> ScalingOptions {
    ScalingOptions {
        column: "time".to_owned(),
        workers: "workers".to_owned(),
        size: None,
        predict: vec![16.0],
        predict_size: None,
        alpha: 0.05,
    }
}

#[test]
fn speed_up_is_told_by_the_number_of_workers() {
    let lab = Lab::new();
    // Amdahl's law with a serial part of a tenth: 100 (0.1 + 0.9/p), and a little noise.
    let table = "workers,time\n1,100.1\n1,99.9\n2,55.1\n2,54.9\n4,32.6\n4,32.4\n8,21.3\n8,21.2\n";
    let found = scaling(&lab.file("t.csv", table), &scaling_options()).unwrap();
    assert_eq!((found.n, found.rows.len()), (8, 4));
    let one = lab.file("one.csv", "workers,time\n1,100\n1,101\n");
    check_refusal(scaling(&one, &scaling_options()), 2, &["one.csv"]);
    let options = ScalingOptions { workers: "nodes".to_owned(), ..scaling_options() };
    check_refusal(scaling(&one, &options), 2, &["nodes"]);
}

#[test]
fn overhead_is_the_time_at_no_steps() {
    let lab = Lab::new();
    let options = OverheadOptions {
        column: "time".to_owned(),
        steps: "steps".to_owned(),
        by: None,
        samples: None,
        unit: Some("s".to_owned()),
        alpha: 0.05,
    };
    let table = lab.file("t.csv", "steps,time\n10,6.01\n20,6.99\n30,8.01\n40,8.99\n50,10.0\n");
    let found = overhead(&table, &options).unwrap();
    assert_eq!((found.response.as_str(), found.lines.len()), ("time", 1));
    let split = OverheadOptions { by: Some("kind".to_owned()), ..options };
    check_refusal(overhead(&table, &split), 2, &["t.csv", "kind"]);
}

#[test]
fn columns_are_correlated_with_the_response() {
    let lab = Lab::new();
    let table = lab.file("t.csv", "x,z,y\n1,4,2\n2,1,4\n3,3,6\n4,2,8.1\n5,5,10\n");
    let found = correlate(&table, "y", &[]).unwrap();
    assert_eq!((found.response.as_str(), found.rows.len()), ("y", 2));
    assert_eq!(correlate(&table, "y", &["x".to_owned()]).unwrap().rows.len(), 1);
    check_refusal(correlate(&table, "w", &[]), 2, &["t.csv", "w"]);
    check_refusal(correlate(&table, "y", &["w".to_owned()]), 2, &["w"]);
}

#[test]
fn a_surface_needs_three_levels_of_every_factor() {
    let lab = Lab::new();
    let mut text = "a,b,y\n".to_owned();
    for (a, b) in (-1..=1).flat_map(|a| (-1..=1).map(move |b| (a, b))).chain([(0, 0), (0, 0)]) {
        let noise = if text.len().is_multiple_of(2) { 0.01 } else { -0.01 };
        text += &format!("{a},{b},{}\n", 10.0 - f64::from((a * a) + (b * b)) + noise);
    }
    let options = SurfaceOptions {
        column: "y".to_owned(),
        factors: vec!["a".to_owned(), "b".to_owned()],
        direction: None,
        alpha: 0.05,
    };
    let table = lab.file("t.csv", &text);
    let found = surface(&table, &options).unwrap();
    assert_eq!(found.response, "y");
    assert!(surface_report(&table, &found, "now").contains("<html"));
    let flat = lab.file("flat.csv", "a,b,y\n0,0,1\n1,1,2\n0,1,3\n1,0,4\n");
    check_refusal(surface(&flat, &options), 2, &["flat.csv"]);
    let (study, results) = lab.sums();
    check_refusal(surface_of_trials(&study, &results), 2, &["a"]);
}

#[test]
fn a_formula_is_fitted_to_a_table() {
    let lab = Lab::new();
    let table = lab.file("t.csv", "x,g,y\n1,u,2.1\n2,u,3.9\n3,u,6.1\n1,v,3.0\n2,v,5.1\n3,v,6.9\n");
    let request = |formula| TableRequest {
        data: &table,
        categorical: &[],
        formula,
        order: TermOrder::default(),
        options: TableOptions::default(),
    };
    let analysis = analyze_table(&request("y ~ x + g")).unwrap();
    assert_eq!(analysis.response, "y");
    assert!(table_report(&table, &analysis, "now").contains("t.csv"));
    check_refusal(analyze_table(&request("y ~ x +")), 2, &["y ~ x +"]);
    check_refusal(analyze_table(&request("y ~ q")), 2, &["q"]);
}
