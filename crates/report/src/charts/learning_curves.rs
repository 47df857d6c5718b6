//! A metric followed over every trial.

use serde_json::{Value, json};
use trainwright_study::Series;

use super::{Chart, dash, packed, series_colour, value_axis, with_unit};
use crate::input::ReportTrial;
use crate::thin::thin;

/// One line a trial, coloured by design row; trials of a row share their legend entry.
pub(crate) fn learning_curve(
    name: &str,
    curves: &[(&ReportTrial, &Series)],
    most_points: usize,
) -> Chart {
    let (axis, unit) = curves.first().map_or(("step", ""), |(_, own)| (&own.axis, &own.unit));
    let mut rows: Vec<Option<u32>> = curves.iter().map(|(trial, _)| trial.row).collect();
    rows.sort_unstable();
    rows.dedup();
    let series: Vec<Value> = curves
        .iter()
        .map(|(trial, own)| {
            let index = rows.binary_search(&trial.row).expect("every trial's row is listed");
            line(trial, own, index, most_points)
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
            "{name} over {axis_name} for {} trials of {} rows.",
            curves.len(),
            rows.len()
        ),
        height: 360,
    }
}

fn line(trial: &ReportTrial, own: &Series, index: usize, most_points: usize) -> Value {
    let colour = series_colour(index);
    let label = format!("trial {}: {}", trial.number, trial.configuration);
    let name = trial.row.map_or_else(|| "no row".to_owned(), |row| format!("row {row}"));
    let points = packed(&thin(&own.at, &own.values, most_points));
    json!({
        "name": name, "label_of_line": label, "packed": points, "color": colour,
        "dash": dash(index),
    })
}
