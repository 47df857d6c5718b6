//! From a folder of pictures to checked shards.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::pictures::Picture;
use crate::program::{Dice, Lab};
use crate::record_files;

/// Pictures of two classes with something to see in them; every third is a PNG.
fn with_pictures(lab: &Lab, count: usize, (rows, columns): (usize, usize)) {
    for number in 0..count {
        let shade = |at: usize| {
            let (row, column) = (at / columns, at % columns);
            let wave = (row * (number + 3) / 7) ^ (column * (number + 5) / 9);
            [wave as u8, (row + number) as u8, (column * 2) as u8]
        };
        let pixels = (0..rows * columns).flat_map(shade).collect();
        let picture = Picture { rows, columns, pixels };
        let class = ["rose", "tulip"][number % 2];
        if number % 3 == 0 {
            lab.write(&format!("photos/{class}/{number}.png"), picture.png());
        } else {
            lab.write(&format!("photos/{class}/{number}.jpg"), picture.jpeg());
        }
    }
}

fn prepare<'a>(out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let words = ["data", "prepare", "photos", "--out", out, "--size", "32", "--shards", "4"];
    words.into_iter().chain(more.iter().copied()).collect()
}

/// Every file below a folder with its content.
fn content(root: &Path, folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            content(root, &path, found);
        } else {
            found.insert(path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap());
        }
    }
}

/// The shards directly in a folder, which may not be there yet.
fn shards_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|ending| ending == "tfrecord"));
    found.sort();
    found
}

fn examples(file: &Value) -> Vec<Value> {
    file["first"].as_array().unwrap().clone()
}

fn files(lab: &Lab, folder: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    content(&lab.path(folder), &lab.path(folder), &mut found);
    found
}

#[test]
fn pictures_become_shards_that_verify_and_inspect() {
    let lab = Lab::new();
    with_pictures(&lab, 20, (40, 60));
    let made = lab.json(&prepare("shards", &["--json", "--threads", "2"]));
    assert_eq!(
        (made["schema"].as_str(), made["records"].as_u64()),
        (Some("trainwright/data-prepare/1"), Some(20))
    );
    assert_eq!(made["classes"], serde_json::json!(["rose", "tulip"]));
    let shards = shards_in(&lab.path("shards"));
    let records = |path: &PathBuf| record_files::read(&fs::read(path).unwrap()).len();
    assert_eq!(shards.iter().map(records).collect::<Vec<_>>(), [5; 4]);
    let seen = lab.json(&["data", "inspect", "shards", "--show", "5", "--json"]);
    for example in seen["files"].as_array().unwrap().iter().flat_map(examples) {
        assert_eq!(example["image/width"], "32", "{example}");
        let class = if example["label"] == "0" { "rose/" } else { "tulip/" };
        assert!(example["image/name"].as_str().unwrap().contains(class), "{example}");
    }
    let verdict = lab.json(&["data", "verify", "shards", "--json"]);
    assert_eq!(verdict["damaged_files"], 0);
    let seen = lab.json(&["data", "inspect", "shards/data-00000-of-00004.tfrecord", "--json"]);
    assert_eq!(seen["files"][0]["features"]["image/encoded"]["kind"], "bytes");
    let text = lab.expect(0, &["data", "inspect", "shards"]).stdout;
    assert!(text.contains("label: ints, 1 value, in 5 examples"), "{text}");
    // Running it again finds everything done; other options are refused.
    lab.expect(0, &prepare("shards", &[]));
    let end = lab.expect(2, &prepare("shards", &["--seed", "2"]));
    end.says(&["--seed: was 1, is 2"]);
}

#[test]
fn threads_do_not_change_a_byte_and_splits_have_folders() {
    let lab = Lab::new();
    with_pictures(&lab, 24, (40, 60));
    let split = ["--split", "0.5,0.25,0.25", "--pixels", "--fit", "--threads"];
    for (out, threads) in [("one", "1"), ("three", "3")] {
        lab.expect(0, &prepare(out, &[&split[..], &[threads]].concat()));
    }
    let one = files(&lab, "one");
    assert!(one == files(&lab, "three"));
    for part in ["train", "validation", "test"] {
        let shards = one.keys().filter(|path| path.starts_with(part));
        let shards = shards.filter(|path| path.extension().is_some_and(|it| it == "tfrecord"));
        assert_eq!(shards.count(), 4, "{part}");
    }
    lab.expect(2, &prepare("other", &["--split", "0.5,0.5,0.5"]))
        .says(&["--split 0.5,0.5,0.5 is not three shares that are not negative and sum to 1"]);
}

