//! What a search has learnt of the surface, and how the best came about, as tables.

use trainwright_report::figure;
use trainwright_report::terminal::TextTable;
use trainwright_search::{Contour, Slice, TracePoint};

/// Places along a factor that are shown; the report has them all.
const PLACES: usize = 5;
/// Steps of the trace that are shown.
const STEPS: usize = 12;

/// The objective along each factor round the best.
pub(super) fn slices(all: &[Slice]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let head = ["factor", "value", "expected", "from", "to"];
    let mut table = TextTable::with_header(head).numbers_in(2..5);
    for slice in all {
        for at in spread(slice.points.len(), PLACES) {
            let point = &slice.points[at];
            let numbers = [point.mean, point.low, point.high].map(figure);
            let words = [slice.factor.clone(), point.level.to_string()];
            table.row(words.into_iter().chain(numbers));
        }
    }
    format!(
        "\nAlong each factor, the others as in the best (nine in ten values lie between the last \
         two):\n{table}"
    )
}

/// The objective over the two factors that matter most.
pub(super) fn contour(own: &Contour) -> String {
    let across = spread(own.across_levels.len(), PLACES);
    let corner = format!("{} \\ {}", own.up, own.across);
    let names = across.iter().map(|&at| own.across_levels[at].to_string());
    let head = std::iter::once(corner).chain(names);
    let mut table = TextTable::with_header(head).numbers_in(1..across.len() + 1);
    for row in spread(own.up_levels.len(), PLACES) {
        let values = across.iter().map(|&at| figure(own.means[row][at]));
        table.row(std::iter::once(own.up_levels[row].to_string()).chain(values));
    }
    format!("\nExpected over the two that matter most, the others as in the best:\n{table}")
}

/// The trials at which the best became better, and the last one.
pub(super) fn trace(all: &[TracePoint]) -> String {
    let mut steps: Vec<&TracePoint> = Vec::new();
    for (at, own) in all.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| all[before].best);
        if own.best.is_some() && own.best != before || at + 1 == all.len() && own.best.is_some() {
            steps.push(own);
        }
    }
    if steps.is_empty() {
        return String::new();
    }
    let head = ["trial", "best", "promised gain %"];
    let mut table = TextTable::with_header(head).numbers_in(0..3);
    for own in &steps[steps.len().saturating_sub(STEPS)..] {
        let gain = own.gain.map_or_else(String::new, |gain| figure(100.0 * gain));
        let best = own.best.map_or_else(String::new, figure);
        table.row([own.trial.to_string(), best, gain]);
    }
    format!("\nHow the best came about, with the gain that the next trial promised then:\n{table}")
}

/// So many places out of a number of them, evenly, the first and the last among them.
fn spread(count: usize, most: usize) -> Vec<usize> {
    if count <= most {
        return (0..count).collect();
    }
    (0..most).map(|at| at * (count - 1) / (most - 1)).collect()
}

#[cfg(test)]
mod tests {
    use trainwright_search::SlicePoint;
    use trainwright_study::Level;

    use super::*;

    #[test]
    fn a_slice_shows_its_ends_and_what_lies_between() {
        let point = |at: i64| SlicePoint {
            level: Level::Integer(at),
            mean: at as f64 / 100.0,
            low: 0.0,
            high: 1.0,
        };
        let slice = Slice { factor: "lr".to_owned(), points: (0..=20).map(point).collect() };
        let text = slices(&[slice]);
        let rows: Vec<&str> = text.lines().filter(|line| line.contains("lr")).collect();
        let values: Vec<&str> =
            rows.iter().filter_map(|row| row.split_whitespace().nth(1)).collect();
        assert_eq!(values, ["0", "5", "10", "15", "20"], "{text}");
        assert!(text.contains("0.15"), "{text}");
    }

    #[test]
    fn a_contour_has_a_row_for_each_place_of_the_second_factor() {
        let levels = |count: i64| (0..count).map(Level::Integer).collect::<Vec<_>>();
        let means = vec![vec![0.5, 0.25, 0.125]; 2];
        let (across, up) = ("a".to_owned(), "b".to_owned());
        let own = Contour { across, up, across_levels: levels(3), up_levels: levels(2), means };
        let text = contour(&own);
        assert_eq!(text.lines().filter(|line| line.contains("0.125")).count(), 2, "{text}");
        assert!(text.contains("b \\ a"), "{text}");
    }

    #[test]
    fn the_trace_has_the_steps_that_were_better_and_the_last() {
        let step = |trial, best| TracePoint { trial, best, gain: Some(0.04) };
        let text = trace(&[
            step(1, None),
            step(2, Some(3.0)),
            step(3, Some(3.0)),
            step(4, Some(2.5)),
            step(5, Some(2.5)),
        ]);
        let trials: Vec<&str> =
            text.lines().filter_map(|line| line.split_whitespace().next()).collect();
        assert!(trials.ends_with(&["2", "4", "5"]), "{text}");
        assert_eq!(trace(&[step(1, None)]), "");
    }
}
