//! Studies with a design: missing rows, lost trials, misprinted tables.

use std::collections::BTreeMap;
use std::fmt::Write;

use trainwright_analysis::{Analysis, AnovaType, StudyOptions, analyze_study, planned_power};
use trainwright_design::Design;
use trainwright_study::{Configuration, Level, Observation, Study, TrialState};

use crate::support::{close, finding, json, report_d_results, rows};

const FACTORS: [(&str, &str, &str); 6] = [
    ("n_nodes", "1", "4"),
    ("n_executors", "1", "4"),
    ("n_executor_cores", "1", "4"),
    ("n_epochs", "1", "3"),
    ("learning_rate", "0.001", "0.01"),
    ("batch_size", "64", "256"),
];

struct Measured {
    run: u32,
    rep: u32,
    levels: Vec<String>,
    cost: f64,
}

/// Rows of field report D that have a value in the column.
fn measured(column: &str) -> Vec<Measured> {
    let mut reader = csv::Reader::from_path(report_d_results()).unwrap();
    let header = reader.headers().unwrap().clone();
    let place = |name: &str| header.iter().position(|h| h == name).unwrap();
    let factors = FACTORS.map(|(name, ..)| place(name));
    let (run, rep, cost) = (place("run"), place("rep"), place(column));
    let rows = reader.records().map(|r| r.unwrap()).filter(|r| !r[cost].is_empty());
    rows.map(|r| Measured {
        run: r[run].parse().unwrap(),
        rep: r[rep].parse().unwrap(),
        levels: factors.iter().map(|&f| r[f].to_owned()).collect(),
        cost: r[cost].parse().unwrap(),
    })
    .collect()
}

/// Table I of the report as signs, one row a run; `misprinted` prints row 11 as the report does.
fn sign_table(misprinted: bool) -> String {
    let all = measured("cost_printed");
    let mut rows = Vec::new();
    for run in 1..=32 {
        let levels = &all.iter().find(|m| m.run == run).unwrap().levels;
        let mut signs: Vec<i8> = levels
            .iter()
            .zip(FACTORS)
            .map(|(l, (_, low, _))| if l == low { -1 } else { 1 })
            .collect();
        if misprinted && run == 11 {
            assert_eq!(signs, [-1, 1, -1, 1, -1, -1]);
            signs[3] = -1;
        }
        rows.push(format!("{signs:?}"));
    }
    rows.join(", ")
}

fn report_d(misprinted: bool) -> Study {
    let mut text = "schema = 1\n[study]\nname = \"report-d\"\n".to_owned();
    for (name, low, high) in FACTORS {
        writeln!(text, "[factors.{name}]\nlevels = [{low}, {high}]").unwrap();
    }
    let rows = sign_table(misprinted);
    writeln!(text, "[design]\ntype = \"table\"\ncoded = true\nreplications = 10\nrows = [{rows}]")
        .unwrap();
    text.push_str(
        "[metrics.cost]\nfrom = \"jsonl\"\nobjective = \"minimize\"\n[analysis]\nresponse = \"cost\"\n\
         terms = \"n_nodes + n_executors + n_executor_cores + n_epochs*learning_rate*batch_size\"\n",
    );
    Study::from_text(&text).unwrap_or_else(|e| panic!("{e:?}"))
}

fn observations(column: &str) -> Vec<Observation> {
    measured(column)
        .iter()
        .zip(1..)
        .map(|(m, trial)| Observation {
            trial,
            row: Some(m.run),
            replicate: m.rep,
            block: None,
            whole_plot: None,
            slots: None,
            seconds: None,
            configuration: Configuration::new(
                FACTORS
                    .iter()
                    .zip(&m.levels)
                    .map(|((name, ..), level)| ((*name).to_owned(), Level::parse(level)))
                    .collect(),
            ),
            state: TrialState::Finished,
            values: BTreeMap::from([("cost".to_owned(), m.cost)]),
        })
        .collect()
}

