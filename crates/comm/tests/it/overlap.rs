//! Sums beside a backward pass.

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use trainwright_comm::{Algorithm, Buckets, CommError, Group, Order};

use crate::lab::{on_each, options, sockets};

const TENSORS: [usize; 5] = [4000, 100, 9000, 10, 3000];

/// Fills the vector from its end, tensor by tensor, as a backward pass does.
fn backward(group: &mut Group, buckets: &Buckets, values: &mut [f32]) -> Result<(), CommError> {
    let rank = group.rank() as f32;
    let reduce = |group: &mut Group, bucket: &mut [f32]| {
        group.all_reduce(bucket, Algorithm::Sharded, Order::Fixed)
    };
    let (_, _) = group.overlapped(buckets, values, reduce, |unfinished| {
        let mut end: usize = TENSORS.iter().sum();
        for tensor in TENSORS.iter().rev() {
            let start = end - tensor;
            for (at, value) in unfinished.values()[start..end].iter_mut().enumerate() {
                *value = (start + at) as f32 + rank;
            }
            unfinished.finished_from(start);
            end = start;
        }
    })?;
    Ok(())
}

#[test]
fn overlapped_sums_are_those_of_the_whole_vector() {
    let length: usize = TENSORS.iter().sum();
    for (bytes, first) in [(0, 0), (20_000, 1000), (1 << 20, 1 << 20)] {
        let buckets = Buckets::new(&TENSORS, bytes, first);
        for groups in [Group::threads(3), sockets(3, &options())] {
            for found in on_each(groups, |group| {
                let mut values = vec![f32::NAN; length];
                backward(group, &buckets, &mut values).unwrap();
                values
            }) {
                let expected = (0..length).map(|at| 3.0 * at as f32 + 3.0);
                assert!(found.iter().copied().eq(expected), "{bytes} bytes");
            }
        }
    }
}

#[test]
fn time_beside_the_backward_pass_is_hidden_and_time_after_it_exposed() {
    let buckets = Buckets::new(&[10, 10], 0, 0);
    let mut group = Group::threads(1).remove(0);
    let (mut took, (tell, hear)) = (Vec::new(), channel());
    let sum = |_: &mut Group, _: &mut [f32]| {
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(5) {}
        took.push(start.elapsed());
        tell.send(()).unwrap();
        Ok(())
    };
    // The backward pass lasts until the first bucket is added up; the second one comes after it.
    let (_, times) = group
        .overlapped(&buckets, &mut [0.0; 20], sum, |unfinished| {
            unfinished.finished_from(10);
            hear.recv().unwrap();
        })
        .unwrap();
    assert!(times.exposed >= took[1], "{times:?}, {took:?}");
    assert!(times.hidden >= took[0], "{times:?}, {took:?}");
}

#[test]
fn a_rank_lost_during_the_backward_pass_ends_it_with_an_error() {
    let buckets = Buckets::new(&TENSORS, 0, 0);
    let length = TENSORS.iter().sum();
    for groups in [Group::threads(3), sockets(3, &options())] {
        let ends = on_each(groups, |group| {
            (group.rank() != 1).then(|| backward(group, &buckets, &mut vec![0.0; length]))
        });
        for end in ends.into_iter().flatten() {
            assert!(matches!(end, Err(CommError::PeerLost { rank: 1, .. })), "{end:?}");
        }
    }
}
