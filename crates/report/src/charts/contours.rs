//! A fitted surface seen from above.

use serde_json::{Value, json};
use trainwright_analysis::{Contour, Surface, SurfacePoint};
use trainwright_study::Scale;

use super::{Chart, series_colour, title};
use crate::contour::{Grid, contour, levels};
use crate::figure::{figure, for_chart};

/// Heights that are drawn, about.
const LINES: usize = 8;

/// Lines of equal response over two factors, with the point worth marking; none where the surface
/// is flat.
pub(crate) fn contours(
    surface: &Surface,
    own: &Contour,
    marked: Option<(&SurfacePoint, &str)>,
) -> Option<Chart> {
    let grid = Grid { x: &own.x_values, y: &own.y_values, heights: &own.heights };
    let (mut series, [lowest, highest]) = height_lines(&grid)?;
    if let Some((point, what)) = marked {
        let at = [place(surface, &own.x, point), place(surface, &own.y, point)];
        let [x, y] = at.map(figure);
        let tip = format!(
            "{what}\n{} {x}\n{} {y}\n{} {}",
            own.x,
            own.y,
            surface.response,
            figure(point.value)
        );
        series.push(json!({
            "type": "scatter", "data": [{ "value": at.map(for_chart), "tip": tip }],
            "symbol": "diamond", "symbolSize": 14, "itemStyle": { "color": "$accent" },
        }));
    }
    Some(Chart {
        option: json!({
            "title": title(&format!("{} by {} and {}", surface.response, own.x, own.y)),
            "legend": { "top": 24, "left": 0 },
            "grid": { "top": 70 },
            "xAxis": axis(surface, &own.x, grid.x),
            "yAxis": axis(surface, &own.y, grid.y),
            "series": series,
        }),
        summary: format!(
            "Lines of equal {} over {} and {}, from {} to {}.",
            surface.response,
            own.x,
            own.y,
            figure(lowest),
            figure(highest)
        ),
        height: 360,
    })
}

/// Lines of equal height over a grid; nothing where it is flat, else also the lowest and highest.
pub(super) fn height_lines(grid: &Grid<'_>) -> Option<(Vec<Value>, [f64; 2])> {
    let heights = levels(grid, LINES);
    let ends = [*heights.first()?, *heights.last()?];
    let lines = heights.iter().enumerate();
    Some((lines.map(|(at, &height)| height_line(grid, height, series_colour(at))).collect(), ends))
}

/// All lines of one height.
fn height_line(grid: &Grid<'_>, height: f64, colour: String) -> Value {
    let mut points = Vec::new();
    for line in contour(grid, height) {
        points.extend(line.into_iter().map(|point| json!(point.map(for_chart))));
        // A missing value lifts the pen between one line and the next.
        points.push(json!([null, null]));
    }
    json!({
        "type": "line", "name": figure(height), "data": points, "symbol": "none",
        "silent": true, "lineStyle": { "color": colour, "width": 1.6 },
        "itemStyle": { "color": colour },
    })
}

/// Coordinate of a point along a factor.
fn place(surface: &Surface, factor: &str, point: &SurfacePoint) -> f64 {
    let index = surface.factors.iter().position(|own| own.name == factor);
    point.at[index.expect("a contour lies over factors of its surface")]
}

/// An axis on the factor's own scale, over all of its grid.
fn axis(surface: &Surface, name: &str, values: &[f64]) -> Value {
    let factor = surface.factors.iter().find(|own| own.name == name);
    let logarithmic = factor.is_some_and(|own| own.scale != Scale::Linear);
    let [from, to] = [values[0], values[values.len() - 1]].map(for_chart);
    let kind = if logarithmic { "log" } else { "value" };
    json!({ "type": kind, "name": name, "min": from, "max": to })
}

#[cfg(test)]
mod tests {
    use trainwright_analysis::{SurfaceFactor, SurfaceKind};

    use super::*;

    /// A plane of height `x + 10 y` over both factors; `y` is logarithmic.
    fn plane(slope: f64) -> (Surface, Contour) {
        let factor = |name: &str, scale, low, high| SurfaceFactor {
            name: name.to_owned(),
            scale,
            low,
            high,
        };
        let (x, y) = (vec![0.0, 5.0, 10.0], vec![1.0, 10.0]);
        let heights =
            y.iter().map(|y| x.iter().map(|x| slope * (x + 10.0 * y)).collect()).collect();
        let contour = Contour {
            x: "p".to_owned(),
            y: "q".to_owned(),
            x_values: x,
            y_values: y,
            heights,
            held: vec![],
        };
        let surface = Surface {
            response: "z".to_owned(),
            n: 9,
            alpha: 0.05,
            direction: None,
            factors: vec![
                factor("q", Scale::Log, 1.0, 10.0),
                factor("p", Scale::Linear, 0.0, 10.0),
            ],
            radius: 1.0,
            coefficients: vec![],
            r2: None,
            sigma: None,
            df_residual: 0,
            lack_of_fit_p: None,
            kind: SurfaceKind::Ridge,
            stationary: None,
            curvatures: vec![],
            optimum: None,
            contours: vec![],
            text: String::new(),
            findings: vec![],
        };
        (surface, contour)
    }

    #[test]
    fn lines_lie_at_their_height_and_axes_keep_their_scale() {
        let (surface, contour) = plane(1.0);
        let chart = contours(&surface, &contour, None).unwrap();
        assert_eq!(
            chart.option["xAxis"],
            json!({ "type": "value", "name": "p", "min": 0.0, "max": 10.0 })
        );
        assert_eq!(
            chart.option["yAxis"],
            json!({ "type": "log", "name": "q", "min": 1.0, "max": 10.0 })
        );
        let series = chart.option["series"].as_array().unwrap();
        assert_eq!(chart.summary, "Lines of equal z over p and q, from 20 to 100.");
        for line in series {
            let height: f64 = line["name"].as_str().unwrap().parse().unwrap();
            let points = line["data"].as_array().unwrap();
            assert!(points.last().unwrap()[0].is_null(), "the pen is lifted at the end");
            for point in points.iter().filter(|own| !own[0].is_null()) {
                let [x, y] = [0, 1].map(|at| point[at].as_f64().unwrap());
                assert!((x + 10.0 * y - height).abs() < 1e-3, "{x}, {y} at {height}");
            }
        }
    }

    #[test]
    fn the_marked_point_stands_at_its_own_factors_whatever_their_order() {
        let (surface, contour) = plane(1.0);
        // The surface lists `q` before `p`, the contour has `p` along its first side.
        let point = SurfacePoint {
            at: vec![3.0, 7.5],
            coded: vec![0.0, 0.5],
            value: 37.5,
            ci_low: None,
            ci_high: None,
            inside: true,
            at_edge_of: vec![],
            on_border: false,
        };
        let chart = contours(&surface, &contour, Some((&point, "best"))).unwrap();
        let mark = chart.option["series"].as_array().unwrap().last().unwrap();
        assert_eq!(mark["data"][0]["value"], json!([7.5, 3.0]));
        assert_eq!(mark["data"][0]["tip"], "best\np 7.500\nq 3\nz 37.50");
    }

    #[test]
    fn a_flat_surface_has_no_lines() {
        let (surface, contour) = plane(0.0);
        assert!(contours(&surface, &contour, None).is_none());
    }
}
