//! A small job to try servers with.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use trainwright_comm::{
    CommError, Consistency, Done, Gradients, Group, JoinOptions, Leader, LeafTree, Line, Owner,
    Push, Pushed, Server, StepPlan, Stretch, WorkOrder, Worker, words_of_text,
};

use crate::lab::sockets;

pub(super) const RATE: f32 = 0.125;
pub(super) const MOST: usize = 1 << 16;

/// What is said of a step whose gradients are no numbers.
pub(super) const VOID: u32 = 404;

/// The numbers before the first step.
pub(super) fn beginning() -> Vec<f32> {
    vec![1.0, -2.0, 3.0, 0.3]
}

/// The gradient of a part of a step, as slow and obvious as any.
pub(super) fn gradient(values: &[f32], step: u64, part: usize) -> Vec<f32> {
    let wanted = (step % 7) as f32 * 0.3 - part as f32 * 0.1;
    values.iter().map(|value| (value - wanted) * 0.7).collect()
}

/// A piece of the vector, changed by plain descent.
pub(super) struct Piece {
    values: Vec<f32>,
    sum: Vec<f32>,
}

impl Owner for Piece {
    fn read(&self, rows: Option<&[u32]>, into: &mut Vec<f32>) {
        match rows {
            None => into.extend(&self.values),
            Some(rows) => into.extend(rows.iter().map(|row| self.values[*row as usize])),
        }
    }

    fn has_rows(&self, rows: &[u32]) -> bool {
        rows.iter().all(|row| (*row as usize) < self.values.len())
    }

    fn admits(&self, push: &Push<'_>) -> bool {
        push.values.len() == self.values.len()
    }

    fn sum(&mut self, gradients: &Gradients<'_>) {
        let nodes: Vec<&[f32]> = gradients.pushes.iter().map(|push| push.values).collect();
        LeafTree::new(gradients.leaves).add_up(nodes.len(), &nodes, &mut self.sum);
    }

    fn squares(&mut self) -> Vec<f64> {
        self.sum.iter().map(|own| f64::from(*own) * f64::from(*own)).collect()
    }

    fn update(&mut self, rate: f64, norm: Option<f64>) {
        let scale = norm.map_or(1.0, |norm| 1.0 / norm) as f32;
        for (value, own) in self.values.iter_mut().zip(&self.sum) {
            *value -= rate as f32 * (own * scale);
        }
    }

    fn store(&mut self, into: &mut Vec<f32>) {
        into.extend(&self.values);
    }

    fn load(&mut self, values: &[f32]) -> bool {
        self.values.copy_from_slice(values);
        true
    }
}

/// All that takes part; servers run on threads of their own.
pub(super) struct Cast {
    pub(super) leader: Leader,
    pub(super) workers: Vec<Worker>,
    pub(super) _servers: Vec<JoinHandle<Result<(), CommError>>>,
}

/// Workers and servers on threads, or with sockets between them.
pub(super) fn cast(
    workers: usize,
    servers: usize,
    rule: Consistency,
    over: Option<&JoinOptions>,
) -> Cast {
    let size = 1 + workers + servers;
    let lines: Vec<Vec<Option<Line>>> = match over {
        None => Line::threads(size),
        Some(options) => {
            let groups: Vec<Group> = sockets(size, options);
            let split = |group: Group| thread::spawn(move || group.into_lines().unwrap());
            let splitting: Vec<_> = groups.into_iter().map(split).collect();
            splitting.into_iter().map(|own| own.join().unwrap()).collect()
        }
    };
    let mut lines = lines.into_iter();
    let of_leader = lines.next().unwrap();
    let workers: Vec<Worker> =
        (0..workers).map(|_| worker(lines.next().unwrap(), workers)).collect();
    let count = size - 1 - servers;
    let serving = lines.enumerate().map(|(server, lines)| serve(server, lines, count));
    let servers = serving.collect();
    let mut of_leader = of_leader.into_iter().flatten();
    let to_workers = of_leader.by_ref().take(count).collect();
    let leader = Leader::new(to_workers, of_leader.collect(), rule, MOST).unwrap();
    Cast { leader, workers, _servers: servers }
}

fn worker(lines: Vec<Option<Line>>, workers: usize) -> Worker {
    let mut lines = lines.into_iter();
    let leader = lines.next().flatten().unwrap();
    Worker::new(leader, lines.skip(workers).flatten().collect(), MOST)
}

