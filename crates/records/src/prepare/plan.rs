//! Which item goes into which shard, and at which place.

use std::fs;
use std::path::Path;

use trainwright_random::Random;

use super::PrepareOptions;
use super::name_hash::hash_name;
use crate::error::RecordsError;
use crate::sources::Source;

/// Most shards of a part: what five digits count.
const MOST_SHARDS: usize = 99_999;
/// Largest side, JPEG's own limit.
const LARGEST_SIDE: usize = 65_500;
/// Size of records that are made in one go. Runs are short, because threads that find no more of
/// them wait for the last ones.
const RUN_BYTES: usize = 1 << 19;
/// Items that are made in one go, however small.
const MOST_ITEMS: usize = 16;

/// Shares of train, validation and test; they are not negative and their sum is 1.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PartShares([f64; 3]);

impl PartShares {
    /// Checks three shares.
    ///
    /// # Errors
    /// When one is negative or the sum is not 1.
    pub fn new(shares: [f64; 3]) -> Result<Self, RecordsError> {
        // Decimal fractions of a few digits add up to 1 within far less than this.
        let sums = (shares.iter().sum::<f64>() - 1.0).abs() < 1e-9;
        if !sums || shares.iter().any(|&share| share.is_nan() || share < 0.0) {
            let value = shares.map(|share| share.to_string()).join(",");
            let expected = "three shares that are not negative and sum to 1";
            return Err(RecordsError::BadOption { option: "--split", value, expected });
        }
        Ok(Self(shares))
    }

    /// The three shares.
    pub fn shares(&self) -> [f64; 3] {
        self.0
    }

    /// The part of an item: it depends on seed and name alone, so that an item stays in its part
    /// when others come or go.
    pub(crate) fn part(&self, seed: u64, name: &str) -> &'static str {
        let at = (hash_name(seed, name.as_bytes()) >> 11) as f64 / (1_u64 << 53) as f64;
        let [train, validation, _] = self.0;
        if at < train {
            "train"
        } else if at < train + validation {
            "validation"
        } else {
            "test"
        }
    }
}

/// The order of all items.
pub(super) struct Plan {
    /// Name of each part (empty for the folder itself), and its items in order.
    pub(super) parts: Vec<(&'static str, Vec<u32>)>,
    pub(super) shards: usize,
}

/// A short stretch of items of one shard.
#[derive(Debug)]
pub(super) struct Run {
    /// Path of the shard below the folder.
    pub(super) shard: String,
    pub(super) items: Vec<u32>,
    /// Whether the shard ends with it.
    pub(super) last: bool,
}

impl Plan {
    pub(super) fn new(source: &Source, options: &PrepareOptions) -> Result<Self, RecordsError> {
        check(source, options)?;
        let names: &[&str] = match (source, options.split) {
            (Source::Idx(_), _) => &["train", "test"],
            (_, Some(_)) => &["train", "validation", "test"],
            (_, None) => &[""],
        };
        let mut parts: Vec<_> = names.iter().map(|&name| (name, Vec::new())).collect();
        for item in 0..source.items() {
            let part = match (source.own_part(item), &options.split) {
                (Some(part), _) => part,
                (None, Some(shares)) => shares.part(options.seed, &source.name(item)),
                (None, None) => "",
            };
            let number = u32::try_from(item).expect("a source of 4 billion items fits no memory");
            let (_, items) = parts
                .iter_mut()
                .find(|(name, _)| *name == part)
                .expect("every part that an item may have is listed above");
            items.push(number);
        }
        for (number, (_, items)) in parts.iter_mut().enumerate() {
            Random::for_purpose(options.seed, &[number as u64]).shuffle(items);
        }
        Ok(Self { parts, shards: options.shards })
    }

    pub(super) fn items(&self) -> usize {
        self.parts.iter().map(|(_, items)| items.len()).sum()
    }

    pub(super) fn create_folders(&self, out: &Path) -> Result<(), RecordsError> {
        for (part, _) in &self.parts {
            let folder = out.join(part);
            fs::create_dir_all(&folder).map_err(|e| RecordsError::from(e).in_file(folder))?;
        }
        Ok(())
    }

