//! Charts as ECharts options, one file a chart: what factors do in `effects`, what happened when in
//! `over_time`.
//!
//! An option is data: `assets/report.js` replaces colour names such as `$accent` by those of the
//! reader's theme, adds tooltips from the key `tips` and draws. `$s0` to `$s7` are the series
//! colours.

mod cloud;
mod compared_values;
mod contours;
mod effects;
mod front;
mod histogram;
mod labels;
mod load;
mod over_time;
mod parallel;
mod power_curve;
mod power_profile;
mod quantiles;
mod residuals;
mod response_curve;
mod search;
mod speed;
mod study_means;

use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::escape::{escape, script_json};
use crate::figure::for_chart;

pub(crate) use cloud::near_optimum;
pub(crate) use compared_values::compared_values;
pub(crate) use contours::contours;
pub(crate) use effects::{
    MOST_BARS, MOST_PAIRS, alias_graph, half_normal, interaction, level_differences, main_effect,
    pareto,
};
pub(crate) use front::front;
pub(crate) use histogram::histogram;
pub(crate) use load::{jobs_in_system, load_curve, response_of_jobs};
#[cfg(test)]
pub(crate) use over_time::cluster_task;
pub(crate) use over_time::{
    channel, channels, executors, learning_curve, named_timeline, rank_times, timeline, timelines,
    verdict_history,
};
pub(crate) use parallel::parallel;
pub(crate) use power_curve::power_curve;
pub(crate) use power_profile::power_profile;
pub(crate) use quantiles::quantiles;
pub(crate) use residuals::{MOST_POINTS, against_fitted, against_order};
pub(crate) use response_curve::{response_by_servers, response_curve};
pub(crate) use search::{search_contour, search_slice, search_trace};
pub(crate) use speed::speed;
pub(crate) use study_means::study_means;

/// Colours of series; `report.css` gives them their values.
const SERIES_COLOURS: usize = 8;

/// A chart and what it says.
#[derive(Debug, Clone)]
pub(crate) struct Chart {
    /// What is drawn.
    pub(crate) option: Value,
    /// One sentence for those who cannot see it.
    pub(crate) summary: String,
    /// Height in CSS pixels.
    pub(crate) height: usize,
}

/// The charts of a report and the data that its script reads.
#[derive(Debug, Default)]
pub(crate) struct Charts {
    options: Map<String, Value>,
    resources: Vec<Value>,
}

impl Charts {
    /// Registers a chart and gives its place in the page.
    pub(crate) fn place(&mut self, id: &str, chart: Chart) -> String {
        let Chart { option, summary, height } = chart;
        self.options.insert(id.to_owned(), option);
        let (id, summary) = (escape(id), escape(&summary));
        format!(
            "<div class=\"chart\" id=\"{id}\" data-chart data-height=\"{height}\" role=\"img\" \
             aria-label=\"{summary}\"></div>\n"
        )
    }

    /// Registers the timelines of one trial.
    pub(crate) fn add_resources(&mut self, trial: Value) {
        self.resources.push(trial);
    }

    /// The data block.
    pub(crate) fn script(&self) -> String {
        let data = json!({ "charts": self.options, "resources": self.resources });
        let mut out = String::new();
        let _ = writeln!(
            out,
            "<script type=\"application/json\" id=\"report-data\">{}</script>",
            script_json(&data)
        );
        out
    }
}

/// The series colour of an index, starting again after the last.
fn series_colour(index: usize) -> String {
    format!("$s{}", index % SERIES_COLOURS)
}

/// Line styles tell apart series of the same colour.
fn dash(index: usize) -> &'static str {
    ["solid", "dashed", "dotted"][index / SERIES_COLOURS % 3]
}

/// An axis of numbers that need not start at zero.
fn value_axis(name: &str) -> Value {
    json!({ "type": "value", "name": name, "scale": true })
}

/// An axis with the same ends in several charts.
fn shared_axis(low: f64, high: f64) -> Value {
    let hidden = json!({ "showMinLabel": false, "showMaxLabel": false });
    json!({ "type": "value", "min": for_chart(low), "max": for_chart(high), "axisLabel": hidden })
}

/// Smallest and largest of some values, with a margin.
fn range(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let low = values.clone().reduce(f64::min).unwrap_or(0.0);
    let high = values.reduce(f64::max).unwrap_or(1.0);
    let margin = if high > low { 0.06 * (high - low) } else { 0.5 * high.abs().max(1.0) };
    (low - margin, high + margin)
}

/// Steps across a line's span to which its points are rounded; charts have fewer pixels.
const PACKED_STEPS: f64 = 2_000.0;

