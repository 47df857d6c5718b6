//! Which levels of a factor differ, pair by pair.

use serde_json::{Value, json};
use trainwright_analysis::wording::{count, p_value as p_in_words};
use trainwright_analysis::{LevelDifference, LevelDifferences};

use crate::charts::labels::{BESIDE_A_BAR, labels};
use crate::charts::{Chart, title};
use crate::figure::{for_chart, to_spread};

/// Pairs that fit on a page.
pub(crate) const MOST_PAIRS: usize = 36;

/// An interval a pair of levels; one that leaves out zero is a difference.
pub(crate) fn level_differences(factor: &LevelDifferences, response: &str) -> Chart {
    let shown = &factor.pairs[..factor.pairs.len().min(MOST_PAIRS)];
    let names: Vec<String> =
        shown.iter().map(|own| format!("{} \u{2212} {}", own.a, own.b)).collect();
    let names = labels(&names, BESIDE_A_BAR);
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
                "axisLabel": { "interval": 0 },
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

#[cfg(test)]
mod tests {
    use trainwright_study::Level;

    use super::*;

    fn pair(difference: f64, low: f64, high: f64) -> LevelDifference {
        let [a, b] = ["x", "y"].map(|text| Level::Text(text.to_owned()));
        LevelDifference { a, b, difference, low, high, p: 0.02 }
    }

    fn drawn(pairs: Vec<LevelDifference>) -> Chart {
        let own = LevelDifferences { factor: "kind".to_owned(), method: "tukey", pairs };
        level_differences(&own, "loss (s)")
    }

    #[test]
    fn an_interval_that_touches_zero_is_no_difference() {
        let chart = drawn(vec![pair(1.0, 0.0, 2.0), pair(-1.0, -2.0, -0.1), pair(-1.0, -2.0, 0.0)]);
        assert_eq!(
            chart.summary,
            "Differences between levels of kind: 1 of 3 pairs leave out zero."
        );
        let series = &chart.option["series"];
        assert_eq!(series[1]["data"][0]["value"], json!([-1.0, 1]), "the second pair differs");
        assert_eq!(series[1]["itemStyle"]["color"], "$accent");
        assert_eq!(series[3]["data"].as_array().unwrap().len(), 2);
        assert_eq!(series[1]["markLine"]["data"], json!([{ "xAxis": 0 }]));
        assert_eq!(
            series[1]["data"][0]["tip"],
            "x against y\ndifference -1.00 (-2.00 to -0.10)\np = 0.02"
        );
    }

    #[test]
    fn more_pairs_than_fit_are_cut_and_the_chart_grows_with_the_rest() {
        let chart = drawn(vec![pair(1.0, 0.5, 1.5); MOST_PAIRS + 9]);
        let names = chart.option["yAxis"]["data"].as_array().unwrap();
        assert_eq!(names.len(), MOST_PAIRS);
        assert_eq!(names[0], "x \u{2212} y");
        assert_eq!(chart.height, 76 + 24 * MOST_PAIRS);
        // Two ends and a gap for every interval that is drawn, none for those cut.
        assert_eq!(chart.option["series"][0]["data"].as_array().unwrap().len(), 3 * MOST_PAIRS);
    }
}
