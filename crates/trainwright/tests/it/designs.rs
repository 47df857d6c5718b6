//! `design` and `findings`.

use trainwright::{
    DesignReply, DesignRequest, FindingsReply, FractionBy, FractionRequest, OptimalRequest, Spread,
    design, findings, to_json,
};

use crate::lab::{Lab, check_refusal, nowhere};

fn fraction(factors: usize, by: FractionBy) -> FractionRequest {
    FractionRequest { factors, by }
}

fn optimal(runs: u32) -> OptimalRequest {
    OptimalRequest { model: "main".to_owned(), runs, starts: 3, seed: 1 }
}

/// The rows of a design as its JSON shows them.
#[track_caller]
fn rows(request: &DesignRequest) -> usize {
    let reply = design(request).unwrap_or_else(|error| panic!("{error}"));
    let json: serde_json::Value = serde_json::from_str(&to_json("design", &reply)).unwrap();
    json["rows"].as_array().unwrap_or_else(|| panic!("{json}")).len()
}

#[test]
fn every_kind_of_design_has_its_number_of_rows() {
    assert_eq!(rows(&DesignRequest::TwoLevelFull { factors: 3 }), 8);
    assert_eq!(rows(&DesignRequest::Full { levels: vec![2, 3, 4] }), 24);
    let half = fraction(4, FractionBy::Runs(8));
    assert_eq!(rows(&DesignRequest::Fraction { fraction: half.clone(), blocks: None }), 8);
    assert_eq!(rows(&DesignRequest::Foldover { fraction: half, on: Some('A') }), 16);
    let named = fraction(3, FractionBy::Generators(vec!["C=AB".to_owned()]));
    assert_eq!(rows(&DesignRequest::Fraction { fraction: named, blocks: None }), 4);
    assert_eq!(rows(&DesignRequest::PlackettBurman { factors: 11, runs: 12 }), 12);
    assert_eq!(rows(&DesignRequest::BoxBehnken { factors: 3, centre: Some(3) }), 15);
    assert_eq!(rows(&DesignRequest::Sobol { factors: 2, runs: 8 }), 8);
    assert_eq!(rows(&DesignRequest::OrthogonalArray { levels: vec![2, 3, 3], runs: None }), 18);
    let request = optimal(6);
    assert_eq!(rows(&DesignRequest::DOptimal { levels: vec![2, 3, 2], request }), 6);
}

#[test]
fn a_full_design_has_every_combination_once() {
    let Ok(DesignReply::Levels { mut rows, factors }) =
        design(&DesignRequest::Full { levels: vec![2, 3] })
    else {
        panic!("another reply");
    };
    assert_eq!(factors.len(), 2);
    rows.sort_unstable();
    assert_eq!(rows, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
}

#[test]
fn a_latin_hypercube_has_one_point_in_every_stratum() {
    let request =
        DesignRequest::LatinHypercube { factors: 3, runs: 10, seed: 4, spread: Spread::Plain };
    let Ok(DesignReply::Points { rows, .. }) = design(&request) else { panic!("another reply") };
    for factor in 0..3 {
        let mut strata: Vec<u32> = rows.iter().map(|row| (row[factor] * 10.0) as u32).collect();
        strata.sort_unstable();
        assert_eq!(strata, (0..10).collect::<Vec<_>>());
    }
}

#[test]
fn further_rows_are_chosen_for_a_table() {
    let lab = Lab::new();
    let data = lab.file("t.csv", "a,b\n1,1\n2,1\n1,2\n");
    let request = DesignRequest::Augment { data, columns: Vec::new(), request: optimal(2) };
    let Ok(DesignReply::Chosen(chosen)) = design(&request) else { panic!("another reply") };
    assert_eq!((chosen.existing, chosen.factors.len()), (3, 2));
    let data = nowhere().to_owned();
    let request = DesignRequest::Augment { data, columns: Vec::new(), request: optimal(2) };
    check_refusal(design(&request), 2, &["all.csv"]);
}

#[test]
fn a_design_that_cannot_be_is_refused_with_its_numbers() {
    let refused =
        |request: DesignRequest, words: &[&str]| check_refusal(design(&request), 2, words);
    refused(
        DesignRequest::TwoLevelFull { factors: 40 },
        &["about 1e12 combinations", "fractional"],
    );
    refused(DesignRequest::PlackettBurman { factors: 11, runs: 13 }, &["13"]);
    refused(DesignRequest::BoxBehnken { factors: 2, centre: None }, &["2"]);
    let by = FractionBy::Runs(6);
    refused(DesignRequest::Fraction { fraction: fraction(4, by), blocks: None }, &["6"]);
    let by = FractionBy::Generators(vec!["C=AZ".to_owned()]);
    refused(DesignRequest::Fraction { fraction: fraction(3, by), blocks: None }, &["Z"]);
    refused(DesignRequest::Full { levels: vec![1 << 20; 4] }, &["combinations"]);
}

#[test]
fn findings_are_listed_and_explained_one_by_one() {
    let Ok(FindingsReply::All { groups }) = findings(None) else { panic!("another reply") };
    assert!(!groups.is_empty());
    check_refusal(findings(Some("no-such-finding")), 2, &["no-such-finding"]);
}
