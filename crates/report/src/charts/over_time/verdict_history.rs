//! The best mean after each trial.

use serde_json::json;

use crate::charts::response_curve::named;
use crate::charts::{Chart, title, value_axis};
use crate::figure::{figure, for_chart};
use crate::html::BestAfter;
use crate::thin::thin;

/// Points of the line.
const MOST_POINTS: usize = 1_000;

/// A step line of the best mean, with a mark wherever another configuration became the best.
pub(crate) fn verdict_history(response: &str, history: &[BestAfter<'_>]) -> Chart {
    let at: Vec<f64> = history.iter().map(|own| own.trials as f64).collect();
    let means: Vec<f64> = history.iter().map(|own| own.mean).collect();
    let mut line = named("best mean", &thin(&at, &means, MOST_POINTS), 0);
    line["step"] = json!("end");
    let changes: Vec<_> = history
        .iter()
        .filter(|own| own.changed)
        .map(|own| {
            let tip = format!(
                "{}\nbest after trial {}\nmean {}",
                own.configuration,
                own.trial,
                figure(own.mean)
            );
            json!({ "value": [own.trials, for_chart(own.mean)], "tip": tip })
        })
        .collect();
    let times = changes.len().saturating_sub(1);
    let marks = json!({
        "type": "scatter", "name": "another one is best", "symbolSize": 9, "data": changes,
        "itemStyle": { "color": "$s1" }, "z": 5,
    });
    let last = history.last().map_or(0.0, |own| own.mean);
    Chart {
        option: json!({
            "title": title("The best mean as trials ended"),
            "tips": { "x": "trials", "y": response },
            "legend": { "top": 20 },
            "grid": { "top": 48 },
            "xAxis": { "type": "value", "name": "finished trials", "minInterval": 1, "scale": true },
            "yAxis": value_axis(response),
            "series": [line, marks],
        }),
        summary: format!(
            "The best mean of {response} after each of {} finished trials: {} at the end, after \
             the best configuration had changed {times} times.",
            history.len(),
            figure(last)
        ),
        height: 300,
    }
}
