//! A metric followed over every trial.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use trainwright_analysis::wording::count;
use trainwright_study::Series;

use crate::charts::labels::settings_labels;
use crate::charts::{Chart, dash, packed, series_colour, value_axis, with_unit};
use crate::input::ReportTrial;
use crate::thin::thin;

/// One line a trial, coloured by configuration; its repeats share their legend entry, which names
/// the settings that differ between configurations. Trials of a search have no rows.
pub(crate) fn learning_curve(
    name: &str,
    curves: &[(&ReportTrial, &Series)],
    most_points: usize,
) -> Chart {
    let (axis, unit) = curves.first().map_or(("step", ""), |(_, own)| (&own.axis, &own.unit));
    let groups = groups(curves);
    let names = group_names(&groups);
    let series: Vec<Value> = curves
        .iter()
        .map(|(trial, own)| {
            let own_key = key(trial);
            let index = groups.iter().position(|group| key(group) == own_key);
            let index = index.expect("every trial's group is listed");
            line(trial, own, index, &names[index], most_points)
        })
        .collect();
    let unit = Some(unit).filter(|unit| !unit.is_empty());
    let axis_name = if axis == "s" { "seconds since the start" } else { axis };
    Chart {
        option: json!({
            "tips": { "x": axis, "y": name },
            "legend": {
                "top": 0, "padding": [2, 0], "itemHeight": 14, "type": "scroll",
                "itemStyle": { "opacity": 0 },
            },
            "grid": { "top": 32 },
            "xAxis": value_axis(axis_name),
            "yAxis": value_axis(&with_unit(name, unit)),
            "series": series,
        }),
        summary: format!(
            "{name} over {axis_name} for {} of {}.",
            count(curves.len(), "trial"),
            count(groups.len(), "configuration")
        ),
        height: 360,
    }
}

/// Columns of a legend entry, which must fit on a narrow screen.
const LEGEND: usize = 36;

/// What trials of one group share.
fn key(trial: &ReportTrial) -> (Option<u32>, String) {
    (trial.row, trial.configuration.identity())
}

/// The first trial of each group: by row, else in the order of the curves.
fn groups<'a>(curves: &[(&'a ReportTrial, &Series)]) -> Vec<&'a ReportTrial> {
    let mut seen = BTreeSet::new();
    let mut first: Vec<&ReportTrial> =
        curves.iter().map(|(trial, _)| *trial).filter(|trial| seen.insert(key(trial))).collect();
    first.sort_by_key(|trial| trial.row);
    first
}

/// What tells groups apart: the settings of each that are not the same in all.
fn group_names(groups: &[&ReportTrial]) -> Vec<String> {
    let settings: Vec<Vec<(String, String)>> = groups
        .iter()
        .map(|own| own.configuration.iter().map(|(n, l)| (n.to_owned(), l.to_string())).collect())
        .collect();
    let shared = |pair: &(String, String)| settings.iter().all(|own| own.contains(pair));
    let differing: Vec<Vec<(String, String)>> = settings
        .iter()
        .map(|own| {
            own.iter().filter(|pair| settings.len() == 1 || !shared(pair)).cloned().collect()
        })
        .collect();
    let names = settings_labels(&differing, LEGEND).into_iter().zip(groups);
    let names = names.map(|(name, own)| match own.row {
        _ if !name.is_empty() => name,
        None => "no row".to_owned(),
        Some(row) => format!("row {row}"),
    });
    names.collect()
}

fn line(trial: &ReportTrial, own: &Series, index: usize, name: &str, most_points: usize) -> Value {
    let colour = series_colour(index);
    let label = format!("trial {}: {}", trial.number, trial.configuration);
    let points = packed(&thin(&own.at, &own.values, most_points));
    json!({
        "name": name, "label_of_line": label, "packed": points, "color": colour,
        "dash": dash(index),
    })
}

#[cfg(test)]
mod tests {
    use trainwright_study::{Configuration, Level, TrialState};

    use super::*;
    use crate::tests::trial;

