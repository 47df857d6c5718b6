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
    let shown = named.into_iter().enumerate().filter(|(_, own)| inside(own.0));
    marks.extend(shown.map(|(at, own)| higher(mark(own.0, own.1, "$s1"), at % 2)));
    Some(Chart {
        option: json!({
            "title": title("Likelihood of each power (Box-Cox)"),
            "tips": { "x": "power", "y": "log-likelihood less its maximum" },
            "grid": { "top": 60 },
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

/// Names of neighbours stand in two lines, so that they do not touch on a narrow screen.
fn higher(mut mark: Value, line: usize) -> Value {
    mark["label"]["distance"] = json!(4 + 14 * line);
    mark
}

fn mark(power: f64, name: &str, colour: &str) -> Value {
    let label = json!({ "show": !name.is_empty(), "formatter": name });
    json!({
        "xAxis": for_chart(power), "label": label,
        "lineStyle": { "color": colour, "type": "dashed" },
    })
}

#[cfg(test)]
mod tests {
    use trainwright_analysis::PowerLikelihood;

    use super::*;

    /// A parabola of likelihood with its top of -100 at `top`.
    fn profile(from: f64, to: f64, top: f64) -> BoxCoxSummary {
        let at = |step: u32| from + (to - from) * f64::from(step) / 40.0;
        let own = |step: u32| PowerLikelihood {
            lambda: at(step),
            log_likelihood: -100.0 - (at(step) - top).powi(2),
        };
        BoxCoxSummary {
            lambda: top,
            low: Some(top - 0.25),
            high: None,
            profile: (0..=40).map(own).collect(),
        }
    }

    #[test]
    fn heights_are_told_from_the_top_and_marks_lie_inside_the_profile() {
        let chart = power_profile("time", &profile(-1.0, 1.0, 0.0)).unwrap();
        let series = &chart.option["series"][0];
        assert_eq!(series["data"][20], json!([0.0, 0.0]));
        assert_eq!(series["data"][0], json!([-1.0, -1.0]));
        let marks = series["markLine"]["data"].as_array().unwrap();
        let at: Vec<f64> = marks.iter().map(|own| own["xAxis"].as_f64().unwrap()).collect();
        // The known end of the interval, then `log` and `root`; `1/y` and `as is` are the ends.
        assert_eq!(at, [-0.25, 0.0, 0.5]);
        assert_eq!(marks[0]["label"]["show"], false);
        assert_eq!(marks[1]["label"]["formatter"], "log");
        assert_ne!(marks[1]["label"]["distance"], marks[2]["label"]["distance"]);
        assert_eq!(
            chart.summary,
            "Likelihood of powers of time: highest at 0, and 1 lower at the far ends."
        );
    }

    #[test]
    fn a_power_asked_for_alone_has_no_chart() {
        let alone = BoxCoxSummary { profile: vec![], ..profile(-1.0, 1.0, 0.0) };
        assert!(power_profile("time", &alone).is_none());
    }
}