/// Points of a line as whole steps from its lowest values: half the room of decimal numbers.
/// The script unpacks them.
fn packed(line: &[(f64, f64)]) -> Value {
    let span = |pick: fn(&(f64, f64)) -> f64| {
        let low = line.iter().map(pick).fold(f64::INFINITY, f64::min);
        let high = line.iter().map(pick).fold(f64::NEG_INFINITY, f64::max);
        if high > low { (low, (high - low) / PACKED_STEPS) } else { (low, 1.0) }
    };
    if line.is_empty() {
        return json!({ "from": [0, 0], "step": [1, 1], "at": [] });
    }
    let ((x, x_step), (y, y_step)) = (span(|point| point.0), span(|point| point.1));
    let at: Vec<i64> = line
        .iter()
        .flat_map(|point| [(point.0 - x) / x_step, (point.1 - y) / y_step])
        .map(|steps| steps.round() as i64)
        .collect();
    json!({
        "from": [for_chart(x), for_chart(y)], "step": [for_chart(x_step), for_chart(y_step)],
        "at": at,
    })
}

/// A panel's heading.
fn title(text: &str) -> Value {
    json!({ "text": labels::shortened(text, labels::HEADING) })
}

/// A metric's name with its unit, for an axis.
pub fn with_unit(name: &str, unit: Option<&str>) -> String {
    match unit {
        Some(unit) => format!("{name} ({unit})"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check_range(values: &[f64], low: f64, high: f64) {
        let (from, to) = range(values.iter().copied());
        assert!(
            (from - low).abs() < 1e-12 && (to - high).abs() < 1e-12,
            "{values:?}: {from}, {to}"
        );
    }

    #[test]
    fn an_axis_leaves_a_margin_even_around_one_value() {
        check_range(&[2.0, 7.0, 4.0], 1.7, 7.3);
        check_range(&[-8.0, -8.0], -12.0, -4.0);
        check_range(&[0.25], -0.25, 0.75);
        check_range(&[0.0], -0.5, 0.5);
        // Nothing to show still needs an axis with two different ends.
        check_range(&[], -0.06, 1.06);
    }

    #[test]
    fn a_level_line_and_a_single_point_are_packed_without_dividing_by_zero() {
        let level = packed(&[(0.0, 5.0), (10.0, 5.0)]);
        assert_eq!(level["from"], json!([0.0, 5.0]));
        assert_eq!(level["step"], json!([0.005, 1.0]));
        assert_eq!(level["at"], json!([0, 0, 2000, 0]));
        assert_eq!(packed(&[(3.0, -2.0)])["at"], json!([0, 0]));
        assert_eq!(packed(&[])["at"], json!([]));
    }

    #[test]
    fn colour_and_dash_tell_two_dozen_series_apart() {
        let looks: std::collections::BTreeSet<(String, &str)> =
            (0..24).map(|index| (series_colour(index), dash(index))).collect();
        assert_eq!(looks.len(), 24);
        assert_eq!((series_colour(24), dash(24)), (series_colour(0), dash(0)));
    }

    #[test]
    fn words_of_a_chart_cannot_leave_their_attribute_or_script() {
        let mut charts = Charts::default();
        let option = json!({ "title": "</script><script>alert(1)" });
        let summary = "\"onload=x <&'".to_owned();
        let place = charts.place("a\"b", Chart { option, summary, height: 7 });
        assert!(place.contains("id=\"a&quot;b\" data-chart"), "{place}");
        assert!(place.contains("aria-label=\"&quot;onload=x &lt;&amp;&#39;\">"), "{place}");
        assert!(place.contains("data-height=\"7\""), "{place}");
        let script = charts.script();
        assert_eq!(script.matches("</script>").count(), 1, "{script}");
        let data = script.split_once('>').unwrap().1.rsplit_once("</script>").unwrap().0;
        let data: Value = serde_json::from_str(data).unwrap();
        assert_eq!(data["charts"]["a\"b"]["title"], "</script><script>alert(1)");
        assert_eq!(data["resources"], json!([]));
    }

    #[test]
    fn a_unit_stands_in_brackets_where_there_is_one() {
        assert_eq!(with_unit("time", Some("s")), "time (s)");
        assert_eq!(with_unit("loss", None), "loss");
    }

    proptest! {
        #[test]
        fn packed_points_read_back_within_a_step(
            line in prop::collection::vec((0f64..1e4, -1e3f64..1e3), 1..50),
        ) {
            let packed = packed(&line);
            let number = |key: &str, axis: usize| packed[key][axis].as_f64().unwrap();
            for axis in 0..2 {
                let own = |index: usize| if axis == 0 { line[index].0 } else { line[index].1 };
                // Half a step of rounding, and six digits of the origin and the step.
                let allowed = 0.6 * number("step", axis) + 2e-5 * number("from", axis).abs();
                for index in 0..line.len() {
                    let steps = packed["at"][2 * index + axis].as_f64().unwrap();
                    let back = number("from", axis) + number("step", axis) * steps;
                    prop_assert!((back - own(index)).abs() <= allowed, "{back}");
                }
            }
        }
    }
}
