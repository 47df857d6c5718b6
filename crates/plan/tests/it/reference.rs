//! A slow simulator without any of the planner's structures: rectangles number by number along each
//! dimension, lists of tasks, and a search through all of them for the next one to serve.

use std::collections::BTreeMap;

use trainwright_plan::{
    Evaluator, Machine, Mode, Operator, Overlap, Plan, Problem, Read, Role, Sharding, SharedBy,
    Sums, Training,
};
use trainwright_random::Random;

use crate::lab::{SIX, problem, random_plan};

#[derive(Debug, Clone)]
struct Slow {
    name: (u8, usize, usize, usize),
    resource: String,
    duration: u64,
    after: Vec<usize>,
}

/// Times of tasks by what they are: ready, start, end.
type Times = BTreeMap<(u8, usize, usize, usize), (u64, u64, u64)>;

fn places(degrees: &[u16; 5], part: usize) -> Vec<u64> {
    let mut rest = part as u64;
    let mut found = vec![0; 5];
    for at in (0..5).rev() {
        found[at] = rest % u64::from(degrees[at]);
        rest /= u64::from(degrees[at]);
    }
    found
}

fn range(size: u64, degree: u16, place: u64) -> (u64, u64) {
    (size * place / u64::from(degree), size * (place + 1) / u64::from(degree))
}

/// What a part reads of each dimension of a source, as a set of places.
fn read(
    operator: &Operator,
    source: &Operator,
    read: &[Read],
    degrees: &[u16; 5],
    part: usize,
) -> Vec<Vec<u64>> {
    let at = places(degrees, part);
    let own = |dim: usize| range(operator.dims[dim].size, degrees[dim], at[dim]);
    let scale = |(from, to): (u64, u64), size: u64, wanted: u64| -> Vec<u64> {
        // A place of the source is read where any of its numbers is.
        (0..wanted)
            .filter(|place| place * size < to * wanted && (place + 1) * size > from * wanted)
            .collect()
    };
    read.iter()
        .zip(&source.dims)
        .map(|(read, dim)| match *read {
            Read::Full => (0..dim.size).collect(),
            Read::Fixed { from, to } => (from..to).collect(),
            Read::Same(index) => scale(own(index), operator.dims[index].size, dim.size),
            Read::Contracted => {
                let size = operator.contracted.as_ref().unwrap().size;
                let index = operator.dims.len();
                scale(range(size, degrees[index], at[index]), size, dim.size)
            }
            Read::Window { dim: index, kernel, stride, padding } => {
                let (from, to) = own(index);
                (0..dim.size)
                    .filter(|place| {
                        let first = from * stride;
                        let last = (to - 1) * stride + kernel;
                        place + padding >= first && place + padding < last
                    })
                    .collect()
            }
            Read::Shifted { dim: index, by } => {
                let (from, to) = own(index);
                (0..dim.size).filter(|place| place + by >= from && place + by < to).collect()
            }
        })
        .collect()
}

fn link(machine: &Machine, from: usize, to: usize) -> (String, f64, f64) {
    let (a, b) = (machine.node_of(from), machine.node_of(to));
    let (own, what) = if a == b { (machine.inside, "in") } else { (machine.between, "out") };
    let who = match own.shared_by {
        SharedBy::Pair if a == b => format!("{from}-{to}"),
        SharedBy::Pair => format!("{a}-{b}"),
        SharedBy::Device => format!("{from}"),
        SharedBy::Node => format!("node {a}"),
    };
    (format!("{what} {who}"), own.latency_s, own.bytes_per_s)
}

fn message_ns(machine: &Machine, from: usize, to: usize, bytes: u64) -> u64 {
    let (_, latency, rate) = link(machine, from, to);
    ((latency * 1e9).round() as u64 + (bytes as f64 * (1e9 / rate)).ceil() as u64).max(1)
}

struct Tasks<'p> {
    problem: &'p Problem,
    plan: &'p Plan,
    tasks: Vec<Slow>,
}

