//! The verb `cloud replay`: methods against recorded runs.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;
use trainwright_report::{CloudCurve, CloudPage, CloudRow, cloud_html};
use trainwright_search::cloud::{
    History, Limits, Method, Objective, Replayed, Summary, replay, summary,
};

use super::recorded::{Recorded, RecordedProblem};
use crate::Error;
use crate::studies::report::PROGRAM;

/// What is replayed.
#[derive(Debug, Clone)]
pub struct ReplayRequest<'a> {
    /// Table of runs.
    pub runs: &'a Path,
    /// Table of runs of other workloads; groups that are tested are left out of it.
    pub history: Option<&'a Path>,
    /// Methods to compare; at least one.
    pub methods: Vec<Method>,
    /// What shall be small.
    pub objective: Objective,
    /// Only this workload.
    pub workload: Option<&'a str>,
    /// How many seeds each workload is replayed with.
    pub seeds: u64,
    /// Leaves out workloads of which a run failed.
    pub complete_only: bool,
}

/// How methods did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CloudReplay {
    /// The first method.
    pub method: Method,
    /// What shall be small.
    pub objective: Objective,
    /// Where methods learn from.
    pub history: &'static str,
    /// Every replay of the first method.
    pub results: Vec<Replayed>,
    /// All of them taken together.
    pub summary: Summary,
    /// The same for the other methods.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<MethodReplay>,
    /// Workloads that no configuration ever finished, which have no optimum.
    pub without_optimum: Vec<String>,
    /// What the reader should know.
    pub notes: Vec<String>,
}

/// How one more method did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodReplay {
    /// The method.
    pub method: Method,
    /// Every replay.
    pub results: Vec<Replayed>,
    /// All of them taken together.
    pub summary: Summary,
}

/// Plays methods against recorded runs, on all cores.
///
/// # Errors
/// Tables that cannot be read, a workload that is not there, or nothing left to replay.
pub fn cloud_replay(request: &ReplayRequest<'_>) -> Result<CloudReplay, Error> {
    let runs = Recorded::read(request.runs)?;
    let history = request.history.map(Recorded::read).transpose()?;
    let mut problems = runs.problems(request.objective, Limits::default())?;
    keep_asked(&mut problems, request)?;
    let mut tasks = Vec::new();
    for (place, own) in problems.iter().enumerate() {
        let mut groups: Vec<&str> = own.workloads.iter().map(|work| work.group.as_str()).collect();
        groups.sort_unstable();
        groups.dedup();
        for group in groups {
            tasks.extend((0..request.methods.len()).map(|method| (method, place, group)));
        }
    }
    let known: Vec<History> = problems
        .iter()
        .map(|own| match &history {
            Some(history) => history.history(&own.problem, &runs.metric_names),
            None => History { metric_names: runs.metric_names.clone(), workloads: Vec::new() },
        })
        .collect();
    let own_runs: Vec<History> =
        problems.iter().map(|own| runs.history(&own.problem, &runs.metric_names)).collect();
    let play = |&(method, place, group): &(usize, usize, &str)| -> Result<_, Error> {
        let method_name = request.methods[method];
        let borrowed = history.is_none() && method_name.needs_history();
        let source = if borrowed { &own_runs[place] } else { &known[place] };
        let RecordedProblem { problem, workloads } = &problems[place];
        let advisor = method_name.advisor(problem, &source.without_group(group))?;
        let mut found = Vec::new();
        for workload in workloads.iter().filter(|own| own.group == group) {
            for seed in 0..request.seeds {
                found.push((
                    workload.name.clone(),
                    replay(problem, workload, advisor.as_ref(), seed),
                ));
            }
        }
        Ok((method, found))
    };
    reply(request, history.is_some(), on_all_cores(&tasks, &play)?)
}

fn keep_asked(
    problems: &mut Vec<RecordedProblem>,
    request: &ReplayRequest<'_>,
) -> Result<(), Error> {
    for own in problems.iter_mut() {
        own.workloads.retain(|work| {
            let asked = request.workload.is_none_or(|name| name == work.name);
            let complete = work.runs.iter().flatten().all(|run| run.completed);
            asked && (complete || !request.complete_only)
        });
    }
    problems.retain(|own| !own.workloads.is_empty());
    if problems.is_empty() {
        let file = request.runs.to_owned();
        let message = match request.workload {
            Some(name) => format!("it has no workload `{name}` to replay"),
            None => "no workload is left to replay".to_owned(),
        };
        return Err(Error::CloudFile { file, message });
    }
    Ok(())
}

