//! Collectives against sums made in one place, and calls that cannot be answered.

use proptest::prelude::*;
use trainwright_comm::{Algorithm, CommError, Group, LeafTree, Order, Pieces, Rounding, TopK};

use crate::lab::{bits, on_each};

const ALGORITHMS: [Algorithm; 4] =
    [Algorithm::Naive, Algorithm::Ring, Algorithm::Tree, Algorithm::Sharded];

/// The vectors of all ranks after a sum.
fn summed(all: &[Vec<f32>], algorithm: Algorithm, order: Order) -> Vec<Vec<f32>> {
    on_each(Group::threads(all.len()), |group| {
        let mut values = all[group.rank()].clone();
        group.all_reduce(&mut values, algorithm, order).unwrap();
        values
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whole numbers below 2^24 add up exactly, in whatever order.
    #[test]
    fn every_algorithm_gives_every_rank_the_exact_sum(
        ranks in 1_usize..6, length in 0_usize..4200, seed in 0_u32..1000,
    ) {
        let number = |rank: usize, at: usize| ((seed as usize * 31 + rank * 977 + at * 13) % 4001) as f32 - 2000.0;
        let all: Vec<Vec<f32>> =
            (0..ranks).map(|rank| (0..length).map(|at| number(rank, at)).collect()).collect();
        let expected: Vec<f32> =
            (0..length).map(|at| all.iter().map(|own| own[at]).sum()).collect();
        for algorithm in ALGORITHMS {
            for order in [Order::Fixed, Order::Fast] {
                for found in summed(&all, algorithm, order) {
                    prop_assert_eq!(&found, &expected, "{:?} {:?}", algorithm, order);
                }
            }
        }
    }

    /// Of numbers that round, the fast ring gives all ranks the same bits, near the exact sum.
    #[test]
    fn the_fast_ring_agrees_with_itself(
        values in proptest::collection::vec(-1e3_f32..1e3, 5..200), ranks in 2_usize..5,
    ) {
        let all: Vec<Vec<f32>> =
            (0..ranks).map(|rank| values.iter().map(|own| own * (rank as f32 + 0.3)).collect()).collect();
        let found = summed(&all, Algorithm::Ring, Order::Fast);
        for own in &found {
            prop_assert_eq!(bits(own), bits(&found[0]));
        }
        for (at, found) in found[0].iter().enumerate() {
            let exact: f64 = all.iter().map(|own| f64::from(own[at])).sum();
            let size: f64 = all.iter().map(|own| f64::from(own[at]).abs()).sum();
            // At most four sums, each off by half a unit of 24 bits.
            prop_assert!((f64::from(*found) - exact).abs() <= size * 4.0 / f64::from(1 << 24));
        }
    }
}

#[test]
fn calls_that_cannot_be_answered_say_why_and_leave_the_group_whole() {
    on_each(Group::threads(2), |group| {
        let mut values = [0.0; 4];
        let wrong = group.broadcast(&mut values, 2).unwrap_err();
        assert!(matches!(wrong, CommError::NoSuchRank { rank: 2, size: 2 }), "{wrong}");
        for rank in [group.rank(), 2] {
            let size = 2;
            let is_it = |error: CommError| matches!(error, CommError::NoSuchRank { rank: own, size: all } if own == rank && all == size);
            assert!(is_it(group.send(rank, 1, b"x").unwrap_err()));
            assert!(is_it(group.receive(rank, 1, &mut [0]).unwrap_err()));
            assert!(is_it(group.trade(rank, 1, b"x", &mut [0]).unwrap_err()));
            assert!(is_it(group.ready(&[rank], std::time::Duration::ZERO).unwrap_err()));
        }
        let of_three = Pieces::new(4, 3, 1);
        let told = group.all_gather(&mut values, &of_three).unwrap_err().to_string();
        assert_eq!(told, "pieces, one a rank: got 3, expected 2");
        let shorter = Pieces::new(3, 2, 1);
        let told = group.all_gather(&mut values, &shorter).unwrap_err().to_string();
        assert_eq!(told, "numbers in the vector: got 4, expected 3");
        let tree = LeafTree::new(2);
        let told = group.all_reduce_nodes(tree, &[], &mut values, Algorithm::Sharded).unwrap_err();
        assert_eq!(told.to_string(), "nodes of this rank: got 0, expected 1");
        let short = group.all_reduce_nodes(tree, &[&[1.0]], &mut values, Algorithm::Tree);
        assert_eq!(short.unwrap_err().to_string(), "numbers in a node: got 1, expected 4");
        let told = group.all_reduce_top_k(&mut values, &mut TopK::new(5, 1)).unwrap_err();
        assert_eq!(told.to_string(), "numbers in the vector: got 4, expected 5");
        // All of this was refused before a message, so that all are still in step.
        group.barrier().unwrap();
        assert!(group.check().is_ok());
    });
}

#[test]
fn bytes_are_sent_received_and_traded_between_two_of_three() {
    on_each(Group::threads(3), |group| {
        match group.rank() {
            0 => group.send(2, 7, b"hello").unwrap(),
            1 => {}
            _ => {
                let from = group.ready(&[0], std::time::Duration::from_secs(60)).unwrap();
                assert_eq!(from, Some(0));
                let mut heard = [0; 5];
                group.receive(0, 7, &mut heard).unwrap();
                assert_eq!(&heard, b"hello");
            }
        }
        group.barrier().unwrap();
        if group.rank() < 2 {
            let mut theirs = [0];
            let other = 1 - group.rank();
            group.trade(other, 8, &[group.rank() as u8], &mut theirs).unwrap();
            assert_eq!(usize::from(theirs[0]), other);
        }
        // The others wait for rank 0 and send nothing meanwhile.
        if group.rank() == 0 {
            assert_eq!(group.ready(&[1, 2], std::time::Duration::ZERO).unwrap(), None);
            group.send(1, 9, b"go").unwrap();
            group.send(2, 9, b"go").unwrap();
        } else {
            group.receive(0, 9, &mut [0; 2]).unwrap();
        }
        group.barrier().unwrap();
    });
}

#[test]
fn rounding_keeps_what_is_large_and_tells_what_is_no_number() {
    let rounded = |own: [Vec<f32>; 2], rounding: Rounding| -> Vec<f32> {
        let found = on_each(Group::threads(2), |group| {
            let mut values = own[group.rank()].clone();
            group.all_reduce_rounded(&mut values, rounding).unwrap();
            values
        });
        assert_eq!(bits(&found[0]), bits(&found[1]));
        found[0].clone()
    };
    for rounding in [Rounding::F16, Rounding::Bf16] {
        // Numbers near the end of f32, whose sum can still be written.
        let found = rounded([vec![3e38, 1.0], vec![0.0, 0.0]], rounding);
        assert!((found[0] / 3e38 - 1.0).abs() < 4e-3, "{rounding:?}: {}", found[0]);
        let found = rounded([vec![f32::NAN, 1.0], vec![1.0, 2.0]], rounding);
        assert!(found[0].is_nan() && found[1] == 3.0, "{rounding:?}: {found:?}");
        let found = rounded([vec![f32::INFINITY, 0.0], vec![1.0, 0.0]], rounding);
        assert_eq!(found, [f32::INFINITY, 0.0], "{rounding:?}");
    }
    // Below what f32 writes with all its bits, scaled up for the way.
    let found = rounded([vec![1e-40; 2], vec![2e-40; 2]], Rounding::F16);
    assert!(found.iter().all(|own| (own / 3e-40 - 1.0).abs() < 1e-3), "{found:?}");
    // A rank alone rounds nothing.
    let mut group = Group::threads(1).remove(0);
    let mut values = [0.1, 1e-30];
    group.all_reduce_rounded(&mut values, Rounding::F16).unwrap();
    assert_eq!(values, [0.1, 1e-30]);
}

#[test]
fn of_numbers_as_large_the_earlier_is_sent_and_none_or_all_may_be() {
    let mut group = Group::threads(1).remove(0);
    let mut sent = |count: usize, values: [f32; 4]| {
        let (mut top, mut own) = (TopK::new(4, count), values.to_vec());
        group.all_reduce_top_k(&mut own, &mut top).unwrap();
        (own, top.residual().to_vec())
    };
    let tied = [1.0, -2.0, 2.0, 2.0];
    assert_eq!(sent(2, tied), (vec![0.0, -2.0, 2.0, 0.0], vec![1.0, 0.0, 0.0, 2.0]));
    assert_eq!(sent(0, tied), (vec![0.0; 4], tied.to_vec()));
    assert_eq!(sent(9, tied), (tied.to_vec(), vec![0.0; 4]));
    let mut top = TopK::new(2, 1);
    top.restore(&[0.25, 8.0]);
    let mut values = [1.0, 1.0];
    group.all_reduce_top_k(&mut values, &mut top).unwrap();
    assert_eq!((values, top.residual()), ([0.0, 9.0], &[1.25, 0.0][..]));
}

#[test]
fn pieces_are_cut_and_owned_as_their_ranges_say() {
    let pieces = Pieces::new(10, 3, 2);
    let mut values: Vec<usize> = (0..10).collect();
    let cut: Vec<Vec<usize>> =
        pieces.split_mut(&mut values).iter().map(|own| own.to_vec()).collect();
    for (rank, own) in cut.iter().enumerate() {
        assert_eq!(*own, pieces.range(rank).collect::<Vec<_>>());
    }
    assert_eq!((pieces.ranks(), pieces.length()), (3, 10));
    // More ranks than numbers: some own nothing, and all is owned.
    let many = Pieces::new(3, 7, 1);
    assert_eq!((0..7).map(|rank| many.range(rank).len()).sum::<usize>(), 3);
    assert_eq!(Pieces::new(0, 2, 8).range(1), 0..0);
}