fn serve(
    server: usize,
    lines: Vec<Option<Line>>,
    workers: usize,
) -> JoinHandle<Result<(), CommError>> {
    let mut lines = lines.into_iter();
    let leader = lines.next().flatten().unwrap();
    let to_workers = lines.take(workers).flatten().collect();
    let values = beginning()[2 * server..2 * server + 2].to_vec();
    let piece = Piece { sum: vec![0.0; 2], values };
    thread::spawn(move || Server::new(piece).serve(leader, to_workers, MOST))
}

/// Says when a worker may push: a word on its channel for each share, or always.
#[derive(Clone)]
pub(super) struct Pace(Vec<Option<Arc<Mutex<Receiver<()>>>>>);

impl Pace {
    /// Nobody waits.
    pub(super) fn free() -> Self {
        Self(Vec::new())
    }

    /// One worker waits before each push.
    pub(super) fn slow(worker: usize) -> (Self, Sender<()>) {
        let (go, waits) = channel();
        let mut all = vec![None; worker];
        all.push(Some(Arc::new(Mutex::new(waits))));
        (Self(all), go)
    }

    /// Waits for leave to push; whether it still comes.
    fn wait(&self, worker: usize) -> bool {
        match self.0.get(worker) {
            Some(Some(waits)) => waits.lock().unwrap().recv().is_ok(),
            _ => true,
        }
    }
}

/// Runs workers on threads until the leader ends them; each gives the number of its pushes.
pub(super) fn run_workers(workers: Vec<Worker>, pace: &Pace) -> Vec<JoinHandle<u64>> {
    let run = |(number, worker): (usize, Worker)| {
        let pace = pace.clone();
        thread::spawn(move || work(number, worker, &pace).unwrap_or_default())
    };
    workers.into_iter().enumerate().map(run).collect()
}

/// One worker; the number of its pushes.
pub(super) fn work(number: usize, mut worker: Worker, pace: &Pace) -> Result<u64, CommError> {
    let (mut done, mut pushes) = (Vec::new(), 0);
    let mut order = worker.report(&done)?;
    loop {
        match order {
            WorkOrder::End => return Ok(pushes),
            WorkOrder::Tell => order = worker.tell(&format!("{{\"pushes\":{pushes}}}"))?,
            WorkOrder::Compute(jobs) => {
                done.clear();
                for job in jobs {
                    worker.pull(job.version, None)?;
                    let seen: Vec<(u64, Vec<f32>)> = (0..worker.servers())
                        .map(|server| worker.pulled(server))
                        .map(|(version, values)| (version, values.to_vec()))
                        .collect();
                    let values: Vec<f32> = seen.iter().flat_map(|own| own.1.clone()).collect();
                    let gradient = gradient(&values, job.share.step, job.share.part as usize);
                    if !pace.wait(number) {
                        return Ok(pushes);
                    }
                    if job.words == [VOID] {
                        let void = true;
                        let words = words_of_text("no");
                        done.push(Done { share: job.share, version: None, void, words });
                        break;
                    }
                    let parts: Vec<Pushed<'_>> = gradient
                        .chunks(2)
                        .zip(&seen)
                        .map(|(values, own)| Pushed { rows: &[], values, version: own.0 })
                        .collect();
                    worker.push(&job, (f64::from(RATE), job.parts), &parts, None)?;
                    pushes += 1;
                    let same = seen.iter().all(|own| own.0 == seen[0].0);
                    done.push(Done {
                        share: job.share,
                        version: same.then_some(seen[0].0),
                        void: false,
                        words: words_of_text("ok"),
                    });
                }
                order = worker.report(&done)?;
            }
        }
    }
}

/// Steps with so many parts.
pub(super) fn plans(count: u64, parts: usize) -> Vec<StepPlan> {
    let plan = |step: u64| StepPlan {
        words: vec![step as u32],
        rate: f64::from(RATE),
        leaves: parts,
        examples: 8,
    };
    (0..count).map(plan).collect()
}

pub(super) fn stretch(first: u64, steps: &[StepPlan]) -> Stretch<'_> {
    Stretch { first, steps, norms: false, lease: 3 }
}

/// The piece of the first server.
pub(super) fn new_piece() -> Piece {
    Piece { sum: vec![0.0; 2], values: beginning()[..2].to_vec() }
}
