use std::collections::BTreeSet;
use std::fs;

use proptest::prelude::*;

use super::*;
use crate::messages::example::{Example, Feature};
use crate::pictures::{Framing, Picture, encode_png};
use crate::shards::compression::Compression;
use crate::shards::index::index_path;
use crate::shards::writer::{IndexFile, ShardWriter};
use crate::sources::PictureFolder;

/// Shards of 2 x 3 grey pictures; record `n` has label `n` and pixels that follow from it.
fn shards(sizes: &[usize], compression: Compression) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let (mut paths, mut number) = (Vec::new(), 0_u8);
    for (shard, &size) in sizes.iter().enumerate() {
        let path = folder.path().join(format!("{shard}.tfrecord"));
        let mut writer = ShardWriter::create(&path, compression, IndexFile::Beside).unwrap();
        for _ in 0..size {
            let pixels = [number, 1, 2, 3, 4, 255];
            let example = Example::from([
                ("image/raw", Feature::Bytes(vec![&pixels])),
                ("image/height", Feature::Ints(vec![2])),
                ("image/width", Feature::Ints(vec![3])),
                ("image/channels", Feature::Ints(vec![1])),
                ("label", Feature::Ints(vec![number.into()])),
            ]);
            writer.write(&example.encode()).unwrap();
            number += 1;
        }
        writer.finish().unwrap();
        paths.push(path);
    }
    (folder, paths)
}

fn options() -> PipelineOptions {
    PipelineOptions { batch: 4, shuffle: 8, pixels: PixelKind::U8, ..PipelineOptions::default() }
}

fn epoch(paths: &[PathBuf], options: &PipelineOptions, epoch: u64) -> Vec<Batch> {
    let pipeline = Pipeline::open(paths, options.clone()).unwrap();
    pipeline.epoch(epoch).unwrap().map(Result::unwrap).collect()
}

fn labels(batches: &[Batch]) -> Vec<i64> {
    batches.iter().flat_map(|batch| batch.labels.iter().copied()).collect()
}

#[test]
fn pixels_come_with_their_labels_as_bytes_or_floats() {
    let (_folder, paths) = shards(&[3, 4], Compression::None);
    for batch in epoch(&paths, &options(), 0) {
        assert_eq!(batch.shape, [2, 3, 1]);
        let Images::U8(pixels) = &batch.images else { panic!("bytes were asked for") };
        for (picture, label) in pixels.chunks(6).zip(&batch.labels) {
            assert_eq!(picture, [*label as u8, 1, 2, 3, 4, 255]);
        }
    }
    let floats = PipelineOptions { pixels: PixelKind::F32, ..options() };
    let batch = &epoch(&paths, &floats, 0)[0];
    let Images::F32(pixels) = &batch.images else { panic!("floats were asked for") };
    assert!((pixels[5] - 1.0).abs() < 1e-6 && pixels.iter().all(|it| (0.0..=1.0).contains(it)));
}

#[test]
fn the_remainder_is_kept_or_dropped_as_asked() {
    let (_folder, paths) = shards(&[10], Compression::None);
    let sizes = |remainder| {
        let batches = epoch(&paths, &PipelineOptions { remainder, ..options() }, 0);
        batches.iter().map(|batch| batch.labels.len()).collect::<Vec<_>>()
    };
    assert_eq!(sizes(Remainder::Keep), [4, 4, 2]);
    assert_eq!(sizes(Remainder::Drop), [4, 4]);
}

#[test]
fn epochs_differ_and_repeat() {
    let (_folder, paths) = shards(&[20, 20], Compression::None);
    let order = |number| labels(&epoch(&paths, &options(), number));
    assert_eq!(order(0), order(0));
    assert_ne!(order(0), order(1));
}

#[test]
fn compressed_shards_give_the_same_batches() {
    let (_plain, plain) = shards(&[9, 5], Compression::None);
    let (_packed, packed) = shards(&[9, 5], Compression::Gzip);
    assert_eq!(epoch(&plain, &options(), 3), epoch(&packed, &options(), 3));
}