#[test]
fn corrupt_pictures_fail_the_run_unless_they_are_skipped() {
    let lab = Lab::new();
    with_pictures(&lab, 10, (40, 60));
    lab.write("photos/rose/0.png", "nonsense");
    let whole = fs::read(lab.path("photos/tulip/1.jpg")).unwrap();
    lab.write("photos/tulip/1.jpg", &whole[..whole.len() / 2]);
    let end = lab.expect(2, &prepare("shards", &[]));
    end.says(&["2 of the pictures cannot be used", "rose/0.png", "tulip/1.jpg", "--skip-corrupt"]);
    let made = lab.json(&prepare("shards", &["--skip-corrupt", "--json"]));
    assert_eq!((made["records"].as_u64(), made["corrupt"].as_array().unwrap().len()), (Some(8), 2));
    assert_eq!(made["corrupt"][0]["name"], "rose/0.png");
}

#[test]
fn every_damage_is_reported_with_exit_code_1() {
    let lab = Lab::new();
    let path = lab.path("a.tfrecord");
    let records: Vec<Vec<u8>> = (0..5).map(|number| vec![number; 100]).collect();
    let mut bytes = record_files::written(&records);
    bytes[50] ^= 1;
    bytes[300] ^= 1;
    bytes.truncate(500);
    fs::write(&path, bytes).unwrap();
    let end = lab.expect(1, &["data", "verify", "a.tfrecord", "--json"]);
    let verdict: Value = serde_json::from_str(&end.stdout).unwrap();
    let damages = verdict["files"][0]["damages"].as_array().unwrap();
    let found: Vec<_> = damages
        .iter()
        .map(|it| (it["kind"].as_str().unwrap(), it["record"].as_u64().unwrap()))
        .collect();
    assert_eq!(found, [("data", 0), ("data", 2), ("truncated", 4)]);
    let text = lab.expect(1, &["data", "verify", "a.tfrecord"]).stdout;
    assert!(text.contains("record 2 (counting from 0) at byte 232 is damaged"), "{text}");
    lab.expect(2, &["data", "verify", "missing.tfrecord"]).says(&["no file matches"]);
    lab.expect(2, &["data", "prepare", "missing", "--out", "x"]).says(&["cannot read missing"]);
}

#[test]
fn a_set_in_parts_is_verified_from_its_folder_malformed_indexes_and_all() {
    let lab = Lab::new();
    with_pictures(&lab, 24, (40, 60));
    lab.expect(0, &prepare("shards", &["--split", "0.5,0.25,0.25"]));
    let verdict = lab.json(&["data", "verify", "shards/", "--json"]);
    assert_eq!(verdict["files"].as_array().unwrap().len(), 12);
    lab.write("shards/test/data-00001-of-00004.tfrecord.idx", "0 nonsense\n");
    let shard = "shards/train/data-00002-of-00004.tfrecord";
    let mut bytes = fs::read(lab.path(shard)).unwrap();
    bytes[20] ^= 1;
    lab.write(shard, bytes);
    let text = lab.expect(1, &["data", "verify", "shards"]).stdout;
    assert_eq!(text.matches("DAMAGED").count(), 2, "{text}");
    assert!(text.contains("line 1 of the index is `0 nonsense`"), "{text}");
    assert!(lab.expect(0, &["data", "inspect", "shards/validation"]).stdout.contains("label"));
}

#[test]
fn a_pipe_among_the_pictures_is_passed_over_and_named() {
    let lab = Lab::new();
    with_pictures(&lab, 6, (40, 60));
    let made = std::process::Command::new("mkfifo").arg(lab.path("photos/rose/pipe.jpg")).status();
    assert!(made.unwrap().success());
    let text = lab.expect(0, &prepare("shards", &[])).stdout;
    assert!(text.contains("rose/pipe.jpg (no regular file)"), "{text}");
    assert!(text.contains("6 records in 4 shards"), "{text}");
}

#[test]
fn a_class_with_a_line_break_in_its_name_is_refused() {
    let lab = Lab::new();
    with_pictures(&lab, 6, (40, 60));
    fs::rename(lab.path("photos/rose"), lab.path("photos/ro\nse")).unwrap();
    lab.expect(2, &prepare("shards", &[])).says(&["class `ro\\nse` has a line break in its name"]);
}

