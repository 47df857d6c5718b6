//! The verbs `cloud recommend` and `cloud tell`: which machines, and how many, for a job of the
//! user's own.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use serde::Serialize;
use trainwright_search::cloud::{
    Advice, Candidate, History, Limits, Method, Objective, Outlook, Problem, Stop, Told,
    none_acceptable,
};

use super::catalog::catalog;
use super::job::{CloudJob, RunPlace};
use super::recorded::Recorded;
use super::search_file::{Again, OwnRun, SearchFile, SearchLock};
use crate::{Error, Wish};

/// What to search for; what is absent is as the file has it, or as usual where it begins.
///
/// All but the file is kept from its first use on: a file that was begun otherwise is refused.
#[derive(Debug, Clone)]
pub struct RecommendRequest<'a> {
    /// The search as a file; made where it is not there.
    pub file: &'a Path,
    /// Catalogue; the one that comes with the program where none is given.
    pub catalog: Option<&'a Path>,
    /// Numbers of nodes; 1 where a search begins.
    pub nodes: Option<&'a [u32]>,
    /// What shall be small; the cost where a search begins.
    pub objective: Option<Objective>,
    /// What an acceptable run keeps within.
    pub limits: Limits,
    /// Table of runs of other workloads.
    pub history: Option<&'a Path>,
    /// The method; ours where a search begins.
    pub method: Option<Method>,
    /// Decides everything random; 1 where a search begins.
    pub seed: Option<u64>,
    /// What to run; without it the user runs by hand.
    pub job: Option<CloudJob<'a>>,
    /// The most runs of the job this time.
    pub most_runs: Option<usize>,
    /// How many runs to name that can be made side by side by hand.
    pub count: usize,
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
    /// What to run beside it, where several were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Choice>,
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
/// Runs of a job that may fail before any ends well; then somebody should look.
const FAILED_AT_FIRST: usize = 3;

/// Goes on with a search, or begins one: runs the job until it is no longer worth it or the user
/// wishes it to stop, or says what to run by hand. Runs have their folders in `<file>.runs`.
///
/// # Errors
/// Files that cannot be read or written, a faulty catalogue, a search that was begun otherwise, or
/// a job that cannot start.
pub fn cloud_recommend(
    request: &RecommendRequest<'_>,
    wish: &dyn Fn() -> Wish,
    tell: &mut dyn FnMut(&OwnRun),
) -> Result<Recommendation, Error> {
    let (mut search, session) = opened(request)?;
    let Some(job) = request.job else {
        let advised = session.advise(&search)?;
        return Ok(session.recommendation(&search, &advised, request.count));
    };
    let folder = runs_folder(request.file)?;
    let _runner = Runner::take(request.file, &folder)?;
    let place = RunPlace { folder, program: request.program, wish };
    let mut runs = 0;
    loop {
        let mut advised = session.advise(&search)?;
        let failed = search.runs.iter().filter(|own| !own.completed).count();
        if runs >= FAILED_AT_FIRST && failed == search.runs.len() {
            advised.1.stop = advised.1.stop.or(Some(Stop::AllFailed { runs: failed }));
        }
        let enough = request.most_runs.is_some_and(|most| runs >= most) || wish() != Wish::GoOn;
        let next = advised.1.next.filter(|_| advised.1.stop.is_none() && !enough);
        let number = search.runs.len() as u32 + 1;
        let run = match next {
            Some(next) => job.run(&place, number, &session.problem.candidates()[next])?,
            None => None,
        };
        let Some(run) = run else { return Ok(session.recommendation(&search, &advised, 1)) };
        tell(&run);
        // What was paid for is kept before the next is begun, also where somebody told of the same
        // configuration meanwhile.
        search = changed(request.file, |own| own.add(run, Again::Yes))?.0;
        runs += 1;
    }
}

/// Tells a search what runs by hand gave: all of them are kept, or none.
///
/// # Errors
/// A file that is no search, or a run that cannot be.
pub fn cloud_tell(file: &Path, runs: Vec<OwnRun>, again: Again) -> Result<Recommendation, Error> {
    let add = |own: &mut SearchFile| runs.into_iter().try_for_each(|run| own.add(run, again));
    let (search, session) = changed(file, add)?;
    let advised = session.advise(&search)?;
    Ok(session.recommendation(&search, &advised, 1))
}

