//! The verb `plan`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use trainwright_networks::NetworkDescription;
use trainwright_plan::{
    Change, Constraints, DEGREES, Evaluator, Found, Machine, Mode, OperatorGraph, Overlap,
    PLAN_SCHEMA, Pipeline, PlanFile, Planned, PlannedPipeline, Problem, Ranked, SearchOptions,
    Sharding, Strategy, StrategyRow, Tables, Training, WhatIf, pipeline, planned_operators, search,
    starts, strategies, what_if,
};
use trainwright_train::split_memory;

use crate::Error;
use crate::planning::execution::split;
use crate::planning::graphs::{Graph, graph};
use crate::planning::here::machine_of;
use crate::planning::measured::{Measured, Times};
use crate::planning::reply::{
    ChosenPlan, MeasuredStrategy, PlanMachine, PlanReply, PlanSearch, PlannedChange,
};
use crate::planning::shown::{DeviceSpans, Shown, shown};
use crate::planning::tried::{Beside, tried};
use crate::trainings::network::NetworkRequest;

/// A network to be planned.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanRequest {
    /// The network, a graph by name, or a JSON file of a graph.
    pub network: NetworkRequest,
    /// Name of a machine, or a TOML file.
    pub machine: String,
    /// Examples of a step; the usual ones where `None`.
    pub batch: Option<u64>,
    /// Examples of an epoch.
    pub examples: Option<u64>,
    /// How it is trained.
    pub training: Training,
    /// What plans must keep to.
    pub constraints: Constraints,
    /// Bytes of a device's memory, where they are other than the machine's.
    pub memory_bytes: Option<u64>,
    /// The strategy that is wanted; the best where `None`.
    pub strategy: Option<Strategy>,
    /// Decides every draw of the search.
    pub seed: u64,
    /// Proposals of the search; as many as take seconds where `None`.
    pub proposals: Option<u64>,
    /// Time after which the search ends with what it has.
    pub time_limit: Option<Duration>,
    /// Threads of the search.
    pub threads: usize,
    /// The data set on which strategies are tried here, where they are.
    pub measure_on: Option<String>,
}

/// The answer with the files that can be made of it.
#[derive(Debug, Clone)]
pub struct PlanAnswer {
    /// The answer.
    pub reply: PlanReply,
    /// The plan as a file.
    pub file: PlanFile,
    /// The trace of a step, for Perfetto or chrome://tracing.
    pub trace: String,
    pub(crate) spans: Vec<DeviceSpans>,
}

/// Rounds of measuring a network's parts on this machine before a plan is made.
const ROUNDS: usize = 3;

/// Proposals of the chains together, over the number of operators and devices.
const WORK: f64 = 2e7;

/// Chains from each start.
const CHAINS: u64 = 2;

/// The most proposals of the polish, over those of the chains or the usual ones: few of them are
/// simulated to their end.
const POLISH: u64 = 3;

/// Pixels of pictures by which a first layer is measured.
const MOST_PIXELS: usize = 1 << 20;

/// The most proposals of a search for another number of nodes.
const WHAT_IF_PROPOSALS: u64 = 1500;

/// Measures the layers of a network on this machine, and what the machine does beside them.
fn measured_here(
    request: &PlanRequest,
    (network, graph): (&NetworkDescription, &OperatorGraph),
    machine: &mut Machine,
) -> Measured {
    let of = (machine.devices(), request.training.optimizer_slots);
    let pictures = pixels(request.measure_on.as_deref());
    let mut here = Measured::new(network, graph, of, &pictures);
    (0..ROUNDS).for_each(|_| here.round());
    here.put_into(machine);
    here
}

/// Pixels of some pictures that a network trains with, by which its first layer is measured: where
/// they are not known, numbers that are not 0. A set that is not there is a fault when it is trained
/// with.
fn pixels(data: Option<&str>) -> Arc<[u8]> {
    let found = data.and_then(|data| trainwright_records::load(data, None).ok());
    let some = found.filter(|splits| !splits.train().pixels().is_empty()).map(|splits| {
        let pixels = splits.train().pixels();
        pixels[..pixels.len().min(MOST_PIXELS)].into()
    });
    some.unwrap_or_else(|| Arc::from([7]))
}

