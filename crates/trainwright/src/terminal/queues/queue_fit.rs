//! Fitted service times in words.

use trainwright_queueing::Variation;
use trainwright_report::figure;
use trainwright_report::terminal::{Colour, Unit, findings_text, percent_of, servers_text};

use crate::{FitReply, TimesFit};

/// What service times look like, and which queue they make.
pub fn queue_fit(reply: &FitReply, colour: Colour) -> String {
    let unit = Unit::Seconds;
    let mut lines = times_text("service", &reply.service);
    if let Some(own) = &reply.interarrival {
        lines.extend(times_text("arrivals", own));
    }
    if reply.left_out > 0 {
        lines.push(format!("left out  {} without a value", reply.left_out));
    }
    lines.push(format!("fits      {}: {}", reply.recommended, reply.reason));
    if let (Some(rate), Some(busy)) = (reply.arrival_rate, reply.utilisation) {
        lines.push(format!(
            "load      {} and {}: busy {}",
            unit.rate(rate),
            servers_text(reply.servers),
            percent_of(busy)
        ));
    }
    if let (Some(own), Some(markov)) = (&reply.steady_state, &reply.if_exponential) {
        lines.push(format!(
            "response  {} on average, {} of it waiting; M/M would say {}",
            unit.time(own.mean_response),
            unit.time(own.mean_wait),
            unit.time(markov.mean_response),
        ));
    }
    lines.push(command(reply));
    lines.join("\n") + "\n" + &findings_text(&reply.findings, colour)
}

fn times_text(word: &str, own: &TimesFit) -> Vec<String> {
    let unit = Unit::Seconds;
    let (mean, scv) = (own.fit.mean, own.fit.scv);
    vec![
        format!(
            "{word:<9} {} times, mean {} (95 % interval {} to {})",
            own.fit.count,
            unit.time(mean.estimate),
            unit.time(mean.low.max(0.0)),
            unit.time(mean.high),
        ),
        format!(
            "variation scv {} ({}); exponential times have 1; Anderson-Darling p {}",
            figure(scv.estimate),
            interval_text(&scv),
            figure(own.exponential.p),
        ),
    ]
}

/// The interval of a variation, or why it has none.
fn interval_text(own: &Variation) -> String {
    match (own.low, own.high, own.no_interval) {
        (Some(low), Some(high), _) => {
            format!("95 % interval {} to {}", figure(low), figure(high))
        }
        (.., reason) => format!("no interval: {}", reason.unwrap_or("not computed")),
    }
}

/// The command that asks the recommended queue.
fn command(reply: &FitReply) -> String {
    let arrival = reply.arrival_rate.map_or("RATE/s".to_owned(), |rate| format!("{rate}/s"));
    let mean = reply.service.fit.mean.estimate;
    let mut words = format!(
        "next      trainwright queue {} --arrival {arrival} --service-time {mean}s",
        reply.recommended
    );
    if matches!(reply.recommended, "mmc" | "ggc") {
        words += &format!(" --servers {}", reply.servers);
    }
    if reply.recommended == "ggc" {
        let scv = reply.interarrival.as_ref().map_or(1.0, |own| own.fit.scv.estimate);
        words += &format!(" --scv-arrival {}", figure(scv));
    }
    if matches!(reply.recommended, "mg1" | "ggc") {
        words += &format!(" --scv-service {}", figure(reply.service.fit.scv.estimate));
    }
    words
}

#[cfg(test)]
mod tests {
    use trainwright_queueing::{ExponentialCheck, Interval, ServiceFit, SteadyState};

    use super::*;

    fn times(mean: f64, scv: f64) -> TimesFit {
        let around = |value: f64| Interval { estimate: value, low: value - 0.5, high: value + 0.5 };
        let varying = |estimate: f64| Variation {
            estimate,
            low: Some(estimate - 0.5),
            high: Some(estimate + 0.5),
            no_interval: None,
        };
        TimesFit {
            fit: ServiceFit { count: 30, mean: around(mean), rate: 1.0 / mean, scv: varying(scv) },
            exponential: ExponentialCheck { statistic: 1.0, p: 0.25 },
        }
    }

    fn reply(recommended: &'static str) -> FitReply {
        FitReply {
            service: times(0.25, 2.0),
            interarrival: None,
            arrival_rate: None,
            servers: 3,
            utilisation: None,
            recommended,
            reason: "times vary".to_owned(),
            steady_state: None,
            if_exponential: None,
            left_out: 0,
            findings: Vec::new(),
        }
    }

    #[test]
    fn a_mean_time_is_never_told_as_less_than_nothing() {
        let text = queue_fit(&reply("mg1"), Colour::Never);
        let first = text.lines().next().unwrap();
        assert_eq!(first, "service   30 times, mean 250 ms (95 % interval 0 s to 750 ms)");
        assert!(text.contains("\nfits      mg1: times vary\n"), "{text}");
        assert!(!text.contains("left out") && !text.contains("load  "), "{text}");
    }

    #[test]
    fn the_next_command_has_the_options_of_the_queue_it_asks() {
        let next = |recommended| {
            let text = queue_fit(&reply(recommended), Colour::Never);
            text.lines().find(|line| line.starts_with("next")).unwrap().to_owned()
        };
        let base = |queue| {
            format!("next      trainwright queue {queue} --arrival RATE/s --service-time 0.25s")
        };
        assert_eq!(next("mm1"), base("mm1"));
        assert_eq!(next("mmc"), base("mmc") + " --servers 3");
        assert_eq!(next("mg1"), base("mg1") + " --scv-service 2");
        assert_eq!(next("ggc"), base("ggc") + " --servers 3 --scv-arrival 1 --scv-service 2");
    }

    #[test]
    fn measured_arrivals_and_a_rate_are_used_in_the_next_command() {
        let own = FitReply {
            interarrival: Some(times(2.0, 0.5)),
            arrival_rate: Some(0.5),
            left_out: 4,
            ..reply("ggc")
        };
        let text = queue_fit(&own, Colour::Never);
        assert!(text.contains("\narrivals  30 times, mean 2 s "), "{text}");
        assert!(text.contains("\nleft out  4 without a value\n"), "{text}");
        assert!(text.contains("--arrival 0.5/s ") && text.contains("--scv-arrival 0.5"), "{text}");
    }

    #[test]
    fn the_response_is_told_beside_what_exponential_times_would_give() {
        let state = |mean_wait: f64, mean_response: f64| SteadyState {
            utilisation: 0.5,
            p0: None,
            p_wait: None,
            p_block: 0.0,
            throughput: 1.0,
            mean_jobs: 1.0,
            mean_queue: 0.5,
            mean_wait,
            mean_response,
        };
        let own = FitReply {
            arrival_rate: Some(2.0),
            utilisation: Some(0.5),
            steady_state: Some(state(1.0, 3.0)),
            if_exponential: Some(state(2.0, 4.0)),
            ..reply("mg1")
        };
        let text = queue_fit(&own, Colour::Never);
        let words = "response  3 s on average, 1 s of it waiting; M/M would say 4 s";
        assert!(text.contains(words), "{text}");
        assert!(text.contains("\nload      2 a second and "), "{text}");
    }
}
