//! Speed-up, the laws of scaling against scipy, and the cost a step of field reports B and E.

use std::fmt::Write;

use serde_json::Value;
use trainwright_analysis::{
    Law, LawFit, Overhead, OverheadOptions, Scaling, ScalingOptions, Table, overhead_of_table,
    scaling_of_table,
};

use crate::support::{close, json, table};

fn options(column: &str, workers: &str) -> ScalingOptions {
    ScalingOptions {
        column: column.to_owned(),
        workers: workers.to_owned(),
        size: None,
        predict: vec![],
        predict_size: None,
        alpha: 0.05,
    }
}

fn law(found: &Scaling, law: Law) -> &LawFit {
    found.fits.iter().find(|fit| fit.law == law).unwrap()
}

fn ids(found: &Scaling) -> Vec<&str> {
    found.findings.iter().map(|f| f.id).collect()
}

#[track_caller]
fn check(fit: &LawFit, expected: &Value) {
    for (own, want) in fit.parameters.iter().zip(expected.as_array().unwrap()) {
        let want = want.as_f64().unwrap();
        assert!(
            (own.estimate - want).abs() <= 1e-6 * want.abs().max(1e-3),
            "{} {want}",
            own.estimate
        );
        if let (Some(low), Some(high)) = (own.ci_low, own.ci_high) {
            assert!(low <= own.estimate && own.estimate <= high);
        }
    }
}

#[test]
fn fits_agree_with_scipy() {
    let expected = json("scaling/expected.json");
    let strong =
        scaling_of_table(&table("scaling/strong.csv", &[]), &options("time", "nodes")).unwrap();
    check(law(&strong, Law::Ernest), &expected["strong"]["ernest"]);
    check(law(&strong, Law::Amdahl), &expected["strong"]["amdahl"]);
    assert!(law(&strong, Law::Gustafson).not_fitted.is_some());
    assert!(law(&strong, Law::Ernest).r2.unwrap() > 0.99);
    assert!(ids(&strong).is_empty() || ids(&strong) == ["low-efficiency"], "{:?}", ids(&strong));
    let sized = ScalingOptions { size: Some("rows".to_owned()), ..options("time", "nodes") };
    let weak = scaling_of_table(&table("scaling/weak.csv", &[]), &sized).unwrap();
    assert!(ids(&weak).contains(&"terms-not-separable"), "{:?}", ids(&weak));
    check(law(&weak, Law::Gustafson), &expected["weak"]["gustafson"]);
    assert!(law(&weak, Law::Amdahl).not_fitted.is_some());
}

#[test]
fn the_table_gives_speed_up_and_efficiency() {
    let csv = "n,t\n1,100\n1,102\n2,51\n2,52\n4,30\n4,31\n8,20\n8,22\n16,18\n16,17\n";
    let predicting = ScalingOptions { predict: vec![32.0, 64.0], ..options("t", "n") };
    let found =
        scaling_of_table(&Table::from_csv(csv.as_bytes(), &[]).unwrap(), &predicting).unwrap();
    let four = &found.rows[2];
    close("speed-up", four.speed_up, 101.0 / 30.5, 1e-12);
    close("efficiency", four.efficiency, 101.0 / 30.5 / 4.0, 1e-12);
    assert!(
        four.speed_up_low.unwrap() < four.speed_up && four.speed_up < four.speed_up_high.unwrap()
    );
    assert_eq!((found.rows[0].speed_up, found.rows[0].speed_up_low), (1.0, None));
    assert_eq!(ids(&found), ["extrapolation"]);
    let text = &found.findings[0].text;
    assert!(
        text.contains("64 (4 times as many; the laws say Gunther") && !text.contains("32 ("),
        "{text}"
    );
    let amdahl = law(&found, Law::Amdahl);
    assert!(
        amdahl.doubt.is_some() && !text.contains("Amdahl"),
        "its lack of fit is evident: {text}"
    );
    let [near, far] = [&amdahl.predictions[0], &amdahl.predictions[1]];
    assert!(near.low.unwrap() < near.time.unwrap() && far.time.unwrap() < near.time.unwrap());
}

