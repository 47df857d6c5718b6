//! The table of trials, against the same choice made by hand from all trials.

use std::cmp::Ordering;

use serde_json::Value;

use crate::served::Served;

/// All trials as the server lists them, and those that a query chose, by number.
struct Listed {
    served: Served,
    all: Vec<Value>,
}

impl Listed {
    fn new() -> Self {
        let served = Served::plain();
        let all = served.get("/api/v1/studies/demo/trials").json();
        assert_eq!((&all["total"], &all["matching"]), (&12.into(), &12.into()));
        let all = all["trials"].as_array().unwrap().clone();
        Self { served, all }
    }

    fn asked(&self, query: &str) -> Vec<u64> {
        let found = self.served.get(&format!("/api/v1/studies/demo/trials?{query}")).json();
        assert!(found["error"].is_null(), "{query}: {found}");
        numbers(found["trials"].as_array().unwrap())
    }
}

fn numbers<'a>(trials: impl IntoIterator<Item = &'a Value>) -> Vec<u64> {
    trials.into_iter().map(|own| own["trial"].as_u64().unwrap()).collect()
}

fn number(trial: &Value, pointer: &str) -> f64 {
    trial.pointer(pointer).unwrap().as_f64().unwrap()
}

#[test]
fn an_expression_chooses_the_trials_that_a_reader_would() {
    let listed = Listed::new();
    type Rule = fn(&Value) -> bool;
    let rules: [(&str, Rule); 8] = [
        ("size%20%3C%204", |own| number(own, "/configuration/size") < 4.0),
        ("loss%20%3E=%201", |own| number(own, "/metrics/loss") >= 1.0),
        ("kind%20==%20%22plain%22", |own| own["configuration"]["kind"] == "plain"),
        ("not%20(kind%20==%20%22plain%22)", |own| own["configuration"]["kind"] != "plain"),
        ("replicate%20==%202%20and%20size%20!=%201", |own| {
            own["replicate"] == 2 && number(own, "/configuration/size") != 1.0
        }),
        ("trial%20%3C%203%20or%20trial%20%3E%2010", |own| {
            let own = own["trial"].as_u64().unwrap();
            !(3..=10).contains(&own)
        }),
        ("state%20==%20%22failed%22", |_| false),
        ("%20", |_| true),
    ];
    for (filter, rule) in rules {
        let expected = numbers(listed.all.iter().filter(|own| rule(own)));
        assert_eq!(listed.asked(&format!("filter={filter}")), expected, "{filter}");
    }
}

#[test]
fn trials_are_sorted_by_a_column_and_equal_ones_stay_in_run_order() {
    let listed = Listed::new();
    let check = |query: &str, compare: &dyn Fn(&Value, &Value) -> Ordering| {
        let mut expected = listed.all.clone();
        expected.sort_by(compare);
        assert_eq!(listed.asked(query), numbers(&expected), "{query}");
    };
    let size = |a: &Value, b: &Value| {
        number(a, "/configuration/size").total_cmp(&number(b, "/configuration/size"))
    };
    check("sort=size", &size);
    check("sort=size&order=ascending", &size);
    check("sort=size&order=descending", &|a, b| size(b, a));
    check("sort=trial&order=descending", &|a, b| {
        number(b, "/trial").total_cmp(&number(a, "/trial"))
    });
    check("sort=replicate", &|a, b| number(a, "/replicate").total_cmp(&number(b, "/replicate")));
}

#[test]
fn windows_of_a_list_put_together_are_the_list() {
    let listed = Listed::new();
    let whole = listed.asked("sort=size&order=descending");
    for count in [1, 5, 12, 100] {
        let mut found = Vec::new();
        for from in (0..12).step_by(count) {
            found.extend(
                listed.asked(&format!("sort=size&order=descending&from={from}&count={count}")),
            );
        }
        assert_eq!(found, whole, "{count} at a time");
    }
    assert!(listed.asked("from=12").is_empty() && listed.asked("count=0").is_empty());
}

#[test]
fn a_direction_or_a_choice_of_columns_that_is_not_known_is_refused_by_name() {
    let served = Served::plain();
    for (query, words) in [
        ("order=desc", "`desc`"),
        ("sort=size&order=DESCENDING", "`DESCENDING`"),
        ("columns=some", "`some`"),
    ] {
        let answer = served.get(&format!("/api/v1/studies/demo/trials?{query}"));
        assert_eq!(answer.status, 400, "{query}");
        let told = answer.json()["error"].as_str().unwrap().to_owned();
        assert!(told.contains(words), "{query}: {told}");
        assert_eq!(served.get(&format!("/s/demo/trials?{query}")).status, 400, "{query}");
    }
}

#[test]
fn a_program_sorts_by_a_factor_whose_trials_are_all_alike() {
    let served = Served::plain();
    // All trials were started once, so that the page has no column for it.
    let page = served.get("/s/demo/trials").body;
    assert!(page.contains("The same in all trials: attempts = "), "{page}");
    let answer = served.get("/api/v1/studies/demo/trials?sort=attempts");
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.json()["trials"].as_array().unwrap().len(), 12);
}

#[test]
fn the_head_of_the_table_leads_to_the_other_direction_and_keeps_the_filter() {
    let served = Served::plain();
    let page = served.get("/s/demo/trials?filter=size%3E1&sort=size&columns=all").body;
    assert!(page.contains("aria-sort=\"ascending\""), "{page}");
    let link = "/s/demo/trials?filter=size%3E1&amp;sort=size&amp;order=descending&amp;columns=all";
    assert!(page.contains(&format!("href=\"{link}\"")), "{page}");
    let other = served.get(&link.replace("&amp;", "&")).body;
    assert!(other.contains("aria-sort=\"descending\""), "{other}");
    assert!(other.contains("8 of 12 trials."), "{other}");
}

#[test]
fn rows_that_a_script_asks_for_are_those_of_the_page() {
    let served = Served::plain();
    let rows = |path: &str| -> Vec<String> {
        let body = served.get(path).body;
        let cut = |row: &str| row.split("</tr>").next().unwrap_or_default().to_owned();
        body.split("<tr aria-rowindex=")
            .skip(1)
            .map(cut)
            .filter(|own| own.contains("/trials/"))
            .collect()
    };
    // The head has links to the table, and none to a trial.
    let page: Vec<String> = rows("/s/demo/trials?sort=size")
        .into_iter()
        .filter(|own| own.contains("scope=\"row\""))
        .collect();
    assert_eq!(page.len(), 12);
    assert_eq!(rows("/s/demo/trials/rows?sort=size"), page);
    assert_eq!(rows("/s/demo/trials/rows?sort=size&from=4&count=3"), page[4..7]);
    assert_eq!(served.get("/s/demo/trials/rows?filter=nothing").status, 400);
}
