//! Numbers in two bytes: f16 (IEEE 754 binary16) and bf16 (the upper half of an f32), rounded to the
//! nearest, to the even one of two that are as near.

/// Rounds numbers to f16; those too large become infinite.
pub(super) fn to_f16(from: &[f32], into: &mut [u16]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx") && std::arch::is_x86_feature_detected!("f16c") {
        // SAFETY: the processor has both.
        return unsafe { by_eights::to_f16(from, into) };
    }
    into.iter_mut().zip(from).for_each(|(into, &from)| *into = f16_of(from));
}

/// Numbers of f16.
pub(super) fn of_f16(from: &[u16], into: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx") && std::arch::is_x86_feature_detected!("f16c") {
        // SAFETY: the processor has both.
        return unsafe { by_eights::of_f16(from, into) };
    }
    into.iter_mut().zip(from).for_each(|(into, &from)| *into = number_of_f16(from));
}

/// Rounds numbers to bf16.
pub(super) fn to_bf16(from: &[f32], into: &mut [u16]) {
    into.iter_mut().zip(from).for_each(|(into, &from)| *into = bf16_of(from));
}

/// Numbers of bf16.
pub(super) fn of_bf16(from: &[u16], into: &mut [f32]) {
    into.iter_mut()
        .zip(from)
        .for_each(|(into, &from)| *into = f32::from_bits(u32::from(from) << 16));
}

