//! Metrics followed while trials ran.

use std::collections::BTreeMap;

use trainwright_analysis::wording::count;
use trainwright_study::Series;

use super::resources::cut_in_words;
use crate::charts::{Charts, learning_curve};
use crate::escape::escape;
use crate::html::note;
use crate::input::{ReportInput, ReportTrial};

/// Points of all learning curves together; at about ten bytes a point, 200 kB.
const MOST_POINTS: usize = 20_000;

/// Trials drawn in one chart.
const MOST_TRIALS: usize = 200;

/// Points below which a curve is not thinned further.
const LEAST_POINTS: usize = 10;

/// One chart a metric.
pub(in crate::html) fn section(input: &ReportInput<'_>, charts: &mut Charts) -> String {
    let mut by_name: BTreeMap<&str, Vec<(&ReportTrial, &Series)>> = BTreeMap::new();
    for trial in input.trials {
        for series in &trial.series {
            if let Some(name) = series.name.strip_prefix("metric.") {
                by_name.entry(name).or_default().push((trial, series));
            }
        }
    }
    if by_name.is_empty() {
        return note("No metric was reported step by step, so there are no learning curves.");
    }
    let lines: usize = by_name.values().map(|curves| curves.len().min(MOST_TRIALS)).sum();
    let most_points = (MOST_POINTS / lines).max(LEAST_POINTS);
    let mut out = String::new();
    for (index, (name, curves)) in by_name.iter().enumerate() {
        let mut shown = curves[..curves.len().min(MOST_TRIALS)].to_vec();
        shown.sort_by_key(|(trial, _)| (trial.row, trial.number));
        let chart = learning_curve(name, &shown, most_points);
        out += &format!(
            "<figure><figcaption><b>{}.</b> One line a trial; lines of one colour and dash are \
             repeats of one configuration.</figcaption>{}</figure>\n",
            escape(name),
            charts.place(&format!("curve-{}", index + 1), chart)
        );
        if curves.len() > MOST_TRIALS {
            let all = count(curves.len(), "trial");
            out += &note(&format!("The first {MOST_TRIALS} of {all} in run order."));
        }
        let lengths = shown.iter().map(|(_, series)| series.values.len());
        out += &cut_in_words("curves", lengths, most_points);
    }
    out
}
