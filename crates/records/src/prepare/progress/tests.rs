use super::*;
use crate::prepare::{OnCorrupt, PartShares};
use crate::shards::compression::Compression;
use crate::shards::index::index_path;
use crate::shards::writer::IndexFile;

const FIRST: &str = "data-00000-of-00002.tfrecord";
const SECOND: &str = "data-00001-of-00002.tfrecord";

fn options() -> PrepareOptions {
    PrepareOptions {
        size: None,
        framing: Framing::Crop,
        storage: Storage::Pixels,
        shards: 2,
        seed: 7,
        split: None,
        threads: 1,
        corrupt: OnCorrupt::Refuse,
        max_pixels: PixelLimit::default(),
    }
}

/// Sparse rows of two classes, and a folder for their shards that is not there yet.
fn rows() -> (tempfile::TempDir, Source, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows");
    fs::write(&path, "1 1:1\n-1 2:1\n1 3:1\n").unwrap();
    let (source, out) = (Source::open(&path).unwrap(), folder.path().join("out"));
    (folder, source, out)
}

fn begun(out: &Path, source: &Source) -> Keeper {
    match Keeper::open(out, source, &options()).unwrap() {
        Opened::Unfinished(keeper) => keeper,
        Opened::Finished(_) => panic!("nobody has finished it"),
    }
}

fn refused(out: &Path, source: &Source) -> RecordsError {
    Keeper::open(out, source, &options()).err().unwrap()
}

fn shard(out: &Path, name: &str, payloads: &[&[u8]]) -> ShardWriter {
    let path = out.join(name);
    let mut writer = ShardWriter::create(&path, Compression::None, IndexFile::Beside).unwrap();
    payloads.iter().for_each(|payload| writer.write(payload).unwrap());
    writer
}

fn corrupt(name: &str) -> CorruptItem {
    CorruptItem { name: name.to_owned(), problem: "torn".to_owned() }
}