/// A JPEG file of a few bytes that claims 65,535 x 65,535 pixels.
fn claiming_jpeg() -> Vec<u8> {
    let mut file = Picture { rows: 8, columns: 8, pixels: vec![9; 192] }.jpeg();
    let frame = file.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
    file[frame + 5..frame + 9].fill(0xff);
    file
}

#[test]
fn every_reader_refuses_what_claims_too_many_pixels_by_one_limit() {
    let lab = Lab::new();
    with_pictures(&lab, 6, (40, 60));
    lab.write("photos/rose/bomb.jpg", claiming_jpeg());
    let refused = "claims 65535 x 65535 = 4294836225 pixels, over the limit of 100000000";
    let speedtest = ["data", "speedtest", "photos", "--size", "8", "--repetitions", "2"];
    let train = ["train", "--network", "mlp", "--data", "photos", "--size", "8", "--epochs", "1"];
    for (code, words) in [(2, &prepare("shards", &[])[..]), (2, &speedtest), (3, &train)] {
        lab.expect(code, words).says(&["bomb.jpg", refused, "--max-pixels"]);
    }
    fs::remove_file(lab.path("photos/rose/bomb.jpg")).unwrap();
    lab.expect(2, &prepare("small", &["--max-pixels", "2399"]))
        .says(&["claims 40 x 60 = 2400 pixels, over the limit of 2399"]);
    lab.expect(0, &prepare("enough", &["--max-pixels", "2400"]));
    lab.expect(2, &prepare("none", &["--max-pixels", "0"])).says(&["--max-pixels"]);
}

#[test]
fn a_valid_picture_of_16_million_pixels_is_prepared() {
    let lab = Lab::new();
    let picture = Picture { rows: 4000, columns: 4000, pixels: vec![77; 3 * 4000 * 4000] };
    lab.write("photos/rose/large.png", picture.png());
    let made = lab.json(&prepare("shards", &["--json"]));
    assert_eq!(made["records"], 1);
}

/// Kill -9 at random moments: what is visible is always whole, and the end is the same.
#[test]
fn a_killed_run_goes_on_to_the_same_bytes() {
    let lab = Lab::new();
    with_pictures(&lab, 90, (360, 480));
    let words = ["--threads", "2", "--split", "0.6,0.2,0.2"];
    lab.expect(0, &prepare("whole", &words));
    let mut dice = Dice(11);
    let mut kills = 0;
    loop {
        let mut running = lab.start(&prepare("killed", &words));
        // Longer and longer, so that a slow or busy machine comes to an end too.
        let most = 60_000 * (1 + kills / 50);
        if running.ends_within(Duration::from_micros(dice.below(most))) {
            break;
        }
        running.crash();
        kills += 1;
        for part in ["train", "validation", "test"] {
            let folder = lab.path("killed").join(part);
            for path in shards_in(&folder) {
                let whole = lab.path("whole").join(part).join(path.file_name().unwrap());
                assert!(fs::read(path).unwrap() == fs::read(whole).unwrap());
            }
        }
        assert!(kills < 500, "no progress after {kills} kills");
    }
    lab.expect(0, &prepare("killed", &words));
    assert!(kills > 0, "the run was over before it could be killed");
    assert!(files(&lab, "killed") == files(&lab, "whole"), "after {kills} kills");
}

#[test]
fn the_real_flowers_become_shards() {
    let shared = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let shared = std::env::var("TRAINWRIGHT_TEST_DATA").unwrap_or_else(|_| shared.to_owned());
    let flowers = Path::new(&shared).join("flowers/original");
    if !flowers.is_dir() {
        eprintln!("SKIPPED: no flowers in {shared}; set TRAINWRIGHT_TEST_DATA");
        return;
    }
    let lab = Lab::new();
    let flowers = flowers.to_str().unwrap();
    let made =
        lab.json(&["data", "prepare", flowers, "--out", "shards", "--shards", "4", "--json"]);
    assert_eq!(
        (made["records"].as_u64(), made["corrupt"].as_array().unwrap().len()),
        (Some(200), 0)
    );
    assert_eq!(
        made["classes"],
        serde_json::json!(["daisy", "dandelion", "roses", "sunflowers", "tulips"])
    );
}
