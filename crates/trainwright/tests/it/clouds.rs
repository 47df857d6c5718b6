//! Machines for a job, found by hand: what is asked, kept, gone on with and refused.

use std::collections::BTreeMap;
use std::path::Path;

use trainwright::clouds::{Limits, Method, Objective};
use trainwright::{
    Error, OwnRun, RecommendRequest, Recommendation, Wish, catalog, cloud_recommend, cloud_tell,
};

use crate::lab::{Lab, check_refusal};

const CATALOG: &str = "# date: 2020-01-01\n# source: a price list\n\
    vm_type,vcpus,memory_gib,price_usd_per_hour\nsmall,2,4,0.36\nlarge,8,16,1.44\n";

fn request<'a>(file: &'a Path, catalog: &'a Path, method: Method) -> RecommendRequest<'a> {
    RecommendRequest {
        file,
        catalog: Some(catalog),
        nodes: &[2, 1, 2],
        objective: Objective::Time,
        limits: Limits::default(),
        history: None,
        method,
        seed: 3,
        job: None,
        most_runs: None,
        program: Path::new("/bin/false"),
    }
}

fn recommend(request: &RecommendRequest<'_>) -> Result<Recommendation, Error> {
    cloud_recommend(request, &|| Wish::GoOn, &mut |_| panic!("nothing runs here"))
}

fn run(vm_type: &str, nodes: u32, elapsed_s: f64) -> OwnRun {
    let (vm_type, elapsed_s) = (vm_type.to_owned(), Some(elapsed_s));
    OwnRun { vm_type, nodes, elapsed_s, completed: true, metrics: BTreeMap::new() }
}

#[test]
fn a_search_by_hand_goes_through_its_candidates_and_keeps_what_was_told() {
    let lab = Lab::new();
    let (file, machines) = (lab.path("search.json"), lab.file("c.csv", CATALOG));
    let request = request(&file, &machines, Method::Exhaustive);
    let mut now = recommend(&request).unwrap();
    assert_eq!((now.candidates, now.best.is_none(), now.spent_usd), (4, true, 0.0));
    let mut seen = Vec::new();
    while let Some(next) = now.next.take() {
        seen.push((next.vm_type.clone(), next.nodes));
        let elapsed =
            100.0 / f64::from(next.nodes) / if next.vm_type == "large" { 3.0 } else { 1.0 };
        let told = cloud_tell(&file, run(&next.vm_type, next.nodes, elapsed)).unwrap();
        // Whoever asks later is told the same.
        assert_eq!(recommend(&request).unwrap(), told);
        now = told;
    }
    assert_eq!(seen.len(), 4, "{seen:?}");
    let best = now.best.unwrap();
    assert_eq!((best.vm_type.as_str(), best.nodes), ("large", 2));
    assert!(now.stop.is_some());
    // 100 s and 50 s x 2 of 0.36, 33.3 s and 16.7 s x 2 of 1.44 an hour.
    let expected = (200.0 * 0.36 + 2.0 * 100.0 / 3.0 * 1.44) / 3600.0;
    assert!((now.spent_usd - expected).abs() < 1e-12, "{}", now.spent_usd);
    check_refusal(cloud_tell(&file, run("large", 2, 1.0)), 2, &["2 x large was told before"]);
}

#[test]
fn a_limit_rules_the_quickest_out_where_it_costs_too_much() {
    let lab = Lab::new();
    let (file, machines) = (lab.path("search.json"), lab.file("c.csv", CATALOG));
    let limits = Limits { time_s: None, cost_usd: Some(0.0121) };
    let request = RecommendRequest { limits, ..request(&file, &machines, Method::Exhaustive) };
    recommend(&request).unwrap();
    let mut now = None;
    for (name, nodes, elapsed) in
        [("small", 1, 120.0), ("small", 2, 70.0), ("large", 1, 31.0), ("large", 2, 16.0)]
    {
        now = Some(cloud_tell(&file, run(name, nodes, elapsed)).unwrap());
    }
    let best = now.unwrap().best.unwrap();
    // 0.012 dollars; the others cost 0.014, 0.0124 and 0.0128.
    assert_eq!((best.vm_type.as_str(), best.nodes), ("small", 1));
    let none = lab.path("none.json");
    let limits = Limits { time_s: Some(1.0), cost_usd: None };
    recommend(&RecommendRequest { limits, file: &none, ..request.clone() }).unwrap();
    let mut told = None;
    for (name, nodes) in [("small", 1), ("small", 2), ("large", 1), ("large", 2)] {
        told = Some(cloud_tell(&none, run(name, nodes, 50.0)).unwrap());
    }
    let told = told.unwrap();
    assert!(
        told.best.is_none()
            && told.warnings.contains(&"no candidate keeps within the limits".to_owned())
    );
}

#[test]
fn what_a_file_was_begun_with_stays() {
    let lab = Lab::new();
    let (file, machines) = (lab.path("search.json"), lab.file("c.csv", CATALOG));
    let first = recommend(&request(&file, &machines, Method::Random)).unwrap();
    std::fs::remove_file(&machines).unwrap();
    let other =
        RecommendRequest { seed: 99, nodes: &[7], ..request(&file, &machines, Method::Exhaustive) };
    assert_eq!(recommend(&other).unwrap(), first, "the catalogue and all else are in the file");
    assert_eq!(first.method, "random");
}

#[test]
fn a_search_that_cannot_be_is_refused_and_leaves_no_file() {
    let lab = Lab::new();
    let (file, machines) = (lab.path("search.json"), lab.file("c.csv", CATALOG));
    let good = request(&file, &machines, Method::Exhaustive);
    for nodes in [&[][..], &[0, 1]] {
        let request = RecommendRequest { nodes, ..good.clone() };
        check_refusal(recommend(&request), 2, &["--nodes needs numbers of at least 1"]);
    }
    let gone = lab.path("gone.csv");
    check_refusal(
        recommend(&RecommendRequest { catalog: Some(&gone), ..good.clone() }),
        2,
        &["gone.csv"],
    );
    assert!(!file.exists());
    check_refusal(
        cloud_tell(&file, run("small", 1, 1.0)),
        2,
        &["search.json is not there", "cloud recommend"],
    );
    let learns = RecommendRequest { method: Method::Paris, ..good };
    check_refusal(recommend(&learns), 2, &["`paris` learns from other workloads"]);
}

#[test]
fn a_catalogue_is_read_as_a_table_and_as_json() {
    let lab = Lab::new();
    let table = catalog(Some(&lab.file("c.csv", CATALOG))).unwrap();
    assert_eq!((table.date.as_str(), table.source.as_str()), ("2020-01-01", "a price list"));
    let json = lab.file("c.json", serde_json::to_string(&table).unwrap());
    assert_eq!(catalog(Some(&json)).unwrap(), table);
    let faulty = lab.file("f.csv", CATALOG.replace("1.44", "-1"));
    check_refusal(catalog(Some(&faulty)), 2, &["f.csv", "price_usd_per_hour of `large` is -1"]);
    let without = lab.file("w.csv", CATALOG.replace("# source", "# sauce"));
    check_refusal(catalog(Some(&without)), 2, &["w.csv", "`# source: ...`"]);
}