fn analyze(study: &Study, observations: &[Observation]) -> Analysis {
    let design = Design::of(study).unwrap();
    analyze_study(study, &design, observations, &StudyOptions::default()).unwrap()
}

#[test]
fn a_study_is_analysed_in_coded_units() {
    let found = analyze(&report_d(false), &observations("cost_printed"));
    let expected = &json("report_d_expected.json")["table2_320_coded"];
    close("r2", found.fit.r2, expected["r2"].as_f64().unwrap(), 1e-9);
    let lr = rows(&found, AnovaType::Two).iter().find(|r| r.term == "learning_rate").unwrap();
    close("lr", lr.p.unwrap(), 3.380_019_358e-24, 1e-6);
    for id in
        ["missing-cells", "unbalanced", "sign-table-misprint", "failed-trials", "type-one-order"]
    {
        assert_eq!(finding(&found, id), None);
    }
    // The report's own inflation, 30.5 for these rows in natural units, was only the units.
    let coding = finding(&found, "collinearity-is-coding").unwrap();
    assert!(coding.contains("up to 30.5") && coding.contains("at most 1"), "{coding}");
    assert_eq!(found.best.unwrap().configuration.iter().count(), 6);
    assert_eq!(found.main_effects.len(), 6);
    assert_eq!(found.interactions.len(), 3);
}

#[test]
fn rows_without_observations_are_named_by_number_and_levels() {
    let found = analyze(&report_d(false), &observations("cost_exact"));
    let text = finding(&found, "missing-cells").unwrap();
    assert!(text.starts_with("2 of the 32 planned rows have no finished trial: row 2 ("), "{text}");
    assert!(
        text.contains("row 3 (") && text.contains("learning_rate=0.001 batch_size=256"),
        "{text}"
    );
    assert!(finding(&found, "unbalanced").is_some());
    let outlier = finding(&found, "outlier").unwrap();
    assert!(outlier.contains("(row 8, replicate 8)"), "{outlier}");
}

#[test]
fn the_misprinted_row_and_its_right_sign_are_named() {
    let study = report_d(true);
    // What ran was the right table, so row 11's trials are matched by configuration instead.
    let mut seen = observations("cost_printed");
    seen.iter_mut().filter(|o| o.row == Some(11)).for_each(|o| o.row = None);
    let found = analyze(&study, &seen);
    let text = finding(&found, "sign-table-misprint").unwrap();
    assert!(text.contains("n_epochs must be +1 in row 11"), "{text}");
    assert!(text.contains("n_epochs sums to -2"), "{text}");
    assert!(finding(&found, "not-in-design").unwrap().contains("10 trials are in the fit"));
    assert!(finding(&found, "missing-cells").unwrap().contains("row 11 ("));
}

#[test]
fn lost_trials_and_shared_machines_are_reported() {
    let text = "schema = 1\n[study]\nname = \"small\"\n[factors.lr]\nlevels = [0.1, 1.0]\n\
        scale = \"log\"\n[factors.batch]\nlevels = [32, 64]\n[design]\ntype = \"full\"\n\
        replications = 2\n[run]\nparallel = 2\n[metrics.time]\nfrom = \"jsonl\"\nunit = \"s\"\n\
        objective = \"minimize\"\n[analysis]\nresponse = \"time\"\nterms = \"main\"\n";
    let study = Study::from_text(text).unwrap_or_else(|e| panic!("{e:?}"));
    let design = Design::of(&study).unwrap();
    let mut seen = Vec::new();
    for (row, replicate) in (1..=4u32).flat_map(|row| [(row, 1), (row, 2)]) {
        let trial = seen.len() as u32 + 1;
        let state = match trial {
            7 => TrialState::Diverged,
            8 => TrialState::Failed,
            _ => TrialState::Finished,
        };
        let value = f64::from(row) + 0.1 * f64::from(replicate * row);
        let values = BTreeMap::from([("time".to_owned(), value)]);
        let configuration = design.row(row).unwrap().clone();
        let row = Some(row);
        let (block, whole_plot) = (None, None);
        seen.push(Observation {
            trial,
            row,
            replicate,
            block,
            whole_plot,
            slots: Some(2),
            configuration,
            state,
            values,
            seconds: None,
        });
    }
    let found = analyze_study(&study, &design, &seen, &StudyOptions::default()).unwrap();
    assert_eq!(found.n, 6);
    assert!(
        finding(&found, "diverged-trials")
            .unwrap()
            .starts_with("1 trial diverged and was left out of the fit: trial 7")
    );
    assert!(finding(&found, "failed-trials").unwrap().contains("trial 8"));
    assert!(finding(&found, "overlapping-timing").unwrap().contains("up to 2 trials"));
    assert!(finding(&found, "missing-cells").unwrap().starts_with("1 of the 4 planned rows has"));
    assert!(analyze_study(&study, &design, &seen[6..], &StudyOptions::default()).is_err());
    // The study file asks for two slots now; what counts is what the trials had.
    seen.iter_mut().for_each(|own| own.slots = Some(1));
    let alone = analyze_study(&study, &design, &seen, &StudyOptions::default()).unwrap();
    assert!(finding(&alone, "overlapping-timing").is_none());
}

