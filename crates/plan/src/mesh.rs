//! Layouts on a mesh of devices (Shazeer et al. 2018, "Mesh-TensorFlow"): one rule for each name of
//! a dimension says along which dimension of the mesh it is split, everywhere in the graph.
//!
//! What is valid, and the words of refusals, are those of Mesh-TensorFlow: a name maps to at most
//! one mesh dimension; no two dimensions of one tensor map to the same one; sizes are divisible;
//! dimensions under a window stay whole. Every valid layout can be enumerated ([`layouts`]).

mod counters;

pub use counters::{MeshCounters, counters};

use std::collections::BTreeMap;

use crate::error::PlanError;
use crate::graph::{Operator, OperatorGraph, Read, Role};
use crate::plan::{Plan, Split};
use crate::problem::{DEGREES, Problem};
use crate::simulator::{Evaluator, Mode};

/// Devices in rows, columns and so on, with a name for each direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mesh {
    /// Name and size of each dimension.
    pub dims: Vec<(String, u64)>,
}

/// Names of tensor dimensions, each with the mesh dimension along which it is split.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    /// Tensor dimension to place of the mesh dimension.
    pub rules: BTreeMap<String, usize>,
}

/// A layout that was simulated.
#[derive(Debug, Clone, PartialEq)]
pub struct MeshPlan {
    /// The mesh.
    pub mesh: Mesh,
    /// The layout.
    pub layout: Layout,
    /// The plan that it stands for.
    pub plan: Plan,
    /// Nanoseconds of a step.
    pub cost: u64,
    /// Whether it fits in memory.
    pub fits: bool,
}

/// Names of mesh dimensions.
const NAMES: [&str; 5] = ["rows", "columns", "layers", "blocks", "books"];

/// The most layouts that are simulated.
const MOST_LAYOUTS: usize = 4000;

impl Mesh {
    /// A mesh of these sizes.
    ///
    /// # Panics
    /// When it has more than five dimensions.
    pub fn of(sizes: &[u64]) -> Self {
        let dims = NAMES.iter().zip(sizes).map(|(name, &size)| ((*name).to_owned(), size));
        assert!(sizes.len() <= NAMES.len(), "a mesh has at most {} dimensions", NAMES.len());
        Self { dims: dims.collect() }
    }

    /// Such as `4x2`.
    pub fn text(&self) -> String {
        self.dims.iter().map(|(_, size)| size.to_string()).collect::<Vec<_>>().join("x")
    }
}

impl Layout {
    /// The layout of rules such as `sample:rows;hidden:columns`.
    ///
    /// # Errors
    /// When a rule does not read, names no mesh dimension, or a name has two rules.
    pub fn parse(text: &str, mesh: &Mesh) -> Result<Self, PlanError> {
        let mut rules: BTreeMap<String, usize> = BTreeMap::new();
        for rule in text.split([';', ',']).filter(|rule| !rule.trim().is_empty()) {
            let unread = || PlanError::LayoutText { rule: rule.trim().to_owned() };
            let (dimension, target) = rule.trim().split_once(':').ok_or_else(unread)?;
            let place = mesh.dims.iter().position(|(name, _)| name == target);
            let place = place.ok_or_else(unread)?;
            if let Some(&other) = rules.get(dimension)
                && other != place
            {
                return Err(PlanError::MapsToMultiple {
                    dimension: dimension.to_owned(),
                    first: mesh.dims[other].0.clone(),
                    second: target.to_owned(),
                });
            }
            rules.insert(dimension.to_owned(), place);
        }
        Ok(Self { rules })
    }

    /// Such as `sample:rows;hidden:columns`.
    pub fn text(&self, mesh: &Mesh) -> String {
        let rule = |(name, &at): (&String, &usize)| format!("{name}:{}", mesh.dims[at].0);
        self.rules.iter().map(rule).collect::<Vec<_>>().join(";")
    }

