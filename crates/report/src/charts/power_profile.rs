//! How likely each power of the response is.

use serde_json::{Value, json};
use trainwright_analysis::BoxCoxSummary;

use super::{Chart, title, value_axis};
use crate::figure::{figure, for_chart};

/// The Box-Cox profile with its interval and the powers that people use.
pub(crate) fn power_profile(response: &str, found: &BoxCoxSummary) -> Option<Chart> {
    let first = found.profile.first()?;
    let (mut low, mut high) = (first.log_likelihood, first.log_likelihood);
    for own in &found.profile {
        (low, high) = (low.min(own.log_likelihood), high.max(own.log_likelihood));
    }
    let points: Vec<[f64; 2]> = found
        .profile
        .iter()
        .map(|own| [for_chart(own.lambda), for_chart(own.log_likelihood - high)])
        .collect();
    let inside = |power: f64| {
        let ends = [points[0][0], points[points.len() - 1][0]];
        power > ends[0] && power < ends[1]
    };
    let mut marks: Vec<Value> =
        [found.low, found.high].into_iter().flatten().map(|end| mark(end, "", "$muted")).collect();
    let named = [(-1.0, "1/y"), (0.0, "log"), (0.5, "root"), (1.0, "as is"), (2.0, "square")];
    marks
        .extend(named.into_iter().filter(|own| inside(own.0)).map(|own| mark(own.0, own.1, "$s1")));
    Some(Chart {
        option: json!({
            "title": title("Likelihood of each power (Box-Cox)"),
            "tips": { "x": "power", "y": "log-likelihood less its maximum" },
            "grid": { "top": 46 },
            "xAxis": value_axis(&format!("power of {response}")),
            "yAxis": value_axis("log-likelihood less its maximum"),
            "series": [{
                "type": "line", "data": points, "symbol": "none",
                "lineStyle": { "color": "$accent", "width": 2 },
                "markLine": { "symbol": "none", "silent": true, "data": marks },
            }],
        }),
        summary: format!(
            "Likelihood of powers of {response}: highest at {}, and {} lower at the far ends.",
            figure(found.lambda),
            figure(high - low)
        ),
        height: 300,
    })
}

fn mark(power: f64, name: &str, colour: &str) -> Value {
    let label = json!({ "show": !name.is_empty(), "formatter": name });
    json!({
        "xAxis": for_chart(power), "label": label,
        "lineStyle": { "color": colour, "type": "dashed" },
    })
}