/// Changes a search while nobody else does; nothing is written where it cannot go on afterwards.
fn changed(
    file: &Path,
    change: impl FnOnce(&mut SearchFile) -> Result<(), Error>,
) -> Result<(SearchFile, Session), Error> {
    let missing = || {
        let path = file.display();
        Error::Request(format!("{path} is not there; begin with `trainwright cloud recommend`"))
    };
    if !file.exists() {
        return Err(missing());
    }
    let _lock = SearchLock::take(file)?;
    let mut search = SearchFile::read(file)?.ok_or_else(missing)?;
    let session = Session::open(&search)?;
    change(&mut search)?;
    search.write(file)?;
    Ok((search, session))
}

/// The search of a request, begun where it is not there.
fn opened(request: &RecommendRequest<'_>) -> Result<(SearchFile, Session), Error> {
    let before = SearchFile::read(request.file)?;
    if before.is_none() {
        begin(request)?;
    }
    let before = match before {
        Some(own) => own,
        None => SearchFile::read(request.file)?.expect("it was written just now"),
    };
    let wished = wished(request, Some(&before))?;
    before.same_search(&wished, request.file)?;
    if let Some(CloudJob::Command { line, .. }) = request.job
        && before.nodes.len() > 1
        && !line.contains("{nodes}")
    {
        let message = format!(
            "the command `{line}` does not use {{nodes}}, although there are {} numbers of nodes \
             to choose from",
            before.nodes.len()
        );
        return Err(Error::Request(message));
    }
    let session = Session::open(&before)?;
    Ok((before, session))
}

fn begin(request: &RecommendRequest<'_>) -> Result<(), Error> {
    let search = wished(request, None)?;
    // A search that cannot give advice leaves no file.
    Session::open(&search)?.advise(&search)?;
    let _lock = SearchLock::take(request.file)?;
    // Somebody else may have begun it meanwhile.
    if SearchFile::read(request.file)?.is_none() {
        search.write(request.file)?;
    }
    Ok(())
}

/// The search that a request wishes for, without runs; what it leaves open is as before.
fn wished(
    request: &RecommendRequest<'_>,
    before: Option<&SearchFile>,
) -> Result<SearchFile, Error> {
    let named = request.job.and_then(|own| own.nodes());
    let usual = || before.map_or_else(|| vec![1], |own| own.nodes.clone());
    let mut nodes = named.or(request.nodes.map(<[u32]>::to_vec)).unwrap_or_else(usual);
    nodes.sort_unstable();
    nodes.dedup();
    if nodes.is_empty() || nodes[0] == 0 {
        return Err(Error::Request("--nodes needs numbers of at least 1".to_owned()));
    }
    let mut machines = match (request.catalog, before) {
        (None, Some(before)) => before.catalog.clone(),
        (own, _) => catalog(own)?,
    };
    if let Some(wanted) = request.job.map(|own| own.vm_types()).transpose()?.flatten() {
        let there =
            |own: &&String| machines.machines.iter().any(|machine| machine.vm_type == **own);
        if let Some(unknown) = wanted.iter().find(|own| !there(own)) {
            let message = format!("the study's machine `{unknown}` is not in the catalogue");
            return Err(Error::Request(message));
        }
        machines.machines.retain(|own| wanted.contains(&own.vm_type));
    }
    let objective = request.objective.or(before.map(|own| own.objective));
    let method = request.method.map(|own| own.name().to_owned());
    let method = method.or_else(|| before.map(|own| own.method.clone()));
    let mut search = SearchFile::new(
        machines,
        nodes,
        objective.unwrap_or(Objective::Cost),
        method.unwrap_or_else(|| Method::Default.name().to_owned()),
    );
    let limits = before.map(|own| own.limits).unwrap_or_default();
    search.limits = Limits {
        time_s: request.limits.time_s.or(limits.time_s),
        cost_usd: request.limits.cost_usd.or(limits.cost_usd),
    };
    search.seed = request.seed.or(before.map(|own| own.seed)).unwrap_or(search.seed);
    // Whoever tells a run may stand in another folder.
    search.history = match request.history {
        Some(own) => Some(absolute(own)?),
        None => before.and_then(|own| own.history.clone()),
    };
    Ok(search)
}

fn absolute(path: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(path)
        .map_err(|source| Error::Request(format!("where is {}: {source}", path.display())))
}

fn runs_folder(file: &Path) -> Result<PathBuf, Error> {
    let mut folder = absolute(file)?;
    folder.as_mut_os_string().push(".runs");
    std::fs::create_dir_all(&folder)
        .map_err(|source| Error::Folder { path: folder.clone(), source })?;
    Ok(folder)
}

