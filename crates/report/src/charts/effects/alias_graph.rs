//! Which effects a fraction cannot tell apart, as a graph.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use serde_json::{Value, json};
use trainwright_analysis::wording::count;
use trainwright_design::{Design, TwoLevelFraction};

use crate::charts::Chart;
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
    let around = Circle { effects: &effects, edges: &edges };
    let lines: Vec<Value> = edges
        .iter()
        .flat_map(|&(a, b)| {
            // A missing value lifts the pen between one line and the next.
            [json!(around.at(a)), json!(around.at(b)), json!([null, null])]
        })
        .collect();
    let dots = |wanted: fn(usize) -> bool| -> Value {
        let placed = effects.iter().enumerate().filter(|(_, own)| wanted(own.len()));
        let name = |own: &str| design.name_effect(own).unwrap_or_default();
        placed.map(|(place, own)| around.dot(place, &name(own))).collect()
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

/// Effects around a circle, by place, and the pairs that are aliased.
struct Circle<'a> {
    effects: &'a [&'a str],
    edges: &'a [(usize, usize)],
}

impl Circle<'_> {
    fn at(&self, place: usize) -> [f64; 2] {
        let turn = TAU * place as f64 / self.effects.len() as f64;
        [turn.sin(), turn.cos()].map(for_chart)
    }

    /// The point of an effect; `name` is that of its factors.
    fn dot(&self, place: usize, name: &str) -> Value {
        let own = self.effects[place];
        json!({
            "value": self.at(place), "name": own,
            "tip": format!("{own} {name}\n{}", self.told(place)),
            "label": { "position": self.side(place) },
        })
    }

    /// What an effect is aliased with, in words.
    fn told(&self, place: usize) -> String {
        let others: Vec<&str> = self
            .edges
            .iter()
            .filter(|edge| edge.0 == place || edge.1 == place)
            .map(|edge| self.effects[if edge.0 == place { edge.1 } else { edge.0 }])
            .collect();
        if others.is_empty() {
            "clear of all effects shown".to_owned()
        } else {
            format!("aliased with {}", others.join(", "))
        }
    }

    /// Labels point outwards.
    fn side(&self, place: usize) -> &'static str {
        match self.at(place)[0] {
            x if x.abs() < 0.2 => "top",
            x if x > 0.0 => "right",
            _ => "left",
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::SmallStudy;

    /// Factors `a`, `b` and so on with two levels each, in so many runs.
    fn fractional(factors: usize, runs: usize) -> Design {
        let names = &["c", "d", "e", "f"][..factors - 2];
        let more: String =
            names.iter().map(|own| format!("[factors.{own}]\nlevels = [1, 2]\n")).collect();
        let words: String = names.iter().map(|own| format!(", \"{{{own}}}\"")).collect();
        let from = "[design]\ntype = \"full\"\nreplications = 2\n\
                    [run]\ncommand = [\"run\", \"{a}\", \"{b}\"]\n";
        let to = format!(
            "{more}[design]\ntype = \"fractional\"\nruns = {runs}\n\
             [run]\ncommand = [\"run\", \"{{a}}\", \"{{b}}\"{words}]\n"
        );
        SmallStudy::with(from, &to).design
    }

    #[test]
    fn a_half_of_three_factors_joins_each_factor_with_the_product_of_the_others() {
        // I = ABC, so A = BC, B = AC and C = AB (Box, Hunter and Hunter, chapter 6).
        let design = fractional(3, 4);
        let fraction = design.fraction().unwrap();
        assert_eq!(edges(fraction), [(0, 5), (1, 4), (2, 3)]);
        let chart = alias_graph(&design, fraction).unwrap();
        assert_eq!(
            chart.summary,
            "6 effects around a circle; 3 lines between those that cannot be told apart."
        );
        let series = &chart.option["series"];
        assert_eq!(series[0]["data"].as_array().unwrap().len(), 9, "two ends and a gap each");
        assert_eq!(series[0]["data"][2], json!([null, null]));
        let main = &series[1]["data"];
        assert_eq!(main[0]["tip"], "A a\naliased with BC");
        assert_eq!(main[0]["value"], json!([0.0, 1.0]), "the first effect stands on top");
        assert_eq!(series[2]["data"][0]["tip"], "AB a:b\naliased with C");
    }

    #[test]
    fn labels_point_away_from_the_circle() {
        let effects = ["A", "B", "C", "D"];
        let around = Circle { effects: &effects, edges: &[(0, 2)] };
        assert_eq!([0, 1, 2, 3].map(|at| around.side(at)), ["top", "right", "top", "left"]);
        assert_eq!(around.told(0), "aliased with C");
        assert_eq!(around.told(2), "aliased with A");
        assert_eq!(around.told(3), "clear of all effects shown");
    }

    #[test]
    fn there_is_no_graph_where_short_effects_are_clear_of_each_other() {
        // Resolution V: five factors in 16 runs.
        let design = fractional(5, 16);
        assert!(alias_graph(&design, design.fraction().unwrap()).is_none());
    }
}
