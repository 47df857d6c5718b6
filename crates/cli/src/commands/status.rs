//! `trainwright status`.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use trainwright::{Results, RunningProgress};
use trainwright_report::figure;
use trainwright_study::{Study, TrialState};

use super::load;
use crate::arguments::StudyArguments;
use crate::output::{print, print_json};

pub(crate) fn status(arguments: &StudyArguments) -> anyhow::Result<u8> {
    let study = load(&arguments.study)?;
    let results = Results::read(&study, arguments.store.as_deref())?;
    if arguments.json {
        print_json("status", &as_json(&study, &results)?)?;
    } else {
        print(&as_text(&study, &results)?)?;
    }
    Ok(0)
}

/// Number of trials in each state, and in all.
pub(crate) fn counts(results: &Results) -> Value {
    let mut counts = Map::new();
    counts.insert("total".to_owned(), results.trials.len().into());
    for state in TrialState::ALL {
        counts.insert(state.word().to_owned(), results.count(state).into());
    }
    Value::Object(counts)
}

fn as_json(study: &Study, results: &Results) -> anyhow::Result<Value> {
    let trials: Vec<Value> = results
        .trials
        .iter()
        .map(|trial| {
            json!({
                "trial": trial.number,
                "row": trial.row,
                "replicate": trial.replicate,
                "state": trial.state,
                "attempts": trial.attempts,
                "configuration": trial.configuration,
                "wall_s": trial.usage.as_ref().map(|usage| usage.wall_s),
                "reason": trial.reason,
            })
        })
        .collect();
    Ok(json!({
        "study": study.name,
        "store": results.place.store,
        "change": results.change(),
        "runner": results.runner(),
        "counts": counts(results),
        "progress": results.progress()?,
        "trials": trials,
    }))
}

fn as_text(study: &Study, results: &Results) -> anyhow::Result<String> {
    let mut text = format!("{}: {} trials", study.name, results.trials.len());
    for state in TrialState::ALL {
        let count = results.count(state);
        if count > 0 {
            write!(text, ", {count} {state}").expect("writing to memory cannot fail");
        }
    }
    match results.runner() {
        Some(pid) => text.push_str(&format!("\nbeing run by process {pid}")),
        None if results.count(TrialState::Running) > 0 => {
            text.push_str("\nits runner died; `trainwright run` goes on where it stopped");
        }
        None => {}
    }
    text.push('\n');
    let told = results.trials.iter().filter(|trial| {
        matches!(trial.state, TrialState::Running | TrialState::Failed | TrialState::Diverged)
    });
    let progress = results.progress()?;
    for trial in told {
        let reason = trial.reason.as_deref().and_then(|reason| reason.lines().next());
        let latest = progress.iter().find(|own| own.number == trial.number).map(latest);
        let line = format!(
            "  trial {:>4}  {:<8}  {}  {}\n",
            trial.number,
            trial.state,
            trial.configuration,
            latest.as_deref().or(reason).unwrap_or_default()
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }
    Ok(text)
}

/// What a running trial last told: `12 s  loss 0.25`.
fn latest(progress: &RunningProgress) -> String {
    let mut text = format!("{:.0} s", progress.elapsed_s);
    for (name, value) in progress.latest.iter().take(4) {
        write!(text, "  {name} {}", figure(*value)).expect("writing to memory cannot fail");
    }
    text
}
