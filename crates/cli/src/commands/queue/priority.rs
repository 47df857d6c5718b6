//! `trainwright queue priority`.

use trainwright::Error;
use trainwright_queueing::{ClassTargetAnswer, Discipline, PriorityAnswer};
use trainwright_report::figure;

use super::print_with_unit;
use super::question::priority_draft;
use super::words::{findings_text, in_unit, percent, servers};
use crate::arguments::QuestionArguments;
use crate::output::{plain_table, print};
use crate::quantities::Unit;

pub(super) fn priority(arguments: &QuestionArguments) -> anyhow::Result<u8> {
    if arguments.report.is_some() {
        let reason = "--report draws queues of one class; a queue with classes has no page";
        return Err(Error::Request(reason.to_owned()).into());
    }
    let (draft, unit) = priority_draft(arguments)?;
    let reply = trainwright::priority_queue(&draft).map_err(|error| in_unit(error, unit))?;
    if arguments.json {
        print_with_unit(unit, &reply)?
    } else {
        print(&(text(&reply.answer, unit) + &findings_text(&reply.findings)))?
    }
    Ok(0)
}

fn text(answer: &PriorityAnswer, unit: Unit) -> String {
    let how = match answer.discipline {
        Discipline::NonPreemptive => "urgent jobs wait for a free server",
        Discipline::PreemptiveResume => "urgent jobs interrupt others",
    };
    let state = &answer.steady_state;
    let mut lines = vec![format!(
        "{}, the most urgent first; {how}. Busy {}; {} jobs on average, mean response {}.",
        answer.queue,
        percent(state.utilisation),
        figure(state.mean_jobs),
        unit.time(state.mean_response),
    )];
    let mut table = plain_table();
    table.set_header(["class", "arrivals", "busy", "jobs", "wait", "response"]);
    for (number, class) in (1..).zip(&answer.classes) {
        table.add_row([
            number.to_string(),
            unit.rate_words(class.arrival_rate),
            percent(class.utilisation),
            figure(class.mean_jobs),
            unit.time(class.mean_wait),
            unit.time(class.mean_response),
        ]);
    }
    lines.push(table.trim_fmt());
    lines.extend(answer.target.as_ref().map(|target| target_text(answer, target, unit)));
    lines.push("Waits and responses are means; waiting is all time without service.".to_owned());
    lines.join("\n") + "\n"
}

fn target_text(answer: &PriorityAnswer, target: &ClassTargetAnswer, unit: Unit) -> String {
    let kept = if target.met { "kept" } else { "missed" };
    let needed = match target.servers_needed {
        Some(needed) => format!("it needs {}", servers(needed)),
        None => "the servers it needs have no closed form".to_owned(),
    };
    format!(
        "target    {} of class {} of at most {}: {kept}; {needed}; with {} it is kept for {} times \
         these arrivals, or for {} times these service times",
        target.figure,
        target.class,
        unit.time(target.limit),
        servers(answer.servers),
        figure(target.arrival_factor),
        figure(target.service_time_factor),
    )
}
