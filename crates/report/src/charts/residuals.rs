//! Residuals against what they should not depend on.

use serde_json::{Value, json};
use trainwright_analysis::{Analysis, Residual};

use super::{Chart, title, value_axis};
use crate::figure::for_chart;
use crate::thin::sample;

/// Points a residual chart shows; in larger studies the largest residuals and a sample of the rest.
pub(crate) const MOST_POINTS: usize = 1_500;

/// Residuals against fitted values.
pub(crate) fn against_fitted(analysis: &Analysis) -> Chart {
    let x_name = format!("fitted {}", analysis.response);
    chart(analysis, "Residuals against fitted values", &x_name, |own| for_chart(own.fitted))
}

/// Residuals in the order of the observations: as trials ran, or as rows stand.
pub(crate) fn against_order(analysis: &Analysis) -> Chart {
    chart(analysis, "Residuals in order", "place in the order", |own| own.order as f64)
}

/// The residuals that charts show.
pub(super) fn shown(analysis: &Analysis) -> impl Iterator<Item = &Residual> {
    let weights: Vec<f64> = analysis.residuals.iter().map(|own| own.residual.abs()).collect();
    sample(&weights, MOST_POINTS).into_iter().map(|index| &analysis.residuals[index])
}

fn chart(analysis: &Analysis, heading: &str, x_name: &str, x: impl Fn(&Residual) -> f64) -> Chart {
    let data: Vec<Value> =
        shown(analysis).map(|own| json!([x(own), for_chart(own.residual), own.label])).collect();
    Chart {
        option: json!({
            "title": title(heading),
            "tips": { "x": x_name, "y": "residual" },
            "grid": { "top": 30 },
            "xAxis": value_axis(x_name),
            "yAxis": { "type": "value", "name": "residual" },
            "series": [{
                "type": "scatter", "data": data, "symbolSize": 6,
                "itemStyle": { "color": "$accent", "opacity": 0.75 },
                "markLine": {
                    "symbol": "none", "silent": true, "label": { "show": false },
                    "lineStyle": { "color": "$muted", "type": "dashed" }, "data": [{ "yAxis": 0 }],
                },
            }],
        }),
        summary: format!("{heading}: {} points about zero.", data.len()),
        height: 300,
    }
}
