//! Tables that cannot be analysed, or only just: a clear error or a right answer, never a panic and
//! never a number that is none.

use serde_json::Value;

use crate::program::Lab;

/// Every kind of bad table, with words that the message of `analyze` must have; none where an
/// answer is expected.
const TABLES: [(&str, &str, &[&str]); 15] = [
    ("text in the response", "y,x,g\n1,1,a\nfast,2,b\n3,3,a\n", &["line 3", "`fast`"]),
    ("not a number", "y,x,g\n1,1,a\nNaN,2,b\n3,3,a\n", &["line 3", "`NaN`", "finite"]),
    ("infinite", "y,x,g\n1,1,a\n2,inf,b\n3,3,a\n", &["line 3", "`inf`", "finite"]),
    ("empty factor", "y,x,g\n1,1,a\n2,2,\n3,3,a\n", &[]),
    ("factor without a value", "y,x,g\n1,1,\n2,2,\n3,3,\n", &["`g`", "empty"]),
    ("equal response", "y,x,g\n2,1,a\n2,2,b\n2,3,a\n", &["all 3 values", "equal 2"]),
    ("no rows", "y,x,g\n", &["no rows"]),
    ("nothing", "", &["y"]),
    ("same name twice", "y,x,x\n1,1,a\n2,2,b\n", &["`x` twice"]),
    ("ragged", "y,x,g\n1,1,a\n2,2\n", &["line: 3"]),
    ("one response", "y,x,g\n1,1,a\n,2,b\n,3,a\n", &["1 of the rows", "at least 2"]),
    ("one level", "y,x,g\n1,1,a\n2,2,a\n4,3,a\n3,5,a\n", &[]),
    ("fewer rows than terms", "y,x,g\n1,1,a\n2,3,b\n", &[]),
    ("one of another size", "y,x,g\n1e-120,1,a\n2,2,b\n3,3,a\n5,4,b\n4,5,a\n7,6,b\n", &[]),
    ("huge and tiny", "y,x,g\n1e90,1e-90,a\n-1e90,2e-90,b\n3e90,4e-90,a\n5e90,1e-91,b\n", &[]),
];

fn finite(value: &Value) {
    match value {
        Value::Number(number) => assert!(number.as_f64().is_some_and(f64::is_finite)),
        Value::Array(items) => items.iter().for_each(finite),
        Value::Object(fields) => fields.values().for_each(finite),
        Value::String(text) => {
            let mut words = text.split(|letter: char| !letter.is_alphanumeric());
            assert!(!words.any(|word| word == "NaN" || word == "inf"), "{text}");
        }
        _ => {}
    }
}

#[test]
fn bad_tables_are_refused_by_analyze_with_their_place() {
    for (what, table, says) in TABLES {
        let lab = Lab::new();
        lab.write("t.csv", table);
        let words = ["analyze", "--data", "t.csv", "--formula", "y ~ x*g", "--json"];
        if says.is_empty() {
            finite(&lab.json(&words));
            let text = lab.expect(0, &words[..5]).stdout;
            assert!(!text.contains("NaN"), "{what}: {text}");
        } else {
            lab.expect(2, &words).says(says);
        }
    }
}

#[test]
fn bad_tables_never_break_a_test() {
    for (what, table, _) in TABLES {
        let lab = Lab::new();
        lab.write("t.csv", table);
        for (test, options) in [
            ("shapiro-wilk", "--column y"),
            ("lilliefors", "--column y"),
            ("dagostino", "--column y"),
            ("brown-forsythe", "--column y --by g"),
            ("bartlett", "--column y --by g"),
            ("fligner", "--column y --by g"),
            ("kruskal", "--column y --by g"),
            ("tukey", "--column y --by g"),
            ("mann-whitney", "--column y --by g"),
            ("bootstrap", "--column y --by g"),
            ("wilcoxon", "--column y --with x"),
            ("kendall", "--column y --with x"),
            ("box-cox", "--formula y~x*g"),
        ] {
            let options: Vec<&str> = options.split(' ').collect();
            let words =
                [&["stats", test, "--data", "t.csv"], options.as_slice(), &["--json"]].concat();
            let run = lab.run(&words);
            match run.code {
                Some(0) => finite(&serde_json::from_str(&run.stdout).unwrap()),
                Some(2) => assert!(run.stderr.len() > 10, "{what}, {test}: no message"),
                code => panic!("{what}, {test}: exit {code:?}, {}", run.stderr),
            }
        }
    }
}

