//! The order of one epoch: which records, and when.

use trainwright_random::Random;

use super::PipelineOptions;

/// Purposes of random streams, so that none repeats another.
const SHARDS: u64 = 1;
const BUFFER: u64 = 2;

/// Record numbers in the order in which this replica gives them.
///
/// Shards come in a random order; `interleave` of them are open at a time and give a record each
/// in turn. Of that sequence, the same for all replicas, each takes every `count`-th record, so
/// together they take every record once. A buffer then mixes what is near.
pub(super) fn epoch_order(starts: &[usize], options: &PipelineOptions, epoch: u64) -> Vec<u32> {
    let replica = options.replica;
    let own = interleaved(starts, options, epoch).skip(replica.index).step_by(replica.count);
    shuffled(own, options, epoch)
}

fn interleaved(
    starts: &[usize],
    options: &PipelineOptions,
    epoch: u64,
) -> impl Iterator<Item = u32> {
    let mut shards: Vec<_> = starts.windows(2).map(|pair| pair[0]..pair[1]).collect();
    if options.shuffle > 1 {
        Random::for_purpose(options.seed, &[epoch, SHARDS]).shuffle(&mut shards);
    }
    let mut waiting = shards.into_iter();
    let mut open: Vec<_> = waiting.by_ref().take(options.interleave).collect();
    let mut turn = 0;
    std::iter::from_fn(move || {
        loop {
            if open.is_empty() {
                return None;
            }
            turn %= open.len();
            if let Some(record) = open[turn].next() {
                turn += 1;
                return Some(u32::try_from(record).expect("4 billion records fit no memory"));
            }
            match waiting.next() {
                Some(shard) => open[turn] = shard,
                None => drop(open.remove(turn)),
            }
        }
    })
}

/// Gives a random one of the buffer and puts the next record in its place.
fn shuffled(records: impl Iterator<Item = u32>, options: &PipelineOptions, epoch: u64) -> Vec<u32> {
    if options.shuffle == 1 {
        return records.collect();
    }
    let replica = options.replica.index as u64;
    let mut random = Random::for_purpose(options.seed, &[epoch, BUFFER, replica]);
    let (mut buffer, mut order) = (Vec::with_capacity(options.shuffle.min(1 << 16)), Vec::new());
    for record in records {
        if buffer.len() < options.shuffle {
            buffer.push(record);
        } else {
            let place = random.index(buffer.len());
            order.push(std::mem::replace(&mut buffer[place], record));
        }
    }
    random.shuffle(&mut buffer);
    order.extend(buffer);
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Replica;
    use super::*;

    #[test]
    fn shards_are_read_in_turn_when_nothing_is_shuffled() {
        let options = PipelineOptions { shuffle: 1, interleave: 2, ..PipelineOptions::default() };
        // Shards 0..3, 3..4 and 4..6: the second ends first and the third takes its place.
        assert_eq!(epoch_order(&[0, 3, 4, 6], &options, 0), [0, 3, 1, 4, 2, 5]);
    }

    proptest! {
        #[test]
        fn every_record_comes_once_an_epoch_over_all_replicas(
            sizes in prop::collection::vec(0..20_usize, 1..6),
            shuffle in 1..50_usize, interleave in 1..5_usize, count in 1..5_usize,
            seed: u64, epoch in 0..3_u64,
        ) {
            let mut starts = vec![0];
            sizes.iter().for_each(|size| starts.push(starts.last().unwrap() + size));
            let total = *starts.last().unwrap() as u32;
            let mut all = Vec::new();
            for index in 0..count {
                let replica = Replica { index, count };
                let options =
                    PipelineOptions { shuffle, interleave, seed, replica, ..Default::default() };
                let own = epoch_order(&starts, &options, epoch);
                prop_assert!(own.len().abs_diff(total as usize / count) <= 1);
                all.extend(own);
            }
            all.sort_unstable();
            prop_assert!(all.into_iter().eq(0..total));
        }
    }

    fn plain(interleave: usize) -> PipelineOptions {
        PipelineOptions { shuffle: 1, interleave, ..PipelineOptions::default() }
    }

    #[test]
    fn one_shard_at_a_time_is_the_order_of_the_files() {
        assert!(epoch_order(&[0, 3, 3, 7], &plain(1), 5).into_iter().eq(0..7));
        assert_eq!(epoch_order(&[0], &plain(1), 5), [0; 0]);
    }

    #[test]
    fn more_turns_than_shards_are_no_more_than_all_shards() {
        // Shards 0..1, 1..4 and 4..6, the first of which ends first.
        let expected = [0, 1, 4, 2, 5, 3];
        assert_eq!(epoch_order(&[0, 1, 4, 6], &plain(3), 0), expected);
        assert_eq!(epoch_order(&[0, 1, 4, 6], &plain(99), 0), expected);
    }

    #[test]
    fn replicas_take_turns_in_one_common_sequence() {
        let own = |index| {
            let replica = Replica { index, count: 3 };
            epoch_order(&[0, 4, 8], &PipelineOptions { replica, ..plain(2) }, 0)
        };
        // The sequence of all is 0 4 1 5 2 6 3 7.
        assert_eq!([own(0), own(1), own(2)], [vec![0, 5, 3], vec![4, 2, 7], vec![1, 6]]);
    }

    proptest! {
        #[test]
        fn a_buffer_brings_no_record_forward_by_more_than_its_size(
            records in 1..200_usize, shuffle in 2..40_usize, seed: u64,
        ) {
            let options = PipelineOptions { shuffle, seed, ..PipelineOptions::default() };
            // In a single shard a record's number is its place before the shuffle.
            let order = epoch_order(&[0, records], &options, 0);
            for (place, &record) in order.iter().enumerate() {
                prop_assert!((record as usize) < place + shuffle, "{:?}", order);
            }
        }

        #[test]
        fn a_buffer_for_all_records_can_bring_any_first(records in 2..6_usize) {
            let first = |seed| {
                let options = PipelineOptions { shuffle: 64, seed, ..PipelineOptions::default() };
                epoch_order(&[0, records], &options, 0)[0]
            };
            let firsts: std::collections::BTreeSet<u32> = (0..200).map(first).collect();
            // Of 200 draws one of 5 is missed with a chance of (4/5)^200, less than 1e-19.
            prop_assert_eq!(firsts.len(), records);
        }
    }
}
