//! How surely the study finds an effect of a given size.

use serde_json::json;
use trainwright_analysis::PlannedPower;
use trainwright_analysis::wording::count;
use trainwright_stats::{power, smallest_noncentrality};

use super::{Chart, dash, series_colour};
use crate::figure::{figure, for_chart};

/// Points along a curve.
const POINTS: usize = 60;

/// The chance of finding an effect by its size, for the replications planned and for others.
///
/// None where effects are not contrasts of two levels or nothing is left to measure noise by.
pub(crate) fn power_curve(planned: &PlannedPower, replications: u32, alpha: f64) -> Option<Chart> {
    let smallest = planned.smallest_effect?;
    // More replications of whole plots would change two errors at once.
    if planned.df_smallest != Some(planned.df_residual) {
        return None;
    }
    let rows = planned.n / replications as usize;
    let terms = planned.n - planned.df_residual;
    let others = if replications > 1 {
        vec![1, replications, 2 * replications]
    } else {
        vec![replications, 2 * replications]
    };
    let others = others.into_iter().filter(|&own| rows * own as usize > terms);
    let mut series = Vec::new();
    for (index, own) in others.enumerate() {
        let is_planned = if own == replications { ", as planned" } else { "" };
        series.push(json!({
            "type": "line", "name": format!("{}{is_planned}", count(own as usize, "replication")),
            "data": line(planned, rows * own as usize, alpha)?, "symbol": "none",
            "lineStyle": { "color": series_colour(index), "type": dash(index), "width": 2 },
            "itemStyle": { "color": series_colour(index) },
        }));
    }
    Some(Chart {
        option: json!({
            "legend": { "top": 4 },
            "tips": { "x": "effect in deviations", "y": "found, of 100 times," },
            "grid": { "top": 34 },
            "xAxis": { "type": "value", "name": format!("effect {}, in residual deviations", planned.meaning?) },
            "yAxis": { "type": "value", "name": "found, percent", "min": 0, "max": 100 },
            "series": series,
        }),
        summary: format!(
            "Chance of finding an effect by its size, allowing for {} by Holm's method: {} of \
             100 at {} residual deviations.",
            count(planned.tests, "term"),
            figure(100.0 * planned.power),
            figure(smallest)
        ),
        height: 280,
    })
}

/// The chance of finding an effect with `n` observations, up to twice the smallest effect that the
/// plan finds.
fn line(planned: &PlannedPower, n: usize, alpha: f64) -> Option<Vec<[f64; 2]>> {
    let smallest = planned.smallest_effect?;
    // Holm's method compares the smallest of all p-values with this.
    let alpha = alpha / planned.tests.max(1) as f64;
    let df_effect = planned.df_effect? as f64;
    let df = planned.df_residual as f64;
    let at_plan = smallest_noncentrality(df_effect, df, alpha, planned.power).ok()?;
    let (all, n) = (planned.n as f64, n as f64);
    let point = |at: usize| {
        let effect = 2.0 * smallest * at as f64 / POINTS as f64;
        // It grows with the square of the effect and with the observations.
        let own = at_plan * (effect / smallest).powi(2) * n / all;
        let found = power(own, df_effect, n - (all - df), alpha).ok()?;
        Some([for_chart(effect), for_chart(100.0 * found)])
    };
    Some((0..=POINTS).filter_map(point).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sixteen rows with 16 coefficients, each row run three times.
    fn planned() -> PlannedPower {
        PlannedPower {
            n: 48,
            df_residual: 32,
            tests: 1,
            df_smallest: Some(32),
            smallest_effect: Some(0.8347),
            meaning: Some("low to high"),
            df_effect: Some(1),
            power: 0.8,
            terms: vec![],
        }
    }

    fn heights(chart: &Chart, series: usize) -> Vec<f64> {
        let data = chart.option["series"][series]["data"].as_array().unwrap();
        data.iter().map(|point| point[1].as_f64().unwrap()).collect()
    }

    #[test]
    fn no_effect_is_found_as_often_as_chance_allows_and_a_large_one_nearly_always() {
        let chart = power_curve(&planned(), 3, 0.05).unwrap();
        for series in [0, 1] {
            let found = heights(&chart, series);
            assert!((found[0] - 5.0).abs() < 1e-4, "alpha of 100: {}", found[0]);
            assert!(found.is_sorted(), "larger effects are found more often");
            assert!(found[POINTS] > 99.0);
        }
        assert_eq!(chart.option["series"][1]["name"], "6 replications");
        let (three, six) = (heights(&chart, 0), heights(&chart, 1));
        let more = three.iter().zip(&six).skip(1).all(|(three, six)| six > three);
        assert!(more, "more replications find more");
        let strict = power_curve(&PlannedPower { tests: 5, ..planned() }, 3, 0.05).unwrap();
        assert!((heights(&strict, 0)[0] - 1.0).abs() < 1e-4, "Holm's method divides alpha by 5");
    }

    #[test]
    fn errors_of_two_sizes_have_no_single_curve() {
        let of_plots = PlannedPower { df_smallest: Some(3), ..planned() };
        assert!(power_curve(&of_plots, 3, 0.05).is_none());
        let none = PlannedPower { smallest_effect: None, ..planned() };
        assert!(power_curve(&none, 3, 0.05).is_none());
    }

    #[test]
    fn the_planned_curve_passes_through_the_planned_power() {
        let chart = power_curve(&planned(), 3, 0.05).unwrap();
        let series = chart.option["series"].as_array().unwrap();
        assert_eq!(series.len(), 2, "one replication leaves no noise to measure");
        assert_eq!(series[0]["name"], "3 replications, as planned");
        // Half-way along the axis lies the smallest effect.
        let middle = series[0]["data"][POINTS / 2][1].as_f64().unwrap();
        assert!((middle - 80.0).abs() < 0.2, "{middle}");
    }
}
