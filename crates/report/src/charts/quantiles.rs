//! Residuals against normal quantiles, with the band in which normal ones would lie.

use serde_json::{Value, json};
use trainwright_analysis::Analysis;
use trainwright_stats::{FisherF, Normal, StatsError};

use super::residuals::shown;
use super::{Chart, title, value_axis};
use crate::figure::for_chart;

/// Points along the edge of the band.
const BAND_POINTS: usize = 60;

/// Standardised residuals against normal quantiles; raw ones, without a band, where there is no
/// spread to divide by.
pub(crate) fn quantiles(analysis: &Analysis) -> Chart {
    let standardised = analysis.residuals.iter().all(|own| own.standardised.is_some());
    let name = if standardised { "standardised residual" } else { "residual" };
    let points: Vec<(f64, f64, &str)> = shown(analysis)
        .map(|own| {
            let value = own.standardised.filter(|_| standardised).unwrap_or(own.residual);
            (own.normal_quantile, value, own.label.as_str())
        })
        .collect();
    let data: Vec<Value> =
        points.iter().map(|(x, y, label)| json!([for_chart(*x), for_chart(*y), label])).collect();
    let mut series = vec![json!({
        "type": "scatter", "data": data, "symbolSize": 6,
        "itemStyle": { "color": "$accent", "opacity": 0.75 },
    })];
    if standardised {
        let line = |points: Vec<[f64; 2]>, kind: &str| {
            json!({
                "type": "line", "data": points, "symbol": "none", "silent": true,
                "lineStyle": { "color": "$muted", "width": 1, "type": kind },
            })
        };
        let reach = for_chart(points.iter().map(|(x, ..)| x.abs()).fold(0.0, f64::max));
        series.push(line(vec![[-reach, -reach], [reach, reach]], "dashed"));
        let band = band(analysis);
        for edge in [0, 1] {
            let points = band.iter().map(|own| [own.0, own.1[edge]].map(for_chart)).collect();
            series.push(line(points, "dotted"));
        }
    }
    Chart {
        option: json!({
            "title": title("Normal quantiles (Q-Q)"),
            "tips": { "x": "normal quantile", "y": name },
            "grid": { "top": 30 },
            "xAxis": value_axis("normal quantile"),
            "yAxis": value_axis(name),
            "series": series,
        }),
        summary: format!(
            "{} residuals against normal quantiles; points on the diagonal are normal, and 95 of \
             100 normal ones lie between the dotted lines.",
            points.len()
        ),
        height: 300,
    }
}

/// Normal quantiles along the axis with the limits of the residual of that rank.
fn band(analysis: &Analysis) -> Vec<(f64, [f64; 2])> {
    let mut quantiles: Vec<f64> =
        analysis.residuals.iter().map(|own| own.normal_quantile).collect();
    quantiles.sort_by(f64::total_cmp);
    let n = quantiles.len();
    let ranks =
        (0..BAND_POINTS.min(n)).map(|at| 1 + at * (n - 1) / (BAND_POINTS.min(n) - 1).max(1));
    let limits = |rank: usize| Some((quantiles[rank - 1], rank_limits(rank, n).ok()?));
    ranks.filter_map(limits).collect()
}

/// Limits of the value of a rank among n standard normal ones, each exceeded 2.5 times in 100.
///
/// Its share follows the beta distribution with parameters `rank` and `n + 1 - rank` (David and
/// Nagaraja, "Order Statistics", section 2.3), which is an F distribution in other units.
fn rank_limits(rank: usize, n: usize) -> Result<[f64; 2], StatsError> {
    let (a, b) = (rank as f64, (n + 1 - rank) as f64);
    let f = FisherF::new(2.0 * a, 2.0 * b)?;
    let limit = |p: f64| {
        let ratio = f.quantile(p)? * a / b;
        Normal.quantile(ratio / (1.0 + ratio))
    };
    Ok([limit(0.025)?, limit(0.975)?])
}

#[cfg(test)]
mod tests {
    use trainwright_analysis::Residual;

    use super::*;
    use crate::tests::analysis;

    #[test]
    fn raw_residuals_have_no_band_to_lie_in() {
        let whole = analysis(vec![]);
        let chart = quantiles(&whole);
        assert_eq!(chart.option["yAxis"]["name"], "standardised residual");
        assert_eq!(chart.option["series"].as_array().unwrap().len(), 4);
        let mut raw = whole;
        raw.residuals[3].standardised = None;
        let chart = quantiles(&raw);
        assert_eq!(chart.option["yAxis"]["name"], "residual");
        assert_eq!(chart.option["series"].as_array().unwrap().len(), 1, "points alone");
        let point = &chart.option["series"][0]["data"][0];
        assert!((point[1].as_f64().unwrap() - raw.residuals[0].residual).abs() < 1e-5);
    }

    #[test]
    fn the_band_covers_every_rank_of_a_small_sample_and_both_ends_of_a_large_one() {
        let mut own = analysis(vec![]);
        let one = own.residuals[0].clone();
        for n in [1, 2, 60, 61, 500] {
            // Quantiles that tell their rank.
            own.residuals =
                (0..n).map(|at| Residual { normal_quantile: at as f64, ..one.clone() }).collect();
            let band = band(&own);
            assert_eq!(band.len(), n.min(BAND_POINTS), "{n}");
            assert_eq!((band[0].0, band[band.len() - 1].0), (0.0, (n - 1) as f64), "{n}");
            assert!(band.iter().all(|(_, [low, high])| low < high));
            let (first, last) = (band[0].1, band[band.len() - 1].1);
            assert!((first[0] + last[1]).abs() < 1e-8, "the band is the same from both ends");
        }
    }

    #[test]
    fn limits_of_a_rank_agree_with_the_beta_distribution() {
        // scipy 1.17.1: norm.ppf(beta.ppf([0.025, 0.975], rank, n + 1 - rank)).
        for (rank, n, low, high) in [
            (1, 1, -1.959_963_984_540_054, 1.959_963_984_540_054),
            (1, 10, -2.803_370_283_423, -0.500_114_842_517),
            (5, 9, -0.799_471_590_242, 0.799_471_590_242),
        ] {
            let found = rank_limits(rank, n).unwrap();
            assert!((found[0] - low).abs() < 1e-9, "{found:?}");
            assert!((found[1] - high).abs() < 1e-9, "{found:?}");
        }
    }
}