fn small_study(design: &str) -> Study {
    let text = format!(
        "schema = 1\n[study]\nname = \"small\"\n[factors.lr]\nlevels = [0.001, 0.01, 0.1]\n\
         scale = \"log\"\n[factors.optimizer]\nlevels = [\"sgd\", \"adam\"]\n[design]\n{design}\n\
         replications = 6\n[metrics.loss]\nfrom = \"jsonl\"\nobjective = \"minimize\"\n[analysis]\n\
         response = \"loss\"\nterms = \"main + 2fi\"\n"
    );
    Study::from_text(&text).unwrap_or_else(|e| panic!("{e:?}"))
}

/// Every planned trial with a loss that depends on the learning rate alone, and tame noise.
fn clean_run(study: &Study) -> (Design, Vec<Observation>) {
    let design = Design::of(study).unwrap();
    let trials = trainwright_design::plan(study, &design);
    let count = trials.len();
    let observe = |trial: trainwright_study::PlannedTrial| {
        let place = (trial.number as usize * 17 + 5) % count;
        let noise = trainwright_stats::Normal.quantile((place as f64 + 0.5) / count as f64);
        let lr = trial.configuration.get("lr").unwrap().number().unwrap();
        let loss = 20.0 - 2.0 * lr.log10() + noise.unwrap();
        Observation::of(trial, TrialState::Finished, BTreeMap::from([("loss".to_owned(), loss)]))
    };
    (design, trials.into_iter().map(observe).collect())
}

#[test]
fn a_complete_clean_study_has_no_warnings() {
    let study = small_study("type = \"full\"");
    let (design, seen) = clean_run(&study);
    let found = analyze_study(&study, &design, &seen, &StudyOptions::default()).unwrap();
    let ids: Vec<&str> = found.findings.iter().map(|f| f.id).collect();
    assert_eq!(
        ids,
        ["effect-ranking", "optimum-at-edge", "curves-allowed"],
        "{:?}",
        found.findings
    );
    let effect = found.effects.iter().find(|e| e.term == "lr").unwrap();
    // From 0.001 to 0.1 the loss falls by 4, on the declared logarithmic scale.
    assert!(effect.ci_low.unwrap() < -4.0 && effect.ci_high.unwrap() > -4.0);
    let names: Vec<&str> = found.fit.coefficients.iter().map(|c| c.name.as_str()).collect();
    let columns = ["lr[linear]", "lr[quadratic]"];
    assert_eq!(names[..4], ["(Intercept)", columns[0], columns[1], "optimizer"]);
    assert_eq!(names[4..], ["lr[linear]:optimizer", "lr[quadratic]:optimizer"]);
    assert!(finding(&found, "optimum-at-edge").unwrap().contains("lr (0.1)"));
}

