//! What the jobs of a load test did.

use serde_json::{Value, json};
use trainwright_analysis::wording::count;
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
        summary: format!("Response and wait of {} by arrival.", count(jobs.len(), "job")),
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

#[cfg(test)]
mod tests {
    use trainwright_queueing::{Interval, measure};

    use super::*;

    fn jobs(times: &[[f64; 3]]) -> Vec<MeasuredJob> {
        times.iter().map(|&[arrival, start, end]| MeasuredJob { arrival, start, end }).collect()
    }

    /// The points of a packed line.
    fn unpacked(line: &Value) -> Vec<(f64, f64)> {
        let number = |value: &Value| value.as_f64().unwrap();
        let packed = &line["packed"];
        let place = |axis: usize, steps: &Value| {
            number(&packed["from"][axis]) + number(&packed["step"][axis]) * number(steps)
        };
        let at = packed["at"].as_array().unwrap();
        at.chunks(2).map(|own| (place(0, &own[0]), place(1, &own[1]))).collect()
    }

    #[test]
    fn the_number_of_jobs_goes_in_steps() {
        // One job from 0 to 4, another from 1 to 2.
        let chart = jobs_in_system(&jobs(&[[0.0, 0.0, 4.0], [1.0, 1.0, 2.0]]));
        let steps = unpacked(&chart.option["series"][0]);
        let expected =
            [(0.0, 1.0), (1.0, 1.0), (1.0, 2.0), (2.0, 2.0), (2.0, 1.0), (4.0, 1.0), (4.0, 0.0)];
        assert_eq!(steps.len(), expected.len());
        for (own, wanted) in steps.iter().zip(expected) {
            assert!(
                (own.0 - wanted.0).abs() < 1e-9 && (own.1 - wanted.1).abs() < 1e-9,
                "{steps:?}"
            );
        }
        assert_eq!(chart.summary, "Number of jobs waiting or in service over time; at most 2.");
        assert!(jobs_in_system(&[]).summary.ends_with("at most 0."));
    }

    #[test]
    fn each_job_is_drawn_by_its_arrival_with_response_and_wait() {
        let chart = response_of_jobs(&jobs(&[[2.0, 2.5, 5.0]]));
        assert_eq!(chart.option["series"][0]["data"], json!([[2.0, 3.0, "job 1"]]));
        assert_eq!(chart.option["series"][1]["data"], json!([[2.0, 0.5, "job 1"]]));
        assert_eq!(chart.summary, "Response and wait of 1 job by arrival.");
    }

    #[test]
    fn the_models_curve_is_that_of_the_single_server() {
        let times = [[0.0, 0.0, 0.5], [1.0, 1.0, 1.25], [2.0, 2.0, 2.75], [3.0, 3.0, 3.5]];
        let measured = measure(&jobs(&times), 0, 1, 7).unwrap();
        let band = Interval { estimate: 1.0, low: 0.8, high: 1.3 };
        let model = LoadModel {
            queue: "M/M/1".to_owned(),
            arrival_rate: 1.0,
            scv_arrival: 1.0,
            service_rate: 2.0,
            scv_service: 1.0,
            servers: 1,
            utilisation: 0.5,
            steady_state: None,
            mean_wait: band,
            mean_response: band,
            runs: 10,
            response_agrees: true,
            dependence: None,
            agrees: true,
        };
        let chart = load_curve(&measured, &model);
        let series = &chart.option["series"];
        let curve = unpacked(&series[0]);
        assert_eq!(curve.len(), POINTS as usize);
        let tallest = 1.0 / (2.0 - 0.96 * 2.0);
        for (rate, response) in curve {
            // Mean response of M/M/1: 1 / (mu - lambda). A step of the drawing is 1/2000 of its
            // height, and one of the rate counts most at the steep end.
            let expected = 1.0 / (2.0 - rate);
            assert!((response - expected).abs() < 0.02 * tallest, "{rate}: {response}");
        }
        assert_eq!(series[0]["markLine"]["data"], json!([{ "xAxis": 2.0 }]));
        assert_eq!(series[2]["data"][0][0], 1.0);
        assert_eq!(series[2]["data"][0][1], 0.5, "the mean of the four responses");
        assert_eq!(chart.option["xAxis"]["max"], 2.1);
    }
}
