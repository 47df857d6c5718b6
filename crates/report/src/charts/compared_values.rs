//! The values of chosen configurations, a row each.

use serde_json::{Value, json};

use super::labels::{BESIDE_A_BAR, settings_labels};
use super::{Chart, value_axis};
use crate::figure::{figure, for_chart};
use crate::html::ComparedConfiguration;

/// Every value as a point, and the mean of each configuration as a bar across.
pub(crate) fn compared_values(response: &str, shown: &[ComparedConfiguration]) -> Chart {
    let names: Vec<&str> = shown.iter().map(|own| own.name.as_str()).collect();
    let settings: Vec<_> = shown.iter().map(|own| own.settings.clone()).collect();
    let point = |place: usize, value: f64, of: &str| {
        let tip = format!("{of}{}\n{response} {}", names[place], figure(value));
        json!({ "value": [for_chart(value), place], "tip": tip })
    };
    let points: Vec<Value> = shown
        .iter()
        .enumerate()
        .flat_map(|(place, own)| own.values.iter().map(move |value| (place, *value)))
        .map(|(place, value)| point(place, value, ""))
        .collect();
    let means: Vec<Value> = shown
        .iter()
        .enumerate()
        .map(|(place, own)| {
            let mean = own.values.iter().sum::<f64>() / own.values.len().max(1) as f64;
            point(place, mean, "mean of ")
        })
        .collect();
    Chart {
        option: json!({
            "legend": { "top": 0 },
            "grid": { "top": 28 },
            "xAxis": value_axis(response),
            "yAxis": {
                "type": "category", "data": settings_labels(&settings, BESIDE_A_BAR), "inverse": true,
                "axisLabel": { "interval": 0 },
            },
            "series": [
                {
                    "type": "scatter", "name": "trials", "symbolSize": 8, "data": points,
                    "itemStyle": { "color": "$s0", "opacity": 0.7 },
                },
                {
                    "type": "scatter", "name": "mean", "symbol": "rect", "symbolSize": [3, 22],
                    "data": means, "itemStyle": { "color": "$s1" }, "z": 5,
                },
            ],
        }),
        summary: format!(
            "{response} of every finished trial of {} configurations, with the mean of each.",
            shown.len()
        ),
        height: 92 + 34 * shown.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_with_long_names_are_told_apart() {
        let own = |lr: &str| ComparedConfiguration {
            name: format!("learning_rate_of_the_second_stage={lr} batch=16"),
            settings: [("learning_rate_of_the_second_stage", lr), ("batch", "16")]
                .map(|(name, level)| (name.to_owned(), level.to_owned()))
                .to_vec(),
            values: vec![1.0, 3.0],
        };
        let chart = compared_values("loss", &[own("0.1"), own("0.01")]);
        let names = chart.option["yAxis"]["data"].as_array().unwrap();
        assert_ne!(names[0], names[1]);
        let mean = &chart.option["series"][1]["data"][1];
        assert_eq!(mean["value"], json!([2.0, 1]));
        assert_eq!(mean["tip"], "mean of learning_rate_of_the_second_stage=0.01 batch=16\nloss 2");
    }
}
