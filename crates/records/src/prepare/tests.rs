use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::messages::example_view::ExampleView;
use crate::pictures::{Picture, encode_png};
use crate::shards::bytes::ShardBytes;
use crate::shards::framing::RecordSlices;

/// A folder of small pictures in two classes, each of its own shade.
fn pictures(count: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..count {
        let pixels = vec![(number * 5) as u8; 3 * 12 * 9];
        let picture = Picture { rows: 12, columns: 9, channels: 3, pixels };
        let class = if number % 3 == 0 { "rose" } else { "tulip" };
        fs::create_dir_all(folder.path().join(class)).unwrap();
        let path = folder.path().join(class).join(format!("{number}.png"));
        fs::write(path, encode_png(&picture).unwrap()).unwrap();
    }
    folder
}

fn options() -> PrepareOptions {
    PrepareOptions {
        size: Some(8),
        framing: Framing::Crop,
        storage: Storage::Pixels,
        shards: 3,
        seed: 7,
        split: None,
        threads: 2,
        corrupt: OnCorrupt::Refuse,
        max_pixels: PixelLimit::default(),
    }
}

fn run(from: &Path, out: &Path, options: &PrepareOptions) -> Result<Prepared, RecordsError> {
    prepare(Source::open(from)?, out, options, &mut |_| {})
}

/// Every file below a folder with its content.
fn content(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(content(&path));
        } else {
            found.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    let below = |(path, bytes): (PathBuf, Vec<u8>)| match path.strip_prefix(folder) {
        Ok(below) => (below.to_owned(), bytes),
        Err(_) => (path, bytes),
    };
    found.into_iter().map(below).collect()
}

/// Labels and names of all records of a folder's shards, in order.
fn records(folder: &Path) -> Vec<(i64, String)> {
    let mut found = Vec::new();
    for path in crate::shard_paths(folder.to_str().unwrap()).unwrap() {
        let bytes = ShardBytes::open(&path).unwrap();
        for record in RecordSlices::new(&bytes) {
            let view = ExampleView::new(record.unwrap());
            let name = String::from_utf8(view.bytes("image/name").unwrap().to_vec()).unwrap();
            found.push((view.int("label").unwrap(), name));
        }
    }
    found
}

#[test]
fn every_picture_is_in_exactly_one_shard_with_its_class() {
    let (from, out) = (pictures(20), tempfile::tempdir().unwrap());
    let prepared = run(from.path(), out.path(), &options()).unwrap();
    assert_eq!((prepared.records, prepared.classes.len()), (20, 2));
    let mut found = records(out.path());
    assert!(found.iter().all(|(label, name)| name.starts_with(["rose", "tulip"][*label as usize])));
    found.sort();
    found.dedup();
    assert_eq!(found.len(), 20);
    let names: Vec<_> = content(out.path()).into_keys().collect();
    assert_eq!(names.len(), 8, "{names:?}");
    assert_eq!(fs::read_to_string(out.path().join("classes.txt")).unwrap(), "rose\ntulip\n");
}

#[test]
fn any_number_of_threads_writes_the_same_bytes() {
    let from = pictures(40);
    let outputs: Vec<_> = [1, 2, 5]
        .into_iter()
        .map(|threads| {
            let out = tempfile::tempdir().unwrap();
            let storage = Storage::Jpeg(95);
            run(from.path(), out.path(), &PrepareOptions { threads, storage, ..options() })
                .unwrap();
            content(out.path())
        })
        .collect();
    assert!(outputs[0] == outputs[1] && outputs[1] == outputs[2]);
}

#[test]
fn another_seed_gives_another_order_of_the_same_pictures() {
    let from = pictures(20);
    let order = |seed| {
        let out = tempfile::tempdir().unwrap();
        run(from.path(), out.path(), &PrepareOptions { seed, ..options() }).unwrap();
        records(out.path())
    };
    let (mut one, mut two) = (order(1), order(2));
    assert_ne!(one, two);
    one.sort();
    two.sort();
    assert_eq!(one, two);
}

