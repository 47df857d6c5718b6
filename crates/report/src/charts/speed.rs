//! Speed of reading against one parameter.

use serde_json::{Value, json};
use trainwright_analysis::wording::count;

use super::{Chart, range, title, value_axis};
use crate::figure::for_chart;
use crate::html::SpeedSeries;

/// Steps of a fitted curve.
const CURVE_STEPS: usize = 40;

/// Readings of one source as points and the fitted curve through them.
pub(crate) fn speed(parameter: &str, own: &SpeedSeries) -> Chart {
    let heading = format!("{} against {parameter}", own.name);
    let points: Vec<Value> =
        own.points.iter().map(|&(x, y)| json!([for_chart(x), for_chart(y), ""])).collect();
    let (low, high) = range(own.points.iter().map(|(x, _)| *x));
    let at = |step: usize| low + (high - low) * step as f64 / CURVE_STEPS as f64;
    let curve: Vec<Value> = (0..=CURVE_STEPS)
        .filter(|_| !own.curve.is_empty())
        .map(|step| json!([for_chart(at(step)), for_chart(power_series(&own.curve, at(step)))]))
        .collect();
    Chart {
        option: json!({
            "title": title(&heading),
            "tips": { "x": parameter, "y": "images/s" },
            "grid": { "top": 30 },
            "xAxis": value_axis(parameter),
            "yAxis": value_axis("images/s"),
            "series": [
                {
                    "type": "scatter", "data": points, "symbolSize": 6,
                    "itemStyle": { "color": "$accent", "opacity": 0.75 },
                },
                {
                    "type": "line", "data": curve, "symbol": "none", "silent": true,
                    "lineStyle": { "color": "$muted" },
                },
            ],
        }),
        summary: format!("{heading}: {} and the fitted curve.", count(own.points.len(), "reading")),
        height: 280,
    }
}

/// Horner's rule; coefficients from the power 0 up.
fn power_series(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(points: Vec<(f64, f64)>, curve: Vec<f64>) -> Chart {
        speed("threads", &SpeedSeries { name: "shards", points, curve })
    }

    #[test]
    fn the_curve_reaches_a_little_beyond_the_readings() {
        // 3 + 2 x over 1 to 6, with 6 % of the span on either side.
        let chart = drawn(vec![(1.0, 5.0), (6.0, 14.0)], vec![3.0, 2.0]);
        let curve = chart.option["series"][1]["data"].as_array().unwrap();
        assert_eq!(curve.len(), CURVE_STEPS + 1);
        assert_eq!(curve[0], json!([0.7, 4.4]));
        assert_eq!(curve[CURVE_STEPS], json!([6.3, 15.6]));
        assert_eq!(chart.option["series"][0]["data"][1], json!([6.0, 14.0, ""]));
        assert_eq!(chart.summary, "shards against threads: 2 readings and the fitted curve.");
    }

    #[test]
    fn readings_without_a_fit_have_no_curve() {
        let chart = drawn(vec![(2.0, 5.0)], vec![]);
        assert_eq!(chart.option["series"][1]["data"], json!([]));
        assert!(chart.summary.starts_with("shards against threads: 1 reading and"));
    }

    #[test]
    fn a_curve_follows_its_coefficients() {
        assert_eq!(power_series(&[1.0, 2.0, 3.0], 2.0), 17.0);
        assert_eq!(power_series(&[], 2.0), 0.0);
    }
}
