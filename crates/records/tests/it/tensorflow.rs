//! Files that TensorFlow wrote are read as it meant them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use trainwright_records::pictures::{Decoder, Picture, PixelLimit};
use trainwright_records::{
    Compression, Example, Feature, RecordReader, RecordSlices, SequenceExample, ShardBytes,
    open_shard, read_scalars, verify,
};

fn vector(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn payloads(name: &str) -> Vec<Vec<u8>> {
    let bytes = ShardBytes::open(&vector(name)).unwrap();
    RecordSlices::new(&bytes).map(|record| record.unwrap().to_vec()).collect()
}

#[test]
fn records_are_read_in_every_compression() {
    let expected = vec![Vec::new(), b"a".to_vec(), (0..=255).collect(), vec![0; 1000]];
    for (name, compression) in [
        ("records.tfrecord", Compression::None),
        ("records.tfrecord.gz", Compression::Gzip),
        ("records.tfrecord.zlib", Compression::Zlib),
    ] {
        assert_eq!(payloads(name), expected, "{name}");
        let (input, found) = open_shard(&vector(name)).unwrap();
        let mut reader = RecordReader::new(input);
        for payload in &expected {
            assert_eq!(reader.next_record().unwrap(), Some(payload.as_slice()));
        }
        assert_eq!((reader.next_record().unwrap(), found), (None, compression));
        assert_eq!(verify(&vector(name)).unwrap().damages, []);
    }
}

#[test]
fn examples_are_read_packed_and_unpacked() {
    let records = payloads("examples.tfrecord");
    let packed = Example::parse(&records[0]).unwrap();
    assert_eq!(packed.features["name"], Feature::Bytes(vec![b"rose", b"\xff\x00"]));
    assert_eq!(packed.features["empty"], Feature::Unset);
    let unpacked = Example::parse(&records[1]).unwrap();
    for example in [&packed, &unpacked] {
        assert_eq!(example.features["weights"], Feature::Floats(vec![0.5, -1.25, 3e10]));
        assert_eq!(example.features["label"], Feature::Ints(vec![-1, 0, 1 << 62]));
    }
    // Keys are sorted by both writers, so the bytes are the same too.
    assert_eq!(packed.encode(), records[0]);
}

#[test]
fn sequences_are_read() {
    let records = payloads("sequence.tfrecord");
    let sequence = SequenceExample::parse(&records[0]).unwrap();
    assert_eq!(sequence.context.int("length").unwrap(), 2);
    let tokens = [Feature::Ints(vec![5, 6]), Feature::Ints(vec![7])];
    assert_eq!(sequence.lists["tokens"], tokens);
    let frames = [Feature::Bytes(vec![b"one"]), Feature::Bytes(vec![b"two"])];
    assert_eq!(sequence.lists["frames"], frames);
}

#[test]
fn scalars_of_an_event_file_with_everything_else_in_it_are_read() {
    let scalars = read_scalars(File::open(vector("tensorflow.tfevents")).unwrap()).unwrap();
    let found: Vec<_> = scalars.iter().map(|it| (it.tag.as_str(), it.step)).collect();
    assert_eq!(found, [("loss", 0), ("loss", 1), ("loss", 2)]);
    assert_eq!((scalars[0].value, scalars[1].value), (1.5, 0.75));
    assert!(scalars[2].value.is_nan());
}

#[test]
fn pictures_have_the_pixels_that_tensorflow_sees() {
    let mut decoder = Decoder::new(PixelLimit::default()).unwrap();
    let mut picture = Picture::default();
    for (file, pixels, tolerance) in
        // Decoders may round the inverse transform, the upsampled colour and the conversion
        // differently; PNG has nothing to round.
        [("picture.jpg", "picture.rgb", 4), ("picture.png", "picture-png.rgb", 0)]
    {
        decoder.decode(&fs::read(vector(file)).unwrap(), &mut picture).unwrap();
        assert_eq!((picture.rows, picture.columns, picture.channels), (24, 40, 3));
        let expected = fs::read(vector(pixels)).unwrap();
        let worst = picture.pixels.iter().zip(&expected).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(worst.unwrap() <= tolerance, "{file}: off by {worst:?}");
    }
}
