//! Strategies of a table run here for a moment, to be held against what was planned.

use std::time::Instant;

use serde_json::json;
use trainwright_plan::{PlanFile, Strategy};
use trainwright_study::JobSpec;
use trainwright_train::{Flow, TrainEvent, train};

use crate::planning::execution::{Keeping, job_of};
use crate::planning::reply::MeasuredStrategy;

/// Rounds in which every strategy trains for a moment: a machine is not as fast at all times.
const ROUNDS: usize = 3;

/// Seconds of a round, the most where its stretches are long, and the most before one is counted.
const ROUND_S: f64 = 0.7;
const MOST_S: f64 = 5.0;
const MOST_BEFORE_S: f64 = 30.0;

/// Stretches after which the rest is as fast as ever, and those that are counted at least.
const WARM_STRETCHES: usize = 1;
const LEAST_STRETCHES: usize = 2;

/// What is done beside training.
pub(crate) struct Beside<'a> {
    /// Hears what is trained.
    pub(crate) tell: &'a mut dyn FnMut(&str),
    /// Called before each round.
    pub(crate) before: &'a mut dyn FnMut(),
}

/// Runs the plans that can run here on a data set, in rounds.
pub(crate) fn tried(
    plans: &[(Strategy, PlanFile)],
    on: (&str, u8),
    stop: &(dyn Fn() -> bool + Sync),
    beside: Beside<'_>,
) -> Vec<MeasuredStrategy> {
    let Beside { tell, before } = beside;
    let mut steps: Vec<Result<Vec<f64>, String>> = vec![Ok(Vec::new()); plans.len()];
    for round in 1..=ROUNDS {
        if !stop() {
            before();
        }
        for ((strategy, file), steps) in plans.iter().zip(&mut steps) {
            let Ok(known) = steps else { continue };
            if stop() {
                break;
            }
            let name = crate::terminal::strategy_name(*strategy);
            tell(&format!("training: {name}, round {round} of {ROUNDS}"));
            match step_times(file, on, stop) {
                Ok(found) => known.extend(found),
                Err(refused) => *steps = Err(refused),
            }
        }
    }
    let found = plans.iter().zip(steps).map(|((strategy, file), steps)| {
        let step = steps.and_then(|own| middle(own).ok_or_else(|| "it was stopped".to_owned()));
        let measured_s = step.as_ref().ok().copied();
        MeasuredStrategy {
            strategy: *strategy,
            predicted_s: file.step_time_s,
            measured_s,
            error: measured_s.map(|measured| file.step_time_s / measured - 1.0),
            refused: step.err(),
        }
    });
    found.collect()
}

fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Seconds of a step of a plan as it runs, one for each stretch of steps on whole batches.
fn step_times(
    file: &PlanFile,
    (data, optimizer_slots): (&str, u8),
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<f64>, String> {
    let optimizer = match optimizer_slots {
        0 => "sgd",
        1 => "momentum",
        _ => "adam",
    };
    let job = json!({
        "network": "mlp", "data": data, "optimizer": optimizer, "epochs": 1000, "seed": 1,
    });
    let job: JobSpec = serde_json::from_value(job).map_err(|error| error.to_string())?;
    let job = job_of(job, file, Keeping::Nothing)?;
    let begun = Instant::now();
    let mut told = Stretches::new(file.batch as usize, begun);
    train(&job, &mut |event| {
        match event {
            TrainEvent::Step(step) => told.step(Instant::now(), step.batch),
            TrainEvent::Epoch(_) => told.pause(Instant::now()),
            _ => {}
        }
        let counted = told.ended.iter().skip(WARM_STRETCHES).flatten().count();
        let enough = counted >= LEAST_STRETCHES && told.spent_s > ROUND_S;
        let most_s = if counted > 0 { MOST_S } else { MOST_BEFORE_S };
        if stop() || enough || begun.elapsed().as_secs_f64() > most_s {
            return Flow::Stop;
        }
        Flow::Continue
    })
    .map_err(|error| error.to_string())?;
    let ended: Vec<f64> = told.ended.into_iter().skip(WARM_STRETCHES).flatten().collect();
    match ended.is_empty() && !stop() {
        true => Err(format!("no stretch of steps on whole batches of {} ended", file.batch)),
        false => Ok(ended),
    }
}

/// Stretches of steps, which are told of together when the last of them is made.
struct Stretches {
    batch: usize,
    /// When what the next stretch takes began.
    since: Option<Instant>,
    last: Instant,
    /// Seconds, steps and examples of the stretch that is being told of.
    open: (f64, usize, usize),
    /// Seconds of a step of each that ended; none where a batch was not whole.
    ended: Vec<Option<f64>>,
    /// Seconds of those that are counted.
    spent_s: f64,
}

impl Stretches {
    fn new(batch: usize, last: Instant) -> Self {
        Self { batch, since: None, last, open: (0.0, 0, 0), ended: Vec::new(), spent_s: 0.0 }
    }

    /// A step was told of. Between two of one stretch there is next to no time.
    fn step(&mut self, now: Instant, examples: usize) {
        let gap = now.duration_since(self.since.unwrap_or(self.last)).as_secs_f64();
        let (seconds, steps, _) = self.open;
        let is_next = self.since.is_some() || steps == 0 || gap > 0.25 * seconds / steps as f64;
        if is_next {
            self.end();
            self.open = (gap, 0, 0);
        }
        self.open.1 += 1;
        self.open.2 += examples;
        (self.since, self.last) = (None, now);
    }

    fn end(&mut self) {
        let (seconds, steps, examples) = self.open;
        if steps > 0 {
            let is_whole = examples == steps * self.batch;
            self.spent_s += if self.ended.len() < WARM_STRETCHES { 0.0 } else { seconds };
            self.ended.push(is_whole.then_some(seconds / steps as f64));
        }
    }

    /// An epoch was scored: what comes next begins now.
    fn pause(&mut self, now: Instant) {
        self.end();
        self.open = (0.0, 0, 0);
        self.since = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn steps_that_are_told_of_together_are_a_stretch() {
        let begun = Instant::now();
        let mut own = Stretches::new(10, begun);
        let mut now = begun;
        let mut tell = |own: &mut Stretches, after_ms: u64, batches: &[usize]| {
            now += Duration::from_millis(after_ms);
            for &examples in batches {
                own.step(now, examples);
                now += Duration::from_micros(1);
            }
            now
        };
        tell(&mut own, 500, &[10, 10]);
        tell(&mut own, 80, &[10, 10, 10, 10]);
        let end = tell(&mut own, 15, &[10, 10, 3]);
        own.pause(end + Duration::from_millis(300));
        tell(&mut own, 300 + 20, &[10, 10]);
        tell(&mut own, 7, &[10]);
        let whole: Vec<Option<u64>> =
            own.ended.iter().map(|own| own.map(|step| (step * 1e3).round() as u64)).collect();
        // The first stretch has the time to begin in it; what was scored between epochs is in none.
        assert_eq!(whole, [Some(250), Some(20), None, Some(10)]);
        assert!((own.spent_s - (0.08 + 0.015 + 0.02)).abs() < 1e-4, "{}", own.spent_s);
    }
}