/// Plans a network for a machine. `stop` is asked often and ends the search; `tell` hears what is
/// known so far.
///
/// # Errors
/// Network, machine or constraints do not read or do not fit together.
pub fn plan(
    request: &PlanRequest,
    stop: &(dyn Fn() -> bool + Sync),
    tell: &mut dyn FnMut(&str),
) -> Result<PlanAnswer, Error> {
    let Graph { graph, network } = graph(&request.network, request.batch)?;
    let mut machine = machine_of(&request.machine, graph.parameters(), tell)?;
    if let Some(bytes) = request.memory_bytes {
        machine.device.memory_bytes = bytes;
    }
    let own_network = network.as_ref().filter(|_| request.machine == "here");
    let mut here = own_network.map(|network| {
        tell("measuring the layers of the network on this machine");
        measured_here(request, (network, &graph), &mut machine)
    });
    let times = here.as_ref().map_or_else(Times::new, Measured::times);
    let begun = Instant::now();
    let measured = |at: usize, degrees: &[u16; DEGREES]| times.get(&(at, *degrees)).copied();
    let own = |training: Training| {
        let constraints = request.constraints.clone();
        Problem::with_times(graph.clone(), machine.clone(), training, constraints, &measured)
    };
    // Threads of this machine that compute cannot add up at the same time.
    let overlap = if request.machine == "here" { Overlap::After } else { request.training.overlap };
    let training = Training { overlap, ..request.training };
    let problem = own(training)?;
    let sharding = training.sharding.max(Sharding::Weights);
    let sharded = own(Training { sharding, ..training })?;
    let limit = request.time_limit;
    let over = || stop() || limit.is_some_and(|limit| begun.elapsed() >= limit);
    let tables = strategies(&problem, &sharded, request.examples, &over);
    let first_answer = begun.elapsed();
    if let Some(best) = fastest(&tables.rows) {
        let row = &best.row;
        tell(&format!(
            "{}: {:.3} ms a step; searching",
            crate::terminal::strategy_name(row.strategy),
            1e3 * row.step_time_s
        ));
    }
    let wants_search = request.strategy.is_none_or(|own| own == Strategy::Hybrid);
    let found = if wants_search { searched(&problem, &tables, request, &over) } else { None };
    let spent = begun.elapsed();
    let search = found.as_ref().map(|own| search_reply(own, request.seed, first_answer, spent));
    let mut own = Answering { problem, sharded, tables, request, found, times: &times };
    own.add_found();
    if let Some(network) = &network {
        own.tell_memory(network);
    }
    own.rank();
    let measured = match (&request.measure_on, &mut here) {
        (Some(data), Some(here)) => {
            let on = (data.as_str(), request.training.optimizer_slots);
            let plans = own.runnable();
            let found = tried(&plans, on, stop, Beside { tell, before: &mut || here.round() });
            own.predicted_again(found, here)?
        }
        _ => Vec::new(),
    };
    own.answer(search, measured)
}

fn fastest(rows: &[Ranked]) -> Option<&Ranked> {
    let key = |row: &StrategyRow| (!row.fits, row.step_time_s);
    rows.iter().min_by(|a, b| {
        let (a, b) = (key(&a.row), key(&b.row));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    })
}

fn searched(
    problem: &Problem,
    tables: &Tables,
    request: &PlanRequest,
    stop: &(dyn Fn() -> bool + Sync),
) -> Option<Found> {
    let mesh = tables.mesh.as_ref().map(|own| own.plan.clone());
    let stages = tables.pipeline.as_ref().map(|own| &own.stages);
    let starts = starts(problem, mesh, stages);
    let usual = usual_proposals(problem);
    let proposals = request.proposals.unwrap_or(usual);
    let options = SearchOptions {
        seed: request.seed,
        proposals,
        polish_proposals: POLISH.saturating_mul(proposals.max(usual)),
        chains_per_start: CHAINS,
        threads: request.threads,
        stop,
    };
    search(problem, &starts, &options)
}

/// Proposals that take seconds.
fn usual_proposals(problem: &Problem) -> u64 {
    let tasks = (problem.graph().operators().len() * problem.devices()) as f64;
    (WORK / tasks).clamp(2_000.0, 200_000.0) as u64
}

fn search_reply(own: &Found, seed: u64, first: Duration, spent: Duration) -> PlanSearch {
    PlanSearch {
        proposals: own.proposals,
        accepted: own.accepted,
        polish_proposals: own.polish_proposals,
        seconds: spent.as_secs_f64(),
        first_answer_seconds: first.as_secs_f64(),
        from: own.from.clone(),
        locally_optimal: own.locally_optimal,
        seed,
        history: format!("{:016x}", own.history),
    }
}

/// What is known before the answer is put together.
struct Answering<'a> {
    problem: Problem,
    sharded: Problem,
    tables: Tables,
    request: &'a PlanRequest,
    found: Option<Found>,
    times: &'a Times,
}