/// Works through tasks on as many threads as there are cores; results come in the tasks' order.
fn on_all_cores<T: Sync, R: Send>(
    tasks: &[T],
    work: &(dyn Fn(&T) -> Result<R, Error> + Sync),
) -> Result<Vec<R>, Error> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(tasks.len())));
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(tasks.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(task) = tasks.get(place) else { break };
                    let result = work(task);
                    found.lock().expect("no thread panics with the lock").push((place, result));
                }
            });
        }
    });
    let mut found = found.into_inner().expect("all threads have ended");
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, result)| result).collect()
}

type Played = (usize, Vec<(String, Option<Replayed>)>);

fn reply(
    request: &ReplayRequest<'_>,
    with_history: bool,
    played: Vec<Played>,
) -> Result<CloudReplay, Error> {
    let mut results: Vec<Vec<Replayed>> = vec![Vec::new(); request.methods.len()];
    let mut without_optimum: Vec<String> = Vec::new();
    for (method, replays) in played {
        for (name, replay) in replays {
            match replay {
                Some(own) => results[method].push(own),
                None if without_optimum.contains(&name) => {}
                None => without_optimum.push(name),
            }
        }
    }
    let mut all = Vec::new();
    for (method, results) in request.methods.iter().zip(results) {
        let summary = summary(&results).ok_or_else(|| {
            let message = "no configuration ever finished, so there is no optimum".to_owned();
            Error::CloudFile { file: request.runs.to_owned(), message }
        })?;
        all.push(MethodReplay { method: *method, results, summary });
    }
    let borrowers: Vec<&str> =
        request.methods.iter().filter(|own| own.needs_history()).map(|own| own.name()).collect();
    let mut notes = Vec::new();
    if !with_history && !borrowers.is_empty() {
        notes.push(format!(
            "{} learnt from the other groups of the table itself, since there is no --history",
            borrowers.join(", ")
        ));
    }
    let others = all.split_off(1);
    let first = all.remove(0);
    Ok(CloudReplay {
        method: first.method,
        objective: request.objective,
        history: if with_history { "other groups of --history" } else { "none" },
        results: first.results,
        summary: first.summary,
        others,
        without_optimum,
        notes,
    })
}

impl CloudReplay {
    /// Every method with its replays and their summary, the first one first.
    pub fn methods(&self) -> Vec<(Method, &[Replayed], &Summary)> {
        let first = [(self.method, self.results.as_slice(), &self.summary)];
        let others =
            self.others.iter().map(|own| (own.method, own.results.as_slice(), &own.summary));
        first.into_iter().chain(others).collect()
    }
}

/// A page that compares methods: how many replays are near the optimum after how many runs.
pub fn cloud_page(reply: &CloudReplay, title: &str, written_at: &str) -> String {
    let methods = reply.methods();
    let rows = methods.iter().map(|(method, _, own)| CloudRow {
        method: method.name(),
        replays: own.replays,
        figures: [
            own.n_to_5pct.median,
            own.n_to_5pct.p90,
            own.n_to_10pct.median,
            own.n_to_10pct.p90,
            own.stopped_after.median,
            own.stopped_after.p90,
            own.ratio_at_stop.median,
            own.ratio_at_stop.p90,
            own.search_cost.median,
            own.search_cost.p90,
        ],
    });
    let curves = methods.iter().map(|(method, results, _)| {
        let last = results.iter().filter_map(|own| own.n_to_5pct).max().unwrap_or(1);
        let share = |runs: usize| {
            let near = results.iter().filter(|own| own.n_to_5pct.is_some_and(|n| n <= runs));
            100.0 * near.count() as f64 / results.len() as f64
        };
        let points = (0..=last).map(|runs| (runs as f64, share(runs))).collect();
        CloudCurve { name: method.name(), points }
    });
    cloud_html(&CloudPage {
        title,
        program: PROGRAM,
        written_at,
        verdict: &crate::terminal::cloud_replay_sentences(reply),
        rows: rows.collect(),
        curves: curves.collect(),
    })
}
