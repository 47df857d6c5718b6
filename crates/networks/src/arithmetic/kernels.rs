//! Loops over numbers that matter for speed, compiled for plain and for AVX2 processors.
//!
//! Each kernel is one body that the compiler vectorises twice; the program picks at run time. The
//! bodies use no fused multiply-add, so that both give the same bits.

use crate::arithmetic::exponential::exp_of_nonpositive;

/// Defines a public kernel that dispatches to one of two compilations of the same body.
macro_rules! kernels {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $kind:ty),* $(,)?) $body:block)*) => {
        $(
            $(#[$doc])*
            #[inline]
            pub(crate) fn $name($($argument: $kind),*) {
                #[cfg(target_arch = "x86_64")]
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has just said that it has AVX2.
                    return unsafe { avx2::$name($($argument),*) };
                }
                portable::$name($($argument),*);
            }
        )*

        mod portable {
            use super::*;
            $(
                #[inline(always)]
                pub(super) fn $name($($argument: $kind),*) $body
            )*
        }

        #[cfg(target_arch = "x86_64")]
        mod avx2 {
            use super::*;
            $(
                #[target_feature(enable = "avx2")]
                pub(super) fn $name($($argument: $kind),*) {
                    portable::$name($($argument),*);
                }
            )*
        }
    };
}

pub(crate) use kernels;

kernels! {
    /// Replaces negative values by 0; NaN stays NaN.
    fn relu(values: &mut [f32]) {
        for value in values {
            *value = if *value < 0.0 { 0.0 } else { *value };
        }
    }

    /// Keeps a gradient only where the ReLU's output is above 0.
    fn relu_backward(gradients: &mut [f32], outputs: &[f32]) {
        for (gradient, &output) in gradients.iter_mut().zip(outputs) {
            *gradient = if output > 0.0 { *gradient } else { 0.0 };
        }
    }

    /// Sums the rows of a row-major matrix.
    fn column_sums(matrix: &[f32], sums: &mut [f32]) {
        sums.fill(0.0);
        for row in matrix.chunks_exact(sums.len()) {
            for (sum, &value) in sums.iter_mut().zip(row) {
                *sum += value;
            }
        }
    }

    /// Replaces each value by `exp(value - largest)`.
    fn shifted_exponentials(values: &mut [f32], largest: f32) {
        for value in values {
            *value = exp_of_nonpositive(*value - largest);
        }
    }

    /// Turns bytes into numbers, each times a factor.
    fn scale_bytes_into(bytes: &[u8], factor: f32, numbers: &mut [f32]) {
        for (number, &byte) in numbers.iter_mut().zip(bytes) {
            *number = f32::from(byte) * factor;
        }
    }

    /// Multiplies each value.
    fn scale(values: &mut [f32], factor: f32) {
        for value in values {
            *value *= factor;
        }
    }
}

/// Tells the processor that these values will be needed soon; nothing where it cannot be told.
#[inline(always)]
pub(crate) fn prefetch<T>(values: &[T]) {
    const LINE: usize = 64;
    // The last one may lie in a line of its own.
    values.iter().step_by(LINE / size_of::<T>()).chain(values.last()).for_each(prefetch_line);
}

/// Tells the processor that the cache line of a value will be needed soon.
#[inline(always)]
pub(crate) fn prefetch_line<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has this instruction, and it reads nothing.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers() -> impl Strategy<Value = Vec<f32>> {
        prop::collection::vec(-100.0_f32..100.0, 0..70)
    }

    /// Runs a kernel both ways on equal inputs and compares every bit of what it leaves.
    fn check<S: Clone + AsRef<[Vec<f32>]>>(state: S, run: [&dyn Fn(&mut S); 2]) {
        let [mut plain, mut dispatched] = [state.clone(), state];
        run[0](&mut plain);
        run[1](&mut dispatched);
        let bits = |state: &S| -> Vec<u32> {
            state.as_ref().iter().flatten().map(|value| value.to_bits()).collect()
        };
        assert_eq!(bits(&plain), bits(&dispatched));
    }

    #[test]
    fn relu_lets_nan_through() {
        let mut values = [-1.0, 0.0, 2.0, f32::NAN];
        relu(&mut values);
        assert_eq!(values[..3], [0.0, 0.0, 2.0]);
        assert!(values[3].is_nan());
    }

    proptest! {
        #[test]
        fn both_compilations_agree_on_elementwise_kernels(values in numbers(), factor in -2.0_f32..2.0) {
            check([values.clone()], [&|s| portable::relu(&mut s[0]), &|s| relu(&mut s[0])]);
            check([values.clone()], [
                &|s| portable::shifted_exponentials(&mut s[0], 100.0),
                &|s| shifted_exponentials(&mut s[0], 100.0),
            ]);
            check([values.clone()], [
                &|s| portable::scale(&mut s[0], factor),
                &|s| scale(&mut s[0], factor),
            ]);
            let outputs: Vec<f32> = values.iter().rev().copied().collect();
            check([values], [
                &|s| portable::relu_backward(&mut s[0], &outputs),
                &|s| relu_backward(&mut s[0], &outputs),
            ]);
        }

        #[test]
        fn both_compilations_agree_on_bytes(
            bytes in prop::collection::vec(any::<u8>(), 0..70), factor in -2.0_f32..2.0,
        ) {
            check([vec![1.0; bytes.len()]], [
                &|s| portable::scale_bytes_into(&bytes, factor, &mut s[0]),
                &|s| scale_bytes_into(&bytes, factor, &mut s[0]),
            ]);
        }

        #[test]
        fn both_compilations_agree_on_column_sums(values in numbers(), columns in 1..20_usize) {
            let whole = &values[..values.len() / columns * columns];
            check([vec![1.0; columns]], [
                &|s| portable::column_sums(whole, &mut s[0]),
                &|s| column_sums(whole, &mut s[0]),
            ]);
        }
    }
}
