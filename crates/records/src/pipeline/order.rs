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
}
