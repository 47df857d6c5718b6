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
