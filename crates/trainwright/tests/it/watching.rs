//! What pages and programs see of a study while it runs and after.

use std::collections::BTreeSet;
use std::fs;

use trainwright::pages::ShownColumns;
use trainwright::{
    LogName, SortDirection, StudyView, Thought, TrialList, TrialQuery, add_replications,
    compare_configurations, configurations_of, exclude, find_speedtests, find_stores,
    find_study_file, output_tail, read_speedtest, studies_in,
};
use trainwright_study::{Level, TrialState};

use crate::lab::{Lab, check_refusal};

fn query(filter: &str, sort: &str, order: SortDirection) -> TrialQuery {
    TrialQuery {
        filter: filter.to_owned(),
        sort: sort.to_owned(),
        order,
        columns: ShownColumns::All,
    }
}

fn view(lab: &Lab) -> StudyView {
    let (study, results) = lab.sums();
    let store = results.place.store.clone();
    StudyView::read(&study, &store).unwrap()
}

#[test]
fn a_finished_study_is_seen_whole() {
    let lab = Lab::new();
    let view = view(&lab);
    assert_eq!((view.trials.len(), view.counts.count(TrialState::Finished)), (8, 8));
    assert!(view.runner.is_none() && view.time_left.is_none() && view.budget_spent.is_none());
    assert!(view.used_s > 0.0 && view.spent().is_none(), "no price, no money");
    assert_eq!(view.trial(3).map(|own| own.number), Some(3));
    assert!(view.trial(99).is_none());
    assert_eq!(view.machines.len(), 1);
    let told = output_tail(&view.place, 1, LogName::Stderr).unwrap();
    assert_eq!((told.text.as_str(), told.bytes, told.left_out), ("told\n", 5, 0));
    let thought = Thought::of(&view.study, &view.place.store).unwrap();
    assert_eq!(thought.change, view.change);
    assert!(thought.analysis.is_ok() && !thought.has_search());
    assert!(Thought::none(&view.study).analysis.unwrap_err().contains("`sums` is being analysed"));
}

