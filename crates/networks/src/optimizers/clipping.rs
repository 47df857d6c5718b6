//! Gradients made shorter where they are too long.

use crate::arithmetic::kernels;
use crate::optimizers::update_kernels::add_squares;
use crate::threads::parts::{Cut, Parts};
use crate::threads::team::Team;

/// Numbers whose squares are added up at a time. It is fixed, so that the thread count changes no
/// bit of a norm.
const BLOCK: usize = 16_384;

/// The sum of the squares of all gradients, the square of their global norm.
pub fn squared_norm(gradients: &[f32], team: &mut Team) -> f64 {
    let mut sums = vec![0.0_f64; gradients.len().div_ceil(BLOCK)];
    let parts = Parts::new(&mut sums, Cut::Every(1));
    team.run(gradients.len().div_ceil(BLOCK), &|part| {
        let block = &gradients[part * BLOCK..gradients.len().min((part + 1) * BLOCK)];
        let mut lanes = [0.0; 8];
        add_squares(block, &mut lanes);
        parts.take(part)[0] = lanes.iter().sum();
    });
    sums.iter().sum()
}

/// Scales all gradients alike so that their global norm is at most `limit` (Pascanu, Mikolov and
/// Bengio 2013, algorithm 1), and tells what the norm was before.
///
/// As in PyTorch, the factor is `limit / (norm + 1e-6)`. A norm that is not finite changes
/// nothing: the loss of the next step tells of it.
pub fn clip_by_global_norm(gradients: &mut [f32], limit: f64, team: &mut Team) -> f64 {
    let norm = squared_norm(gradients, team).sqrt();
    let factor = limit / (norm + 1e-6);
    if norm.is_finite() && factor < 1.0 {
        let blocks = gradients.len().div_ceil(BLOCK);
        let parts = Parts::new(gradients, Cut::Every(BLOCK));
        team.run(blocks, &|part| kernels::scale(parts.take(part), factor as f32));
    }
    norm
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
            let norm = clip_by_global_norm(&mut gradients, limit, &mut team);
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
    fn a_norm_that_is_not_finite_changes_nothing() {
        let mut gradients = [1.0, f32::INFINITY];
        let norm = clip_by_global_norm(&mut gradients, 1.0, &mut Team::new(1).unwrap());
        assert_eq!((norm, gradients), (f64::INFINITY, [1.0, f32::INFINITY]));
    }

    #[test]
    fn all_blocks_are_scaled_alike_on_any_number_of_threads() {
        let gradients: Vec<f32> = (0..2 * BLOCK + 9).map(|at| (at % 7) as f32 - 3.0).collect();
        // Squares of -3 to 3 sum to 28 a seven.
        let sum: f64 = gradients.iter().map(|&it| f64::from(it * it)).sum();
        let clipped = [1, 3].map(|threads| {
            let mut own = gradients.clone();
            let norm = clip_by_global_norm(&mut own, 2.0, &mut Team::new(threads).unwrap());
            assert_eq!(norm, sum.sqrt());
            own
        });
        assert_eq!(clipped[0], clipped[1]);
        let factor = (2.0 / (sum.sqrt() + 1e-6)) as f32;
        assert!(clipped[0].iter().zip(&gradients).all(|(found, before)| *found == before * factor));
    }

    #[test]
    fn no_gradients_have_no_norm() {
        let mut team = Team::new(2).unwrap();
        assert_eq!(clip_by_global_norm(&mut [], 1.0, &mut team), 0.0);
        let mut zeros = [0.0; 5];
        assert_eq!(clip_by_global_norm(&mut zeros, 1.0, &mut team), 0.0);
        assert_eq!(zeros, [0.0; 5]);
    }
}