impl Tasks<'_> {
    fn add(
        &mut self,
        name: (u8, usize, usize, usize),
        resource: String,
        duration: u64,
        after: Vec<usize>,
    ) -> usize {
        self.tasks.push(Slow { name, resource, duration, after });
        self.tasks.len() - 1
    }

    fn find(&self, name: (u8, usize, usize, usize)) -> usize {
        self.tasks.iter().position(|task| task.name == name).unwrap()
    }

    fn degrees(&self, at: usize) -> [u16; 5] {
        self.problem.choices(at)[self.plan.splits[at].choice as usize].degrees
    }

    fn compute(&mut self) {
        for (at, split) in self.plan.splits.iter().enumerate() {
            for (part, device) in split.devices.iter().enumerate() {
                let choice = &self.problem.choices(at)[split.choice as usize];
                let (forward, backward) = choice.part_ns(part);
                let own = self.add((0, at, part, 0), format!("device {device}"), forward, vec![]);
                self.add((1, at, part, 0), format!("device {device}"), backward, vec![own]);
            }
        }
    }

    fn messages(&mut self) {
        let graph = self.problem.graph();
        let mut edge = 0;
        for (to, operator) in graph.operators().iter().enumerate() {
            for input in &operator.inputs {
                self.edge(edge, input.from, to, &input.reads);
                edge += 1;
            }
        }
    }

    fn edge(&mut self, edge: usize, from: usize, to: usize, reads: &[Read]) {
        let operators = self.problem.graph().operators();
        let (source, operator) = (&operators[from], &operators[to]);
        let (own, theirs) = (self.degrees(from), self.degrees(to));
        let copies = own[source.dims.len()];
        let (writers, readers) = (&self.plan.splits[from].devices, &self.plan.splits[to].devices);
        let sets: Vec<_> =
            (0..readers.len()).map(|q| read(operator, source, reads, &theirs, q)).collect();
        let volume = |set: &Vec<Vec<u64>>| set.iter().map(|it| it.len() as u64).product::<u64>();
        let wanted: u64 = sets.iter().map(volume).sum();
        let share = if copies > 1 && wanted > 0 {
            (source.outputs() as f64 / wanted as f64 + 1.0 / f64::from(copies)).min(1.0)
        } else {
            1.0
        };
        for (q, set) in sets.iter().enumerate() {
            for p in 0..writers.len() {
                let at = places(&own, p);
                let common: u64 = set
                    .iter()
                    .enumerate()
                    .map(|(dim, it)| {
                        let (first, last) = range(source.dims[dim].size, own[dim], at[dim]);
                        it.iter().filter(|place| (first..last).contains(place)).count() as u64
                    })
                    .product();
                if common == 0 {
                    continue;
                }
                let bytes = (4.0 * common as f64 * share).ceil() as u64;
                self.pair((edge, p, q), (from, to), bytes);
            }
        }
    }

    fn pair(
        &mut self,
        (edge, p, q): (usize, usize, usize),
        (from, to): (usize, usize),
        bytes: u64,
    ) {
        let here = self.plan.splits[from].devices[p] as usize;
        let there = self.plan.splits[to].devices[q] as usize;
        let (write, read) = (self.find((0, from, p, 0)), self.find((0, to, q, 0)));
        let (write_back, read_back) = (self.find((1, from, p, 0)), self.find((1, to, q, 0)));
        if here == there {
            self.tasks[read].after.push(write);
            self.tasks[write_back].after.push(read_back);
            return;
        }
        let machine = self.problem.machine().clone();
        let forward = self.add(
            (2, edge, p, q),
            link(&machine, here, there).0,
            message_ns(&machine, here, there, bytes),
            vec![write],
        );
        let backward = self.add(
            (3, edge, p, q),
            link(&machine, there, here).0,
            message_ns(&machine, there, here, bytes),
            vec![read_back],
        );
        self.tasks[read].after.push(forward);
        self.tasks[write_back].after.push(backward);
    }

    fn sums(&mut self) {
        let backward: Vec<usize> =
            (0..self.tasks.len()).filter(|&at| self.tasks[at].name.0 == 1).collect();
        for number in 0..self.problem.graph().groups().len() {
            self.group(number, &backward);
        }
    }

    /// Cuts of an operator's weights: degree and place of a part along both.
    fn cut(&self, at: usize, part: usize) -> [(u64, u64); 2] {
        let operator = &self.problem.graph().operators()[at];
        let weights = operator.weights.as_ref().unwrap();
        let (degrees, place) = (self.degrees(at), places(&self.degrees(at), part));
        let of =
            |dim: Option<usize>| dim.map_or((1, 0), |dim| (u64::from(degrees[dim]), place[dim]));
        [of(weights.cut_by), of(weights.cut_by_contracted.then_some(operator.dims.len()))]
    }

    fn group(&mut self, number: usize, backward: &[usize]) {
        let group = &self.problem.graph().groups()[number];
        let parts: Vec<(usize, usize)> = group
            .operators
            .iter()
            .flat_map(|&at| (0..self.plan.splits[at].devices.len()).map(move |part| (at, part)))
            .collect();
        let mut all = [1, 1];
        for &(at, part) in &parts {
            for (axis, (degree, _)) in self.cut(at, part).into_iter().enumerate() {
                all[axis] = (1..).find(|it| it % all[axis] == 0 && it % degree == 0).unwrap();
            }
        }
        for shard in 0..all[0] * all[1] {
            let place = [shard / all[1], shard % all[1]];
            let covering: Vec<(usize, usize)> = parts
                .iter()
                .copied()
                .filter(|&(at, part)| {
                    let cut = self.cut(at, part);
                    (0..2).all(|axis| place[axis] * cut[axis].0 / all[axis] == cut[axis].1)
                })
                .collect();
            let mut held: Vec<usize> = covering
                .iter()
                .map(|&(at, part)| self.plan.splits[at].devices[part] as usize)
                .collect();
            held.sort_unstable();
            held.dedup();
            let mut after: Vec<usize> =
                covering.iter().map(|&(at, part)| self.find((1, at, part, 0))).collect();
            if self.problem.training().overlap == Overlap::After {
                after = backward.to_vec();
            }
            let count = all[0] * all[1];
            let elements = group.elements * (shard + 1) / count - group.elements * shard / count;
            self.shard((number, shard as usize), &held, 4 * elements, after);
        }
    }

    fn shard(
        &mut self,
        (group, shard): (usize, usize),
        held: &[usize],
        bytes: u64,
        after: Vec<usize>,
    ) {
        let (machine, training) = (self.problem.machine().clone(), *self.problem.training());
        let low = |at: usize| shard * machine.devices() + at;
        let n = held.len() as u64;
        let sharded = training.sums == Sums::Sharded || training.sharding > Sharding::None;
        let next = |at: usize| held[(at + 1) % held.len()];
        let step = |bytes: u64| {
            (0..held.len()).map(|at| message_ns(&machine, held[at], next(at), bytes)).max().unwrap()
        };
        let piece = bytes.div_ceil(n);
        let numbers = 3.0 + 2.0 * f64::from(training.optimizer_slots);
        let updated = if sharded { piece } else { bytes };
        let update =
            (updated as f64 * numbers * (1e9 / machine.device.memory_bytes_per_s)).ceil() as u64;
        let update = (update + (machine.device.launch_s * 1e9).round() as u64).max(1);
        let log = (0..).find(|log| 1_u64 << log >= n).unwrap();
        let (sum, hand_out) = match training.sums {
            _ if n == 1 => (None, None),
            _ if sharded => {
                let times = if training.sharding == Sharding::Weights { 2 } else { 1 };
                (Some((n - 1) * step(piece)), Some(times * (n - 1) * step(piece)))
            }
            Sums::Tree => (Some(2 * log * step(bytes)), None),
            Sums::Server => (Some(0), Some(0)),
            _ => (Some(2 * (n - 1) * step(piece)), None),
        };
        let server = training.sums == Sums::Server && !sharded;
        let around = |own: &mut Self, kind: u8, time: u64, after: &[usize]| -> Vec<usize> {
            let ends: Vec<(usize, usize)> = if server {
                held[1..].iter().map(|&other| (held[0], other)).collect()
            } else {
                (0..held.len()).map(|at| (held[at], next(at))).collect()
            };
            let mut made = Vec::new();
            for (at, (from, to)) in ends.into_iter().enumerate() {
                let time = if server { message_ns(&machine, from, to, bytes) } else { time };
                let resource = link(&machine, from, to).0;
                made.push(own.add((kind, group, low(at), 0), resource, time, after.to_vec()));
            }
            made
        };
        let after = match sum {
            Some(time) => around(self, 4, time, &after),
            None => after,
        };
        let updating = if server { &held[..1] } else { held };
        let updates: Vec<usize> = updating
            .iter()
            .enumerate()
            .map(|(at, device)| {
                self.add((5, group, low(at), 0), format!("device {device}"), update, after.clone())
            })
            .collect();
        if let Some(time) = hand_out {
            around(self, 6, time, &updates);
        }
    }

    /// Serves the task that is ready first, among all whose predecessors have ended.
    fn serve(self) -> Times {
        let mut ends: Vec<Option<(u64, u64, u64)>> = vec![None; self.tasks.len()];
        let mut free: BTreeMap<&str, u64> = BTreeMap::new();
        for _ in 0..self.tasks.len() {
            let next = (0..self.tasks.len())
                .filter(|&at| ends[at].is_none())
                .filter_map(|at| {
                    let after = self.tasks[at].after.iter();
                    let ready = after
                        .map(|&it| ends[it].map(|it| it.2))
                        .try_fold(0, |a, b| Some(a.max(b?)));
                    ready.map(|ready| ((ready, self.tasks[at].name), at))
                })
                .min()
                .unwrap();
            let ((ready, _), at) = next;
            let task = &self.tasks[at];
            let free = free.entry(&task.resource).or_insert(0);
            let start = ready.max(*free);
            *free = start + task.duration;
            ends[at] = Some((ready, start, *free));
        }
        self.tasks.iter().zip(ends).map(|(task, times)| (task.name, times.unwrap())).collect()
    }
}

