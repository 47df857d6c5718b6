//! Tables of results, read and placed among the planned trials.

use proptest::prelude::*;
use trainwright_study::Level;

use super::*;
use crate::studies::tests::{TWO_BY_TWO, planned_trials, study};

fn lines_of(study: &Study, table: &str, columns: &[(&str, &str)]) -> Result<Vec<Line>, String> {
    let design = design_of(study).unwrap();
    let columns = columns.iter().map(|(name, column)| ((*name).to_owned(), (*column).to_owned()));
    read_lines(study, &design, table.as_bytes(), &columns.collect())
}

fn placed(study: &Study, table: &str) -> Result<(Vec<ImportedTrial>, Imported), String> {
    let design = design_of(study).unwrap();
    let lines = lines_of(study, table, &[])?;
    place_lines(study, &design, &planned_trials(study), lines)
}

fn refusal<T>(result: Result<T, String>) -> String {
    result.err().expect("it was not refused")
}

#[test]
fn columns_are_named_by_what_they_hold() {
    let study = study(TWO_BY_TWO);
    let table = "first, b ,accuracy,note\n2,high,0.5,x\n";
    let lines = lines_of(&study, table, &[("a", "first"), ("y", "accuracy")]).unwrap();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0].number, 2);
    assert_eq!(lines[0].configuration.to_string(), "a=2 b=high");
    let measured = lines[0].measurements.as_ref().unwrap();
    assert_eq!((measured[0].metric.as_str(), measured[0].value), ("y", 0.5));
}

#[test]
fn a_column_that_is_not_there_is_told_with_those_that_are() {
    let study = study(TWO_BY_TWO);
    let ask = |columns: &[(&str, &str)]| refusal(lines_of(&study, "a,b,y\n1,low,1\n", columns));
    assert_eq!(ask(&[("a", "alpha")]), "there is no column `alpha`; there are a, b, y");
    assert_eq!(ask(&[("loss", "y")]), "`loss` is no factor and no metric of the study");
    assert_eq!(
        refusal(lines_of(&study, "a,y\n1,1\n", &[])),
        "there is no column for the factor `b`; name it with --column b=COLUMN"
    );
    assert_eq!(
        refusal(lines_of(&study, "a,b\n1,low\n", &[])),
        "line 2: there is no column for the metric `y`; name it with --column y=COLUMN"
    );
    assert_eq!(refusal(lines_of(&study, "a,b,y\n", &[])), "it has no rows");
}

#[test]
fn a_level_is_known_however_its_number_is_written() {
    let study = study(TWO_BY_TWO);
    let lines = lines_of(&study, "a,b,y\n2.0,low,1\n 1 ,high,2\n", &[]).unwrap();
    let shown: Vec<String> = lines.iter().map(|line| line.configuration.to_string()).collect();
    assert_eq!(shown, ["a=2 b=low", "a=1 b=high"]);
    assert_eq!(
        refusal(lines_of(&study, "a,b,y\n1,low,1\n1,Low,1\n", &[])),
        "line 3: `Low` is no level of `b`, which has low, high"
    );
}

#[test]
fn a_level_that_is_a_text_may_look_like_a_number() {
    let study = study(&TWO_BY_TWO.replace("[\"low\", \"high\"]", "[\"16\", \"auto\"]"));
    let lines = lines_of(&study, "a,b,y\n1, 16,5\n1,auto,6\n", &[]).unwrap();
    assert_eq!(lines[0].configuration.get("b"), Some(&Level::Text("16".to_owned())));
    assert_eq!(lines[1].configuration.to_string(), "a=1 b=auto");
}

#[test]
fn a_value_that_is_not_finite_is_no_result() {
    let study = study(TWO_BY_TWO);
    for cell in ["NaN", "inf", "-infinity", "1e999", "0,5", "5 s"] {
        let table = format!("a,b,y\n1,low,\"{cell}\"\n");
        assert_eq!(
            refusal(lines_of(&study, &table, &[])),
            format!("line 2: `{cell}` is no finite number for `y`")
        );
    }
}

#[test]
fn a_factor_that_does_not_exist_in_a_row_may_be_left_empty() {
    let text =
        TWO_BY_TWO.replace("[design]", "[factors.c]\nlevels = [5, 6]\nwhen = \"a == 1\"\n[design]");
    let study = study(&text.replace(", \"{b}\"]", ", \"{b}\", [\"{c}\"]]"));
    let lines = lines_of(&study, "a,b,c,y\n2,low,,1\n1,low,6,2\n", &[]).unwrap();
    assert_eq!(lines[0].configuration.to_string(), "a=2 b=low");
    assert_eq!(lines[1].configuration.to_string(), "a=1 b=low c=6");
    let empty = refusal(lines_of(&study, "a,b,c,y\n,low,5,1\n", &[]));
    assert_eq!(empty, "line 2: `` is no level of `a`, which has 1, 2");
}

