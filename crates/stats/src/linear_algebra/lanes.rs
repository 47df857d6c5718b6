//! Inner products and sums of columns, in as many lanes as the processor has.
//!
//! Each function is compiled twice, for any processor and for one with AVX2, and the wider one is
//! taken where it runs. Both add in the same order and round alike, so that a result does not
//! depend on the machine.

/// Sums kept side by side; enough that no addition waits for the one before.
const STRANDS: usize = 16;

/// Defines a function together with its wide twin.
macro_rules! in_lanes {
    ($(#[$doc:meta])* $name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)? $body:block) => {
        $(#[$doc])*
        #[inline]
        pub(crate) fn $name($($argument: $kind),*) $(-> $result)? {
            #[inline(always)]
            fn plain($($argument: $kind),*) $(-> $result)? $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn wide($($argument: $kind),*) $(-> $result)? {
                    plain($($argument),*)
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has what `wide` was compiled for.
                    return unsafe { wide($($argument),*) };
                }
            }
            plain($($argument),*)
        }
    };
}

in_lanes! {
    /// Inner product of two columns of equal length.
    dot(a: &[f64], b: &[f64]) -> f64 {
        let mut strands = [0.0; STRANDS];
        let (left, right) = (a.chunks_exact(STRANDS), b.chunks_exact(STRANDS));
        let rest: f64 = left.remainder().iter().zip(right.remainder()).map(|(x, y)| x * y).sum();
        for (x, y) in left.zip(right) {
            for lane in 0..STRANDS {
                strands[lane] += x[lane] * y[lane];
            }
        }
        strands.iter().sum::<f64>() + rest
    }
}

in_lanes! {
    /// Sum of a column.
    sum(values: &[f64]) -> f64 {
        let mut strands = [0.0; STRANDS];
        let whole = values.chunks_exact(STRANDS);
        let rest: f64 = whole.remainder().iter().sum();
        for x in whole {
            for lane in 0..STRANDS {
                strands[lane] += x[lane];
            }
        }
        strands.iter().sum::<f64>() + rest
    }
}

in_lanes! {
    /// Sum of the differences from a centre.
    sum_from(values: &[f64], centre: f64) -> f64 {
        let mut strands = [0.0; STRANDS];
        let whole = values.chunks_exact(STRANDS);
        let rest: f64 = whole.remainder().iter().map(|v| v - centre).sum();
        for x in whole {
            for lane in 0..STRANDS {
                strands[lane] += x[lane] - centre;
            }
        }
        strands.iter().sum::<f64>() + rest
    }
}

in_lanes! {
    /// Sum of the squared differences from a centre.
    squares_from(values: &[f64], centre: f64) -> f64 {
        let mut strands = [0.0; STRANDS];
        let whole = values.chunks_exact(STRANDS);
        let square = |v: f64| (v - centre) * (v - centre);
        let rest: f64 = whole.remainder().iter().map(|v| square(*v)).sum();
        for x in whole {
            for lane in 0..STRANDS {
                strands[lane] += square(x[lane]);
            }
        }
        strands.iter().sum::<f64>() + rest
    }
}

in_lanes! {
    /// Takes a multiple of a direction from a column.
    subtract(values: &mut [f64], share: f64, direction: &[f64]) {
        values.iter_mut().zip(direction).for_each(|(v, u)| *v -= share * u);
    }
}

in_lanes! {
    /// Multiplies a column.
    scale(values: &mut [f64], by: f64) {
        values.iter_mut().for_each(|v| *v *= by);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lanes_agree_with_one_value_after_the_other(
            pairs in prop::collection::vec((-10.0..10.0f64, -10.0..10.0f64), 0..70),
            share in -3.0..3.0f64,
        ) {
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
            let expected: f64 = pairs.iter().map(|(x, y)| x * y).sum();
            prop_assert!((dot(&a, &b) - expected).abs() < 1e-11);
            prop_assert!((sum(&a) - a.iter().sum::<f64>()).abs() < 1e-11);
            let from: f64 = a.iter().map(|v| v - share).sum();
            prop_assert!((sum_from(&a, share) - from).abs() < 1e-11);
            let squares: f64 = a.iter().map(|v| (v - share).powi(2)).sum();
            prop_assert!((squares_from(&a, share) - squares).abs() < 1e-10);
            let mut left = a.clone();
            subtract(&mut left, share, &b);
            scale(&mut left, 2.0);
            for ((l, x), y) in left.iter().zip(&a).zip(&b) {
                prop_assert_eq!(*l, 2.0 * (x - share * y));
            }
        }
    }
}
