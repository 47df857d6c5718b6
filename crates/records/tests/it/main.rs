//! Tests over whole data sets; those that need the full Fashion-MNIST say so when it is missing.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by panicking")]

mod tensorflow;

use std::collections::HashMap;
use std::path::Path;

use trainwright_records::{DEBIAN_FASHION_MNIST, FetchSource, Splits, fetch_fashion_mnist, load};

/// The full set, or a loud note that the test did not run.
fn full_set() -> Option<Splits> {
    match load("fashion-mnist", None) {
        Ok(splits) => Some(splits),
        Err(error) => {
            eprintln!("SKIPPED: {error}");
            None
        }
    }
}

#[test]
fn full_fashion_mnist_has_its_published_counts() {
    let Some(splits) = full_set() else { return };
    assert_eq!((splits.train().len(), splits.test().len()), (60_000, 10_000));
    assert_eq!((splits.train().rows(), splits.train().columns()), (28, 28));
    assert_eq!(splits.train().classes(), 10);
}

#[test]
fn sample_pictures_are_distinct_pictures_of_the_same_part() {
    let Some(full) = full_set() else { return };
    let sample = load("fashion-mnist-sample", None).unwrap();
    for (sample, full) in [(sample.train(), full.train()), (sample.test(), full.test())] {
        let mut left: HashMap<(&[u8], u8), usize> = HashMap::new();
        for index in 0..full.len() {
            *left.entry((full.image(index), full.labels()[index])).or_default() += 1;
        }
        for index in 0..sample.len() {
            let count = left.get_mut(&(sample.image(index), sample.labels()[index])).unwrap();
            *count = count.checked_sub(1).expect("a picture was taken more often than it occurs");
        }
    }
}

#[test]
fn debian_package_can_be_fetched_and_loaded() {
    if !Path::new(DEBIAN_FASHION_MNIST).is_dir() {
        eprintln!("SKIPPED: Debian's dataset-fashion-mnist is not installed");
        return;
    }
    let cache = tempfile::tempdir().unwrap();
    let folder =
        fetch_fashion_mnist(&FetchSource::DebianPackage, cache.path(), &mut |_| {}).unwrap();
    assert_eq!(load("fashion-mnist", Some(cache.path())).unwrap().test().len(), 10_000);
    assert_eq!(load(folder.to_str().unwrap(), None).unwrap().train().len(), 60_000);
}

#[test]
fn mnist_loads_from_the_shared_test_data() {
    let shared = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let shared = std::env::var("TRAINWRIGHT_TEST_DATA").unwrap_or_else(|_| shared.to_owned());
    if !Path::new(&shared).join("mnist").is_dir() {
        eprintln!("SKIPPED: no MNIST in {shared}; set TRAINWRIGHT_TEST_DATA");
        return;
    }
    let splits = load("mnist", Some(Path::new(&shared))).unwrap();
    assert_eq!((splits.train().len(), splits.test().len()), (60_000, 10_000));
}
