//! Fractions against `tests/data/fractional_factorial.json`, full designs against `designs.json`.

use serde_json::{Value, json};
use trainwright_design::{Choice, Design, TwoLevelFraction};

use crate::studies::study;

pub(crate) fn vectors(name: &str) -> Value {
    let path = format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Every field of the JSON contract against its counterpart in the vectors.
#[track_caller]
fn check_fields(fraction: &TwoLevelFraction, expected: &Value) {
    let actual = serde_json::to_value(fraction).unwrap();
    let pairs = [
        ("factors", "factors"),
        ("rows", "design_standard_order"),
        ("generators", "generators"),
        ("defining_relation", "defining_relation"),
        ("resolution", "resolution"),
        ("word_length_pattern", "wlp"),
        ("clear_two_factor", "clear_2fi"),
        ("aliases", "aliases"),
    ];
    for (ours, theirs) in pairs {
        assert_eq!(actual[ours], expected[theirs], "{ours} of {}", expected["id"]);
    }
}

pub(crate) fn size(expected: &Value, key: &str) -> usize {
    usize::try_from(expected[key].as_u64().unwrap()).unwrap()
}

#[test]
fn given_generators_reproduce_every_reference_design() {
    let vectors = vectors("fractional_factorial.json");
    let designs = vectors["designs"].as_array().unwrap();
    assert_eq!(designs.len(), 18);
    for expected in designs {
        let generators: Vec<String> =
            serde_json::from_value(expected["generators"].clone()).unwrap();
        let fraction = TwoLevelFraction::from_generators(size(expected, "k"), &generators).unwrap();
        check_fields(&fraction, expected);
    }
}

#[test]
fn the_search_finds_every_reference_design() {
    let vectors = vectors("fractional_factorial.json");
    let searched = vectors["designs"].as_array().unwrap().iter();
    for expected in searched.filter(|design| design["note"].is_null()) {
        let runs = u32::try_from(size(expected, "runs")).unwrap();
        let fraction = TwoLevelFraction::with_runs(size(expected, "k"), runs).unwrap();
        check_fields(&fraction, expected);
        assert_eq!(fraction.choice(), Choice::MinimumAberration);
    }
}

/// Word length patterns of length 3, 4, ... from Chen, Sun and Wu, "A catalogue of two-level and
/// three-level fractional factorial designs with small runs", International Statistical Review
/// 61, 1993, for sizes that the vectors leave out.
#[test]
fn published_patterns_are_reached() {
    let cases: [(usize, u32, &[u32]); 7] = [
        (6, 8, &[4, 3]),
        (7, 32, &[0, 1, 2]),
        (8, 64, &[0, 0, 2, 1]),
        (9, 64, &[0, 1, 4, 2]),
        (10, 64, &[0, 2, 8, 4]),
        (11, 16, &[12, 26]),
        (11, 32, &[0, 25, 0, 27]),
    ];
    for (factors, runs, start) in cases {
        let fraction = TwoLevelFraction::with_runs(factors, runs).unwrap();
        let pattern: Vec<u32> =
            fraction.word_length_pattern().values().copied().take(start.len()).collect();
        assert_eq!(pattern, start, "{factors} factors in {runs} runs");
    }
}

/// The longest two-level designs of these sizes are the [17,9,5] and [24,12,8] codes (MacWilliams
/// and Sloane, "The Theory of Error-Correcting Codes", 1977, appendix A).
#[test]
fn large_fractions_reach_the_resolution_of_the_best_codes() {
    for (factors, runs, resolution) in [(17, 256, 5), (24, 4096, 8), (23, 2048, 7)] {
        let fraction = TwoLevelFraction::with_runs(factors, runs).unwrap();
        assert_eq!(fraction.resolution(), Some(resolution), "{factors} factors in {runs} runs");
    }
}

#[test]
fn full_designs_list_the_first_factor_fastest() {
    let vectors = vectors("designs.json");
    for expected in vectors["full_factorial"].as_array().unwrap() {
        let levels: Vec<usize> = serde_json::from_value(expected["levels"].clone()).unwrap();
        let factors: String = levels
            .iter()
            .enumerate()
            .map(|(index, &count)| {
                let levels: Vec<usize> = (0..count).collect();
                format!("[factors.x{index}]\nlevels = {levels:?}\n")
            })
            .collect();
        let design = Design::of(&study(&factors, "type = \"full\"", "")).unwrap();
        let rows: Vec<Value> = design
            .rows()
            .iter()
            .map(|row| row.iter().map(|(_, level)| json!(level)).collect())
            .collect();
        assert_eq!(Value::from(rows), expected["design"], "{levels:?}");
    }
}
