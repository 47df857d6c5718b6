//! Prepared records, their damage and their content, in words.

use std::fmt::Write as _;

use trainwright_records::{FileVerdict, Inspection};
use trainwright_report::terminal::visible;

use crate::{InspectReply, PrepareReply, VerifyReply};

/// Files that are named in the summary; `dataset.json` lists them all.
const MOST_PASSED_OVER: usize = 5;

/// What was prepared.
pub fn prepared(reply: &PrepareReply) -> String {
    let prepared = &reply.prepared;
    let shards: usize = prepared.parts.iter().map(|part| part.shards.len()).sum();
    let mut text = format!(
        "{} records in {shards} shards, {:.1} MB, in {} ({:.1} s)\n",
        prepared.records,
        prepared.bytes as f64 / 1e6,
        reply.out.display(),
        reply.seconds
    );
    let mut line = |line: String| text.push_str(&(line + "\n"));
    for part in prepared.parts.iter().filter(|part| !part.name.is_empty()) {
        let records: u64 = part.shards.iter().map(|shard| shard.records).sum();
        line(format!("  {}: {records} records", part.name));
    }
    if !prepared.classes.is_empty() {
        line(format!("{} classes, named in classes.txt", prepared.classes.len()));
    }
    if !prepared.corrupt.is_empty() {
        line(format!("{} corrupt pictures left out", prepared.corrupt.len()));
    }
    if !prepared.passed_over.is_empty() {
        line(format!("{} files passed over, being no picture files:", prepared.passed_over.len()));
        for name in prepared.passed_over.iter().take(MOST_PASSED_OVER) {
            line(format!("  {}", name.escape_debug()));
        }
        if prepared.passed_over.len() > MOST_PASSED_OVER {
            line("  ... (all are in dataset.json)".to_owned());
        }
    }
    text
}

/// Every file, sound or with its damages.
pub fn verified(reply: &VerifyReply) -> String {
    reply.files.iter().map(shown_verdict).collect()
}

fn shown_verdict(verdict: &FileVerdict) -> String {
    let mut text = format!("{}: {} records", verdict.path.display(), verdict.records);
    if verdict.damages.is_empty() {
        text.push_str(", sound\n");
        return text;
    }
    text.push_str(" sound, DAMAGED\n");
    for damage in &verdict.damages {
        writeln!(text, "  {}", damage.message).expect("writing to memory cannot fail");
    }
    text
}

/// What every file holds; names and values come from the file, so they are made visible.
pub fn inspected(reply: &InspectReply) -> String {
    reply.files.iter().map(|file| visible(&shown_inspection(file))).collect()
}

fn shown_inspection(file: &Inspection) -> String {
    let mut text = format!("{}: {} records", file.path.display(), file.records);
    let mut put = |part: String| text.push_str(&part);
    if let (Some(smallest), Some(largest)) = (file.smallest, file.largest) {
        put(format!(" of {smallest} to {largest} bytes, {} in all", file.bytes));
    }
    if file.compression != "none" {
        put(format!(", {}", file.compression));
    }
    put("\n".to_owned());
    if file.other_records > 0 {
        put(format!("  {} records are no tf.train.Example\n", file.other_records));
    }
    for (name, feature) in &file.features {
        let values = match (feature.fewest_values, feature.most_values) {
            (1, 1) => "1 value".to_owned(),
            (fewest, most) if fewest == most => format!("{most} values"),
            (fewest, most) => format!("{fewest} to {most} values"),
        };
        let (kind, examples, bytes) = (&feature.kind, feature.examples, feature.bytes);
        put(format!("  {name}: {kind}, {values}, in {examples} examples, {bytes} bytes\n"));
    }
    for (number, example) in file.first.iter().enumerate() {
        let values: Vec<_> =
            example.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        put(format!("  example {number}: {}\n", values.join("; ")));
    }
    text
}
