//! The verbs `cloud recommend` and `cloud tell`: which machines, and how many, for a job of the
//! user's own.

use std::path::Path;

use serde::Serialize;
use trainwright_search::cloud::{
    Advice, Candidate, History, Limits, Method, Objective, Outlook, Problem, Stop, Told,
};

use super::catalog::catalog;
use super::job::{CloudJob, RunPlace};
use super::recorded::Recorded;
use super::search_file::{OwnRun, SearchFile};
use crate::{Error, Wish};

/// What to search for; all but the file is kept from its first use on.
#[derive(Debug, Clone)]
pub struct RecommendRequest<'a> {
    /// The search as a file; made where it is not there.
    pub file: &'a Path,
    /// Catalogue; the one that comes with the program where none is given.
    pub catalog: Option<&'a Path>,
    /// Numbers of nodes.
    pub nodes: &'a [u32],
    /// What shall be small.
    pub objective: Objective,
    /// What an acceptable run keeps within.
    pub limits: Limits,
    /// Table of runs of other workloads.
    pub history: Option<&'a Path>,
    /// The method.
    pub method: Method,
    /// Decides everything random.
    pub seed: u64,
    /// What to run; without it the user runs by hand.
    pub job: Option<CloudJob<'a>>,
    /// The most runs of the job this time.
    pub most_runs: Option<usize>,
    /// This program itself.
    pub program: &'a Path,
}

/// Which machines, how many, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recommendation {
    /// The name of the method.
    pub method: String,
    /// What shall be small.
    pub objective: Objective,
    /// Configurations to choose from.
    pub candidates: usize,
    /// What was run.
    pub runs: Vec<OwnRun>,
    /// What all runs cost together, in US dollars; failed ones of unknown length apart.
    pub spent_usd: f64,
    /// The best run so far.
    pub best: Option<Choice>,
    /// What to run next, where that is worth it.
    pub next: Option<Choice>,
    /// Why no further run is worth it.
    pub stop: Option<Stop>,
    /// What is expected of candidates that have not run, best first; a few of them.
    pub outlook: Vec<Choice>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// A configuration, and what it takes or is expected to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Choice {
    /// The machine type.
    pub vm_type: String,
    /// How many machines.
    pub nodes: u32,
    /// Price of an hour of all of them, in US dollars.
    pub price_usd_per_hour: f64,
    /// Time measured or expected.
    pub elapsed_s: Option<f64>,
    /// Cost measured or expected, in US dollars.
    pub cost_usd: Option<f64>,
    /// The objective lies above this with a chance of 95 %; of a prediction.
    pub low: Option<f64>,
    /// The objective lies below this with a chance of 95 %.
    pub high: Option<f64>,
    /// The chance that a run ends well and keeps within the limits.
    pub chance_accepted: Option<f64>,
}

/// How many predictions an answer shows.
const SHOWN: usize = 5;

/// Goes on with a search, or begins one: runs the job until it is no longer worth it or the user
/// wishes it to stop, or says what to run by hand. Runs have their folders in `<file>.runs`.
///
/// # Errors
/// Files that cannot be read or written, a faulty catalogue, or a job that cannot start.
pub fn cloud_recommend(
    request: &RecommendRequest<'_>,
    wish: &dyn Fn() -> Wish,
    tell: &mut dyn FnMut(&OwnRun),
) -> Result<Recommendation, Error> {
    let mut search = match SearchFile::read(request.file)? {
        Some(search) => search,
        None => begin(request)?,
    };
    search.write(request.file)?;
    let session = Session::open(&search)?;
    let mut folder = std::path::absolute(request.file).map_err(|source| {
        Error::Request(format!("where is {}: {source}", request.file.display()))
    })?;
    folder.as_mut_os_string().push(".runs");
    let place = RunPlace { folder, program: request.program, wish };
    let mut runs = 0;
    loop {
        let (told, advice) = session.advise(&search)?;
        let enough = request.most_runs.is_some_and(|most| runs >= most) || wish() != Wish::GoOn;
        let next = advice.next.filter(|_| advice.stop.is_none() && !enough);
        let number = search.runs.len() as u32 + 1;
        let run = match request.job.zip(next) {
            Some((job, next)) => job.run(&place, number, &session.problem.candidates()[next])?,
            None => None,
        };
        let Some(run) = run else { return Ok(session.recommendation(&search, &told, &advice)) };
        tell(&run);
        search.add(run)?;
        // What was paid for is kept before the next is begun.
        search.write(request.file)?;
        runs += 1;
    }
}

/// Tells a search what a run by hand gave.
///
/// # Errors
/// A file that is no search, or a run that cannot be.
pub fn cloud_tell(file: &Path, run: OwnRun) -> Result<Recommendation, Error> {
    let mut search = SearchFile::read(file)?.ok_or_else(|| {
        let path = file.display();
        Error::Request(format!("{path} is not there; begin with `trainwright cloud recommend`"))
    })?;
    search.add(run)?;
    search.write(file)?;
    let session = Session::open(&search)?;
    let (told, advice) = session.advise(&search)?;
    Ok(session.recommendation(&search, &told, &advice))
}

