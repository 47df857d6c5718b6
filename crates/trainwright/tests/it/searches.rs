//! Searches that somebody else runs: what is asked, told, found and refused.

use std::collections::BTreeMap;

use trainwright::{Error, MemorySearch, Results, SearchReply, TellReply, Told, ask, exclude, tell};
use trainwright_study::{Configuration, Level, Study, TrialState};

use crate::lab::{Lab, check_refusal};

fn text(name: &str, search: &str) -> String {
    format!(
        "schema = 1\n[study]\nname = \"{name}\"\nseed = 9\n[factors.x]\nrange = {{ from = -1.0, to = 1.0 }}\n\
         [factors.kind]\nlevels = [\"a\", \"b\"]\n[metrics.y]\nobjective = \"maximize\"\n[metrics.cost]\n\
         objective = \"minimize\"\n[metrics.both]\nfrom = \"expr\"\nexpr = \"y + cost\"\n[analysis]\nresponse = \"y\"\n[search]\n{search}\n"
    )
}

const RANDOM: &str = "method = \"random\"\nbudget = { trials = 6 }";

fn told(trial: u32, y: f64, cost: f64) -> Told {
    let values = BTreeMap::from([("y".to_owned(), y), ("cost".to_owned(), cost)]);
    Told { trial, values, failed: None, seconds: Some(2.0) }
}

fn value(own: &Configuration) -> f64 {
    let x = own.get("x").and_then(Level::number).unwrap();
    let kind = f64::from(u8::from(own.get("kind") == Some(&Level::Text("b".into()))));
    kind - (x - 0.25).powi(2)
}

/// Asks and tells until the search has stopped; gives what was tried and why it stopped.
fn run(study: &Study) -> (Vec<Configuration>, String) {
    let mut tried = Vec::new();
    loop {
        let asked = ask(study, None, 1).unwrap();
        let Some(own) = asked.trials.first() else { return (tried, asked.stopped.unwrap()) };
        tell(study, None, &told(own.trial, value(&own.configuration), 1.0)).unwrap();
        tried.push(own.configuration.clone());
    }
}

#[test]
fn a_search_in_memory_suggests_what_one_with_a_store_does() {
    for method in
        ["random", "sobol", "latin-hypercube", "grid", "tpe", "coordinate-descent", "line"]
    {
        let search = format!("method = \"{method}\"\nbudget = {{ trials = 12 }}");
        let lab = Lab::new();
        let study = lab.study(&text("s", &search));
        let (kept, _) = run(&study);
        let mut memory = MemorySearch::new(study).unwrap();
        let mut tried = Vec::new();
        while let Some(own) = memory.ask(1).trials.pop() {
            memory.tell(&told(own.trial, value(&own.configuration), 1.0)).unwrap();
            tried.push(own.configuration);
        }
        assert!(kept.len() > 1, "{method}: {kept:?}");
        assert_eq!(kept, tried, "{method}");
    }
}

#[test]
fn several_trials_at_once_are_those_that_one_after_the_other_would_be() {
    let numbers = |counts: &[u32]| {
        let lab = Lab::new();
        let study = lab.study(&text("s", RANDOM));
        let all = counts.iter().flat_map(|count| ask(&study, None, *count).unwrap().trials);
        all.map(|own| (own.trial, own.seed, own.configuration.to_string())).collect::<Vec<_>>()
    };
    let all = numbers(&[6]);
    assert_eq!(all.len(), 6);
    assert_eq!(numbers(&[1, 1, 1, 1, 1, 1]), all);
    assert_eq!(numbers(&[2, 4]), all);
    assert_eq!(numbers(&[9]), all, "no more than the budget");
}

#[test]
fn the_best_is_the_largest_where_more_is_better_and_a_failure_is_never_the_best() {
    let lab = Lab::new();
    let study = lab.study(&text("s", RANDOM));
    ask(&study, None, 4).unwrap();
    let told_of = |told: &Told| -> TellReply { tell(&study, None, told).unwrap() };
    assert_eq!(told_of(&told(2, 5.0, 1.0)).best_value, Some(5.0));
    assert_eq!(told_of(&told(1, 7.0, 1.0)).best_value, Some(7.0));
    let failed = Told { failed: Some("killed".to_owned()), ..told(3, 99.0, 1.0) };
    let reply = told_of(&failed);
    assert_eq!((reply.state, reply.best_value), (TrialState::Failed, Some(7.0)));
    let diverged = told_of(&told(4, f64::INFINITY, 1.0));
    assert_eq!((diverged.state, diverged.best_value), (TrialState::Diverged, Some(7.0)));
    let results = Results::read(&study, None).unwrap();
    let reasons: Vec<Option<&str>> =
        results.trials.iter().map(|own| own.reason.as_deref()).collect();
    assert_eq!(reasons, [None, None, Some("killed"), Some("metric `y` was inf")]);
}

