use std::fs;

use proptest::prelude::*;

use super::*;
use crate::shards::writer::{IndexFile, ShardWriter};

/// Three records of 10, 20 and 30 bytes at bytes 0, 26 and 62, changed as asked.
fn verdict(compression: Compression, change: impl FnOnce(&mut Vec<u8>)) -> FileVerdict {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tfrecord");
    let mut writer = ShardWriter::create(&path, compression, IndexFile::None).unwrap();
    for size in [10, 20, 30] {
        writer.write(&vec![size; usize::from(size)]).unwrap();
    }
    writer.finish().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    change(&mut bytes);
    fs::write(&path, bytes).unwrap();
    verify(&path).unwrap()
}

fn places(verdict: &FileVerdict) -> Vec<(DamageKind, u64, u64)> {
    verdict.damages.iter().map(|it| (it.kind, it.record, it.offset)).collect()
}

#[test]
fn every_damaged_payload_is_listed() {
    let verdict = verdict(Compression::None, |bytes| {
        bytes[12] ^= 1;
        bytes[80] ^= 4;
    });
    assert_eq!(places(&verdict), [(DamageKind::Data, 0, 0), (DamageKind::Data, 2, 62)]);
    assert_eq!((verdict.records, verdict.bytes), (1, 108));
}

#[test]
fn a_damaged_length_makes_the_rest_unreadable() {
    let verdict = verdict(Compression::None, |bytes| bytes[26] ^= 1);
    assert_eq!(places(&verdict), [(DamageKind::Length, 1, 26)]);
    assert_eq!((verdict.records, verdict.bytes), (1, 108));
    let damage = &verdict.damages[0];
    assert_eq!(damage.unreadable_bytes, Some(82));
    assert!(damage.message.ends_with("so the last 82 bytes are unreadable"), "{damage:?}");
}

#[test]
fn a_cut_tail_is_told_with_its_place() {
    let verdict = verdict(Compression::None, |bytes| bytes.truncate(100));
    assert_eq!(places(&verdict), [(DamageKind::Truncated, 2, 62)]);
}

#[test]
fn a_damaged_compressed_stream_is_told() {
    for compression in [Compression::Gzip, Compression::Zlib] {
        let cut = verdict(compression, |bytes| bytes.truncate(bytes.len() - 3));
        assert_eq!(cut.damages.len(), 1, "{cut:?}");
        assert_eq!(cut.damages[0].kind, DamageKind::Compression, "{cut:?}");
        let flipped = verdict(compression, |bytes| *bytes.last_mut().unwrap() ^= 1);
        assert_eq!(flipped.damages[0].kind, DamageKind::Compression, "{flipped:?}");
    }
}

#[test]
fn an_index_that_disagrees_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tfrecord");
    let mut writer = ShardWriter::create(&path, Compression::None, IndexFile::Beside).unwrap();
    writer.write(b"one").unwrap();
    writer.write(b"three").unwrap();
    writer.finish().unwrap();
    assert_eq!(verify(&path).unwrap().damages, []);
    fs::write(index_path(&path), "0 19\n19 22\n").unwrap();
    assert_eq!(places(&verify(&path).unwrap()), [(DamageKind::Index, 1, 19)]);
    fs::write(index_path(&path), "0 19\n").unwrap();
    assert_eq!(places(&verify(&path).unwrap()), [(DamageKind::Index, 1, 19)]);
}

#[test]
fn a_malformed_index_is_damage_beside_that_of_the_records() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tfrecord");
    let mut writer = ShardWriter::create(&path, Compression::None, IndexFile::None).unwrap();
    writer.write(b"one").unwrap();
    writer.write(b"three").unwrap();
    writer.finish().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[13] ^= 1;
    fs::write(&path, bytes).unwrap();
    for index in ["0 19\n19 nonsense\n", "\u{fffd}", "0 19 5"] {
        fs::write(index_path(&path), index).unwrap();
        let verdict = verify(&path).unwrap();
        assert_eq!(places(&verdict), [(DamageKind::Data, 0, 0), (DamageKind::Index, 0, 0)]);
        assert!(verdict.damages[1].message.contains("a.tfrecord.idx: line "), "{verdict:?}");
    }
    fs::write(index_path(&path), "0 19\n18446744073709551615 18446744073709551615\n").unwrap();
    assert_eq!(places(&verify(&path).unwrap())[1].0, DamageKind::Index);
}

#[test]
fn a_missing_file_is_an_error_and_no_damage() {
    assert!(verify(Path::new("no-such.tfrecord")).is_err());
}

proptest! {
    #[test]
    fn any_flipped_bit_is_found(bit in 0..108_usize * 8) {
        let verdict = verdict(Compression::None, |bytes| bytes[bit / 8] ^= 1 << (bit % 8));
        prop_assert_eq!(verdict.damages.len(), 1);
    }

    #[test]
    fn any_cut_inside_a_record_is_found(kept in 1..108_usize) {
        let verdict = verdict(Compression::None, |bytes| bytes.truncate(kept));
        prop_assert_eq!(verdict.damages.is_empty(), kept == 26 || kept == 62);
    }
}
