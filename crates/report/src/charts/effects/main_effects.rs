//! Mean response at each level of a factor, with intervals.

use serde_json::{Value, json};
use trainwright_analysis::wording::list;
use trainwright_analysis::{Analysis, LevelMean, MainEffect};

use crate::charts::labels::{NARROW, factor_label, labels};
use crate::charts::{Chart, range, shared_axis, title};
use crate::figure::{figure, for_chart, to_spread};

/// The means of one factor; all factors share the vertical scale so that slopes compare.
pub(crate) fn main_effect(analysis: &Analysis, effect: &MainEffect, response: &str) -> Chart {
    let levels: Vec<String> = effect.levels.iter().map(|own| own.level.to_string()).collect();
    let levels = labels(&levels, NARROW / levels.len().max(1));
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
            "title": title(&factor_label(analysis, &effect.factor, NARROW)),
            "grid": { "top": 30 },
            "xAxis": { "type": "category", "data": levels, "axisLabel": { "interval": 0 } },
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

#[cfg(test)]
mod tests {
    use trainwright_study::Level;

    use super::*;
    use crate::tests::analysis;

    fn at(level: i64, mean: Option<f64>, ends: Option<(f64, f64)>) -> LevelMean {
        LevelMean {
            level: Level::Integer(level),
            mean,
            ci_low: ends.map(|own| own.0),
            ci_high: ends.map(|own| own.1),
            n: if mean.is_some() { 3 } else { 0 },
        }
    }

    #[test]
    fn a_level_without_observations_is_a_gap_and_no_interval_is_no_bar() {
        let levels =
            vec![at(1, Some(10.0), Some((8.0, 12.0))), at(2, None, None), at(3, Some(20.0), None)];
        let effect = MainEffect { factor: "n".to_owned(), levels };
        let mut own = analysis(vec![]);
        own.main_effects = vec![effect.clone()];
        let chart = main_effect(&own, &effect, "loss (s)");
        assert_eq!(chart.option["xAxis"]["data"], json!(["1", "2", "3"]));
        let [bars, means] = [0, 1].map(|index| &chart.option["series"][index]["data"]);
        assert_eq!(*bars, json!([[0, 8.0], [0, 12.0], [0, null]]));
        assert!(means[1].is_null());
        assert_eq!(means[0]["tip"], "1\nmean 10.0 (8.0 to 12.0)\nn = 3");
        assert_eq!(means[2]["tip"], "3\nmean 20\nn = 3");
        assert_eq!(chart.summary, "Mean loss (s) by n: 10 at 1 and 20 at 3.");
        // From 8 to 20, with 6 % of the span on either side.
        assert_eq!(chart.option["yAxis"]["min"], 7.28);
        assert_eq!(chart.option["yAxis"]["max"], 20.72);
    }

    #[test]
    fn the_scale_is_that_of_all_factors() {
        let one = MainEffect { factor: "n".to_owned(), levels: vec![at(1, Some(5.0), None)] };
        let mut own = analysis(vec![]);
        let other = MainEffect { factor: "m".to_owned(), levels: vec![at(1, Some(105.0), None)] };
        own.main_effects = vec![one.clone(), other];
        let axis = main_effect(&own, &one, "y").option["yAxis"].clone();
        assert_eq!((axis["min"].as_f64(), axis["max"].as_f64()), (Some(-1.0), Some(111.0)));
    }
}