/// A folder as a run leaves it that ends before its second of three shards is whole.
fn unfinished(from: &Path, whole: &Path) -> tempfile::TempDir {
    run(from, whole, &options()).unwrap();
    let out = tempfile::tempdir().unwrap();
    let source = Source::open(from).unwrap();
    let Opened::Unfinished(mut keeper) = Keeper::open(out.path(), &source, &options()).unwrap()
    else {
        panic!("an empty folder is not finished");
    };
    for shard in ["data-00000-of-00003.tfrecord", "data-00002-of-00003.tfrecord"] {
        let path = out.path().join(shard);
        let mut writer = ShardWriter::create(&path, Compression::None, IndexFile::Beside).unwrap();
        let bytes = ShardBytes::open(&whole.join(shard)).unwrap();
        RecordSlices::new(&bytes).for_each(|record| writer.write(record.unwrap()).unwrap());
        keeper.keep(shard, Vec::new(), writer).unwrap();
    }
    let half = ".data-00001-of-00003.tfrecord.trainwright-partial";
    fs::write(out.path().join(half), "half").unwrap();
    out
}

#[test]
fn an_unfinished_folder_is_finished_to_the_same_bytes() {
    let (from, whole) = (pictures(20), tempfile::tempdir().unwrap());
    let out = unfinished(from.path(), whole.path());
    let source = Source::open(from.path()).unwrap();
    let mut seen = Vec::new();
    prepare(source, out.path(), &options(), &mut |at| seen.push(at.done)).unwrap();
    // Shards of 6, 7 and 7 pictures, of which the second was missing.
    assert_eq!((seen[0], *seen.last().unwrap()), (13, 20));
    assert!(content(out.path()) == content(whole.path()));
    // And a finished folder is left alone.
    let again = run(from.path(), out.path(), &options()).unwrap();
    assert_eq!(again.records, 20);
}

#[test]
fn a_finished_set_whose_shards_were_cut_or_lost_is_not_called_finished() {
    let (from, out) = (pictures(20), tempfile::tempdir().unwrap());
    run(from.path(), out.path(), &options()).unwrap();
    let shard = out.path().join("data-00001-of-00003.tfrecord");
    let bytes = fs::metadata(&shard).unwrap().len();
    fs::File::options().write(true).open(&shard).unwrap().set_len(bytes - 1).unwrap();
    let error = run(from.path(), out.path(), &options()).unwrap_err().to_string();
    let told = format!("`data-00001-of-00003.tfrecord` has become {} bytes long", bytes - 1);
    assert!(error.contains(&told) && error.contains("prepare it again"), "{error}");
    fs::remove_file(&shard).unwrap();
    let error = run(from.path(), out.path(), &options()).unwrap_err().to_string();
    assert!(error.contains("has gone since, where"), "{error}");
}

#[test]
fn a_finished_shard_that_was_damaged_since_is_made_again() {
    let from = pictures(20);
    let remade = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let whole = tempfile::tempdir().unwrap();
        let out = unfinished(from.path(), whole.path());
        let path = out.path().join(name);
        let mut bytes = fs::read(&path).unwrap();
        change(&mut bytes);
        fs::write(&path, bytes).unwrap();
        let remade = run(from.path(), out.path(), &options()).unwrap().remade;
        assert!(content(out.path()) == content(whole.path()), "{name}");
        remade
    };
    let shard = "data-00002-of-00003.tfrecord";
    assert_eq!(remade(shard, &|_| ()), [""; 0]);
    assert_eq!(remade(shard, &|bytes| bytes[40] ^= 1), [shard]);
    assert_eq!(remade(shard, &|bytes| bytes.truncate(100)), [shard]);
    assert_eq!(remade(shard, &|bytes| bytes.clear()), [shard]);
    assert_eq!(remade(&format!("{shard}.idx"), &|bytes| bytes[0] = b'7'), [shard]);
}

#[test]
fn other_options_or_files_are_refused_with_the_difference() {
    let (from, out) = (pictures(6), tempfile::tempdir().unwrap());
    run(from.path(), out.path(), &options()).unwrap();
    let error = run(from.path(), out.path(), &PrepareOptions { seed: 8, ..options() });
    let message = error.unwrap_err().to_string();
    assert!(message.contains("--seed: was 7, is 8"), "{message}");
    fs::remove_file(from.path().join("rose/0.png")).unwrap();
    let message = run(from.path(), out.path(), &options()).unwrap_err().to_string();
    assert!(message.contains("items: was 6, is 5"), "{message}");
    let stranger = tempfile::tempdir().unwrap();
    fs::write(stranger.path().join("notes.txt"), "mine").unwrap();
    let message = run(from.path(), stranger.path(), &options()).unwrap_err().to_string();
    assert!(message.ends_with("holds `notes.txt` already; choose an empty folder"), "{message}");
}

