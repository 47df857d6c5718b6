use proptest::prelude::*;

use super::*;
use crate::messages::protobuf::{put_bytes_field, put_varint};
use crate::shards::framing::RecordWriter;

/// How a test writes one number.
#[derive(Debug, Clone, Copy)]
enum Written {
    Simple,
    FloatContent,
    FloatList,
    DoubleContent,
    DoubleList,
}

fn message(fields: &[(u32, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, bytes) in fields {
        put_bytes_field(&mut out, *number, bytes);
    }
    out
}

fn tensor(kind: u64, field: u32, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(&mut out, 1 << 3);
    put_varint(&mut out, kind);
    put_bytes_field(&mut out, 2, &[]);
    put_bytes_field(&mut out, field, content);
    out
}

fn event(tag: &str, step: i64, wall_time: f64, value: f64, written: Written) -> Vec<u8> {
    let mut summary_value = message(&[(1, tag.as_bytes())]);
    let (float, double) = ((value as f32).to_le_bytes(), value.to_le_bytes());
    let tensor = match written {
        Written::Simple => {
            put_varint(&mut summary_value, 2 << 3 | 5);
            summary_value.extend(float);
            None
        }
        Written::FloatContent => Some(tensor(DT_FLOAT, 4, &float)),
        Written::FloatList => Some(tensor(DT_FLOAT, 5, &float)),
        Written::DoubleContent => Some(tensor(DT_DOUBLE, 4, &double)),
        Written::DoubleList => Some(tensor(DT_DOUBLE, 6, &double)),
    };
    if let Some(tensor) = tensor {
        put_bytes_field(&mut summary_value, 8, &tensor);
        put_bytes_field(&mut summary_value, 9, &message(&[(1, &message(&[(1, b"scalars")]))]));
    }
    timed_event(step, wall_time, &summary_value)
}

fn timed_event(step: i64, wall_time: f64, summary_value: &[u8]) -> Vec<u8> {
    let mut out = vec![1 << 3 | 1];
    out.extend(wall_time.to_le_bytes());
    put_varint(&mut out, 2 << 3);
    put_varint(&mut out, step as u64);
    put_bytes_field(&mut out, 5, &message(&[(1, summary_value)]));
    out
}

fn file(events: &[Vec<u8>]) -> Vec<u8> {
    let mut writer = RecordWriter::new(Vec::new());
    writer.write(&message(&[(3, b"brain.Event:2")])).unwrap();
    for event in events {
        writer.write(event).unwrap();
    }
    writer.into_inner()
}

fn scalar(tag: &str, step: i64, wall_time: f64, value: f64) -> Scalar {
    Scalar { tag: tag.to_owned(), step, wall_time, value }
}

#[test]
fn hand_checked_bytes_give_both_kinds_of_scalar() {
    // Written out by hand from event.proto, summary.proto and tensor.proto:
    // wall_time 1.5 (09, double), step 300 (10 ac02), summary (2a) of one value (0a).
    let first_version = b"\x09\0\0\0\0\0\0\xf8\x3f\x10\xac\x02\x2a\x0d\
        \x0a\x0b\x0a\x04loss\x15\0\0\x20\x40";
    // Tensor: dtype 1, empty shape, content 0.25; metadata with plugin "scalars".
    let second_version = b"\x09\0\0\0\0\0\0\x00\x40\x10\x01\x2a\x24\
        \x0a\x22\x0a\x03acc\x42\x0a\x08\x01\x12\x00\x22\x04\0\0\x80\x3e\
        \x4a\x0f\x0a\x0d\x0a\x07scalars\x12\x02\x08\x00";
    let bytes = file(&[first_version.to_vec(), second_version.to_vec()]);
    let expected = [scalar("loss", 300, 1.5, 2.5), scalar("acc", 1, 2.0, 0.25)];
    assert_eq!(read_scalars(&bytes[..]).unwrap(), expected);
}

#[test]
fn a_cut_off_last_record_ends_the_list() {
    let events = [1, 2].map(|step| event("loss", step, 0.0, 1.0, Written::Simple));
    let bytes = file(&events);
    for cut in 1..events[1].len() + 16 {
        let scalars = read_scalars(&bytes[..bytes.len() - cut]).unwrap();
        assert_eq!(scalars, [scalar("loss", 1, 0.0, 1.0)], "{cut} bytes missing");
    }
}

#[test]
fn a_damaged_record_is_an_error() {
    let mut bytes = file(&[event("loss", 1, 0.0, 1.0, Written::Simple)]);
    bytes[40] ^= 1;
    assert!(matches!(
        read_scalars(&bytes[..]),
        Err(RecordsError::ChecksumMismatch { record: 1, offset: 31, .. })
    ));
}

#[test]
fn values_of_other_plugins_are_passed_over() {
    let mut value = message(&[(1, b"threshold"), (8, &tensor(DT_FLOAT, 4, &[0; 4]))]);
    put_bytes_field(&mut value, 9, &message(&[(1, &message(&[(1, b"pr_curves")]))]));
    let text = message(&[(1, b"note"), (8, &tensor(7, 8, b"hello"))]);
    let bytes = file(&[timed_event(1, 0.0, &value), timed_event(1, 0.0, &text)]);
    assert_eq!(read_scalars(&bytes[..]).unwrap(), []);
}

#[test]
fn a_scalar_tensor_with_two_values_is_an_error() {
    let mut value = message(&[(1, b"loss"), (8, &tensor(DT_FLOAT, 4, &[0; 8]))]);
    put_bytes_field(&mut value, 9, &message(&[(1, &message(&[(1, b"scalars")]))]));
    let error = read_scalars(&file(&[timed_event(3, 0.0, &value)])[..]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "record 1 (counting from 0): scalar `loss` at step 3 holds 2 values where 1 is needed"
    );
}

#[test]
fn plugin_named_on_the_first_value_serves_the_tag() {
    let named = event("loss", 1, 0.0, 1.0, Written::FloatContent);
    let unnamed = message(&[(1, b"loss"), (8, &tensor(DT_FLOAT, 4, &2.0_f32.to_le_bytes()))]);
    let bytes = file(&[named, timed_event(2, 0.0, &unnamed)]);
    let expected = [scalar("loss", 1, 0.0, 1.0), scalar("loss", 2, 0.0, 2.0)];
    assert_eq!(read_scalars(&bytes[..]).unwrap(), expected);
}

#[test]
fn folders_become_runs() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("fold/train")).unwrap();
    let put = |name: &str, step| {
        let bytes = file(&[event("loss", step, 0.0, 1.0, Written::Simple)]);
        fs::write(folder.path().join(name), bytes).unwrap();
    };
    put("fold/train/events.out.tfevents.2.host", 2);
    put("fold/train/events.out.tfevents.1.host", 1);
    put("events.out.tfevents.3.host", 3);
    fs::write(folder.path().join("notes.txt"), "no event file").unwrap();
    let runs = scan_scalars(folder.path()).unwrap();
    let steps: Vec<(&str, Vec<i64>)> = runs
        .iter()
        .map(|run| (run.run.as_str(), run.scalars.iter().map(|scalar| scalar.step).collect()))
        .collect();
    assert_eq!(steps, [("", vec![3]), ("fold/train", vec![1, 2])]);
}

