//! Where each rank's time went: a bar a rank, cut by what it did.

use serde_json::{Value, json};

use crate::charts::{Chart, series_colour, title};
use crate::figure::for_chart;
use crate::html::RankSum;

/// Height of a rank's bar, and of what is around the bars.
const ROW: usize = 34;
const AROUND: usize = 120;

/// Seconds of each rank by activity.
pub(crate) fn rank_times(ranks: &[RankSum], activities: &[&str]) -> Chart {
    let series: Vec<Value> = activities
        .iter()
        .enumerate()
        .filter(|(place, _)| ranks.iter().any(|rank| rank.seconds[*place] > 0.0))
        .map(|(place, name)| {
            let bars: Vec<Value> = ranks.iter().map(|rank| bar(rank, place, name)).collect();
            json!({
                "type": "bar",
                "name": name,
                "stack": "time",
                "data": bars,
                "itemStyle": { "color": series_colour(place) },
            })
        })
        .collect();
    let names: Vec<String> = ranks.iter().map(|own| format!("rank {}", own.rank)).collect();
    Chart {
        option: json!({
            "title": title("Time of each rank"),
            "legend": { "top": 24, "left": 0, "type": "scroll" },
            "grid": { "top": 56 },
            "xAxis": { "type": "value", "name": "s", "min": 0 },
            "yAxis": { "type": "category", "data": names, "inverse": true },
            "series": series,
        }),
        summary: format!("Seconds of each of {} ranks by what they did.", ranks.len()),
        height: AROUND + ROW * ranks.len(),
    }
}

fn bar(rank: &RankSum, place: usize, name: &str) -> Value {
    let seconds = rank.seconds[place];
    let tip = format!("{name}\nrank {}\n{seconds:.3} s", rank.rank);
    json!({ "value": for_chart(seconds), "tip": tip })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_stack_what_was_done_and_leave_out_what_was_not() {
        let ranks = [
            RankSum { rank: 0, seconds: vec![1.0, 0.0, 0.25] },
            RankSum { rank: 1, seconds: vec![2.0, 0.0, 0.0] },
        ];
        let chart = rank_times(&ranks, &["computing", "waiting", "updating"]);
        let series = chart.option["series"].as_array().unwrap();
        let names: Vec<&Value> = series.iter().map(|own| &own["name"]).collect();
        assert_eq!(names, ["computing", "updating"]);
        assert!(series.iter().all(|own| own["stack"] == "time"));
        assert_eq!(series[0]["data"][1]["value"], 2.0);
        assert_eq!(series[1]["data"][0]["tip"], "updating\nrank 0\n0.250 s");
    }
}
