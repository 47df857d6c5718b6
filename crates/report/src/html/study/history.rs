//! How the best configuration changed as trials ended.

use std::collections::BTreeMap;

use trainwright_study::{Configuration, Direction};

use crate::charts::{Charts, verdict_history, with_unit};
use crate::input::{ReportInput, ReportTrial};
use crate::table::{Cell, Sorting, Table};

/// Changes that the table lists, the last ones.
const MOST_CHANGES: usize = 12;

/// The best configuration after so many trials.
#[derive(Debug, Clone)]
pub(crate) struct BestAfter<'a> {
    /// Finished trials so far.
    pub(crate) trials: usize,
    /// Number of the trial that ended then.
    pub(crate) trial: u32,
    /// The best configuration by then.
    pub(crate) configuration: &'a Configuration,
    /// Its mean.
    pub(crate) mean: f64,
    /// Whether another one was best before.
    pub(crate) changed: bool,
}

/// The chart and the changes; nothing before two trials have finished.
pub(in crate::html) fn part(input: &ReportInput<'_>, charts: &mut Charts) -> String {
    let history = history(input);
    if history.len() < 2 {
        return String::new();
    }
    let response = input.study.response();
    let name = with_unit(&response.name, response.unit.as_deref());
    let mut table = Table::new(
        "When another configuration became the best",
        Sorting::Fixed,
        &["after", "trial", "best configuration by then", &name],
    );
    let changes: Vec<&BestAfter<'_>> = history.iter().filter(|own| own.changed).collect();
    for own in changes.iter().rev().take(MOST_CHANGES) {
        table.push(vec![
            Cell::count(own.trials),
            Cell::count(own.trial as usize),
            Cell::text(&own.configuration.to_string()),
            Cell::number(own.mean),
        ]);
    }
    format!(
        "<h3>How the verdict came about</h3>\n{}{}",
        charts.place("verdict-history", verdict_history(&name, &history)),
        table.html()
    )
}

/// The best configuration by its mean after each finished trial, in the order of their ends.
fn history<'a>(input: &'a ReportInput<'_>) -> Vec<BestAfter<'a>> {
    let response = &input.study.analysis.response;
    let mut ended: Vec<(&ReportTrial, f64)> = input
        .trials
        .iter()
        .filter(|trial| trial.counts())
        .filter_map(|trial| Some((trial, trial.value(response)?)))
        .collect();
    ended.sort_by_key(|(trial, _)| (end_ms(trial), trial.number));
    let mut groups: BTreeMap<String, (f64, u32, &Configuration)> = BTreeMap::new();
    let mut out: Vec<BestAfter<'_>> = Vec::with_capacity(ended.len());
    let better = |a: f64, b: f64| match input.study.direction() {
        Direction::Minimize => a < b,
        Direction::Maximize => a > b,
    };
    let mut best: Option<(String, f64)> = None;
    for (index, (trial, value)) in ended.iter().enumerate() {
        let key = trial.configuration.identity();
        let own = groups.entry(key.clone()).or_insert((0.0, 0, &trial.configuration));
        (own.0, own.1) = (own.0 + value, own.1 + 1);
        let mean = own.0 / f64::from(own.1);
        let before = best.as_ref().map(|(key, _)| key.clone());
        match &mut best {
            // The best one got worse, so any other may be better now.
            Some((of, known)) if *of == key && better(*known, mean) => {
                let means = groups.iter().map(|(key, own)| (key, own.0 / f64::from(own.1)));
                let found = means.reduce(|a, b| if better(b.1, a.1) { b } else { a });
                best = found.map(|(key, mean)| (key.clone(), mean));
            }
            Some((of, known)) if *of == key || better(mean, *known) => {
                (*of, *known) = (key, mean);
            }
            Some(_) => {}
            None => best = Some((key, mean)),
        }
        let Some((key, mean)) = &best else { continue };
        out.push(BestAfter {
            trials: index + 1,
            trial: trial.number,
            configuration: groups[key].2,
            mean: *mean,
            changed: before.as_ref() != Some(key),
        });
    }
    out
}

fn end_ms(trial: &ReportTrial) -> i64 {
    let wall = trial.usage.as_ref().map_or(0.0, |usage| usage.wall_s);
    trial.started_ms.unwrap_or(0) + (1000.0 * wall) as i64
}

#[cfg(test)]
mod tests {
    use trainwright_study::TrialState;

    use super::*;
    use crate::tests::{SmallStudy, trial};

    #[test]
    fn the_best_is_followed_through_gains_and_losses() {
        let mut own = SmallStudy::with("", "");
        let finished = TrialState::Finished;
        own.trials = vec![
            trial(1, 1, finished, Some(5.0)),
            trial(2, 2, finished, Some(3.0)),
            trial(3, 2, finished, Some(9.0)),
            trial(4, 1, TrialState::Failed, None),
            trial(5, 1, finished, Some(1.0)),
        ];
        let input = own.input(None);
        let found = history(&input);
        let told: Vec<(u32, f64, bool)> =
            found.iter().map(|own| (own.trial, own.mean, own.changed)).collect();
        assert_eq!(told, [(1, 5.0, true), (2, 3.0, true), (3, 5.0, true), (5, 3.0, false)]);
    }

    #[test]
    fn an_excluded_trial_never_was_the_best() {
        let mut own = SmallStudy::with("", "");
        let finished = TrialState::Finished;
        own.trials = vec![trial(1, 1, finished, Some(5.0)), trial(2, 2, finished, Some(3.0))];
        own.trials[1].excluded = Some("the disk was full".to_owned());
        assert_eq!(history(&own.input(None)).len(), 1);
    }
}