    /// Path of a shard below the folder.
    pub(super) fn shard(&self, part: &str, number: usize) -> String {
        let name = format!("data-{number:05}-of-{:05}.tfrecord", self.shards);
        if part.is_empty() { name } else { format!("{part}/{name}") }
    }

    /// Paths of all shards below the folder, in order.
    pub(super) fn shard_names(&self) -> Vec<String> {
        let shards = self.shards;
        let of_part = |part: &'static str| (0..shards).map(move |number| self.shard(part, number));
        self.parts.iter().flat_map(|(part, _)| of_part(part)).collect()
    }

    /// The runs of every shard that is not there yet, shard after shard.
    pub(super) fn runs(
        &self,
        source: &Source,
        options: &PrepareOptions,
        is_there: impl Fn(&str) -> bool,
    ) -> Vec<Run> {
        let length = run_length(source, options);
        let mut runs = Vec::new();
        for (part, items) in &self.parts {
            for number in 0..self.shards {
                let shard = self.shard(part, number);
                if is_there(&shard) {
                    continue;
                }
                let bound = |number: usize| number * items.len() / self.shards;
                let items = &items[bound(number)..bound(number + 1)];
                let run = |items: &[u32]| Run {
                    shard: shard.clone(),
                    items: items.to_vec(),
                    last: false,
                };
                let before = runs.len();
                runs.extend(items.chunks(length).map(run));
                if runs.len() == before {
                    runs.push(run(&[]));
                }
                runs.last_mut().expect("every shard has a run").last = true;
            }
        }
        runs
    }
}

/// How many items are made in one go.
fn run_length(source: &Source, options: &PrepareOptions) -> usize {
    (RUN_BYTES / largest_record(source, options)).clamp(1, MOST_ITEMS)
}

/// How many runs may be in work or wait to be written: enough that one slow picture holds nobody
/// up, unless records are large.
pub(super) fn window(source: &Source, options: &PrepareOptions) -> usize {
    let run = run_length(source, options) * largest_record(source, options);
    (2 * options.threads + 2) * (4 * RUN_BYTES / run).clamp(1, 4)
}

/// Bytes of the pixels of a finished picture; rows of tables are small.
fn largest_record(source: &Source, options: &PrepareOptions) -> usize {
    match source {
        Source::Pictures(_) => 3 * options.size.unwrap_or(super::work::DEFAULT_SIZE).pow(2),
        Source::Idx(set) => options.size.map_or(set.shape().0 * set.shape().1, |size| size.pow(2)),
        Source::Libsvm(_) | Source::Csv(_) => 1 << 10,
    }
}

fn check(source: &Source, options: &PrepareOptions) -> Result<(), RecordsError> {
    let bad = |option, value: &dyn ToString, expected| {
        Err(RecordsError::BadOption { option, value: value.to_string(), expected })
    };
    if !(1..=MOST_SHARDS).contains(&options.shards) {
        return bad("--shards", &options.shards, "from 1 to 99999");
    }
    if options.threads == 0 {
        return bad("--threads", &options.threads, "at least 1");
    }
    match options.size {
        Some(size) if !(1..=LARGEST_SIDE).contains(&size) => {
            return bad("--size", &size, "from 1 to 65500");
        }
        Some(size) if matches!(source, Source::Libsvm(_) | Source::Csv(_)) => {
            return bad("--size", &size, "for tables; leave it out");
        }
        _ => {}
    }
    match options.storage {
        super::Storage::Jpeg(quality) if !(1..=100).contains(&quality) => {
            bad("--quality", &quality, "from 1 to 100")
        }
        _ if options.split.is_some() && matches!(source, Source::Idx(_)) => {
            bad("--split", &"of an IDX set", "possible: it has its own train and test part")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pictures::{Framing, PixelLimit};
    use crate::prepare::{OnCorrupt, Storage};

    #[test]
    fn shares_are_checked() {
        assert!(PartShares::new([0.8, 0.1, 0.1]).is_ok());
        assert!(PartShares::new([0.7, 0.2, 0.2]).is_err());
        assert!(PartShares::new([1.2, -0.1, -0.1]).is_err());
        assert_eq!(
            PartShares::new([f64::NAN, 0.5, 0.5]).unwrap_err().to_string(),
            "--split NaN,0.5,0.5 is not three shares that are not negative and sum to 1"
        );
    }

    #[test]
    fn parts_have_about_their_shares_and_follow_the_name() {
        let shares = PartShares::new([0.8, 0.1, 0.1]).unwrap();
        let parts: Vec<_> = (0..10_000).map(|n| shares.part(7, &format!("a/{n}.jpg"))).collect();
        let count = |part| parts.iter().filter(|&&it| it == part).count();
        // Six standard deviations: 6 * sqrt(10000 * 0.8 * 0.2) = 240, and 180 for the others.
        assert!(count("train").abs_diff(8_000) < 240, "{}", count("train"));
        assert!(count("validation").abs_diff(1_000) < 180, "{}", count("validation"));
        assert_eq!(shares.part(7, "a/5.jpg"), parts[5]);
    }

    /// Sparse rows, as many as asked for.
    fn rows(count: usize) -> Source {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "1 1:1\n".repeat(count)).unwrap();
        Source::open(file.path()).unwrap()
    }

    /// One picture, which nobody reads.
    fn picture() -> Source {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("rose")).unwrap();
        fs::write(folder.path().join("rose/1.png"), "").unwrap();
        Source::open(folder.path()).unwrap()
    }

    /// Two pictures of 1 x 1 to learn from, one to judge by.
    fn idx() -> Source {
        use crate::data_sets::published::{TEST_IMAGES, TEST_LABELS, TRAIN_IMAGES, TRAIN_LABELS};
        let folder = tempfile::tempdir().unwrap();
        for (images, labels, count) in
            [(TRAIN_IMAGES, TRAIN_LABELS, 2_u8), (TEST_IMAGES, TEST_LABELS, 1)]
        {
            let pixels = vec![9; count.into()];
            let header = [0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 1, 0, 0, 0, 1];
            fs::write(folder.path().join(images), [&header[..], &pixels].concat()).unwrap();
            let header = [0, 0, 8, 1, 0, 0, 0, count];
            fs::write(folder.path().join(labels), [&header[..], &pixels].concat()).unwrap();
        }
        Source::open(folder.path()).unwrap()
    }

    fn options() -> PrepareOptions {
        PrepareOptions {
            size: None,
            framing: Framing::Crop,
            storage: Storage::Pixels,
            shards: 2,
            seed: 7,
            split: None,
            threads: 2,
            corrupt: OnCorrupt::Refuse,
            max_pixels: PixelLimit::default(),
        }
    }

    #[test]
    fn a_part_without_a_share_gets_no_item() {
        let named = |shares: [f64; 3]| {
            let shares = PartShares::new(shares).unwrap();
            let parts = (0..2_000).map(|number| shares.part(1, &format!("a/{number}.jpg")));
            parts.collect::<std::collections::BTreeSet<_>>()
        };
        assert!(named([0.5, 0.0, 0.5]).into_iter().eq(["test", "train"]));
        assert!(named([0.0, 1.0, 0.0]).into_iter().eq(["validation"]));
        assert!(named([0.0, 0.0, 1.0]).into_iter().eq(["test"]));
    }

    #[test]
    fn shards_are_named_by_number_and_count_below_their_part() {
        let plan = Plan { parts: Vec::new(), shards: 12 };
        assert_eq!(plan.shard("", 0), "data-00000-of-00012.tfrecord");
        assert_eq!(plan.shard("train", 11), "train/data-00011-of-00012.tfrecord");
    }

    #[test]
    fn a_set_with_parts_of_its_own_keeps_them() {
        let plan = Plan::new(&idx(), &options()).unwrap();
        let parts: Vec<_> = plan.parts.iter().map(|(name, items)| (*name, items.len())).collect();
        assert_eq!(parts, [("train", 2), ("test", 1)]);
        assert_eq!(plan.parts[1].1, [2]);
    }

    #[test]
    fn shards_that_are_there_are_passed_over_and_empty_ones_still_made() {
        let source = rows(1);
        let plan = Plan::new(&source, &PrepareOptions { shards: 3, ..options() }).unwrap();
        let there = plan.shard("", 1);
        let runs = plan.runs(&source, &options(), |shard| shard == there);
        let made: Vec<_> =
            runs.iter().map(|run| (run.shard.as_str(), run.items.len(), run.last)).collect();
        let expected =
            [("data-00000-of-00003.tfrecord", 0, true), ("data-00002-of-00003.tfrecord", 1, true)];
        assert_eq!(made, expected);
    }

    #[test]
    fn large_pictures_are_made_a_few_at_a_time_and_wait_in_a_short_window() {
        let source = picture();
        let found = |size| {
            let options = PrepareOptions { size, ..options() };
            (run_length(&source, &options), window(&source, &options))
        };
        // Half a megabyte holds 4 pictures of 192 x 192 x 3 bytes; there are 2 threads.
        assert_eq!(found(None), (4, 24));
        assert_eq!(found(Some(8)), (16, 24));
        assert_eq!(found(Some(1_000)), (1, 6));
        assert_eq!(found(Some(LARGEST_SIDE)), (1, 6));
        assert_eq!(run_length(&rows(1), &options()), 16);
    }

    #[track_caller]
    fn refused(source: &Source, options: PrepareOptions, message: &str) {
        assert_eq!(Plan::new(source, &options).err().unwrap().to_string(), message);
    }

    #[test]
    fn options_that_do_not_fit_are_named_with_what_would() {
        let (table, picture) = (rows(1), picture());
        let shards = MOST_SHARDS + 1;
        let expected = "--shards 100000 is not from 1 to 99999";
        refused(&table, PrepareOptions { shards, ..options() }, expected);
        let expected = "--threads 0 is not at least 1";
        refused(&table, PrepareOptions { threads: 0, ..options() }, expected);
        let expected = "--size 8 is not for tables; leave it out";
        refused(&table, PrepareOptions { size: Some(8), ..options() }, expected);
        let expected = "--size 65501 is not from 1 to 65500";
        refused(&picture, PrepareOptions { size: Some(65_501), ..options() }, expected);
        let storage = Storage::Jpeg(0);
        let expected = "--quality 0 is not from 1 to 100";
        refused(&picture, PrepareOptions { storage, ..options() }, expected);
        let split = Some(PartShares::new([0.8, 0.1, 0.1]).unwrap());
        let expected = "--split of an IDX set is not possible: it has its own train and test part";
        refused(&idx(), PrepareOptions { split, ..options() }, expected);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn every_item_is_made_once_in_shards_of_about_one_size(
            count in 1..120_usize, shards in 1..9_usize, seed: u64, split: bool,
        ) {
            let source = rows(count);
            let split = split.then(|| PartShares::new([0.5, 0.25, 0.25]).unwrap());
            let options = PrepareOptions { shards, seed, split, ..options() };
            let plan = Plan::new(&source, &options).unwrap();
            prop_assert_eq!(plan.items(), count);
            let runs = plan.runs(&source, &options, |_| false);
            let mut all: Vec<u32> = runs.iter().flat_map(|run| run.items.clone()).collect();
            all.sort_unstable();
            prop_assert!(all.into_iter().eq(0..count as u32));
            prop_assert!(runs.iter().all(|run| run.items.len() <= MOST_ITEMS));
            // The runs of a shard lie together and the last of them, and no other, ends it.
            let made: Vec<&[Run]> = runs.split_inclusive(|run| run.last).collect();
            prop_assert_eq!(made.len(), shards * plan.parts.len());
            for (part, made) in plan.parts.iter().zip(made.chunks(shards)) {
                let expected = (0..shards).map(|number| plan.shard(part.0, number));
                prop_assert!(made.iter().map(|runs| runs[0].shard.clone()).eq(expected));
                let one = |runs: &&[Run]| runs.iter().all(|run| run.shard == runs[0].shard);
                prop_assert!(made.iter().all(one));
                let sizes = made.iter().map(|it| it.iter().map(|run| run.items.len()).sum());
                let sizes: Vec<usize> = sizes.collect();
                let (low, high) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
                prop_assert!(high - low <= 1, "{:?}", sizes);
            }
        }
    }
}
