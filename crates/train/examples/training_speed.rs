//! Times the trainer: `training_speed JOB WARMUP EXAMPLES`, where `JOB` is a job in JSON.
//!
//! It trains as `trainwright job` does. After `WARMUP` examples it prints `ready`; then, for each
//! line on its input, it goes on for at least `EXAMPLES` examples and prints one line of JSON:
//! examples, seconds, CPU seconds, mean loss, and the peak of memory so far. Evaluations are not
//! counted. `bench/training` runs it beside other trainers.

use std::error::Error;
use std::io::BufRead;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use trainwright_study::JobSpec;
use trainwright_train::{Flow, TrainEvent, TrainOutcome, train};

/// Time after which what was trained is counted; clocks are not read for every step.
const COUNT_EVERY: Duration = Duration::from_micros(500);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [job, warmup, examples] = arguments.as_slice() else {
        return Err("usage: training_speed JOB WARMUP EXAMPLES".into());
    };
    let job: JobSpec = serde_json::from_str(job)?;
    let mut meter = Meter::new(warmup.parse()?, examples.parse()?);
    let outcome = train(&job, &mut |event| meter.hear(event))?;
    match outcome {
        TrainOutcome::Stopped(_) => Ok(()),
        other => Err(format!("the job ended before its measurement: {other:?}").into()),
    }
}

/// Counts examples and time between the wishes on the standard input.
struct Meter {
    warms_up: bool,
    due: usize,
    each: usize,
    mark: Mark,
    pending: (usize, f64),
    examples: usize,
    loss_sum: f64,
    seconds: f64,
    cpu_seconds: f64,
}

/// The two clocks at one moment.
#[derive(Clone, Copy)]
struct Mark {
    wall: Instant,
    cpu_seconds: f64,
}

impl Mark {
    fn now() -> Self {
        let usage = getrusage(UsageWho::RUSAGE_SELF).expect("a process can ask for its own usage");
        let microseconds = (usage.user_time() + usage.system_time()).num_microseconds();
        Self { wall: Instant::now(), cpu_seconds: microseconds as f64 * 1e-6 }
    }
}

impl Meter {
    fn new(warmup: usize, each: usize) -> Self {
        Self {
            warms_up: true,
            due: warmup,
            each,
            mark: Mark::now(),
            pending: (0, 0.0),
            examples: 0,
            loss_sum: 0.0,
            seconds: 0.0,
            cpu_seconds: 0.0,
        }
    }

    fn hear(&mut self, event: &TrainEvent) -> Flow {
        match event {
            TrainEvent::Step(step) => {
                self.pending.0 += step.batch;
                self.pending.1 += step.loss * step.batch as f64;
                if self.mark.wall.elapsed() >= COUNT_EVERY {
                    return self.count();
                }
            }
            // What came after the last count is left out together with the evaluation.
            TrainEvent::Epoch(_) => self.restart(),
            _ => {}
        }
        Flow::Continue
    }

    fn restart(&mut self) {
        (self.mark, self.pending) = (Mark::now(), (0, 0.0));
    }

    fn count(&mut self) -> Flow {
        let now = Mark::now();
        self.seconds += (now.wall - self.mark.wall).as_secs_f64();
        self.cpu_seconds += now.cpu_seconds - self.mark.cpu_seconds;
        self.examples += self.pending.0;
        self.loss_sum += self.pending.1;
        (self.mark, self.pending) = (now, (0, 0.0));
        if self.examples < self.due {
            return Flow::Continue;
        }
        self.tell();
        let mut line = String::new();
        let goes_on = std::io::stdin().lock().read_line(&mut line).is_ok_and(|length| length > 0);
        let each = self.each;
        *self = Self { warms_up: false, ..Self::new(each, each) };
        if goes_on { Flow::Continue } else { Flow::Stop }
    }

    fn tell(&self) {
        if self.warms_up {
            println!("ready");
            return;
        }
        let Self { examples, seconds, cpu_seconds, loss_sum, .. } = self;
        println!(
            "{{\"examples\": {examples}, \"seconds\": {seconds}, \"cpu_seconds\": {cpu_seconds}, \
             \"loss\": {}, \"peak_kb\": {}}}",
            loss_sum / *examples as f64,
            peak_kilobytes(),
        );
    }
}

/// The most memory that this process ever had in use.
fn peak_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
    kilobytes.expect("Linux tells the peak of a process in kB")
}
