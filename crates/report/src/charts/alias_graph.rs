//! Which effects a fraction cannot tell apart, as a graph.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use serde_json::{Value, json};
use trainwright_analysis::wording::count;
use trainwright_design::{Design, TwoLevelFraction};

use super::Chart;
use crate::figure::for_chart;

/// Effects that can be labelled around a circle.
const MOST_EFFECTS: usize = 66;

/// Main effects and two-factor interactions around a circle, a line between any two that are
/// aliased with each other. None where all are clear of each other, or too many.
pub(crate) fn alias_graph(design: &Design, fraction: &TwoLevelFraction) -> Option<Chart> {
    let effects: Vec<&str> = fraction.aliases().iter().map(|(own, _)| own.as_str()).collect();
    let edges = edges(fraction);
    if edges.is_empty() || effects.len() > MOST_EFFECTS {
        return None;
    }
    let at = |place: usize| {
        let turn = TAU * place as f64 / effects.len() as f64;
        [turn.sin(), turn.cos()].map(for_chart)
    };
    let lines: Vec<Value> = edges
        .iter()
        .flat_map(|&(a, b)| {
            // A missing value lifts the pen between one line and the next.
            [json!(at(a)), json!(at(b)), json!([null, null])]
        })
        .collect();
    let dots = |wanted: fn(usize) -> bool| -> Value {
        let placed = effects.iter().enumerate().filter(|(_, own)| wanted(own.len()));
        placed
            .map(|(place, own)| {
                let name = design.name_effect(own).unwrap_or_default();
                let others: Vec<&str> = edges
                    .iter()
                    .filter(|edge| edge.0 == place || edge.1 == place)
                    .map(|edge| effects[if edge.0 == place { edge.1 } else { edge.0 }])
                    .collect();
                let told = if others.is_empty() {
                    "clear of all effects shown".to_owned()
                } else {
                    format!("aliased with {}", others.join(", "))
                };
                // Labels point outwards.
                let [x, _] = at(place);
                let side = if x.abs() < 0.2 {
                    "top"
                } else if x > 0.0 {
                    "right"
                } else {
                    "left"
                };
                json!({
                    "value": at(place), "name": own, "tip": format!("{own} {name}\n{told}"),
                    "label": { "position": side },
                })
            })
            .collect()
    };
    let circle = |name: &str, data: Value, colour: &str, size: u32| {
        json!({
            "type": "scatter", "name": name, "data": data, "symbolSize": size,
            "label": { "show": true, "formatter": "{b}" }, "itemStyle": { "color": colour },
        })
    };
    let axis = json!({ "type": "value", "show": false, "min": -1.25, "max": 1.25 });
    Some(Chart {
        option: json!({
            "legend": { "top": 4 },
            "grid": { "top": 30 },
            "xAxis": axis,
            "yAxis": axis,
            "series": [
                {
                    "type": "line", "data": lines, "symbol": "none", "silent": true,
                    "lineStyle": { "color": "$s1", "width": 1.2, "opacity": 0.6 },
                },
                circle("main effect", dots(|letters| letters == 1), "$accent", 11),
                circle("two-factor interaction", dots(|letters| letters == 2), "$muted", 8),
            ],
        }),
        summary: format!(
            "{} around a circle; {} between those that cannot be told apart.",
            count(effects.len(), "effect"),
            count(edges.len(), "line")
        ),
        height: 420,
    })
}

/// Pairs of listed effects that are aliases of each other, by place.
fn edges(fraction: &TwoLevelFraction) -> Vec<(usize, usize)> {
    let places: BTreeMap<&str, usize> =
        fraction.aliases().iter().enumerate().map(|(at, (own, _))| (own.as_str(), at)).collect();
    let mut edges = Vec::new();
    for (a, (_, aliases)) in fraction.aliases().iter().enumerate() {
        for alias in aliases {
            // A sign only turns the effect around.
            let other = places.get(alias.trim_start_matches('-'));
            edges.extend(other.filter(|&&b| b > a).map(|&b| (a, b)));
        }
    }
    edges
}
