//! Machines for a job, found by hand: what is asked, kept, gone on with and refused.

use std::collections::BTreeMap;
use std::path::Path;

use trainwright::clouds::{Limits, Method, Objective, Stop};
use trainwright::{
    Again, Error, OwnRun, RecommendRequest, Recommendation, Wish, catalog, cloud_recommend,
    cloud_tell,
};

use crate::lab::{Lab, check_refusal};

const CATALOG: &str = "# date: 2020-01-01\n# source: a price list\n\
    vm_type,vcpus,memory_gib,price_usd_per_hour\nsmall,2,4,0.36\nlarge,8,16,1.44\n";

fn request<'a>(file: &'a Path, catalog: &'a Path, method: Method) -> RecommendRequest<'a> {
    RecommendRequest {
        file,
        catalog: Some(catalog),
        nodes: Some(&[2, 1, 2]),
        objective: Some(Objective::Time),
        limits: Limits::default(),
        history: None,
        method: Some(method),
        seed: Some(3),
        job: None,
        most_runs: None,
        count: 1,
        program: Path::new("/bin/false"),
    }
}

fn recommend(request: &RecommendRequest<'_>) -> Result<Recommendation, Error> {
    cloud_recommend(request, &|| Wish::GoOn, &mut |_| panic!("nothing runs here"))
}

fn tell(file: &Path, run: OwnRun) -> Result<Recommendation, Error> {
    cloud_tell(file, vec![run], Again::No)
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
        let told = tell(&file, run(&next.vm_type, next.nodes, elapsed)).unwrap();
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
    check_refusal(tell(&file, run("large", 2, 1.0)), 2, &["2 x large was told before"]);
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
        now = Some(tell(&file, run(name, nodes, elapsed)).unwrap());
    }
    let best = now.unwrap().best.unwrap();
    // 0.012 dollars; the others cost 0.014, 0.0124 and 0.0128.
    assert_eq!((best.vm_type.as_str(), best.nodes), ("small", 1));
    let none = lab.path("none.json");
    let limits = Limits { time_s: Some(1.0), cost_usd: None };
    recommend(&RecommendRequest { limits, file: &none, ..request.clone() }).unwrap();
    let mut told = None;
    for (name, nodes) in [("small", 1), ("small", 2), ("large", 1), ("large", 2)] {
        told = Some(tell(&none, run(name, nodes, 50.0)).unwrap());
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
    let silent = RecommendRequest {
        catalog: None,
        nodes: None,
        objective: None,
        method: None,
        seed: None,
        ..request(&file, &machines, Method::Random)
    };
    assert_eq!(recommend(&silent).unwrap(), first, "the catalogue and all else are in the file");
    assert_eq!(first.method, "random");
    let other = RecommendRequest { seed: Some(99), nodes: Some(&[7]), ..silent.clone() };
    let words = ["search.json was begun otherwise", "nodes is [1, 2] there and [7] here", "seed"];
    check_refusal(recommend(&other), 2, &words);
    let limits = Limits { time_s: Some(60.0), cost_usd: None };
    let other = RecommendRequest { limits, objective: Some(Objective::Cost), ..silent };
    check_refusal(recommend(&other), 2, &["max-time is none there and 60 here", "objective"]);
}

#[test]
fn runs_told_at_the_same_time_are_all_kept() {
    let lab = Lab::new();
    let (file, machines) = (lab.path("search.json"), lab.file("c.csv", CATALOG));
    let nodes: Vec<u32> = (1..=16).collect();
    let request =
        RecommendRequest { nodes: Some(&nodes), ..request(&file, &machines, Method::Random) };
    recommend(&request).unwrap();
    std::thread::scope(|scope| {
        for &nodes in &nodes {
            let file = &file;
            scope.spawn(move || tell(file, run("small", nodes, 9.0)).unwrap());
        }
    });
    let kept = recommend(&request).unwrap().runs;
    let mut told: Vec<u32> = kept.iter().map(|own| own.nodes).collect();
    told.sort_unstable();
    assert_eq!(told, nodes);
}

#[test]
fn a_history_is_found_from_another_folder_and_a_run_is_kept_only_where_it_is() {
    let lab = Lab::new();
    let (file, machines) = (lab.path("search.json"), lab.file("c.csv", CATALOG));
    let table = lab.file(
        "past.csv",
        "workload,vm_type,nodes,elapsed_s,vcpus,memory_gib,price_usd_per_hour\n\
         a,small,1,50,2,4,0.36\na,large,1,20,8,16,1.44\n",
    );
    let here = std::env::current_dir().unwrap();
    let up = here.components().skip(1).map(|_| "..").collect::<std::path::PathBuf>();
    let relative = up.join(table.strip_prefix("/").unwrap());
    let good = request(&file, &machines, Method::Default);
    recommend(&RecommendRequest { history: Some(&relative), ..good }).unwrap();
    let kept = std::fs::read_to_string(&file).unwrap();
    let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
    assert!(Path::new(kept["history"].as_str().unwrap()).is_absolute(), "{}", kept["history"]);
    std::fs::rename(&table, lab.path("elsewhere.csv")).unwrap();
    check_refusal(tell(&file, run("small", 1, 9.0)), 2, &["past.csv"]);
    std::fs::rename(lab.path("elsewhere.csv"), &table).unwrap();
    // Nothing was kept the first time.
    assert_eq!(tell(&file, run("small", 1, 9.0)).unwrap().runs.len(), 1);
}