/// Held while a search runs its job, so that no two pay for the same run.
struct Runner {
    _file: File,
}

impl Runner {
    fn take(search: &Path, folder: &Path) -> Result<Self, Error> {
        let path = folder.join("lock");
        let cannot = |source| Error::Folder { path: path.clone(), source };
        let file = File::options().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(cannot)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(Error::Request(format!(
                "another `cloud recommend` runs the job of {}; wait for it",
                search.display()
            ))),
            Err(TryLockError::Error(source)) => Err(cannot(source)),
        }
    }
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
        let told = self.told(&search.runs);
        let mut advice = self.advice(&told, search.seed)?;
        // Ours judges that itself; whoever wishes to try everything does.
        let judged = matches!(self.method, Method::Default | Method::Exhaustive);
        if advice.stop.is_none() && !judged && !told.is_empty() {
            advice.stop = none_acceptable(&self.problem, &told);
        }
        Ok((told, advice))
    }

    fn advice(&self, told: &[Told], seed: u64) -> Result<Advice, Error> {
        Ok(self.method.advisor(&self.problem, &self.history)?.advise(told, seed))
    }

    /// What runs tell of each configuration: replicates are one run with their means.
    fn told(&self, runs: &[OwnRun]) -> Vec<Told> {
        let mut cells: Vec<(usize, Vec<&OwnRun>)> = Vec::new();
        for own in runs {
            let Some(at) = self.problem.place(&own.vm_type, own.nodes) else { continue };
            match cells.iter_mut().find(|(place, _)| *place == at) {
                Some((_, all)) => all.push(own),
                None => cells.push((at, vec![own])),
            }
        }
        cells.into_iter().map(|(at, all)| self.together(at, &all)).collect()
    }

    /// One configuration has ended well where most of its runs did; those that failed say nothing
    /// of how long it takes then.
    fn together(&self, candidate: usize, runs: &[&OwnRun]) -> Told {
        let well = runs.iter().filter(|own| own.completed).count();
        let completed = 2 * well > runs.len();
        let counted: Vec<&OwnRun> =
            runs.iter().copied().filter(|own| own.completed == completed).collect();
        let mean = |values: Vec<f64>| {
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let metric = |name: &String| {
            mean(counted.iter().filter_map(|own| own.metrics.get(name).copied()).collect())
        };
        Told {
            candidate,
            elapsed_s: mean(counted.iter().filter_map(|own| own.elapsed_s).collect()),
            completed,
            metrics: self.history.metric_names.iter().map(metric).collect(),
        }
    }

    /// Runs to make side by side with the first: each is chosen as if those before it had given
    /// what is expected of them.
    fn beside(&self, seed: u64, advised: &(Vec<Told>, Advice), count: usize) -> Vec<Choice> {
        let (mut told, mut advice) = advised.clone();
        let mut found = Vec::new();
        while found.len() < count {
            let Some(at) = advice.next.filter(|_| advice.stop.is_none()) else { break };
            let own = advice.outlook.iter().find(|own| own.candidate == at);
            found.push(self.foretold(at, own));
            let times = || told.iter().filter_map(Told::finished);
            let usual = times().sum::<f64>() / times().count().max(1) as f64;
            let expected = own.map(|own| own.expected / self.problem.value(at, 1.0));
            let elapsed_s = expected.or((usual > 0.0).then_some(usual)).or(Some(1.0));
            let metrics = vec![None; self.history.metric_names.len()];
            told.push(Told { candidate: at, elapsed_s, completed: true, metrics });
            match self.advice(&told, seed) {
                Ok(next) => advice = next,
                Err(_) => break,
            }
        }
        found.split_off(found.len().min(1))
    }

    fn recommendation(
        &self,
        search: &SearchFile,
        advised: &(Vec<Told>, Advice),
        count: usize,
    ) -> Recommendation {
        let (told, advice) = advised;
        let spend = |own: &OwnRun| {
            let at = self.problem.place(&own.vm_type, own.nodes)?;
            Some(self.problem.candidates()[at].cost_usd(own.elapsed_s?))
        };
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
            spent_usd: search.runs.iter().filter_map(spend).sum(),
            best,
            next: next.map(|at| self.foretold(at, expected(at))),
            beside: self.beside(search.seed, advised, count),
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
