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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::analysis;

    #[test]
    fn residuals_stand_over_their_fitted_value_and_their_place() {
        let own = analysis(vec![]);
        // Means of two: 10 at a = 1 and 16 at a = 2, whatever b is.
        let fitted = against_fitted(&own);
        assert_eq!(fitted.option["xAxis"]["name"], "fitted y");
        let point = &fitted.option["series"][0]["data"][5];
        assert!((point[0].as_f64().unwrap() - 16.0).abs() < 1e-4, "{point}");
        assert!((point[1].as_f64().unwrap() + 0.1).abs() < 1e-5, "{point}");
        let order = against_order(&own);
        let places: Vec<f64> =
            (0..8).map(|at| order.option["series"][0]["data"][at][0].as_f64().unwrap()).collect();
        assert_eq!(places, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        assert_eq!(order.summary, "Residuals in order: 8 points about zero.");
    }

    #[test]
    fn of_very_many_residuals_the_largest_are_never_left_out() {
        let mut own = analysis(vec![]);
        let one = own.residuals[0].clone();
        let size = |at: usize| if at % 97 == 5 { -50.0 } else { 0.01 };
        own.residuals =
            (0..20_000).map(|at| Residual { residual: size(at), ..one.clone() }).collect();
        let kept: Vec<f64> = shown(&own).map(|own| own.residual).collect();
        assert_eq!(kept.len(), MOST_POINTS);
        let outside = own.residuals.iter().filter(|own| own.residual == -50.0).count();
        assert_eq!(kept.iter().filter(|own| **own == -50.0).count(), outside);
    }
}
