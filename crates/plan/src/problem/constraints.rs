//! What a user rules out or in: pinned operators, dimensions that stay whole, a largest degree.

use crate::error::PlanError;
use crate::graph::OperatorGraph;

/// What every plan must keep to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Constraints {
    /// Operators that stay on given devices, one part on each.
    pub pins: Vec<Pin>,
    /// Dimensions that stay whole: `height`, or `conv1.height` for one operator.
    pub forbid: Vec<String>,
    /// The most parts that an operator may have.
    pub max_degree: Option<u64>,
}

/// An operator that stays on given devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// Its name, or the beginning of one and a `*`.
    pub operator: String,
    /// One device a part.
    pub devices: Vec<u16>,
}

impl Constraints {
    /// The devices to which an operator is pinned.
    pub(crate) fn pinned(&self, operator: &str) -> Option<&[u16]> {
        let pin = self.pins.iter().find(|pin| names(&pin.operator, operator))?;
        Some(&pin.devices)
    }

    /// The same on so many devices, and the operators whose pins name others: these are left out.
    pub(crate) fn on(&self, devices: usize) -> (Self, Vec<String>) {
        let is_there = |pin: &Pin| pin.devices.iter().all(|&device| (device as usize) < devices);
        let (pins, others): (Vec<Pin>, Vec<Pin>) = self.pins.iter().cloned().partition(is_there);
        let unpinned = others.into_iter().map(|pin| pin.operator).collect();
        (Self { pins, ..self.clone() }, unpinned)
    }

    /// Whether a dimension of an operator stays whole.
    pub(crate) fn forbids(&self, operator: &str, dimension: &str) -> bool {
        self.forbid.iter().any(|own| match own.rsplit_once('.') {
            Some((name, dim)) if names(name, operator) => dim == dimension,
            _ => own == dimension,
        })
    }

    pub(crate) fn check(&self, graph: &OperatorGraph, devices: usize) -> Result<(), PlanError> {
        let refused =
            |constraint: String, reason: String| Err(PlanError::Constraint { constraint, reason });
        for Pin { operator, devices: pinned } in &self.pins {
            let list: Vec<String> = pinned.iter().map(u16::to_string).collect();
            let text = format!("{operator}={}", list.join(","));
            if !graph.operators.iter().any(|own| names(operator, &own.name)) {
                return refused(text, format!("`{operator}` is no operator of `{}`", graph.name));
            }
            if let Some(device) = pinned.iter().find(|&&device| device as usize >= devices) {
                let last = devices - 1;
                return refused(text, format!("there is no device {device}; they are 0 to {last}"));
            }
            if pinned.is_empty() {
                return refused(text, "a pin names at least one device".into());
            }
        }
        for own in &self.forbid {
            let known = graph.operators.iter().any(|operator| {
                operator.split_dims().any(|dim| self_names(own, &operator.name, &dim.name))
            });
            if !known {
                return refused(own.clone(), "no operator has such a dimension".into());
            }
        }
        if self.max_degree == Some(0) {
            return refused("max degree 0".into(), "an operator has at least one part".into());
        }
        Ok(())
    }
}

fn self_names(own: &str, operator: &str, dimension: &str) -> bool {
    own == dimension
        || own.rsplit_once('.').is_some_and(|(name, dim)| names(name, operator) && dim == dimension)
}

/// Whether a text is the name, or its beginning and a `*`.
fn names(text: &str, name: &str) -> bool {
    match text.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => text == name,
    }
}
