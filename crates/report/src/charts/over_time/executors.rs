//! What ran on each executor of a cluster, and when: a row a slot, a thick stroke a task.

use serde_json::{Value, json};
use trainwright_study::ClusterTask;

use crate::charts::{Chart, series_colour, title};
use crate::figure::for_chart;

/// Height of a slot's row, and of what is around the rows.
const ROW: usize = 26;
const AROUND: usize = 120;

/// Thickness of a stroke.
const STROKE: usize = 12;

/// A task in its row.
struct Placed<'a> {
    row: usize,
    task: &'a ClusterTask,
    start_s: f64,
    end_s: f64,
}

/// Whether a task is of a kind.
type Is = fn(&ClusterTask) -> bool;

/// How tasks ended, in the order of colours, and which they are.
const ENDS: [(&str, Is); 3] = [
    ("done", |task| task.status == "success" && !task.speculative),
    ("done by a second attempt beside a slow one", |task| {
        task.status == "success" && task.speculative
    }),
    ("failed, killed or lost", |task| task.status != "success"),
];

/// Tasks over the seconds since the first of them, a row for each slot of an executor.
pub(crate) fn executors(tasks: &[ClusterTask]) -> Chart {
    let (rows, placed) = placed(tasks);
    let stroke = |own: &Placed<'_>| {
        [
            json!([for_chart(own.start_s), own.row]),
            json!([for_chart(own.end_s), own.row]),
            json!([null, null]),
        ]
    };
    let series: Vec<Value> = ENDS
        .iter()
        .enumerate()
        .filter_map(|(place, (name, is))| {
            let own = placed.iter().filter(|own| is(own.task));
            let data: Vec<Value> = own.flat_map(stroke).collect();
            (!data.is_empty()).then(|| of_end(place, name, data))
        })
        .collect();
    Chart {
        option: json!({
            "title": title("What ran where"),
            "tips": { "x": "s", "y": "slot" },
            "legend": { "top": 24, "left": 0, "type": "scroll" },
            "grid": { "top": 56 },
            "xAxis": { "type": "value", "name": "s", "min": 0 },
            "yAxis": { "type": "category", "data": rows, "inverse": true },
            "series": series,
        }),
        summary: format!("When each of {} tasks ran, on which executor.", tasks.len()),
        height: AROUND + ROW * rows.len(),
    }
}

/// The names of the rows, and each task in the first row of its executor that is free then.
fn placed(tasks: &[ClusterTask]) -> (Vec<String>, Vec<Placed<'_>>) {
    let begin = tasks.iter().map(|task| task.launched_ms).min().unwrap_or(0);
    let mut sorted: Vec<&ClusterTask> = tasks.iter().collect();
    sorted.sort_by(|a, b| (&a.executor, a.launched_ms).cmp(&(&b.executor, b.launched_ms)));
    let mut rows: Vec<(&str, String, f64)> = Vec::new();
    let mut placed = Vec::new();
    for task in sorted {
        let start_s = (task.launched_ms - begin) as f64 / 1e3;
        let end_s = start_s + task.duration_s.unwrap_or(0.0);
        let free = rows.iter().position(|row| row.0 == task.executor && row.2 <= start_s);
        let row = free.unwrap_or_else(|| {
            let before = rows.iter().filter(|row| row.0 == task.executor).count();
            let name = format!("executor {} on {}, slot {}", task.executor, task.host, before + 1);
            rows.push((&task.executor, name, 0.0));
            rows.len() - 1
        });
        rows[row].2 = end_s;
        placed.push(Placed { row, task, start_s, end_s });
    }
    (rows.into_iter().map(|row| row.1).collect(), placed)
}

fn of_end(place: usize, name: &str, data: Vec<Value>) -> Value {
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
pub(crate) mod tests {
    use super::*;

    pub(crate) fn task(
        executor: &str,
        launched_ms: i64,
        seconds: f64,
        status: &str,
    ) -> ClusterTask {
        ClusterTask {
            label: "trial 1".to_owned(),
            partition: 0,
            attempt: 1,
            executor: executor.to_owned(),
            host: "127.0.0.1".to_owned(),
            status: status.to_owned(),
            speculative: false,
            launched_ms,
            duration_s: Some(seconds),
            scheduler_delay_s: Some(0.01),
            error: None,
            usage: None,
        }
    }

    #[test]
    fn tasks_that_overlap_get_rows_of_their_own() {
        let tasks = [
            task("0", 1_000, 2.0, "success"),
            task("0", 2_000, 2.0, "failed"),
            task("0", 3_500, 1.0, "success"),
            task("1", 1_000, 9.0, "success"),
        ];
        let (rows, placed) = placed(&tasks);
        assert_eq!(rows.len(), 3);
        let places: Vec<(usize, f64)> = placed.iter().map(|own| (own.row, own.start_s)).collect();
        assert_eq!(places, [(0, 0.0), (1, 1.0), (0, 2.5), (2, 0.0)]);
    }

    #[test]
    fn lost_tasks_have_a_colour_of_their_own() {
        let chart = executors(&[task("0", 0, 1.0, "success"), task("0", 5_000, 1.0, "killed")]);
        let names: Vec<&str> = chart.option["series"]
            .as_array()
            .unwrap()
            .iter()
            .map(|own| own["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["done", "failed, killed or lost"]);
    }
}
