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
    if prepared.made_before {
        line(format!(
            "an earlier run made them, and their sizes are as they were; `trainwright data verify \
             {}` reads them whole",
            reply.out.display()
        ));
    }
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use trainwright_records::prepare::Prepared;

    use super::*;

    fn reply(json: serde_json::Value) -> PrepareReply {
        let prepared: Prepared = serde_json::from_value(json).unwrap();
        PrepareReply { prepared, out: "shards".into(), remade: Vec::new(), seconds: 2.04 }
    }

    fn shard(records: u64) -> serde_json::Value {
        serde_json::json!({"file": "x", "records": records, "bytes": 10})
    }

    #[test]
    fn a_set_without_parts_is_told_in_one_line() {
        let mut reply = reply(serde_json::json!({
            "records": 5, "bytes": 1_250_000, "classes": [], "corrupt": [], "passed_over": [],
            "parts": [{"name": "", "shards": [shard(2), shard(3)]}],
        }));
        assert_eq!(prepared(&reply), "5 records in 2 shards, 1.2 MB, in shards (2.0 s)\n");
        reply.prepared.made_before = true;
        assert!(prepared(&reply).contains("`trainwright data verify shards` reads them whole"));
    }

    #[test]
    fn parts_classes_and_what_was_left_out_have_lines_of_their_own() {
        let names: Vec<String> = (0..6).map(|at| format!("note{at}\n.txt")).collect();
        let reply = reply(serde_json::json!({
            "records": 5, "bytes": 0, "classes": ["cat", "dog"],
            "corrupt": [{"name": "a.jpg", "problem": "cut"}], "passed_over": names,
            "parts": [
                {"name": "train", "shards": [shard(2), shard(1)]},
                {"name": "test", "shards": [shard(2)]},
            ],
        }));
        assert_eq!(
            prepared(&reply),
            "5 records in 3 shards, 0.0 MB, in shards (2.0 s)\n  train: 3 records\n  test: 2 \
             records\n2 classes, named in classes.txt\n1 corrupt pictures left out\n6 files passed \
             over, being no picture files:\n  note0\\n.txt\n  note1\\n.txt\n  note2\\n.txt\n  \
             note3\\n.txt\n  note4\\n.txt\n  ... (all are in dataset.json)\n"
        );
    }

    fn inspection() -> Inspection {
        Inspection {
            path: "one.tfrecord".into(),
            compression: "none".to_owned(),
            records: 3,
            bytes: 60,
            smallest: Some(10),
            largest: Some(30),
            other_records: 0,
            features: BTreeMap::new(),
            first: Vec::new(),
        }
    }

    #[test]
    fn an_inspected_file_tells_sizes_features_and_examples() {
        let feature = |fewest_values, most_values| trainwright_records::FeatureSummary {
            kind: "bytes".to_owned(),
            examples: 3,
            fewest_values,
            most_values,
            bytes: 40,
        };
        let features = [("a", feature(1, 1)), ("b", feature(2, 2)), ("c", feature(0, 2))];
        let file = Inspection {
            compression: "gzip".to_owned(),
            other_records: 1,
            features: features.map(|(name, own)| (name.to_owned(), own)).into(),
            first: vec![BTreeMap::from([
                ("a".to_owned(), "1".to_owned()),
                ("b".to_owned(), "x".to_owned()),
            ])],
            ..inspection()
        };
        assert_eq!(
            inspected(&InspectReply { files: vec![file] }),
            "one.tfrecord: 3 records of 10 to 30 bytes, 60 in all, gzip\n  1 records are no \
             tf.train.Example\n  a: bytes, 1 value, in 3 examples, 40 bytes\n  b: bytes, 2 values, \
             in 3 examples, 40 bytes\n  c: bytes, 0 to 2 values, in 3 examples, 40 bytes\n  example \
             0: a = 1; b = x\n"
        );
    }

    #[test]
    fn an_empty_file_has_no_sizes() {
        let empty =
            Inspection { records: 0, bytes: 0, smallest: None, largest: None, ..inspection() };
        assert_eq!(inspected(&InspectReply { files: vec![empty] }), "one.tfrecord: 0 records\n");
    }

    #[test]
    fn what_a_file_says_cannot_act_on_the_terminal() {
        let first = vec![BTreeMap::from([("a\x1b[2J".to_owned(), "\x07".to_owned())])];
        let text = inspected(&InspectReply { files: vec![Inspection { first, ..inspection() }] });
        assert!(!text.contains('\x1b') && !text.contains('\x07'), "{text:?}");
        assert!(text.contains("a\\e[2J"), "{text:?}");
    }

    #[test]
    fn a_sound_file_and_a_damaged_one_are_told_apart() {
        let verdict = |damages| FileVerdict {
            path: "one".into(),
            compression: "none".to_owned(),
            records: 4,
            bytes: 90,
            damages,
        };
        let damage = trainwright_records::Damage {
            record: 4,
            offset: 70,
            kind: trainwright_records::DamageKind::Truncated,
            message: "record 4 is cut off".to_owned(),
            unreadable_bytes: Some(20),
        };
        let files = vec![verdict(Vec::new()), verdict(vec![damage])];
        assert_eq!(
            verified(&VerifyReply { damaged_files: 1, files }),
            "one: 4 records, sound\none: 4 records sound, DAMAGED\n  record 4 is cut off\n"
        );
    }
}
