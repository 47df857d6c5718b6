//! Findings stay silent on clean data and fire on data made to provoke them.

use trainwright_analysis::{
    Analysis, AnalysisError, Coding, Formula, Table, TableOptions, TermOrder, analyze_table,
};
use trainwright_study::Direction;

use crate::support::finding;

/// Normal quantiles in a scrambled, repeatable order: noise without chance in it.
fn noise(index: usize, count: usize) -> f64 {
    let place = (index * 37 + 11) % count;
    trainwright_stats::Normal.quantile((place as f64 + 0.5) / count as f64).unwrap()
}

/// A 2^3 design of `replicates`, the response made by `f` of signs and noise.
fn factorial(replicates: usize, f: impl Fn([f64; 3], f64) -> f64) -> Table {
    let mut text = "y,a,b,c\n".to_owned();
    for index in 0..8 * replicates {
        let signs = [0, 1, 2].map(|bit| if index >> bit & 1 == 1 { 1.0 } else { -1.0 });
        let y = f(signs, noise(index, 8 * replicates));
        let [a, b, c] = signs.map(|s| 10.0 + 5.0 * s);
        text.push_str(&format!("{y},{a},{b},{c}\n"));
    }
    Table::from_csv(text.as_bytes(), &[]).unwrap()
}

fn analyze(table: &Table, formula: &str) -> Analysis {
    let formula = Formula::parse(formula, TermOrder::Formula).unwrap();
    let options = TableOptions {
        coding: Coding::Coded,
        direction: Some(Direction::Minimize),
        ..TableOptions::default()
    };
    analyze_table(table, &formula, &options).unwrap()
}

fn ids(analysis: &Analysis) -> Vec<&str> {
    analysis.findings.iter().map(|f| f.id).collect()
}

#[test]
fn a_clean_balanced_design_gives_no_warning() {
    let table = factorial(7, |[a, b, _], e| 50.0 + 6.0 * a + 3.0 * a * b + e);
    let found = analyze(&table, "y ~ a*b*c");
    assert_eq!(ids(&found), ["effect-ranking", "optimum-at-edge"], "{:?}", found.findings);
    assert!(found.checks.iter().filter(|c| c.name != "lack-of-fit").all(|c| c.holds == Some(true)));
    let text = finding(&found, "effect-ranking").unwrap();
    assert!(
        text.starts_with("a matters most: 77.1 %") && text.contains("raises y by 11.9 ("),
        "{text}"
    );
}

#[test]
fn pure_noise_gives_no_ranking() {
    let found = analyze(&factorial(7, |_, e| 50.0 + e), "y ~ a + b");
    assert_eq!(ids(&found), ["nothing-matters"], "{:?}", found.findings);
}

#[test]
fn a_drift_an_outlier_and_a_missed_term_are_named() {
    let missed =
        analyze(&factorial(7, |[a, b, _], e| 50.0 + 6.0 * a + 3.0 * a * b + e), "y ~ a+b+c");
    assert!(ids(&missed).contains(&"lack-of-fit"));
    let spike = |[a, _, _]: [f64; 3], e: f64| 50.0 + 6.0 * a + if e > 2.3 { 9.0 } else { e };
    let outlier = analyze(&factorial(7, spike), "y ~ a*b*c");
    assert!(finding(&outlier, "outlier").unwrap().starts_with("1 observation differs"));
    let mut text = "y,a\n".to_owned();
    for i in 0..40 {
        text.push_str(&format!("{},{}\n", f64::from(i) * 0.2 + noise(i as usize, 40), i % 2));
    }
    let drift = analyze(&Table::from_csv(text.as_bytes(), &[]).unwrap(), "y ~ a");
    assert!(finding(&drift, "dependent-residuals").unwrap().contains("resemble each other"));
}

#[test]
fn without_repeats_lenth_names_the_active_effects() {
    let found =
        analyze(&factorial(1, |[a, b, _], e| 50.0 + 16.0 * a + 8.0 * b + 0.1 * e), "y ~ a*b*c");
    assert_eq!(found.fit.df_residual, 0);
    assert_eq!((found.fit.sigma, found.fit.p), (None, None));
    let lenth = found.lenth.as_ref().unwrap();
    assert_eq!(lenth.active, ["a", "b"]);
    assert!(finding(&found, "no-replication").unwrap().contains("a and b stand out"));
    assert_eq!(found.half_normal.len(), 7);
    assert!(found.checks.iter().any(|c| c.name == "normality" && c.holds.is_none()));
}

