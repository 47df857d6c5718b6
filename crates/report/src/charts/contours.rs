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
    let heights = levels(&grid, LINES);
    let (lowest, highest) = (*heights.first()?, *heights.last()?);
    let lines = heights.iter().enumerate();
    let mut series: Vec<Value> =
        lines.map(|(index, &height)| height_line(&grid, height, series_colour(index))).collect();
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
