//! How the response of a queue grows with load, and shrinks with servers.

use serde_json::{Value, json};
use trainwright_queueing::{Measure, Queue, QueueAnswer, QueueKind, Statistic, Target};

use super::{Chart, packed, title, with_unit};
use crate::figure::{figure, for_chart};

/// Points of a curve.
const POINTS: u32 = 120;

/// Largest utilisation that a curve shows; beyond, responses dwarf the rest.
const LAST: f64 = 0.96;

/// Servers shown beyond those in use.
const MORE_SERVERS: u32 = 6;

/// Mean response, and quantiles where known, against utilisation.
pub(crate) fn response_curve(
    answer: &QueueAnswer,
    target: Option<&Target>,
    unit: Option<&str>,
) -> Chart {
    let full = f64::from(answer.servers) * answer.service_rate;
    let highest = match answer.kind {
        QueueKind::Mmck { .. } | QueueKind::Finite { .. } => 3.0 * full.max(answer.arrival_rate),
        _ => full * LAST.max(0.5 * (1.0 + answer.steady_state.utilisation)).min(0.999),
    };
    let curve: Vec<(f64, Queue)> = (1..=POINTS)
        .filter_map(|step| {
            let rate = highest * f64::from(step) / f64::from(POINTS);
            let queue = answer.kind.queue(rate, answer.service_rate, answer.servers).ok()?;
            Some((queue.steady_state().utilisation, queue))
        })
        .collect();
    let line = |value: &dyn Fn(&Queue) -> Option<f64>| -> Vec<(f64, f64)> {
        curve.iter().filter_map(|(at, queue)| Some((*at, value(queue)?))).collect()
    };
    let mut series =
        vec![named("mean", &line(&|queue| Some(queue.steady_state().mean_response)), 0)];
    if answer.quantiles.response.p90.is_some() {
        series.push(named("90 % within", &line(&|queue| queue.quantiles().response.p90), 1));
        series.push(named("99 % within", &line(&|queue| queue.quantiles().response.p99), 2));
    }
    let state = &answer.steady_state;
    series.push(point("this queue", state.utilisation, state.mean_response));
    if let Some(target) = target.filter(|own| own.measure() == Measure::Response) {
        series[0]["markLine"] = target_line(target);
    }
    let (busy, response) = (figure(100.0 * state.utilisation), figure(state.mean_response));
    Chart {
        option: json!({
            "title": title("Response against utilisation"),
            "tips": { "x": "utilisation", "y": "response" },
            "legend": { "top": 20 },
            "grid": { "top": 48 },
            "xAxis": { "type": "value", "name": "utilisation", "min": 0, "max": 1 },
            "yAxis": { "type": "value", "name": with_unit("response", unit), "min": 0 },
            "series": series,
        }),
        summary: format!(
            "Response of {} against utilisation; at {busy} % the mean response is {response}.",
            answer.queue
        ),
        height: 340,
    }
}

/// The limited figure, or the mean response, against the number of servers.
pub(crate) fn response_by_servers(
    answer: &QueueAnswer,
    target: Option<&Target>,
    unit: Option<&str>,
) -> Chart {
    let name = target.map_or_else(|| "mean response".to_owned(), ToString::to_string);
    let needed = answer.target.as_ref().map_or(answer.servers, |own| own.servers_needed);
    let last = answer.servers.max(needed) + MORE_SERVERS;
    // Wide queues are shown around what is in use, not from one server on.
    let first = answer.servers.min(needed).saturating_sub(3 * MORE_SERVERS).max(1);
    let value = |servers: u32| -> Option<(f64, f64)> {
        let queue = answer.kind.queue(answer.arrival_rate, answer.service_rate, servers).ok()?;
        Some((f64::from(servers), figure_of(&queue, target)?))
    };
    let points: Vec<(f64, f64)> = (first..=last).filter_map(value).collect();
    let mut line = named(&name, &points, 0);
    line["symbol"] = json!("circle");
    if let Some(target) = target {
        line["markLine"] = target_line(target);
    }
    let here = value(answer.servers);
    let mut series = vec![line];
    series.extend(here.map(|(x, y)| point("this queue", x, y)));
    let axis = json!({ "type": "value", "name": "servers", "minInterval": 1, "scale": true });
    Chart {
        option: json!({
            "title": title("What more servers bring"),
            "tips": { "x": "servers", "y": name },
            "legend": { "top": 20 },
            "grid": { "top": 48 },
            "xAxis": axis,
            "yAxis": { "type": "value", "name": with_unit(&name, unit), "min": 0 },
            "series": series,
        }),
        summary: format!("The {name} at the same arrivals with {first} to {last} servers."),
        height: 300,
    }
}

/// The figure that a target limits; the mean response where there is none.
fn figure_of(queue: &Queue, target: Option<&Target>) -> Option<f64> {
    let state = queue.steady_state();
    let Some(target) = target else { return Some(state.mean_response) };
    match (target.statistic(), target.measure()) {
        (Statistic::Mean, Measure::Response) => Some(state.mean_response),
        (Statistic::Mean, Measure::Wait) => Some(state.mean_wait),
        (Statistic::Quantile(part), Measure::Response) => queue.response_within(part),
        (Statistic::Quantile(part), Measure::Wait) => queue.wait_within(part),
    }
}

