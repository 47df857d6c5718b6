use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::pictures::{Framing, PixelLimit};
use crate::prepare::{Storage, prepare};

fn options(shards: usize) -> PrepareOptions {
    PrepareOptions {
        size: None,
        framing: Framing::Crop,
        storage: Storage::Pixels,
        shards,
        seed: 7,
        split: None,
        threads: 1,
        corrupt: OnCorrupt::Refuse,
        max_pixels: PixelLimit::default(),
    }
}

fn table(folder: &Path, rows: usize) -> PathBuf {
    let path = folder.join("t.csv");
    let rows: String = (0..rows).map(|row| format!("{row},{}\n", row % 3)).collect();
    fs::write(&path, format!("x,label\n{rows}")).unwrap();
    path
}

fn opened(source: &Path, out: &Path, options: &PrepareOptions) -> Box<SharedPreparation> {
    match SharedPreparation::open(Source::open(source).unwrap(), out, options).unwrap() {
        OpenedShared::Unfinished(own) => own,
        OpenedShared::Finished(_) => panic!("it was finished"),
    }
}

fn maker(
    source: &Path,
    out: &Path,
    of: &SharedPreparation,
    options: &PrepareOptions,
) -> ShardMaker {
    ShardMaker::new(Source::open(source).unwrap(), out, options, &of.pins()).unwrap()
}

/// Every file of a folder and those below, with its bytes.
fn content(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let objects = LocalBucket.list(folder).unwrap();
    let read =
        |path: PathBuf| (path.strip_prefix(folder).unwrap().to_owned(), fs::read(path).unwrap());
    objects.into_iter().map(|object| read(object.address)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whoever makes shards, in whichever order and however often, the set is that of one process.
    #[test]
    fn shards_of_many_makers_are_those_of_one(
        rows in 1..60_usize, shards in 1..6_usize, split: bool, order in any::<u64>(),
    ) {
        let scratch = tempfile::tempdir().unwrap();
        let [whole, out] = ["whole", "out"].map(|name| scratch.path().join(name));
        let source = table(scratch.path(), rows);
        let split = split.then(|| super::super::PartShares::new([0.5, 0.25, 0.25]).unwrap());
        let options = PrepareOptions { split, ..options(shards) };
        prepare(Source::open(&source).unwrap(), &whole, &options, &mut |_| ()).unwrap();
        let mut shared = opened(&source, &out, &options);
        let mut left = shared.left();
        trainwright_random::Random::for_purpose(order, &[1]).shuffle(&mut left);
        let mut makers = [0, 1].map(|_| maker(&source, &out, &shared, &options));
        for (number, shard) in left.iter().enumerate() {
            let own = makers[number % 2].make(shard, &format!("{number}-0")).unwrap();
            // A second attempt at the same shard comes too late, or was never told of.
            let second = makers[(number + 1) % 2].make(shard, &format!("{number}-1")).unwrap();
            shared.take(own).unwrap();
            if number % 2 == 0 {
                shared.take(second).unwrap();
            }
        }
        prop_assert_eq!(shared.progress().done, rows);
        shared.finish().unwrap();
        prop_assert_eq!(content(&out), content(&whole));
    }
}

#[test]
fn a_set_goes_on_with_the_shards_that_were_taken_in() {
    let scratch = tempfile::tempdir().unwrap();
    let (source, out, options) =
        (table(scratch.path(), 30), scratch.path().join("out"), options(4));
    let mut first = opened(&source, &out, &options);
    let mut own = maker(&source, &out, &first, &options);
    let shards = first.left();
    first.take(own.make(&shards[2], "a").unwrap()).unwrap();
    own.make(&shards[3], "killed").unwrap();
    drop(first);
    let second = opened(&source, &out, &options);
    assert_eq!(second.left(), [&*shards[0], &shards[1], &shards[3]]);
    assert!(content(&out).keys().all(|name| !name.to_str().unwrap().contains("killed")));
}

#[test]
fn a_maker_that_sees_other_files_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let (source, out, options) =
        (table(scratch.path(), 30), scratch.path().join("out"), options(4));
    let shared = opened(&source, &out, &options);
    fs::write(&source, "x,label\n1,0\n").unwrap();
    let seen = Source::open(&source).unwrap();
    let refused = ShardMaker::new(seen, &out, &options, &shared.pins()).err().unwrap().to_string();
    assert!(refused.contains("items: was 30, is 1"), "{refused}");
}

#[test]
fn an_object_store_gets_whole_shards_and_a_second_attempt_changes_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let [whole, out, work, tmp] =
        ["whole", "out", "work", "tmp"].map(|name| scratch.path().join(name));
    fs::create_dir(&tmp).unwrap();
    let (source, options) = (table(scratch.path(), 30), options(3));
    prepare(Source::open(&source).unwrap(), &whole, &options, &mut |_| ()).unwrap();
    let mut shared = opened(&source, &work, &options);
    let mut own = maker(&source, &out, &shared, &options);
    for shard in shared.left() {
        own.make_into(&LocalBucket, &shard, &tmp).unwrap();
        let again = own.make_into(&LocalBucket, &shard, &tmp).unwrap();
        shared.take(again).unwrap();
    }
    shared.finish().unwrap();
    let mut both = content(&out);
    both.extend(content(&work));
    assert_eq!(both, content(&whole));
}

#[test]
fn corrupt_pictures_are_refused_with_a_list_when_all_have_been_looked_at() {
    let scratch = tempfile::tempdir().unwrap();
    let (source, out) = (scratch.path().join("photos"), scratch.path().join("out"));
    fs::create_dir_all(source.join("rose")).unwrap();
    fs::write(source.join("rose/1.png"), "no picture").unwrap();
    let options = options(1);
    let mut shared = opened(&source, &out, &options);
    let mut own = maker(&source, &out, &shared, &options);
    let made = own.make(&shared.left()[0], "a").unwrap();
    shared.take(made).unwrap();
    let refused = shared.finish().err().unwrap().to_string();
    assert!(refused.contains("rose/1.png"), "{refused}");
    assert!(content(&out).keys().all(|name| name.extension().is_none_or(|it| it != "tfrecord")));
}