impl Answering<'_> {
    fn add_found(&mut self) {
        if let Some(found) = &self.found {
            let detail = format!("each operator by itself, from {}", found.from);
            let examples = self.request.examples;
            let kind = (Strategy::Hybrid, detail.as_str());
            self.tables.rows.push(self.problem.ranked(kind, found.plan.clone(), examples));
        }
    }

    /// Puts what ranks of this program have of memory in the place of what was simulated, where a
    /// plan can run here.
    fn tell_memory(&mut self, network: &NetworkDescription) {
        let of = (self.problem.graph().batch() as usize, self.problem.training().optimizer_slots);
        let told = |own: &Ranked| {
            let split = split(&self.file_of(own)).ok()?;
            split_memory(network, &split, of).ok()
        };
        let told: Vec<Option<u64>> = self.tables.rows.iter().map(told).collect();
        let capacity = self.problem.machine().device.memory_bytes;
        for (row, bytes) in self.tables.rows.iter_mut().map(|own| &mut own.row).zip(told) {
            let Some(bytes) = bytes.filter(|_| row.strategy != Strategy::Sharded) else { continue };
            let rest = row.weights_bytes + row.gradients_bytes + row.optimizer_bytes;
            row.activations_bytes = bytes.saturating_sub(rest);
            row.memory_bytes_per_device = bytes;
            row.fits = bytes <= capacity;
        }
    }

    /// Puts all rows in order, the fastest that fit first.
    fn rank(&mut self) {
        self.tables.rows.sort_by(|a, b| {
            let (a, b) = (&a.row, &b.row);
            (!a.fits).cmp(&!b.fits).then(a.step_time_s.total_cmp(&b.step_time_s))
        });
    }

    /// The plans of the rows that are tried where that is asked for.
    fn runnable(&self) -> Vec<(Strategy, PlanFile)> {
        let rows = self.tables.rows.iter().filter(|own| own.row.strategy != Strategy::Sharded);
        rows.map(|own| (own.row.strategy, self.file_of(own))).collect()
    }

    fn file_of(&self, own: &Ranked) -> PlanFile {
        let stages = self.tables.pipeline.as_ref().filter(|_| own.plan.is_none());
        PlanFile {
            schema: PLAN_SCHEMA.to_owned(),
            network: self.request.network.description.clone(),
            batch: self.problem.graph().batch(),
            machine: self.problem.machine().name.clone(),
            devices: self.problem.devices(),
            step_time_s: own.row.step_time_s,
            memory_bytes_per_device: own.row.memory_bytes_per_device,
            training: Some(*self.problem.training()),
            operators: (own.plan.as_ref())
                .map_or_else(Vec::new, |plan| planned_operators(&self.problem, plan)),
            pipeline: stages.map(|own| planned_pipeline(&self.problem, own)),
        }
    }

    /// What was measured beside what the same plans take by all rounds of measuring parts, of which
    /// one came before each round of training: a machine is not as fast at all times.
    fn predicted_again(
        &self,
        mut measured: Vec<MeasuredStrategy>,
        here: &Measured,
    ) -> Result<Vec<MeasuredStrategy>, Error> {
        let times = here.times();
        let of = |at: usize, degrees: &[u16; DEGREES]| times.get(&(at, *degrees)).copied();
        let mut machine = self.problem.machine().clone();
        here.put_into(&mut machine);
        let (graph, training) = (self.problem.graph().clone(), *self.problem.training());
        let constraints = self.request.constraints.clone();
        let problem = Problem::with_times(graph, machine, training, constraints, &of)?;
        for own in &mut measured {
            let ranked = self.tables.rows.iter().find(|row| row.row.strategy == own.strategy);
            let stages = self.tables.pipeline.as_ref();
            let cost = match (ranked.and_then(|own| own.plan.as_ref()), stages) {
                (Some(plan), _) => Evaluator::new(&problem, plan, Mode::Bounded).cost(),
                (None, Some(own)) => {
                    pipeline(&problem, &own.stages, own.micro_batches, own.order).cost
                }
                (None, None) => continue,
            };
            own.predicted_s = cost as f64 / 1e9;
            own.error = own.measured_s.map(|measured| own.predicted_s / measured - 1.0);
        }
        Ok(measured)
    }

    fn answer(
        self,
        search: Option<PlanSearch>,
        measured: Vec<MeasuredStrategy>,
    ) -> Result<PlanAnswer, Error> {
        let chosen = self.chosen()?;
        let problem = match chosen.row.strategy {
            Strategy::Sharded => &self.sharded,
            _ => &self.problem,
        };
        let of_pipeline = match chosen.row.strategy {
            Strategy::Pipeline => self.tables.pipeline.as_ref(),
            _ => None,
        };
        let planned = match (&chosen.plan, of_pipeline) {
            (Some(plan), _) => Some(Planned::Operators(plan)),
            (None, own) => own.map(Planned::Stages),
        };
        let times = |at: usize, degrees: &[u16; DEGREES]| self.times.get(&(at, *degrees)).copied();
        let changes = match planned {
            Some(planned) => {
                let proposals = WHAT_IF_PROPOSALS.min(usual_proposals(problem) / 4);
                what_if(problem, planned, (self.request.seed, proposals), &times)?
            }
            None => Vec::new(),
        };
        let shown = shown(problem, chosen.plan.as_ref(), of_pipeline);
        let reply = self.reply(&chosen, problem, of_pipeline, (search, changes, &shown));
        let reply = PlanReply { measured, ..reply };
        let file = self.file(&reply, *problem.training());
        Ok(PlanAnswer { reply, file, trace: shown.trace, spans: shown.spans })
    }

    /// The strategy that was asked for, else the fastest that fits.
    fn chosen(&self) -> Result<Ranked, Error> {
        let rows = &self.tables.rows;
        match self.request.strategy {
            Some(wanted) => {
                let own = rows.iter().find(|own| own.row.strategy == wanted);
                own.cloned().ok_or_else(|| {
                    let name = crate::terminal::strategy_name(wanted);
                    Error::Request(format!("there is no {name} plan of this network here"))
                })
            }
            None => {
                let first = rows.first().expect("there is always one device");
                if !first.row.fits {
                    return Err(Error::Plan(trainwright_plan::PlanError::NothingFits {
                        needed: rows
                            .iter()
                            .map(|own| own.row.memory_bytes_per_device)
                            .min()
                            .unwrap_or(0),
                        capacity: self.problem.machine().device.memory_bytes,
                    }));
                }
                Ok(first.clone())
            }
        }
    }

    fn reply(
        &self,
        chosen: &Ranked,
        problem: &Problem,
        pipeline: Option<&Pipeline>,
        (search, what_if, shown): (Option<PlanSearch>, Vec<WhatIf>, &Shown),
    ) -> PlanReply {
        let machine = problem.machine();
        let rows: Vec<StrategyRow> = self.tables.rows.iter().map(|own| own.row.clone()).collect();
        let name = |row: &StrategyRow| {
            let text = serde_json::to_value(row.strategy).expect("a word");
            text.as_str().unwrap_or_default().to_owned()
        };
        let baselines = rows
            .iter()
            .filter(|row| row.strategy != Strategy::Hybrid)
            .map(|row| (name(row), row.clone()));
        let data_parallel = rows.iter().find(|row| row.strategy == Strategy::DataParallel);
        let row = &chosen.row;
        let operators =
            chosen.plan.as_ref().map_or_else(Vec::new, |plan| planned_operators(problem, plan));
        PlanReply {
            network: problem.graph().name().to_owned(),
            batch: problem.graph().batch(),
            parameters: problem.graph().parameters(),
            flops: problem.graph().flops(),
            machine: PlanMachine {
                name: machine.name.clone(),
                source: machine.source.clone(),
                nodes: machine.nodes,
                devices: machine.devices(),
                memory_bytes: machine.device.memory_bytes,
                price_per_hour: machine.price_per_hour(),
            },
            chosen: ChosenPlan {
                strategy: row.strategy,
                detail: row.detail.clone(),
                step_time_s: row.step_time_s,
                examples_per_s: row.examples_per_s,
                memory_bytes_per_device: row.memory_bytes_per_device,
                fits: row.fits,
                speed_up_over_data_parallel: data_parallel
                    .map_or(1.0, |other| other.step_time_s / row.step_time_s),
                operators,
                pipeline: pipeline.map(|own| planned_pipeline(problem, own)),
            },
            baselines: baselines.collect(),
            strategies: rows,
            search,
            critical_path: shown.critical_path.clone(),
            busy: shown.busy.clone(),
            most_helpful: most_helpful(&what_if),
            what_if,
            measured: Vec::new(),
        }
    }

    fn file(&self, reply: &PlanReply, training: Training) -> PlanFile {
        PlanFile {
            schema: PLAN_SCHEMA.to_owned(),
            network: self.request.network.description.clone(),
            batch: reply.batch,
            machine: reply.machine.name.clone(),
            devices: reply.machine.devices,
            step_time_s: reply.chosen.step_time_s,
            memory_bytes_per_device: reply.chosen.memory_bytes_per_device,
            training: Some(training),
            operators: reply.chosen.operators.clone(),
            pipeline: reply.chosen.pipeline.clone(),
        }
    }
}

fn planned_pipeline(problem: &Problem, own: &Pipeline) -> PlannedPipeline {
    let operators = problem.graph().operators();
    PlannedPipeline {
        begins: own.stages.begins.iter().map(|&at| operators[at].name.clone()).collect(),
        micro_batches: own.micro_batches,
        order: own.order,
    }
}

/// The change that helps most, among those that leave batch and devices as they are.
fn most_helpful(changes: &[WhatIf]) -> Option<PlannedChange> {
    let own = changes.iter().find(|own| {
        own.fits && !matches!(own.change, Change::TwiceTheBatch | Change::HalfTheBatch)
    })?;
    (own.speed_up > 1.0).then(|| PlannedChange {
        text: crate::terminal::change_text(own.change).to_owned(),
        speed_up: own.speed_up,
    })
}