#[test]
fn a_list_of_trials_is_the_one_that_looking_at_each_makes() {
    let lab = Lab::new();
    let view = view(&lab);
    let number = |place: usize, name: &str| match name {
        "trial" => f64::from(view.trials[place].number),
        "replicate" => f64::from(view.trials[place].replicate),
        "y" => view.trials[place].measurements[0].value,
        name => view.trials[place].configuration.get(name).and_then(Level::number).unwrap(),
    };
    type Rule<'a> = Box<dyn Fn(usize) -> bool + 'a>;
    let rules: [(&str, Rule<'_>); 5] = [
        ("", Box::new(|_| true)),
        ("a == 2", Box::new(|own| number(own, "a") == 2.0)),
        (
            "y > 12 and replicate == 1",
            Box::new(|own| number(own, "y") > 12.0 && number(own, "replicate") == 1.0),
        ),
        ("state == 'finished' and trial <= 4", Box::new(|own| number(own, "trial") <= 4.0)),
        ("excluded", Box::new(|_| false)),
    ];
    for (filter, rule) in &rules {
        for sort in ["", "trial", "a", "b", "y", "replicate"] {
            for order in [SortDirection::Ascending, SortDirection::Descending] {
                let list = TrialList::new(&view, &query(filter, sort, order)).unwrap();
                let mut expected: Vec<usize> =
                    (0..view.trials.len()).filter(|own| rule(*own)).collect();
                if !sort.is_empty() {
                    expected.sort_by(|a, b| {
                        let (a, b) = (number(*a, sort), number(*b, sort));
                        if order == SortDirection::Ascending {
                            a.total_cmp(&b)
                        } else {
                            b.total_cmp(&a)
                        }
                    });
                }
                assert_eq!(list.chosen, expected, "`{filter}` by `{sort}` {order:?}");
                assert_eq!(list.total, 8);
            }
        }
    }
}

#[test]
fn rows_are_a_window_of_the_list() {
    let lab = Lab::new();
    let view = view(&lab);
    let list = TrialList::new(&view, &query("", "y", SortDirection::Descending)).unwrap();
    let rows = |from: usize, count: usize| list.rows(&view, from, count, "/t/");
    let all = rows(0, 100);
    assert_eq!(all.matches("<tr").count(), 8);
    assert_eq!(rows(0, 3) + &rows(3, 5), all);
    assert_eq!((rows(8, 5), rows(0, 0)), (String::new(), String::new()));
    for trial in &view.trials {
        assert!(all.contains(&format!("href=\"/t/{}\"", trial.number)));
    }
    let head = list
        .head(&query("", "y", SortDirection::Descending), &|name, way| format!("?{name} {way:?}"));
    assert!(head.contains("aria-sort=\"descending\"") && head.contains("?y Ascending"), "{head}");
}

#[test]
fn a_question_that_no_trial_can_answer_is_explained() {
    let lab = Lab::new();
    let view = view(&lab);
    let refused = |filter: &str, sort: &str, words: &[&str]| {
        check_refusal(
            TrialList::new(&view, &query(filter, sort, SortDirection::Ascending)),
            2,
            words,
        );
    };
    refused("z > 1", "", &["no trial has `z`", "a, attempts, b"]);
    refused("a >", "", &["cannot filter by `a >`"]);
    refused("a + 1", "", &["cannot filter by `a + 1`"]);
    refused("a == 1 and b", "", &["cannot filter by"]);
    refused("", "none", &["there is no column `none`; there are trial, row"]);
}

#[test]
fn configurations_are_compared_by_what_differs_between_them() {
    let lab = Lab::new();
    let view = view(&lab);
    let all = configurations_of(&view);
    assert_eq!(all.len(), 4);
    assert!(all.iter().all(|own| own.values.len() == 2 && own.values[0] == own.values[1]));
    let firsts: BTreeSet<u32> = all.iter().map(|own| own.trial).collect();
    assert_eq!(firsts.len(), 4);
    let page = compare_configurations(&view, &[all[0].trial, all[1].trial]).unwrap();
    assert!(page.contains("a=") || page.contains("b="), "{page}");
    check_refusal(compare_configurations(&view, &[all[0].trial, 99]), 2, &["at least two"]);
    // Left out, a trial counts no longer.
    exclude(&view.study, None, all[0].trial, Some("noise")).unwrap();
    let view = StudyView::read(&view.study, &view.place.store).unwrap();
    let counts: usize = configurations_of(&view).iter().map(|own| own.values.len()).sum();
    assert_eq!(counts, 7);
}

#[test]
fn replications_are_added_in_the_file_and_the_next_run_makes_them() {
    let lab = Lab::new();
    let (study, results) = lab.sums();
    let store = results.place.store.clone();
    drop(results);
    let reply = add_replications(&store, "sums", 1).unwrap();
    assert_eq!(reply.text, "`sums` has 3 replications now.");
    let text = fs::read_to_string(lab.path("study.toml")).unwrap();
    assert_eq!(text, study.source.text.replace("replications = 2", "replications = 3"));
    let grown = trainwright_study::Study::load(&find_study_file(&store, "sums").unwrap()).unwrap();
    let (_, ran) = lab.run(&grown);
    assert_eq!(ran, [9, 10, 11, 12], "only what is new");
    check_refusal(
        find_study_file(&store, "other"),
        2,
        &["the file of the study `other` is not in"],
    );
    let inline = "schema = 1\ndesign = { type = \"full\", replications = 2 }\n[study]\nname = \"inline\"\n\
                  [factors.a]\nlevels = [1, 2]\n[metrics.y]\n";
    lab.file("inline.toml", inline);
    check_refusal(add_replications(&store, "inline", 1), 2, &["inline.toml", "no [design] table"]);
}

#[test]
fn stores_and_their_studies_are_found() {
    let lab = Lab::new();
    let (_, results) = lab.sums();
    let store = results.place.store.clone();
    assert_eq!(find_stores(&[lab.path("")]).unwrap(), std::slice::from_ref(&store));
    let found = studies_in(&store).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].name.as_str(), found[0].study.is_ok()), ("sums", true));
    assert_eq!(found[0].study.as_ref().unwrap().source.path, lab.path("study.toml"));
    assert!(studies_in(&lab.path("none.db")).unwrap().is_empty());
}

#[test]
fn a_study_is_run_again_by_the_name_of_its_own_file() {
    let lab = Lab::new();
    let (study, results) = lab.sums();
    let path = || {
        let found = studies_in(&results.place.store).unwrap();
        found[0].study.as_ref().unwrap().source.path.clone()
    };
    fs::remove_file(lab.path("study.toml")).unwrap();
    assert_eq!(path(), lab.path("STUDY.toml"), "a place for the name, no name of a file");
    lab.file("live.toml", study.source.text.replace("replications = 2", "replications = 3"));
    assert_eq!(path(), lab.path("live.toml"));
    lab.file("zz.toml", &study.source.text);
    assert_eq!(path(), lab.path("zz.toml"), "the text that was run");
}

#[test]
fn speed_tests_are_found_by_what_they_hold() {
    let lab = Lab::new();
    lab.file("a.json", "{\"schema\": \"trainwright/data-speedtest/1\", \"rows\": 3}");
    lab.file("b.json", "{\"schema\": \"trainwright/status/1\"}");
    lab.file("c.txt", "{\"schema\": \"trainwright/data-speedtest/1\"}");
    let folder = lab.path("");
    let found = find_speedtests(&[folder.clone(), folder, lab.path("none")]);
    assert_eq!(found.len(), 1, "each once: {found:?}");
    assert!(found[0].ends_with("a.json"));
    check_refusal(read_speedtest(&found[0]), 2, &["a.json"]);
    check_refusal(read_speedtest(&lab.path("none.json")), 2, &["none.json"]);
}
