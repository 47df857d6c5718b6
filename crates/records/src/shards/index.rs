//! Index files: where each record of a shard lies, one text line `offset size` a record.
//!
//! This is the form that NVIDIA DALI's `tfrecord2idx` writes; the size includes the frame. The
//! index of `a.tfrecord` is `a.tfrecord.idx`. Compressed shards have none.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::RecordsError;
use crate::files::bucket::bucket_of;

/// Where one record lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexEntry {
    /// First byte of its frame.
    pub offset: u64,
    /// Bytes of payload and frame.
    pub bytes: u64,
}

/// The place of a shard's index.
pub fn index_path(shard: &Path) -> PathBuf {
    let mut name = shard.as_os_str().to_owned();
    name.push(".idx");
    PathBuf::from(name)
}

/// Reads an index file.
///
/// # Errors
/// When it cannot be read or a line is not two whole numbers; file and line are named.
pub fn read_index(path: &Path) -> Result<Vec<IndexEntry>, RecordsError> {
    let mut bytes = Vec::new();
    bucket_of(path)?.read(path, &mut bytes)?;
    parse_index(&bytes).map_err(|error| error.in_file(path))
}

/// The index beside a shard, if there is one.
///
/// # Errors
/// When it is there and cannot be read.
pub(crate) fn index_beside(shard: &Path) -> Result<Option<Vec<IndexEntry>>, RecordsError> {
    match read_index(&index_path(shard)) {
        Ok(entries) => Ok(Some(entries)),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads the content of an index file.
///
/// # Errors
/// When a line is not two whole numbers.
pub fn parse_index(bytes: &[u8]) -> Result<Vec<IndexEntry>, RecordsError> {
    let lines = bytes.split(|&byte| byte == b'\n').enumerate();
    let filled = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
    filled
        .map(|(number, line)| {
            let text = String::from_utf8_lossy(line).trim().to_owned();
            let mut words = text.split_ascii_whitespace().map(str::parse);
            match (words.next(), words.next(), words.next()) {
                (Some(Ok(offset)), Some(Ok(bytes)), None) => Ok(IndexEntry { offset, bytes }),
                _ => Err(RecordsError::IndexLine { line: number + 1, text }),
            }
        })
        .collect()
}

/// Writes the content of an index file.
///
/// # Errors
/// When the output fails.
pub fn write_index(mut output: impl Write, entries: &[IndexEntry]) -> io::Result<()> {
    let mut text = String::with_capacity(16 * entries.len());
    for IndexEntry { offset, bytes } in entries {
        use std::fmt::Write as _;
        writeln!(text, "{offset} {bytes}").expect("writing to memory cannot fail");
    }
    output.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_that_is_no_pair_of_numbers_is_shown() {
        assert_eq!(
            parse_index(b"0 20\n20 x\n").unwrap_err().to_string(),
            "line 2 of the index is `20 x`, expected `offset size`"
        );
        assert!(parse_index(b"0 20 5\n").is_err());
    }

    proptest! {
        #[test]
        fn an_index_survives_the_round_trip(numbers: Vec<(u64, u64)>) {
            let entry = |&(offset, bytes)| IndexEntry { offset, bytes };
            let entries: Vec<_> = numbers.iter().map(entry).collect();
            let mut file = Vec::new();
            write_index(&mut file, &entries).unwrap();
            prop_assert_eq!(parse_index(&file).unwrap(), entries);
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
            let _ = parse_index(&bytes);
        }
    }

    #[test]
    fn an_index_of_another_program_may_have_other_spaces_and_line_ends() {
        let entry = |offset, bytes| IndexEntry { offset, bytes };
        let expected = [entry(0, 20), entry(20, 17)];
        for text in ["0 20\n20 17", "0\t20\r\n20   17\r\n\r\n", "\n  0 20  \n\n20 17\n"] {
            assert_eq!(parse_index(text.as_bytes()).unwrap(), expected, "{text:?}");
        }
        assert_eq!(parse_index(b"\n \n").unwrap(), []);
    }

    #[test]
    fn lines_that_are_no_entry_are_counted_with_the_empty_ones() {
        for bad in ["20", "-1 5", "1.5 2", "18446744073709551616 1", "a b"] {
            let message =
                parse_index(format!("0 20\n\n{bad}\n").as_bytes()).unwrap_err().to_string();
            assert_eq!(message, format!("line 3 of the index is `{bad}`, expected `offset size`"));
        }
    }

    #[test]
    fn a_shard_without_an_index_has_none_and_one_that_cannot_be_read_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let shard = folder.path().join("a.tfrecord");
        assert_eq!(index_beside(&shard).unwrap(), None);
        std::fs::write(index_path(&shard), "0 20\n").unwrap();
        assert_eq!(index_beside(&shard).unwrap(), Some(vec![IndexEntry { offset: 0, bytes: 20 }]));
        std::fs::write(index_path(&shard), "0\n").unwrap();
        let message = index_beside(&shard).unwrap_err().to_string();
        assert!(message.contains("a.tfrecord.idx: line 1 of the index is `0`"), "{message}");
    }
}
