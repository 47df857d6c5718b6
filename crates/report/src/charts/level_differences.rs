//! Which levels of a factor differ, pair by pair.

use serde_json::{Value, json};
use trainwright_analysis::wording::{count, p_value as p_in_words};
use trainwright_analysis::{LevelDifference, LevelDifferences};

use super::{Chart, title};
use crate::figure::{for_chart, to_spread};

/// Pairs that fit on a page.
pub(crate) const MOST_PAIRS: usize = 36;

/// An interval a pair of levels; one that leaves out zero is a difference.
pub(crate) fn level_differences(factor: &LevelDifferences, response: &str) -> Chart {
    let shown = &factor.pairs[..factor.pairs.len().min(MOST_PAIRS)];
    let names: Vec<String> =
        shown.iter().map(|own| format!("{} \u{2212} {}", own.a, own.b)).collect();
    let lines = |wanted: bool| -> Value {
        let placed = shown.iter().enumerate().filter(|(_, own)| differs(own) == wanted);
        placed
            .flat_map(|(place, own)| {
                // A missing value lifts the pen between one interval and the next.
                let end = |value: f64| json!([for_chart(value), place]);
                [end(own.low), end(own.high), json!([null, place])]
            })
            .collect()
    };
    let dots = |wanted: bool| -> Value {
        let placed = shown.iter().enumerate().filter(|(_, own)| differs(own) == wanted);
        placed
            .map(|(place, own)| json!({ "value": [for_chart(own.difference), place], "tip": tip(own) }))
            .collect()
    };
    let mut series = Vec::new();
    for (wanted, colour) in [(true, "$accent"), (false, "$muted")] {
        series.push(json!({
            "type": "line", "data": lines(wanted), "symbol": "none", "silent": true,
            "lineStyle": { "color": colour, "width": 2 },
        }));
        series.push(json!({
            "type": "scatter", "data": dots(wanted), "symbolSize": 8,
            "itemStyle": { "color": colour },
        }));
    }
    series[1]["markLine"] = json!({
        "symbol": "none", "silent": true, "label": { "show": false },
        "lineStyle": { "color": "$muted", "type": "dashed" }, "data": [{ "xAxis": 0 }],
    });
    let different = shown.iter().filter(|own| differs(own)).count();
    Chart {
        option: json!({
            "title": title(&factor.factor),
            "grid": { "top": 30 },
            "xAxis": { "type": "value", "name": format!("difference of mean {response}") },
            "yAxis": {
                "type": "category", "data": names, "inverse": true,
                "axisLabel": { "interval": 0, "width": 150, "overflow": "truncate" },
            },
            "series": series,
        }),
        summary: format!(
            "Differences between levels of {}: {different} of {} leave out zero.",
            factor.factor,
            count(shown.len(), "pair")
        ),
        height: 76 + 24 * shown.len(),
    }
}

fn differs(pair: &LevelDifference) -> bool {
    pair.low > 0.0 || pair.high < 0.0
}

fn tip(pair: &LevelDifference) -> String {
    let [difference, low, high] =
        [pair.difference, pair.low, pair.high].map(|value| to_spread(value, pair.low, pair.high));
    format!(
        "{} against {}\ndifference {difference} ({low} to {high})\n{}",
        pair.a,
        pair.b,
        p_in_words(pair.p)
    )
}
