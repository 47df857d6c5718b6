//! Checks of assumptions hold their level on clean data, whatever the number of runs a cell.

use trainwright_analysis::{
    Analysis, Formula, StudyOptions, Table, TableOptions, TermOrder, analyze_study, analyze_table,
    planned_power,
};
use trainwright_design::{Design, plan};
use trainwright_random::Random;
use trainwright_study::{Observation, Study, TrialState};

use crate::support::finding;

fn normal(random: &mut Random) -> f64 {
    let radius = (2.0 * random.exponential()).sqrt();
    radius * (std::f64::consts::TAU * random.unit()).cos()
}

/// A two-level table of pure noise.
fn noise(random: &mut Random, factors: u32, repeats: u32) -> Table {
    let names: Vec<String> = (0..factors).map(|k| format!("f{k}")).collect();
    let mut text = format!("y,{}\n", names.join(","));
    for _ in 0..repeats {
        for row in 0..1 << factors {
            text += &format!("{}", 10.0 + normal(random));
            (0..factors).for_each(|bit| text += &format!(",{}", row >> bit & 1));
            text.push('\n');
        }
    }
    Table::from_csv(text.as_bytes(), &[]).unwrap()
}

fn analysed(table: &Table, formula: &str) -> Analysis {
    let formula = Formula::parse(formula, TermOrder::Formula).unwrap();
    analyze_table(table, &formula, &TableOptions::default()).unwrap()
}

/// Studies with each of the findings, out of 60.
fn alarms(factors: u32, repeats: u32, formula: &str, ids: &[&str]) -> Vec<usize> {
    let mut random = Random::new(u64::from(17 * factors + repeats));
    let mut counts = vec![0; ids.len()];
    for _ in 0..60 {
        let found = analysed(&noise(&mut random, factors, repeats), formula);
        for (count, id) in counts.iter_mut().zip(ids) {
            *count += usize::from(finding(&found, id).is_some());
        }
    }
    counts
}

const OF_RESIDUALS: [&str; 3] =
    ["unequal-variances", "residuals-not-normal", "dependent-residuals"];

#[test]
fn clean_two_level_studies_raise_no_more_alarms_than_said() {
    for (factors, repeats, formula) in [
        (2, 2, "y ~ f0*f1"),
        (3, 1, "y ~ f0 + f1 + f2"),
        (3, 1, "y ~ (f0 + f1 + f2)^2"),
        (3, 2, "y ~ (f0 + f1 + f2)^2"),
        (3, 2, "y ~ f0*f1*f2"),
        (3, 3, "y ~ f0*f1*f2"),
        (2, 4, "y ~ f0*f1"),
    ] {
        let found = alarms(factors, repeats, formula, &OF_RESIDUALS);
        // 3 of 60 are expected; more than 10 come about once in 3,000 times.
        assert!(found.iter().all(|count| *count <= 10), "{factors} {repeats} {formula}: {found:?}");
    }
}

#[test]
fn pairs_that_spread_more_at_one_level_are_seen() {
    let mut random = Random::new(3);
    let mut seen = 0;
    for _ in 0..20 {
        let mut text = "y,a,b,c,d\n".to_owned();
        for row in 0..32 {
            let [a, b, c, d] = [0, 1, 2, 3].map(|bit| row >> bit & 1);
            let spread = if a == 1 { 8.0 } else { 1.0 };
            text += &format!("{},{a},{b},{c},{d}\n", spread * normal(&mut random));
        }
        let table = Table::from_csv(text.as_bytes(), &[]).unwrap();
        let found = analysed(&table, "y ~ a*b*c*d");
        seen += usize::from(finding(&found, "unequal-variances").is_some());
    }
    assert!(seen >= 10, "{seen} of 20");
}

#[test]
fn two_cells_of_two_runs_are_not_checked() {
    let table = Table::from_csv("y,a\n1,0\n1.4,0\n3,1\n9,1\n".as_bytes(), &[]).unwrap();
    let found = analysed(&table, "y ~ a");
    let check = found.checks.iter().find(|own| own.name == "equal-variance").unwrap();
    assert_eq!(check.verdict, "not checked: two runs a cell cannot show it");
}

#[test]
fn randomised_blocks_are_repeats() {
    let mut text = "y,treatment,block\n".to_owned();
    let mut random = Random::new(8);
    for row in 0..20 {
        text += &format!("{},t{},b{}\n", normal(&mut random), row % 4, row / 4);
    }
    let table = Table::from_csv(text.as_bytes(), &[]).unwrap();
    for formula in ["y ~ treatment + block", "y ~ treatment + Error(block)"] {
        assert_eq!(finding(&analysed(&table, formula), "no-replication"), None, "{formula}");
    }
}

#[test]
fn an_effect_found_with_80_percent_is_called_evidence_as_often() {
    let study = Study::from_text(
        "schema = 1\n[study]\nname = \"x\"\n[factors.a]\nlevels = [0, 1]\n[factors.b]\n\
         levels = [0, 1]\n[factors.c]\nlevels = [0, 1]\n[design]\ntype = \"full\"\n\
         replications = 3\n[metrics.y]\nobjective = \"minimize\"\n",
    )
    .unwrap();
    let design = Design::of(&study).unwrap();
    let power = planned_power(&study, &design).unwrap().unwrap();
    let size = power.smallest_effect.unwrap();
    let (mut random, rounds, mut called) = (Random::new(21), 150, 0);
    for _ in 0..rounds {
        let observe = |trial| {
            let mut own = Observation::of(trial, TrialState::Finished, [].into());
            let level = own.configuration.get("a").unwrap().number().unwrap();
            own.values = [("y".to_owned(), size * level + normal(&mut random))].into();
            own
        };
        let seen: Vec<Observation> = plan(&study, &design).into_iter().map(observe).collect();
        let found = analyze_study(&study, &design, &seen, &StudyOptions::default()).unwrap();
        let effect = found.effects.iter().find(|own| own.term == "a").unwrap();
        called += u32::from(effect.p_adjusted.is_some_and(|p| p < 0.05));
    }
    // Four standard errors of the simulation.
    let share = f64::from(called) / f64::from(rounds);
    assert!((share - 0.8).abs() < 0.13, "{share}");
}
