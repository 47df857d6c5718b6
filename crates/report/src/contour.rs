//! Lines along which a surface has one height.

use std::collections::BTreeMap;

/// Heights over a rectangular grid: `heights[row][column]` belongs to `y[row]` and `x[column]`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid<'a> {
    pub(crate) x: &'a [f64],
    pub(crate) y: &'a [f64],
    pub(crate) heights: &'a [Vec<f64>],
}

/// Round heights between the lowest and the highest of a grid, about `wanted` of them.
pub(crate) fn levels(grid: &Grid<'_>, wanted: usize) -> Vec<f64> {
    let all = grid.heights.iter().flatten().copied();
    let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), height| {
        (low.min(height), high.max(height))
    });
    let spread = high - low;
    if !(spread.is_finite() && spread > 0.0) {
        return Vec::new();
    }
    let rough = spread / (wanted + 1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|&step| step >= rough)
        .unwrap_or(10.0 * power);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last)
        .map(|at| at as f64 * step)
        .filter(|level| *level > low && *level < high)
        .collect()
}

/// An edge of the grid: from a node to its right (`false`) or upper (`true`) neighbour.
type Edge = (usize, usize, bool);

/// The lines of one height, each a chain of points, by marching squares (Maple, "Geometric design
/// and space planning using the marching squares and marching cube algorithms", 2003).
pub(crate) fn contour(grid: &Grid<'_>, level: f64) -> Vec<Vec<[f64; 2]>> {
    let mut links: BTreeMap<Edge, Vec<Edge>> = BTreeMap::new();
    for row in 0..grid.y.len().saturating_sub(1) {
        for column in 0..grid.x.len().saturating_sub(1) {
            for [a, b] in segments(grid, row, column, level) {
                links.entry(a).or_default().push(b);
                links.entry(b).or_default().push(a);
            }
        }
    }
    let mut lines = Vec::new();
    // Lines that end at the border first; what is left are rings.
    let ends: Vec<Edge> =
        links.iter().filter(|(_, others)| others.len() == 1).map(|(edge, _)| *edge).collect();
    let all: Vec<Edge> = links.keys().copied().collect();
    for start in ends.into_iter().chain(all) {
        let chain = walk(&mut links, start);
        if chain.len() > 1 {
            lines.push(chain.into_iter().map(|edge| crossing(grid, edge, level)).collect());
        }
    }
    lines
}

/// Follows a line from an edge to its end, taking away what was walked.
fn walk(links: &mut BTreeMap<Edge, Vec<Edge>>, start: Edge) -> Vec<Edge> {
    let mut chain = vec![start];
    let mut here = start;
    while let Some(next) = links.get_mut(&here).and_then(Vec::pop) {
        if let Some(back) = links.get_mut(&next)
            && let Some(place) = back.iter().position(|edge| *edge == here)
        {
            back.swap_remove(place);
        }
        chain.push(next);
        here = next;
    }
    chain
}

/// The pieces of a line within one cell, each between two of its edges.
fn segments(grid: &Grid<'_>, row: usize, column: usize, level: f64) -> Vec<[Edge; 2]> {
    let height = |row: usize, column: usize| grid.heights[row][column];
    let corners = [
        height(row, column),
        height(row, column + 1),
        height(row + 1, column + 1),
        height(row + 1, column),
    ];
    let above = corners.map(|own| own > level);
    let (bottom, right) = ((row, column, false), (row, column + 1, true));
    let (top, left) = ((row + 1, column, false), (row, column, true));
    let edges = [bottom, right, top, left];
    let crossed: Vec<Edge> =
        (0..4).filter(|&at| above[at] != above[(at + 1) % 4]).map(|at| edges[at]).collect();
    match *crossed.as_slice() {
        [a, b] => vec![[a, b]],
        // A saddle: the height in the middle says which two corners belong together.
        [bottom, right, top, left] => {
            let middle_above = corners.iter().sum::<f64>() / 4.0 > level;
            if middle_above == above[0] {
                vec![[bottom, right], [top, left]]
            } else {
                vec![[left, bottom], [right, top]]
            }
        }
        _ => Vec::new(),
    }
}

/// Where a line crosses an edge, by linear interpolation.
fn crossing(grid: &Grid<'_>, (row, column, upwards): Edge, level: f64) -> [f64; 2] {
    let (to_row, to_column) = if upwards { (row + 1, column) } else { (row, column + 1) };
    let (from, to) = (grid.heights[row][column], grid.heights[to_row][to_column]);
    let share = (level - from) / (to - from);
    [
        grid.x[column] + share * (grid.x[to_column] - grid.x[column]),
        grid.y[row] + share * (grid.y[to_row] - grid.y[row]),
    ]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn surface(nodes: usize, height: impl Fn(f64, f64) -> f64) -> (Vec<f64>, Vec<Vec<f64>>) {
        let axis: Vec<f64> =
            (0..nodes).map(|at| 2.0 * at as f64 / (nodes - 1) as f64 - 1.0).collect();
        let heights = axis.iter().map(|y| axis.iter().map(|x| height(*x, *y)).collect()).collect();
        (axis, heights)
    }

    #[test]
    fn a_bowl_has_round_closed_lines() {
        let (axis, heights) = surface(41, |x, y| x * x + y * y);
        let grid = Grid { x: &axis, y: &axis, heights: &heights };
        let lines = contour(&grid, 0.49);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].first(), lines[0].last(), "a ring closes");
        for [x, y] in &lines[0] {
            assert!((x.hypot(*y) - 0.7).abs() < 2e-3);
        }
    }

    #[test]
    fn a_saddle_has_two_branches() {
        let (axis, heights) = surface(40, |x, y| x * y);
        let grid = Grid { x: &axis, y: &axis, heights: &heights };
        assert_eq!(contour(&grid, 0.25).len(), 2);
        assert!(contour(&grid, 7.0).is_empty());
    }

    #[test]
    fn levels_are_round_and_inside() {
        let (axis, heights) = surface(11, |x, _| 3.0 * x + 10.0);
        let grid = Grid { x: &axis, y: &axis, heights: &heights };
        assert_eq!(levels(&grid, 6), [8.0, 9.0, 10.0, 11.0, 12.0]);
        let (axis, flat) = surface(5, |_, _| 2.0);
        assert!(levels(&Grid { x: &axis, y: &axis, heights: &flat }, 6).is_empty());
    }

    proptest! {
        #[test]
        fn points_of_a_plane_lie_at_their_height(
            a in -3.0..3.0f64, b in 0.1..3.0f64, level in -2.0..2.0f64,
        ) {
            let (axis, heights) = surface(13, |x, y| a * x + b * y);
            let grid = Grid { x: &axis, y: &axis, heights: &heights };
            for line in contour(&grid, level) {
                for [x, y] in line {
                    prop_assert!((a * x + b * y - level).abs() < 1e-9);
                }
            }
        }
    }
}
