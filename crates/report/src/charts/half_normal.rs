//! Sizes of effects against half-normal quantiles (Daniel, Technometrics 1, 1959): effects that are
//! only noise lie on a line through the origin.

use serde_json::{Value, json};
use trainwright_analysis::{Analysis, HalfNormal};

use super::Chart;
use crate::figure::{figure, for_chart};
use crate::ranking::{Standing, standing_of};

/// Part of the chart's height that a name beside a point takes.
const NAME_HEIGHT: f64 = 0.065;

/// A point an effect, named where it stands out.
pub(crate) fn half_normal(analysis: &Analysis) -> Option<Chart> {
    let points = &analysis.half_normal;
    if points.len() < 3 {
        return None;
    }
    let active = |point: &HalfNormal| standing_of(analysis, &point.term) == Standing::StandsOut;
    let names = names_with_room(points.iter().filter(|point| active(point)));
    let reach = points.iter().map(|point| point.quantile).fold(0.0, f64::max);
    let named = |point: &HalfNormal| names.contains(&point.term.as_str());
    let series = |name: &str, colour: &str, wanted: bool| {
        let data: Vec<Value> = points
            .iter()
            .filter(|point| active(point) == wanted)
            .map(|point| {
                json!({
                    "value": [for_chart(point.quantile), for_chart(point.effect)],
                    "name": point.term,
                    "tip": format!("{}\nsize of effect {}", point.term, figure(point.effect)),
                    // A name to the left of a point near the axis would be cut off.
                    "label": {
                        "show": named(point),
                        "position": if point.quantile < 0.6 * reach { "right" } else { "left" },
                    },
                })
            })
            .collect();
        json!({
            "type": "scatter", "name": name, "data": data, "symbolSize": 9,
            "itemStyle": { "color": colour },
            "label": { "formatter": "{b}", "width": 150, "overflow": "truncate" },
            "labelLayout": { "hideOverlap": true },
        })
    };
    let mut all = vec![
        series("stands out from the noise", "$accent", true),
        series("within the noise", "$muted", false),
    ];
    all.extend(noise_line(points, active));
    let margin = analysis.lenth.as_ref().map(|lenth| lenth.sme);
    if let Some(margin) = margin {
        all[1]["markLine"] = margin_line(margin);
    }
    Some(Chart {
        option: json!({
            "legend": { "top": 4 },
            "grid": { "top": 30 },
            "xAxis": { "type": "value", "name": "half-normal quantile", "min": 0 },
            "yAxis": vertical_axis(points, margin),
            "series": all,
        }),
        summary: format!(
            "Half-normal plot of {} effects; {} of them stand out from the noise.",
            points.len(),
            points.iter().filter(|point| active(point)).count()
        ),
        height: 360,
    })
}

/// The axis of sizes; a margin above all effects must still be in sight.
fn vertical_axis(points: &[HalfNormal], margin: Option<f64>) -> Value {
    let mut axis = json!({ "type": "value", "name": "size of the effect", "min": 0 });
    if let Some(margin) = margin
        && points.iter().all(|point| point.effect < margin)
    {
        axis["max"] = json!(for_chart(1.1 * margin));
        axis["axisLabel"] = json!({ "showMaxLabel": false });
    }
    axis
}

/// The simultaneous margin of error across the chart.
fn margin_line(margin: f64) -> Value {
    json!({
        "symbol": "none", "silent": true,
        "lineStyle": { "color": "$s1", "type": "dashed" },
        "label": { "formatter": "simultaneous margin", "position": "insideStartTop" },
        "data": [{ "yAxis": for_chart(margin) }],
    })
}

/// Names that stand clear of the one above; hovering names the other points.
fn names_with_room<'a>(points: impl Iterator<Item = &'a HalfNormal>) -> Vec<&'a str> {
    let mut points: Vec<&HalfNormal> = points.collect();
    points.sort_by(|a, b| b.effect.total_cmp(&a.effect));
    let (mut names, mut last) = (Vec::new(), f64::INFINITY);
    let room = points.first().map_or(0.0, |point| NAME_HEIGHT * point.effect);
    for point in points.into_iter().filter(|point| point.effect > 0.0) {
        if last - point.effect >= room {
            names.push(point.term.as_str());
            last = point.effect;
        }
    }
    names
}

/// The line through the origin that the inactive effects follow, by least squares.
fn noise_line(points: &[HalfNormal], active: impl Fn(&HalfNormal) -> bool) -> Option<Value> {
    let inactive: Vec<_> = points.iter().filter(|point| !active(point)).collect();
    let cross: f64 = inactive.iter().map(|point| point.quantile * point.effect).sum();
    let square: f64 = inactive.iter().map(|point| point.quantile * point.quantile).sum();
    let reach = points.iter().map(|point| point.quantile).reduce(f64::max)?;
    if inactive.len() < 2 || square <= 0.0 {
        return None;
    }
    let end = [for_chart(reach), for_chart(cross / square * reach)];
    Some(json!({
        "type": "line", "data": [[0, 0], end], "symbol": "none",
        "silent": true, "lineStyle": { "color": "$muted", "width": 1, "type": "dashed" },
    }))
}