#[test]
fn caches_give_what_decoding_gives_even_when_the_shards_are_gone_wrong() {
    let scratch = tempfile::tempdir().unwrap();
    for cache in [CacheKind::Memory, CacheKind::Disk(scratch.path().to_owned())] {
        let (_folder, paths) = shards(&[9, 5], Compression::None);
        let expected = epoch(&paths, &options(), 1);
        let pipeline = Pipeline::open(&paths, PipelineOptions { cache, ..options() }).unwrap();
        pipeline.epoch(0).unwrap().for_each(|batch| drop(batch.unwrap()));
        // Same length, so the map stays valid, but no record would pass its checksum.
        let size = fs::metadata(&paths[0]).unwrap().len() as usize;
        let file = fs::File::options().write(true).open(&paths[0]).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, &vec![0; size], 0).unwrap();
        let found: Vec<_> = pipeline.epoch(1).unwrap().map(Result::unwrap).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn memory_of_batches_is_used_again_and_holds_what_new_memory_would() {
    let (_folder, paths) = shards(&[39], Compression::None);
    for pixels in [PixelKind::U8, PixelKind::F32] {
        let options = PipelineOptions { pixels, ..options() };
        let pipeline = Pipeline::open(&paths, options.clone()).unwrap();
        let mut again = pipeline.epoch(0).unwrap();
        let (mut places, mut found) = (BTreeSet::new(), Vec::new());
        while let Some(batch) = again.next() {
            let batch = batch.unwrap();
            places.insert(match &batch.images {
                Images::U8(pixels) => pixels.as_ptr() as usize,
                Images::F32(pixels) => pixels.as_ptr() as usize,
            });
            found.push(batch.clone());
            again.recycle(batch);
        }
        assert!(places.len() < 10, "10 batches in {} buffers", places.len());
        assert_eq!(found, epoch(&paths, &options, 0));
    }
}

#[test]
fn pictures_of_two_shapes_do_not_make_a_batch() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tfrecord");
    let mut writer = ShardWriter::create(&path, Compression::None, IndexFile::None).unwrap();
    for columns in [2, 3] {
        let pixels = vec![7; 6 * columns];
        let png = encode_png(&Picture { rows: 2, columns, channels: 3, pixels }).unwrap();
        let image = ("image/encoded", Feature::Bytes(vec![&png[..]]));
        let example = Example::from([image, ("label", Feature::Ints(vec![0]))]);
        writer.write(&example.encode()).unwrap();
    }
    writer.finish().unwrap();
    for cache in [CacheKind::None, CacheKind::Memory] {
        let options = PipelineOptions { cache, ..options() };
        let pipeline = Pipeline::open(std::slice::from_ref(&path), options).unwrap();
        let mut batches = pipeline.batches(&[0, 1], PictureUse::Judging).unwrap();
        let message = batches.next().unwrap().unwrap_err().to_string();
        assert!(message.contains("a.tfrecord: record 1"), "{message}");
        assert!(message.contains("[2, 3, 3]"), "{message}");
    }
}

#[test]
fn a_damaged_record_is_an_error_with_its_place_and_ends_the_epoch() {
    let (_folder, paths) = shards(&[3], Compression::None);
    let mut bytes = fs::read(&paths[0]).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&paths[0], bytes).unwrap();
    let pipeline = Pipeline::open(&paths, PipelineOptions { batch: 1, ..options() }).unwrap();
    let results: Vec<_> = pipeline.epoch(0).unwrap().collect();
    let errors: Vec<_> = results.iter().filter_map(|it| it.as_ref().err()).collect();
    assert_eq!(errors.len(), 1);
    let message = errors[0].to_string();
    assert!(message.contains("0.tfrecord: record 2 (counting from 0) at byte"), "{message}");
    assert!(results.last().unwrap().is_err());
}