fn begin(request: &RecommendRequest<'_>) -> Result<SearchFile, Error> {
    let named = request.job.and_then(|own| own.nodes());
    let mut nodes = named.unwrap_or_else(|| request.nodes.to_vec());
    nodes.sort_unstable();
    nodes.dedup();
    if nodes.is_empty() || nodes[0] == 0 {
        return Err(Error::Request("--nodes needs numbers of at least 1".to_owned()));
    }
    let method = request.method.name().to_owned();
    let mut machines = catalog(request.catalog)?;
    if let Some(wanted) = request.job.map(|own| own.vm_types()).transpose()?.flatten() {
        let there =
            |own: &&String| machines.machines.iter().any(|machine| machine.vm_type == **own);
        if let Some(unknown) = wanted.iter().find(|own| !there(own)) {
            let message = format!("the study's machine `{unknown}` is not in the catalogue");
            return Err(Error::Request(message));
        }
        machines.machines.retain(|own| wanted.contains(&own.vm_type));
    }
    let mut search = SearchFile::new(machines, nodes, request.objective, method);
    search.limits = request.limits;
    search.seed = request.seed;
    search.history = request.history.map(Path::to_owned);
    Ok(search)
}

struct Session {
    problem: Problem,
    history: History,
    method: Method,
    foreign: bool,
}

impl Session {
    fn open(search: &SearchFile) -> Result<Self, Error> {
        let candidates = search.catalog.candidates(&search.nodes);
        let problem = Problem::new(candidates, search.objective, search.limits)?;
        let history = match &search.history {
            Some(file) => {
                let recorded = Recorded::read(file)?;
                let names = recorded.metric_names.clone();
                recorded.history(&problem, &names)
            }
            None => History::default(),
        };
        let foreign = search.history.is_some() && history.workloads.is_empty();
        Ok(Self { problem, history, method: Method::named(&search.method)?, foreign })
    }

    fn advise(&self, search: &SearchFile) -> Result<(Vec<Told>, Advice), Error> {
        let names = &self.history.metric_names;
        let told = search
            .runs
            .iter()
            .filter_map(|own| {
                let candidate = self.problem.place(&own.vm_type, own.nodes)?;
                let metrics = names.iter().map(|name| own.metrics.get(name).copied()).collect();
                let (elapsed_s, completed) = (own.elapsed_s, own.completed);
                Some(Told { candidate, elapsed_s, completed, metrics })
            })
            .collect::<Vec<_>>();
        let advice = self.method.advisor(&self.problem, &self.history)?.advise(&told, search.seed);
        Ok((told, advice))
    }

    fn recommendation(
        &self,
        search: &SearchFile,
        told: &[Told],
        advice: &Advice,
    ) -> Recommendation {
        let spend =
            |own: &Told| Some(self.problem.candidates()[own.candidate].cost_usd(own.elapsed_s?));
        let best = self.problem.best(told).map(|(place, _)| {
            let own = &told[place];
            self.choice(own.candidate, own.elapsed_s, None)
        });
        let expected = |at: usize| advice.outlook.iter().find(|own| own.candidate == at);
        let next = advice.next.filter(|_| advice.stop.is_none());
        let mut warnings = advice.warnings.clone();
        if self.foreign {
            warnings.push("no run of the history is on a candidate of the catalogue".to_owned());
        }
        let limits = self.problem.limits();
        if best.is_none() && limits != Limits::default() && advice.next.is_none() {
            warnings.push("no candidate keeps within the limits".to_owned());
        }
        Recommendation {
            method: search.method.clone(),
            objective: search.objective,
            candidates: self.problem.candidates().len(),
            runs: search.runs.clone(),
            spent_usd: told.iter().filter_map(spend).sum(),
            best,
            next: next.map(|at| self.foretold(at, expected(at))),
            stop: advice.stop,
            outlook: advice
                .outlook
                .iter()
                .take(SHOWN)
                .map(|own| self.foretold(own.candidate, Some(own)))
                .collect(),
            warnings,
        }
    }

    fn foretold(&self, candidate: usize, own: Option<&Outlook>) -> Choice {
        // The objective over that of a second is the time.
        let time = own.map(|own| own.expected / self.problem.value(candidate, 1.0));
        self.choice(candidate, time, own)
    }

    fn choice(&self, at: usize, elapsed_s: Option<f64>, own: Option<&Outlook>) -> Choice {
        let candidate: &Candidate = &self.problem.candidates()[at];
        Choice {
            vm_type: candidate.machine.vm_type.clone(),
            nodes: candidate.nodes,
            price_usd_per_hour: candidate.price_usd_per_hour(),
            elapsed_s,
            cost_usd: elapsed_s.map(|own| candidate.cost_usd(own)),
            low: own.and_then(|own| own.low),
            high: own.and_then(|own| own.high),
            chance_accepted: own.and_then(|own| own.chance_accepted),
        }
    }
}
