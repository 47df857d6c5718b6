//! Sums in the fixed order: every algorithm, transport and number of ranks gives the same bits.

use proptest::prelude::*;
use trainwright_comm::{Algorithm, Group, LeafTree, Order, Pieces, TreeSum};
use trainwright_random::Random;

use crate::lab::{bits, on_each, options, sockets};

const ALGORITHMS: [Algorithm; 4] =
    [Algorithm::Naive, Algorithm::Ring, Algorithm::Tree, Algorithm::Sharded];

/// The definition of the order, word for word, in one process.
fn slow_sum(leaves: &[Vec<f32>]) -> Vec<f32> {
    if let [leaf] = leaves {
        return leaf.clone();
    }
    let mut power = 1;
    while power * 2 < leaves.len() {
        power *= 2;
    }
    let (left, right) = (slow_sum(&leaves[..power]), slow_sum(&leaves[power..]));
    left.iter().zip(&right).map(|(left, right)| left + right).collect()
}

/// Numbers of very different sizes, so that another order of sums shows.
fn leaves(count: usize, length: usize, seed: u64) -> Vec<Vec<f32>> {
    let mut random = Random::new(seed);
    let mut number = || {
        let size = random.below(30) as i32 - 15;
        (random.below(2_000_001) as f32 - 1_000_000.0) * 2_f32.powi(size)
    };
    (0..count).map(|_| (0..length).map(|_| number()).collect()).collect()
}

fn own_sum(group: &Group, tree: LeafTree, leaves: &[Vec<f32>]) -> TreeSum {
    let mut sum = TreeSum::new(tree, group.rank(), group.size(), leaves[0].len());
    while let Some(leaf) = sum.missing().next() {
        sum.add_leaf(|values| values.copy_from_slice(&leaves[leaf]));
    }
    sum
}

/// All ways to the sum of the leaves, by this rank; each must have the bits of the reference.
fn every_way(group: &mut Group, leaves: &[Vec<f32>], align: usize) -> Vec<Vec<u32>> {
    let (tree, length) = (LeafTree::new(leaves.len()), leaves[0].len());
    let sum = own_sum(group, tree, leaves);
    let mut found = Vec::new();
    for algorithm in ALGORITHMS {
        let mut all = vec![f32::NAN; length];
        group.all_reduce_nodes(tree, &sum.nodes(), &mut all, algorithm).unwrap();
        found.push(bits(&all));
    }
    let pieces = Pieces::new(length, group.size(), align);
    let mut all = vec![f32::NAN; length];
    let own = &mut all[pieces.range(group.rank())];
    group.reduce_scatter_nodes(tree, &sum.nodes(), &pieces, own).unwrap();
    group.all_gather(&mut all, &pieces).unwrap();
    found.push(bits(&all));
    if leaves.len() == group.size() {
        for algorithm in ALGORITHMS {
            let mut values = leaves[group.rank()].clone();
            group.all_reduce(&mut values, algorithm, Order::Fixed).unwrap();
            found.push(bits(&values));
        }
    }
    found
}

#[track_caller]
fn check(groups: Vec<Group>, leaves: &[Vec<f32>], align: usize) {
    let expected = bits(&slow_sum(leaves));
    for (rank, ways) in
        on_each(groups, |group| every_way(group, leaves, align)).into_iter().enumerate()
    {
        for (way, found) in ways.into_iter().enumerate() {
            let differing = found.iter().zip(&expected).filter(|(a, b)| a != b).count();
            assert_eq!(differing, 0, "way {way} on rank {rank} differs in {differing} numbers");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn threads_give_the_bits_of_the_definition(
        count in 1_usize..20, ranks in 1_usize..6, length in 0_usize..5000,
        align in 1_usize..1500, seed in any::<u64>(),
    ) {
        check(Group::threads(ranks), &leaves(count, length, seed), align);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn sockets_give_the_bits_of_the_definition(
        count in 1_usize..12, ranks in 2_usize..6, length in 0_usize..60_000,
        align in 1_usize..1500, seed in any::<u64>(),
    ) {
        check(sockets(ranks, &options()), &leaves(count, length, seed), align);
    }
}

#[test]
fn as_many_leaves_as_ranks_need_no_more_bytes_than_a_plain_reduce_scatter() {
    let (ranks, length) = (4, 40_960);
    let traffic = on_each(Group::threads(ranks), |group| {
        let mut values = vec![1.0; length];
        group.all_reduce(&mut values, Algorithm::Sharded, Order::Fixed).unwrap();
        group.traffic()
    });
    for moved in traffic {
        assert_eq!(moved.sent, (2 * 4 * length * (ranks - 1) / ranks) as u64);
        assert_eq!(moved.received, moved.sent);
        assert_eq!(moved.messages, 2 * (ranks as u64 - 1));
    }
}

#[test]
fn the_fast_ring_sums_and_gives_all_ranks_the_same_bits() {
    let all = leaves(5, 7000, 3);
    let found = on_each(Group::threads(5), |group| {
        let mut values = all[group.rank()].clone();
        group.all_reduce(&mut values, Algorithm::Ring, Order::Fast).unwrap();
        values
    });
    for (at, value) in found[0].iter().enumerate() {
        let exact: f64 = all.iter().map(|leaf| f64::from(leaf[at])).sum();
        let size: f64 = all.iter().map(|leaf| f64::from(leaf[at]).abs()).sum();
        // Four additions in f32, each rounded by at most half a unit in the last place.
        assert!((f64::from(*value) - exact).abs() <= 4.0 * size * f64::from(f32::EPSILON) / 2.0);
    }
    assert!(found.iter().all(|values| bits(values) == bits(&found[0])));
}
