//! Repeatable randomness: the same seed gives the same order on every machine and version.
//!
//! The generator is splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
//! generators", OOPSLA 2014).

/// A stream of numbers that depends on a seed and on what it is for.
pub(crate) struct Stream(u64);

impl Stream {
    /// The stream of a seed for a purpose, such as an epoch and a record.
    pub(crate) fn new(seed: u64, purpose: &[u64]) -> Self {
        Self(purpose.iter().fold(mix(seed), |state, &part| mix(state ^ mix(part))))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        finalize(self.0)
    }

    /// A number below `limit`, every one as likely (Lemire, "Fast random integer generation in
    /// an interval", 2019).
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        loop {
            let wide = u128::from(self.next()) * u128::from(limit);
            let low = wide as u64;
            if low >= limit.wrapping_neg() % limit {
                return (wide >> 64) as u64;
            }
        }
    }

    /// A number from 0 to below 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Puts the items into a random order, every one as likely (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// A number for a name that depends on nothing but seed and name: FNV-1a, then mixed.
pub(crate) fn hash_name(seed: u64, name: &[u8]) -> u64 {
    let hash = name.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    mix(mix(seed) ^ hash)
}

fn mix(number: u64) -> u64 {
    finalize(number.wrapping_add(0x9e37_79b9_7f4a_7c15))
}

fn finalize(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_splitmix64() {
        // First outputs for state 1234567, from the reference implementation by Vigna
        // (splitmix64.c), as listed on Rosetta Code.
        let mut stream = Stream(1_234_567);
        let numbers = [stream.next(), stream.next(), stream.next()];
        assert_eq!(
            numbers,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn a_shuffle_reaches_every_order_equally_often() {
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..6_000 {
            let mut items = [0, 1, 2];
            Stream::new(seed, &[1]).shuffle(&mut items);
            *counts.entry(items).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        // Six standard deviations of a binomial with n = 6000 and p = 1/6.
        assert!(counts.values().all(|&count: &i32| count.abs_diff(1_000) < 173), "{counts:?}");
    }
}
