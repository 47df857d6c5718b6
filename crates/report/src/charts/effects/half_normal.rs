//! Sizes of effects against half-normal quantiles (Daniel, Technometrics 1, 1959): effects that are
//! only noise lie on a line through the origin.

use serde_json::{Value, json};
use trainwright_analysis::{Analysis, HalfNormal};

use crate::charts::Chart;
use crate::charts::labels::{BESIDE_A_BAR, labels};
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
    let terms: Vec<String> = points.iter().map(|point| point.term.clone()).collect();
    let short = labels(&terms, BESIDE_A_BAR);
    let named = |point: &HalfNormal| names.contains(&point.term.as_str());
    let series = |name: &str, colour: &str, wanted: bool| {
        let data: Vec<Value> = points
            .iter()
            .zip(&short)
            .filter(|(point, _)| active(point) == wanted)
            .map(|(point, short)| {
                json!({
                    "value": [for_chart(point.quantile), for_chart(point.effect)],
                    "name": short,
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
            "label": { "formatter": "{b}" },
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
    let outstanding = points.iter().filter(|point| active(point)).count();
    Some(Chart {
        option: json!({
            "legend": { "top": 4 },
            "grid": { "top": 30 },
            "xAxis": { "type": "value", "name": "half-normal quantile", "min": 0 },
            "yAxis": vertical_axis(points, margin),
            "series": all,
        }),
        summary: format!(
            "Half-normal plot of {} effects; {outstanding} of them {} out from the noise.",
            points.len(),
            if outstanding == 1 { "stands" } else { "stand" }
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

#[cfg(test)]
mod tests {
    use trainwright_analysis::LenthSummary;

    use super::*;
    use crate::tests::{analysis, effect};

    fn points(sizes: &[(&str, f64, f64)]) -> Vec<HalfNormal> {
        let own = |&(term, quantile, effect): &(&str, f64, f64)| HalfNormal {
            term: term.to_owned(),
            quantile,
            effect,
        };
        sizes.iter().map(own).collect()
    }

    #[test]
    fn the_line_of_noise_is_the_least_squares_line_through_the_origin() {
        let all = points(&[("a", 1.0, 2.0), ("b", 2.0, 2.0), ("c", 4.0, 90.0)]);
        // Without `c`: (1 * 2 + 2 * 2) / (1 + 4) = 1.2 a quantile, drawn as far as `c`.
        let line = noise_line(&all, |own| own.term == "c").unwrap();
        assert_eq!(line["data"], json!([[0, 0], [4.0, 4.8]]));
        assert!(noise_line(&all, |own| own.term != "a").is_none(), "one point makes no line");
        let at_zero = points(&[("a", 0.0, 2.0), ("b", 0.0, 2.0)]);
        assert!(noise_line(&at_zero, |_| false).is_none());
    }

    #[test]
    fn names_too_close_to_the_one_above_are_left_to_the_tip() {
        // Room for a name is 6.5 of 100.
        let all = points(&[("a", 1.0, 100.0), ("b", 1.0, 94.0), ("c", 1.0, 93.0), ("d", 1.0, 0.0)]);
        assert_eq!(names_with_room(all.iter()), ["a", "c"]);
        assert!(names_with_room([].iter()).is_empty());
    }

    #[test]
    fn a_margin_above_all_effects_stays_in_sight() {
        let all = points(&[("a", 1.0, 2.0), ("b", 2.0, 3.0)]);
        assert_eq!(vertical_axis(&all, Some(10.0))["max"], 11.0);
        assert!(vertical_axis(&all, Some(2.5))["max"].is_null(), "the chart reaches it by itself");
        assert!(vertical_axis(&all, None)["max"].is_null());
    }

    #[test]
    fn without_replication_the_margin_of_lenth_decides_what_is_named() {
        let mut own = analysis(vec![
            effect("a", 9.0, None, 80.0),
            effect("b", 1.0, None, 10.0),
            effect("a:b", 0.5, None, 10.0),
        ]);
        own.half_normal = points(&[("a:b", 0.2, 0.5), ("b", 0.7, 1.0), ("a", 1.4, 9.0)]);
        own.lenth =
            Some(LenthSummary { pse: 1.0, me: 3.0, sme: 5.0, active: vec!["a".to_owned()] });
        let chart = half_normal(&own).unwrap();
        assert_eq!(
            chart.summary,
            "Half-normal plot of 3 effects; 1 of them stands out from the noise."
        );
        let series = &chart.option["series"];
        assert_eq!(series[0]["data"][0]["name"], "a");
        assert_eq!(series[0]["data"][0]["label"], json!({ "show": true, "position": "left" }));
        assert_eq!(series[1]["data"].as_array().unwrap().len(), 2);
        assert_eq!(series[1]["markLine"]["data"], json!([{ "yAxis": 5.0 }]));
        own.half_normal.pop();
        assert!(half_normal(&own).is_none(), "two points show no pattern");
    }
}
