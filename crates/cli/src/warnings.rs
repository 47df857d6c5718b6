//! Warnings of the libraries, shown on the standard error.

use std::fmt::{self, Write};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::output::tell;

/// Shows warnings from now on.
pub(crate) fn show() {
    // Someone who set another listener before us hears them instead.
    let _ = tracing::subscriber::set_global_default(Warnings { hear: tell });
}

/// Hears events that weaken a result or need the user; quieter ones cost nothing.
struct Warnings<F> {
    hear: F,
}

impl<F: Fn(&str) + Send + Sync + 'static> Subscriber for Warnings<F> {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= Level::WARN
    }

    fn event(&self, event: &Event<'_>) {
        let mut words = Words::default();
        event.record(&mut words);
        (self.hear)(&format!("warning: {}{}", words.message, words.fields));
    }

    // Spans are never enabled, so nobody asks about them.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Words {
    message: String,
    fields: String,
}

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let written = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, ", {name} {value:?}"),
        };
        written.expect("writing to memory cannot fail");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn warnings_are_heard_with_their_fields_and_quieter_events_are_not() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&heard);
        let warnings =
            Warnings { hear: move |line: &str| kept.lock().unwrap().push(line.to_owned()) };
        tracing::subscriber::with_default(warnings, || {
            let _span = tracing::info_span!("trial", trial = 3).entered();
            tracing::info!("trial ended");
            tracing::warn!(trial = 3, error = %"no such file", "telemetry ends");
        });
        let expected = ["warning: telemetry ends, trial 3, error no such file"];
        assert_eq!(*heard.lock().unwrap(), expected);
    }
}
