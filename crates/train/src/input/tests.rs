//! Pictures from memory and from a stream: the same numbers, whatever is asked for and when.

use std::fs;

use serde_json::json;
use trainwright_records::pictures::{Framing, Picture, encode_png};
use trainwright_records::prepare::{OnCorrupt, PartShares, PrepareOptions, Storage, prepare};
use trainwright_records::sources;

use super::*;
use crate::learners::fake::fake_job;

/// Pictures that a set has to learn from and to be judged by.
const COUNTS: (usize, usize) = (20, 5);

/// Prepared shards of grey-blue pictures, each with its own brightness.
fn shards() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..COUNTS.0 + COUNTS.1 {
        let pixels = (0..4 * 4 * 3).map(|at| (number * 9 + at % 3) as u8).collect();
        let picture = Picture { rows: 4, columns: 4, channels: 3, pixels };
        let class = folder.path().join(["pictures/a", "pictures/b"][number % 2]);
        fs::create_dir_all(&class).unwrap();
        fs::write(class.join(format!("{number}.png")), encode_png(&picture).unwrap()).unwrap();
    }
    let options = PrepareOptions {
        size: Some(4),
        framing: Framing::Crop,
        storage: Storage::Pixels,
        shards: 2,
        seed: 1,
        split: Some(PartShares::new([0.8, 0.0, 0.2]).unwrap()),
        threads: 1,
        max_pixels: trainwright_records::pictures::PixelLimit::default(),
        corrupt: OnCorrupt::Refuse,
    };
    let source = sources::Source::open(&folder.path().join("pictures")).unwrap();
    prepare(source, &folder.path().join("shards"), &options, &mut |_| ()).unwrap();
    folder
}

fn open(folder: &tempfile::TempDir, keys: serde_json::Value) -> Pictures {
    let mut all = json!({ "data": folder.path().join("shards"), "batch": 6 });
    all.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
    Pictures::open(&fake_job(all), None).unwrap()
}

fn network() -> Network {
    Network::perceptron(4 * 4 * 3, &[], 2).unwrap()
}

/// The first pixel of each picture of a batch and its class, as the pictures were made.
fn told(batch: Batch<'_>) -> Vec<(u8, u32)> {
    let pixels = batch.inputs.chunks(48).map(|picture| (picture[0] * 255.0).round() as u8);
    pixels.zip(batch.labels.iter().copied()).collect()
}

#[test]
fn a_prepared_set_is_streamed_with_its_shape_and_parts() {
    let folder = shards();
    let pictures = open(&folder, json!({}));
    assert!(matches!(pictures.data, PictureData::Streamed(_)));
    assert_eq!((pictures.shape(), pictures.classes()), ([4, 4, 3], 2));
    let counts = (pictures.len(SetPart::Train), pictures.len(SetPart::Test));
    assert_eq!(counts.0 + counts.1, COUNTS.0 + COUNTS.1);
    assert_eq!(pictures.highest_pixel(SetPart::Train), None, "nothing is read before it is needed");
    assert_eq!(open(&folder, json!({ "augment": "crop:2" })).input_shape(), [2, 2, 3]);
}

#[test]
fn an_epoch_has_each_picture_of_the_pool_once() {
    let folder = shards();
    let pictures = open(&folder, json!({}));
    let all: Vec<u32> = (0..).take(pictures.len(SetPart::Train)).collect();
    let sorted = |mut order: Vec<u32>| {
        order.sort_unstable();
        order
    };
    let seed = Seed::new(1);
    assert_eq!(sorted(pictures.order(1, seed, &all)), all);
    assert_ne!(pictures.order(1, seed, &all), pictures.order(2, seed, &all));
    let pool = [1, 3, 5, 8];
    assert_eq!(sorted(pictures.order(1, seed, &pool)), pool, "the held-out ones do not come");
}

#[test]
fn batches_of_any_sizes_are_the_pictures_that_were_asked_for() {
    let folder = shards();
    let pictures = open(&folder, json!({}));
    let network = network();
    let mut team = Team::new(1).unwrap();
    let all: Vec<u32> = (0..).take(pictures.len(SetPart::Train)).collect();
    let mut one_by_one = Vec::new();
    let mut feed = pictures.feed(SetPart::Train, 1, &network).unwrap();
    for &number in &all {
        feed.foretell(&[number], 0, &Vec::new, PictureUse::Judging).unwrap();
        one_by_one.extend(told(feed.batch(&[number], View::Judged, &mut team).unwrap()));
    }
    for size in [1, 5, 6, 7, 20] {
        let mut feed = pictures.feed(SetPart::Train, size, &network).unwrap();
        let mut given = Vec::new();
        for start in (0..all.len()).step_by(size) {
            let (now, next) = all[start..].split_at(size.min(all.len() - start));
            feed.foretell(now, next.len(), &|| next.to_vec(), PictureUse::Judging).unwrap();
            given.extend(told(feed.batch(now, View::Judged, &mut team).unwrap()));
        }
        assert_eq!(given, one_by_one, "batches of {size}");
    }
    let brightness: std::collections::BTreeSet<u8> = one_by_one.iter().map(|it| it.0).collect();
    assert_eq!(brightness.len(), all.len(), "no picture comes for another");
}

#[test]
fn a_change_of_mind_is_followed_at_the_next_step() {
    let folder = shards();
    let pictures = open(&folder, json!({}));
    let network = network();
    let mut team = Team::new(1).unwrap();
    let mut take = |feed: &mut Feed<'_>, now: &[u32], next: &[u32]| {
        feed.foretell(now, next.len(), &|| next.to_vec(), PictureUse::Judging).unwrap();
        told(feed.batch(now, View::Judged, &mut team).unwrap())
    };
    let mut feed = pictures.feed(SetPart::Train, 4, &network).unwrap();
    let expected = take(&mut feed, &[9, 2, 4, 11], &[]);
    let mut feed = pictures.feed(SetPart::Train, 4, &network).unwrap();
    take(&mut feed, &[0, 1], &[2, 3, 4, 5]);
    // Of the same length as what was foretold, but other pictures.
    assert_eq!(take(&mut feed, &[9, 2], &[4, 11]), expected[..2]);
    assert_eq!(take(&mut feed, &[4, 11], &[]), expected[2..]);
    assert!(feed.waited() > Duration::ZERO);
}

#[test]
fn memory_and_stream_give_the_same_numbers() {
    let images =
        LabelledImages::with_channels((0..96).collect(), [4, 4, 3], vec![0, 1], 2).unwrap();
    let network = network();
    let mut buffer = BatchBuffer::new(&images, Augmentation::default(), 2, &network).unwrap();
    let mut team = Team::new(1).unwrap();
    let from_memory = told(buffer.gather(&[1, 0], View::Judged, &mut team));
    assert_eq!(from_memory, [(48, 1), (0, 0)]);
    let folder = shards();
    let pictures = open(&folder, json!({}));
    let mut feed = pictures.feed(SetPart::Test, 1, &network).unwrap();
    feed.foretell(&[0], 0, &Vec::new, PictureUse::Judging).unwrap();
    let batch = feed.batch(&[0], View::Judged, &mut team).unwrap();
    // Three channels that rise by one, and every place alike.
    let rises = |pixel: &[f32]| ((pixel[2] - pixel[0]) * 255.0).round() == 2.0;
    assert!(batch.inputs.chunks(3).all(rises), "{:?}", batch.inputs);
}
