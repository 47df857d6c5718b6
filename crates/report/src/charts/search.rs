//! How a search came to its best, and its objective along a factor.

use serde_json::{Value, json};
use trainwright_search::{Contour, Slice};
use trainwright_study::Level;

use super::contours::height_lines;
use super::response_curve::named;
use super::{Chart, title, value_axis};
use crate::contour::Grid;
use crate::figure::{figure, for_chart};
use crate::html::SearchPart;

/// The best value after each trial, and the gain that the next one promised; none before anything
/// was measured.
pub(crate) fn search_trace(own: &SearchPart) -> Option<Chart> {
    let best: Vec<(f64, f64)> =
        own.trace.iter().filter_map(|at| Some((f64::from(at.trial), at.best?))).collect();
    let (last, value) = *best.last()?;
    let gains: Vec<(f64, f64)> =
        own.trace.iter().filter_map(|at| Some((f64::from(at.trial), 100.0 * at.gain?))).collect();
    let mut line = named(&format!("best {}", own.objective), &best, 0);
    line["step"] = json!("end");
    let mut series = vec![line];
    let mut axes = vec![value_axis(&own.objective)];
    // Searches with several objectives promise no single gain.
    if !gains.is_empty() {
        let mut line = named("promised gain %", &gains, 1);
        line["yAxisIndex"] = json!(1);
        series.push(line);
        axes.push(
            json!({ "type": "value", "name": "promised gain %", "position": "right", "min": 0 }),
        );
    }
    Some(Chart {
        option: json!({
            "title": title("The best after each trial"),
            "tips": { "x": "trial", "y": own.objective },
            "legend": { "top": 20 },
            "grid": { "top": 48 },
            "xAxis": { "type": "value", "name": "trial", "minInterval": 1, "scale": true },
            "yAxis": axes,
            "series": series,
        }),
        summary: format!(
            "The best {} after each trial; after trial {last} it is {}.",
            own.objective,
            figure(value)
        ),
        height: 320,
    })
}

/// The objective expected along a factor, with the lines between which nine in ten values lie.
pub(crate) fn search_slice(objective: &str, own: &Slice) -> Option<Chart> {
    let (first, last) = (own.points.first()?, own.points.last()?);
    let numbers: Option<Vec<f64>> = own.points.iter().map(|point| point.level.number()).collect();
    let place = |index: usize| numbers.as_ref().map_or(index as f64, |numbers| numbers[index]);
    let line = |pick: fn(&trainwright_search::SlicePoint) -> f64| -> Vec<(f64, f64)> {
        own.points.iter().enumerate().map(|(index, point)| (place(index), pick(point))).collect()
    };
    let axis: Value = if let Some(numbers) = &numbers {
        json!({ "type": axis_kind(numbers), "name": own.factor, "scale": true })
    } else {
        let names: Vec<String> = own.points.iter().map(|point| point.level.to_string()).collect();
        json!({ "type": "category", "name": own.factor, "data": names })
    };
    let mut series = Vec::new();
    for (name, values, index) in [
        ("expected", line(|point| point.mean), 0),
        ("low", line(|point| point.low), 2),
        ("high", line(|point| point.high), 2),
    ] {
        let data: Vec<Value> = values
            .iter()
            .map(|(x, y)| match &numbers {
                Some(_) => json!([for_chart(*x), for_chart(*y)]),
                None => json!(for_chart(*y)),
            })
            .collect();
        let dash = if index == 0 { "solid" } else { "dashed" };
        series.push(json!({
            "type": "line", "name": name, "data": data, "showSymbol": numbers.is_none(),
            "color": format!("$s{index}"), "lineStyle": { "type": dash },
        }));
    }
    Some(Chart {
        option: json!({
            "title": title(&format!("{objective} along {}", own.factor)),
            "tips": { "x": own.factor, "y": objective },
            "legend": { "top": 20 },
            "grid": { "top": 48 },
            "xAxis": axis,
            "yAxis": value_axis(objective),
            "series": series,
        }),
        summary: format!(
            "{objective} expected from {} {} ({}) to {} ({}).",
            own.factor,
            first.level,
            figure(first.mean),
            last.level,
            figure(last.mean)
        ),
        height: 280,
    })
}

/// Lines of equal objective over two numeric factors; none where a factor has categories, or the
/// surface is flat.
pub(crate) fn search_contour(objective: &str, own: &Contour) -> Option<Chart> {
    let numbers = |levels: &[Level]| -> Option<Vec<f64>> {
        levels.iter().map(Level::number).collect::<Option<_>>()
    };
    let (x, y) = (numbers(&own.across_levels)?, numbers(&own.up_levels)?);
    let (series, [lowest, highest]) = height_lines(&Grid { x: &x, y: &y, heights: &own.means })?;
    let axis = |name: &str, all: &[f64]| {
        let [from, to] = [all[0], all[all.len() - 1]].map(for_chart);
        json!({ "type": axis_kind(all), "name": name, "min": from, "max": to })
    };
    Some(Chart {
        option: json!({
            "title": title(&format!("{objective} by {} and {}", own.across, own.up)),
            "legend": { "top": 24, "left": 0 },
            "grid": { "top": 70 },
            "xAxis": axis(&own.across, &x),
            "yAxis": axis(&own.up, &y),
            "series": series,
        }),
        summary: format!(
            "Lines of equal {objective} over {} and {}, from {} to {}.",
            own.across,
            own.up,
            figure(lowest),
            figure(highest)
        ),
        height: 360,
    })
}

/// The axis of ascending numbers: a range of more than two orders of magnitude was surely searched
/// by ratio.
fn axis_kind(numbers: &[f64]) -> &'static str {
    let (low, high) = (numbers[0], numbers[numbers.len() - 1]);
    if low > 0.0 && high / low > 100.0 { "log" } else { "value" }
}