fn bf16_of(number: f32) -> u16 {
    let bits = number.to_bits();
    if number.is_nan() {
        // Its payload may lie in the half that is cut off.
        return (bits >> 16) as u16 | 0x40;
    }
    // Half a unit less one, and one more where the last bit that stays is odd.
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

fn f16_of(number: f32) -> u16 {
    let sign = (number.to_bits() >> 16) as u16 & 0x8000;
    let size = number.abs();
    if size.is_nan() {
        return sign | 0x7e00 | (number.to_bits() >> 13) as u16 & 0x3ff;
    }
    // Half-way between the largest number and what would be the next.
    if size >= 65_520.0 {
        return sign | 0x7c00;
    }
    // 2^-14, the smallest number with a leading bit.
    if size < 6.103_515_6e-5 {
        // 2^24 is exact, so that rounding to a whole number is the only one.
        return sign | (size * 16_777_216.0).round_ties_even() as u16;
    }
    let bits = size.to_bits();
    let rounded = bits + 0xfff + (bits >> 13 & 1);
    // Exponents count from -15 instead of -127.
    sign | ((rounded >> 13) - (112 << 10)) as u16
}

fn number_of_f16(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let (exponent, rest) = (u32::from(bits >> 10 & 0x1f), u32::from(bits & 0x3ff));
    let size = match exponent {
        0 => (rest as f32 / 16_777_216.0).to_bits(),
        0x1f if rest == 0 => 0x7f80_0000,
        0x1f => 0x7fc0_0000 | rest << 13,
        _ => (exponent + 112) << 23 | rest << 13,
    };
    f32::from_bits(sign | size)
}

#[cfg(target_arch = "x86_64")]
mod by_eights {
    use std::arch::x86_64::{
        _MM_FROUND_TO_NEAREST_INT, _mm_loadu_si128, _mm_storeu_si128, _mm256_cvtph_ps,
        _mm256_cvtps_ph, _mm256_loadu_ps, _mm256_storeu_ps,
    };

    #[target_feature(enable = "avx,f16c")]
    pub(super) fn to_f16(from: &[f32], into: &mut [u16]) {
        let ((from, from_rest), (into, into_rest)) = (from.as_chunks(), into.as_chunks_mut());
        for (from, into) in from.iter().zip(into) {
            let (from, into): (&[f32; 8], &mut [u16; 8]) = (from, into);
            // SAFETY: eight numbers are read and written.
            unsafe {
                let numbers = _mm256_loadu_ps(from.as_ptr());
                let halves = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(numbers);
                _mm_storeu_si128(into.as_mut_ptr().cast(), halves);
            }
        }
        into_rest.iter_mut().zip(from_rest).for_each(|(into, &from)| *into = super::f16_of(from));
    }

    #[target_feature(enable = "avx,f16c")]
    pub(super) fn of_f16(from: &[u16], into: &mut [f32]) {
        let ((from, from_rest), (into, into_rest)) = (from.as_chunks(), into.as_chunks_mut());
        for (from, into) in from.iter().zip(into) {
            let (from, into): (&[u16; 8], &mut [f32; 8]) = (from, into);
            // SAFETY: eight numbers are read and written.
            unsafe {
                let halves = _mm_loadu_si128(from.as_ptr().cast());
                _mm256_storeu_ps(into.as_mut_ptr(), _mm256_cvtph_ps(halves));
            }
        }
        let rest = into_rest.iter_mut().zip(from_rest);
        rest.for_each(|(into, &from)| *into = super::number_of_f16(from));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the bits of an f16 mean, by the definition.
    fn by_definition(bits: u16) -> f64 {
        let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
        let (exponent, rest) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
        sign * match exponent {
            0 => rest * 2_f64.powi(-24),
            0x1f if rest == 0.0 => f64::INFINITY,
            0x1f => f64::NAN,
            _ => (1024.0 + rest) * 2_f64.powi(exponent - 25),
        }
    }

    #[test]
    fn every_f16_is_the_number_of_its_bits_in_both_ways() {
        let all: Vec<u16> = (0..=u16::MAX).collect();
        let (mut numbers, mut again) = (vec![0.0; all.len()], vec![0; all.len()]);
        of_f16(&all, &mut numbers);
        to_f16(&numbers, &mut again);
        for (&bits, (&number, &again)) in all.iter().zip(numbers.iter().zip(&again)) {
            let exact = by_definition(bits);
            let signs = number.is_sign_negative() == (bits & 0x8000 != 0);
            let same = f64::from(number) == exact && signs;
            assert!(same || exact.is_nan() && number.is_nan(), "{bits:#x}");
            let single = number_of_f16(bits);
            assert!(single.to_bits() == number.to_bits() || exact.is_nan(), "{bits:#x}");
            let is_quiet = bits & 0x200 != 0;
            assert!(again == bits || exact.is_nan() && !is_quiet, "{bits:#x}");
        }
    }

    /// The f16 that is nearest to a number, found among all of one sign; the even one of two.
    fn nearest(number: f32) -> u16 {
        let size = f64::from(number.abs());
        let sign = (number.to_bits() >> 16) as u16 & 0x8000;
        // Where the next exponent begins stands infinity.
        let value = |bits: u16| if bits == 0x7c00 { 65_536.0 } else { by_definition(bits) };
        let (mut low, mut high) = (0_u16, 0x7c00_u16);
        while high - low > 1 {
            let middle = (low + high) / 2;
            *if value(middle) <= size { &mut low } else { &mut high } = middle;
        }
        let (below, above) = (size - value(low), value(high) - size);
        let down = below < above || below == above && low.is_multiple_of(2);
        sign | if down { low } else { high }
    }

    #[test]
    fn f16_rounds_to_the_nearest_and_even() {
        let mut random = trainwright_random::Random::new(1);
        let mut numbers: Vec<f32> = (0..40_000)
            .map(|_| f32::from_bits(random.bits() as u32))
            .filter(|number| !number.is_nan())
            .collect();
        // Most bits give numbers beyond its range: the exponents within it, and ties.
        numbers.extend((0..40_000).map(|_| {
            let exponent = 127 - 26 + (random.bits() % 44) as u32;
            f32::from_bits((random.bits() as u32) & 0x807f_ffff | exponent << 23)
        }));
        numbers.extend((0..0x7c00_u16).map(|bits| {
            ((by_definition(bits) + by_definition(bits + 1).min(65_536.0)) / 2.0) as f32
        }));
        numbers.extend([0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, 65_519.996, 65_520.0]);
        let mut halves = vec![0; numbers.len()];
        to_f16(&numbers, &mut halves);
        for (&number, &half) in numbers.iter().zip(&halves) {
            assert_eq!(half, nearest(number), "{number:e}");
            assert_eq!(f16_of(number), half, "{number:e}");
        }
    }

    #[test]
    fn bf16_rounds_to_the_nearest_and_even() {
        let mut random = trainwright_random::Random::new(2);
        for _ in 0..100_000 {
            let number = f32::from_bits(random.bits() as u32);
            let mut half = [0];
            to_bf16(&[number], &mut half);
            let mut again = [0.0];
            of_bf16(&half, &mut again);
            if number.is_nan() {
                assert!(again[0].is_nan());
                continue;
            }
            // The two that are cut off before and after; beyond the largest lies infinity.
            let low = f32::from_bits(number.to_bits() & 0xffff_0000);
            let high = f32::from_bits((number.to_bits() & 0xffff_0000).wrapping_add(0x1_0000));
            let exact = |end: f32| match end.is_finite() {
                true => f64::from(end),
                false => 2_f64.powi(128).copysign(f64::from(end)),
            };
            let far = |end: f32| (f64::from(number) - exact(end)).abs();
            let even = low.to_bits() >> 16 & 1 == 0;
            let down = !number.is_finite() || far(low) < far(high) || far(low) == far(high) && even;
            assert_eq!(again[0], if down { low } else { high }, "{number:e}");
        }
    }
}