    /// Whether every tensor of a graph may be laid out so.
    ///
    /// # Errors
    /// The first tensor that may not, in Mesh-TensorFlow's words.
    pub fn check(&self, graph: &OperatorGraph, mesh: &Mesh) -> Result<(), PlanError> {
        for operator in graph.operators() {
            for tensor in tensors(operator) {
                self.check_tensor(operator, &tensor, mesh)?;
            }
        }
        Ok(())
    }

    fn check_tensor(
        &self,
        operator: &Operator,
        tensor: &[(&str, u64, bool)],
        mesh: &Mesh,
    ) -> Result<(), PlanError> {
        let mut used: BTreeMap<usize, &str> = BTreeMap::new();
        let called = || operator.name.clone();
        for &(name, size, can_split) in tensor {
            let Some(&at) = self.rules.get(name) else { continue };
            let (mesh_name, parts) = (mesh.dims[at].0.clone(), mesh.dims[at].1);
            if !can_split {
                return Err(PlanError::Unsplittable {
                    dimension: name.to_owned(),
                    operator: called(),
                });
            }
            if let Some(first) = used.insert(at, name) {
                return Err(PlanError::SameMeshDimension {
                    first: first.to_owned(),
                    second: name.to_owned(),
                    operator: called(),
                    mesh: mesh_name,
                });
            }
            if size % parts != 0 {
                let (dimension, operator, mesh) = (name.to_owned(), called(), mesh_name);
                return Err(PlanError::NotDivisible { dimension, size, operator, parts, mesh });
            }
        }
        Ok(())
    }

    /// The plan that a layout stands for, where every operator may be split so.
    pub fn plan(&self, problem: &Problem, mesh: &Mesh) -> Option<Plan> {
        let operators = problem.graph().operators();
        let split = |at: usize| self.split(problem, at, mesh);
        let splits = (0..operators.len()).map(split).collect::<Option<Vec<_>>>()?;
        Some(Plan { splits })
    }

    fn split(&self, problem: &Problem, at: usize, mesh: &Mesh) -> Option<Split> {
        let operator = &problem.graph().operators()[at];
        let mut degrees = [1; DEGREES];
        // The mesh dimension of each dimension that has a degree.
        let mut along = [None; DEGREES];
        for (place, dim) in operator.split_dims().enumerate() {
            if let Some(&rule) = self.rules.get(&dim.name) {
                degrees[place] = u16::try_from(mesh.dims[rule].1).ok()?;
                along[place] = Some(rule);
            }
        }
        let choice = problem.choice_with(at, &degrees)?;
        let parts = problem.choices(at)[choice as usize].parts();
        let devices = (0..parts).map(|part| {
            let places = crate::problem::places_of_part(&degrees, part);
            let mut coordinates = vec![0; mesh.dims.len()];
            for (dim, rule) in along.iter().enumerate() {
                if let Some(rule) = rule {
                    coordinates[*rule] = places[dim];
                }
            }
            let sizes = mesh.dims.iter().map(|(_, size)| size);
            sizes.zip(coordinates).fold(0, |all, (size, own)| all * size + own) as u16
        });
        let devices: Vec<u16> = devices.collect();
        let pinned = problem.constraints.pinned(&operator.name);
        pinned.is_none_or(|pinned| devices == pinned).then_some(Split { choice, devices })
    }
}

/// The tensors of an operator, output and weights, as (name, size, whether it may be split).
fn tensors(operator: &Operator) -> Vec<Vec<(&str, u64, bool)>> {
    let windowed = |place: usize| {
        operator.inputs.iter().any(|input| {
            input.reads.iter().any(|read| {
                matches!(read, Read::Window { dim, kernel, stride, .. }
                    if *dim == place && (*kernel > 1 || *stride > 1))
            })
        })
    };
    let dim = |place: usize| {
        let own = &operator.dims[place];
        (own.name.as_str(), own.size, own.role != Role::Whole && !windowed(place))
    };
    let output: Vec<_> = (0..operator.dims.len()).map(dim).collect();
    let mut found = vec![output];
    if let (Some(weights), Some(summed)) = (&operator.weights, &operator.contracted) {
        let summed = (summed.name.as_str(), summed.size, true);
        found.push(weights.cut_by.map(dim).into_iter().chain([summed]).collect());
    }
    found
}

