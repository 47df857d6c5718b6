//! `design` against `crates/design/tests/data/designs.json`.

use std::path::Path;

use serde_json::Value;

use crate::program::Lab;

fn cases(kind: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../design/tests/data/designs.json");
    let vectors: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    vectors[kind].as_array().unwrap().clone()
}

#[track_caller]
fn design(words: &str) -> Value {
    let words = format!("design {words} --json");
    let design = Lab::new().json(&words.split(' ').collect::<Vec<_>>());
    assert_eq!(design["schema"], "trainwright/design/1");
    design
}

fn rows(value: &Value) -> Vec<Vec<f64>> {
    serde_json::from_value(value.clone()).unwrap()
}

/// Rows in an order of their own, with zeros without a sign and without rounding's last digits.
fn sorted(value: &Value) -> Vec<Vec<i64>> {
    let tidy = |row: &Vec<f64>| row.iter().map(|value| (value * 1e12).round() as i64).collect();
    let mut rows: Vec<Vec<i64>> = rows(value).iter().map(tidy).collect();
    rows.sort_unstable();
    rows
}

#[track_caller]
fn check_refused(words: &str, parts: &[&str]) {
    let words = format!("design {words}");
    let end = Lab::new().expect(2, &words.split(' ').collect::<Vec<_>>());
    end.says(parts);
    assert_eq!(end.stdout, "");
}

#[test]
fn screening_designs_have_independent_main_effects() {
    for (factors, runs) in [(7, 8), (11, 12), (6, 12), (15, 16), (19, 20), (23, 24)] {
        let design = design(&format!("plackett-burman --factors {factors} --runs {runs}"));
        assert_eq!(design["factors"].as_array().unwrap().len(), factors);
        let rows = rows(&design["rows"]);
        assert_eq!(rows.len(), runs);
        for a in 0..factors {
            assert_eq!(rows.iter().map(|row| row[a]).sum::<f64>(), 0.0);
            for b in 0..a {
                assert_eq!(rows.iter().map(|row| row[a] * row[b]).sum::<f64>(), 0.0);
            }
        }
    }
    check_refused("plackett-burman --factors 5 --runs 10", &["8, 12, 16, 20 or 24"]);
    check_refused("plackett-burman --factors 12 --runs 12", &["too few", "at least 16"]);
    check_refused("plackett-burman --factors 30 --runs 24", &["1 to 23 factors, not 30"]);
    check_refused("plackett-burman --factors 5", &["--runs"]);
}

#[test]
fn central_composite_designs_are_those_of_the_reference() {
    for expected in cases("central_composite") {
        let words = format!(
            "central-composite --factors {} --face {} --alpha {} --center {},{}",
            expected["factors"],
            expected["face"].as_str().unwrap(),
            expected["alpha_kind"].as_str().unwrap(),
            expected["center"][0],
            expected["center"][1]
        );
        assert_eq!(sorted(&design(&words)["rows"]), sorted(&expected["design"]), "{words}");
    }
    let five = design("central-composite --factors 2 --center 5");
    assert_eq!(sorted(&five["rows"]), sorted(&cases("central_composite")[1]["design"]));
    check_refused("central-composite --factors 1", &["2 to 19 factors, not 1"]);
    check_refused("central-composite --factors 3 --alpha orthogonal --center 4", &["--center 4,4"]);
    check_refused("central-composite --factors 3 --center 1,2,3", &["one or two numbers"]);
    check_refused("central-composite --factors 3 --runs 20", &["--runs does not apply"]);
}

#[test]
fn box_behnken_designs_are_those_of_the_reference() {
    for expected in cases("box_behnken") {
        let words = format!(
            "box-behnken --factors {} --center {}",
            expected["factors"], expected["center"]
        );
        assert_eq!(sorted(&design(&words)["rows"]), sorted(&expected["design"]), "{words}");
    }
    assert_eq!(rows(&design("box-behnken --factors 7")["rows"]).len(), 62);
    check_refused("box-behnken --factors 8", &["3 to 7 factors, not 8"]);
    check_refused("box-behnken --factors 3 --center 1,2", &["one number"]);
}

#[test]
fn a_latin_hypercube_has_one_point_in_every_stratum() {
    let plain = design("latin-hypercube --factors 4 --runs 20 --seed 7");
    let spread = design("latin-hypercube --factors 4 --runs 20 --seed 7 --maximin");
    for design in [&plain, &spread] {
        let rows = rows(&design["rows"]);
        for column in 0..4 {
            let mut strata: Vec<usize> =
                rows.iter().map(|row| (row[column] * 20.0) as usize).collect();
            strata.sort_unstable();
            assert!(strata.into_iter().eq(0..20));
        }
    }
    let apart = |design: &Value| design["space_filling"]["minimum_distance"].as_f64().unwrap();
    assert!(apart(&spread) > apart(&plain));
    assert_eq!(plain, design("latin-hypercube --factors 4 --runs 20 --seed 7"));
    assert_ne!(plain, design("latin-hypercube --factors 4 --runs 20 --seed 8"));
    check_refused("latin-hypercube --factors 2 --runs 0", &["at least 1 run"]);
    check_refused("latin-hypercube --factors 2 --runs 5000 --maximin", &["5000", "at most 4096"]);
    check_refused("latin-hypercube --factors 26 --runs 5", &["1 to 25 factors, not 26"]);
}