#[test]
fn replicates_count_by_their_mean_and_are_paid_for_each() {
    let lab = Lab::new();
    let (file, machines) = (lab.path("search.json"), lab.file("c.csv", CATALOG));
    recommend(&request(&file, &machines, Method::Exhaustive)).unwrap();
    tell(&file, run("small", 1, 10.0)).unwrap();
    tell(&file, run("small", 2, 14.0)).unwrap();
    let again = vec![run("small", 1, 30.0), run("small", 1, 20.0)];
    let told = cloud_tell(&file, again, Again::Yes).unwrap();
    let best = told.best.unwrap();
    assert_eq!((best.nodes, best.elapsed_s), (2, Some(14.0)));
    assert!((told.spent_usd - (60.0 + 2.0 * 14.0) * 0.36 / 3600.0).abs() < 1e-12);
    assert_eq!(told.next.unwrap().vm_type, "large", "what ran is not proposed again");
}

#[test]
fn a_table_of_runs_is_told_whole_or_not_at_all() {
    let lab = Lab::new();
    let (file, machines) = (lab.path("search.json"), lab.file("c.csv", CATALOG));
    let request = request(&file, &machines, Method::Default);
    recommend(&request).unwrap();
    let table = lab.file("own.csv", "vm_type,nodes,elapsed_s\nsmall,1,50\nlarge,2,12\n");
    let faulty = lab.file("foreign.csv", "vm_type,nodes,elapsed_s\nsmall,2,50\nhuge,2,12\n");
    let told =
        |table: &Path| cloud_tell(&file, trainwright::own_runs(table, None).unwrap(), Again::No);
    check_refusal(told(&faulty), 2, &["2 x huge is not among the candidates"]);
    assert_eq!(told(&table).unwrap().runs.len(), 2);
}

#[test]
fn several_runs_to_make_side_by_side_differ() {
    let lab = Lab::new();
    let (file, machines) = (lab.path("search.json"), lab.file("c.csv", CATALOG));
    for method in [Method::Default, Method::Exhaustive] {
        let file = file.with_extension(method.name());
        let request = RecommendRequest { count: 3, ..request(&file, &machines, method) };
        let asked = recommend(&request).unwrap();
        let mut all: Vec<(String, u32)> = asked
            .next
            .iter()
            .chain(&asked.beside)
            .map(|own| (own.vm_type.clone(), own.nodes))
            .collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 3, "{}", method.name());
    }
}

#[test]
fn a_limit_that_nothing_can_keep_ends_the_search_early() {
    let lab = Lab::new();
    for method in [Method::Default, Method::Cherrypick, Method::Random] {
        let file = lab.path(&format!("{}.json", method.name()));
        let limits = Limits { time_s: None, cost_usd: Some(1e-5) };
        let nodes: Vec<u32> = (1..=8).collect();
        let request = RecommendRequest {
            limits,
            catalog: None,
            nodes: Some(&nodes),
            ..request(&file, &file, method)
        };
        let mut now = recommend(&request).unwrap();
        while let Some(next) = now.next.take() {
            let elapsed = 600.0 / f64::from(next.nodes).powf(0.8);
            now = tell(&file, run(&next.vm_type, next.nodes, elapsed)).unwrap();
        }
        assert!(matches!(now.stop, Some(Stop::NoneAcceptable { .. })), "{:?}", now.stop);
        assert!(now.runs.len() < 20, "{} after {}", method.name(), now.runs.len());
    }
}

#[test]
fn a_search_that_cannot_be_is_refused_and_leaves_no_file() {
    let lab = Lab::new();
    let (file, machines) = (lab.path("search.json"), lab.file("c.csv", CATALOG));
    let good = request(&file, &machines, Method::Exhaustive);
    for nodes in [&[][..], &[0, 1]] {
        let request = RecommendRequest { nodes: Some(nodes), ..good.clone() };
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
        tell(&file, run("small", 1, 1.0)),
        2,
        &["search.json is not there", "cloud recommend"],
    );
    let learns = RecommendRequest { method: Some(Method::Paris), ..good };
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