/// All valid layouts on all meshes of a number of devices, in a fixed order.
pub fn layouts(graph: &OperatorGraph, devices: u64) -> Vec<(Mesh, Layout)> {
    let mut names: Vec<&str> = Vec::new();
    for operator in graph.operators() {
        for dim in operator.split_dims() {
            if !names.contains(&dim.name.as_str()) {
                names.push(&dim.name);
            }
        }
    }
    let mut found = Vec::new();
    for sizes in factorizations(devices) {
        let mesh = Mesh::of(&sizes);
        let single = |name: &str, at: usize| Layout { rules: [(name.to_owned(), at)].into() };
        // What a name may not do alone it may not do with others.
        let allowed: Vec<Vec<usize>> = names
            .iter()
            .map(|name| {
                (0..sizes.len())
                    .filter(|&at| single(name, at).check(graph, &mesh).is_ok())
                    .collect()
            })
            .collect();
        let mut layout = Layout::default();
        combine(&names, &allowed, &mut layout, &mut |layout| {
            let used = layout.rules.values().collect::<std::collections::BTreeSet<_>>().len();
            if used == sizes.len()
                && found.len() < MOST_LAYOUTS
                && layout.check(graph, &mesh).is_ok()
            {
                found.push((mesh.clone(), layout.clone()));
            }
        });
    }
    found
}

fn combine(
    names: &[&str],
    allowed: &[Vec<usize>],
    layout: &mut Layout,
    take: &mut dyn FnMut(&Layout),
) {
    let Some((name, names)) = names.split_first() else { return take(layout) };
    combine(names, &allowed[1..], layout, take);
    for &at in &allowed[0] {
        layout.rules.insert((*name).to_owned(), at);
        combine(names, &allowed[1..], layout, take);
    }
    layout.rules.remove(*name);
}

/// Ways to write a number as a product of factors above 1, at most five and not rising.
fn factorizations(number: u64) -> Vec<Vec<u64>> {
    fn extend(rest: u64, most: u64, own: &mut Vec<u64>, found: &mut Vec<Vec<u64>>) {
        if rest == 1 {
            found.push(own.clone());
        }
        if own.len() == NAMES.len() {
            return;
        }
        for factor in (2..=most.min(rest)).rev().filter(|factor| rest.is_multiple_of(*factor)) {
            own.push(factor);
            extend(rest / factor, factor, own, found);
            own.pop();
        }
    }
    let mut found = Vec::new();
    extend(number, number, &mut Vec::new(), &mut found);
    found.retain(|own| !own.is_empty());
    found
}

/// The fastest layout that fits, else the fastest; those that split samples alone do not count.
pub fn best_layout(problem: &Problem, stop: &dyn Fn() -> bool) -> Option<MeshPlan> {
    let mut best: Option<MeshPlan> = None;
    let mut evaluator: Option<Evaluator<'_>> = None;
    for (mesh, layout) in layouts(problem.graph(), problem.devices() as u64) {
        if layout.rules.keys().all(|name| name == "sample") {
            continue;
        }
        if best.is_some() && stop() {
            break;
        }
        let Some(plan) = layout.plan(problem, &mesh) else { continue };
        let own = match &mut evaluator {
            Some(own) => {
                own.set(&plan);
                own
            }
            None => evaluator.insert(Evaluator::new(problem, &plan, Mode::Bounded)),
        };
        let (cost, fits) = (own.cost(), own.fits());
        if best.as_ref().is_none_or(|best| (!fits, cost) < (!best.fits, best.cost)) {
            best = Some(MeshPlan { mesh, layout, plan, cost, fits });
        }
    }
    best
}
