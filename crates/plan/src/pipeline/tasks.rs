//! Tasks of a pipeline's step: forward, backward, messages, sums of gradients and updates.

use std::collections::BTreeMap;

use crate::lists::ListedTask;
use crate::pipeline::costs::{Costs, Way};
use crate::pipeline::memory::weight_bytes;
use crate::pipeline::{PipelineOrder, Stages};
use crate::simulator::{Work, sum_tasks};

/// What a stage does for every micro-batch, and the places of the tasks in the list.
struct StageWork {
    forward_ns: u64,
    backward_ns: u64,
    /// Nanoseconds by link of the messages into it, and of those back.
    on: Vec<(u32, u64)>,
    back: Vec<(u32, u64)>,
    /// Nanoseconds to add gradients to those before, and to hand on their sum.
    accumulation_ns: (u64, u64),
    first_place: usize,
}

impl StageWork {
    /// Tasks for one micro-batch.
    fn count(&self) -> usize {
        2 + self.on.len() + self.back.len()
    }

    fn forward(&self, batch: usize) -> usize {
        self.first_place + batch * self.count()
    }

    fn backward(&self, batch: usize) -> usize {
        self.forward(batch) + 1
    }

    fn arrived(&self, batch: usize) -> std::ops::Range<usize> {
        let first = self.forward(batch) + 2;
        first..first + self.on.len()
    }

    fn returned(&self, batch: usize) -> std::ops::Range<usize> {
        let first = self.arrived(batch).end;
        first..first + self.back.len()
    }
}

/// Tasks of all stages and micro-batches. All replicas of a stage do the same at the same time: they
/// are one resource, and links follow after the stages.
pub(super) fn of_step(costs: &Costs<'_>, stages: &Stages, order: PipelineOrder) -> Vec<ListedTask> {
    let (count, micro) = (stages.count(), costs.micro_batches as usize);
    let mut works: Vec<StageWork> = Vec::new();
    for stage in 0..count {
        let first_place = works.last().map_or(0, |last| last.forward(micro));
        works.push(work(costs, stages, stage, first_place));
    }
    let link = |link: u32| count + link as usize - costs.problem.devices();
    let mut tasks: Vec<ListedTask> = Vec::new();
    for (stage, own) in works.iter().enumerate() {
        for batch in 0..micro {
            let name = |what: &str| format!("{what} {stage}.{batch}");
            let waits = forward_waits(&works, (stage, batch), order);
            tasks.push(listed(name("forward"), stage, own.forward_ns, waits));
            let (added, handed) = own.accumulation_ns;
            // The gradients of a micro-batch are added to those before; the last hands on the sum.
            let first = if batch == 0 { 0 } else { added };
            let backward = own.backward_ns + first + if batch + 1 == micro { handed } else { 0 };
            let mut waits = vec![own.forward(batch)];
            if order == PipelineOrder::Gpipe {
                waits.push(own.forward(micro - 1));
            }
            waits.extend(works.get(stage + 1).into_iter().flat_map(|next| next.returned(batch)));
            tasks.push(listed(name("backward"), stage, backward, waits));
            for &(on, time) in &own.on {
                let waits = vec![works[stage - 1].forward(batch)];
                tasks.push(listed(name("to"), link(on), time, waits));
            }
            for &(back, time) in &own.back {
                let waits = vec![own.backward(batch)];
                tasks.push(listed(name("back from"), link(back), time, waits));
            }
        }
    }
    for (held, bytes) in held_together(costs, stages) {
        let waits = held.iter().flat_map(|&stage| (0..micro).map(move |batch| (stage, batch)));
        let waits = waits.map(|(stage, batch)| works[stage].backward(batch)).collect();
        sum_and_update(costs, count, (&held, bytes), waits, &mut tasks);
    }
    tasks
}

fn work(costs: &Costs<'_>, stages: &Stages, stage: usize, first_place: usize) -> StageWork {
    let own = costs.range(stages, stage);
    let sum = |of: fn(&(u64, u64)) -> u64| costs.times[own.clone()].iter().map(of).sum::<u64>();
    let messages = |way: Way| costs.messages(own.start, stage, way).into_iter().collect();
    StageWork {
        forward_ns: sum(|it| it.0),
        backward_ns: sum(|it| it.1),
        on: messages(Way::On),
        back: messages(Way::Back),
        accumulation_ns: accumulation_ns(costs, stages, stage),
        first_place,
    }
}

/// What the forward task of a stage and micro-batch waits for.
fn forward_waits(
    works: &[StageWork],
    (stage, batch): (usize, usize),
    order: PipelineOrder,
) -> Vec<usize> {
    let own = &works[stage];
    let mut waits: Vec<usize> = own.arrived(batch).collect();
    let most = works.len() - stage;
    if order == PipelineOrder::OneForwardOneBackward && batch >= most {
        waits.push(own.backward(batch - most));
    }
    if order == PipelineOrder::Gpipe && batch > 0 {
        waits.push(own.forward(batch - 1));
    }
    waits
}

fn listed(name: String, resource: usize, duration: u64, waits: Vec<usize>) -> ListedTask {
    ListedTask { name, resource, duration, waits }
}

/// Bytes of weights by the stages that hold them: most are held by one, those that operators of
/// several stages share by all of these.
fn held_together(costs: &Costs<'_>, stages: &Stages) -> BTreeMap<Vec<usize>, u64> {
    let mut found = BTreeMap::new();
    for group in costs.problem.graph().groups() {
        let mut held: Vec<usize> = group.operators.iter().map(|&at| stages.of(at)).collect();
        held.dedup();
        held.sort_unstable();
        held.dedup();
        if !held.is_empty() && group.elements > 0 {
            *found.entry(held).or_insert(0) += 4 * group.elements;
        }
    }
    found
}

/// Sums and updates of what the replicas of some stages hold, after their backward tasks.
fn sum_and_update(
    costs: &Costs<'_>,
    stages: usize,
    (held, bytes): (&[usize], u64),
    mut waits: Vec<usize>,
    tasks: &mut Vec<ListedTask>,
) {
    let problem = costs.problem;
    let devices: Vec<u16> = held.iter().flat_map(|&stage| costs.devices(stage)).collect();
    let all = sum_tasks(problem, &devices, bytes);
    for (kind, what) in [(Work::Sum, "sum"), (Work::Update, "update"), (Work::HandOut, "hand-out")]
    {
        let first = tasks.len();
        let mut updated = Vec::new();
        for &(_, resource, time) in all.iter().filter(|own| own.0 == kind) {
            let device = (resource as usize) < problem.devices();
            let stage = if device { resource as usize / costs.width } else { held[0] };
            let resource =
                if device { stage } else { stages + resource as usize - problem.devices() };
            // Replicas of a stage update at the same time.
            if device && updated.contains(&stage) {
                continue;
            }
            updated.push(stage);
            tasks.push(listed(format!("{what} {stage}"), resource, time, waits.clone()));
        }
        if tasks.len() > first {
            waits = (first..tasks.len()).collect();
        }
    }
}

/// Nanoseconds to add gradients to others, and to hand on their sum: two numbers are read for each
/// that is written, and one.
fn accumulation_ns(costs: &Costs<'_>, stages: &Stages, stage: usize) -> (u64, u64) {
    if costs.micro_batches == 1 {
        return (0, 0);
    }
    let bytes = weight_bytes(costs, stages, stage).sum::<u64>() as f64;
    let time = |numbers: f64| (bytes * numbers * costs.problem.wires.memory_ns_per_byte) as u64;
    (time(3.0), time(2.0))
}
