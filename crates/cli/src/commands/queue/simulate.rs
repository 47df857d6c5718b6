//! `trainwright queue simulate`.

use trainwright::queueing::QueueName;
use trainwright::{Error, SimulationLength, terminal};

use super::question::{priority_draft, queue_draft};
use super::show_in;
use crate::arguments::{SimulateArguments, SimulatedKind};

pub(super) fn simulate(arguments: &SimulateArguments) -> anyhow::Result<u8> {
    if arguments.question.report.is_some() {
        let reason = "--report belongs to the closed forms; a simulation has no page";
        return Err(Error::Request(reason.to_owned()).into());
    }
    let length = SimulationLength {
        jobs: arguments.jobs,
        confidence: arguments.confidence,
        seed: arguments.seed,
    };
    let json = arguments.question.json;
    match name(arguments.kind) {
        Some(name) => {
            let (draft, unit) = queue_draft(name, &arguments.question)?;
            let seen = trainwright::simulate_queue(&draft, &length)
                .map_err(|error| terminal::in_unit(error, unit))?;
            show_in(unit, json, &seen, |seen| terminal::queue_simulated(seen, unit))?;
        }
        None => {
            let (draft, unit) = priority_draft(&arguments.question)?;
            let seen = trainwright::simulate_priorities(&draft, &length)?;
            show_in(unit, json, &seen, |seen| terminal::classes_simulated(seen, unit))?;
        }
    }
    Ok(0)
}

fn name(kind: SimulatedKind) -> Option<QueueName> {
    Some(match kind {
        SimulatedKind::Mm1 => QueueName::Mm1,
        SimulatedKind::Mmc => QueueName::Mmc,
        SimulatedKind::Mmck => QueueName::Mmck,
        SimulatedKind::Mg1 => QueueName::Mg1,
        SimulatedKind::Ggc => QueueName::Ggc,
        SimulatedKind::Finite => QueueName::Finite,
        SimulatedKind::Priority => return None,
    })
}
