//! The splits that an operator may have, with the time and memory of every part.

use crate::error::PlanError;
use crate::graph::{Operator, OperatorGraph, Read, Role};
use crate::machine::{Device, Machine};
use crate::problem::{Constraints, Training};

/// Dimensions that can have a degree: four of the output and the one that is summed over.
pub const DEGREES: usize = 5;

/// Measured nanoseconds forward and backward of the largest part of an operator, by its place and
/// degrees; none where that was not measured.
pub type PartTimes<'a> = &'a dyn Fn(usize, &[u16; DEGREES]) -> Option<(u64, u64)>;

/// One way to split an operator: a degree for each dimension.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Parts along each dimension of the output, then along the one summed over.
    pub degrees: [u16; DEGREES],
    pub(crate) parts: u16,
    pub(crate) forward_ns: Vec<u64>,
    pub(crate) backward_ns: Vec<u64>,
    /// Nanoseconds of the shortest part forward and backward.
    pub(crate) least_ns: [u64; 2],
    /// Bytes that each part keeps until its backward step.
    pub(crate) kept: Vec<u64>,
    /// Place of each part along the two cuts of the weights.
    pub(crate) cut: Vec<(u16, u16)>,
    /// Degrees of the two cuts.
    pub(crate) cuts: (u16, u16),
}

impl Choice {
    /// How many parts.
    pub fn parts(&self) -> usize {
        self.parts as usize
    }

    /// Nanoseconds of a part forward and backward.
    pub fn part_ns(&self, part: usize) -> (u64, u64) {
        (self.forward_ns[part], self.backward_ns[part])
    }
}

/// The places of a part of a dimension: parts differ by at most one place.
pub(crate) fn range_of_part(size: u64, degree: u16, part: u64) -> (u64, u64) {
    let degree = u64::from(degree);
    let wide = |part: u64| (u128::from(size) * u128::from(part) / u128::from(degree)) as u64;
    let at = |part: u64| size.checked_mul(part).map_or_else(|| wide(part), |own| own / degree);
    (at(part), at(part + 1))
}

/// Places of a part along each dimension that has a degree; the last varies fastest.
pub(crate) fn places_of_part(degrees: &[u16; DEGREES], part: usize) -> [u64; DEGREES] {
    let mut places = [0; DEGREES];
    let mut rest = part;
    for (place, &degree) in places.iter_mut().zip(degrees).rev() {
        *place = (rest % degree as usize) as u64;
        rest /= degree as usize;
    }
    places
}

/// What a part reads of a dimension of an input, for its ranges of the output's dimensions.
pub(crate) fn read_range(
    read: Read,
    (operator, source_size): (&Operator, u64),
    degrees: &[u16; DEGREES],
    places: &[u64; DEGREES],
) -> (u64, u64) {
    let range = |dim: usize| range_of_part(operator.dims[dim].size, degrees[dim], places[dim]);
    let scaled = |(from, to): (u64, u64), size: u64| {
        if size == source_size {
            return (from, to);
        }
        let wide = |at: u64| u128::from(at) * u128::from(source_size);
        ((wide(from) / u128::from(size)) as u64, wide(to).div_ceil(u128::from(size)) as u64)
    };
    match read {
        Read::Full => (0, source_size),
        Read::Fixed { from, to } => (from, to),
        Read::Same(dim) => scaled(range(dim), operator.dims[dim].size),
        Read::Contracted => {
            let size = operator.contracted.as_ref().map_or(1, |dim| dim.size);
            let at = operator.dims.len();
            scaled(range_of_part(size, degrees[at], places[at]), size)
        }
        Read::Window { dim, kernel, stride, padding } => {
            let (from, to) = range(dim);
            let begin = (from * stride).saturating_sub(padding);
            let end = ((to.max(1) - 1) * stride + kernel).saturating_sub(padding);
            (begin.min(source_size), end.min(source_size).max(begin.min(source_size)))
        }
        Read::Shifted { dim, by } => {
            let (from, to) = range(dim);
            let within = |at: u64| at.saturating_sub(by).min(source_size);
            (within(from), within(to))
        }
    }
}

