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
