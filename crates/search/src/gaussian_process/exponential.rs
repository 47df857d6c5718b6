//! The exponential function, written so that the compiler works on several numbers at once and
//! every machine rounds alike.

/// Adding it rounds a number of moderate size to a whole one: 1.5 times 2^52.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
/// The logarithm of 2 in two parts, the first exact when multiplied by a small whole number.
const LN_2_HIGH: f64 = 6.931_471_803_691_238_e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Below this the result is taken to be that of this: 1e-304 beside numbers near 1.
const LEAST: f64 = -700.0;

/// e to the power of a number that is not positive, to a few units of the last place.
#[inline]
pub(super) fn exponential(x: f64) -> f64 {
    let x = x.max(LEAST);
    let shifted = x * std::f64::consts::LOG2_E + ROUNDER;
    let whole = shifted - ROUNDER;
    let rest = (x - whole * LN_2_HIGH) - whole * LN_2_LOW;
    // Taylor's series; |rest| is at most 0.35, so that the next term is below 1e-17.
    let mut sum = 1.0 / 6_227_020_800.0;
    sum = sum * rest + 1.0 / 479_001_600.0;
    sum = sum * rest + 1.0 / 39_916_800.0;
    sum = sum * rest + 1.0 / 3_628_800.0;
    sum = sum * rest + 1.0 / 362_880.0;
    sum = sum * rest + 1.0 / 40_320.0;
    sum = sum * rest + 1.0 / 5_040.0;
    sum = sum * rest + 1.0 / 720.0;
    sum = sum * rest + 1.0 / 120.0;
    sum = sum * rest + 1.0 / 24.0;
    sum = sum * rest + 1.0 / 6.0;
    sum = sum * rest + 0.5;
    sum = sum * rest + 1.0;
    sum = sum * rest + 1.0;
    // The low bits of the shifted number are the whole one; as an exponent they double that often.
    let doubled = shifted.to_bits().wrapping_add(1023) << 52;
    sum * f64::from_bits(doubled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_agrees_with_the_library() {
        for step in 0..70_000 {
            let x = -f64::from(step) / 100.0;
            let (own, expected) = (exponential(x), x.exp());
            assert!((own / expected - 1.0).abs() < 1e-15, "{x}: {own} and {expected}");
        }
        assert_eq!(exponential(0.0), 1.0);
        assert!(exponential(-1e9) < 1e-300);
    }
}
