//! The verb `bench`: commands run in turn, in rounds of random order, and are compared.
//!
//! Processes are the engine's business, as for a study's trials. `commands.rs` says what runs,
//! `rounds.rs` runs it, `measured.rs` sums it up, `notes.rs` tells what to keep in mind, and
//! `hyperfine.rs` writes what hyperfine's scripts read. A round runs every command once: whatever
//! slows the machine for a while slows all of them, and no command always follows the same one.

mod commands;
mod hyperfine;
mod measured;
mod notes;
mod rounds;

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use trainwright_analysis::Comparison;
use trainwright_study::{Direction, Seed};

use crate::{Error, Wish};
pub use commands::{BenchCommand, BenchMetric, BenchParameter, BenchShell, BenchText};
pub use hyperfine::{bench_csv, bench_markdown, hyperfine_json};
pub use measured::{BenchResult, RankTest};
use rounds::Rounds;

/// What to run and how often.
#[derive(Debug, Clone)]
pub struct BenchRequest {
    /// The commands, before parameters are filled in.
    pub commands: Vec<BenchCommand>,
    /// Values for `{name}` in commands; every combination runs.
    pub parameters: Vec<BenchParameter>,
    /// What runs commands that are one text.
    pub shell: BenchShell,
    /// Rounds whose results count for nothing.
    pub warmup: u32,
    /// Runs before every run: nothing, one text for all commands, or one for each.
    pub prepare: Vec<String>,
    /// Runs once before the first round, for each command.
    pub setup: Option<String>,
    /// Runs once after the last round, for each command.
    pub cleanup: Option<String>,
    /// How many rounds.
    pub runs: BenchRuns,
    /// No run begins after this time.
    pub max_time: Option<Duration>,
    /// What a bad exit code means.
    pub failures: BenchFailures,
    /// What is compared instead of the time.
    pub metric: Option<BenchMetric>,
    /// Which command the others are compared with, from 1.
    pub baseline: usize,
    /// Largest p-value called evidence.
    pub alpha: f64,
    /// Decides the order in each round, and the seeds given to commands.
    pub seed: u64,
    /// This program, which engines know.
    pub program: PathBuf,
}

/// How many rounds run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BenchRuns {
    /// This many.
    Exactly(u32),
    /// At least so many, until three seconds a command have passed, and at most so many.
    Between {
        /// At least.
        least: u32,
        /// At most.
        most: u32,
    },
}

/// What a bad exit code, or a metric that is missing, means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BenchFailures {
    /// The end of everything.
    Stop,
    /// Nothing: its time counts as any other.
    Ignore,
}

/// What happens meanwhile.
#[derive(Debug)]
pub enum BenchEvent<'a> {
    /// A round begins.
    Round {
        /// Its number from 1; 0 for a warm-up.
        number: u32,
        /// Time since the first round.
        elapsed: Duration,
    },
    /// A run has ended.
    Ran {
        /// The command's label.
        command: &'a str,
        /// What counts of it; nothing for a warm-up or a failure.
        value: Option<f64>,
    },
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BenchEnd {
    /// All rounds have run.
    Complete,
    /// The time was up.
    TimeUp,
    /// The user stopped it.
    Interrupted,
}

/// What was measured, and what it means.
#[derive(Debug, Clone, Serialize)]
pub struct BenchReply {
    /// What is compared: `time`, or the metric's name.
    pub metric: String,
    /// Its unit, where it has one.
    pub unit: Option<String>,
    /// Which end of it is good, where that is known.
    pub objective: Option<Direction>,
    /// Decided the order.
    pub seed: u64,
    /// How it ended.
    pub end: BenchEnd,
    /// Rounds that count.
    pub rounds: u32,
    /// What ran commands that are one text; absent where none did.
    pub shell: Option<String>,
    /// Seconds that the shell takes to start, which are taken off every time measured through it.
    pub shell_start_s: Option<f64>,
    /// The commands, as they were given.
    pub results: Vec<BenchResult>,
    /// Every command against the baseline by Welch's test; absent where nothing can be compared.
    pub comparison: Option<Comparison>,
    /// The same by ranks.
    pub ranks: Vec<RankTest>,
    /// The answer in sentences.
    pub verdict: Vec<String>,
    /// What to keep in mind.
    pub notes: Vec<String>,
}

/// Runs commands in rounds of random order and compares what they took.
///
/// `wish` is asked several times a second; `on_event` hears what happens.
///
/// # Errors
/// A request that makes no sense, a command that cannot start or fails, or no room to write.
pub fn bench(
    request: &BenchRequest,
    wish: &dyn Fn() -> Wish,
    on_event: &mut dyn FnMut(BenchEvent<'_>),
) -> Result<BenchReply, Error> {
    let commands = commands::expanded(request)?;
    if !(1..=commands.len()).contains(&request.baseline) {
        return Err(Error::Request(format!(
            "the baseline is command {}, but there are {}",
            request.baseline,
            commands.len()
        )));
    }
    let mut rounds = Rounds::new(request, &commands, wish, on_event)?;
    let end = rounds.run(Seed::new(request.seed))?;
    let (runs, shell_start) = rounds.finish();
    let results: Vec<BenchResult> = commands
        .iter()
        .zip(&runs)
        .map(|(command, runs)| {
            BenchResult::of(command, runs, shell_start.as_ref(), request.metric.as_ref())
        })
        .collect();
    let objective = match &request.metric {
        None => Some(Direction::Minimize),
        Some(metric) => metric.objective,
    };
    let mut reply = BenchReply {
        metric: request.metric.as_ref().map_or("time", |own| own.name.as_str()).to_owned(),
        unit: match &request.metric {
            None => Some("s".to_owned()),
            Some(metric) => metric.unit.clone(),
        },
        objective,
        seed: request.seed,
        end,
        rounds: runs.iter().map(|own| own.len() as u32).max().unwrap_or(0),
        shell: commands.iter().any(|own| own.through_shell).then(|| request.shell.to_string()),
        shell_start_s: shell_start.map(|own| own.wall_s),
        comparison: None,
        ranks: Vec::new(),
        verdict: Vec::new(),
        notes: Vec::new(),
        results,
    };
    measured::compare(&mut reply, request.baseline - 1, request.alpha)?;
    reply.notes = notes::notes(&reply, request);
    Ok(reply)
}