/// The splits of an operator, the whole first.
pub(crate) fn of_operator(
    graph: &OperatorGraph,
    at: usize,
    machine: &Machine,
    training: &Training,
    constraints: &Constraints,
    measured: PartTimes<'_>,
) -> Result<Vec<Choice>, PlanError> {
    let operator = &graph.operators[at];
    let devices = machine.devices() as u64;
    let pinned = constraints.pinned(&operator.name).map(<[u16]>::len);
    let most = constraints.max_degree.unwrap_or(devices).min(devices);
    let allowed: Vec<Vec<u16>> = operator
        .split_dims()
        .map(|dim| {
            let most = match dim.role {
                _ if constraints.forbids(&operator.name, &dim.name) => 1,
                Role::Whole => 1,
                Role::Direction => most.min(2),
                _ => dim.size.min(most),
            };
            // Parts by samples cut no weights, so that any divisor of them goes with those of other
            // operators; where devices are named, any divisor of any dimension will do.
            let any_divisor = pinned.is_some() || dim.role == Role::Sample;
            let divides = |degree: &u64| {
                devices.is_multiple_of(*degree) || (any_divisor && dim.size.is_multiple_of(*degree))
            };
            (1..=most).filter(divides).map(|it| it as u16).collect()
        })
        .collect();
    let by_samples = operator.dims.first().is_some_and(|dim| dim.role == Role::Sample);
    let is_even = |parts: u64, degrees: &[u16; DEGREES]| {
        let samples = if by_samples { u64::from(degrees[0]) } else { 1 };
        devices.is_multiple_of(parts) || devices.is_multiple_of(parts / samples)
    };
    let mut found = Vec::new();
    let mut degrees = [1; DEGREES];
    walk(&allowed, 0, &mut degrees, &mut |degrees| {
        let parts: u64 = degrees.iter().map(|&it| u64::from(it)).product();
        let is_wanted = match pinned {
            Some(count) => parts == count as u64,
            None => parts <= most && is_even(parts, degrees),
        };
        if is_wanted {
            found.push(*degrees);
        }
    });
    if found.is_empty() {
        let constraint = format!("pin of {}", operator.name);
        let reason = format!("no split of its dimensions has {} parts", pinned.unwrap_or(0));
        return Err(PlanError::Constraint { constraint, reason });
    }
    let cost = |degrees: &[u16; DEGREES]| measured(at, degrees);
    Ok(found
        .into_iter()
        .map(|degrees| choice(graph, operator, degrees, (machine, training), cost(&degrees)))
        .collect())
}

fn walk(
    allowed: &[Vec<u16>],
    at: usize,
    degrees: &mut [u16; DEGREES],
    take: &mut dyn FnMut(&[u16; DEGREES]),
) {
    let Some(own) = allowed.get(at) else { return take(degrees) };
    for &degree in own {
        degrees[at] = degree;
        walk(allowed, at + 1, degrees, take);
    }
    degrees[at] = 1;
}

fn choice(
    graph: &OperatorGraph,
    operator: &Operator,
    degrees: [u16; DEGREES],
    (machine, training): (&Machine, &Training),
    measured: Option<(u64, u64)>,
) -> Choice {
    let parts: u16 = degrees.iter().product();
    let summed_at = operator.dims.len();
    let cuts = weight_cuts(operator, &degrees);
    let mut own = Choice {
        degrees,
        parts,
        forward_ns: Vec::new(),
        backward_ns: Vec::new(),
        least_ns: [0; 2],
        kept: Vec::new(),
        cut: Vec::new(),
        cuts,
    };
    for part in 0..parts as usize {
        let places = places_of_part(&degrees, part);
        let cost = part_cost(graph, operator, (&degrees, &places), (machine, training), measured);
        own.forward_ns.push(cost.forward_ns);
        own.backward_ns.push(cost.backward_ns);
        own.kept.push(cost.kept);
        let at = |dim: Option<usize>| dim.map_or(0, |dim| places[dim] as u16);
        own.cut.push(operator.weights.as_ref().map_or((0, 0), |weights| {
            (at(weights.cut_by), at(weights.cut_by_contracted.then_some(summed_at)))
        }));
    }
    own.least_ns =
        [&own.forward_ns, &own.backward_ns].map(|times| times.iter().copied().min().unwrap_or(0));
    own
}

/// Nanoseconds forward and backward of a whole operator on one of so many equal shares of the batch.
pub(crate) fn share_ns(
    graph: &OperatorGraph,
    at: usize,
    share: u16,
    (machine, training): (&Machine, &Training),
    measured: PartTimes<'_>,
) -> (u64, u64) {
    let operator = &graph.operators[at];
    let mut degrees = [1; DEGREES];
    if operator.dims.first().is_some_and(|dim| dim.role == Role::Sample) {
        degrees[0] = share;
    }
    let mut places = [0; DEGREES];
    // The last share is never smaller than the others.
    places[0] = u64::from(degrees[0]) - 1;
    let known = measured(at, &degrees);
    let cost = part_cost(graph, operator, (&degrees, &places), (machine, training), known);
    (cost.forward_ns, cost.backward_ns)
}

