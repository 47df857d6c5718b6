//! Fitted service times in words.

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
            "variation scv {} (95 % interval {} to {}); exponential times have 1; \
             Anderson-Darling p {}",
            figure(scv.estimate),
            figure(scv.low),
            figure(scv.high),
            figure(own.exponential.p),
        ),
    ]
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