#[test]
fn exact_laws_are_found_exactly() {
    let mut csv = "n,s,t,w\n".to_owned();
    for n in [1.0f64, 2.0, 3.0, 5.0, 9.0, 16.0] {
        let amdahl = 40.0 * (0.25 + 0.75 / n);
        let ernest = 3.0 + 2.0 * (7.0 * n) / n + 0.5 * n.ln() + 0.25 * n;
        writeln!(csv, "{n},{},{amdahl},{ernest}", 7.0 * n).unwrap();
    }
    let table = Table::from_csv(csv.as_bytes(), &[]).unwrap();
    let found = scaling_of_table(&table, &options("t", "n")).unwrap();
    let [f, t] = [0, 1].map(|k| law(&found, Law::Amdahl).parameters[k].estimate);
    close("f", f, 0.25, 1e-12);
    close("T", t, 40.0, 1e-12);
    // Sizes in proportion to workers cannot tell the serial part from the shared work.
    let sized = ScalingOptions { size: Some("s".to_owned()), ..options("w", "n") };
    let found = scaling_of_table(&table, &sized).unwrap();
    let ernest = law(&found, Law::Ernest);
    close("worst miss", 1.0 + ernest.worst_miss.unwrap(), 1.0, 1e-9);
}

#[test]
fn field_report_c_has_no_speed_up_and_no_repeats() {
    let found =
        scaling_of_table(&table("reports/c_cores.csv", &[]), &options("time_percent", "cores"))
            .unwrap();
    // Four numbers of cores are too few for Ernest's terms, but not for Amdahl's.
    assert_eq!(ids(&found), ["no-replication", "no-speed-up"]);
    let share = &law(&found, Law::Amdahl).parameters[0];
    assert!(share.estimate == 1.0 && share.at_bound);
}

#[test]
fn faulty_scaling_tables_are_refused() {
    let check = |csv: &str, message: &str| {
        let table = Table::from_csv(csv.as_bytes(), &[]).unwrap();
        let error = scaling_of_table(&table, &options("t", "n")).unwrap_err();
        assert_eq!(error.to_string(), message);
    };
    check("n,t\n1,2\n2,0\n", "line 3, column `t`: 0 is not positive");
    check(
        "n,t\n1,2\n1,3\n",
        "`n` has values at one level only (1), so there is nothing to compare",
    );
    check(
        "n,t\n1,2\n2,\n",
        "line 3, column `t`: the cell is empty, but every row needs its factors",
    );
}

fn overhead(file: &str, by: &str, samples: f64) -> Overhead {
    let options = OverheadOptions {
        column: "time_s".to_owned(),
        steps: "steps".to_owned(),
        by: Some(by.to_owned()),
        samples: Some(samples),
        unit: Some("s".to_owned()),
        alpha: 0.05,
    };
    overhead_of_table(&table(file, &[]), &options).unwrap()
}

#[test]
fn field_report_b_is_a_cost_a_step() {
    let found = overhead("reports/b_strategies.csv", "strategy", 176_160.0);
    // From the report's own times, which its table rounds to seconds; hence up to 1.1 %.
    for (name, a_ms, c, rate) in [
        ("not-distributed", 131.4, 11.0, 16_043.0),
        ("one-device", 9.7, 341.8, 515.0),
        ("mirrored", 43.6, 135.4, 1301.0),
        ("multi-worker", 137.5, 59.5, 2960.0),
    ] {
        let own =
            found.lines.iter().find(|l| l.group.as_ref().unwrap().to_string() == name).unwrap();
        close(name, 1000.0 * own.per_step, a_ms, 0.011);
        close(name, own.constant, c, 0.01);
        close(name, own.samples_per_time.unwrap(), rate, 0.01);
    }
    let text = &found.lines.last().unwrap().text;
    assert!(text.contains("so neither does a bigger batch"), "{text}");
    let mirrored = &found.lines[0].text;
    assert!(mirrored.contains("a bigger batch is faster only through fewer steps"), "{mirrored}");
    let ids: Vec<&str> = found.findings.iter().map(|f| f.id).collect();
    assert_eq!(ids, ["no-replication", "step-overhead", "per-sample-cost-dominates"]);
}

#[test]
fn field_report_e_pays_by_the_sample() {
    let found = overhead("reports/e_batch.csv", "mode", 20_000.0);
    let sync = &found.lines[1];
    close("a", sync.per_step, 0.0035, 0.02);
    close("a sample", sync.time_per_sample.unwrap(), 0.0033, 0.02);
    let finding = found.findings.iter().find(|f| f.id == "per-sample-cost-dominates").unwrap();
    assert!(finding.text.starts_with("async and sync"), "{}", finding.text);
}

