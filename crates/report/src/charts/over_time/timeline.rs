//! What each rank did, moment by moment: a row a rank, a thick stroke a stretch of time.

use serde_json::{Value, json};

use crate::charts::{Chart, series_colour, title};
use crate::figure::for_chart;
use crate::html::{Timeline, TimelineSpan};

/// Height of a rank's row, and of what is around the rows.
const ROW: usize = 34;
const AROUND: usize = 120;

/// Thickness of a stroke.
const STROKE: usize = 16;

/// The strokes of some ranks over the milliseconds since the first of them.
pub(crate) fn timeline(heading: &str, ranks: &[Timeline], activities: &[&str]) -> Chart {
    let rows: Vec<(String, &[TimelineSpan])> =
        ranks.iter().map(|own| (format!("rank {}", own.rank), &own.spans[..])).collect();
    let summary = format!(
        "What each of {} ranks did, moment by moment, in a few steps of the training.",
        ranks.len()
    );
    named_timeline(heading, &rows, activities, ("rank", summary))
}

/// The same for rows with names of their own, told what a row is and what the chart says.
pub(crate) fn named_timeline(
    heading: &str,
    rows: &[(String, &[TimelineSpan])],
    activities: &[&str],
    (row, summary): (&str, String),
) -> Chart {
    let starts = rows.iter().flat_map(|(_, spans)| *spans).map(|own| own.start_s);
    let begin = starts.reduce(f64::min).unwrap_or(0.0);
    let series: Vec<Value> = activities
        .iter()
        .enumerate()
        .filter_map(|(place, name)| {
            let data = strokes(rows, place, begin);
            (!data.is_empty()).then(|| of_activity(place, name, data))
        })
        .collect();
    let names: Vec<&str> = rows.iter().map(|(name, _)| name.as_str()).collect();
    Chart {
        option: json!({
            "title": title(heading),
            "tips": { "x": "ms", "y": row },
            "legend": { "top": 24, "left": 0, "type": "scroll" },
            "grid": { "top": 56 },
            "xAxis": { "type": "value", "name": "ms", "min": 0 },
            "yAxis": { "type": "category", "data": names, "inverse": true },
            "series": series,
        }),
        summary,
        height: AROUND + ROW * rows.len(),
    }
}

/// Two points a stretch in the row of its rank, and a gap after it.
fn strokes(rows: &[(String, &[TimelineSpan])], activity: usize, begin: f64) -> Vec<Value> {
    let point = |row: usize, seconds: f64| json!([for_chart(1e3 * (seconds - begin)), row]);
    let stroke = |row: usize, own: &TimelineSpan| {
        [point(row, own.start_s), point(row, own.end_s), json!([null, null])]
    };
    let of_row = |(row, (_, spans)): (usize, &(String, &[TimelineSpan]))| {
        let own = spans.iter().filter(|span| span.activity == activity);
        own.flat_map(|span| stroke(row, span)).collect::<Vec<_>>()
    };
    rows.iter().enumerate().flat_map(of_row).collect()
}

fn of_activity(place: usize, name: &str, data: Vec<Value>) -> Value {
    let colour = series_colour(place);
    json!({
        "type": "line",
        "name": name,
        "data": data,
        "symbol": "none",
        "connectNulls": false,
        "lineStyle": { "color": colour, "width": STROKE, "cap": "butt" },
        "itemStyle": { "color": colour },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_is_two_points_in_the_row_of_its_rank_and_a_gap() {
        let span = |activity, start_s, end_s| TimelineSpan { activity, start_s, end_s };
        let ranks = [
            Timeline { rank: 0, spans: vec![span(0, 2.0, 2.5), span(2, 2.5, 3.0)] },
            Timeline { rank: 3, spans: vec![span(0, 2.25, 2.75)] },
        ];
        let chart = timeline("Steps", &ranks, &["computing", "waiting", "updating"]);
        let series = chart.option["series"].as_array().unwrap();
        assert_eq!(series.len(), 2, "what nobody did has no colour");
        assert_eq!(series[0]["name"], "computing");
        let expected =
            json!([[0.0, 0], [500.0, 0], [null, null], [250.0, 1], [750.0, 1], [null, null],]);
        assert_eq!(series[0]["data"], expected);
        assert_eq!(series[1]["lineStyle"]["color"], "$s2");
        assert_eq!(chart.option["yAxis"]["data"], json!(["rank 0", "rank 3"]));
    }
}