    fn series(axis: &str, unit: &str, values: &[f64]) -> Series {
        Series {
            name: "metric.loss".to_owned(),
            axis: axis.to_owned(),
            unit: unit.to_owned(),
            at: (0..values.len()).map(|at| at as f64).collect(),
            values: values.to_vec(),
        }
    }

    #[test]
    fn axes_say_what_is_counted_and_in_which_unit() {
        let own = trial(1, 1, TrialState::Finished, None);
        let chart = |axis, unit| learning_curve("loss", &[(&own, &series(axis, unit, &[1.0]))], 50);
        let by_time = chart("s", "nat");
        assert_eq!(by_time.option["xAxis"]["name"], "seconds since the start");
        assert_eq!(by_time.option["yAxis"]["name"], "loss (nat)");
        let by_step = chart("step", "");
        assert_eq!(by_step.option["xAxis"]["name"], "step");
        assert_eq!(by_step.option["yAxis"]["name"], "loss");
        assert_eq!(by_step.summary, "loss over step for 1 trial of 1 configuration.");
        assert_eq!(learning_curve("loss", &[], 50).option["series"], json!([]));
    }

    #[test]
    fn repeats_share_their_colour_and_results_outside_the_design_have_their_own() {
        let curve = series("step", "", &[3.0, 2.0]);
        let mut trials = [1, 2, 3, 4].map(|number| trial(number, 2, TrialState::Finished, None));
        trials[1].row = None;
        trials[3].row = Some(7);
        let curves: Vec<_> = trials.iter().map(|own| (own, &curve)).collect();
        let chart = learning_curve("loss", &curves, 50);
        let names: Vec<_> = (0..4).map(|at| chart.option["series"][at]["name"].clone()).collect();
        assert_eq!(names, ["row 2", "no row", "row 2", "row 7"]);
        let colours: Vec<_> =
            (0..4).map(|at| chart.option["series"][at]["color"].clone()).collect();
        assert_eq!(colours, ["$s1", "$s0", "$s1", "$s2"]);
        assert_eq!(chart.option["series"][3]["label_of_line"], "trial 4: a=2 b=10");
        assert_eq!(chart.summary, "loss over step for 4 trials of 3 configurations.");
    }

    #[test]
    fn configurations_of_a_search_are_told_apart_though_they_have_no_rows() {
        let curve = series("step", "", &[3.0, 2.0]);
        let mut trials = [1, 2, 3].map(|number| trial(number, 2, TrialState::Finished, None));
        for (own, level) in trials.iter_mut().zip([0.1, 0.2, 0.1]) {
            own.row = None;
            let levels = vec![("lr".to_owned(), Level::Number(level))];
            own.configuration = Configuration::new(levels);
        }
        let curves: Vec<_> = trials.iter().map(|own| (own, &curve)).collect();
        let chart = learning_curve("loss", &curves, 50);
        let of = |key: &str| [0, 1, 2].map(|at| chart.option["series"][at][key].clone());
        assert_eq!(of("name"), ["lr=0.1", "lr=0.2", "lr=0.1"]);
        assert_eq!(of("color"), ["$s0", "$s1", "$s0"]);
        assert_eq!(chart.summary, "loss over step for 3 trials of 2 configurations.");
    }

    #[test]
    fn a_long_curve_is_thinned_but_keeps_its_peak() {
        let own = trial(1, 1, TrialState::Finished, None);
        let mut values = vec![1.0; 5_000];
        values[1_234] = 9.0;
        let chart = learning_curve("loss", &[(&own, &series("step", "", &values))], 100);
        let packed = &chart.option["series"][0]["packed"];
        let at: Vec<i64> =
            packed["at"].as_array().unwrap().iter().map(|own| own.as_i64().unwrap()).collect();
        assert!(at.len() <= 200, "{}", at.len());
        assert_eq!(at.iter().skip(1).step_by(2).max(), Some(&2_000), "the peak is the top step");
        assert_eq!(packed["from"], json!([0.0, 1.0]));
    }
}
