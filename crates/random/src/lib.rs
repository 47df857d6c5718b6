//! Repeatable random numbers: a seed gives the same numbers on every machine and in every version.
//!
//! The generator is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
//! generators", OOPSLA 2014). Initial weights of networks come from another generator, which
//! `networks` names.

/// What the state advances by at each number: 2^64 divided by the golden ratio, made odd.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A stream of random numbers.
///
/// ```
/// use trainwright_random::Random;
///
/// let mut random = Random::new(7);
/// let again = Random::new(7).bits();
/// assert_eq!(random.bits(), again);
/// assert!(random.below(10) < 10);
/// ```
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The stream of a seed for a purpose, such as an epoch and a record: streams of different
    /// purposes have nothing in common.
    pub fn for_purpose(seed: u64, purpose: &[u64]) -> Self {
        Self::new(purpose.iter().fold(mix(seed), |state, &part| mix(state ^ mix(part))))
    }

    /// An independent stream, seeded by the next number of this one.
    pub fn split(&mut self) -> Self {
        Self::new(self.bits())
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        finalize(self.state)
    }

    /// A whole number below `limit`, every one as likely (Lemire, "Fast random integer generation
    /// in an interval", 2019).
    ///
    /// # Panics
    /// Where `limit` is 0: there is no such number.
    pub fn below(&mut self, limit: u64) -> u64 {
        assert!(limit > 0, "there is no number below 0");
        loop {
            let wide = u128::from(self.bits()) * u128::from(limit);
            let rest = wide as u64;
            // Comparing with the limit first spares nearly all of the slow remainders.
            if rest >= limit || rest >= limit.wrapping_neg() % limit {
                return (wide >> 64) as u64;
            }
        }
    }

    /// The place of an item in a list of `length` items, every one as likely.
    ///
    /// # Panics
    /// Where the list is empty.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// A number from 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number above 0 and at most 1, whose logarithm is finite.
    pub fn positive_unit(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -self.positive_unit().ln()
    }

    /// Puts items into a random order, every one as likely (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.index(last + 1));
        }
    }
}

/// The number that a stream seeded with `number` gives first: spreads every bit over all others.
pub fn mix(number: u64) -> u64 {
    finalize(number.wrapping_add(STEP))
}

/// The number at a place, from 1, of the stream of a seed, without those before it.
pub fn number_at(seed: u64, place: u64) -> u64 {
    finalize(seed.wrapping_add(place.wrapping_mul(STEP)))
}

/// The last step of SplitMix64, without the addition: maps 0 to 0 and every number to another one.
pub fn finalize(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_stream_is_splitmix64() {
        // First outputs for states 0 and 1234567, from the reference implementation by Vigna
        // (splitmix64.c), as listed on Rosetta Code.
        assert_eq!(Random::new(0).bits(), 0xe220_a839_7b1d_cdaf);
        let mut random = Random::new(1_234_567);
        let numbers = [random.bits(), random.bits(), random.bits()];
        assert_eq!(
            numbers,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
        assert_eq!(mix(1_234_567), numbers[0]);
        assert_eq!([1, 2, 3].map(|place| number_at(1_234_567, place)), numbers);
    }

    #[test]
    fn a_shuffle_reaches_every_order_equally_often() {
        let mut counts = BTreeMap::new();
        for seed in 0..6_000 {
            let mut items = [0, 1, 2];
            Random::for_purpose(seed, &[1]).shuffle(&mut items);
            *counts.entry(items).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        // Six standard deviations of a binomial with n = 6000 and p = 1/6.
        assert!(counts.values().all(|&count: &i32| count.abs_diff(1_000) < 173), "{counts:?}");
    }

    #[test]
    fn exponential_times_have_mean_one() {
        let mut random = Random::new(3);
        let count = 200_000;
        let mean: f64 = (0..count).map(|_| random.exponential()).sum::<f64>() / f64::from(count);
        // Four standard errors.
        assert!((mean - 1.0).abs() < 4.0 / f64::from(count).sqrt(), "{mean}");
    }

    #[test]
    fn numbers_stay_within_their_limits() {
        let mut random = Random::new(11);
        for _ in 0..10_000 {
            assert!(random.below(3) < 3 && random.index(7) < 7);
            assert!((0.0..1.0).contains(&random.unit()));
            let positive = random.positive_unit();
            assert!(positive > 0.0 && positive <= 1.0);
        }
        assert_eq!(random.below(1), 0);
    }

    #[test]
    fn purposes_and_splits_are_streams_of_their_own() {
        let first = |mut random: Random| random.bits();
        let of = |purpose: &[u64]| first(Random::for_purpose(7, purpose));
        assert_ne!(of(&[1]), of(&[2]));
        assert_ne!(of(&[1, 2]), of(&[2, 1]));
        let mut random = Random::new(7);
        assert_ne!(first(random.split()), random.bits());
    }
}
