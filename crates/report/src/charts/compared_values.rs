//! The values of chosen configurations, a column each.

use serde_json::{Value, json};

use super::{Chart, value_axis};
use crate::figure::for_chart;
use crate::html::ComparedConfiguration;

/// Every value as a point, and the mean of each configuration as a bar across.
pub(crate) fn compared_values(response: &str, shown: &[ComparedConfiguration]) -> Chart {
    let names: Vec<&str> = shown.iter().map(|own| own.name.as_str()).collect();
    let points: Vec<Value> = shown
        .iter()
        .enumerate()
        .flat_map(|(place, own)| own.values.iter().map(move |value| (place, own, value)))
        .map(|(place, own, value)| json!([place, for_chart(*value), own.name]))
        .collect();
    let means: Vec<Value> = shown
        .iter()
        .enumerate()
        .map(|(place, own)| {
            let mean = own.values.iter().sum::<f64>() / own.values.len().max(1) as f64;
            json!([place, for_chart(mean), format!("mean of {}", own.name)])
        })
        .collect();
    Chart {
        option: json!({
            "tips": { "x": "configuration", "y": response },
            "legend": { "top": 0 },
            "grid": { "top": 28 },
            "xAxis": { "type": "category", "data": names, "axisLabel": { "width": 140, "overflow": "truncate" } },
            "yAxis": value_axis(response),
            "series": [
                {
                    "type": "scatter", "name": "trials", "symbolSize": 8, "data": points,
                    "itemStyle": { "color": "$s0", "opacity": 0.7 },
                },
                {
                    "type": "scatter", "name": "mean", "symbol": "rect", "symbolSize": [44, 3],
                    "data": means, "itemStyle": { "color": "$s1" }, "z": 5,
                },
            ],
        }),
        summary: format!(
            "{response} of every finished trial of {} configurations, with the mean of each.",
            shown.len()
        ),
        height: 340,
    }
}
