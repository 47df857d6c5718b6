//! The Pareto front of a search with several objectives.

use serde_json::{Value, json};

use super::{Chart, title, value_axis};
use crate::figure::for_chart;
use crate::html::FrontPoint;

/// What was measured of two objectives, with the configurations that no other one beats.
pub(crate) fn front(objectives: &[String], points: &[FrontPoint]) -> Option<Chart> {
    let [x, y, ..] = objectives else { return None };
    let of = |wanted: bool| -> Vec<Value> {
        points
            .iter()
            .filter(|own| own.on_front == wanted)
            .map(|own| {
                let tip = format!("trial {}: {}", own.trial, own.configuration);
                json!({ "value": [for_chart(own.values[0]), for_chart(own.values[1])], "tip": tip })
            })
            .collect()
    };
    let (on, off) = (of(true), of(false));
    if on.is_empty() {
        return None;
    }
    let number = on.len();
    let scatter = |name: &str, colour: &str, size: u32, data: Vec<Value>| {
        json!({
            "type": "scatter", "name": name, "symbolSize": size, "data": data,
            "itemStyle": { "color": colour },
        })
    };
    Some(Chart {
        option: json!({
            "title": title("What no other configuration beats"),
            "tips": { "x": x, "y": y },
            "legend": { "top": 20 },
            "grid": { "top": 48 },
            "xAxis": value_axis(x),
            "yAxis": value_axis(y),
            "series": [scatter("beaten", "$muted", 6, off), scatter("on the front", "$s1", 10, on)],
        }),
        summary: format!(
            "{x} against {y} of every configuration measured; {number} of them are beaten by no \
             other one."
        ),
        height: 340,
    })
}
