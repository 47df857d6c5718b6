//! Ratios to a baseline: in words, against the bootstrap, and without repeats.

use std::fmt::Write;

use proptest::prelude::*;
use trainwright_analysis::{CompareOptions, Comparison, Table, Verdict, compare_table};
use trainwright_random::Random;

use crate::support::{close, table};

fn options(column: &str, by: &str) -> CompareOptions {
    CompareOptions {
        column: column.to_owned(),
        by: by.to_owned(),
        baseline: None,
        paired: None,
        objective: None,
        alpha: 0.05,
    }
}

fn compare(csv: &str, options: &CompareOptions) -> Comparison {
    compare_table(&Table::from_csv(csv.as_bytes(), &[]).unwrap(), options).unwrap()
}

const CORES: &str = "cores,time\n1,9.1\n1,10.4\n1,10.2\n1,10.9\n1,9.4\n2,10.1\n2,11.9\n2,9.9\n2,12.0\n\
    2,11.25\n4,5.1\n4,5.3\n4,4.9\n4,5.0\n4,5.2\n";

#[test]
fn ratios_read_as_people_report_them() {
    let found = compare(CORES, &options("time", "cores"));
    let texts: Vec<&str> = found.levels.iter().map(|own| own.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "2 cores: 110.3 % of 1 core, 95 % interval 98 to 124 %: no evidence of a difference",
            "4 cores: 51.0 % of 1 core, 95 % interval 46.8 to 56.0 %: lower (p = 1e-4, adjusted for 2 \
             comparisons)",
        ]
    );
    assert_eq!(found.levels[0].verdict, Verdict::NoEvidence);
    assert!(found.findings.is_empty(), "{:?}", found.findings);
    let geometric = found.levels[1].geometric.unwrap();
    close("geometric", geometric.ratio, 0.511, 2e-3);
}

#[test]
fn ends_agree_with_roots_found_by_scipy() {
    // scipy 1.17.1: brentq of Fieller's condition, ttest_ind(equal_var=False).
    let found = compare(CORES, &options("time", "cores"));
    let expected = [
        [0.9750486591461246, 1.2419729763058007, 0.10134000175442093],
        [0.4677249260301994, 0.5604979480569073, 7.342197284748076e-05],
    ];
    for (own, [low, high, p]) in found.levels.iter().zip(expected) {
        close("low", own.ci_low.unwrap(), low, 1e-9);
        close("high", own.ci_high.unwrap(), high, 1e-9);
        close("p", own.p.unwrap(), p, 1e-9);
    }
}

#[test]
fn another_baseline_turns_the_ratio_over() {
    let two = CompareOptions { baseline: Some("4".to_owned()), ..options("time", "cores") };
    let (found, turned) = (compare(CORES, &options("time", "cores")), compare(CORES, &two));
    assert_eq!(turned.baseline.level.to_string(), "4");
    let (a, b) = (&found.levels[1], &turned.levels[0]);
    close("ratio", a.ratio.unwrap() * b.ratio.unwrap(), 1.0, 1e-12);
    // Fieller's interval turns over with the ratio.
    close("end", a.ci_low.unwrap() * b.ci_high.unwrap(), 1.0, 1e-9);
}

#[test]
fn one_value_a_level_supports_nothing() {
    let cores = table("reports/c_cores.csv", &[]);
    let found = compare_table(&cores, &options("time_percent", "cores")).unwrap();
    assert_eq!(
        found.levels[0].text,
        "2 cores: 110.3 % of 1 core, from one value each: no interval exists, and nothing follows"
    );
    assert!(found.levels.iter().all(|own| own.verdict == Verdict::NothingFollows));
    assert_eq!(found.findings[0].id, "no-replication");
}