#[test]
fn steps_that_cost_everything_leave_samples_alone() {
    let csv = "steps,time_s\n100,10.1\n100,10.3\n200,20.2\n200,20.1\n400,40.3\n400,40.2\n";
    let options = OverheadOptions {
        column: "time_s".to_owned(),
        steps: "steps".to_owned(),
        by: None,
        samples: None,
        unit: None,
        alpha: 0.05,
    };
    let table = Table::from_csv(csv.as_bytes(), &[]).unwrap();
    let found = overhead_of_table(&table, &options).unwrap();
    let ids: Vec<&str> = found.findings.iter().map(|f| f.id).collect();
    assert_eq!(ids, ["step-overhead"]);
    let flat = Table::from_csv("steps,time_s\n100,10\n100,11\n".as_bytes(), &[]).unwrap();
    assert_eq!(
        overhead_of_table(&flat, &options).unwrap_err().to_string(),
        "the table has 1 number of `steps`, but a line needs at least 2"
    );
}

/// Times at 1 to 32 nodes, three of each, that rise again.
const RISING: &str = "n,t\n1,100\n1,103\n1,98\n2,54\n2,52\n2,55\n4,33\n4,34\n4,32\n8,27\n8,26\n8,28\n\
                      16,33\n16,34\n16,32\n32,52\n32,54\n32,53\n";

#[test]
fn times_that_rise_again_promise_no_amdahl_limit() {
    let table = Table::from_csv(RISING.as_bytes(), &[]).unwrap();
    let found = scaling_of_table(&table, &options("t", "n")).unwrap();
    let amdahl = &law(&found, Law::Amdahl).text;
    assert_eq!(
        amdahl,
        "Amdahl: does not describe these times, since they rise again beyond 8 workers"
    );
    assert!(ids(&found).contains(&"slowdown") && !ids(&found).contains(&"law-does-not-fit"));
    assert_eq!(found.best_law, Some(Law::Gunther));
    assert!(law(&found, Law::Amdahl).lack_of_fit_p.unwrap() < 1e-6);
    let slow = found.findings.iter().find(|own| own.id == "slowdown").unwrap();
    assert!(slow.text.starts_with("beyond 8 n t rises again: at 32 it is 1.96"), "{}", slow.text);
    assert!(law(&found, Law::Gunther).text.contains("the time is shortest at about 8"));
}

#[test]
fn gunthers_law_agrees_with_r() {
    // R 4: d <- read.csv(...); m <- lm(t ~ I(1/n) + I(n-1), d); b <- coef(m)
    // T <- b[1]+b[2]; c(b[1]/T, b[3]/T, T); n <- nrow(d); k <- 4
    // n*log(sum(resid(m)^2)/n) + 2*k + 2*k*(k+1)/(n-k-1); anova(m, lm(t ~ factor(n), d))
    let table = Table::from_csv(RISING.as_bytes(), &[]).unwrap();
    let found = scaling_of_table(&table, &options("t", "n")).unwrap();
    let gunther = law(&found, Law::Gunther);
    let value = |name: &str| gunther.parameters.iter().find(|p| p.name == name).unwrap().estimate;
    close("s", value("s"), 0.047_871_329_670_921_7, 1e-9);
    close("k", value("k"), 0.014_603_322_262_905_2, 1e-9);
    close("T", value("T"), 100.196_362_603_012, 1e-9);
    close("aicc", gunther.aicc.unwrap(), 17.674_315_336_451_8, 1e-9);
    close("lack of fit", gunther.lack_of_fit_p.unwrap(), 0.958_285_568_366_461, 1e-6);
}

#[test]
fn clean_amdahl_times_keep_their_limit_and_get_no_warning() {
    let mut random = trainwright_random::Random::new(5);
    let mut called = 0;
    for _ in 0..200 {
        let mut csv = "n,t\n".to_owned();
        for workers in [1.0, 2.0, 4.0, 8.0, 16.0] {
            for _ in 0..3 {
                // Twelve uniform numbers make a nearly normal one.
                let noise = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
                let time = 100.0 * (0.1 + 0.9 / workers) + noise;
                csv.push_str(&format!("{workers},{time}\n"));
            }
        }
        let table = Table::from_csv(csv.as_bytes(), &[]).unwrap();
        let found = scaling_of_table(&table, &options("t", "n")).unwrap();
        let wrong = ["slowdown", "law-does-not-fit"];
        called += usize::from(ids(&found).iter().any(|id| wrong.contains(id)));
    }
    // Two findings at 5 % each; 20 are allowed, four standard errors are 17.
    assert!(called <= 30, "{called} of 200");
}