#[test]
fn chosen_records_come_in_their_order() {
    let (_folder, paths) = shards(&[3, 4], Compression::None);
    let augment = Augment { crop: Some(1), ..Augment::default() };
    let pipeline = Pipeline::open(&paths, PipelineOptions { augment, ..options() }).unwrap();
    let read = |wanted| -> Vec<Batch> {
        pipeline.batches(&[6, 0, 5, 3, 3], wanted).unwrap().map(Result::unwrap).collect()
    };
    let judged = read(PictureUse::Judging);
    assert_eq!(labels(&judged), [6, 0, 5, 3, 3]);
    assert_eq!((judged[0].shape, judged[1].labels.len()), ([1, 1, 1], 1));
    assert_eq!(judged[0].images, Images::U8(vec![1; 4]));
    let learned = read(PictureUse::Learning { epoch: 1 });
    assert_eq!((labels(&learned), learned[0].shape), (labels(&judged), [1, 1, 1]));
    assert_eq!(pipeline.label(6).unwrap(), 6);
}

#[test]
fn files_of_a_folder_become_squares_of_their_class() {
    let folder = tempfile::tempdir().unwrap();
    for (name, shade) in [("rose/1.png", 10), ("rose/2.png", 20), ("tulip/1.png", 30)] {
        let picture = Picture { rows: 4, columns: 6, channels: 3, pixels: vec![shade; 72] };
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, encode_png(&picture).unwrap()).unwrap();
    }
    let opened = Arc::new(PictureFolder::open(folder.path()).unwrap());
    let part = FolderPart { folder: opened, items: vec![0, 2], size: 2, framing: Framing::Crop };
    let pipeline = Pipeline::open_folder(part, options()).unwrap();
    let batch = pipeline.batches(&[1, 0], PictureUse::Judging).unwrap().next().unwrap().unwrap();
    assert_eq!((&batch.labels[..], batch.shape), (&[1, 0][..], [2, 2, 3]));
    assert_eq!(batch.images, Images::U8([[30; 12], [10; 12]].concat()));
    fs::write(folder.path().join("rose/1.png"), "damaged").unwrap();
    let error = pipeline.epoch(0).unwrap().find_map(Result::err).unwrap().to_string();
    assert!(error.contains("rose/1.png: "), "{error}");
}

#[test]
fn a_stale_index_is_refused() {
    let (_folder, paths) = shards(&[3], Compression::None);
    fs::write(index_path(&paths[0]), "0 20\n").unwrap();
    assert!(Pipeline::open(&paths, options()).is_err());
}

#[test]
fn an_epoch_can_be_left_early() {
    let (_folder, paths) = shards(&[60], Compression::None);
    let pipeline = Pipeline::open(&paths, PipelineOptions { threads: 3, ..options() }).unwrap();
    let mut epoch = pipeline.epoch(0).unwrap();
    assert_eq!(epoch.batches(), 15);
    epoch.next().unwrap().unwrap();
    drop(epoch);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_number_of_threads_gives_the_same_batches(
        sizes in prop::collection::vec(0..12_usize, 1..5), threads in 2..5_usize,
        prefetch in 1..5_usize, batch in 1..9_usize, seed: u64, flip: bool,
    ) {
        prop_assume!(sizes.iter().sum::<usize>() > 0);
        let (_folder, paths) = shards(&sizes, Compression::None);
        let augment = Augment { flip, crop: Some(2), zoom: None, contrast: Some((0.5, 1.5)) };
        let one = PipelineOptions { batch, seed, augment, ..options() };
        let many = PipelineOptions { threads, prefetch, ..one.clone() };
        prop_assert_eq!(epoch(&paths, &one, 2), epoch(&paths, &many, 2));
    }

    #[test]
    fn replicas_share_an_epoch_without_gap_or_repeat(
        sizes in prop::collection::vec(0..12_usize, 1..5), count in 1..5_usize, seed: u64,
    ) {
        let total = sizes.iter().sum::<usize>();
        prop_assume!(total > 0);
        let (_folder, paths) = shards(&sizes, Compression::None);
        let mut all = Vec::new();
        for index in 0..count {
            let replica = Replica { index, count };
            all.extend(labels(&epoch(&paths, &PipelineOptions { seed, replica, ..options() }, 0)));
        }
        all.sort_unstable();
        prop_assert!(all.into_iter().eq(0..total as i64));
    }
}