struct PartCost {
    forward_ns: u64,
    backward_ns: u64,
    kept: u64,
}

fn part_cost(
    graph: &OperatorGraph,
    operator: &Operator,
    (degrees, places): (&[u16; DEGREES], &[u64; DEGREES]),
    (machine, training): (&Machine, &Training),
    measured: Option<(u64, u64)>,
) -> PartCost {
    let summed_at = operator.dims.len();
    let cuts = weight_cuts(operator, degrees);
    let elements = operator.weights.as_ref().map_or(0, |it| graph.groups[it.group].elements);
    let size = |(dim, it): (usize, &crate::graph::Dimension)| {
        let (from, to) = range_of_part(it.size, degrees[dim], places[dim]);
        to - from
    };
    let outputs: u64 = operator.dims.iter().enumerate().map(size).product();
    let mut read = outputs as f64 * operator.read_per_output;
    for input in &operator.inputs {
        let source = &graph.operators[input.from].dims;
        let lengths = input.reads.iter().zip(source).map(|(&it, dim)| {
            let (from, to) = read_range(it, (operator, dim.size), degrees, places);
            to - from
        });
        read += lengths.product::<u64>() as f64;
    }
    // Where outputs are cut, a part reads what other parts of the operator before have: it keeps that
    // for the gradients of its weights, and has its share of the gradients of all that it reads.
    let gathered = read * (2.0 - 1.0 / f64::from(cuts.0));
    let gathered = if cuts.0 > 1 { gathered } else { 0.0 };
    let weights = elements as f64 / (f64::from(cuts.0) * f64::from(cuts.1));
    // A table gives rows, it is not read whole.
    let weights = if operator.flops_per_output > 0.0 { weights } else { 0.0 };
    let flops = outputs as f64 * operator.flops_per_output / f64::from(degrees[summed_at]);
    let bytes = 4.0 * (outputs as f64 + read + weights);
    let (forward, backward) =
        measured.unwrap_or_else(|| times(&machine.device, operator, flops, bytes));
    PartCost {
        forward_ns: forward,
        backward_ns: backward + if training.recompute { forward } else { 0 },
        kept: (outputs as f64 * operator.kept_per_output + 4.0 * gathered).ceil() as u64,
    }
}

/// Degrees of the two cuts of an operator's weights.
fn weight_cuts(operator: &Operator, degrees: &[u16; DEGREES]) -> (u16, u16) {
    operator.weights.as_ref().map_or((1, 1), |weights| {
        let summed = degrees[operator.dims.len()];
        let second = if weights.cut_by_contracted { summed } else { 1 };
        (weights.cut_by.map_or(1, |dim| degrees[dim]), second)
    })
}

/// Nanoseconds forward and backward: the slower of arithmetic and memory (Williams et al. 2009,
/// "Roofline"), or what was measured for such operators.
fn times(device: &Device, operator: &Operator, flops: f64, bytes: f64) -> (u64, u64) {
    let launch = device.launch_s;
    if let Some((forward, backward)) = measured_times(device, &operator.kind, flops) {
        return (whole_ns(forward + launch), whole_ns(backward + launch));
    }
    let rate = device.flops_per_s * device.share(&operator.kind);
    let time = |flops: f64, bytes: f64| (flops / rate).max(bytes / device.memory_bytes_per_s);
    let forward = time(flops, bytes) + launch;
    let backward = time(flops * operator.backward, bytes * operator.backward.max(1.0)) + launch;
    (whole_ns(forward), whole_ns(backward))
}

/// Seconds in proportion to those of the measured size that is nearest.
fn measured_times(device: &Device, kind: &str, flops: f64) -> Option<(f64, f64)> {
    if flops <= 0.0 {
        return None;
    }
    let distance = |row: &&crate::machine::Measured| (row.flops / flops).ln().abs();
    let rows = device.measured.iter().filter(|row| row.kind == kind);
    let row = rows.min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    let ratio = flops / row.flops;
    Some((row.forward_s * ratio, row.backward_s * ratio))
}

fn whole_ns(seconds: f64) -> u64 {
    ((seconds * 1e9).round() as u64).max(1)
}
