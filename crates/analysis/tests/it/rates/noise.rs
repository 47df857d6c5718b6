//! Normal noise from a seed.

use trainwright_random::Random;

/// A stream of standard normal numbers.
pub(crate) struct Noise(Random);

impl Noise {
    /// The stream of one study among the many of a kind.
    pub(crate) fn of(kind: &str, study: u64) -> Self {
        let name = kind.bytes().fold(0_u64, |code, byte| 31 * (code % (1 << 50)) + u64::from(byte));
        Self(Random::for_purpose(20, &[name, study]))
    }

    /// The next number, by the transformation of Box and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        let (radius, turn) = ((-2.0 * self.0.positive_unit().ln()).sqrt(), self.0.unit());
        radius * (std::f64::consts::TAU * turn).cos()
    }

    /// A number from 0 to below 1.
    pub(crate) fn unit(&mut self) -> f64 {
        self.0.unit()
    }

    /// Exponential with mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        self.0.exponential()
    }

    /// A seed for whoever draws by himself.
    pub(crate) fn seed(&mut self) -> u64 {
        self.0.bits()
    }
}