#[test]
fn sobol_points_start_at_the_origin_and_stay_balanced() {
    let points = rows(&design("sobol --factors 3 --runs 4")["rows"]);
    let expected = [[0.0; 3], [0.5; 3], [0.75, 0.25, 0.25], [0.25, 0.75, 0.75]];
    assert_eq!(points, expected);
    let odd = Lab::new().expect(0, &["design", "sobol", "--factors", "2", "--runs", "6"]);
    odd.says(&["6 is not a power of two"]);
    check_refused("sobol --factors 26 --runs 8", &["1 to 25 factors, not 26"]);
    check_refused("sobol --factors 2 --runs 8 --seed 1", &["--seed does not apply"]);
    check_refused("sobol --factors 2 --runs 2000000", &["2000000 runs are more than 1000000"]);
}

#[test]
fn options_of_other_kinds_are_refused() {
    check_refused("full --factors 3 --runs 8", &["--runs does not apply to a full design"]);
    check_refused("fractional --factors 3 --runs 4 --center 2", &["--center does not apply"]);
    check_refused("box-behnken --factors 3 --alpha rotatable", &["--alpha does not apply"]);
}

#[test]
fn sizes_beyond_the_limits_are_refused_with_both() {
    for factors in ["64", "4294967296", "18446744073709551615"] {
        check_refused(&format!("full --factors {factors}"), &["combinations", "1000000"]);
        check_refused(&format!("d-optimal --factors {factors} --runs 8"), &["100000"]);
        for kind in ["fractional", "plackett-burman", "latin-hypercube", "sobol"] {
            check_refused(&format!("{kind} --factors {factors} --runs 8"), &[factors]);
        }
        check_refused(&format!("central-composite --factors {factors}"), &[factors]);
        check_refused(&format!("box-behnken --factors {factors}"), &[factors]);
        check_refused(&format!("full --factors {factors} --blocks 2"), &[factors]);
        check_refused(&format!("full --levels 2,{factors}000000"), &[]);
        check_refused(&format!("mixed --levels 3,{factors}"), &["orthogonal array"]);
        check_refused(&format!("box-behnken --factors 3 --center {factors}000000"), &[]);
    }
    let most = "18446744073709551615";
    for center in [most.to_owned(), format!("{most},{most}")] {
        check_refused(&format!("central-composite --factors 3 --center {center}"), &["1000000"]);
    }
    check_refused(&format!("full --levels {most},{most}"), &["combinations"]);
    check_refused(&format!("d-optimal --levels 2,{most} --runs 8"), &["100000"]);
    check_refused("d-optimal --factors 3 --runs 4294967295", &["4294967295", "1000000"]);
    check_refused(
        "d-optimal --factors 3 --runs 8 --starts 4294967295",
        &["4294967295 starts", "use at most"],
    );
    check_refused("d-optimal --factors 16 --runs 900000 --model main", &["fewer runs"]);
    for kind in ["latin-hypercube", "sobol"] {
        check_refused(&format!("{kind} --factors 3 --runs 4294967295"), &["1000000"]);
    }
    check_refused("fractional --factors 6 --runs 4294967295", &["4294967295"]);
    check_refused("full --factors 3 --blocks 2147483648", &["2147483648"]);
}

#[test]
fn every_kind_prints_a_table() {
    let cases = [
        ("plackett-burman --factors 11 --runs 12", "A contains parts of 45 two-factor"),
        ("plackett-burman --factors 2 --runs 8", "A contains no two-factor interaction"),
        ("central-composite --factors 3", "axial points at 1.6818 half edges"),
        ("box-behnken --factors 4", "27"),
        ("latin-hypercube --factors 2 --runs 8 --maximin", "closest points apart"),
        ("sobol --factors 2 --runs 8", "0.7500"),
    ];
    for (words, part) in cases {
        let words = format!("design {words}");
        let end = Lab::new().expect(0, &words.split(' ').collect::<Vec<_>>());
        assert!(end.stdout.contains(part), "{words} gave {end:#?}");
    }
}