#[test]
fn pairs_see_what_a_common_cause_hides() {
    let mut csv = "seed,strategy,time\n".to_owned();
    for (seed, slow) in [3.0, 9.0, 27.0, 5.0, 14.0].into_iter().enumerate() {
        writeln!(csv, "{seed},a,{slow}\n{seed},b,{}", slow + 1.0 + 0.1 * seed as f64).unwrap();
    }
    csv.push_str("9,a,4\n");
    let apart = compare(&csv, &options("time", "strategy"));
    let paired = CompareOptions { paired: Some("seed".to_owned()), ..options("time", "strategy") };
    let together = compare(&csv, &paired);
    assert_eq!(apart.levels[0].verdict, Verdict::NoEvidence);
    assert_eq!(together.levels[0].verdict, Verdict::Higher);
    // By its spread over seeds the baseline could be 0, so that a ratio to it means nothing.
    assert_eq!(together.levels[0].ratio, None);
    close("difference", together.levels[0].difference, 6.0 / 5.0, 1e-12);
    assert_eq!(together.findings[0].id, "missing-response");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let check = |csv: &str, options: &CompareOptions, message: &str| {
        let table = Table::from_csv(csv.as_bytes(), &[]).unwrap();
        assert_eq!(compare_table(&table, options).unwrap_err().to_string(), message);
    };
    let by_g = options("y", "g");
    check(
        "y,g\n1,a\n",
        &by_g,
        "`g` has values at one level only (a), so there is nothing to compare",
    );
    let c = CompareOptions { baseline: Some("c".to_owned()), ..by_g.clone() };
    check("y,g\n1,a\n2,b\n", &c, "`c` is no level of `g`; its levels are a, b");
    check("y,g\nx,a\n2,b\n", &by_g, "column `y` must hold numbers, but line 2 holds `x`");
    check(
        "y,g\n1,\n2,b\n",
        &by_g,
        "line 2, column `g`: the cell is empty, but every row needs its factors",
    );
    let twice = CompareOptions { paired: Some("s".to_owned()), ..by_g };
    check(
        "y,g,s\n1,a,1\n2,a,1\n3,b,1\n",
        &twice,
        "line 3: the pair s 1 has a second value at g a; a pair has one a level",
    );
}

fn normal(random: &mut Random) -> f64 {
    trainwright_stats::Normal.quantile(random.unit().clamp(1e-12, 1.0 - 1e-12)).unwrap()
}

#[test]
fn the_interval_agrees_with_the_bootstrap() {
    let mut random = Random::new(11);
    let draw = |centre: f64, spread: f64, random: &mut Random| -> Vec<f64> {
        (0..40).map(|_| centre + spread * normal(random)).collect()
    };
    let (x, y) = (draw(10.0, 1.5, &mut random), draw(12.0, 3.0, &mut random));
    let mut csv = "g,y\n".to_owned();
    x.iter().for_each(|v| writeln!(csv, "a,{v}").unwrap());
    y.iter().for_each(|v| writeln!(csv, "b,{v}").unwrap());
    let found = &compare(&csv, &options("y", "g")).levels[0];
    let again = |values: &[f64], random: &mut Random| {
        let draw = |_| values[(random.unit() * values.len() as f64) as usize];
        (0..values.len()).map(draw).sum::<f64>() / values.len() as f64
    };
    let mut ratios: Vec<f64> =
        (0..20_000).map(|_| again(&y, &mut random) / again(&x, &mut random)).collect();
    ratios.sort_by(f64::total_cmp);
    // The percentile bootstrap is a little narrower than t at these sizes.
    close("low", found.ci_low.unwrap(), ratios[500], 0.01);
    close("high", found.ci_high.unwrap(), ratios[19_500], 0.01);
}

#[test]
fn intervals_cover_as_often_as_they_say() {
    let (mut random, mut covered, rounds) = (Random::new(3), 0, 2000);
    for _ in 0..rounds {
        let mut csv = "g,y\n".to_owned();
        for (group, centre, spread, n) in [("a", 10.0, 1.0, 5), ("b", 8.0, 2.0, 9)] {
            for _ in 0..n {
                writeln!(csv, "{group},{}", centre + spread * normal(&mut random)).unwrap();
            }
        }
        let found = &compare(&csv, &options("y", "g")).levels[0];
        let (low, high) = (found.ci_low.unwrap(), found.ci_high.unwrap());
        covered += usize::from(low < 0.8 && 0.8 < high);
    }
    // Three standard errors of a share of 0.95 among 2000 are 0.015.
    let share = covered as f64 / rounds as f64;
    assert!((share - 0.95).abs() < 0.015, "{share}");
}

proptest! {
    #[test]
    fn levels_without_a_difference_are_seldom_called_different(
        values in prop::collection::vec(9.0..11.0f64, 12),
    ) {
        let mut csv = "g,y\n".to_owned();
        for (place, v) in values.iter().enumerate() {
            writeln!(csv, "{},{v}", ["a", "b", "c"][place % 3]).unwrap();
        }
        let found = compare(&csv, &options("y", "g"));
        for own in &found.levels {
            let p = own.p_adjusted.unwrap();
            prop_assert!(p >= own.p.unwrap());
            prop_assert_eq!(p < 0.05, own.verdict != Verdict::NoEvidence);
        }
    }
}