#[test]
fn a_damaged_file_in_a_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.tfevents.1"), [7; 40]).unwrap();
    let message = scan_scalars(folder.path()).unwrap_err().to_string();
    assert!(message.contains("x.tfevents.1: record 0 (counting from 0) at byte 0"), "{message}");
}

fn any_way() -> impl Strategy<Value = Written> {
    prop::sample::select(vec![
        Written::Simple,
        Written::FloatContent,
        Written::FloatList,
        Written::DoubleContent,
        Written::DoubleList,
    ])
}

proptest! {
    #[test]
    fn every_way_of_writing_reads_back(
        tag in "[a-z/_]{1,12}", step: i64, wall_time: f64, value: f32, written in any_way(),
    ) {
        let bytes = file(&[event(&tag, step, wall_time, f64::from(value), written)]);
        let expected = [scalar(&tag, step, wall_time, f64::from(value))];
        prop_assert_eq!(read_scalars(&bytes[..]).unwrap(), expected);
    }

    #[test]
    fn arbitrary_events_never_panic(events: Vec<Vec<u8>>) {
        let _ = read_scalars(&file(&events)[..]);
    }

    #[test]
    fn a_changed_event_never_panics(place: prop::sample::Index, byte: u8, written in any_way()) {
        let mut bytes = event("loss", 1, 1.0, 1.0, written);
        let place = place.index(bytes.len());
        bytes[place] = byte;
        let _ = read_scalars(&file(&[bytes])[..]);
    }
}