#[test]
fn exponential_responses_ask_for_the_logarithm() {
    let table = factorial(7, |[a, b, _], e| (1.0 + a + 0.3 * b + 0.5 * e).exp());
    let found = analyze(&table, "y ~ a + b + c");
    assert!(
        finding(&found, "log-scale").unwrap().starts_with("the logarithm of y is the better scale")
    );
    let logged = analyze(&table, "log(y) ~ a + b + c");
    assert!(logged.log_scale.is_none() && finding(&logged, "log-scale").is_none());
    assert_eq!(logged.response, "log(y)");
}

#[test]
fn regression_on_readings_is_not_called_unbalanced() {
    let mut text = "y,x\n".to_owned();
    for i in 0..30 {
        text.push_str(&format!("{},{}\n", 2.0 * f64::from(i) + noise(i as usize, 30), i));
    }
    let found = analyze(&Table::from_csv(text.as_bytes(), &[]).unwrap(), "y ~ x");
    assert!(found.checks.iter().any(|c| c.name == "balance" && c.holds.is_none()));
    for id in ["unbalanced", "missing-cells", "no-replication"] {
        assert_eq!(finding(&found, id), None);
    }
}

#[track_caller]
fn refused(csv: &str, formula: &str, message: &str) {
    let table = Table::from_csv(csv.as_bytes(), &[]).unwrap();
    let formula = Formula::parse(formula, TermOrder::Formula).unwrap();
    let error: AnalysisError =
        analyze_table(&table, &formula, &TableOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), message);
}

#[test]
fn faulty_tables_are_refused_by_line_and_column() {
    refused(
        "y,x\n1,2\nabc,3\n",
        "y ~ x",
        "the response `y` is not numeric: line 3 holds `abc`; correct the cell or choose another \
         response",
    );
    refused(
        "y,x\n1,2\nNA,3\nnil,4\n",
        "y ~ x",
        "the response `y` is not numeric: line 4 holds `nil`; correct the cell or choose another \
         response",
    );
    refused(
        "y,x\n1,\n2,\n3,\n",
        "y ~ x",
        "column `x` is empty in every row that has a value of `y`; fill it in or leave it out of \
         the formula",
    );
    refused(
        "y,x\n,1\nNA,2\n",
        "y ~ x",
        "`y` has values in 0 of the rows, but a fit needs at least 2",
    );
    refused(
        "y,x\n1,2\n1,3\n1,4\n",
        "y ~ x",
        "`y` cannot be analysed: all 3 values of the response equal 1, so there is no variation \
         to explain",
    );
    refused("y,x\n1,2\n-1,3\n", "log(y) ~ x", "log(y) needs positive values, but line 3 holds -1");
    refused(
        "y,x\n1,2\n,3\n",
        "y ~ x",
        "`y` has values in 1 of the rows, but a fit needs at least 2",
    );
    refused("y,x\n1,2\n2,3\n", "y ~ z", "there is no column `z`; the table has `y`, `x`");
}

#[test]
fn aliased_interactions_say_what_they_are_mixed_with() {
    let mut text = "y,a,b,c,d\n".to_owned();
    for index in 0..16usize {
        let [a, b, c] = [0, 1, 2].map(|bit| if index >> bit & 1 == 1 { 1 } else { -1 });
        let y = 10.0 + f64::from(a) + f64::from(b) + 0.2 * noise(index, 16);
        text.push_str(&format!("{y},{a},{b},{c},{}\n", a * b * c));
    }
    let found = analyze(&Table::from_csv(text.as_bytes(), &[]).unwrap(), "y ~ (a+b+c+d)^2");
    let text = finding(&found, "aliased-terms").unwrap();
    for pair in ["b:c (mixed with a:d)", "b:d (mixed with a:c)", "c:d (mixed with a:b)"] {
        assert!(text.contains(pair), "{text}");
    }
}

#[test]
fn an_edge_beyond_which_there_is_nothing_is_not_told() {
    let told = |levels: [&str; 2]| {
        let mut csv = "y,x\n".to_owned();
        for (value, level) in [(1.0, levels[0]), (3.0, levels[1])] {
            for shift in [-0.1, 0.0, 0.1] {
                csv += &format!("{},{level}\n", value + shift);
            }
        }
        let table = Table::from_csv(csv.as_bytes(), &[]).unwrap();
        let formula = Formula::parse("y ~ x", TermOrder::Formula).unwrap();
        let of = |direction| {
            let options = TableOptions { direction: Some(direction), ..TableOptions::default() };
            let found = analyze_table(&table, &formula, &options).unwrap();
            finding(&found, "optimum-at-edge").is_some()
        };
        [of(Direction::Maximize), of(Direction::Minimize)]
    };
    assert_eq!(told(["2", "5"]), [true, true]);
    assert_eq!(told(["0", "1"]), [false, false], "off and on");
    assert_eq!(told(["0", "5"]), [true, false], "less than nothing");
}
