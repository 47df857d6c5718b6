//! All configurations at once, one line a trial.

use crate::charts::{Charts, parallel};
use crate::html::note;
use crate::input::{ReportInput, ReportTrial};

/// Lines that are drawn.
const MOST_LINES: usize = 300;

/// Id, heading and what to look at.
pub(in crate::html) const SECTION: (&str, &str, &str) = (
    "parallel",
    "All configurations",
    "One line a trial from factor to factor, coloured by the response. Look where the lines of the \
     best colour meet.",
);

/// Whether there is anything to draw.
pub(in crate::html) fn applies(input: &ReportInput<'_>) -> bool {
    input.study.factors.len() > 1 && measured(input).nth(1).is_some()
}

/// The chart.
pub(in crate::html) fn section(input: &ReportInput<'_>, charts: &mut Charts) -> String {
    let mut trials: Vec<(&ReportTrial, f64)> = measured(input).collect();
    let all = trials.len();
    if all > MOST_LINES {
        // An even sample over the order of values keeps both ends.
        trials.sort_by(|a, b| a.1.total_cmp(&b.1));
        let pick = |index: usize| trials[index * (all - 1) / (MOST_LINES - 1)];
        trials = (0..MOST_LINES).map(pick).collect();
    }
    let mut out = charts.place("parallel-coordinates", parallel(input.study, &trials));
    if all > MOST_LINES {
        out += &note(&format!(
            "{MOST_LINES} of {all} trials are drawn: an even sample from the best to the worst."
        ));
    }
    out
}

fn measured<'a>(input: &'a ReportInput<'_>) -> impl Iterator<Item = (&'a ReportTrial, f64)> {
    let response = &input.study.analysis.response;
    input
        .trials
        .iter()
        .filter(|trial| trial.counts())
        .filter_map(move |trial| Some((trial, trial.value(response)?)))
}
