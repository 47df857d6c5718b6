//! Mean response at each level of a factor, with intervals.

use serde_json::{Value, json};
use trainwright_analysis::wording::list;
use trainwright_analysis::{Analysis, LevelMean, MainEffect};

use super::{Chart, range, shared_axis, title};
use crate::figure::{figure, for_chart, to_spread};

/// The means of one factor; all factors share the vertical scale so that slopes compare.
pub(crate) fn main_effect(analysis: &Analysis, effect: &MainEffect, response: &str) -> Chart {
    let levels: Vec<String> = effect.levels.iter().map(|own| own.level.to_string()).collect();
    let means: Value = effect.levels.iter().map(mean_point).collect();
    let mut bars = Vec::new();
    for (index, own) in effect.levels.iter().enumerate() {
        if let (Some(low), Some(high)) = (own.ci_low, own.ci_high) {
            bars.extend([json!([index, for_chart(low)]), json!([index, for_chart(high)])]);
            // A missing value lifts the pen between one bar and the next.
            bars.push(json!([index, null]));
        }
    }
    let (low, high) = reach(analysis);
    let means_in_words: Vec<_> = effect
        .levels
        .iter()
        .filter_map(|own| own.mean.map(|mean| format!("{} at {}", figure(mean), own.level)))
        .collect();
    Chart {
        option: json!({
            "title": title(&effect.factor),
            "grid": { "top": 30 },
            "xAxis": { "type": "category", "data": levels },
            "yAxis": shared_axis(low, high),
            "series": [
                {
                    "type": "line", "data": bars, "symbol": "none", "silent": true,
                    "lineStyle": { "color": "$accent", "width": 1.5, "opacity": 0.7 },
                },
                {
                    "type": "line", "data": means, "symbol": "circle", "symbolSize": 8,
                    "lineStyle": { "color": "$accent", "width": 2 },
                    "itemStyle": { "color": "$accent" },
                },
            ],
        }),
        summary: format!("Mean {response} by {}: {}.", effect.factor, list(&means_in_words)),
        height: 190,
    }
}

fn mean_point(own: &LevelMean) -> Value {
    let Some(mean) = own.mean else { return Value::Null };
    let tip = match (own.ci_low, own.ci_high) {
        (Some(low), Some(high)) => {
            let [mean, low, high] = [mean, low, high].map(|value| to_spread(value, low, high));
            format!("{}\nmean {mean} ({low} to {high})\nn = {}", own.level, own.n)
        }
        _ => format!("{}\nmean {}\nn = {}", own.level, figure(mean), own.n),
    };
    json!({ "value": for_chart(mean), "tip": tip })
}

/// Vertical range of all factors' means and intervals.
fn reach(analysis: &Analysis) -> (f64, f64) {
    let levels = analysis.main_effects.iter().flat_map(|effect| &effect.levels);
    range(levels.flat_map(|own| [own.mean, own.ci_low, own.ci_high]).flatten())
}
