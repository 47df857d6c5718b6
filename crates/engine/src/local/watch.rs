//! Looks after a running trial: samples what it uses, passes on what it reports.

use std::collections::BTreeMap;
use std::sync::mpsc::Sender;
use std::time::Duration;

use trainwright_probe::TreeSampler;

use crate::metrics::reported::{Form, LONGEST_KEY, STEP_KEYS, number_of, object_of};
use crate::output::text::Follower;
use crate::output::{Output, printable};
use crate::{EngineEvent, StepReport};

/// A cheap look at a young process, before the first full sample.
const FIRST_LOOK: Duration = Duration::from_millis(20);
const OFTEN: Duration = Duration::from_millis(200);
const SELDOM: Duration = Duration::from_secs(1);
/// How long samples are taken often.
const YOUTH: Duration = Duration::from_secs(10);
const PROGRESS: Duration = Duration::from_millis(500);

/// Keys whose latest values are told; more would tell nobody anything.
const MOST_KEYS: usize = 1000;

/// Reports with a step that are told at once; of more the last ones are.
const MOST_STEPS: usize = 1000;

/// Looks after one running trial.
#[derive(Debug)]
pub(crate) struct Watch<'a> {
    number: u32,
    events: &'a Sender<EngineEvent>,
    sampler: TreeSampler,
    sample_every: Option<Duration>,
    next_look: Option<Duration>,
    next_sample: Option<Duration>,
    next_progress: Duration,
    metrics: Follower,
    stdout: Follower,
    latest: BTreeMap<String, f64>,
    steps: Vec<StepReport>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(
        number: u32,
        pid: u32,
        sample_every: Option<Duration>,
        output: &Output<'_>,
        events: &'a Sender<EngineEvent>,
    ) -> Self {
        let first_sample = sample_every.unwrap_or(OFTEN);
        Self {
            number,
            events,
            sampler: TreeSampler::new(pid),
            sample_every,
            next_look: (FIRST_LOOK < first_sample).then_some(FIRST_LOOK),
            next_sample: Some(first_sample),
            next_progress: PROGRESS,
            metrics: Follower::new(output.metrics.clone()),
            stdout: Follower::new(output.stdout.clone()),
            latest: BTreeMap::new(),
            steps: Vec::new(),
        }
    }

    /// Does what is due at `elapsed` and says when something is due again.
    pub(crate) fn tick(&mut self, elapsed: Duration) -> Option<Duration> {
        let is_due = |time: Option<Duration>| time.is_some_and(|time| time <= elapsed);
        if is_due(self.next_sample) {
            self.next_look = None;
            self.next_sample = self.sample(elapsed);
        } else if is_due(self.next_look) {
            self.next_look = None;
            if let Err(error) = self.sampler.first_look(elapsed.as_secs_f64()) {
                tracing::debug!(trial = self.number, %error, "no first look");
            }
        }
        if self.next_progress <= elapsed {
            self.next_progress = elapsed + PROGRESS;
            self.tell_progress(elapsed);
        }
        [self.next_look, self.next_sample, Some(self.next_progress)].into_iter().flatten().min()
    }

    pub(crate) fn into_sampler(self) -> TreeSampler {
        self.sampler
    }

    /// Samples, and gives the time of the next sample unless there is no point in one.
    fn sample(&mut self, elapsed: Duration) -> Option<Duration> {
        if let Err(error) = self.sampler.sample(elapsed.as_secs_f64()) {
            tracing::warn!(trial = self.number, %error, "telemetry ends");
            return None;
        }
        let usual = if elapsed < YOUTH { OFTEN } else { SELDOM };
        Some(elapsed + self.sample_every.unwrap_or(usual))
    }

    fn tell_progress(&mut self, elapsed: Duration) {
        let (latest, steps) = (&mut self.latest, &mut self.steps);
        let read =
            self.stdout.new_lines(|line| note_numbers(line, Form::Marked, latest, steps)).and_then(
                |()| self.metrics.new_lines(|line| note_numbers(line, Form::Lines, latest, steps)),
            );
        if let Err(error) = read {
            // The trial's end reads everything again and tells what is wrong.
            tracing::debug!(trial = self.number, %error, "cannot follow the output");
        }
        let latest = self.latest.iter().map(|(key, value)| (key.clone(), *value)).collect();
        let mut steps = std::mem::take(&mut self.steps);
        steps.drain(..steps.len().saturating_sub(MOST_STEPS));
        let event = EngineEvent::Progress { number: self.number, elapsed, latest, steps };
        // Nobody listens any more when the engine is being dropped.
        let _ = self.events.send(event);
    }
}

fn note_numbers(
    line: &str,
    form: Form,
    latest: &mut BTreeMap<String, f64>,
    steps: &mut Vec<StepReport>,
) {
    // A faulty line is told at the trial's end, if anything misses it.
    let Some(Ok(object)) = object_of(line, form) else { return };
    let step = STEP_KEYS.iter().find_map(|&key| number_of(object.get(key)?));
    let mut values = Vec::new();
    for (key, value) in object {
        let known = latest.contains_key(&key);
        let Some(number) = number_of(&value).filter(|number| number.is_finite()) else { continue };
        if key.len() <= LONGEST_KEY && (known || latest.len() < MOST_KEYS) {
            let key = printable(&key).into_owned();
            values.push((key.clone(), number));
            latest.insert(key, number);
        }
    }
    if let Some(step) = step.filter(|step| step.is_finite()) {
        steps.push(StepReport { step, values });
    }
}
