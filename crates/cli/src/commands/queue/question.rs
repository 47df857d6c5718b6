//! Arguments as questions about queues.

use trainwright::Error;
use trainwright::queueing::{
    ClassTarget, Discipline, Measure, PriorityDraft, QueueDraft, QueueName, QueueingError,
    Statistic, Target,
};
use trainwright::terminal::Unit;

use crate::arguments::QuestionArguments;
use crate::quantities::Units;

/// Rates and target of a question, in one unit.
struct Numbers {
    arrival: Vec<f64>,
    service: Vec<f64>,
    target: Option<Target>,
    unit: Unit,
}

/// A question about a queue of one class.
pub(super) fn queue_draft(
    name: QueueName,
    arguments: &QuestionArguments,
) -> Result<(QueueDraft, Unit), Error> {
    let numbers = numbers(arguments)?;
    let one = |option: &str, values: &[f64]| match values {
        [] => Ok(None),
        [value] => Ok(Some(*value)),
        _ => Err(Error::Request(format!(
            "--{option} lists {} values; only `priority` has classes",
            values.len()
        ))),
    };
    foreign(arguments.preemptive, "--preemptive")?;
    foreign(arguments.class.is_some(), "--class")?;
    let draft = QueueDraft {
        name,
        arrival_rate: one("arrival", &numbers.arrival)?,
        service_rate: one("service", &numbers.service)?,
        servers: arguments.servers,
        capacity: arguments.capacity,
        population: arguments.population,
        scv_arrival: arguments.scv_arrival,
        scv_service: one("scv-service", &arguments.scv_service)?,
        target: numbers.target,
    };
    Ok((draft, numbers.unit))
}

/// A question about a queue with classes.
pub(super) fn priority_draft(
    arguments: &QuestionArguments,
) -> Result<(PriorityDraft, Unit), Error> {
    let numbers = numbers(arguments)?;
    let missing = |what| QueueingError::Missing { kind: "priority", what };
    if numbers.arrival.is_empty() {
        return Err(missing("the arrival rate of each class, the most urgent first").into());
    }
    if numbers.service.is_empty() {
        return Err(missing("a service rate for all classes, or one for each").into());
    }
    for (given, option, instead) in [
        (arguments.capacity.is_some(), "capacity", "ask `mmck` for a limited queue"),
        (arguments.population.is_some(), "population", "ask `finite` for customers"),
        (
            arguments.scv_arrival.is_some(),
            "variation of arrivals to choose: they are Poisson",
            "ask `ggc` for others",
        ),
    ] {
        if given {
            return Err(
                QueueingError::NotOfThisKind { kind: "priority", what: option, instead }.into()
            );
        }
    }
    let draft = PriorityDraft {
        arrival_rates: numbers.arrival,
        service_rates: numbers.service,
        scv_service: arguments.scv_service.clone(),
        servers: arguments.servers,
        discipline: if arguments.preemptive {
            Discipline::PreemptiveResume
        } else {
            Discipline::NonPreemptive
        },
        target: numbers.target.map(|target| ClassTarget { class: arguments.class, target }),
    };
    Ok((draft, numbers.unit))
}

fn foreign(given: bool, option: &str) -> Result<(), Error> {
    match given {
        true => Err(Error::Request(format!("{option} is about classes; ask `priority` for them"))),
        false => Ok(()),
    }
}

fn numbers(arguments: &QuestionArguments) -> Result<Numbers, Error> {
    let mut units = Units::default();
    let arrival = arguments.arrival.iter().map(|rate| units.rate("--arrival", rate)).collect();
    let mut service: Vec<f64> =
        arguments.service.iter().map(|rate| units.rate("--service", rate)).collect();
    for time in &arguments.service_time {
        service.push(1.0 / units.span("--service-time", time));
    }
    let limit = match (&arguments.target_response, &arguments.target_wait) {
        (Some(limit), _) => Some((Measure::Response, units.span("--target-response", limit))),
        (None, Some(limit)) => Some((Measure::Wait, units.span("--target-wait", limit))),
        (None, None) => None,
    };
    let statistic = arguments.quantile.unwrap_or(Statistic::Mean);
    let target = match limit {
        Some((measure, limit)) => Some(Target::new(measure, statistic, limit)?),
        None => None,
    };
    let unit = units.shared().map_err(Error::Request)?;
    Ok(Numbers { arrival, service, target, unit })
}
