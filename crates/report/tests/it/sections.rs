//! What the sections of a study's page say.

use trainwright_report::{ReportTrial, html};
use trainwright_study::{Configuration, Level, TrialState};

use crate::page::{chart, own_part, summary, table};
use crate::simulated::Simulated;

/// The markup of one section.
#[track_caller]
fn section(page: &str, id: &str) -> String {
    let own = own_part(page);
    let (_, rest) = own.split_once(&format!("<section id=\"{id}\"")).expect("there is the section");
    rest.split_once("</section>").expect("it ends").0.to_owned()
}

fn page(simulated: &Simulated) -> String {
    html(&simulated.input())
}

#[test]
fn the_header_counts_trials_by_state() {
    let simulated = Simulated::new(2, 5).broken(1, TrialState::Failed, "exit code 1").broken(
        2,
        TrialState::Diverged,
        "metric `accuracy` was infinite",
    );
    let own = own_part(&page(&simulated));
    assert!(own.contains("32 trials: 30 finished, 1 diverged, 1 failed"), "{own:.2000}");
    assert!(own.contains("<rect class=\"state-failed\" x=\""));
}

#[test]
fn the_design_section_tells_type_rows_order_and_seed() {
    let text = section(&page(&Simulated::new(3, 5)), "design");
    for (name, value) in [
        ("type", "fractional factorial, two levels"),
        ("rows", "16"),
        ("replications", "3"),
        ("trials planned", "48"),
        ("run order", "randomized"),
        ("seed", "7"),
    ] {
        assert!(text.contains(&format!("<dt>{name}</dt><dd>{value}</dd>")), "{name}");
    }
    assert!(text.contains("I = ABCDE"), "the defining relation is told");
}

#[test]
fn every_row_of_the_design_is_listed_in_standard_order() {
    let simulated = Simulated::new(1, 5);
    let rows = table(&page(&simulated), "Rows of the design");
    assert_eq!(rows.len(), 16);
    for (number, (cells, row)) in rows.iter().zip(simulated.design.rows()).enumerate() {
        assert_eq!(cells[0], (number + 1).to_string());
        let levels: Vec<String> = row.iter().map(|(_, level)| level.to_string()).collect();
        assert_eq!(cells[1..], levels);
    }
}

#[test]
fn rows_that_lack_trials_are_named() {
    let simulated = Simulated::new(1, 5).broken(4, TrialState::Failed, "exit code 1");
    let text = section(&page(&simulated), "design");
    assert!(text.contains("1 row lacks finished trials; 1 of them has none at all."), "{text}");
    let whole = section(&page(&Simulated::new(1, 5)), "design");
    assert!(
        !whole.contains("lack finished") && !whole.contains("lacks finished"),
        "none is missing"
    );
}

#[test]
fn aliased_effects_are_joined_in_the_alias_graph() {
    let simulated = Simulated::designed("type = \"fractional\"\nruns = 8", 2, 5);
    let page = page(&simulated);
    let graph = chart(&page, "alias-graph").to_string();
    assert!(graph.contains("neurons") || graph.contains("lr"), "effects have their names");
    assert!(!summary(&page, "alias-graph").is_empty());
    // Resolution V leaves nothing to join.
    let clear = crate::page::data_block(&self::page(&Simulated::new(2, 5)));
    assert!(clear["charts"]["alias-graph"].is_null());
}