#[test]
fn a_bootstrap_compares_groups_and_pairs() {
    let lab = Lab::new();
    let line = |i: i32| {
        let noise = f64::from(i * 7919 % 101) / 50.0;
        format!(
            "{},{},{}\n",
            ["a", "b"][(i % 2) as usize],
            10.0 + noise,
            12.0 + noise + 0.01 * f64::from(i % 7)
        )
    };
    lab.write("t.csv", format!("g,x,z\n{}", (0..60).map(line).collect::<String>()));
    let paired =
        ["stats", "bootstrap", "--data", "t.csv", "--column", "z", "--with", "x", "--json"];
    let found = lab.json(&paired);
    let number = |name: &str| found[name].as_f64().unwrap();
    assert!((number("statistic") - 2.03).abs() < 0.005, "{found}");
    assert!(number("ci_low") > 2.0 && number("ci_high") < 2.06, "{found}");
    assert_eq!(found, lab.json(&paired), "the same seed gives the same interval");
    let groups = ["stats", "bootstrap", "--data", "t.csv", "--column", "x", "--by", "g"];
    let words = [groups.as_slice(), &["--ratio", "--statistic", "median", "--seed", "3"]].concat();
    let text = lab.expect(0, &words).stdout;
    assert!(text.contains("ratio of medians, `a` over `b`"), "{text}");
    lab.expect(
        2,
        &["stats", "kruskal", "--data", "t.csv", "--column", "x", "--by", "g", "--ratio"],
    )
    .says(&["makes no use of --ratio"]);
    lab.expect(2, &["stats", "bootstrap", "--data", "t.csv", "--column", "x"]).says(&["--by NAME"]);
}

/// Yates' oats layout in small: four blocks, two whole plots each, three sub-plots.
#[test]
fn a_split_plot_is_tested_against_two_errors() {
    let lab = Lab::new();
    let mut table = "block,A,B,y\n".to_owned();
    for i in 0..24 {
        let (block, a, b) = (i / 6, i / 3 % 2, i % 3);
        let plot = [0.7, -0.4, 0.1, -0.6, 0.5, -0.2, 0.3, -0.3][i / 3];
        let y = 10.0 + 2.0 * a as f64 + 0.8 * b as f64 + plot + 0.05 * (i * 13 % 7) as f64;
        table.push_str(&format!("b{block},a{a},s{b},{y}\n"));
    }
    lab.write("t.csv", table);
    let words = ["analyze", "--data", "t.csv", "--formula", "y ~ A*B + Error(block/A)", "--json"];
    let found = lab.json(&words);
    let strata = found["strata"].as_array().unwrap();
    let names: Vec<&str> = strata.iter().map(|s| s["stratum"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 3);
    assert_eq!((names[0], names[2]), ("block", "Within"));
    let df = |stratum: usize, row: usize| strata[stratum]["rows"][row]["df"].as_u64().unwrap();
    assert_eq!((df(0, 0), df(1, 0), df(1, 1), df(2, 0), df(2, 1), df(2, 2)), (3, 1, 3, 2, 2, 12));
    assert_eq!(strata[1]["rows"][0]["term"], "A");
    let row = &found["anova"][0]["rows"][0];
    assert_eq!((&row["term"], &row["p"]), (&"A".into(), &strata[1]["rows"][0]["p"]));
    let naive = lab.json(&["analyze", "--data", "t.csv", "--formula", "y ~ A*B", "--json"]);
    assert!(naive["anova"][0]["rows"][0]["p"].as_f64() < row["p"].as_f64());
    let ids: Vec<&Value> = found["findings"].as_array().unwrap().iter().map(|f| &f["id"]).collect();
    assert!(ids.contains(&&Value::from("error-strata")), "{ids:?}");
    assert!(lab.expect(0, &words[..5]).stdout.contains("Stratum block"));
}

#[test]
fn a_long_table_is_analysed_in_one_pass() {
    let lab = Lab::new();
    let line = |i: u64| {
        let noise = (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / (1u64 << 24) as f64;
        let x = (i % 97) as f64;
        format!("{x},g{},{}\n", i % 3, 1.0 + 0.5 * x + noise)
    };
    lab.write("t.csv", format!("x,g,y\n{}", (0..60_000).map(line).collect::<String>()));
    let found = lab.json(&["analyze", "--data", "t.csv", "--formula", "y ~ x + g", "--json"]);
    assert_eq!(found["n"], 60_000);
    let slope = found["fit"]["coefficients"][1]["estimate"].as_f64().unwrap();
    assert!((slope - 0.5).abs() < 1e-3, "{slope}");
    assert!(found["residuals"].as_array().unwrap().is_empty());
    let words = found["findings"].as_array().unwrap().iter().find(|f| f["id"] == "large-table");
    assert!(words.unwrap()["text"].as_str().unwrap().contains("not computed above 20000 rows"));
    finite(&found);
}
