//! Effects by the share of the variation that they explain.

use serde_json::{Value, json};
use trainwright_analysis::wording::{p_value as p_in_words, percent};
use trainwright_analysis::{Analysis, Effect};

use super::Chart;
use crate::figure::{for_chart, to_spread};
use crate::ranking::{Standing, ranked, standing};

/// Bars that fit on a page.
pub(crate) const MOST_BARS: usize = 25;

/// A bar a term, largest first, coloured by whether it stands out from the noise.
pub(crate) fn pareto(analysis: &Analysis) -> Option<Chart> {
    let effects: Vec<_> =
        ranked(analysis).into_iter().filter(|effect| effect.percent.is_some()).collect();
    let first = *effects.first()?;
    let shown = &effects[..effects.len().min(MOST_BARS)];
    let names: Vec<&str> = shown.iter().map(|effect| effect.term.as_str()).collect();
    let bars = |wanted: Standing| -> Value {
        let placed = shown.iter().enumerate();
        let wanted = placed.filter(|(_, effect)| standing(analysis, effect) == wanted);
        wanted.filter_map(|(place, effect)| bar(effect, place)).collect()
    };
    let kinds = [
        (Standing::StandsOut, "stands out from the noise", "$accent"),
        (Standing::Noise, "within the noise", "$muted"),
        (Standing::Unsettled, "not judged alone", "$s2"),
        (Standing::Unknown, "noise unknown", "$s1"),
    ];
    let series: Vec<Value> = kinds
        .into_iter()
        .filter(|(kind, ..)| shown.iter().any(|effect| standing(analysis, effect) == *kind))
        .map(|(kind, name, colour)| {
            json!({
                "type": "bar", "name": name, "data": bars(kind), "stack": "all", "barWidth": "62%",
                "itemStyle": { "color": colour, "borderRadius": [0, 2, 2, 0] },
            })
        })
        .collect();
    let share = first.percent.map(percent).unwrap_or_default();
    Some(Chart {
        option: json!({
            "legend": { "top": 4 },
            "grid": { "top": 30 },
            "xAxis": { "type": "value", "name": "percent of the variation", "min": 0 },
            "yAxis": {
                "type": "category", "data": names, "inverse": true,
                "axisLabel": { "interval": 0, "width": 150, "overflow": "truncate" },
            },
            "series": series,
        }),
        summary: format!(
            "Pareto chart of {} terms by percentage of variation; the largest is {} with {share}.",
            shown.len(),
            first.term
        ),
        height: 76 + 24 * shown.len(),
    })
}

fn bar(effect: &Effect, place: usize) -> Option<Value> {
    let share = effect.percent?;
    let mut tip = format!("{}\n{} of the variation", effect.term, percent(share));
    if let (Some(size), Some(low), Some(high)) = (effect.effect, effect.ci_low, effect.ci_high) {
        let [size, low, high] = [size, low, high].map(|value| to_spread(value, low, high));
        tip += &format!("\neffect {size} ({low} to {high})");
    }
    if let Some(p) = effect.p {
        tip += &format!("\n{}", p_in_words(p));
    }
    Some(json!({ "value": [for_chart(share), place], "tip": tip }))
}
