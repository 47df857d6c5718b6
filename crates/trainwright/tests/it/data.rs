//! `data prepare`, `inspect`, `verify`, `fetch`.

use std::fs;

use trainwright::records::{Framing, OnCorrupt, PixelLimit, PrepareOptions, Storage};
use trainwright::{FetchRequest, fetch, inspect_data, prepare_data, verify_data};

use crate::lab::{Lab, check_refusal, nowhere};

fn two_shards() -> PrepareOptions {
    PrepareOptions {
        size: None,
        framing: Framing::Fit,
        storage: Storage::Pixels,
        shards: 2,
        seed: 1,
        split: None,
        threads: 1,
        corrupt: OnCorrupt::Refuse,
        max_pixels: PixelLimit::default(),
    }
}

/// A table of ten rows with a label.
fn table(lab: &Lab) -> std::path::PathBuf {
    let rows: String = (0..10).map(|row| format!("{row},{}.5,{}\n", row * row, row % 2)).collect();
    lab.file("rows.csv", format!("x,y,label\n{rows}"))
}

fn patterns(lab: &Lab) -> Vec<String> {
    vec![lab.path("shards").to_str().unwrap().to_owned()]
}

#[test]
fn a_table_becomes_shards_that_are_whole() {
    let lab = Lab::new();
    let out = lab.path("shards");
    let mut told = 0;
    let reply = prepare_data(&table(&lab), &out, &two_shards(), &mut |_| told += 1).unwrap();
    assert_eq!((reply.prepared.records, reply.out.as_path()), (10, out.as_path()));
    assert!(reply.remade.is_empty() && told > 0);
    let verified = verify_data(&patterns(&lab)).unwrap();
    assert_eq!((verified.damaged_files, verified.files.len()), (0, 2));
    assert_eq!(verified.files.iter().map(|file| file.records).sum::<u64>(), 10);
    let inspected = inspect_data(&patterns(&lab), 1).unwrap();
    assert_eq!(inspected.files.iter().map(|file| file.records).sum::<u64>(), 10);
    assert!(inspected.files.iter().all(|file| file.other_records == 0));
}

#[test]
fn prepared_again_a_set_stays_as_it_is() {
    let lab = Lab::new();
    let out = lab.path("shards");
    let source = table(&lab);
    let prepare = |options: &PrepareOptions| prepare_data(&source, &out, options, &mut |_| {});
    assert!(!prepare(&two_shards()).unwrap().prepared.made_before);
    let files: Vec<_> = verify_data(&patterns(&lab)).unwrap().files;
    let before: Vec<Vec<u8>> = files.iter().map(|file| fs::read(&file.path).unwrap()).collect();
    let again = prepare(&two_shards()).unwrap();
    assert!(again.remade.is_empty() && again.prepared.made_before);
    for (file, whole) in files.iter().zip(&before) {
        assert_eq!(&fs::read(&file.path).unwrap(), whole);
    }
    let other = PrepareOptions { seed: 2, ..two_shards() };
    check_refusal(prepare(&other), 2, &["shards", "--seed"]);
}

#[test]
fn a_flipped_bit_is_found_in_its_file() {
    let lab = Lab::new();
    let out = lab.path("shards");
    prepare_data(&table(&lab), &out, &two_shards(), &mut |_| {}).unwrap();
    let path = verify_data(&patterns(&lab)).unwrap().files[1].path.clone();
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, bytes).unwrap();
    let verified = verify_data(&patterns(&lab)).unwrap();
    assert_eq!(verified.damaged_files, 1);
    assert!(verified.files[0].damages.is_empty() && !verified.files[1].damages.is_empty());
}

#[test]
fn what_is_not_there_or_makes_no_sense_is_not_prepared() {
    let lab = Lab::new();
    let out = lab.path("shards");
    let prepare = |source: &std::path::Path, options: PrepareOptions| {
        prepare_data(source, &out, &options, &mut |_| {})
    };
    check_refusal(prepare(nowhere(), two_shards()), 2, &["all.csv"]);
    let none = PrepareOptions { shards: 0, ..two_shards() };
    check_refusal(prepare(&table(&lab), none), 2, &["shards"]);
    check_refusal(verify_data(&["/nowhere/*.tfrecord".to_owned()]), 2, &["/nowhere"]);
    check_refusal(inspect_data(&["/nowhere/*.tfrecord".to_owned()], 1), 2, &["/nowhere"]);
}

#[test]
fn data_are_not_fetched_from_a_folder_that_lacks_them() {
    let lab = Lab::new();
    let request =
        FetchRequest { folder: Some(lab.path("empty")), url: None, into: Some(lab.path("cache")) };
    fs::create_dir(lab.path("empty")).unwrap();
    check_refusal(fetch(&request, &mut |_| {}), 2, &["empty"]);
}
