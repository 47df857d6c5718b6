//! The best mean of each study, with its interval.

use serde_json::{Value, json};
use trainwright_analysis::wording::count;

use super::Chart;
use super::labels::{BESIDE_A_BAR, labels};
use crate::figure::{figure, for_chart};
use crate::html::StudyRow;

/// A dot with its interval a study; nothing where no study has a mean.
pub(crate) fn study_means(rows: &[StudyRow]) -> Option<Chart> {
    let shown: Vec<(&StudyRow, f64)> =
        rows.iter().filter_map(|own| Some((own, own.mean?))).collect();
    let names: Vec<String> = shown.iter().map(|(own, _)| own.name.clone()).collect();
    let (first, _) = shown.first()?;
    let lines: Value = shown
        .iter()
        .enumerate()
        .filter_map(|(place, (own, _))| Some((place, own.ends?)))
        .flat_map(|(place, (low, high))| {
            // A missing value lifts the pen between one interval and the next.
            [json!([for_chart(low), place]), json!([for_chart(high), place]), json!([null, place])]
        })
        .collect();
    let dots: Value = shown
        .iter()
        .enumerate()
        .map(|(place, (own, mean))| {
            let at = own.best.as_deref().unwrap_or_default();
            let tip = format!("{}\n{}\n{at}", own.name, figure(*mean));
            json!({ "value": [for_chart(*mean), place], "tip": tip })
        })
        .collect();
    Some(Chart {
        option: json!({
            "grid": { "top": 12 },
            "xAxis": { "type": "value", "name": first.response, "scale": true },
            "yAxis": {
                "type": "category", "data": labels(&names, BESIDE_A_BAR), "inverse": true,
                "axisLabel": { "interval": 0 },
            },
            "series": [
                {
                    "type": "line", "data": lines, "symbol": "none", "silent": true,
                    "lineStyle": { "color": "$accent", "width": 2 },
                },
                {
                    "type": "scatter", "data": dots, "symbolSize": 9,
                    "itemStyle": { "color": "$accent" },
                },
            ],
        }),
        summary: format!(
            "Best mean {} of {}, with intervals.",
            first.response,
            count(shown.len(), "study").replace("studys", "studies")
        ),
        height: 76 + 30 * shown.len(),
    })
}
