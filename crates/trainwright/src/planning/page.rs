//! The page of a plan.

use trainwright_report::{PlacedOperator, PlanPage, TimelineSpan, plan_html};

use crate::planning::plan::PlanAnswer;
use crate::studies::report::PROGRAM;
use crate::terminal;

/// What tasks do, in the order of `trainwright_plan::Work`.
const ACTIVITIES: [&str; 7] = [
    "forward",
    "backward",
    "messages forward",
    "messages backward",
    "sums of gradients",
    "updates",
    "handing out weights",
];

/// The page of an answer as one HTML file.
pub fn plan_page(answer: &PlanAnswer, written_at: &str) -> String {
    let reply = &answer.reply;
    let title = format!("{} on {}", reply.network, reply.machine.name);
    let span =
        |&(activity, start_s, end_s): &(usize, f64, f64)| TimelineSpan { activity, start_s, end_s };
    let timelines = answer.spans.iter();
    let timelines = timelines.map(|(name, own)| (name.clone(), own.iter().map(span).collect()));
    let operators = reply.chosen.operators.iter().map(|own| PlacedOperator {
        name: own.name.clone(),
        split: terminal::split_text(own),
        devices: own.devices.clone(),
    });
    plan_html(&PlanPage {
        title: &title,
        best: &terminal::plan_best(reply),
        facts: &[
            ("network", format!("{}, {} parameters", reply.network, reply.parameters)),
            ("batch", reply.batch.to_string()),
            ("machine", format!("{}, {}", reply.machine.name, terminal::devices_in_nodes(reply))),
            ("source of its figures", reply.machine.source.clone()),
            ("search", terminal::plan_searched(reply).unwrap_or_else(|| "none".to_owned())),
        ],
        reasons: &terminal::plan_reasons(reply),
        what_if: terminal::plan_what_if(reply),
        measured: terminal::plan_measured(reply),
        strategies: terminal::plan_table(reply),
        activities: &ACTIVITIES,
        timelines: timelines.collect(),
        operators: operators.collect(),
        devices: reply.machine.devices,
        program: PROGRAM,
        written_at,
    })
}
