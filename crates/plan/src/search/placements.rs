//! The places for an operator's parts that polishing and exhaustive searches try.

use crate::plan::Split;
use crate::problem::Problem;

/// Splits of an operator: every choice on every block of neighbouring devices that begins at a
/// multiple of its length, and on devices spread evenly.
pub(crate) fn placements(problem: &Problem, operator: usize) -> Vec<Split> {
    let devices = problem.devices();
    let name = &problem.graph().operators()[operator].name;
    let mut found = Vec::new();
    for (choice, own) in problem.choices(operator).iter().enumerate() {
        let (choice, parts) = (choice as u16, own.parts());
        if let Some(pinned) = problem.constraints.pinned(name) {
            found.push(Split { choice, devices: pinned.to_vec() });
            continue;
        }
        let blocks = devices / parts;
        for block in 0..blocks {
            let first = block * parts;
            let devices = (first..first + parts).map(|it| it as u16).collect();
            found.push(Split { choice, devices });
        }
        if parts > 1 && blocks > 1 {
            for first in 0..blocks {
                let devices = (0..parts).map(|part| (first + part * blocks) as u16).collect();
                found.push(Split { choice, devices });
            }
        }
    }
    found
}
