use proptest::prelude::*;

use super::*;
use crate::messages::events::read_scalars;
use crate::messages::protobuf::Fields;
use crate::shards::framing::RecordSlices;

/// The bytes of a nested field, found by its numbers.
fn nested<'a>(mut bytes: &'a [u8], numbers: &[u32]) -> &'a [u8] {
    for &number in numbers {
        let field = Fields::new("Test", bytes).map(Result::unwrap).find(|it| it.number == number);
        bytes = field.unwrap().bytes().unwrap();
    }
    bytes
}

const AT: Moment = Moment { step: -3, wall_time: 1.5 };

#[test]
fn a_file_begins_with_its_version_and_scalars_read_back() {
    let mut writer = EventWriter::new(Vec::new(), 1.5).unwrap();
    writer.scalar(AT, "loss", 0.25).unwrap();
    let file = writer.into_inner();
    let first = RecordSlices::new(&file).next().unwrap().unwrap();
    assert_eq!(nested(first, &[3]), b"brain.Event:2");
    let scalars = read_scalars(&file[..]).unwrap();
    assert_eq!(scalars.len(), 1);
    assert_eq!((scalars[0].step, scalars[0].wall_time, scalars[0].value), (-3, 1.5, 0.25));
}

#[test]
fn other_kinds_are_passed_over_by_the_reader_of_scalars() {
    let mut writer = EventWriter::new(Vec::new(), 1.5).unwrap();
    let picture = Picture { rows: 1, columns: 2, channels: 3, pixels: vec![7; 6] };
    writer.hparams_columns(1.0, &[("lr", HparamKind::Number)], &["loss"]).unwrap();
    writer.session_start(1.0, "one", &[("lr", HparamValue::Number(0.1))]).unwrap();
    writer.images(AT, "sample", &[picture.clone(), picture]).unwrap();
    writer.histogram(AT, "weights", &[1.0, 2.0]).unwrap();
    writer.session_end(2.0, SessionStatus::Success).unwrap();
    let file = writer.into_inner();
    assert_eq!(RecordSlices::new(&file).count(), 6);
    assert_eq!(read_scalars(&file[..]).unwrap(), []);
}

#[test]
fn pictures_of_different_sizes_are_refused() {
    let mut writer = EventWriter::new(Vec::new(), 1.5).unwrap();
    let picture = |columns| Picture { rows: 1, columns, channels: 1, pixels: vec![7; columns] };
    assert!(writer.images(AT, "sample", &[picture(1), picture(2)]).is_err());
    assert!(writer.images(AT, "sample", &[]).is_err());
}

/// The second record of a file, which is its first event after the version.
fn second(file: &[u8]) -> &[u8] {
    RecordSlices::new(file).nth(1).unwrap().unwrap()
}

#[test]
fn a_session_is_in_the_metadata_of_a_value_for_the_plugin() {
    let mut writer = EventWriter::new(Vec::new(), 1.5).unwrap();
    writer.session_end(2.0, SessionStatus::Failure).unwrap();
    let file = writer.into_inner();
    let value = nested(second(&file), &[5, 1]);
    assert_eq!(nested(value, &[1]), b"_hparams_/session_end_info");
    assert_eq!(nested(value, &[9, 1, 1]), b"hparams");
    assert_eq!(nested(value, &[9, 1, 2]), hparams::session_end(2.0, SessionStatus::Failure));
}

#[test]
fn pictures_come_after_their_width_and_height() {
    let mut writer = EventWriter::new(Vec::new(), 1.5).unwrap();
    let picture = |shade| Picture { rows: 2, columns: 3, channels: 1, pixels: vec![shade; 6] };
    writer.images(AT, "sample", &[picture(5), picture(250)]).unwrap();
    let file = writer.into_inner();
    let value = nested(second(&file), &[5, 1]);
    assert_eq!(nested(value, &[9, 1, 1]), b"images");
    let tensor = Fields::new("Test", nested(value, &[8])).map(Result::unwrap);
    let texts: Vec<&[u8]> =
        tensor.filter(|it| it.number == 8).map(|it| it.bytes().unwrap()).collect();
    assert_eq!(texts[..2], [b"3", b"2"]);
    // The shape says how many texts there are.
    assert_eq!(nested(value, &[8, 2, 2]), [0x08, 4]);
    let mut decoded = Picture::default();
    for (file, shade) in texts[2..].iter().zip([5, 250]) {
        let mut decoder = crate::pictures::Decoder::new(Default::default()).unwrap();
        decoder.decode(file, &mut decoded).unwrap();
        assert_eq!((decoded.rows, decoded.columns), (2, 3));
        assert_eq!(decoded.pixels, [shade; 18]);
    }
}

#[test]
fn a_histogram_is_rows_of_edges_and_counts() {
    let mut writer = EventWriter::new(Vec::new(), 1.5).unwrap();
    writer.histogram(AT, "weights", &[4.0, 4.0, f64::NAN]).unwrap();
    let file = writer.into_inner();
    let value = nested(second(&file), &[5, 1]);
    assert_eq!(nested(value, &[9, 1, 1]), b"histograms");
    let numbers = nested(value, &[8, 4]).as_chunks().0.iter().copied().map(f64::from_le_bytes);
    assert!(numbers.eq([3.5, 4.5, 2.0]));
}

#[test]
fn names_of_event_files_sort_by_their_time() {
    let name = |seconds| event_file_name(seconds, "host", 7);
    assert_eq!(name(999), "events.out.tfevents.0000000999.host.7.0.v2");
    assert!(name(999) < name(1_000) && name(999_999_999) < name(1_700_000_000));
}

proptest! {
    #[test]
    fn scalars_survive_the_round_trip(all: Vec<(i64, f64, String, f32)>) {
        let mut writer = EventWriter::new(Vec::new(), 0.0).unwrap();
        for (step, wall_time, tag, value) in &all {
            let at = Moment { step: *step, wall_time: *wall_time };
            writer.scalar(at, tag, *value).unwrap();
        }
        let back = read_scalars(writer.into_inner().as_slice()).unwrap();
        prop_assert_eq!(back.len(), all.len());
        for (back, (step, wall_time, tag, value)) in back.iter().zip(&all) {
            prop_assert_eq!((back.step, &back.tag), (*step, tag));
            prop_assert_eq!(back.wall_time.to_bits(), wall_time.to_bits());
            prop_assert_eq!((back.value as f32).to_bits(), value.to_bits(), "{}", value);
        }
    }
}
