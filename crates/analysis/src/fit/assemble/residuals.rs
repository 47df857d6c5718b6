//! Residuals with their influence and normal quantiles.

use trainwright_stats::{Influence, Normal};

use crate::fit::analysis::Residual;
use crate::fit::fitted::Fitted;
use crate::model::problem::Problem;

/// One entry an observation, in order.
pub(crate) fn residuals(
    problem: &Problem,
    fitted: &Fitted,
    influence: &Influence,
) -> Vec<Residual> {
    let fit = &fitted.fit;
    let quantiles = normal_quantiles(&fit.residuals);
    (0..problem.y.len())
        .map(|row| Residual {
            label: problem.labels[row].clone(),
            order: row + 1,
            fitted: fit.fitted[row],
            residual: fit.residuals[row],
            standardised: influence.internal[row],
            studentised: influence.external[row],
            leverage: influence.leverage[row],
            cook: influence.cook[row],
            normal_quantile: quantiles[row],
        })
        .collect()
}

/// Normal quantile of each value's rank, at the plotting positions of Blom for up to ten values
/// and of Hazen beyond, which are those of R's `ppoints`.
fn normal_quantiles(values: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    let offset = if values.len() <= 10 { 0.375 } else { 0.5 };
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut quantiles = vec![0.0; values.len()];
    for (rank, index) in order.into_iter().enumerate() {
        let share = (rank as f64 + 1.0 - offset) / (n + 1.0 - 2.0 * offset);
        quantiles[index] = Normal.quantile(share).expect("the share lies between 0 and 1");
    }
    quantiles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_follow_the_ranks() {
        let found = normal_quantiles(&[3.0, 1.0, 2.0]);
        assert!(found[1] < found[2] && found[2] < found[0]);
        assert!(found[2].abs() < 1e-12 && (found[0] + found[1]).abs() < 1e-12);
    }
}
