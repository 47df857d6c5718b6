//! Numbers as pages and terminals show them.

pub use trainwright_analysis::wording::figure;
pub(crate) use trainwright_analysis::wording::{
    bytes, p_figure as p_value, significant, to_spread,
};

/// A value for a chart: six significant digits take half the room and look the same.
pub(crate) fn for_chart(value: f64) -> f64 {
    format!("{value:.5e}").parse().expect("a formatted number reads back")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_value_for_a_chart_is_right_to_six_digits(value in -1e12f64..1e12, scale in -20i32..8) {
            let value = value * 10f64.powi(scale);
            prop_assert!((for_chart(value) - value).abs() <= 5.1e-6 * value.abs());
        }
    }
}
