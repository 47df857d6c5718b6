use std::fs;
use std::path::PathBuf;

use super::*;
use crate::files::bucket::{Limited, Limits, LocalBucket};
use crate::messages::example::{Example, Feature};
use crate::pictures::{JpegWriter, Picture};
use crate::shards::compression::Compression;
use crate::shards::writer::{IndexFile, ShardWriter};

/// Five pictures as files, and as records in two shards.
fn pictures() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let (files, records) = (folder.path().join("files"), folder.path().join("records"));
    fs::create_dir_all(files.join("rose")).unwrap();
    fs::create_dir_all(&records).unwrap();
    let mut writer = JpegWriter::new(90).unwrap();
    let mut shards: Vec<_> = ["a", "b"]
        .map(|name| records.join(name).with_extension("tfrecord"))
        .iter()
        .map(|path| ShardWriter::create(path, Compression::None, IndexFile::Beside).unwrap())
        .collect();
    for number in 0..5_u8 {
        let pixels = vec![40 * number; 24 * 20 * 3];
        let picture = Picture { rows: 24, columns: 20, channels: 3, pixels };
        let mut jpeg = Vec::new();
        writer.encode(&picture, &mut jpeg).unwrap();
        fs::write(files.join("rose").join(format!("{number}.JPG")), &jpeg).unwrap();
        let example = Example::from([("image/encoded", Feature::Bytes(vec![&jpeg[..]]))]);
        shards[usize::from(number % 2)].write(&example.encode()).unwrap();
    }
    for shard in shards {
        shard.finish().unwrap();
    }
    (folder, files, records)
}

fn run(source: ReadSource, batch_size: usize, batch_number: usize, threads: usize) -> ReadRun {
    let number = |number| NonZeroUsize::new(number).unwrap();
    ReadRun {
        source,
        batch_size: number(batch_size),
        batch_number: number(batch_number),
        threads: number(threads),
        start: 3,
        max_pixels: PixelLimit::default(),
    }
}

fn speed(files: &Path, records: &Path, limits: Limits) -> ReadSpeed {
    let bucket = Arc::new(Limited::new(Arc::new(LocalBucket), limits));
    let files = list_pictures(&LocalBucket, files).unwrap();
    ReadSpeed::new(bucket, files, records, NonZeroUsize::new(16).unwrap()).unwrap()
}

#[test]
fn every_picture_of_a_run_is_read_on_any_number_of_threads() {
    let (_folder, files, records) = pictures();
    let speed = speed(&files, &records, Limits::default());
    assert_eq!((speed.files().len(), speed.shards().len()), (5, 2));
    for source in ReadSource::ALL {
        // 12 pictures are the five of them twice, and two more.
        let once = speed.time(&run(source, 4, 3, 1)).unwrap();
        assert_eq!(once.images, 12);
        for threads in [2, 3, 8] {
            let again = speed.time(&run(source, 4, 3, threads)).unwrap();
            assert_eq!((again.images, again.bytes), (once.images, once.bytes), "{source:?}");
        }
    }
    let all: u64 = speed.files().iter().map(|file| file.bytes).sum();
    assert_eq!(speed.time(&run(ReadSource::Files, 5, 1, 1)).unwrap().bytes, all);
}

#[test]
fn shards_are_opened_once_and_files_one_by_one() {
    let (_folder, files, records) = pictures();
    let latency = std::time::Duration::from_millis(2);
    let speed = speed(&files, &records, Limits { latency, bandwidth: None });
    // Lower bounds only: nothing is faster than its waits.
    assert!(speed.time(&run(ReadSource::Files, 2, 2, 1)).unwrap().seconds >= 4.0 * 0.002);
    assert!(speed.time(&run(ReadSource::Records, 2, 2, 1)).unwrap().seconds >= 2.0 * 0.002);
}

#[test]
fn cold_reading_reads_the_same() {
    let (_folder, files, records) = pictures();
    let speed = speed(&files, &records, Limits::default());
    for source in ReadSource::ALL {
        speed.time(&run(source, 2, 3, 1)).unwrap();
    }
    for source in ReadSource::ALL {
        let run = run(source, 2, 3, 1);
        speed.make_cold(&run).unwrap();
        assert_eq!(speed.time(&run).unwrap().images, 6);
    }
}

#[test]
fn damage_and_emptiness_name_the_place() {
    let (_folder, files, records) = pictures();
    let empty = tempfile::tempdir().unwrap();
    let new = |files: &Path, records: &Path| {
        let files = list_pictures(&LocalBucket, files)?;
        ReadSpeed::new(Arc::new(LocalBucket), files, records, NonZeroUsize::MIN)
    };
    let message = new(&records, &records).err().unwrap().to_string();
    assert_eq!(message, format!("{} holds no pictures (.jpg, .jpeg, .png)", records.display()));
    assert!(new(&files, empty.path()).is_err());

    fs::write(empty.path().join("x.tfrecord"), b"").unwrap();
    let speed = new(&files, empty.path()).unwrap();
    let message = speed.time(&run(ReadSource::Records, 1, 1, 1)).unwrap_err().to_string();
    assert!(message.ends_with("x.tfrecord: the data set has no examples"), "{message}");

    fs::write(files.join("rose/0.JPG"), b"no picture").unwrap();
    let speed = new(&files, &records).unwrap();
    let message = speed.time(&run(ReadSource::Files, 5, 1, 1)).unwrap_err().to_string();
    assert!(message.contains("0.JPG"), "{message}");
}

#[test]
fn shards_made_for_a_test_hold_its_pictures_at_their_size() {
    let (folder, files, _) = pictures();
    let files = list_pictures(&LocalBucket, &files).unwrap();
    let out = folder.path().join("made");
    fs::create_dir(&out).unwrap();
    prepare_for_speed(&LocalBucket, &files, 16, PixelLimit::default(), &out).unwrap();
    let speed = ReadSpeed::new(Arc::new(LocalBucket), files, &out, NonZeroUsize::MIN).unwrap();
    assert_eq!(speed.shards().len(), 1);
    let bytes = crate::shards::bytes::ShardBytes::open(&speed.shards()[0].address).unwrap();
    for (number, payload) in crate::shards::framing::RecordSlices::new(&bytes).enumerate() {
        let image = crate::messages::example_view::ExampleView::new(payload.unwrap())
            .bytes("image/encoded")
            .unwrap();
        let mut picture = Picture::default();
        crate::pictures::Decoder::new(PixelLimit::default())
            .unwrap()
            .decode(image, &mut picture)
            .unwrap();
        assert_eq!((picture.rows, picture.columns), (16, 16));
        // Grey survives two JPEG encodings almost unchanged.
        assert!(picture.pixels.iter().all(|&pixel| pixel.abs_diff(40 * number as u8) <= 2));
    }
}
