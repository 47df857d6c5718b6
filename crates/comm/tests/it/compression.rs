//! Sums with fewer bytes.

use trainwright_comm::{Group, Rounding, TopK};
use trainwright_random::Random;

use crate::lab::{bits, on_each, options, sockets};

fn vectors(ranks: usize, length: usize, size: f32) -> Vec<Vec<f32>> {
    let mut random = Random::new(5);
    let mut number = || (random.below(2_000_001) as f32 - 1_000_000.0) * 1e-6 * size;
    (0..ranks).map(|_| (0..length).map(|_| number()).collect()).collect()
}

/// Length of the difference over length of the exact sum.
fn relative_error(found: &[f32], vectors: &[Vec<f32>]) -> f64 {
    let (mut wrong, mut whole) = (0.0, 0.0);
    for (at, found) in found.iter().enumerate() {
        let exact: f64 = vectors.iter().map(|vector| f64::from(vector[at])).sum();
        wrong += (f64::from(*found) - exact).powi(2);
        whole += exact * exact;
    }
    (wrong / whole).sqrt()
}

#[test]
fn rounded_sums_are_near_the_exact_ones_and_take_half_of_the_bytes() {
    let transports: [fn() -> Vec<Group>; 2] = [|| Group::threads(3), || sockets(3, &options())];
    // Gradients of any size: below and above what f16 could write unscaled.
    for size in [1e-9, 1e-3, 1.0, 1e7] {
        let all = vectors(3, 30_720, size);
        for transport in transports {
            check_rounded(transport(), &all, Rounding::F16, 1e-3);
            check_rounded(transport(), &all, Rounding::Bf16, 8e-3);
        }
    }
}

fn check_rounded(groups: Vec<Group>, all: &[Vec<f32>], rounding: Rounding, limit: f64) {
    let found = on_each(groups, |group| {
        let mut values = all[group.rank()].clone();
        group.all_reduce_rounded(&mut values, rounding).unwrap();
        (values, group.traffic().sent)
    });
    let plain = 2 * 4 * all[0].len() as u64 * 2 / 3;
    for (values, sent) in &found {
        let error = relative_error(values, all);
        assert!(error < limit, "{rounding:?}: {error}");
        assert_eq!(bits(values), bits(&found[0].0), "all ranks get the same bits");
        // And the largest number, for the common scale.
        assert!(*sent <= plain / 2 + 8, "{sent} of {plain}");
    }
}

#[test]
fn zeros_and_odd_lengths_survive_rounding() {
    for length in [0, 1, 5, 1025] {
        for found in on_each(sockets(3, &options()), |group| {
            let mut values = vec![0.0; length];
            if let Some(last) = values.last_mut() {
                *last = group.rank() as f32;
            }
            group.all_reduce_rounded(&mut values, Rounding::F16).unwrap();
            values
        }) {
            let mut expected = vec![0.0; length];
            if let Some(last) = expected.last_mut() {
                *last = 3.0;
            }
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn what_top_k_sends_and_keeps_adds_up_to_the_gradient_exactly() {
    let (length, count) = (5000, 50);
    let all = vectors(3, length, 1.0);
    for groups in [Group::threads(3), sockets(3, &options())] {
        let found = on_each(groups, |group| {
            let own = &all[group.rank()];
            let mut top = TopK::new(length, count);
            let mut sum = own.clone();
            group.all_reduce_top_k(&mut sum, &mut top).unwrap();
            let traffic = group.traffic();
            // A number was kept whole, or sent whole.
            let sent: Vec<f32> = own
                .iter()
                .zip(top.residual())
                .map(|(own, kept)| if kept.to_bits() == own.to_bits() { 0.0 } else { *own })
                .collect();
            assert!(own.iter().zip(top.residual()).zip(&sent).all(|((g, r), s)| s + r == *g));
            let least =
                sent.iter().filter(|it| **it != 0.0).fold(9.0, |m: f32, it| m.min(it.abs()));
            assert!(top.residual().iter().all(|kept| kept.abs() <= least), "the largest are sent");
            (sum, sent, traffic.sent)
        });
        for (sum, _, bytes) in &found {
            let expected: Vec<f32> = (0..length)
                .map(|at| found.iter().fold(0.0, |sum, rank| sum + rank.1[at]))
                .collect();
            assert_eq!(bits(sum), bits(&expected));
            // To two others: the length of the message, and eight bytes a number.
            assert_eq!(*bytes, 2 * (8 + 8 * count as u64));
        }
        assert!(found.iter().all(|rank| rank.1.iter().filter(|it| **it != 0.0).count() == count));
    }
}

#[test]
fn what_was_kept_is_sent_once_it_has_grown() {
    let mut group = Group::threads(1).remove(0);
    let mut top = TopK::new(3, 1);
    let mut sent = [0.0; 3];
    for _ in 0..6 {
        let mut values = [1.0, 0.4, 0.25];
        group.all_reduce_top_k(&mut values, &mut top).unwrap();
        sent.iter_mut().zip(values).for_each(|(sent, value)| *sent += value);
    }
    let total: Vec<f32> = sent.iter().zip(top.residual()).map(|(sent, kept)| sent + kept).collect();
    for (total, each) in total.iter().zip([1.0_f32, 0.4, 0.25]) {
        // Five sums of f32 at most.
        assert!((total - 6.0 * each).abs() < 1e-5, "{total}");
    }
    assert!(sent[1] > 0.0, "small numbers come in their turn");
}
