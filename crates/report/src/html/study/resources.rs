//! What each trial used over time.

use std::collections::BTreeSet;
use std::fmt::Write;

use trainwright_analysis::wording::{count, list};
use trainwright_study::Series;

use crate::charts::{Charts, channel, channels, timelines};
use crate::escape::escape;
use crate::html::note;
use crate::input::{ReportInput, ReportTrial};

/// Points of all timelines together; at about ten bytes a point, 200 kB.
const MOST_POINTS: usize = 20_000;

/// Trials to choose from.
const MOST_TRIALS: usize = 100;

/// Points below which a timeline is not thinned further.
const LEAST_POINTS: usize = 10;

/// Timelines of the trial that the reader chooses.
pub(in crate::html) fn section(input: &ReportInput<'_>, charts: &mut Charts) -> String {
    let drawn = |series: &Series| channels().iter().any(|channel| channel.holds(series));
    let measured: Vec<&ReportTrial> =
        input.trials.iter().filter(|trial| trial.series.iter().any(drawn)).collect();
    if measured.is_empty() {
        return note("No trial was sampled while it ran, so there are no resource timelines.");
    }
    let shown = &measured[..measured.len().min(MOST_TRIALS)];
    let all_series = || shown.iter().flat_map(|trial| &trial.series);
    let lines = all_series().filter(|series| drawn(series)).count();
    let most_points = (MOST_POINTS / lines).max(LEAST_POINTS);
    let mut out = String::from(
        "<h3>Resources</h3>\n<p class=\"look\">What one trial used over time. A flat line near the \
         machine's limit is a bottleneck.</p>\n<p class=\"choose\"><label for=\"resource-trial\">Trial\
         </label> <select id=\"resource-trial\">",
    );
    for trial in shown {
        charts.add_resources(timelines(trial.number, &trial.series, most_points));
        let _ = write!(
            out,
            "<option value=\"{}\">{}: {}</option>",
            trial.number,
            trial.number,
            escape(&trial.configuration.to_string())
        );
    }
    out += "</select></p>\n<div class=\"panels broad\">";
    for own in channels().iter().filter(|own| all_series().any(|series| own.holds(series))) {
        out += &charts.place(&format!("resource-{}", own.key), channel(own));
    }
    out += "</div>\n";
    if measured.len() > MOST_TRIALS {
        out += &note(&format!(
            "The first {MOST_TRIALS} of {} in run order.",
            count(measured.len(), "trial")
        ));
    }
    let lengths = all_series().filter(|series| drawn(series)).map(|series| series.values.len());
    out += &cut_in_words("timelines", lengths, most_points);
    out + &not_drawn(all_series().filter(|series| !drawn(series)))
}

/// Says how much thinning left out, if it did.
pub(in crate::html) fn cut_in_words(
    what: &str,
    lengths: impl Iterator<Item = usize>,
    most_points: usize,
) -> String {
    let lengths: Vec<usize> = lengths.collect();
    let longest = lengths.iter().copied().max().unwrap_or(0);
    if longest <= most_points {
        return String::new();
    }
    let thinned = lengths.iter().filter(|length| **length > most_points).count();
    note(&format!(
        "{thinned} of {} {what} are thinned to at most {most_points} points each (the longest has \
         {longest}); both ends are kept, and the highest and lowest value of each \
         stretch between.",
        lengths.len()
    ))
}

/// Names the telemetry that has no chart.
fn not_drawn<'a>(series: impl Iterator<Item = &'a Series>) -> String {
    let names: BTreeSet<&str> = series
        .map(|series| series.name.as_str())
        .filter(|name| !name.starts_with("metric."))
        .collect();
    if names.is_empty() {
        return String::new();
    }
    let names: Vec<String> = names.into_iter().map(ToOwned::to_owned).collect();
    note(&format!("Measured and kept, but not drawn: {}.", list(&names)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_thinned_is_said_to_be() {
        assert_eq!(cut_in_words("curves", [10, 40].into_iter(), 40), "");
        assert_eq!(cut_in_words("curves", std::iter::empty(), 40), "");
        let text = cut_in_words("curves", [10, 41, 900].into_iter(), 40);
        assert!(
            text.contains(
                "2 of 3 curves are thinned to at most 40 points each (the longest has 900);"
            ),
            "{text}"
        );
    }

    #[test]
    fn telemetry_without_a_chart_is_named_once_and_metrics_are_not() {
        let series = |name: &str| Series {
            name: name.to_owned(),
            axis: "s".to_owned(),
            unit: String::new(),
            at: vec![],
            values: vec![],
        };
        let all = ["threads", "metric.loss", "<gpu>", "threads"].map(series);
        assert_eq!(
            not_drawn(all.iter()),
            "<p class=\"note\">Measured and kept, but not drawn: &lt;gpu&gt; and threads.</p>\n"
        );
        assert_eq!(not_drawn(all[1..2].iter()), "");
    }
}