#[test]
fn corrupt_pictures_are_listed_and_left_out_only_when_asked() {
    let (from, out) = (pictures(9), tempfile::tempdir().unwrap());
    fs::write(from.path().join("rose/0.png"), "nonsense").unwrap();
    let whole = fs::read(from.path().join("tulip/1.png")).unwrap();
    fs::write(from.path().join("tulip/1.png"), &whole[..whole.len() / 2]).unwrap();
    let message = run(from.path(), out.path(), &options()).unwrap_err().to_string();
    assert!(message.starts_with("2 of the pictures cannot be used:\n"), "{message}");
    assert!(message.contains("rose/0.png: neither JPEG nor PNG"), "{message}");
    assert!(message.contains("tulip/1.png: the PNG picture is damaged"), "{message}");
    assert!(!out.path().join("dataset.json").exists());
    let skip = PrepareOptions { corrupt: OnCorrupt::Skip, ..options() };
    let prepared = run(from.path(), out.path(), &skip).unwrap();
    assert_eq!((prepared.records, prepared.corrupt.len()), (7, 2));
    let fresh = tempfile::tempdir().unwrap();
    run(from.path(), fresh.path(), &skip).unwrap();
    assert!(content(out.path()) == content(fresh.path()));
}

#[test]
fn splits_cover_every_picture_once_and_stay_when_pictures_come() {
    let (from, more) = (pictures(30), pictures(31));
    let split = Some(PartShares::new([0.5, 0.25, 0.25]).unwrap());
    let parts = |from: &Path| {
        let out = tempfile::tempdir().unwrap();
        run(from, out.path(), &PrepareOptions { split, ..options() }).unwrap();
        ["train", "validation", "test"].map(|part| {
            let mut found = records(&out.path().join(part));
            found.sort();
            found
        })
    };
    let (few, many) = (parts(from.path()), parts(more.path()));
    assert_eq!(few.iter().map(Vec::len).sum::<usize>(), 30);
    for (few, many) in few.iter().zip(&many) {
        assert!(few.iter().all(|item| many.contains(item)));
    }
}

#[test]
fn more_shards_than_pictures_leaves_empty_shards() {
    let (from, out) = (pictures(2), tempfile::tempdir().unwrap());
    let prepared =
        run(from.path(), out.path(), &PrepareOptions { shards: 5, ..options() }).unwrap();
    assert_eq!(prepared.parts[0].shards.len(), 5);
    assert_eq!(records(out.path()).len(), 2);
}

#[test]
fn tables_and_sparse_rows_become_records_too() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..50).map(|n| format!("{} 1:{n} 9:0.5\n", n % 2 * 2 - 1)).collect();
    fs::write(folder.path().join("rows"), rows).unwrap();
    let table: String = (0..50).map(|n| format!("{n},{}\n", n as f32 / 8.0)).collect();
    fs::write(folder.path().join("t.csv"), format!("a,b\n{table}")).unwrap();
    let plain = PrepareOptions { size: None, ..options() };
    for (name, classes, feature) in [("rows", 2, "indices"), ("t.csv", 0, "a")] {
        let out = folder.path().join(format!("{name}-out"));
        let prepared = run(&folder.path().join(name), &out, &plain).unwrap();
        assert_eq!((prepared.records, prepared.classes.len()), (50, classes));
        let found = crate::inspect(&out.join("data-00000-of-00003.tfrecord"), 0).unwrap();
        assert_eq!(found.features[feature].kind, "ints");
    }
}

#[test]
fn options_out_of_range_are_named() {
    let (from, out) = (pictures(2), tempfile::tempdir().unwrap());
    let fails = |options: PrepareOptions| {
        run(from.path(), &out.path().join("x"), &options).unwrap_err().to_string()
    };
    assert_eq!(
        fails(PrepareOptions { shards: 0, ..options() }),
        "--shards 0 is not from 1 to 99999"
    );
    assert_eq!(
        fails(PrepareOptions { size: Some(0), ..options() }),
        "--size 0 is not from 1 to 65500"
    );
    let storage = Storage::Jpeg(101);
    assert_eq!(
        fails(PrepareOptions { storage, ..options() }),
        "--quality 101 is not from 1 to 100"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn shard_sets_of_any_thread_count_are_equal(
        count in 1..30_usize, shards in 1..6_usize, seed: u64, threads in 2..5_usize,
    ) {
        let from = pictures(count);
        let outputs = [1, threads].map(|threads| {
            let out = tempfile::tempdir().unwrap();
            let options = PrepareOptions { threads, shards, seed, ..options() };
            run(from.path(), out.path(), &options).unwrap();
            content(out.path())
        });
        prop_assert!(outputs[0] == outputs[1]);
    }
}
