//! Compiles a loop twice, for plain processors and for those with AVX2 and FMA.

/// Defines kernels that pick one of two compilations of the same body at run time.
///
/// A body gets a constant `FMA` and hands it to [`add_product`]: a fused operation rounds once
/// instead of twice, so that the two compilations agree to a rounding, not to the bit.
macro_rules! fused_kernels {
    ($($(#[$doc:meta])* fn $name:ident<const FMA: bool>(
        $($argument:ident: $kind:ty),* $(,)?
    ) $body:block)*) => {
        $(
            $(#[$doc])*
            #[inline]
            pub(super) fn $name($($argument: $kind),*) {
                #[cfg(target_arch = "x86_64")]
                if std::arch::is_x86_feature_detected!("avx2")
                    && std::arch::is_x86_feature_detected!("fma")
                {
                    // SAFETY: the processor has just said that it has AVX2 and FMA.
                    return unsafe { fused::$name($($argument),*) };
                }
                plain::$name::<false>($($argument),*);
            }
        )*

        mod plain {
            #[allow(unused_imports, reason = "some kernels use nothing from outside")]
            use super::*;
            $(
                #[inline(always)]
                pub(super) fn $name<const FMA: bool>($($argument: $kind),*) $body
            )*
        }

        #[cfg(target_arch = "x86_64")]
        mod fused {
            use super::*;
            $(
                #[target_feature(enable = "avx2,fma")]
                pub(super) fn $name($($argument: $kind),*) {
                    plain::$name::<true>($($argument),*);
                }
            )*
        }
    };
}

pub(crate) use fused_kernels;

/// `a * b + c`, rounded once where the processor does so in one operation.
#[inline(always)]
pub(crate) fn add_product<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// Numbers that one operation works on.
pub(crate) const LANES: usize = 8;

/// Numbers that one operation works on.
pub(crate) type Lanes = [f32; LANES];

/// `a * b + c` for each of the lanes.
///
/// The one operation is named, because the compiler does not always find it in a loop over lanes.
#[inline(always)]
pub(crate) fn add_products<const FMA: bool>(a: &Lanes, b: &Lanes, c: &mut Lanes) {
    #[cfg(target_arch = "x86_64")]
    if FMA {
        use std::arch::x86_64::{_mm256_fmadd_ps, _mm256_loadu_ps, _mm256_storeu_ps};
        // SAFETY: `FMA` is true only in what is compiled for processors with AVX2 and FMA, and
        // each of the arrays is as long as a register.
        unsafe {
            let [a, b] = [a, b].map(|lanes| _mm256_loadu_ps(lanes.as_ptr()));
            let sum = _mm256_fmadd_ps(a, b, _mm256_loadu_ps(c.as_ptr()));
            _mm256_storeu_ps(c.as_mut_ptr(), sum);
        }
        return;
    }
    for lane in 0..LANES {
        c[lane] = add_product::<FMA>(a[lane], b[lane], c[lane]);
    }
}

/// Which of the lanes are not 0, lowest bit first; NaN is not 0.
#[inline(always)]
pub(crate) fn nonzeros<const FMA: bool>(lanes: &Lanes) -> u8 {
    #[cfg(target_arch = "x86_64")]
    if FMA {
        use std::arch::x86_64::{
            _CMP_NEQ_UQ, _mm256_cmp_ps, _mm256_loadu_ps, _mm256_movemask_ps, _mm256_setzero_ps,
        };
        // SAFETY: `FMA` is true only in what is compiled for processors with AVX2 and FMA, and
        // the array is as long as a register.
        let mask = unsafe {
            let lanes = _mm256_loadu_ps(lanes.as_ptr());
            _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_NEQ_UQ>(lanes, _mm256_setzero_ps()))
        };
        return mask as u8;
    }
    let bits = lanes.iter().enumerate().map(|(lane, &number)| u8::from(number != 0.0) << lane);
    bits.fold(0, |mask, bit| mask | bit)
}

/// The kind of processor, as far as it decides how numbers are rounded: processors of one kind give
/// the same bits.
pub fn processor_kind() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        return "x86-64 with AVX2 and FMA";
    }
    std::env::consts::ARCH
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lanes() -> impl Strategy<Value = Lanes> {
        let special =
            prop_oneof![Just(0.0), Just(-0.0), Just(f32::NAN), Just(1e-40_f32), -9.0_f32..9.0];
        proptest::array::uniform8(special)
    }

    proptest! {
        #[test]
        fn bits_tell_which_lanes_are_not_zero(own in lanes()) {
            let mask = nonzeros::<false>(&own);
            for (lane, number) in own.iter().enumerate() {
                prop_assert_eq!(mask >> lane & 1 == 1, *number != 0.0, "lane {}", lane);
            }
            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
                prop_assert_eq!(nonzeros::<true>(&own), mask);
            }
        }

        #[test]
        fn products_of_lanes_are_those_of_single_numbers(a in lanes(), b in lanes(), c in lanes()) {
            let mut sums = c;
            add_products::<false>(&a, &b, &mut sums);
            for lane in 0..LANES {
                let expected = add_product::<false>(a[lane], b[lane], c[lane]);
                prop_assert_eq!(sums[lane].to_bits(), expected.to_bits());
            }
        }
    }

    #[test]
    fn a_fused_product_rounds_once() {
        // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24, whose last term is lost where the product is rounded.
        let a = 1.0 + 2_f32.powi(-12);
        let c = -(1.0 + 2_f32.powi(-11));
        assert_eq!(add_product::<true>(a, a, c), 2_f32.powi(-24));
        assert_eq!(add_product::<false>(a, a, c), 0.0);
    }
}
