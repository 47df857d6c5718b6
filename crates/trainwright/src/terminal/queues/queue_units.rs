//! Answers and errors about queues, in the unit of the question.

use serde::Serialize;
use trainwright_queueing::QueueingError;
use trainwright_report::terminal::{Unit, servers_text};

use crate::Error;

/// A reply about a queue and the unit of its times.
#[derive(Debug, Serialize)]
pub struct WithUnit<'a, A> {
    /// The unit's name; nothing where times are in whatever unit the rates are per.
    pub unit: Option<&'static str>,
    /// The reply.
    #[serde(flatten)]
    pub answer: &'a A,
}

impl<'a, A> WithUnit<'a, A> {
    /// A reply in a unit.
    pub fn new(unit: Unit, answer: &'a A) -> Self {
        Self { unit: unit.word(), answer }
    }
}

/// An error in the units of the question.
pub fn in_unit(error: Error, unit: Unit) -> Error {
    let Error::Queue(inner) = &error else { return error };
    if unit == Unit::None {
        return error;
    }
    let (time, rate) = (|value| unit.time(value), |value| unit.rate(value));
    match inner {
        QueueingError::Unreachable { what, limit, floor } => Error::Request(format!(
            "a {what} of {} cannot be reached at any load: without any waiting it is already {}",
            time(*limit),
            time(*floor)
        )),
        QueueingError::TooManyServers { what, limit, most } => Error::Request(format!(
            "no number of servers up to {most} brings the {what} to {}",
            time(*limit)
        )),
        QueueingError::Unstable { arrival_rate, servers: given, limit, needed, .. } => {
            let more = needed.map_or_else(String::new, |needed| {
                format!(", or with at least {}", servers_text(needed))
            });
            Error::Request(format!(
                "the queue would grow for ever: jobs arrive at {}, {} can serve {}; it is stable with \
                 fewer arrivals{more}",
                rate(*arrival_rate),
                servers_text(*given),
                rate(*limit),
            ))
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_speaks_in_the_unit_of_the_question() {
        let error = || {
            let what = "mean response".to_owned();
            Error::Queue(QueueingError::Unreachable { what, limit: 60.0, floor: 240.0 })
        };
        let text = in_unit(error(), Unit::Seconds).to_string();
        assert!(
            text.contains("of 60 s cannot be reached") && text.ends_with("already 4 min"),
            "{text}"
        );
        assert!(matches!(in_unit(error(), Unit::None), Error::Queue(_)));
    }

    #[test]
    fn a_reply_names_its_unit_before_its_fields() {
        #[derive(Serialize)]
        struct Answer {
            servers: u32,
        }
        let json = |unit| serde_json::to_string(&WithUnit::new(unit, &Answer { servers: 2 }));
        assert_eq!(json(Unit::Seconds).unwrap(), r#"{"unit":"s","servers":2}"#);
        assert_eq!(json(Unit::None).unwrap(), r#"{"unit":null,"servers":2}"#);
    }
}
