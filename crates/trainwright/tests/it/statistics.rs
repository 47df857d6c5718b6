//! `stats`: one test on a table.

use std::path::Path;

use trainwright::{Error, StatsTest, TestQuestion, TestResult, test_statistics};

use crate::lab::{Lab, check_refusal, nowhere};

fn about(test: StatsTest, column: &str) -> TestQuestion<'_> {
    TestQuestion {
        test,
        column: Some(column),
        by: None,
        with: None,
        formula: None,
        method: None,
        statistic: None,
        ratio: false,
        seed: None,
    }
}

fn by_group(test: StatsTest, data: &Path) -> Result<TestResult, Error> {
    test_statistics(data, &TestQuestion { by: Some("g"), ..about(test, "y") })
}

const GROUPS: &str =
    "g,x,y\nu,1,2.1\nu,2,3.9\nu,3,6.1\nu,4,8.0\nv,1,3.0\nv,2,5.1\nv,3,6.9\nv,4,9.2\n";

#[test]
fn tests_of_one_column_and_of_groups_give_a_p_value() {
    let lab = Lab::new();
    let table = lab.file("t.csv", GROUPS);
    let normal = test_statistics(&table, &about(StatsTest::ShapiroWilk, "y")).unwrap();
    assert!(!normal.meaning.is_empty());
    for test in [StatsTest::WelchT, StatsTest::MannWhitney, StatsTest::Levene, StatsTest::Kruskal] {
        let result = by_group(test, &table).unwrap_or_else(|error| panic!("{test:?}: {error}"));
        let p = result.fields.values().filter_map(serde_json::Value::as_f64);
        assert!(p.into_iter().all(f64::is_finite), "{test:?}");
    }
    let pearson = TestQuestion { with: Some("x"), ..about(StatsTest::Pearson, "y") };
    assert!(test_statistics(&table, &pearson).is_ok());
}

#[test]
fn a_test_says_what_it_lacks() {
    let lab = Lab::new();
    let table = lab.file("t.csv", GROUPS);
    check_refusal(by_group(StatsTest::WelchT, nowhere()), 2, &["all.csv"]);
    let alone = about(StatsTest::WelchT, "y");
    check_refusal(test_statistics(&table, &alone), 2, &["--by"]);
    let nameless = about(StatsTest::ShapiroWilk, "z");
    check_refusal(test_statistics(&table, &nameless), 2, &["t.csv", "z"]);
    let words = about(StatsTest::ShapiroWilk, "g");
    check_refusal(test_statistics(&table, &words), 2, &["g"]);
}