fn slow(problem: &Problem, plan: &Plan) -> Times {
    let mut own = Tasks { problem, plan, tasks: Vec::new() };
    own.compute();
    own.messages();
    own.sums();
    own.serve()
}

/// The fast simulator's times under the same names, out of its keys.
fn fast(problem: &Problem, plan: &Plan) -> Times {
    let own = Evaluator::new(problem, plan, Mode::Rebuild);
    let named = own.served().into_iter().map(|it| {
        let (kind, owner, low) =
            ((it.key >> 45) as u8, (it.key >> 28 & 0x1_ffff) as usize, it.key & 0xfff_ffff);
        let name = match kind {
            2 | 3 => (kind, owner, (low >> 14) as usize, (low & 0x3fff) as usize),
            _ => (kind, owner, low as usize, 0),
        };
        (name, (it.ready_ns, it.start_ns, it.end_ns))
    });
    named.collect()
}

fn check(graph: &str, devices: u32, training: Training, seed: u64) {
    let problem = problem(graph, devices, training);
    let plan = random_plan(&problem, &mut Random::new(seed));
    let (fast, slow) = (fast(&problem, &plan), slow(&problem, &plan));
    assert_eq!(fast.len(), slow.len(), "{graph} {devices} {training:?}");
    for (name, times) in &slow {
        assert_eq!(fast.get(name), Some(times), "{graph} {devices} {training:?} {name:?}");
    }
}

