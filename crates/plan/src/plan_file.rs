//! Plans as JSON files: what to run where, by names and degrees.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::PlanError;
use crate::pipeline::PipelineOrder;
use crate::plan::{Plan, Split};
use crate::problem::{DEGREES, Problem, Training};

/// The name of the format.
pub const PLAN_SCHEMA: &str = "trainwright/plan-file/1";

/// A plan as a file has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// The format.
    pub schema: String,
    /// The network as it was asked for.
    pub network: String,
    /// Examples of a step.
    pub batch: u64,
    /// The machine's name.
    pub machine: String,
    /// Devices of the machine.
    pub devices: usize,
    /// Seconds of a step as predicted.
    pub step_time_s: f64,
    /// Bytes on the fullest device as predicted.
    pub memory_bytes_per_device: u64,
    /// How it is trained: numbers of the optimiser, how gradients are added up, what copies share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<Training>,
    /// The operators in their order.
    pub operators: Vec<PlannedOperator>,
    /// Stages and micro-batches, where the plan is a pipeline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<PlannedPipeline>,
}

/// An operator's split.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedOperator {
    /// Its name.
    pub name: String,
    /// Parts along each dimension, by name; dimensions that stay whole are left out. What is summed
    /// over has `sum of` before its name.
    pub degrees: BTreeMap<String, u16>,
    /// One device a part; the last dimension varies fastest.
    pub devices: Vec<u16>,
}

/// Stages of operators.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedPipeline {
    /// Names of the operators that begin stages.
    pub begins: Vec<String>,
    /// Parts of a batch.
    pub micro_batches: u64,
    /// The order of work.
    pub order: PipelineOrder,
}

/// Before the name of the dimension that is summed over.
const SUM_OF: &str = "sum of ";

/// The operators of a plan by name.
pub fn planned_operators(problem: &Problem, plan: &Plan) -> Vec<PlannedOperator> {
    let operators = problem.graph().operators().iter().zip(&plan.splits).enumerate();
    let planned = operators.map(|(at, (operator, split))| {
        let choice = &problem.choices(at)[split.choice as usize];
        let names = operator.dims.iter().map(|dim| dim.name.clone());
        let names =
            names.chain(operator.contracted.iter().map(|dim| format!("{SUM_OF}{}", dim.name)));
        let degrees = names.zip(choice.degrees).filter(|(_, degree)| *degree > 1).collect();
        PlannedOperator { name: operator.name.clone(), degrees, devices: split.devices.clone() }
    });
    planned.collect()
}

impl PlanFile {
    /// The plan file of a JSON text.
    ///
    /// # Errors
    /// When it is none.
    pub fn from_json(text: &str) -> Result<Self, PlanError> {
        let own: Self = serde_json::from_str(text)
            .map_err(|error| PlanError::PlanText { reason: error.to_string() })?;
        if own.schema != PLAN_SCHEMA {
            let reason = format!("its schema is `{}`, not `{PLAN_SCHEMA}`", own.schema);
            return Err(PlanError::PlanText { reason });
        }
        Ok(own)
    }

    /// The same as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("names and numbers become JSON") + "\n"
    }

    /// The plan, in a problem of the same graph.
    ///
    /// # Errors
    /// When the graph is another, or an operator cannot be split so.
    pub fn plan(&self, problem: &Problem) -> Result<Plan, PlanError> {
        let operators = problem.graph().operators();
        let names_fit = operators.iter().zip(&self.operators).all(|(a, b)| a.name == b.name);
        if operators.len() != self.operators.len() || !names_fit {
            return Err(PlanError::OtherGraph {
                plan: self.network.clone(),
                operators: self.operators.len(),
                graph: problem.graph().name().to_owned(),
                own: operators.len(),
            });
        }
        let splits = self.operators.iter().enumerate().map(|(at, own)| {
            let refused =
                |reason: String| PlanError::Operator { operator: own.name.clone(), reason };
            let mut degrees = [1; DEGREES];
            for (name, degree) in &own.degrees {
                let place = match name.strip_prefix(SUM_OF) {
                    Some(_) => operators[at].contracted.as_ref().map(|_| operators[at].dims.len()),
                    None => operators[at].dims.iter().position(|dim| dim.name == *name),
                };
                let place =
                    place.ok_or_else(|| refused(format!("it has no dimension `{name}`")))?;
                degrees[place] = *degree;
            }
            let choice = problem
                .choice_with(at, &degrees)
                .ok_or_else(|| refused(format!("it cannot be split as {:?}", own.degrees)))?;
            let parts = problem.choices(at)[choice as usize].parts();
            let outside = own.devices.iter().find(|&&it| it as usize >= problem.devices());
            if own.devices.len() != parts || outside.is_some() {
                let reason =
                    format!("{:?} are not {parts} devices of {}", own.devices, problem.devices());
                return Err(refused(reason));
            }
            Ok(Split { choice, devices: own.devices.clone() })
        });
        Ok(Plan { splits: splits.collect::<Result<_, _>>()? })
    }
}
