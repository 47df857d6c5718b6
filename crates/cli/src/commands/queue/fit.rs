//! `trainwright queue fit`.

use trainwright::{Error, FitReply, FitRequest, FitSource, TimesFit};
use trainwright_report::figure;

use super::print_with_unit;
use super::words::{findings_text, percent, servers};
use crate::arguments::FitArguments;
use crate::commands::load;
use crate::output::print;
use crate::quantities::Unit;

pub(super) fn fit(arguments: &FitArguments) -> anyhow::Result<u8> {
    let missing = |what: &str| Error::Request(format!("a fit needs {what}"));
    let study = arguments.study.as_deref().map(load).transpose()?;
    let source = match (&study, &arguments.data) {
        (Some(study), _) => FitSource::Study {
            study,
            store: arguments.store.as_deref(),
            metric: arguments
                .metric
                .as_deref()
                .ok_or_else(|| missing("the metric that is the service time: --metric NAME"))?,
        },
        (None, Some(data)) => FitSource::Table {
            data,
            column: arguments
                .column
                .as_deref()
                .ok_or_else(|| missing("the column of the service times: --column NAME"))?,
            unit: arguments.unit.as_deref(),
            interarrival: arguments.interarrival.as_deref(),
        },
        (None, None) => return Err(missing("--data or --study").into()),
    };
    let reply = trainwright::fit_queue(&FitRequest {
        source,
        conditions: &arguments.conditions,
        arrival_rate: arguments.arrival.as_ref().map(|rate| rate.per_second()),
        servers: arguments.servers,
        seed: arguments.seed,
    })?;
    if arguments.json {
        print_with_unit(Unit::Seconds, &reply)?
    } else {
        print(&(text(&reply) + &findings_text(&reply.findings)))?
    }
    Ok(0)
}

fn text(reply: &FitReply) -> String {
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
            unit.rate_words(rate),
            servers(reply.servers),
            percent(busy)
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
    lines.join("\n") + "\n"
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