#[test]
fn every_task_has_the_times_of_the_slow_simulator() {
    let usual = Training::default();
    for (graph, devices) in
        [("lenet", 2), ("lenet", 4), ("lenet", 8), ("rnnlm-2", 4), ("rnnlm-2", 8)]
    {
        for sums in [Sums::Ring, Sums::Tree, Sums::Sharded, Sums::Server] {
            for overlap in [Overlap::Beside, Overlap::After] {
                check(graph, devices, Training { sums, overlap, ..usual }, 7);
            }
        }
        for sharding in [Sharding::Optimizer, Sharding::Gradients, Sharding::Weights] {
            check(graph, devices, Training { sharding, recompute: true, ..usual }, 8);
        }
    }
    for graph in ["alexnet", "rnnlm", "rnntc", "nmt"] {
        check(graph, 4, usual, 9);
    }
}

#[test]
#[ignore = "long: every graph by the slow simulator; part of `just full`"]
fn every_graph_has_the_times_of_the_slow_simulator() {
    for graph in SIX.into_iter().chain(["transformer"]) {
        for devices in [2, 4] {
            check(graph, devices, Training::default(), 11);
        }
    }
}

#[test]
fn roles_of_samples_are_first() {
    for graph in SIX {
        let problem = problem(graph, 2, Training::default());
        assert!(problem.graph().operators().iter().all(|it| it.dims[0].role == Role::Sample));
    }
}