pub(super) fn named(name: &str, line: &[(f64, f64)], index: usize) -> Value {
    json!({
        "type": "line", "name": name, "label_of_line": name, "packed": packed(line),
        "color": format!("$s{index}"), "dash": "solid",
    })
}

pub(super) fn point(name: &str, x: f64, y: f64) -> Value {
    json!({
        "type": "scatter", "name": name, "symbolSize": 12, "data": [[for_chart(x), for_chart(y), name]],
        "itemStyle": { "color": "$s3" }, "z": 5,
    })
}

fn target_line(target: &Target) -> Value {
    let label = format!("target {}", figure(target.limit()));
    json!({
        "symbol": "none", "silent": true, "label": { "formatter": label, "position": "insideStartTop" },
        "lineStyle": { "color": "$muted", "type": "dashed" },
        "data": [{ "yAxis": for_chart(target.limit()) }],
    })
}

#[cfg(test)]
mod tests {
    use trainwright_queueing::{QueueDraft, QueueName};

    use super::*;

    fn answer(
        name: QueueName,
        arrival: f64,
        servers: Option<u32>,
        target: Option<Target>,
    ) -> QueueAnswer {
        let draft = QueueDraft {
            name,
            arrival_rate: Some(arrival),
            service_rate: Some(1.0),
            servers,
            capacity: None,
            population: None,
            scv_arrival: None,
            scv_service: None,
            target,
        };
        draft.answer().unwrap()
    }

    fn limited(measure: Measure, statistic: Statistic, limit: f64) -> Target {
        Target::new(measure, statistic, limit).unwrap()
    }

    #[test]
    fn figures_of_a_single_server_follow_their_closed_forms() {
        // M/M/1 at 0.5: response 2, wait 1; the response is exponential with mean 2.
        let queue = QueueKind::Mmc.queue(0.5, 1.0, 1).unwrap();
        let of = |target: Option<Target>| figure_of(&queue, target.as_ref()).unwrap();
        assert!((of(None) - 2.0).abs() < 1e-12);
        let mean = |measure| of(Some(limited(measure, Statistic::Mean, 9.0)));
        assert!((mean(Measure::Response) - 2.0).abs() < 1e-12);
        assert!((mean(Measure::Wait) - 1.0).abs() < 1e-12);
        let quantile = |measure| of(Some(limited(measure, Statistic::Quantile(0.9), 9.0)));
        assert!((quantile(Measure::Response) - 2.0 * 10f64.ln()).abs() < 1e-6);
        // A wait beyond t has the chance 0.5 exp(-t / 2).
        assert!((quantile(Measure::Wait) - 2.0 * 5f64.ln()).abs() < 1e-6);
    }

    #[test]
    fn a_curve_stops_short_of_full_load_but_not_of_this_queue() {
        let last = |arrival: f64| {
            let chart =
                response_curve(&answer(QueueName::Mm1, arrival, None, None), None, Some("s"));
            let packed = &chart.option["series"][0]["packed"];
            let at = packed["at"].as_array().unwrap();
            let steps = at[at.len() - 2].as_f64().unwrap();
            packed["from"][0].as_f64().unwrap() + packed["step"][0].as_f64().unwrap() * steps
        };
        assert!((last(0.5) - LAST).abs() < 1e-3);
        assert!((last(0.98) - 0.99).abs() < 1e-3, "half-way between this queue and full load");
    }

    #[test]
    fn a_limit_on_the_wait_is_no_line_in_a_chart_of_responses() {
        let chart = |measure| {
            let target = limited(measure, Statistic::Mean, 4.0);
            let own = answer(QueueName::Mm1, 0.5, None, Some(target));
            response_curve(&own, Some(&target), None).option
        };
        assert_eq!(
            chart(Measure::Response)["series"][0]["markLine"]["data"],
            json!([{ "yAxis": 4.0 }])
        );
        assert!(chart(Measure::Wait)["series"][0]["markLine"].is_null());
        assert_eq!(chart(Measure::Wait)["yAxis"]["name"], "response");
    }

    #[test]
    fn wide_queues_are_shown_around_what_is_in_use() {
        let few = response_by_servers(&answer(QueueName::Mmc, 0.5, Some(2), None), None, None);
        assert_eq!(few.summary, "The mean response at the same arrivals with 1 to 8 servers.");
        let wide = response_by_servers(&answer(QueueName::Mmc, 30.0, Some(40), None), None, None);
        assert_eq!(wide.summary, "The mean response at the same arrivals with 22 to 46 servers.");
        // Fewer than 31 servers cannot keep up with 30 jobs, so their place is empty.
        let first = wide.option["series"][0]["packed"]["from"][0].as_f64().unwrap();
        assert_eq!(first, 31.0);
        assert_eq!(wide.option["series"][1]["data"][0][0], 40.0, "this queue is marked");
    }
}