fn line(file: &str, records: u64) -> String {
    format!(r#"{{"file":"{file}","records":{records},"bytes":9,"content":null,"corrupt":[]}}"#)
        + "\n"
}

fn names(noted: &BTreeMap<String, ShardEntry>) -> Vec<(&str, u64)> {
    noted.iter().map(|(name, entry)| (name.as_str(), entry.records)).collect()
}

#[test]
fn a_torn_last_line_of_the_journal_is_cut_off_and_the_next_begins_anew() {
    let mut journal = tempfile::tempfile().unwrap();
    let whole = line("a", 1) + &line("b", 2);
    write!(journal, "{whole}{}", &line("c", 3)[..20]).unwrap();
    journal.rewind().unwrap();
    assert_eq!(names(&read_journal(&mut journal).unwrap()), [("a", 1), ("b", 2)]);
    assert_eq!(journal.metadata().unwrap().len(), whole.len() as u64);
    journal.write_all(line("d", 4).as_bytes()).unwrap();
    journal.rewind().unwrap();
    assert_eq!(names(&read_journal(&mut journal).unwrap()), [("a", 1), ("b", 2), ("d", 4)]);
}

#[test]
fn of_a_shard_that_was_made_again_the_last_line_counts() {
    let mut journal = tempfile::tempfile().unwrap();
    journal.write_all((line("a", 1) + &line("b", 2) + &line("a", 5)).as_bytes()).unwrap();
    journal.rewind().unwrap();
    assert_eq!(names(&read_journal(&mut journal).unwrap()), [("a", 5), ("b", 2)]);
}

#[test]
fn a_whole_line_that_is_no_entry_is_told_with_the_folder() {
    let (_folder, source, out) = rows();
    drop(begun(&out, &source));
    fs::write(out.join(JOURNAL), "nonsense\n").unwrap();
    let message = refused(&out, &source).to_string();
    assert!(message.starts_with(&format!("{}: ", out.display())), "{message}");
}

#[test]
fn what_whole_shards_hold_is_known_after_a_restart() {
    let (_folder, source, out) = rows();
    let mut keeper = begun(&out, &source);
    keeper.keep(FIRST, vec![corrupt("x"), corrupt("y")], shard(&out, FIRST, &[b"one"])).unwrap();
    assert_eq!((keeper.has(FIRST), keeper.has(SECOND), keeper.corrupt()), (true, false, 2));
    drop(keeper);
    let again = begun(&out, &source);
    assert_eq!((again.has(FIRST), again.has(SECOND), again.corrupt()), (true, false, 2));
    assert_eq!(again.remade, [""; 0]);
}

#[test]
fn a_noted_shard_that_never_got_its_name_is_missing_and_not_damaged() {
    let (_folder, source, out) = rows();
    let mut keeper = begun(&out, &source);
    keeper.keep(FIRST, Vec::new(), shard(&out, FIRST, &[b"one"])).unwrap();
    drop(keeper);
    fs::remove_file(out.join(FIRST)).unwrap();
    let again = begun(&out, &source);
    assert!(!again.has(FIRST));
    assert_eq!(again.remade, [""; 0]);
}

#[test]
fn a_shard_without_its_index_or_of_an_earlier_version_is_made_again() {
    for spoil in [
        |out: &Path| fs::remove_file(index_path(&out.join(FIRST))).unwrap(),
        |out: &Path| fs::write(out.join(JOURNAL), line(FIRST, 1)).unwrap(),
    ] {
        let (_folder, source, out) = rows();
        let mut keeper = begun(&out, &source);
        keeper.keep(FIRST, Vec::new(), shard(&out, FIRST, &[b"one"])).unwrap();
        drop(keeper);
        spoil(&out);
        let again = begun(&out, &source);
        assert!(!again.has(FIRST));
        assert_eq!(again.remade, [FIRST]);
    }
}

#[test]
fn two_runs_cannot_write_to_one_folder() {
    let (_folder, source, out) = rows();
    let first = begun(&out, &source);
    let error = refused(&out, &source);
    let expected = format!("another process is writing to {}; wait for it to end", out.display());
    assert_eq!(error.to_string(), expected);
    assert!(!error.is_bad_input());
    drop(first);
    begun(&out, &source);
}

#[test]
fn only_what_a_dead_run_has_left_may_lie_in_a_new_folder() {
    let (_folder, source, out) = rows();
    fs::create_dir(&out).unwrap();
    fs::write(out.join("..prepare.json.trainwright-partial"), "{").unwrap();
    fs::write(out.join(".prepare.journal"), "").unwrap();
    drop(begun(&out, &source));
    fs::remove_file(out.join(PINS)).unwrap();
    fs::write(out.join(FIRST), "of somebody else").unwrap();
    let expected = format!("{} holds `{FIRST}` already; choose an empty folder", out.display());
    assert_eq!(refused(&out, &source).to_string(), expected);
}

#[test]
fn a_finished_set_is_described_whole_and_in_order() {
    let (_folder, source, out) = rows();
    let mut keeper = begun(&out, &source);
    keeper.keep(SECOND, vec![corrupt("b")], shard(&out, SECOND, &[b"three"])).unwrap();
    keeper
        .keep(FIRST, vec![corrupt("c"), corrupt("a")], shard(&out, FIRST, &[b"1", b"22"]))
        .unwrap();
    let prepared = keeper.finish(&source, &Plan::new(&source, &options()).unwrap()).unwrap();
    // Each record has a frame of 16 bytes.
    let shards = [(FIRST, 2, 35), (SECOND, 1, 21)];
    let shards =
        shards.map(|(file, records, bytes)| PreparedShard { file: file.into(), records, bytes });
    let parts = vec![PreparedPart { name: String::new(), shards: shards.to_vec() }];
    assert_eq!((prepared.records, prepared.bytes, &prepared.parts), (3, 56, &parts));
    assert_eq!(prepared.corrupt, ["a", "b", "c"].map(corrupt));
    assert_eq!(fs::read_to_string(out.join(CLASSES)).unwrap(), "-1\n1\n");
    let text: Value = serde_json::from_slice(&fs::read(out.join(DATASET)).unwrap()).unwrap();
    assert_eq!(text["schema"], "trainwright/dataset/1");
    assert_eq!((&text["pins"]["--seed"], &text["records"]), (&json!(7), &json!(3)));
    assert!(!out.join(JOURNAL).exists() && !out.join(PINS).exists());
    // A run that ended between the description and the tidying up left these.
    fs::write(out.join(JOURNAL), "").unwrap();
    fs::write(out.join(PINS), "{}").unwrap();
    let Opened::Finished(again) = Keeper::open(&out, &source, &options()).unwrap() else {
        panic!("it is finished");
    };
    assert_eq!(again, prepared);
    assert!(!out.join(JOURNAL).exists() && !out.join(PINS).exists());
}

#[test]
fn numbers_to_predict_have_no_list_of_classes() {
    let (folder, _, out) = rows();
    let path = folder.path().join("rows");
    fs::write(&path, "0.5 1:1\n1 2:1\n").unwrap();
    let source = Source::open(&path).unwrap();
    let mut keeper = begun(&out, &source);
    keeper.keep(FIRST, Vec::new(), shard(&out, FIRST, &[b"1"])).unwrap();
    keeper.keep(SECOND, Vec::new(), shard(&out, SECOND, &[b"2"])).unwrap();
    keeper.finish(&source, &Plan::new(&source, &options()).unwrap()).unwrap();
    assert!(!out.join(CLASSES).exists());
}

#[test]
fn a_damaged_description_is_told_by_its_name() {
    let (_folder, source, out) = rows();
    fs::create_dir(&out).unwrap();
    fs::write(out.join(DATASET), "{").unwrap();
    let message = refused(&out, &source).to_string();
    assert!(message.starts_with(&format!("{}: ", out.join(DATASET).display())), "{message}");
}

fn map(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

#[test]
fn differences_are_listed_and_an_option_that_is_new_since_is_none() {
    let before = map(json!({"a": 1, "b": "x", "gone": 3}));
    let now = map(json!({"a": 2, "b": "x", "c": [1], "new": null}));
    let message = compare(Path::new("shards"), &before, &now).unwrap_err().to_string();
    assert_eq!(
        message,
        "shards was begun with other options or from other files:\n  a: was 1, is 2\n  c: was \
         null, is [1]\ngo back to those, choose another --out, or delete the folder"
    );
    assert!(compare(Path::new("shards"), &before, &before).is_ok());
}

/// The pins that a change of the options changes.
fn changed(source: &Source, change: impl FnOnce(&mut PrepareOptions)) -> Vec<String> {
    let mut options = options();
    let before = pins(source, &options);
    change(&mut options);
    let now = pins(source, &options);
    now.into_iter().filter(|(key, value)| before[key] != *value).map(|(key, _)| key).collect()
}

#[test]
fn pins_are_what_decides_the_bytes_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("rose")).unwrap();
    fs::write(folder.path().join("rose/1.png"), "never read").unwrap();
    let pictures = Source::open(folder.path()).unwrap();
    assert_eq!(changed(&pictures, |it| it.size = Some(8)), ["--size"]);
    assert_eq!(changed(&pictures, |it| it.framing = Framing::Fit), ["framing"]);
    assert_eq!(changed(&pictures, |it| it.storage = Storage::Jpeg(90)), ["--quality"]);
    assert_eq!(changed(&pictures, |it| it.shards = 3), ["--shards"]);
    assert_eq!(changed(&pictures, |it| it.seed = 8), ["--seed"]);
    let half = PartShares::new([0.5, 0.0, 0.5]).unwrap();
    assert_eq!(changed(&pictures, |it| it.split = Some(half)), ["--split"]);
    let few = PixelLimit::new(9).unwrap();
    assert_eq!(changed(&pictures, |it| it.max_pixels = few), ["--max-pixels"]);
    assert_eq!(changed(&pictures, |it| (it.threads, it.corrupt) = (9, OnCorrupt::Skip)), [""; 0]);
    // A table has no pixels.
    let (_folder, table, _) = rows();
    assert_eq!(changed(&table, |it| it.storage = Storage::Jpeg(90)), [""; 0]);
    assert_eq!(changed(&table, |it| it.max_pixels = few), [""; 0]);
}
