//! Gives back recorded trials instead of running any.

use std::collections::{BTreeMap, VecDeque};
use std::thread;
use std::time::Duration;

use trainwright_study::{Configuration, Outcome, TrialRecord};

use crate::slots::Slots;
use crate::{Engine, EngineError, EngineEvent, Stop, TrialHandle, TrialOrder, Which};

/// A trial that ran some time, somewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedTrial {
    /// What ran.
    pub configuration: Configuration,
    /// Its number among the repeats of that configuration, from 1.
    pub replicate: u32,
    /// What came of it.
    pub record: TrialRecord,
}

/// Ends each trial at once with what was recorded for its configuration and replicate.
///
/// A trial for which nothing was recorded fails. Since trials are over as soon as they start, a
/// stop changes nothing about those that were taken.
#[derive(Debug)]
pub struct ReplayEngine {
    recorded: BTreeMap<Identity, TrialRecord>,
    events: VecDeque<EngineEvent>,
    slots: Slots<()>,
}

impl ReplayEngine {
    /// An engine of so many slots; of two records of one configuration and replicate the later
    /// one counts.
    pub fn new(recorded: impl IntoIterator<Item = RecordedTrial>, slots: u32) -> Self {
        let recorded = recorded
            .into_iter()
            .map(|trial| (identity(&trial.configuration, trial.replicate), trial.record));
        Self { recorded: recorded.collect(), events: VecDeque::new(), slots: Slots::new(slots) }
    }
}

impl Engine for ReplayEngine {
    fn name(&self) -> &'static str {
        "replay"
    }

    fn slots(&self) -> u32 {
        self.slots.total()
    }

    fn free_slots(&self) -> u32 {
        self.slots.free()
    }

    fn submit(&mut self, order: TrialOrder) -> Result<(), EngineError> {
        self.slots.check(&order)?;
        self.slots.take(&order, ());
        let number = order.trial.number;
        let found_by = identity(&order.trial.configuration, order.trial.replicate);
        if let Some(record) = self.recorded.get(&found_by) {
            let handle = TrialHandle::new("record");
            self.events.push_back(EngineEvent::Started { number, handle });
            let record = Box::new(record.clone());
            self.events.push_back(EngineEvent::Ended { number, record, missing: Vec::new() });
        } else {
            let record = Box::new(nothing_recorded(&order));
            self.events.push_back(EngineEvent::Ended { number, record, missing: Vec::new() });
        }
        Ok(())
    }

    fn next_event(&mut self, timeout: Duration) -> Option<EngineEvent> {
        let Some(event) = self.events.pop_front() else {
            // Whoever waits for something else meanwhile counts on the wait.
            thread::sleep(timeout);
            return None;
        };
        if event.is_end() {
            self.slots.release(event.number());
        }
        Some(event)
    }

    fn stop(&mut self, which: Which, _: Stop) {
        if which == Which::All {
            self.slots.close();
        }
    }
}

fn nothing_recorded(order: &TrialOrder) -> TrialRecord {
    let (configuration, replicate) = (&order.trial.configuration, order.trial.replicate);
    let reason = format!("nothing is recorded for replicate {replicate} of {configuration}");
    TrialRecord {
        outcome: Outcome::Failed { reason },
        measurements: Vec::new(),
        usage: None,
        series: Vec::new(),
        command: Vec::new(),
        environment: BTreeMap::new(),
        started_ms: 0,
        output_end: String::new(),
        cluster: Vec::new(),
    }
}

/// What a record is found by: equal for configurations that are [`Configuration::same_as`].
type Identity = (String, u32);

fn identity(configuration: &Configuration, replicate: u32) -> Identity {
    (configuration.identity(), replicate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_found_by_the_value_of_its_levels() {
        let of = |json: &str| identity(&serde_json::from_str(json).unwrap(), 1);
        assert_eq!(of(r#"{"a": 2, "b": "x"}"#), of(r#"{"b": "x", "a": 2.0}"#));
        assert_eq!(of(r#"{"a": 0.0}"#), of(r#"{"a": -0.0}"#));
        assert_ne!(of(r#"{"a": true}"#), of(r#"{"a": "true"}"#));
        assert_ne!(of(r#"{"a": 1}"#), of(r#"{"a": 1, "b": 1}"#));
        assert_ne!(of("{}"), identity(&Configuration::default(), 2));
    }
}
