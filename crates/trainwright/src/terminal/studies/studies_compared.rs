//! Several studies side by side, in words.

use trainwright_analysis::wording::{bytes, to_spread};
use trainwright_report::figure;
use trainwright_report::terminal::{Colour, TextTable, visible};

use crate::{FilesReply, StudiesReply, StudySummary};

/// What each study found, how they compare, and what to keep in mind.
pub fn studies_compared(reply: &StudiesReply, colour: Colour) -> String {
    let head = ["study", "metric", "finished", "hours", "best mean", "interval", "at"];
    let mut table = TextTable::with_header(head).numbers_in(2..5);
    for own in &reply.studies {
        let (mean, interval) = figures(own);
        table.row([
            own.study.clone(),
            own.unit
                .as_ref()
                .map_or(own.response.clone(), |unit| format!("{} {unit}", own.response)),
            format!("{}/{}", own.finished, own.trials),
            figure(own.hours),
            mean,
            interval,
            match (&own.best, &own.refused) {
                (Some(best), _) => best.to_string(),
                (None, Some(reason)) => reason.clone(),
                (None, None) => String::new(),
            },
        ]);
    }
    let mut text = table.to_string();
    let mut headed = |head: &str, lines: Vec<&String>| {
        if !lines.is_empty() {
            text.push_str(&format!("\n{}\n", colour.heading(head)));
            lines.iter().for_each(|line| text.push_str(&format!("  {}\n", visible(line))));
        }
    };
    let levels = reply.comparison.iter().flat_map(|own| &own.levels);
    headed("At the best configuration of each", levels.map(|own| &own.text).collect());
    headed("Keep in mind", reply.notes.iter().collect());
    text
}

fn figures(own: &StudySummary) -> (String, String) {
    match (own.mean, own.ci_low.zip(own.ci_high)) {
        (Some(mean), Some((low, high))) => {
            let shown = |value| to_spread(value, low, high);
            (shown(mean), format!("{} to {}", shown(low), shown(high)))
        }
        (Some(mean), None) => (figure(mean), String::new()),
        (None, _) => (String::new(), String::new()),
    }
}

/// The files that a trial left.
pub fn trial_files(reply: &FilesReply) -> String {
    let mut table = TextTable::plain().numbers_in(0..1);
    for file in &reply.files {
        table.row([bytes(file.bytes), file.name.clone()]);
    }
    let folder = visible(&reply.folder.display().to_string());
    match reply.files.len() {
        0 => format!("trial {} left no files in {folder}\n", reply.trial),
        _ => {
            let more = if reply.more { "and more\n" } else { "" };
            format!("{folder}\n{table}{more}")
        }
    }
}
