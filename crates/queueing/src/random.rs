//! A repeatable stream of random numbers.

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA
/// 2014). The numbers of a seed never change between versions.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// An independent stream of the same seed.
    pub(crate) fn split(&mut self) -> Self {
        Self { state: self.bits() }
    }

    /// A seed for a stream of its own.
    pub(crate) fn seed(&mut self) -> u64 {
        self.bits()
    }

    fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Uniform above 0 and at most 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Exponential with mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    /// A whole number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        // Widening multiplication; its bias is below 2^-32 for any list that fits in memory.
        ((u128::from(self.bits()) * limit as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_gives_the_same_numbers() {
        // First output for seed 0 in the reference implementation of SplitMix64.
        assert_eq!(Random::new(0).bits(), 0xe220_a839_7b1d_cdaf);
        let (mut a, mut b) = (Random::new(7), Random::new(7));
        assert!((0..100).all(|_| a.bits() == b.bits()));
    }

    #[test]
    fn moments_are_right() {
        let mut random = Random::new(3);
        let count = 200_000;
        let mean: f64 = (0..count).map(|_| random.exponential()).sum::<f64>() / f64::from(count);
        // Four standard errors.
        assert!((mean - 1.0).abs() < 4.0 / f64::from(count).sqrt(), "{mean}");
        assert!((0..1000).all(|_| random.below(3) < 3));
    }
}