#[test]
fn a_foldover_shows_both_halves_as_one_design() {
    let words = "foldover --factors 7 --generators D=AB,E=AC,F=BC,G=ABC";
    let folded = design(words);
    assert_eq!(folded["resolution"], 4);
    assert_eq!(folded["rows"].as_array().unwrap().len(), 16);
    assert_eq!(folded["word_length_pattern"]["4"], 7);
    let on = design(&format!("{words} --on A"));
    assert!(!on["defining_relation"].to_string().contains('A'));
    check_refused(
        "foldover --factors 4 --runs 8",
        &["the same rows again", "fold over one factor"],
    );
    check_refused(&format!("{words} --on Z"), &["no factor `Z`"]);
}

#[test]
fn blocks_show_what_they_hide() {
    let half = design("full --factors 3 --blocks 2");
    assert_eq!(half["blocks"]["confounded"], serde_json::json!(["ABC"]));
    assert_eq!(half["blocks"]["rows"], serde_json::json!([1, 2, 2, 1, 2, 1, 1, 2]));
    let given = design("fractional --factors 6 --runs 16 --block-generators ACD");
    assert_eq!(given["blocks"]["count"], 2);
    let plain = Lab::new().expect(0, &["design", "full", "--factors", "4", "--blocks", "4"]);
    assert!(plain.stdout.contains("4 blocks, told apart by"), "{}", plain.stdout);
    check_refused("full --factors 3 --blocks 3", &["3 blocks are not a power of two"]);
    check_refused("fractional --factors 3 --runs 4 --block-generators ABC", &["the same blocks"]);
}

#[test]
fn orthogonal_arrays_balance_every_pair() {
    let array = design("mixed --levels 2,3,3,3,3,3,3,3");
    assert_eq!(array["array"], "L18");
    let rows = rows(&array["rows"]);
    for a in 1..8 {
        for b in 0..a {
            let pairs = rows.iter().filter(|row| row[a] == 0.0 && row[b] == 0.0).count();
            assert_eq!(pairs, if b == 0 { 3 } else { 2 });
        }
    }
    check_refused("mixed --levels 2,3,3 --runs 9", &["use 18 runs"]);
    check_refused("mixed --factors 3", &["--factors does not apply"]);
}

#[test]
fn d_optimal_rows_and_additions_are_chosen_for_a_model() {
    let whole = design("d-optimal --factors 3 --runs 8");
    assert!((whole["optimality"]["d_efficiency"].as_f64().unwrap() - 100.0).abs() < 1e-9);
    assert_eq!(sorted(&whole["rows"]), sorted(&design("full --factors 3")["rows"]));
    let curved = design("d-optimal --levels 3,3 --runs 6 --model quadratic --seed 3");
    // The determinant of X'X is 2^8 at best.
    let efficiency = curved["optimality"]["d_efficiency"].as_f64().unwrap() / 100.0;
    assert!(((efficiency * 6.0).powi(6) - 256.0).abs() < 1e-6);
    check_refused("d-optimal --levels 3,3 --runs 4 --model quadratic", &["too few", "at least 6"]);
    check_refused("d-optimal --levels 2,2 --runs 8 --model A+Q", &["`Q` in the terms"]);

    let lab = Lab::new();
    lab.write("rows.csv", "a,b,c,y\n-1,-1,1,5\n1,-1,-1,6\n-1,1,-1,7\n1,1,1,8\n");
    let words = "design augment --data rows.csv --columns a,b,c --add 4 --json";
    let added = lab.json(&words.split(' ').collect::<Vec<_>>());
    assert_eq!((added["existing"].as_u64(), added["factors"][2].as_str()), (Some(4), Some("c")));
    // The other half of the factorial is the best addition.
    assert!(rows(&added["rows"]).iter().all(|row| row.iter().product::<f64>() == -1.0));
    let end = lab.expect(2, &["design", "augment", "--data", "rows.csv", "--add", "1"]);
    end.says(&["too few"]);
    lab.expect(2, &["design", "augment", "--data", "none.csv", "--add", "1"]).says(&["none.csv"]);
}

#[test]
fn twelve_factors_have_the_known_word_lengths() {
    // Chen, Sun and Wu, "A catalogue of two-level and three-level fractional factorial designs
    // with small runs", International Statistical Review 61, 1993: designs 11-5.1 and 12-6.1.
    let eleven = design("fractional --factors 11 --runs 64");
    assert_eq!(eleven["word_length_pattern"]["4"], 4);
    assert_eq!(eleven["word_length_pattern"]["5"], 14);
    assert_eq!(eleven["choice"], "minimum-aberration");
    let twelve = design("fractional --factors 12 --runs 64");
    assert_eq!(twelve["word_length_pattern"]["4"], 6);
    assert_eq!(twelve["word_length_pattern"]["5"], 24);
    assert_eq!(design("fractional --factors 12 --runs 128")["choice"], "minimum-aberration");
}
