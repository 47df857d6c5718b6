//! What the jobs of a load test did.

use serde_json::{Value, json};
use trainwright_queueing::{LoadModel, MeasuredJob, MeasuredQueue, QueueKind, jobs_over_time};

use super::response_curve::{named, point};
use super::{Chart, title};
use crate::figure::{figure, for_chart};
use crate::thin::{sample, thin};

/// Points of the model's curve.
const POINTS: u32 = 120;

/// Jobs, and changes of their number, that a chart shows.
const MOST_POINTS: usize = 2_000;

/// Mean response against arrival rate by the model, with what was measured.
pub(crate) fn load_curve(measured: &MeasuredQueue, model: &LoadModel) -> Chart {
    let full = f64::from(model.servers) * model.service_rate;
    let kind = QueueKind::Ggc { scv_arrival: model.scv_arrival, scv_service: model.scv_service };
    let curve: Vec<(f64, f64)> = (1..=POINTS)
        .filter_map(|step| {
            let rate = 0.96 * full * f64::from(step) / f64::from(POINTS);
            let queue = kind.queue(rate, model.service_rate, model.servers).ok()?;
            Some((rate, queue.steady_state().mean_response))
        })
        .collect();
    let band = model.mean_response;
    let mut line = named(&format!("{} in the long run", model.queue), &curve, 0);
    line["markLine"] = json!({
        "symbol": "none", "silent": true,
        "label": { "formatter": "all servers busy", "position": "insideEndTop" },
        "lineStyle": { "color": "$muted", "type": "dashed" }, "data": [{ "xAxis": for_chart(full) }],
    });
    let rate = model.arrival_rate;
    let mut runs =
        named("95 % of runs as short as this", &[(rate, band.low), (rate, band.high)], 1);
    runs["symbol"] = json!("rect");
    let series = vec![line, runs, point("measured", rate, measured.mean_response)];
    let highest = full.max(rate) * 1.05;
    Chart {
        option: json!({
            "title": title("Mean response against arrival rate"),
            "tips": { "x": "jobs a second", "y": "mean response (s)" },
            "legend": { "top": 20 },
            "grid": { "top": 48 },
            "xAxis": {
                "type": "value", "name": "jobs a second", "min": 0, "max": for_chart(highest),
                "axisLabel": { "showMaxLabel": false },
            },
            "yAxis": { "type": "value", "name": "mean response (s)", "min": 0 },
            "series": series,
        }),
        summary: format!(
            "Mean response against arrival rate by {}; {} s were measured at {} jobs a second.",
            model.queue,
            figure(measured.mean_response),
            figure(rate)
        ),
        height: 340,
    }
}

/// Response and wait of each job by its arrival.
pub(crate) fn response_of_jobs(jobs: &[MeasuredJob]) -> Chart {
    let weights: Vec<f64> = jobs.iter().map(MeasuredJob::response).collect();
    let shown = sample(&weights, MOST_POINTS);
    let series = |name: &str, colour: &str, value: fn(&MeasuredJob) -> f64| {
        let data: Vec<Value> = shown
            .iter()
            .map(|&index| {
                let job = &jobs[index];
                json!([for_chart(job.arrival), for_chart(value(job)), format!("job {}", index + 1)])
            })
            .collect();
        json!({
            "type": "scatter", "name": name, "data": data, "symbolSize": 6,
            "itemStyle": { "color": colour, "opacity": 0.8 },
        })
    };
    Chart {
        option: json!({
            "title": title("Each job's response and wait"),
            "tips": { "x": "arrival (s)", "y": "seconds" },
            "legend": { "top": 20 },
            "grid": { "top": 48 },
            "xAxis": { "type": "value", "name": "arrival (s)" },
            "yAxis": { "type": "value", "name": "seconds", "min": 0 },
            "series": [
                series("response", "$accent", MeasuredJob::response),
                series("wait", "$s1", MeasuredJob::wait),
            ],
        }),
        summary: format!("Response and wait of {} jobs by their arrival.", jobs.len()),
        height: 320,
    }
}

/// Number of jobs in the system over time.
pub(crate) fn jobs_in_system(jobs: &[MeasuredJob]) -> Chart {
    let path = jobs_over_time(jobs);
    let (at, values): (Vec<f64>, Vec<f64>) =
        path.iter().map(|(moment, number)| (*moment, f64::from(*number))).unzip();
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for (moment, number) in thin(&at, &values, MOST_POINTS) {
        if let Some(&(_, before)) = steps.last() {
            steps.push((moment, before));
        }
        steps.push((moment, number));
    }
    let most = path.iter().map(|(_, number)| *number).max().unwrap_or(0);
    Chart {
        option: json!({
            "title": title("Jobs in the system"),
            "tips": { "x": "second", "y": "jobs" },
            "grid": { "top": 30 },
            "xAxis": { "type": "value", "name": "seconds since the beginning" },
            "yAxis": { "type": "value", "name": "jobs", "min": 0, "minInterval": 1 },
            "series": [named("jobs waiting or in service", &steps, 0)],
        }),
        summary: format!("Number of jobs waiting or in service over time; at most {most}."),
        height: 260,
    }
}