#[test]
fn a_complete_one_factor_study_is_not_called_unbalanced() {
    let study = small_study("type = \"one-factor\"");
    let (design, seen) = clean_run(&study);
    let found = analyze_study(&study, &design, &seen, &StudyOptions::default()).unwrap();
    for id in ["unbalanced", "missing-cells"] {
        assert_eq!(finding(&found, id), None, "{:?}", found.findings);
    }
    assert!(finding(&found, "aliased-terms").unwrap().starts_with("lr:optimizer (mixed with"));
}

#[test]
fn a_study_in_progress_is_analysed_as_far_as_it_goes() {
    let study = small_study("type = \"full\"");
    let (design, seen) = clean_run(&study);
    for count in 2..seen.len() {
        let found =
            analyze_study(&study, &design, &seen[..count], &StudyOptions::default()).unwrap();
        assert_eq!(found.n, count);
        assert!(!format!("{found:?}").contains("NaN"));
    }
}

/// Of two interactions that a resolution IV design cannot tell apart, the first carries the share
/// of both, and its effect is the contrast of the cell means.
#[test]
fn the_first_of_aliased_terms_stands_for_all() {
    let study = Study::from_text(
        "schema = 1\n[study]\nname = \"x\"\n[factors.a]\nlevels = [0, 1]\n[factors.b]\n\
         levels = [0, 1]\n[factors.c]\nlevels = [0, 1]\n[factors.d]\nlevels = [0, 1]\n[design]\n\
         type = \"fractional\"\ngenerators = [\"d = a*b*c\"]\nreplications = 2\n[metrics.y]\n\
         objective = \"minimize\"\n",
    )
    .unwrap();
    let design = Design::of(&study).unwrap();
    let mut observations = Vec::new();
    for (row, configuration) in (1u32..).zip(design.rows()) {
        let sign = |name: &str| 2.0 * configuration.get(name).unwrap().number().unwrap() - 1.0;
        for replicate in 1..=2u32 {
            // Noise of +-0.1 within each cell; c:d hides under a:b, so both add to its effect.
            let noise = if replicate == 1 { 0.1 } else { -0.1 };
            let y = 5.0 + sign("a") + 2.0 * sign("a") * sign("b") + 0.5 * sign("c") * sign("d");
            observations.push(Observation {
                trial: 2 * row + replicate,
                row: Some(row),
                replicate,
                block: None,
                whole_plot: None,
                slots: None,
                seconds: None,
                configuration: configuration.clone(),
                state: TrialState::Finished,
                values: [("y".to_owned(), y + noise)].into(),
            });
        }
    }
    let analysis = analyze_study(&study, &design, &observations, &StudyOptions::default()).unwrap();
    let effect = |term: &str| analysis.effects.iter().find(|own| own.term == term).unwrap();
    close("a:b", effect("a:b").effect.unwrap(), 2.0 * (2.0 + 0.5), 1e-12);
    // Sums of squares: 16 (1^2) for a, 16 (2.5^2) for the pair, 16 (0.1^2) within the cells.
    close("share", effect("a:b").percent.unwrap(), 100.0 * 6.25 / (1.0 + 6.25 + 0.01), 1e-12);
    assert!(effect("a:b").p.unwrap() < 1e-10);
    assert_eq!((effect("c:d").effect, effect("c:d").percent), (None, None));
    assert!(finding(&analysis, "aliased-terms").unwrap().contains("c:d (mixed with a:b)"));
    assert!(finding(&analysis, "effect-ranking").unwrap().starts_with("a:b matters most"));
}

#[test]
fn power_follows_from_the_number_of_observations_and_terms() {
    // 320 observations less 11 coefficients, 10 terms; noncentrality n d^2 / 4 = 13.484230 for
    // power 0.8 by scipy 1.17.1, brentq over ncf.sf(f.isf(0.05 / 10, 1, 309), 1, 309, x), hence d.
    let study = report_d(false);
    let power = planned_power(&study, &Design::of(&study).unwrap()).unwrap().unwrap();
    assert_eq!((power.n, power.df_residual, power.tests), (320, 309, 10));
    close("smallest effect", power.smallest_effect.unwrap(), 0.410_551_914, 1e-8);
}