#[test]
fn the_power_curve_shows_planned_and_double_replications() {
    let page = page(&Simulated::new(3, 5));
    let chart = chart(&page, "power-curve");
    let names: Vec<&str> = chart["series"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| own["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["3 replications, as planned", "6 replications"]);
    for line in chart["series"].as_array().unwrap() {
        let found: Vec<f64> =
            line["data"].as_array().unwrap().iter().map(|own| own[1].as_f64().unwrap()).collect();
        assert!(found.is_sorted() && found[0] < 10.0 && *found.last().unwrap() > 95.0, "{found:?}");
    }
}

#[test]
fn effects_stand_in_a_table_with_their_p_values() {
    let simulated = Simulated::new(3, 5);
    let rows = table(&page(&simulated), "Effects");
    let analysis = simulated.analysis.as_ref().unwrap();
    assert_eq!(rows.len(), analysis.effects.len());
    for effect in &analysis.effects {
        let row = rows.iter().find(|row| row[0] == effect.term).unwrap();
        assert!(row[6].ends_with('%') && !row[4].is_empty(), "{row:?}");
    }
}

#[test]
fn every_type_of_the_analysis_of_variance_is_a_tab_and_type_two_is_in_front() {
    let text = section(&page(&Simulated::new(3, 5)), "fit");
    for name in ["Type I", "Type II", "Type III"] {
        assert!(text.contains(&format!("data-tab=\"{name}\"")), "{name}");
    }
    assert!(text.contains("data-tab=\"Type II\" data-front"), "type II is in front");
    assert_eq!(text.matches(" data-front").count(), 1);
}

#[test]
fn the_fit_is_told_with_all_its_digits_on_hovering() {
    let simulated = Simulated::new(3, 5);
    let text = section(&page(&simulated), "fit");
    let fit = &simulated.analysis.as_ref().unwrap().fit;
    assert!(text.contains(&format!("title=\"{}\"", fit.r2)), "R2 in full");
    assert!(text.contains(&format!("title=\"{}\"", fit.sigma.unwrap())), "deviation in full");
    assert!(text.contains("<dt>residual degrees of freedom</dt><dd>32</dd>"));
}

#[test]
fn a_power_of_the_response_is_advised_only_where_its_interval_leaves_out_one() {
    let simulated = Simulated::new(3, 5);
    let text = section(&page(&simulated), "fit");
    let found = simulated.analysis.as_ref().unwrap().box_cox.as_ref().unwrap();
    let stays = found.low.is_none_or(|low| low <= 1.0) && found.high.is_none_or(|high| high >= 1.0);
    assert_eq!(text.contains("the response may stay as it is"), stays, "{found:?}");
    assert!(text.contains("Box-Cox: the most likely power of cost is"));
}

#[test]
fn every_trial_has_its_row_with_what_it_measured() {
    let simulated = Simulated::new(2, 5);
    let text = section(&page(&simulated), "trials");
    assert_eq!(text.matches("<tr>").count(), 32 + 1, "a head and 32 trials");
    for trial in &simulated.trials {
        let cost = trial.measurements.iter().find(|own| own.metric == "cost").unwrap().value;
        assert!(text.contains(&format!("title=\"{cost}\"")), "trial {}", trial.number);
    }
}

#[test]
fn the_environment_names_machine_system_and_commit() {
    let mut simulated = Simulated::new(1, 5);
    simulated.machines[0].host = "node-<7>".to_owned();
    let text = section(&page(&simulated), "environment");
    for part in ["node-&lt;7&gt;", "AMD EPYC 7B13", "Linux 6.12.9", "4be0c1d"] {
        assert!(text.contains(part), "{part}");
    }
}

#[test]
fn a_study_without_a_direction_still_has_its_effects() {
    let simulated = Simulated::new(3, 5);
    let text = section(&page(&simulated), "verdict");
    assert!(text.contains("Smallest mean cost of all rows"), "{text:.1500}");
    assert!(text.contains("mean of the worst row") && text.contains("times the best"));
}

#[test]
fn what_to_do_next_follows_from_the_trials() {
    let finished = section(&page(&Simulated::new(3, 5)), "verdict");
    assert!(!finished.contains("Finish "), "nothing is left to finish");
    let mut simulated = Simulated::new(2, 5);
    simulated.trials[0] = ReportTrial {
        state: TrialState::Planned,
        measurements: Vec::new(),
        usage: None,
        ..simulated.trials[0].clone()
    };
    let begun = section(&page(&simulated), "verdict");
    assert!(begun.contains("Finish 1 trial: <code>trainwright run study.toml</code>."), "{begun}");
}

#[test]
fn a_trial_outside_the_design_is_shown_without_a_row() {
    let mut simulated = Simulated::new(2, 5);
    let trial = &mut simulated.trials[0];
    trial.row = None;
    trial.configuration =
        Configuration::new(vec![("lr".to_owned(), Level::Text("unheard of".to_owned()))]);
    let page = page(&simulated);
    assert!(section(&page, "trials").contains("unheard of"));
    let curves = chart(&page, "curve-1").to_string();
    assert!(curves.contains("lr=unheard of"), "its curve has a name too");
}
