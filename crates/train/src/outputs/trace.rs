//! Timelines of ranks as a Chrome trace, which chrome://tracing and Perfetto show.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use trainwright_records::write_whole;

use crate::error::TrainError;
use crate::events::RankTimeline;

/// A complete event (`"ph": "X"`), or the name of a track (`"ph": "M"`); times in microseconds.
#[derive(Serialize)]
struct TraceEvent<'a> {
    name: &'a str,
    ph: &'a str,
    pid: usize,
    tid: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    args: Arguments,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Arguments {
    Step { step: u64 },
    Track { name: String },
}

/// Writes the timelines of all ranks, a track each.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn write_trace(path: &Path, ranks: &[RankTimeline]) -> Result<(), TrainError> {
    let trouble = |source| TrainError::Write { path: path.to_owned(), source };
    write_whole(path, |out| write_events(out, ranks)).map_err(trouble)
}

fn write_events(out: &mut dyn Write, ranks: &[RankTimeline]) -> io::Result<()> {
    out.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
    let mut separator: &[u8] = b"\n";
    let mut write = |event: &TraceEvent<'_>| {
        out.write_all(separator)?;
        separator = b",\n";
        serde_json::to_writer(&mut *out, event).map_err(io::Error::from)
    };
    for RankTimeline { rank, spans } in ranks {
        let args = Arguments::Track { name: format!("rank {rank}") };
        write(&TraceEvent {
            name: "thread_name",
            ph: "M",
            pid: 0,
            tid: *rank,
            ts: None,
            dur: None,
            args,
        })?;
        for span in spans {
            write(&TraceEvent {
                name: span.activity.word(),
                ph: "X",
                pid: 0,
                tid: *rank,
                ts: Some(1e6 * span.start_s),
                dur: Some(1e6 * (span.end_s - span.start_s)),
                args: Arguments::Step { step: span.step },
            })?;
        }
    }
    out.write_all(b"\n]}\n")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::events::{Activity, Span};

    #[test]
    fn each_rank_is_a_track_of_complete_events_in_microseconds() {
        let span = |activity, start_s| Span { step: 3, activity, start_s, end_s: start_s + 0.5 };
        let ranks = [
            RankTimeline { rank: 0, spans: vec![span(Activity::Compute, 0.25)] },
            RankTimeline {
                rank: 1,
                spans: vec![span(Activity::Idle, 0.0), span(Activity::Update, 0.5)],
            },
        ];
        let mut bytes = Vec::new();
        write_events(&mut bytes, &ranks).unwrap();
        let read: Value = serde_json::from_slice(&bytes).unwrap();
        let events = read["traceEvents"].as_array().unwrap();
        assert_eq!(events.len(), 5);
        assert_eq!(events[0]["args"]["name"], "rank 0");
        let first = &events[1];
        assert_eq!((&first["ph"], &first["name"]), (&"X".into(), &"compute".into()));
        assert_eq!((&first["ts"], &first["dur"]), (&250_000.0.into(), &500_000.0.into()));
        assert_eq!((&first["tid"], &first["args"]["step"]), (&0.into(), &3.into()));
        assert!(events[2..].iter().all(|event| event["tid"] == 1));
    }

    #[test]
    fn a_trace_without_spans_is_still_json() {
        let mut bytes = Vec::new();
        write_events(&mut bytes, &[]).unwrap();
        assert_eq!(
            serde_json::from_slice::<Value>(&bytes).unwrap()["traceEvents"],
            Value::Array(vec![])
        );
    }
}