#[test]
fn what_cannot_be_told_is_refused_by_name_and_the_trial_stays_open() {
    let lab = Lab::new();
    let study = lab.study(&text("s", RANDOM));
    let refused = |told: &Told, words: &[&str]| check_refusal(tell(&study, None, told), 2, words);
    refused(&told(1, 1.0, 1.0), &["`s`"]);
    ask(&study, None, 1).unwrap();
    let mut own = told(1, 1.0, 1.0);
    own.values.insert("z".to_owned(), 1.0);
    refused(&own, &["`z`", "y, cost"]);
    let mut formula = told(1, 1.0, 1.0);
    formula.values.insert("both".to_owned(), 1.0);
    refused(&formula, &["`both`"]);
    let mut short = told(1, 1.0, 1.0);
    short.values.remove("cost");
    refused(&short, &["trial 1", "`cost`"]);
    refused(&told(7, 1.0, 1.0), &["7"]);
    for seconds in [-1.0, f64::NAN, f64::INFINITY] {
        let own = Told { seconds: Some(seconds), ..told(1, 1.0, 1.0) };
        refused(&own, &["trial 1", &seconds.to_string()]);
    }
    tell(&study, None, &told(1, 1.0, 1.0)).unwrap();
    refused(&told(1, 1.0, 1.0), &["trial 1", "finished"]);
    let plain = lab.study(crate::lab::SUMS);
    assert!(matches!(ask(&plain, None, 1), Err(Error::NoSearch { .. })));
}

#[test]
fn a_reply_names_the_best_the_next_best_and_the_edges() {
    let lab = Lab::new();
    let search = "method = \"random\"\nbudget = { trials = 4 }\nreplicates = 2";
    let study = lab.study(&text("s", search));
    let asked = ask(&study, None, 4).unwrap().trials;
    let same = |a: usize, b: usize| asked[a].configuration.same_as(&asked[b].configuration);
    assert!(same(0, 1) && same(2, 3) && !same(0, 2), "each configuration runs twice");
    for (own, y) in asked.iter().zip([1.0, 1.5, 8.0, 9.0]) {
        tell(&study, None, &told(own.trial, y, 1.0)).unwrap();
    }
    let reply = SearchReply::of(&study, &Results::read(&study, None).unwrap(), None).unwrap();
    let best = reply.best.as_ref().unwrap();
    assert_eq!((best.trial, best.replicates, best.values["y"]), (3, 2, 8.5));
    let second = reply.runner_up.as_ref().unwrap();
    assert_eq!((second.found.trial, second.found.values["y"]), (1, 1.25));
    assert!(second.p.is_some_and(|p| p > 0.0 && p < 0.05), "{:?}", second.p);
    assert_eq!((reply.seconds, reply.objectives.as_slice()), (8.0, &["y".to_owned()][..]));
    assert!(reply.front.is_empty() && reply.hypervolume.is_none());
    assert_eq!(reply.trace.len(), 4);
    // A trial that somebody leaves out is spent, and no longer the best.
    for number in [3, 4] {
        exclude(&study, None, number, Some("a wrong disk")).unwrap();
    }
    let reply = SearchReply::of(&study, &Results::read(&study, None).unwrap(), None).unwrap();
    assert_eq!(reply.best.unwrap().trial, 1);
}

#[test]
fn several_goals_give_a_front_that_nothing_beats() {
    let lab = Lab::new();
    let search = "method = \"random\"\nbudget = { trials = 4 }\nobjectives = [\"y\", \"cost\"]";
    let study = lab.study(&text("s", search));
    let asked = ask(&study, None, 4).unwrap().trials;
    // The third is as good as the second in one goal and worse in the other.
    for (own, (y, cost)) in asked.iter().zip([(1.0, 1.0), (3.0, 2.0), (3.0, 5.0), (0.0, 9.0)]) {
        tell(&study, None, &told(own.trial, y, cost)).unwrap();
    }
    let reply = SearchReply::of(&study, &Results::read(&study, None).unwrap(), None).unwrap();
    let front: Vec<u32> = reply.front.iter().map(|own| own.trial).collect();
    assert_eq!(front, [1, 2]);
    // Of the box from (0, 9) to (3, 1): 3 x 7 by the second, and 1 x 1 more by the first.
    let share = reply.hypervolume.unwrap();
    assert!((share - 22.0 / 24.0).abs() < 1e-12, "{share}");
}

#[test]
fn what_earlier_studies_found_is_tried_first_and_one_that_is_not_there_is_named() {
    let lab = Lab::new();
    let before = lab.study(&text("before", RANDOM));
    let (tried, _) = run(&before);
    let best = tried.iter().max_by(|a, b| value(a).total_cmp(&value(b))).unwrap();
    let warm = |name: &str| {
        format!("method = \"tpe\"\nbudget = {{ trials = 6 }}\nwarm_start = [\"{name}\"]")
    };
    let study = lab.study(&text("after", &warm("before")));
    let first = ask(&study, None, 1).unwrap().trials.remove(0);
    assert!(first.configuration.same_as(best), "{} is not {best}", first.configuration);
    let lost = lab.study(&text("lost", &warm("nothing")));
    check_refusal(ask(&lost, None, 1), 2, &["study.toml:", "the store has no study `nothing`"]);
}

#[test]
fn a_grid_search_has_every_level_and_fits_its_budget() {
    let lab = Lab::new();
    let levels =
        "[factors.a]\nlevels = [1, 2, 3, 4, 5, 6]\n[factors.x]\nrange = { from = 0.0, to = 1.0 }\n";
    let own = format!(
        "schema = 1\n[study]\nname = \"g\"\n{levels}[metrics.y]\nobjective = \"maximize\"\n\
         [search]\nmethod = \"grid\"\nbudget = {{ trials = 20 }}\n"
    );
    let study = lab.study(&own);
    let asked = ask(&study, None, 100).unwrap();
    // Three points along the range for each of six levels.
    assert_eq!(asked.trials.len(), 18);
    for level in 1..=6 {
        let of = |own: &&trainwright::AskedTrial| {
            own.configuration.get("a") == Some(&Level::Integer(level))
        };
        assert_eq!(asked.trials.iter().filter(of).count(), 3, "level {level}");
    }
}
