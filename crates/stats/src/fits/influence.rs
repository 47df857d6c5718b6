//! How far single observations pull a fit (Cook and Weisberg, Residuals and Influence, 1982).

use crate::linear_algebra::orthogonal::Orthogonal;

/// Leverage at or above this is 1 up to rounding: the observation determines its own fit.
const OWN_FIT: f64 = 1.0 - 1e-10;

/// Influence figures, one entry per observation.
///
/// Entries are `None` where the observation alone determines its fitted value, or where no
/// residual variance is left to compare with.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Influence {
    /// Diagonal of the projection onto the columns.
    pub leverage: Vec<f64>,
    /// Residual over its standard deviation, with sigma from all observations.
    pub internal: Vec<Option<f64>>,
    /// The same with sigma from the other observations; t distributed.
    pub external: Vec<Option<f64>>,
    /// Cook's distance: how far all coefficients move without the observation.
    pub cook: Vec<Option<f64>>,
}

pub(crate) fn influence(decomposition: &Orthogonal, residuals: &[f64]) -> Influence {
    let mut leverage = vec![0.0; residuals.len()];
    for column in decomposition.basis() {
        leverage.iter_mut().zip(column).for_each(|(h, q)| *h += q * q);
    }
    let rank = decomposition.rank() as f64;
    let df = residuals.len() as f64 - rank;
    let squares: f64 = residuals.iter().map(|r| r * r).sum();
    let spread = |h: f64| (h < OWN_FIT && df > 0.0 && squares > 0.0).then_some(1.0 - h);
    let internal: Vec<Option<f64>> = residuals
        .iter()
        .zip(&leverage)
        .map(|(r, &h)| spread(h).map(|left| r / (squares / df * left).sqrt()))
        .collect();
    let external = residuals
        .iter()
        .zip(&leverage)
        .map(|(r, &h)| {
            let left = spread(h)?;
            let others = squares - r * r / left;
            (df > 1.0 && others > 0.0).then(|| r / (others / (df - 1.0) * left).sqrt())
        })
        .collect();
    let cook = internal
        .iter()
        .zip(&leverage)
        .map(|(s, h)| s.map(|s| s * s * h / (1.0 - h) / rank))
        .collect();
    Influence { leverage, internal, external, cook }
}

#[cfg(test)]
mod tests {
    use crate::{Columns, least_squares};

    #[test]
    fn external_residual_equals_the_t_of_an_added_indicator() {
        let x = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        let y = [1.0, 2.5, 2.0, 9.0, 4.5, 6.0];
        let plain = Columns::new(vec![vec![1.0; 6], x.to_vec()]).unwrap();
        let influence = least_squares(&plain, &y).unwrap().influence();
        let mut indicator = vec![0.0; 6];
        indicator[3] = 1.0;
        let marked = Columns::new(vec![vec![1.0; 6], x.to_vec(), indicator]).unwrap();
        let t = least_squares(&marked, &y).unwrap().coefficients[2].unwrap().t.unwrap();
        assert!((influence.external[3].unwrap() - t).abs() < 1e-10);
        assert!((influence.leverage.iter().sum::<f64>() - 2.0).abs() < 1e-12);
    }

    #[test]
    fn an_observation_that_fits_itself_has_no_studentised_residual() {
        let columns = vec![vec![1.0; 4], vec![0.0, 0.0, 0.0, 1.0]];
        let fit = least_squares(&Columns::new(columns).unwrap(), &[1.0, 2.0, 4.0, 9.0]).unwrap();
        let influence = fit.influence();
        assert_eq!((influence.internal[3], influence.cook[3]), (None, None));
        assert!(influence.internal[0].is_some());
    }
}
