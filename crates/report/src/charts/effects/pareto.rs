//! Effects by the share of the variation that they explain.

use serde_json::{Value, json};
use trainwright_analysis::wording::{count, p_value as p_in_words, percent};
use trainwright_analysis::{Analysis, Effect};

use crate::charts::Chart;
use crate::charts::labels::{BESIDE_A_BAR, labels};
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
    let names: Vec<String> = shown.iter().map(|effect| effect.term.clone()).collect();
    let names = labels(&names, BESIDE_A_BAR);
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
                "axisLabel": { "interval": 0 },
            },
            "series": series,
        }),
        summary: format!(
            "Pareto chart of {} by percentage of variation; the largest is {} with {share}.",
            count(shown.len(), "term"),
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

#[cfg(test)]
mod tests {
    use trainwright_analysis::Check;

    use super::*;
    use crate::tests::{analysis, effect};

    fn terms(chart: &Chart) -> Vec<&str> {
        let names = chart.option["yAxis"]["data"].as_array().unwrap();
        names.iter().map(|own| own.as_str().unwrap()).collect()
    }

    fn kinds(chart: &Chart) -> Vec<&str> {
        let series = chart.option["series"].as_array().unwrap();
        series.iter().map(|own| own["name"].as_str().unwrap()).collect()
    }

    #[test]
    fn only_kinds_of_terms_that_occur_are_in_the_legend() {
        let known =
            analysis(vec![effect("a", 6.0, Some(0.001), 90.0), effect("b", 0.1, Some(0.8), 2.0)]);
        let chart = pareto(&known).unwrap();
        assert_eq!(kinds(&chart), ["stands out from the noise", "within the noise"]);
        let unknown = analysis(vec![effect("a", 6.0, None, 90.0)]);
        let chart = pareto(&unknown).unwrap();
        assert_eq!(kinds(&chart), ["noise unknown"]);
        assert_eq!(
            chart.summary,
            "Pareto chart of 1 term by percentage of variation; the largest is a with 90.0 %."
        );
    }

    #[test]
    fn no_term_is_called_noise_while_the_equation_misses_terms() {
        let mut own = analysis(vec![effect("a", 6.0, Some(0.8), 40.0)]);
        own.checks.push(Check {
            name: "lack-of-fit",
            statistic: None,
            p: Some(0.001),
            holds: Some(false),
            verdict: String::new(),
        });
        assert_eq!(kinds(&pareto(&own).unwrap()), ["not judged alone"]);
    }

    #[test]
    fn ties_keep_their_order_and_the_smallest_bars_are_cut() {
        let mut effects: Vec<_> =
            (0..30).map(|at| effect(&format!("t{at:02}"), 1.0, Some(0.5), 1.0)).collect();
        effects.push(effect("large", 1.0, Some(0.5), 70.0));
        effects.push(Effect { percent: None, ..effect("aliased", 1.0, Some(0.5), 0.0) });
        let chart = pareto(&analysis(effects)).unwrap();
        let names = terms(&chart);
        assert_eq!(names.len(), MOST_BARS);
        assert_eq!(names[..3], ["large", "t00", "t01"]);
        assert_eq!(names[MOST_BARS - 1], "t23");
    }

    #[test]
    fn without_shares_there_is_no_chart() {
        let share_less = Effect { percent: None, ..effect("a", 1.0, None, 0.0) };
        assert!(pareto(&analysis(vec![share_less])).is_none());
        assert!(pareto(&analysis(vec![])).is_none());
    }

    #[test]
    fn a_tip_tells_size_interval_and_evidence_where_they_are_known() {
        let whole =
            Effect { ci_low: Some(5.0), ci_high: Some(7.0), ..effect("a", 6.0, Some(0.001), 90.0) };
        let tip = |effect: &Effect| bar(effect, 3).unwrap()["tip"].as_str().unwrap().to_owned();
        assert_eq!(tip(&whole), "a\n90.0 % of the variation\neffect 6.0 (5.0 to 7.0)\np = 0.001");
        assert_eq!(tip(&effect("b", 6.0, None, 0.01)), "b\n< 0.1 % of the variation");
        assert_eq!(bar(&whole, 3).unwrap()["value"], json!([90.0, 3]));
    }
}
