//! How many searches are near the optimum after how many runs.

use serde_json::{Value, json};

use super::{Chart, dash, series_colour, title};
use crate::figure::for_chart;
use crate::html::CloudCurve;

/// One line a method: the share of its replays within 5 % of the optimum.
pub(crate) fn near_optimum(curves: &[CloudCurve<'_>]) -> Chart {
    let series: Vec<Value> = curves
        .iter()
        .enumerate()
        .map(|(index, own)| {
            let point = |(x, y): &(f64, f64)| json!([for_chart(*x), for_chart(*y)]);
            let points: Vec<Value> = own.points.iter().map(point).collect();
            json!({
                "type": "line", "name": own.name, "step": "end", "symbol": "none",
                "data": points,
                "itemStyle": { "color": series_colour(index) },
                "lineStyle": { "color": series_colour(index), "type": dash(index) },
            })
        })
        .collect();
    let names: Vec<&str> = curves.iter().map(|own| own.name).collect();
    Chart {
        option: json!({
            "title": title("Replays within 5 % of the optimum"),
            "tips": { "x": "runs", "y": "%" },
            "legend": { "top": 20 },
            "grid": { "top": 64 },
            "xAxis": { "type": "value", "name": "runs", "min": 0 },
            "yAxis": { "type": "value", "name": "%", "min": 0, "max": 100 },
            "series": series,
        }),
        summary: format!("Share of replays near the optimum against runs: {}.", names.join(", ")),
        height: 380,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_a_line() {
        let curve = |name| CloudCurve { name, points: vec![(0.0, 0.0), (1.0, 50.0), (2.0, 100.0)] };
        let chart = near_optimum(&[curve("default"), curve("scout")]);
        assert_eq!(chart.option["series"].as_array().unwrap().len(), 2);
        assert_eq!(chart.option["series"][1]["name"], "scout");
        assert!(chart.summary.ends_with(": default, scout."));
    }
}
