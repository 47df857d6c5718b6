//! Gradients made shorter where they are too long.

use crate::arithmetic::kernels;
use crate::optimizers::update_kernels::add_squares;
use crate::threads::parts::{Cut, Parts};
use crate::threads::team::Team;

/// Numbers whose squares are added up at a time. It is fixed, so that neither the thread count nor
/// cuts between blocks change a bit of a norm.
pub const NORM_BLOCK: usize = 16_384;

/// The sum of the squares of all gradients, the square of their global norm.
pub fn squared_norm(gradients: &[f32], team: &mut Team) -> f64 {
    squares_of_blocks(gradients, team).iter().sum()
}

/// The sum of the squares of each [`NORM_BLOCK`] gradients; their sum is [`squared_norm`].
pub fn squares_of_blocks(gradients: &[f32], team: &mut Team) -> Vec<f64> {
    let mut sums = vec![0.0_f64; gradients.len().div_ceil(NORM_BLOCK)];
    let parts = Parts::new(&mut sums, Cut::Every(1));
    team.run(gradients.len().div_ceil(NORM_BLOCK), &|part| {
        let block = &gradients[part * NORM_BLOCK..gradients.len().min((part + 1) * NORM_BLOCK)];
        let mut lanes = [0.0; 8];
        add_squares(block, &mut lanes);
        parts.take(part)[0] = lanes.iter().sum();
    });
    sums
}

/// Scales gradients, or a part of them, so that a global norm of `norm` becomes at most `limit`
/// (Pascanu, Mikolov and Bengio 2013, algorithm 1).
///
/// As in PyTorch, the factor is `limit / (norm + 1e-6)`. A norm that is not finite changes
/// nothing: the loss of the next step tells of it.
pub fn clip_to_norm(gradients: &mut [f32], norm: f64, limit: f64, team: &mut Team) {
    let factor = limit / (norm + 1e-6);
    if norm.is_finite() && factor < 1.0 {
        let blocks = gradients.len().div_ceil(NORM_BLOCK);
        let parts = Parts::new(gradients, Cut::Every(NORM_BLOCK));
        team.run(blocks, &|part| kernels::scale(parts.take(part), factor as f32));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_norm_is_clipped_to_its_limit_or_left(
            mut gradients in prop::collection::vec(-5.0_f32..5.0, 0..80),
            limit in 0.1_f64..40.0,
        ) {
            let before = gradients.clone();
            let mut team = Team::new(1).unwrap();
            let norm = squared_norm(&gradients, &mut team).sqrt();
            clip_to_norm(&mut gradients, norm, limit, &mut team);
            let expected = before.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt();
            prop_assert!((norm - expected).abs() <= 1e-12 * expected);
            if expected < limit - 2e-6 {
                prop_assert_eq!(gradients, before);
            } else {
                // Each of the scaled gradients is rounded to 24 bits.
                let after = squared_norm(&gradients, &mut team).sqrt();
                prop_assert!((after - limit).abs() < 1e-5 * limit + 2e-6);
            }
        }
    }

    #[test]
    fn the_thread_count_changes_no_bit_of_a_norm() {
        let gradients: Vec<f32> = (0..100_000).map(|index| (index as f32).sin()).collect();
        let norm = |threads| squared_norm(&gradients, &mut Team::new(threads).unwrap()).to_bits();
        assert_eq!(norm(1), norm(3));
    }

    #[test]
    fn pieces_that_begin_with_a_block_change_no_bit_of_a_norm() {
        let gradients: Vec<f32> = (0..100_000).map(|index| (index as f32).sin()).collect();
        let mut team = Team::new(1).unwrap();
        let (first, second) = gradients.split_at(3 * NORM_BLOCK);
        let mut blocks = squares_of_blocks(first, &mut team);
        blocks.extend(squares_of_blocks(second, &mut team));
        let pieces: f64 = blocks.iter().sum();
        assert_eq!(pieces.to_bits(), squared_norm(&gradients, &mut team).to_bits());
    }

    #[test]
    fn a_norm_that_is_not_finite_changes_nothing() {
        let mut gradients = [1.0, 2.0];
        clip_to_norm(&mut gradients, f64::INFINITY, 1.0, &mut Team::new(1).unwrap());
        assert_eq!(gradients, [1.0, 2.0]);
    }

    #[test]
    fn all_blocks_are_scaled_alike_on_any_number_of_threads() {
        let gradients: Vec<f32> = (0..2 * NORM_BLOCK + 9).map(|at| (at % 7) as f32 - 3.0).collect();
        // Squares of -3 to 3 sum to 28 a seven.
        let sum: f64 = gradients.iter().map(|&it| f64::from(it * it)).sum();
        let clipped = [1, 3].map(|threads| {
            let mut own = gradients.clone();
            let mut team = Team::new(threads).unwrap();
            let norm = squared_norm(&own, &mut team).sqrt();
            assert_eq!(norm, sum.sqrt());
            clip_to_norm(&mut own, norm, 2.0, &mut team);
            own
        });
        assert_eq!(clipped[0], clipped[1]);
        let factor = (2.0 / (sum.sqrt() + 1e-6)) as f32;
        assert!(clipped[0].iter().zip(&gradients).all(|(found, before)| *found == before * factor));
    }

    #[test]
    fn no_gradients_have_no_norm() {
        let mut team = Team::new(2).unwrap();
        assert_eq!(squared_norm(&[], &mut team), 0.0);
        let mut zeros = [0.0; 5];
        clip_to_norm(&mut zeros, 0.0, 1.0, &mut team);
        assert_eq!(zeros, [0.0; 5]);
    }
}
