//! Strategies of a table run here for a moment, to be held against what was planned.

use serde_json::json;
use trainwright_plan::{PlanFile, Strategy};
use trainwright_study::JobSpec;
use trainwright_train::{Flow, TrainEvent, train};

use crate::planning::execution::{Keeping, job_of};
use crate::planning::reply::MeasuredStrategy;

/// The most seconds that a strategy trains.
const MOST_S: f64 = 4.0;

/// Epochs after which the rest is as fast as ever.
const WARM_EPOCHS: usize = 1;

/// Runs the plans that can run here on a data set, one after another.
pub(crate) fn tried(
    plans: &[(Strategy, PlanFile)],
    (data, optimizer_slots): (&str, u8),
    stop: &(dyn Fn() -> bool + Sync),
    tell: &mut dyn FnMut(&str),
) -> Vec<MeasuredStrategy> {
    let mut found = Vec::new();
    for (strategy, file) in plans {
        if stop() {
            break;
        }
        tell(&format!("training: {}", crate::terminal::strategy_name(*strategy)));
        let step = step_time(file, (data, optimizer_slots), stop);
        let measured_s = step.as_ref().ok().copied();
        found.push(MeasuredStrategy {
            strategy: *strategy,
            predicted_s: file.step_time_s,
            measured_s,
            error: measured_s.map(|measured| file.step_time_s / measured - 1.0),
            refused: step.err(),
        });
    }
    found
}

/// Seconds of a step of a plan as it runs: the middle one of its epochs.
fn step_time(
    file: &PlanFile,
    (data, optimizer_slots): (&str, u8),
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<f64, String> {
    let optimizer = match optimizer_slots {
        0 => "sgd",
        1 => "momentum",
        _ => "adam",
    };
    let job =
        json!({"network": "mlp", "data": data, "optimizer": optimizer, "epochs": 50, "seed": 1});
    let job: JobSpec = serde_json::from_value(job).map_err(|error| error.to_string())?;
    let job = job_of(job, file, Keeping::Nothing)?;
    let mut epochs: Vec<f64> = Vec::new();
    let (mut steps_before, mut spent) = (0, 0.0);
    train(&job, &mut |event| {
        if let TrainEvent::Epoch(end) = event {
            epochs.push(end.seconds / (end.step - steps_before).max(1) as f64);
            (steps_before, spent) = (end.step, spent + end.seconds);
        }
        let enough = epochs.len() > 2 * WARM_EPOCHS + 2 && spent > MOST_S / 4.0;
        if stop() || spent > MOST_S || enough { Flow::Stop } else { Flow::Continue }
    })
    .map_err(|error| error.to_string())?;
    let warm = epochs.len().saturating_sub(1).min(WARM_EPOCHS);
    let mut steady = epochs.split_off(warm);
    steady.sort_by(f64::total_cmp);
    steady.get(steady.len() / 2).copied().ok_or_else(|| "it was stopped".to_owned())
}
