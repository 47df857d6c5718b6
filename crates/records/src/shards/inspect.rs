//! What a TFRecord file holds: counts, sizes, features and the first examples.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::RecordsError;
use crate::messages::example::{Example, Feature};
use crate::shards::bytes::open_shard;
use crate::shards::framing::RecordReader;

/// Longest stretch of a value that is shown.
const SHOWN: usize = 60;

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inspection {
    /// The file.
    pub path: PathBuf,
    /// `none`, `gzip` or `zlib`.
    pub compression: String,
    /// Records.
    pub records: u64,
    /// Bytes of the payloads, without frames.
    pub bytes: u64,
    /// Smallest payload; none in an empty file.
    pub smallest: Option<u64>,
    /// Largest payload; none in an empty file.
    pub largest: Option<u64>,
    /// Records that are no `tf.train.Example`.
    pub other_records: u64,
    /// Features by name.
    pub features: BTreeMap<String, FeatureSummary>,
    /// The first examples, each value as text.
    pub first: Vec<BTreeMap<String, String>>,
}

/// What one feature holds over all examples.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FeatureSummary {
    /// `bytes`, `floats`, `ints`, `unset`, or several of them joined by a slash.
    pub kind: String,
    /// Examples that have it.
    pub examples: u64,
    /// Fewest values in an example that has it.
    pub fewest_values: usize,
    /// Most values in an example.
    pub most_values: usize,
    /// Bytes over all examples.
    pub bytes: u64,
}

/// Reads a whole file, showing the first `show` examples.
///
/// # Errors
/// When it cannot be read or is damaged; file, record and offset are named.
pub fn inspect(path: &Path, show: usize) -> Result<Inspection, RecordsError> {
    let (input, compression) = open_shard(path)?;
    let mut inspection = Inspection {
        path: path.to_owned(),
        compression: compression.to_string(),
        records: 0,
        bytes: 0,
        smallest: None,
        largest: None,
        other_records: 0,
        features: BTreeMap::new(),
        first: Vec::new(),
    };
    let mut reader = RecordReader::new(input);
    while let Some(record) = reader.next_record().map_err(|error| error.in_file(path))? {
        inspection.add(record, show);
    }
    Ok(inspection)
}

impl Inspection {
    fn add(&mut self, record: &[u8], show: usize) {
        let size = record.len() as u64;
        self.records += 1;
        self.bytes += size;
        self.smallest = Some(self.smallest.map_or(size, |smallest| smallest.min(size)));
        self.largest = self.largest.max(Some(size));
        let Ok(example) = Example::parse(record) else {
            self.other_records += 1;
            return;
        };
        for (name, feature) in &example.features {
            match self.features.get_mut(*name) {
                Some(summary) => summary.add(feature),
                None => {
                    let mut summary = FeatureSummary::default();
                    summary.add(feature);
                    self.features.insert((*name).to_owned(), summary);
                }
            }
        }
        if self.first.len() < show {
            let shown = example.features.iter().map(|(name, it)| ((*name).to_owned(), shown(it)));
            self.first.push(shown.collect());
        }
    }
}

impl FeatureSummary {
    fn add(&mut self, feature: &Feature<'_>) {
        let (kind, values, bytes) = match feature {
            Feature::Unset => ("unset", 0, 0),
            Feature::Bytes(list) => ("bytes", list.len(), list.iter().map(|it| it.len()).sum()),
            Feature::Floats(list) => ("floats", list.len(), 4 * list.len()),
            Feature::Ints(list) => ("ints", list.len(), 8 * list.len()),
        };
        if !self.kind.split('/').any(|known| known == kind) {
            self.kind =
                if self.examples == 0 { kind.into() } else { format!("{}/{kind}", self.kind) };
        }
        self.fewest_values =
            if self.examples == 0 { values } else { self.fewest_values.min(values) };
        self.most_values = self.most_values.max(values);
        self.examples += 1;
        self.bytes += bytes as u64;
    }
}