#[test]
fn a_range_takes_every_value_inside_it() {
    let text = TWO_BY_TWO
        .replace("levels = [1, 2]", "range = { from = 1.0, to = 3.0 }")
        .replace("type = \"full\"\nreplications = 2", "type = \"latin-hypercube\"\nruns = 4");
    let study = study(&text);
    let lines = lines_of(&study, "a,b,y\n1.7,low,1\n3,low,1\n", &[]).unwrap();
    assert_eq!(lines[0].configuration.get("a").unwrap().number(), Some(1.7));
    assert!(refusal(lines_of(&study, "a,b,y\n3.1,low,1\n", &[])).starts_with("line 2: `3.1`"));
}

#[test]
fn a_computed_response_follows_from_what_was_measured() {
    let text = TWO_BY_TWO.to_owned()
        + "[metrics.z]\nexpr = \"100 / y\"\nobjective = \"minimize\"\n[analysis]\nresponse = \"z\"\n";
    let study = study(&text.replace("objective = \"maximize\"\n", ""));
    let lines = lines_of(&study, "a,b,y\n1,low,4\n1,high,\n", &[]).unwrap();
    let found: Vec<(&str, f64)> = lines[0]
        .measurements
        .as_ref()
        .unwrap()
        .iter()
        .map(|own| (own.metric.as_str(), own.value))
        .collect();
    assert_eq!(found, [("y", 4.0), ("z", 25.0)]);
    assert!(lines[1].measurements.is_none(), "without y there is no z");
    let error = refusal(lines_of(&study, "a,b,y\n1,low,0\n", &[]));
    assert!(error.starts_with("line 2: ") && error.contains('z'), "{error}");
}

#[test]
fn replicates_are_numbered_in_the_order_of_the_file() {
    let study = study(TWO_BY_TWO);
    let (found, imported) = placed(&study, "a,b,y\n1,low,5\n2,high,6\n1,low,7\n").unwrap();
    let replicates: Vec<u32> = found.iter().map(|own| own.replicate).collect();
    assert_eq!(replicates, [1, 1, 2]);
    let trials = planned_trials(&study);
    for own in &found {
        let trial = trials.iter().find(|trial| Some(trial.number) == own.fills).unwrap();
        assert_eq!(trial.configuration, own.configuration);
        assert_eq!(trial.replicate, own.replicate);
    }
    let missing: Vec<String> =
        imported.missing_rows.iter().map(|own| own.configuration.to_string()).collect();
    assert_eq!(missing, ["a=2 b=low", "a=1 b=high"]);
    assert_eq!(imported.short_rows.len(), 1, "{:?}", imported.short_rows);
    assert_eq!((imported.short_rows[0].results, imported.short_rows[0].planned), (1, 2));
}

#[test]
fn a_row_takes_no_more_results_than_planned() {
    let study = study(TWO_BY_TWO);
    let error = refusal(placed(&study, "a,b,y\n1,low,5\n1,low,6\n1,low,7\n"));
    assert_eq!(
        error,
        "line 4: row 1 (a=1 b=low) has more than the 2 results that the study plans; raise \
         `replications`"
    );
}

#[test]
fn results_without_a_response_take_no_place() {
    let study = study(TWO_BY_TWO);
    let table = "a,b,y\n1,low,\n1,low,6\n1,low, \n1,low,7\n";
    let (found, imported) = placed(&study, table).unwrap();
    assert_eq!((found.len(), imported.kept), (2, 2));
    assert_eq!(imported.without_response, [2, 4]);
}

#[test]
fn without_a_design_nothing_lies_outside_it() {
    let open = TWO_BY_TWO.replace("[design]\ntype = \"full\"\nreplications = 2\n", "");
    let (found, imported) = placed(&study(&open), "a,b,y\n1,low,5\n1,low,6\n2,low,7\n").unwrap();
    assert!(imported.outside_design.is_empty() && imported.missing_rows.is_empty());
    let places: Vec<_> = found.iter().map(|own| (own.fills, own.replicate)).collect();
    assert_eq!(places, [(None, 1), (None, 2), (None, 1)]);
}

proptest! {
    #[test]
    fn every_result_is_kept_once_in_whatever_order_they_come(order in Just((0..8).collect::<Vec<usize>>()).prop_shuffle()) {
        let study = study(TWO_BY_TWO);
        let mut table = "a,b,y\n".to_owned();
        for &place in &order {
            let (a, b) = (1 + place % 2, if place / 2 % 2 == 0 { "low" } else { "high" });
            table += &format!("{a},{b},{place}\n");
        }
        let (found, imported) = placed(&study, &table).unwrap();
        prop_assert_eq!(imported.kept, 8);
        prop_assert!(imported.missing_rows.is_empty() && imported.short_rows.is_empty());
        let mut filled: Vec<u32> = found.iter().map(|own| own.fills.unwrap()).collect();
        filled.sort_unstable();
        prop_assert_eq!(filled, (1..=8).collect::<Vec<u32>>());
    }
}
