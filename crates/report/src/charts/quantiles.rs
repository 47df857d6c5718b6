//! Residuals against normal quantiles.

use serde_json::{Value, json};
use trainwright_analysis::Analysis;

use super::residuals::shown;
use super::{Chart, title, value_axis};
use crate::figure::for_chart;

/// Standardised residuals against normal quantiles; raw ones where there is no spread to divide by.
pub(crate) fn quantiles(analysis: &Analysis) -> Chart {
    let standardised = analysis.residuals.iter().all(|own| own.standardised.is_some());
    let name = if standardised { "standardised residual" } else { "residual" };
    let points: Vec<(f64, f64, &str)> = shown(analysis)
        .map(|own| {
            let value = own.standardised.filter(|_| standardised).unwrap_or(own.residual);
            (own.normal_quantile, value, own.label.as_str())
        })
        .collect();
    let data: Vec<Value> =
        points.iter().map(|(x, y, label)| json!([for_chart(*x), for_chart(*y), label])).collect();
    let mut series = vec![json!({
        "type": "scatter", "data": data, "symbolSize": 6,
        "itemStyle": { "color": "$accent", "opacity": 0.75 },
    })];
    if standardised {
        let reach = points.iter().map(|(x, ..)| x.abs()).fold(0.0, f64::max);
        let reach = for_chart(reach);
        series.push(json!({
            "type": "line", "data": [[-reach, -reach], [reach, reach]], "symbol": "none",
            "silent": true, "lineStyle": { "color": "$muted", "width": 1, "type": "dashed" },
        }));
    }
    Chart {
        option: json!({
            "title": title("Normal quantiles (Q-Q)"),
            "tips": { "x": "normal quantile", "y": name },
            "grid": { "top": 30 },
            "xAxis": value_axis("normal quantile"),
            "yAxis": value_axis(name),
            "series": series,
        }),
        summary: format!(
            "{} residuals against normal quantiles; points on the diagonal are normal.",
            points.len()
        ),
        height: 300,
    }
}