fn shown(feature: &Feature<'_>) -> String {
    let joined = |values: Vec<String>| values.join(", ");
    let mut text = match feature {
        Feature::Unset => "(unset)".to_owned(),
        Feature::Bytes(list) => joined(list.iter().map(|bytes| shown_bytes(bytes)).collect()),
        Feature::Floats(list) => joined(list.iter().take(SHOWN).map(f32::to_string).collect()),
        Feature::Ints(list) => joined(list.iter().take(SHOWN).map(i64::to_string).collect()),
    };
    if text.chars().count() > SHOWN {
        text = text.chars().take(SHOWN).chain("...".chars()).collect();
    }
    text
}

/// Short text as text, everything else by its size and first bytes.
fn shown_bytes(bytes: &[u8]) -> String {
    let printable = |text: &&str| text.chars().all(|it| !it.is_control()) && text.len() <= SHOWN;
    match std::str::from_utf8(bytes).ok().filter(printable) {
        Some(text) => format!("\"{text}\""),
        None => format!("{} bytes {:02x?}", bytes.len(), &bytes[..bytes.len().min(4)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shards::compression::Compression;
    use crate::shards::writer::{IndexFile, ShardWriter};

    #[test]
    fn features_are_counted_over_all_examples() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tfrecord");
        let mut writer = ShardWriter::create(&path, Compression::Zlib, IndexFile::None).unwrap();
        let first = Example::from([
            ("image", Feature::Bytes(vec![&[0xff; 100]])),
            ("name", Feature::Bytes(vec![b"rose"])),
        ]);
        writer.write(&first.encode()).unwrap();
        let second = Example::from([("name", Feature::Ints(vec![1, 2]))]);
        writer.write(&second.encode()).unwrap();
        writer.write(b"\xff").unwrap();
        writer.finish().unwrap();
        let found = inspect(&path, 1).unwrap();
        assert_eq!((found.records, found.other_records, found.smallest), (3, 1, Some(1)));
        let name = &found.features["name"];
        assert_eq!((name.kind.as_str(), name.examples), ("bytes/ints", 2));
        assert_eq!((name.fewest_values, name.most_values), (1, 2));
        assert_eq!(found.first.len(), 1);
        assert_eq!(found.first[0]["image"], "100 bytes [ff, ff, ff, ff]");
        assert_eq!(found.first[0]["name"], "\"rose\"");
    }

    #[test]
    fn long_values_are_cut_and_bytes_that_are_no_text_are_counted() {
        let ints = Feature::Ints((0..1000).collect());
        let text = shown(&ints);
        assert_eq!(text.chars().count(), SHOWN + 3);
        assert!(text.starts_with("0, 1, 2, ") && text.ends_with("..."), "{text}");
        assert_eq!(shown(&Feature::Floats(vec![0.5, -1.0])), "0.5, -1");
        assert_eq!(shown(&Feature::Unset), "(unset)");
        let pieces = Feature::Bytes(vec![b"a\nb", "\u{e9}".as_bytes(), b"\xff\xfe"]);
        assert_eq!(shown(&pieces), "3 bytes [61, 0a, 62], \"\u{e9}\", 2 bytes [ff, fe]");
        let long = "x".repeat(SHOWN + 1);
        assert_eq!(shown_bytes(long.as_bytes()), "61 bytes [78, 78, 78, 78]");
    }

    #[test]
    fn a_feature_is_summed_over_the_examples_that_have_it() {
        let mut summary = FeatureSummary::default();
        for feature in [
            Feature::Floats(vec![1.0; 5]),
            Feature::Unset,
            Feature::Floats(vec![1.0; 2]),
            Feature::Bytes(vec![b"abc", b""]),
        ] {
            summary.add(&feature);
        }
        let expected = FeatureSummary {
            kind: "floats/unset/bytes".to_owned(),
            examples: 4,
            fewest_values: 0,
            most_values: 5,
            bytes: 31,
        };
        assert_eq!(summary, expected);
    }

    #[test]
    fn a_damaged_file_is_told_with_its_record() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tfrecord");
        let mut writer = ShardWriter::create(&path, Compression::None, IndexFile::None).unwrap();
        writer.write(b"one").unwrap();
        writer.finish().unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[13] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let message = inspect(&path, 1).unwrap_err().to_string();
        assert!(message.contains("a.tfrecord: record 0 (counting from 0) at byte 0"), "{message}");
        let empty = tempfile::NamedTempFile::new().unwrap();
        let found = inspect(empty.path(), 1).unwrap();
        assert_eq!((found.records, found.smallest, found.largest), (0, None, None));
    }
}
